// The result of a job: what a script printed as tables, histograms and text; findings of `acu why`; text and JSON as they are.
import { useMemo, useState } from "preact/hooks";
import type { JobResult, WhyFinding } from "../api";
import { csv, save } from "../save";
import { amountText, countText } from "../units";
import { WhyDetail } from "./finding_card";
import { Series, type SeriesData } from "./series";
import { Table } from "./table";

interface Row { type: string; data: unknown }
interface Bucket { min?: number; max?: number; count: number }

// What was printed under one name, each time it was printed: the last is shown, earlier ones can be chosen.
interface Printed { name: string; type: string; values: unknown[] }
function printedMaps(rows: Row[]): Printed[] {
  const maps = new Map<string, Printed>();
  for (const { type, data } of rows) {
    if (!["map", "hist", "stats", "value", "flame"].includes(type) || data === null || typeof data !== "object") continue;
    for (const [name, value] of Object.entries(data)) {
      const known = maps.get(name) ?? { name, type, values: [] };
      known.values.push(value);
      maps.set(name, known);
    }
  }
  return [...maps.values()];
}
const textOf = (rows: Row[]): string =>
  rows.filter((row) => typeof row.data === "string").map((row) => row.data as string).join("");

const bucketText = ({ min, max }: Bucket): string => (min === undefined ? `< ${max! + 1}` : max === undefined ? `≥ ${min.toLocaleString("en")}` : min === max ? min.toLocaleString("en") : `${min.toLocaleString("en")} – ${max.toLocaleString("en")}`);
const isHistogram = (value: unknown): value is Bucket[] => Array.isArray(value) && value.length > 0 && value.every((v) => v && typeof v === "object" && "count" in v);

function Histogram({ name, buckets }: { name: string; buckets: Bucket[] }) {
  const most = Math.max(1, ...buckets.map((b) => b.count)), sum = buckets.reduce((all, b) => all + b.count, 0);
  return (
    <figure>
      <figcaption><b>{name}</b> <span class="dim">{countText(sum, "values")}</span>
        <span class="end"><button type="button" aria-label={`Save ${name} as CSV`} onClick={() => save(`acu-${name}.csv`, csv(["from", "to", "count"], buckets.map((b) => [b.min, b.max, b.count])), "text/csv")}>CSV</button></span></figcaption>
      <table class="histogram"><caption class="unseen">{name}</caption><tbody>
        {buckets.map((bucket, i) => <tr key={i}><th scope="row">{bucketText(bucket)}</th><td>{bucket.count.toLocaleString("en")}</td><td aria-hidden="true"><i style={{ "--share": (100 * bucket.count) / most + "%" }} /></td></tr>)}
      </tbody></table>
    </figure>
  );
}

// Stacks in the keys of a map, innermost function first, as folded stacks, which `acu report` and other tools draw.
const foldedOf = (stacks: [string, number][]): string =>
  stacks.map(([key, value]) => key.split("\n").map((line) => line.trim().replace(/\+\d+$/, "").replace(/;/g, ":")).filter(Boolean).reverse().join(";") + " " + value).join("\n") + "\n";

