// Slices of time, and lanes over them: one for all, then functions, threads or processes, those that have most first. They come
// in pages, and a search narrows them.
const LANES_A_PAGE = isNarrow ? 8 : 10;

const slices = (() => {
  if (!data.slices) return null;
  const byNumber = new Map();
  data.slices.forEach(([number, ...rest], i) => {
    let sample = 0;
    const gains = rest.map((n, k) => (k % 2 ? n : (sample += n)));
    byNumber.set(number, { number, span: Math.max(1, (data.spans && data.spans[i]) || 1), gains });
  });
  const all = [...byNumber.values()];
  const count = all.reduce((most, s) => Math.max(most, s.number + s.span), Math.max(1, Math.ceil(about.duration_ns / data.slice_ns - 0.1)));
  return { all, count, merged: all.filter((s) => s.span > 1), seconds: (slice) => Number((slice * data.slice_ns / 1e9).toFixed(6)) };
})();

// Numbers of slices from, until: widened to whole slices that were read late, as their weights cannot be split.
function wholeSlices(from, until) {
  for (const s of slices.merged)
    if (s.number < until && s.number + s.span > from) from = Math.min(from, s.number), until = Math.max(until, s.number + s.span);
  return [Math.max(0, from), Math.min(slices.count, until)];
}
function weightsBetween(from, until) {
  const weights = new Float64Array(sampleCount);
  for (const s of slices.all)
    if (s.number >= from && s.number < until) for (let i = 0; i < s.gains.length; i += 2) weights[s.gains[i]] += s.gains[i + 1];
  return weights;
}

// Which lane a sample is in: a key and a name.
const laneOf = {
  function(s) {
    let n = data.samples[3 * s + 1];
    while (data.parents[n] && isNote(data.nodes[n])) n = data.parents[n];
    return n ? { key: functions.ofNode(n), label: frameName(data.nodes[n]) } : { key: -1, label: "(no stack)" };
  },
  thread: (s) => owners.thread(data.samples[3 * s], state.merge),
  process: (s) => owners.process(data.samples[3 * s], state.merge),
};

// All lanes; cells by number of slice: [weight, span].
function makeLanes() {
  const found = new Map(), ofSample = [], all = { key: null, name: "all", sum: 0, cells: new Map() };
  const add = (lane, slice, weight) => {
    const cell = lane.cells.get(slice.number);
    lane.sum += weight;
    if (cell) cell.weight += weight;
    else lane.cells.set(slice.number, { weight, span: slice.span });
  };
  for (let s = 0; s < sampleCount; s++) {
    const { key, label } = laneOf[state.lanes](s);
    if (!found.has(key)) found.set(key, { key, name: label, sum: 0, cells: new Map() });
    ofSample.push(found.get(key));
  }
  for (const slice of slices.all)
    for (let i = 0; i < slice.gains.length; i += 2) {
      add(all, slice, slice.gains[i + 1]);
      add(ofSample[slice.gains[i]], slice, slice.gains[i + 1]);
    }
  const lanes = [...found.values()].filter((l) => l.sum).sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
  const hottest = (list) => list.reduce((most, l) => { for (const c of l.cells.values()) most = Math.max(most, c.weight / c.span); return most; }, 1e-9);
  const most = hottest(lanes);
  for (const lane of lanes) lane.most = most;
  all.most = hottest([all]);
  return { all, lanes };
}
