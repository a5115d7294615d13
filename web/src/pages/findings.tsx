// Findings of `acu why`, by a person or by acu itself, with evidence and measurements to take now.
import { useEffect } from "preact/hooks";
import { change, go, useAddress } from "../address";
import { api, type Me } from "../api";
import { useAsk } from "../ask";
import { FindingCard } from "../parts/finding_card";
import { Empty, Show } from "../parts/notice";
import { RangePicker, useRange } from "../parts/range";
import { csv, save } from "../save";
import { countText } from "../units";

export function Findings({ me }: { me: Me }) {
  const { words } = useAddress(), range = useRange(me.now, true), service = words.get("service") ?? "", search = words.get("search") ?? "", chosen = Number(words.get("finding"));
  const found = useAsk((signal) => api.findings({ from: range.from, to: range.to, service }, signal), [range.from, range.to, service], 10_000);
  useEffect(() => { if (chosen && found.value) document.getElementById("finding-" + chosen)?.scrollIntoView({ block: "nearest" }); }, [chosen, !!found.value]);
  const wanted = search.toLowerCase();
  return (
    <>
      <h1>Findings</h1>
      <RangePicker range={range} />
      {!me.read_only && <button type="button" class="primary" onClick={async () => go("measure", { verb: "why" })}>Look for causes now</button>}
      <Show of={found} what="findings">{({ findings }) => {
        const shown = findings.filter((f) => !wanted || JSON.stringify([f.summary, f.cause, f.service]).toLowerCase().includes(wanted));
        return (
          <>
            <div class="bar">
              <input type="search" data-search value={search} placeholder="Search findings" aria-label="Search findings" onInput={(event) => change({ search: event.currentTarget.value }, false)} />
              <output aria-live="polite">{countText(shown.length, "findings")}</output>
              <button type="button" class="end" disabled={!shown.length} onClick={() => save("acu-findings.csv", csv(["time", "service", "verdict", "cause", "summary"], shown.map((f) => [new Date(f.time * 1000).toISOString(), f.service, f.verdict, f.cause, f.summary])), "text/csv")}>CSV</button>
            </div>
            {shown.map((f) => <FindingCard key={f.id} finding={f} isReadOnly={me.read_only} isMarked={f.id === chosen} />)}
            {!shown.length && <Empty>No findings in this range. Choose a longer one, or look for causes now.</Empty>}
          </>
        );
      }}</Show>
    </>
  );
}
