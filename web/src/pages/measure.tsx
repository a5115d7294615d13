// Measurements of now: a verb of the server with a form for its arguments, and the jobs that run or ran.
import { useState } from "preact/hooks";
import { addressText, change, go, useAddress } from "../address";
import { api, type AuditLine, type Job, type Me, type Schema, type Verb } from "../api";
import { useAsk } from "../ask";
import { ApiError } from "../http";
import { Fields, argumentsOf } from "../parts/form";
import { JobView } from "../parts/job";
import { Failure, Show } from "../parts/notice";
import { Table, type Column } from "../parts/table";
import { clockText, timeText } from "../units";

const elsewhere = ["check_script", "run_script", "sql", "tool"]; // verbs with pages of their own
const hidden = ["top", "min_percent", "max_output"];             // limits of text that this page does not need
const DURATION = 10; // seconds, where the form has none

function fieldsOf(verb: Verb, me: Me): Record<string, Schema> {
  const properties = Object.fromEntries(Object.entries(verb.inputSchema.properties ?? {}).filter(([name]) => !hidden.includes(name)));
  if (verb.name === "flame" && properties.kind && me.kinds.length) properties.kind = { ...properties.kind, enum: me.kinds.map((kind) => kind.name) };
  if (properties.duration) properties.duration = { ...properties.duration, default: DURATION };
  return properties;
}

function VerbForm({ verb, me }: { verb: Verb; me: Me }) {
  const { words } = useAddress(), [error, setError] = useState<ApiError | null>(null), fields = fieldsOf(verb, me);
  const start = async (event: Event) => {
    event.preventDefault();
    setError(null);
    try {
      const { id } = await api.start(verb.name, { ...(fields.duration ? { duration: DURATION } : {}), ...argumentsOf(words, fields) }, verb.name === "flame");
      change({ job: id });
    } catch (failure) {
      setError(ApiError.of(failure));
    }
  };
  return (
    <form onSubmit={start} aria-label={verb.title}>
      <p class="dim">{verb.description}</p>
      <Fields properties={fields} required={verb.inputSchema.required} />
      <button class="primary" disabled={me.read_only}>Measure</button>
      {me.read_only && <p class="dim">This server is read-only: it takes no measurements on request.</p>}
      {error && <Failure error={error} />}
    </form>
  );
}

// Who asked for what: read when it is opened.
function Audit() {
  const [isOpen, setOpen] = useState(false), found = useAsk(isOpen ? api.audit : null, ["audit", isOpen]);
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));
  const columns: Column<AuditLine>[] = [
    { name: "time", label: "Time", value: (l) => l.time, show: (l) => clockText(l.time) },
    { name: "client", label: "Client", value: (l) => l.client },
    { name: "action", label: "Action", value: (l) => l.action },
    { name: "arguments", label: "Arguments", value: (l) => text(l.arguments) },
    { name: "outcome", label: "Outcome", value: (l) => text(l.outcome) },
  ];
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}><summary>Audit: who asked for what</summary>
      {isOpen && <Show of={found} what="the audit">{(value) => <Table name="audit" caption="Audit" noun="requests" columns={columns} rows={value.lines} sort="-time" hasSearch />}</Show>}
    </details>
  );
}

function Jobs() {
  const jobs = useAsk(api.jobs, ["jobs"], 5000);
  const columns: Column<Job>[] = [
    { name: "id", label: "Job", isNumber: true, value: (j) => j.id, show: (j) => <a href={addressText("measure", { job: j.id })}>{j.id}</a> },
    { name: "command", label: "Command", value: (j) => j.command },
    { name: "state", label: "State", value: (j) => j.state },
    { name: "started", label: "Started", value: (j) => j.started, show: (j) => clockText(j.started) },
    { name: "seconds", label: "Time", unit: "s", value: (j) => j.seconds, show: (j) => timeText(j.seconds * 1e9) },
  ];
  return <Show of={jobs} what="jobs">{(value) => <Table name="jobs" caption="Jobs" noun="jobs" columns={columns} rows={value.jobs} keyOf={(j) => String(j.id)} sort="-id" />}</Show>;
}

export function Measure({ me }: { me: Me }) {
  const { words } = useAddress(), verbs = useAsk(api.verbs, ["verbs"]), job = Number(words.get("job"));
  return (
    <>
      <h1>Measure now</h1>
      {job > 0 && <><JobView id={job} key={job} /><h2>Another measurement</h2></>}
      <Show of={verbs} what="measurements">{(value) => {
        const offered = value.verbs.filter((v) => !elsewhere.includes(v.name)), name = words.get("verb") ?? "flame", verb = offered.find((v) => v.name === name) ?? offered[0];
        return (
          <>
            <div class="tabs" role="group" aria-label="Measurement">{offered.map((v) => <button type="button" key={v.name} aria-pressed={v === verb} onClick={() => go("measure", { verb: v.name, "arg.pid": words.get("arg.pid") ?? undefined })}>{v.title}</button>)}</div>
            {verb && <VerbForm verb={verb} me={me} key={verb.name} />}
          </>
        );
      }}</Show>
      <h2>Jobs</h2>
      <Jobs />
      <Audit />
    </>
  );
}
