// Two ranges, or two services, compared: a flame graph colored by the difference, and a table of functions.
import { useMemo } from "preact/hooks";
import { change, useAddress } from "../address";
import { api, type FunctionChange, type Me, type Service } from "../api";
import { useAsk } from "../ask";
import { KindPicker, useKind } from "../parts/flame";
import { Show } from "../parts/notice";
import { Picture } from "../parts/picture";
import { Series } from "../parts/series";
import { Table, type Column } from "../parts/table";
import { amountText, percent, rangeText, signed } from "../units";

interface Side { from: number; to: number; service: string }

// Without words in the address: the last five minutes, and the five minutes before.
function useSide(name: "a" | "b", now: number): Side {
  const { words } = useAddress(), from = Number(words.get(name + "_from")), to = Number(words.get(name + "_to")), end = Math.floor(now / 60) * 60 - (name === "a" ? 300 : 0);
  const service = words.get(name + "_service") ?? words.get("service") ?? "";
  return from > 0 && to > from ? { from, to, service } : { from: end - 300, to: end, service };
}
const localText = (seconds: number) => { const at = new Date(seconds * 1000); return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19); };

function SideFields({ name, label, side, services }: { name: "a" | "b"; label: string; side: Side; services: Service[] }) {
  const edit = (which: "from" | "to") => (event: Event) => {
    const at = new Date((event.currentTarget as HTMLInputElement).value).getTime() / 1000, next = { from: side.from, to: side.to, [which]: at };
    if (Number.isFinite(at) && next.from < next.to) change({ [name + "_from"]: next.from, [name + "_to"]: next.to, picture: undefined });
  };
  const names = [...new Set([side.service, ...services.map((s) => s.service)])].filter(Boolean);
  return (
    <fieldset><legend>{label}</legend>
      <div class="fields">
        <label>Service <select value={side.service} onChange={(event) => change({ [name + "_service"]: event.currentTarget.value, service: undefined, [(name === "a" ? "b" : "a") + "_service"]: readOther(name), picture: undefined })}>
          <option value="">the host</option>{names.map((s) => <option key={s} value={s}>{s}</option>)}
        </select></label>
        <label>From <input type="datetime-local" step="1" value={localText(side.from)} onChange={edit("from")} /></label>
        <label>To <input type="datetime-local" step="1" value={localText(side.to)} onChange={edit("to")} /></label>
      </div>
    </fieldset>
  );
  // A service for both becomes one for each side when one side changes.
  function readOther(changed: "a" | "b") {
    const words = new URLSearchParams(location.hash.split("?")[1] ?? "");
    return words.get((changed === "a" ? "b" : "a") + "_service") ?? words.get("service") ?? undefined;
  }
}

// The charts to pick ranges in: of the service, from before A until after B.
function RangeChart({ name, label, side, from, to }: { name: "a" | "b"; label: string; side: Side; from: number; to: number }) {
  const found = useAsk((signal) => api.series({ service: side.service, names: side.service ? "cpu" : "busy", from, to }, signal), [side.service, from, to]);
  const data = useMemo(() => found.value && { times: found.value.times, lines: found.value.series.map((s) => ({ name: "CPU", unit: s.unit === "cores" ? "CPUs" : s.unit, values: s.values })) }, [found.value]);
  return (
    <Show of={found} what="series">{() => data && <Series name={"compare-" + name} title={`${label}: drag to choose the range`} data={data} from={from} to={to} marked={[side.from, side.to]} height={130}
      pick={(a, b) => change({ [name + "_from"]: Math.round(a), [name + "_to"]: Math.round(b), picture: undefined })} />}</Show>
  );
}

function ChangeTable({ functions, unit, total }: { functions: FunctionChange[]; unit: string; total: number }) {
  const most = Math.max(1e-9, ...functions.map((f) => Math.abs(f.change)));
  const figure = (name: keyof FunctionChange & string, label: string): Column<FunctionChange> => ({ name, label, unit, value: (f) => f[name] });
  const columns: Column<FunctionChange>[] = [
    { name: "name", label: "Function", value: (f) => f.name },
    { ...figure("change", "Change"), share: (f) => Math.abs(f.change) / most, show: (f) => <span class={f.change > 0 ? "more" : f.change < 0 ? "less" : ""}>{signed(f.change, (n) => amountText(n, unit))} ({signed(f.change, (n) => percent(n, total))})</span> },
    figure("self_a", "Self in A"), figure("self_b", "Self in B"), figure("total_a", "Total in A"), figure("total_b", "Total in B"),
    { name: "module", label: "File", value: (f) => f.module },
  ];
  return <Table name="changes" caption="Functions that changed" noun="functions" columns={columns} rows={functions} keyOf={(f) => f.name + "\0" + f.module} hasSearch />;
}

export function Compare({ me }: { me: Me }) {
  const a = useSide("a", me.now), b = useSide("b", me.now), kind = useKind(me);
  const from = Math.min(a.from, b.from), to = Math.max(a.to, b.to), room = (to - from) / 2;
  const around = { from: from - room, to: Math.min(to + room, Math.max(to, Math.ceil(me.now / 60) * 60)) };
  const words = { kind: kind.name, a_from: a.from, a_to: a.to, b_from: b.from, b_to: b.to, a_service: a.service, b_service: b.service };
  const services = useAsk((signal) => api.services(from, to, signal), [from, to]);
  const found = useAsk((signal) => api.compare(words, signal), [words]);
  const swap = () => change({ a_from: b.from, a_to: b.to, b_from: a.from, b_to: a.to, a_service: b.service, b_service: a.service, service: undefined, picture: undefined });
  return (
    <>
      <h1>Compare</h1>
      <p class="dim">A is before, B is after. A is scaled to the length of B. Red: more in B; blue: less.</p>
      <div class="columns">
        <div><SideFields name="a" label="A (before)" side={a} services={services.value?.services ?? []} /><RangeChart name="a" label="A" side={a} {...around} /></div>
        <div><SideFields name="b" label="B (after)" side={b} services={services.value?.services ?? []} /><RangeChart name="b" label="B" side={b} {...around} /></div>
      </div>
      <div class="bar"><KindPicker me={me} /><button type="button" onClick={swap}>Swap A and B</button>
        <output>{rangeText(a.from, a.to)} with {rangeText(b.from, b.to)}</output></div>
      <Show of={found} what="the comparison">{(data) => (
        <>
          <h2>Functions that changed</h2>
          <ChangeTable functions={data.functions} unit={data.unit} total={data.b.total || data.a.total} />
          <h2>Flame graph of the difference</h2>
          <Picture url={api.compareUrl(words, "html")} title={`${kind.title}, difference`} downloads={[{ label: "HTML", url: api.compareUrl(words, "html"), file: "acu-compare.html" }, { label: "JSON", url: api.compareUrl(words, "json"), file: "acu-compare.json" }]} />
        </>
      )}</Show>
    </>
  );
}
