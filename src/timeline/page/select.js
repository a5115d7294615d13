// What happened in a range: time by state of each thread, calls by name, and a flame graph of the samples. Without a selection the range is the whole timeline.
const rangeShown = () => state.range || [0, length];
const MOST_LINES = 200; // of a table
const flame = new Graph("flame", { isDown: () => true, folds: true, pick: (box, graph) => graph.show(graph.tree, box.node) });

// [thread, time of each state] of threads that were there.
async function stateTimes([from, until]) {
  const list = [...threadTracks.values()];
  await loadAll(list);
  return list.map((track) => [track.owner, track.sums(from, until)]).filter(([, sums]) => sums.some((time, c) => c > 0 && time > 0));
}
// { name, count, total, max } of calls; of those that are partly in the range, the part.
async function callTimes([from, until]) {
  const byName = new Map(), list = tracks.filter((t) => t.kind === CALLS);
  await loadAll(list);
  for (const track of list)
    for (let i = Math.max(0, track.at(from)); i < track.count && track.begins[i] < until; i++) {
      const time = Math.min(track.begins[i + 1], until) - Math.max(track.begins[i], from);
      if (!track.classes[i] || time <= 0) continue;
      let row = byName.get(track.refs[i]);
      if (!row) byName.set(track.refs[i], row = { name: data.texts[track.refs[i]], count: 0, total: 0, max: 0 });
      row.count++;
      row.total += time;
      row.max = Math.max(row.max, time);
    }
  return [...byName.values()].sort((a, b) => b.total - a.total);
}
// The samples as those of a flame graph's page: each thread and stack once.
async function sampleTree([from, until]) {
  await samples.load();
  const sums = new Map(), first = lowerBound(samples.times, from), last = lowerBound(samples.times, until);
  for (let i = first; i < last; i++) {
    const key = samples.threads[i] * nodeCount + samples.nodes[i];
    sums.set(key, (sums.get(key) || 0) + samples.weights[i]);
  }
  data.samples = [...sums].flatMap(([key, weight]) => [Math.floor(key / nodeCount), key % nodeCount, weight]);
  sampleCount = sums.size;
  return { count: last - first, tree: buildTree({ weights: [...sums.values()], changes: new Float64Array(sampleCount) }) };
}
function lowerBound(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---- tabs
const shownTab = { key: "" };
async function showTab() {
  for (const name of tabs) get(name + "Pane").hidden = state.tab !== name, get(name + "Tab").setAttribute("aria-selected", state.tab === name);
  const range = rangeShown(), key = state.tab + range.join("-") + isDark();
  get("rangeText").textContent = state.range ? timeText(range[1] - range[0]) + " selected, from " + clockText(about.from + range[0], 1e3) : "nothing selected: the whole timeline";
  get("clear").hidden = !state.range;
  if (state.tab === "event" || shownTab.key === key) return;
  shownTab.key = key;
  const pane = get(state.tab + "Pane");
  pane.setAttribute("aria-busy", "true");
  if (state.tab === "flame") await showFlame(range, key);
  if (state.tab === "threads") await showStates(range, key);
  if (state.tab === "calls") await showCalls(range, key);
  pane.removeAttribute("aria-busy");
}
async function showFlame(range, key) {
  const { count, tree } = await sampleTree(range);
  if (shownTab.key !== key) return;
  get("noSamples").hidden = count > 0;
  get("flame").parentElement.hidden = !count;
  flame.show(tree);
  flame.canvas.setAttribute("aria-label", "Flame graph of " + countText(count, "samples") + ", " + timeText(tree.total[0]));
}
async function showStates(range, key) {
  const list = await stateTimes(range), total = new Float64Array(data.states.length);
  if (shownTab.key !== key) return;
  for (const [, sums] of list) sums.forEach((time, c) => { total[c] += time; });
  const classes = [...total.keys()].filter((c) => c && total[c]);
  list.sort((a, b) => b[1][RUNNING] - a[1][RUNNING] || b[1][RUNNABLE] - a[1][RUNNABLE]);
  const lines = list.map(([thread, sums]) => ({ text: threadLabel(thread), note: processLabel(thread), click: () => act.show(thread, range[0]), figures: classes.map((c) => timeOrNone(sums[c])) }));
  fillTable("threads", ["Thread", ...classes.map(stateLabel)], [{ text: "all", figures: classes.map((c) => timeOrNone(total[c])) }, ...lines], classes.map((c) => data.states[c][1 + isDark()]));
}
async function showCalls(range, key) {
  const list = await callTimes(range);
  if (shownTab.key !== key) return;
  fillTable("calls", ["Call", "Calls", "Total", "Average", "Longest"], list.map(({ name, count, total, max }) =>
    ({ text: name, click: () => act.search(name), figures: [count.toLocaleString("en"), timeText(total), timeText(total / count), timeText(max)] })));
}
const timeOrNone = (time) => (time ? timeText(time) : "–");
function fillTable(name, heads, lines, colors = []) {
  const head = get(name + "Head"), body = get(name + "Rows");
  head.textContent = body.textContent = "";
  heads.forEach((text, i) => {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    if (colors[i - 1]) cell.appendChild(document.createElement("i")).style.background = colors[i - 1];
    cell.append(text);
  });
  for (const { text, note, click, figures } of lines.slice(0, MOST_LINES)) {
    const line = body.appendChild(document.createElement("tr")), cell = line.appendChild(document.createElement("td"));
    const label = cell.appendChild(document.createElement(click ? "button" : "b"));
    label.textContent = text;
    if (click) label.addEventListener("click", click);
    if (note) cell.appendChild(document.createElement("small")).textContent = note;
    for (const figure of figures) line.appendChild(document.createElement("td")).textContent = figure;
  }
  get(name + "More").textContent = lines.length > MOST_LINES ? (lines.length - MOST_LINES).toLocaleString("en") + " more" : "";
}
