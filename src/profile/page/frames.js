// Frames, functions, stacks and threads: computed once from `data`, which holds them as data.js describes it. The timeline's page (src/timeline/page) uses
// this too.

// A frame's kind: its label, whose code it is (side: "user", "kernel", or "none" of what is no code), whether it is a function of an interpreted
// language or of its interpreter (layer: "language", "interpreter"), its language and colour.
const GROUP = { label: "group", side: "none" }; // processes and threads

const frameCount = data.frames.length / 3, nodeCount = data.nodes.length;
const frameName = (f) => data.texts[data.frames[3 * f]];
const frameModule = (f) => data.texts[data.frames[3 * f + 1]];
const hasLayer = (layer) => data.frames.some((number, i) => i % 3 === 2 && data.kinds[number].layer === layer);
const frameKind = (f) => data.kinds[data.frames[3 * f + 2]];
const isNote = (f) => frameKind(f).side === "none", isKernel = (f) => frameKind(f).side === "kernel";
const lastPart = (path) => path.slice(path.lastIndexOf("/") + 1);

// Functions: frames of one name and module. Inlined calls of a function are that function too.
const functions = (() => {
  const ofFrame = new Int32Array(frameCount), first = [], known = new Map();
  for (let f = 0; f < frameCount; f++) {
    const key = data.frames[3 * f] * data.texts.length + data.frames[3 * f + 1];
    if (!known.has(key)) known.set(key, first.push(f) - 1);
    ofFrame[f] = known.get(key);
  }
  return { ofFrame, first, count: first.length, ofNode: (n) => ofFrame[data.nodes[n]] };
})();

// Of each node: whether the kernel's code is in its stack.
const isInKernel = new Uint8Array(nodeCount);
for (let n = 1; n < nodeCount; n++) isInKernel[n] = isInKernel[data.parents[n]] || isKernel(data.nodes[n]) ? 1 : 0;

// Of each node: whether one of its callers is the same function. Frames that are hidden count for nothing.
function findRecursive(isHidden) {
  const isRecursive = new Uint8Array(nodeCount);
  const first = new Int32Array(nodeCount), next = new Int32Array(nodeCount), depth = new Int32Array(functions.count);
  const leave = (n) => { if (!isHidden(data.nodes[n])) depth[functions.ofNode(n)]--; };
  for (let n = nodeCount - 1; n > 0; n--) {
    next[n] = first[data.parents[n]];
    first[data.parents[n]] = n;
  }
  for (let n = first[0]; n;) {
    if (!isHidden(data.nodes[n])) isRecursive[n] = depth[functions.ofNode(n)]++ ? 1 : 0;
    if (first[n]) {
      n = first[n];
      continue;
    }
    while (n && !next[n]) leave(n), n = data.parents[n];
    if (n) leave(n), n = next[n];
  }
  return isRecursive;
}

// The notes that end stacks, such as what a thread waited for, the heaviest first.
const leafNotes = (() => {
  const weights = new Map();
  for (let s = 0; s < sampleCount; s++) {
    const frame = data.nodes[data.samples[3 * s + 1]];
    if (data.samples[3 * s + 1] && isNote(frame)) weights.set(frame, (weights.get(frame) || 0) + data.samples[3 * s + 2]);
  }
  return [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
})();

// A thread's process and name, as keys: those of one name are one where names are merged.
const owners = (() => {
  const thread = (t) => data.threads.slice(4 * t, 4 * t + 4);
  const count = data.threads.length / 4, processes = new Set(), names = new Set();
  for (let t = 0; t < count; t++) processes.add(thread(t)[0] + " " + thread(t)[2]), names.add(thread(t)[2] + " " + thread(t)[3]);
  const label = (id, text, merge) => data.texts[text] + (id && !merge ? " (" + id + ")" : "");
  return {
    count,
    areMany: count > 24 && names.size < count,
    process(t, merge) { const [pid, , process] = thread(t); return { key: "p" + (merge ? 0 : pid) + " " + data.texts[process], label: label(pid, process, merge) }; },
    thread(t, merge) { const [pid, tid, process, name] = thread(t); return { key: "t" + (merge ? 0 : tid) + " " + (merge ? data.texts[process] + "/" : pid + "/") + data.texts[name], label: label(tid, name, merge) }; },
  };
})();
