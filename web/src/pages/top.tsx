// The hottest functions and threads of the last minute, live.
import { change, useAddress } from "../address";
import { api, type Me, type TopFunction } from "../api";
import { useAsk } from "../ask";
import { KindPicker, useKind } from "../parts/flame";
import { Show } from "../parts/notice";
import { Table, type Column } from "../parts/table";
import { clockText, percent } from "../units";

const EVERY = 5000; // ms

export function Top({ me }: { me: Me }) {
  const { words } = useAddress(), kind = useKind(me), service = words.get("service") ?? "", isPaused = words.get("paused") === "1", given = Number(words.get("seconds")), seconds = given > 0 ? given : 60;
  const services = useAsk((signal) => api.services(me.now - 900, me.now, signal), ["services of top"]);
  const top = useAsk((signal) => api.top({ kind: kind.name, service, seconds }, signal), [kind.name, service, seconds, isPaused], isPaused ? 0 : EVERY);
  const names = [...new Set([service, ...(services.value?.services ?? []).map((s) => s.service)])].filter(Boolean);
  return (
    <>
      <h1>Top</h1>
      <div class="bar" role="group" aria-label="What is shown">
        <KindPicker me={me} />
        <label>Service <select value={service} onChange={(event) => change({ service: event.currentTarget.value })}><option value="">the host</option>{names.map((s) => <option key={s} value={s}>{s}</option>)}</select></label>
        <label>Time <select value={String(seconds)} onChange={(event) => change({ seconds: event.currentTarget.value })}>{[10, 30, 60, 300].map((s) => <option key={s} value={String(s)}>last {s} s</option>)}</select></label>
        <button type="button" data-key="p" aria-pressed={isPaused} onClick={() => change({ paused: isPaused ? undefined : 1 }, false)}>{isPaused ? "Resume" : "Pause"}</button>
      </div>
      <Show of={top} what="samples">{(data) => {
        const columns: Column<TopFunction>[] = [
          { name: "self", label: "Self", unit: data.unit, value: (f) => f.self, share: (f) => f.self / (data.total || 1) },
          { name: "share", label: "Share", isNumber: true, value: (f) => f.self / (data.total || 1), show: (f) => percent(f.self, data.total) },
          { name: "total", label: "Total", unit: data.unit, value: (f) => f.total, share: (f) => f.total / (data.total || 1) },
          { name: "name", label: "Function", value: (f) => f.name },
          { name: "kind", label: "Code", value: (f) => f.kind },
          { name: "module", label: "File", value: (f) => f.module },
        ];
        const threads: Column<(typeof data.threads)[number]>[] = [
          { name: "value", label: "Value", unit: data.unit, value: (t) => t.value, share: (t) => t.value / (data.total || 1) },
          { name: "name", label: "Thread", value: (t) => t.name },
          { name: "process", label: "Process", value: (t) => t.process },
          { name: "pid", label: "PID", isNumber: true, value: (t) => t.pid, show: (t) => String(t.pid) },
        ];
        return (
          <>
            <p class="dim">{clockText(data.from)} to {clockText(data.to)}{isPaused && ", paused"}</p>
            <h2>Functions</h2>
            <Table name="functions" caption="Functions" noun="functions" columns={columns} rows={data.functions} keyOf={(f) => f.name + "\0" + f.module + "\0" + f.kind} sort="-self" hasSearch />
            <h2>Threads</h2>
            <Table name="threads" caption="Threads" noun="threads" columns={threads} rows={data.threads} keyOf={(t) => t.pid + "\0" + t.name} sort="-value" />
          </>
        );
      }}</Show>
    </>
  );
}
