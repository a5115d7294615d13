// SQL over the host's tables, or over the store. The query is in the address; it runs when the reader says so, or when a link brought it.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, useAddress } from "../address";
import { api, type Me, type SqlResult } from "../api";
import { useAsk } from "../ask";
import { ApiError } from "../http";
import { Failure } from "../parts/notice";
import { Table, type Column } from "../parts/table";
import { timeText } from "../units";

const FIRST = "select pid, name, resident\nfrom processes\norder by resident desc\nlimit 20";
// The host's tables are modules of SQLite, beside SQLite's own.
const TABLES = {
  host: "select name from pragma_module_list where not (name glob 'pragma_*' or name glob 'fts[0-9]*' or name glob 'json_*' or name glob 'rtree*' or name in ('dbstat', 'sqlite_stmt')) order by name",
  store: "select name from sqlite_master where type = 'table' order by name",
};

function columnsOf(result: SqlResult): Column<unknown[]>[] {
  return result.columns.map((name, i) => ({ name: `${i}:${name}`, label: name, value: (row) => row[i], ...(result.rows.some((row) => typeof row[i] === "number") ? { isNumber: true, show: (row) => (row[i] === null ? "–" : String(row[i])) } : {}) }));
}

export function Sql(_: { me: Me }) {
  const { words } = useAddress(), of = words.get("of") === "store" ? "store" : "host", given = words.get("query");
  const [text, setText] = useState(given ?? FIRST), [result, setResult] = useState<SqlResult | null>(null), [error, setError] = useState<ApiError | null>(null), [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController | null>(null);
  const tables = useAsk((signal) => api.sql(TABLES[of], of, signal), ["tables", of]);
  const run = async (query: string) => {
    running.current?.abort();
    const stop = (running.current = new AbortController());
    setRunning(true);
    setError(null);
    try {
      setResult(await api.sql(query, of, stop.signal));
    } catch (failure) {
      if (!stop.signal.aborted) setResult(null), setError(ApiError.of(failure));
    }
    if (running.current === stop) setRunning(false);
  };
  // Back, forward and links change the query in the address.
  useEffect(() => { if (given !== null) setText(given), void run(given); return () => running.current?.abort(); }, [given, of]);
  const submit = () => (text === given ? void run(text) : change({ query: text }));
  return (
    <>
      <h1>SQL</h1>
      <form onSubmit={(event) => { event.preventDefault(); submit(); }}>
        <label for="query">Query, in SQLite's SQL</label>
        <textarea id="query" data-search rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), submit(); }} />
        <div class="bar">
          <button class="primary" disabled={!text.trim()}>Run</button>
          <button type="button" disabled={!isRunning} onClick={() => { running.current?.abort(); setRunning(false); }}>Stop</button>
          <label>Tables of <select value={of} onChange={(event) => change({ of: event.currentTarget.value === "store" ? "store" : undefined, query: undefined })}><option value="host">this host</option><option value="store">the store</option></select></label>
          <output aria-live="polite">{isRunning ? "Running …" : result ? `${timeText(result.seconds * 1e9)}${result.truncated ? ", cut after " + result.rows.length + " rows" : ""}` : ""}</output>
        </div>
      </form>
      {error && <Failure error={error} />}
      {result?.notes?.map((note) => <p key={note} class="dim">{note}</p>)}
      {result && <Table name="rows" caption="Rows" noun="rows" columns={columnsOf(result)} rows={result.rows} hasSearch />}
      <details><summary>Tables</summary>
        {tables.error && <Failure error={tables.error} />}
        <ul class="tools">{tables.value?.rows.map(([name]) => <li key={String(name)}><button type="button" class="link" onClick={() => setText(`select *\nfrom ${String(name)}\nlimit 20`)}>{String(name)}</button></li>)}</ul>
      </details>
    </>
  );
}