function MapView({ map }: { map: Printed }) {
  const [chosen, setChosen] = useState(-1), at = chosen < 0 || chosen >= map.values.length ? map.values.length - 1 : chosen, value = map.values[at];
  return (
    <section aria-label={map.name}>
      <h3>{map.name}</h3>
      {map.values.length > 1 && <label class="bar">Print {at + 1} of {map.values.length} <input type="range" min={1} max={map.values.length} value={at + 1} onInput={(event) => setChosen(Number(event.currentTarget.value) - 1)} /></label>}
      {map.values.length > 2 && <Prints map={map} />}
      <ValueView name={map.name} value={value} />
    </section>
  );
}
// A number, or the entries that have most at the end, over all prints.
const MOST_LINES = 8;
function Prints({ map }: { map: Printed }) {
  const data = useMemo<SeriesData>(() => {
    const last = map.values.at(-1), number = (v: unknown) => (typeof v === "number" ? v : null), times = map.values.map((_, i) => i + 1);
    if (typeof last === "number") return { times, lines: [{ name: map.name, unit: "", values: map.values.map(number) }] };
    if (!last || typeof last !== "object" || Array.isArray(last)) return { times, lines: [] };
    const keys = Object.entries(last).filter(([, v]) => typeof v === "number").sort((a, b) => (b[1] as number) - (a[1] as number)).slice(0, MOST_LINES).map(([key]) => key);
    return { times, lines: keys.map((key) => ({ name: key.trim().replace(/\s+/g, " ").slice(0, 60), unit: "", values: map.values.map((v) => number((v as Record<string, unknown> | null)?.[key])) })) };
  }, [map]);
  return data.lines.length ? <Series name={map.name.replace(/^@/, "map-")} title={`${map.name}, each print`} data={data} isTime={false} height={140} /> : null;
}
function ValueView({ name, value }: { name: string; value: unknown }) {
  if (isHistogram(value)) return <Histogram name={name} buckets={value} />;
  if (value === null || typeof value !== "object") return <p><b>{typeof value === "number" ? amountText(value) : String(value)}</b></p>;
  if (Array.isArray(value)) return <pre tabIndex={0}>{JSON.stringify(value)}</pre>;
  const entries = Object.entries(value);
  if (entries.length && entries.every(([, v]) => isHistogram(v))) return <>{entries.map(([key, v]) => <Histogram key={key} name={`${name}[${key}]`} buckets={v as Bucket[]} />)}</>;
  const stacks = entries.filter(([key, v]) => key.includes("\n") && typeof v === "number") as [string, number][];
  // A map of records: a column for each field.
  const fields = [...new Set(entries.flatMap(([, v]) => (v && typeof v === "object" && !Array.isArray(v) ? Object.keys(v) : [])))];
  const most = Math.max(1e-9, ...entries.map(([, v]) => (typeof v === "number" ? v : 0)));
  const columns = fields.length
    ? fields.map((field) => ({ name: field, label: field, isNumber: true, value: ([, v]: [string, unknown]) => (v as Record<string, unknown>)?.[field] }))
    : [{ name: "value", label: "Value", isNumber: entries.every(([, v]) => typeof v === "number"), value: ([, v]: [string, unknown]) => v, share: ([, v]: [string, unknown]) => (typeof v === "number" ? v / most : 0) }];
  return <>
    {stacks.length > 0 && <button type="button" onClick={() => save(`acu-${name}.folded`, foldedOf(stacks))}>Save as folded stacks</button>}
    <Table name={name.replace(/^@/, "map-")} caption={name} noun="entries" rows={entries} keyOf={([key]) => key} sort={fields.length ? "" : "-value"} hasSearch={entries.length > 10}
    columns={[{ name: "key", label: "Key", value: ([key]) => key.trim() }, ...columns]} />
  </>;
}

function Why({ data }: { data: { result?: string; findings?: WhyFinding[]; notes?: string[] } }) {
  return (
    <>
      {!data.findings?.length && <p>Nothing found: {data.result}</p>}
      {data.findings?.map((finding, i) => (
        <article key={i} class={"finding " + (finding.verdict === "confirmed" ? "warning" : "")}>
          <h3>{finding.title ?? finding.cause}</h3>
          <p class="dim"><span class="tag">{finding.verdict}</span> {finding.cause}</p>
          <WhyDetail detail={finding} />
        </article>
      ))}
      {data.notes?.map((note) => <p key={note} class="dim">{note}</p>)}
    </>
  );
}

export function Result({ result, name }: { result: JobResult; name: string }) {
  const [isRaw, setRaw] = useState(false), rows = (result.rows ?? []) as unknown as Row[], maps = useMemo(() => printedMaps(rows), [result]), text = result.text ?? textOf(rows);
  const isWhy = !!result.data && typeof result.data === "object" && "findings" in result.data, isShown = maps.length || text || isWhy;
  const errors = rows.filter((row) => row.type === "error" || row.type === "warning");
  const raw = JSON.stringify(result.data ?? result.rows ?? result.text ?? result, null, 2);
  return (
    <div class="result">
      <div class="bar">
        <span class="tabs" role="group" aria-label="View"><button type="button" aria-pressed={!isRaw} onClick={() => setRaw(false)}>Result</button><button type="button" aria-pressed={isRaw} onClick={() => setRaw(true)}>JSON</button></span>
        <output>{[result.outcome, result.lost ? countText(result.lost, "events") + " lost" : "", result.truncated ? "cut: the output was too long" : ""].filter(Boolean).join(" · ")}</output>
        <span class="end"><button type="button" onClick={() => save(`acu-${name}.json`, raw, "application/json")}>Save JSON</button>{text && <button type="button" onClick={() => save(`acu-${name}.txt`, text)}>Save text</button>}</span>
      </div>
      {result.notes?.map((note) => <p key={note} class="dim">{note}</p>)}
      {errors.map((row, i) => <p key={i} class="failure">{typeof row.data === "string" ? row.data : JSON.stringify(row.data)}</p>)}
      {isRaw ? <pre tabIndex={0}>{raw}</pre> : (
        <>
          {text && <pre tabIndex={0} aria-label="Output">{text}</pre>}
          {maps.map((map) => <MapView key={map.name} map={map} />)}
          {isWhy && <Why data={result.data as object} />}
          {!isShown && (result.data !== undefined || rows.length ? <pre tabIndex={0}>{raw}</pre> : <p class="dim">It printed nothing.</p>)}
        </>
      )}
    </div>
  );
}
