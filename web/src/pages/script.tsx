// Scripts: checked while they are typed, run with a limit of time and cost.
import { useEffect, useState } from "preact/hooks";
import { change, useAddress } from "../address";
import { api, type Checked, type Me } from "../api";
import { ApiError } from "../http";
import { Editor } from "../parts/editor";
import { JobView } from "../parts/job";
import { Failure } from "../parts/notice";

const examples: [string, string][] = [
  ["System calls by process", "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }"],
  ["Files opened", 'tracepoint:syscalls:sys_enter_openat { printf("%-16s %s\\n", comm, str(args.filename)); }'],
  ["Latency of reads", "tracepoint:syscalls:sys_enter_read { @start[tid] = nsecs; }\ntracepoint:syscalls:sys_exit_read /@start[tid]/ {\n  @us[comm] = hist((nsecs - @start[tid]) / 1000);\n  delete(@start, tid);\n}"],
  ["Kernel stacks on the CPU", "profile:hz:99 { @[kstack(8)] = count(); }"],
];

// The check waits until nothing has been typed for a moment.
function useCheck(text: string): { checked: Checked | null; error: ApiError | null } {
  const [state, setState] = useState<{ text: string; checked: Checked | null; error: ApiError | null }>({ text: "", checked: null, error: null });
  useEffect(() => {
    if (!text.trim()) return setState({ text, checked: null, error: null });
    const stop = new AbortController(), timer = window.setTimeout(async () => {
      try {
        const checked = await api.check(text, stop.signal);
        if (!stop.signal.aborted) setState({ text, checked, error: null });
      } catch (failure) {
        if (!stop.signal.aborted) setState({ text, checked: null, error: ApiError.of(failure) });
      }
    }, 400);
    return () => { stop.abort(); clearTimeout(timer); };
  }, [text]);
  return state.text === text ? state : { checked: null, error: null };
}

function Mistakes({ checked, id }: { checked: Checked; id: string }) {
  const jump = (line: number, column: number) => {
    const area = document.getElementById(id) as HTMLTextAreaElement, lines = area.value.split("\n"), at = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(at, at);
  };
  // Messages that no mark repeats, such as hints.
  const rest = checked.messages.filter((text) => !checked.marks.some((mark) => text.includes(mark.message)));
  return (
    <>
      {checked.valid && <p class="dim">The script is valid.</p>}
      <ul class="mistakes">{checked.marks.map((mark, i) => <li key={i}><button type="button" class="link" onClick={() => jump(mark.line, mark.column)}>line {mark.line}, column {mark.column}</button>: {mark.kind === "warning" && "warning: "}{mark.message}</li>)}</ul>
      {!checked.valid && rest.length > 0 && <pre tabIndex={0} aria-label="Messages">{rest.join("\n")}</pre>}
    </>
  );
}

export function Script({ me }: { me: Me }) {
  const { words } = useAddress(), given = words.get("script"), [text, setText] = useState(given ?? examples[0][1]), [error, setError] = useState<ApiError | null>(null);
  const { checked, error: unchecked } = useCheck(text), job = Number(words.get("job")), duration = words.get("duration") ?? "5", cost = words.get("max_cost") ?? "10", pid = words.get("pid") ?? "";
  useEffect(() => { if (given !== null && given !== text) setText(given); }, [given]);
  const edit = (next: string) => { setText(next); change({ script: next }, false); };
  const run = async () => {
    setError(null);
    try {
      const { id } = await api.start("run_script", { script: text, duration: Number(duration), max_cost: Number(cost), ...(pid ? { pid: Number(pid) } : {}) });
      change({ script: text, job: id });
    } catch (failure) {
      setError(ApiError.of(failure));
    }
  };
  return (
    <>
      <h1>Script</h1>
      <form onSubmit={(event) => { event.preventDefault(); void run(); }}>
        <div class="bar"><label>Example <select value="" onChange={(event) => { const found = examples[Number(event.currentTarget.value)]; if (found) edit(found[1]); }}><option value="">choose …</option>{examples.map(([name], i) => <option key={name} value={String(i)}>{name}</option>)}</select></label></div>
        <label for="script">Script, in the bpftrace language</label>
        <Editor id="script" text={text} change={edit} run={run} />
        <div aria-live="polite" class="check">{unchecked ? <Failure error={unchecked} /> : checked ? <Mistakes checked={checked} id="script" /> : <p class="dim">{text.trim() ? "Checking …" : "Nothing to check."}</p>}</div>
        <div class="bar">
          <label>Seconds <input type="number" min={0.1} max={300} step="any" required value={duration} onChange={(event) => change({ duration: event.currentTarget.value }, false)} /></label>
          <label>Max cost, % of a CPU <input type="number" min={0.01} max={100} step="any" required value={cost} onChange={(event) => change({ max_cost: event.currentTarget.value }, false)} /></label>
          <label>PID <input type="number" min={1} value={pid} onChange={(event) => change({ pid: event.currentTarget.value }, false)} /></label>
          <button class="primary" disabled={me.read_only || !text.trim()}>Run</button>
          {me.read_only && <span class="dim">This server is read-only: it runs no scripts.</span>}
        </div>
        {error && <Failure error={error} />}
      </form>
      {job > 0 && <JobView id={job} key={job} />}
    </>
  );
}
