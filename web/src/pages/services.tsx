// All services in a range, or one service: its series, and the flame graph of the range that is selected in them.
import { useMemo } from "preact/hooks";
import { addressText, change, useAddress } from "../address";
import { api, type Columns, type Me } from "../api";
import { useAsk } from "../ask";
import { Flame, KindPicker } from "../parts/flame";
import { FindingCard } from "../parts/finding_card";
import { Show } from "../parts/notice";
import { RangePicker, fix, useRange, type Range } from "../parts/range";
import { Series, type SeriesData } from "../parts/series";
import { ServiceTable } from "../parts/service_table";

export function Services({ me }: { me: Me }) {
  const service = useAddress().words.get("service") ?? "", range = useRange(me.now);
  return service ? <ServicePage me={me} service={service} range={range} key={service} /> : <AllServices range={range} />;
}

function AllServices({ range }: { range: Range }) {
  const found = useAsk((signal) => api.services(range.from, range.to, signal), [range.from, range.to]);
  return (
    <>
      <h1>Services</h1>
      <RangePicker range={range} />
      <Show of={found} what="services">{({ services }) => <ServiceTable services={services} name="services" hasSearch />}</Show>
    </>
  );
}

const charts: { name: string; title: string; names: string[] }[] = [
  { name: "cpu", title: "CPU, waiting and run queue", names: ["cpu", "offcpu", "run_queue"] },
  { name: "memory", title: "Memory", names: ["memory"] },
  { name: "io", title: "Reads and writes", names: ["read", "written"] },
  { name: "faults", title: "Page faults", names: ["faults"] },
];
const labels: Record<string, string> = { cpu: "CPU", offcpu: "waiting", run_queue: "run queue", memory: "memory", read: "read", written: "written", faults: "faults" };
const unitOf = (unit: string) => (unit === "cores" ? "CPUs" : unit);

function Chart({ columns, chart, range }: { columns: Columns; chart: (typeof charts)[number]; range: Range }) {
  const data = useMemo<SeriesData>(() => ({ times: columns.times, lines: columns.series.filter((s) => chart.names.includes(s.name)).map((s) => ({ name: labels[s.name] ?? s.name, unit: unitOf(s.unit), values: s.values })) }), [columns, chart]);
  if (!data.lines.length) return null;
  return <Series name={chart.name} title={chart.title} data={data} from={range.from} to={range.to} pick={fix} height={150} />;
}

function ServicePage({ me, service, range }: { me: Me; service: string; range: Range }) {
  const { words } = useAddress(), { from, to } = range, pid = words.get("pid") ?? "", process = words.get("process") ?? "", thread = words.get("thread") ?? "";
  const series = useAsk((signal) => api.series({ service, names: charts.flatMap((c) => c.names).join(","), from, to }, signal), [service, from, to]);
  const found = useAsk((signal) => api.findings({ from, to, service }, signal), [service, from, to]);
  const field = (name: string, label: string, value: string) => (
    <label>{label} <input size={10} value={value} onChange={(event) => change({ [name]: event.currentTarget.value.trim(), picture: undefined })} /></label>
  );
  const before = { a_from: from - (to - from), a_to: from, b_from: from, b_to: to, service, kind: words.get("kind") ?? undefined };
  return (
    <>
      <p><a href={addressText("services", { last: words.get("last") ?? undefined })}>Services</a></p>
      <h1>{service}</h1>
      <RangePicker range={range} />
      <p class="dim">Drag over a chart to select a range: the charts and the flame graph below show it.</p>
      <Show of={series} what="series">{(columns) => <div class="columns">{charts.map((chart) => <Chart key={chart.name} columns={columns} chart={chart} range={range} />)}</div>}</Show>
      <div class="bar" role="group" aria-label="What the flame graph shows">
        <KindPicker me={me} />
        {field("process", "Process", process)}{field("pid", "PID", pid)}{field("thread", "Thread", thread)}
        <a class="button" href={addressText("compare", before)}>Compare with the range before</a>
        {!me.read_only && <a class="button" href={addressText("measure", { verb: "flame", "arg.pid": pid })}>Measure another kind</a>}
        <span class="end"><a class="button" href={api.exportUrl("series", { service, from, to, format: "csv" })} download={`acu-${service}.csv`}>All series as CSV</a></span>
      </div>
      <Flame me={me} place={{ service, pid, process, thread, from, to }} />
      {!!found.value?.findings.length && <section aria-labelledby="found"><h2 id="found">Findings</h2>{found.value.findings.map((f) => <FindingCard key={f.id} finding={f} isReadOnly={me.read_only} />)}</section>}
    </>
  );
}
