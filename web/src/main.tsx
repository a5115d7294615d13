// The console: which page the address names. Each page is a file of its own in pages/.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { useAddress } from "./address";
import { api, type Me } from "./api";
import { useAsk } from "./ask";
import { Layout } from "./parts/layout";
import { Show } from "./parts/notice";
import { Compare } from "./pages/compare";
import { Findings } from "./pages/findings";
import { Measure } from "./pages/measure";
import { Overview } from "./pages/overview";
import { Script } from "./pages/script";
import { Services } from "./pages/services";
import { Sql } from "./pages/sql";
import { Tools } from "./pages/tools";
import { Top } from "./pages/top";
import "./style.css";

const pages = [
  { page: "overview", label: "Overview", view: Overview },
  { page: "services", label: "Services", view: Services },
  { page: "compare", label: "Compare", view: Compare },
  { page: "findings", label: "Findings", view: Findings },
  { page: "top", label: "Top", view: Top },
  { page: "measure", label: "Measure", view: Measure, measures: true },
  { page: "script", label: "Script", view: Script, measures: true },
  { page: "tools", label: "Tools", view: Tools, measures: true },
  { page: "sql", label: "SQL", view: Sql },
];

function Page({ name, me, host }: { name: string; me: Me; host: string }) {
  const found = pages.find((p) => p.page === name);
  if (!found) return <><h1>No such page</h1><p>The address names “{name}”. The pages are: {pages.map((p) => p.label).join(", ")}.</p></>;
  return <found.view me={me} key={found.page + "@" + host} />;
}

function Console() {
  const { page, words } = useAddress(), host = words.get("host") ?? "", me = useAsk(api.me, ["me", host], 10_000), isFleet = me.value?.fleet ?? false;
  const hosts = useAsk(isFleet ? api.hosts : null, ["hosts", isFleet], 60_000), label = pages.find((p) => p.page === page)?.label ?? page;
  useEffect(() => { document.title = `${label} · ${me.value?.host ?? ""} · acu`; }, [label, me.value?.host]);
  return (
    <Layout links={pages.filter((p) => !p.measures || me.value?.role !== "view")} user={me.value?.login ? me.value.user : undefined} host={me.value?.host ?? ""} hosts={isFleet ? hosts.value?.hosts ?? [] : undefined} isReadOnly={me.value?.read_only ?? false}>
      <Show of={me} what="the console">{(value) => <Page name={page} me={{ ...value, read_only: value.read_only || value.role === "view" }} host={host} />}</Show>
    </Layout>
  );
}

render(<Console />, document.getElementById("page")!);
