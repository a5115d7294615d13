// Rows from top to bottom: CPUs, counters, then processes with their threads. A thread's row holds its states and, below, a line for each depth of calls.
// What is searched for narrows processes and threads to those of that name, if there are any.
const HEAD = 22, STATE_LINE = isNarrow ? 20 : 16, CALL_LINE = 14, COUNTER_LINE = 30, GAP = 3;
const rows = { all: [], tops: [], height: 0, ofThread: new Map() };

// A thread that had ended before anyone asked for its name has a number only.
const threadLabel = (t) => (data.threads[4 * t + 3] ? owners.thread(t, false).label : "thread " + data.threads[4 * t + 1]);
const processLabel = (t) => (data.threads[4 * t + 2] ? owners.process(t, false).label : "process " + data.threads[4 * t]);
const isNamed = (t) => isMatch(processLabel(t), "") || isMatch(threadLabel(t), "");

function layRows() {
  const list = [], add = (row) => { if (!row.group || !state.closed.has(row.group)) list.push(row); };
  const head = (key, label, count) => list.push({ kind: "head", key, label, count, height: HEAD, tracks: [] });
  const cpus = tracks.filter((t) => t.kind === CPU), counters = tracks.filter((t) => t.kind === COUNTER), threads = [...threadTracks.values()];
  const calls = new Map();
  for (const t of tracks) if (t.kind === CALLS) calls.set(t.owner, [...(calls.get(t.owner) || []), t]);
  const narrowed = state.pattern && threads.some((t) => isNamed(t.owner)) ? threads.filter((t) => isNamed(t.owner)) : threads;
  if (cpus.length) head("cpus", "CPUs", cpus.length);
  for (const t of cpus) add({ kind: "cpu", group: "cpus", label: "CPU " + t.owner, tracks: [t], height: STATE_LINE + GAP });
  if (counters.length) head("counters", "Counters", counters.length);
  for (const t of counters) add({ kind: "counter", group: "counters", label: data.texts[t.owner], tracks: [t], height: COUNTER_LINE + GAP });
  for (let i = 0, process = null; i < narrowed.length; i++) {
    const t = narrowed[i], pid = data.threads[4 * t.owner], lines = calls.get(t.owner) || [];
    if (pid !== process) head("p" + pid, processLabel(t.owner), narrowed.filter((other) => data.threads[4 * other.owner] === pid).length);
    process = pid;
    add({ kind: "thread", group: "p" + pid, thread: t.owner, label: threadLabel(t.owner), tracks: [t, ...lines], height: STATE_LINE + lines.length * CALL_LINE + GAP });
  }
  rows.all = list;
  rows.tops = [];
  rows.height = 0;
  rows.ofThread = new Map(list.filter((row) => row.kind === "thread").map((row) => [row.thread, row]));
  for (const row of list) rows.tops.push(row.top = rows.height), rows.height += row.height;
}
// The number of the row at a height.
function rowAt(y) {
  let low = 0, high = rows.all.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows.tops[middle] <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
// The line of a row at a height within it: its track, and where it is.
function lineAt(row, y) {
  if (row.kind === "head") return null;
  if (row.kind !== "thread" || y < STATE_LINE) return { track: row.tracks[0], top: 0, height: row.kind === "counter" ? COUNTER_LINE : STATE_LINE };
  const depth = Math.floor((y - STATE_LINE) / CALL_LINE);
  return row.tracks[depth + 1] ? { track: row.tracks[depth + 1], top: STATE_LINE + depth * CALL_LINE, height: CALL_LINE } : null;
}
