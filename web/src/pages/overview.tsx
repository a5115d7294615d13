// The host: CPUs, pressure, the busiest services, findings, and what acu itself uses.
import { addressText } from "../address";
import { api, type Me, type Overview as Data } from "../api";
import { useAsk } from "../ask";
import { Show } from "../parts/notice";
import { RangePicker, fix, useRange } from "../parts/range";
import { Series } from "../parts/series";
import { ServiceTable } from "../parts/service_table";
import { FindingCard } from "../parts/finding_card";
import { amountText, bytesText, clockText, plainText, spanText } from "../units";

const share = (n: number) => amountText(n * 100, "percent");

function Card({ label, value, note, part }: { label: string; value: string; note?: string; part?: number }) {
  return (
    <div class="card"><span>{label}</span><b>{value}</b>
      {part !== undefined && <div class="meter" aria-hidden="true"><i style={{ "--share": Math.min(100, 100 * part) + "%" }} /></div>}
      {note && <small>{note}</small>}
    </div>
  );
}

function Cards({ data, me }: { data: Data; me: Me }) {
  const used = data.memory.total - data.memory.available;
  const pressure = (name: string, label: string) => {
    const value = data.pressure[name];
    return value && <Card key={name} label={label} value={share(value.some)} part={value.some} note={`all tasks ${share(value.full)}`} />;
  };
  return (
    <div class="cards">
      <Card label="CPUs busy" value={share(data.busy)} part={data.busy} note={data.cpus.length === 0 ? undefined : `${data.cpus.length} CPUs: ${data.cpus.slice(0, 8).map((n) => Math.round(n * 100) + "%").join(" ")}${data.cpus.length > 8 ? " …" : ""}`} />
      <Card label="Threads waiting for a CPU" value={plainText(data.run_queue)} note={data.load.length ? `load ${data.load.map(plainText).join(", ")}` : undefined} />
      {data.memory.total > 0 && <Card label="Memory used" value={bytesText(used)} part={used / data.memory.total} note={`of ${bytesText(data.memory.total)}`} />}
      {pressure("cpu", "CPU pressure")}{pressure("memory", "Memory pressure")}{pressure("io", "I/O pressure")}
      <Card label="acu itself" value={amountText(data.own.cpu * 100, "percent") + " of a CPU"} note={`${bytesText(data.own.memory)}, ${plainText(data.own.samples)} samples/s, ${plainText(data.own.lost)} lost/s, stored ${clockText(data.own.flushed)}`} />
      {me.store && <Card label="Store" value={bytesText(me.store.bytes)} part={!me.fleet && me.store.max_bytes ? me.store.bytes / me.store.max_bytes : undefined} note={me.fleet ? `holds ${spanText(me.store.to - me.store.from)}` : `of ${bytesText(me.store.max_bytes)}; holds ${spanText(me.store.to - me.store.from)} of at most ${spanText(me.store.keep_seconds)}`} />}
    </div>
  );
}

export function Overview({ me }: { me: Me }) {
  const range = useRange(me.now, true), { from, to } = range;
  const now = useAsk(api.overview, ["overview"], 5000);
  const series = useAsk((signal) => api.series({ names: "busy,pressure_cpu,pressure_memory,pressure_io,own_cpu", from, to }, signal), [from, to]);
  return (
    <>
      <h1>Overview of {me.host}</h1>
      <Show of={now} what="the overview">{(data) => (
        <>
          <Cards data={data} me={me} />
          <RangePicker range={range} />
          <Show of={series} what="series">{(columns) => <Series name="host" title="CPUs and pressure" from={from} to={to} pick={fix}
            data={{ times: columns.times, lines: columns.series.map((s) => ({ name: s.name.replace("_", " "), unit: "percent", values: s.values.map((n) => (n === null ? null : 100 * n)) })) }} />}</Show>
          <div class="columns">
            <section aria-labelledby="busiest"><h2 id="busiest">Busiest services</h2><ServiceTable services={data.services} name="services" isShort /></section>
            <section aria-labelledby="newest"><h2 id="newest">Newest findings</h2>
              {data.findings.length ? data.findings.slice(0, 5).map((f) => <FindingCard key={f.id} finding={f} isShort />) : <p class="dim">No findings yet.</p>}
              <p><a href={addressText("findings", {})}>All findings</a></p>
            </section>
          </div>
        </>
      )}</Show>
    </>
  );
}
