// A segment in words, for the tip beside the pointer, for who listens, and for the details of what was clicked.
const stateLabel = (c) => data.states[c][0];

// What is at a place: { row, track, top, height, segment }, or null.
function segmentAt(row, y, time) {
  const line = lineAt(row, y);
  if (!line || !line.track.isReady) return null;
  const segment = line.track.at(time);
  return segment < 0 ? null : { row, ...line, segment };
}
function durationText({ track, segment }) {
  const begin = track.begins[segment], end = track.begins[segment + 1];
  return timeText(end - begin) + ", from " + clockText(about.from + begin, 1e3) + " to " + clockText(about.from + end, 1e3);
}
// Frames of a stack, the innermost first, as far as there is room.
function stackLines(node, most = 12) {
  const lines = [];
  for (; node && lines.length < most; node = data.parents[node]) lines.push([frameName(data.nodes[node]), "folded"]);
  if (node) lines.push(["…", "folded"]);
  return lines;
}
// Lines of [text, class]; the first is the title.
function linesOf(at) {
  const { track, segment, row } = at, ref = track.refs ? track.refs[segment] : 0, of = track.classes ? track.classes[segment] : 0;
  if (track.kind === CPU) return [[of ? (of === CPU_LOST ? "not recorded" : threadLabel(ref)) : "idle"], [of && of !== CPU_LOST ? "process " + processLabel(ref) : row.label], [durationText(at), "figure"]];
  if (track.kind === COUNTER) return [[row.label + ": " + track.values[segment].toLocaleString("en")], [durationText(at), "figure"]];
  if (track.kind === CALLS) return of ? [[data.texts[ref]], ["called by " + row.label], [durationText(at), "figure"]] : [["no call"], [row.label]];
  const lines = [[stateLabel(of)], [row.label], [durationText(at), "figure"]];
  if (of === RUNNING) lines.push(["on CPU " + ref]);
  if (of === RUNNABLE) lines.push([ref ? "woken by " + wakerLabel(ref - 1) : "preempted, or its waker is not known"]);
  if (of >= FIRST_BLOCKED) {
    const wake = wakeOf(row.thread, track.begins[segment]);
    if (wake) lines.push(["ended by " + wakerLabel(wake.waker)]);
    if (ref) lines.push(["waits in:", "head"], ...stackLines(ref));
  }
  return lines;
}
const wakerLabel = (thread) => (thread ? threadLabel(thread) : "an interrupt");

// ---- the tab of what was clicked
async function showEvent() {
  const place = get("event"), at = view.event;
  place.textContent = "";
  view.chain = [];
  if (!at) return void (place.textContent = "Click a state or a call: its details, and who woke the thread, are shown here. Drag on the time above, or with Shift, to select a range.");
  const details = place.appendChild(document.createElement("section"));
  linesOf(at).forEach(([text, kind], i) => {
    const line = details.appendChild(document.createElement(i ? "div" : "h2"));
    line.className = kind || "";
    line.textContent = text;
  });
  const button = details.appendChild(document.createElement("button"));
  button.textContent = "Select its time";
  button.addEventListener("click", () => act.select([at.track.begins[at.segment], at.track.begins[at.segment + 1]]));
  if (at.row.kind !== "thread" || at.track.kind !== THREAD) return;
  const chain = await chainOf(at.row.thread, at.track.begins[at.segment]);
  if (view.event !== at) return;
  view.chain = chain;
  if (!chain.length) return;
  const wakers = place.appendChild(document.createElement("section"));
  wakers.appendChild(document.createElement("h2")).textContent = "Woken by";
  const list = wakers.appendChild(document.createElement("ol"));
  for (const { thread, waker, time } of chain) {
    const item = list.appendChild(document.createElement("li")), link = item.appendChild(document.createElement("button"));
    link.textContent = wakerLabel(waker);
    link.disabled = !threadTracks.has(waker);
    link.addEventListener("click", () => act.show(waker, time));
    item.append(" woke " + threadLabel(thread) + " at " + clockText(about.from + time, 1e3));
  }
  askFrame();
}
