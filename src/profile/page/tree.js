// Call trees of what is shown: samples of the chosen time, process or thread and kind, merged as the reader wants.
// A tree is a set of arrays by node: parent, frame, self, total, change; a parent's number is lower than its children's,
// node 0 is the root. Siblings are linked (first, next) in the order of their names. Frames from frameCount on are groups
// (processes and threads), whose labels are in `groups`. All passes are linear, so 100,000 stacks take a fraction of a second.
const groups = { labels: [], known: new Map() };
function groupFrame({ key, label }) {
  if (!groups.known.has(key)) groups.known.set(key, groups.labels.push(label) - 1 + frameCount);
  return groups.known.get(key);
}
const kindOf = (frame) => (frame >= frameCount || frame < 0 ? GROUP : frameKind(frame));
const nameOf = (frame) => (frame < 0 ? "all" : frame >= frameCount ? groups.labels[frame - frameCount] : frameName(frame));
const moduleOf = (frame) => (frame >= frameCount || frame < 0 ? "" : frameModule(frame));
const functionOf = (frame) => (frame >= frameCount || frame < 0 ? -1 : functions.ofFrame[frame]);

function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

// The node that a wait, a byte or an event is charged to, by node: itself or a caller, the one with the lowest rank, the innermost of several
// (src/profile/charging.cc). Nodes without a rank are passed over. Recordings of CPU time have no ranks: it is charged to the innermost function.
function chargedNodes(count, parents, rankOf) {
  const charged = new Int32Array(count);
  for (let n = 1; n < count; n++) {
    const above = charged[parents[n]], rank = rankOf(n), rankAbove = rankOf(above);
    charged[n] = rank !== undefined && (rankAbove === undefined || rank <= rankAbove) ? n : above;
  }
  return charged;
}

class Tree {
  constructor(rootFrame = -1, isInward = false) {
    this.isInward = isInward; // the root is the innermost
    this.count = 1;
    this.parent = new Int32Array(1024);
    this.frame = new Int32Array(1024);
    this.self = new Float64Array(1024);
    this.change = new Float64Array(1024);
    this.frame[0] = rootFrame;
    this.slots = new Int32Array(4096); // of a hash table: numbers of nodes, 0: free
  }
  slotOf(parent, frame) {
    const mask = this.slots.length - 1;
    let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b)) >>> 7 & mask;
    for (let n; (n = this.slots[at]) && (this.parent[n] !== parent || this.frame[n] !== frame);) at = at + 1 & mask;
    return at;
  }
  child(parent, frame) {
    const at = this.slotOf(parent, frame);
    if (this.slots[at]) return this.slots[at];
    const n = this.count++;
    if (n === this.parent.length) for (const name of ["parent", "frame", "self", "change"]) this[name] = grown(this[name]);
    this.parent[n] = parent;
    this.frame[n] = frame;
    this.slots[at] = n;
    if (this.count * 2 > this.slots.length) {
      this.slots = new Int32Array(this.slots.length * 2);
      for (let i = 1; i < this.count; i++) this.slots[this.slotOf(this.parent[i], this.frame[i])] = i;
    }
    return n;
  }
  // Totals, and siblings in the order of their names: those of high rank are put in front first.
  finish() {
    this.total = this.self.slice(0, this.count);
    this.size = new Float64Array(this.count); // width in the graph: of a comparison also what is gone
    for (let n = 0; n < this.count; n++) this.size[n] = this.self[n] + Math.max(0, -this.change[n]);
    for (let n = this.count - 1; n > 0; n--) {
      this.total[this.parent[n]] += this.total[n];
      this.change[this.parent[n]] += this.change[n];
      this.size[this.parent[n]] += this.size[n];
    }
    this.first = new Int32Array(this.count);
    this.next = new Int32Array(this.count);
    const order = frameOrder(), rankOf = new Int32Array(order.length + 1), sorted = new Int32Array(this.count);
    order.forEach((frame, rank) => { rankOf[frame] = rank; });
    const ends = new Int32Array(order.length + 1);
    for (let n = 1; n < this.count; n++) ends[rankOf[this.frame[n]]]++;
    for (let r = 1; r <= order.length; r++) ends[r] += ends[r - 1];
    for (let n = this.count - 1; n > 0; n--) sorted[--ends[rankOf[this.frame[n]]]] = n;
    for (let i = this.count - 2; i >= 0; i--) {
      const n = sorted[i], parent = this.parent[n];
      if (!this.size[n]) continue;
      this.next[n] = this.first[parent];
      this.first[parent] = n;
    }
    this.slots = null;
    return this;
  }
  // What is charged to a node itself; not known in trees that begin at the innermost frame.
  ownOf(n) {
    if (!data.ranks) return this.self[n];
    if (this.isInward) return 0;
    if (!this.own) {
      const charged = chargedNodes(this.count, this.parent, (m) => data.ranks[this.frame[m]]);
      this.own = new Float64Array(this.count);
      for (let m = 0; m < this.count; m++) this.own[charged[m]] += this.self[m];
    }
    return this.own[n];
  }
  // The way to a node from the root, as frames; and the node of such a way, as far as it is there.
  path(n) {
    const frames = [];
    for (; n; n = this.parent[n]) frames.push(this.frame[n]);
    return frames.reverse();
  }
  find(frames) {
    let n = 0;
    for (const frame of frames) {
      let c = this.first[n];
      while (c && this.frame[c] !== frame) c = this.next[c];
      if (!c) break;
      n = c;
    }
    return n;
  }
}

const frameOrder = (() => {
  let order = [];
  return () => {
    if (order.length !== frameCount + groups.labels.length) {
      const names = Array.from({ length: frameCount + groups.labels.length }, (_, f) => nameOf(f));
      order = names.map((_, f) => f).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    }
    return order;
  };
})();

// ---- what is left out
// Of each sample its weight, and its change in a comparison: 0 where it is not shown.
function shownSamples() {
  const weights = new Float64Array(sampleCount), changes = new Float64Array(sampleCount);
  const isWanted = wantedThreads(), note = state.kind.startsWith("note:") ? state.kind.slice(5) : null;
  for (let s = 0; s < sampleCount; s++) {
    const node = data.samples[3 * s + 1];
    if (!isWanted[data.samples[3 * s]] || (state.kind === "kernel" && !isInKernel[node])) continue;
    if (note !== null && (!node || frameName(data.nodes[node]) !== note)) continue;
    weights[s] = state.time ? state.time.weights[s] : data.samples[3 * s + 2];
    if (data.changes) changes[s] = data.changes[s];
  }
  return { weights, changes };
}
function wantedThreads() {
  const wanted = new Uint8Array(owners.count);
  for (let t = 0; t < owners.count; t++)
    wanted[t] = !state.who || [true, false].some((merge) => owners.process(t, merge).key === state.who || owners.thread(t, merge).key === state.who) ? 1 : 0;
  return wanted;
}
// Of interpreted programs, as `frames` has it.
function isOtherLayer(frame) {
  const { layer } = frameKind(frame);
  return (layer === "interpreter" && state.frames === "language") || (layer === "language" && state.frames === "native");
}
const recursive = (() => {
  const known = {};
  return () => (known[state.frames] = known[state.frames] || findRecursive(isOtherLayer));
})();
// Frames that are not shown belong to their callers.
function isHidden(frame) {
  const { side } = frameKind(frame);
  if (isOtherLayer(frame)) return true;
  return state.kind === "user" ? side === "kernel" : state.kind === "kernel" ? side === "user" : false;
}

// ---- trees
// The graph: groups first, then frames from the outermost on, or reversed.
function buildTree({ weights, changes }) {
  const tree = new Tree(-1, state.reverse), shown = new Int32Array(nodeCount), seen = new Int32Array(nodeCount).fill(-1);
  const byRoot = new Map(), roots = [];
  for (let s = 0; s < sampleCount; s++) {
    if (!weights[s] && !changes[s]) continue;
    const root = rootOf(tree, data.samples[3 * s], roots);
    if (!byRoot.has(root)) byRoot.set(root, []);
    byRoot.get(root).push(s);
  }
  const walk = state.reverse ? inward : outward;
  for (const [root, samples] of byRoot)
    for (const s of samples) {
      const at = walk(tree, data.samples[3 * s + 1], root, shown, seen);
      tree.self[at] += weights[s];
      tree.change[at] += changes[s];
    }
  return tree.finish();
}
function inward(tree, n, at) {
  for (; n; n = data.parents[n]) if (!isHidden(data.nodes[n])) at = tree.child(at, data.nodes[n]);
  return at;
}
// What was walked before below the same root is known: shown[n] is its node where seen[n] is the root.
function outward(tree, n, root, shown, seen) {
  const way = [];
  for (; n && seen[n] !== root; n = data.parents[n]) way.push(n);
  let at = n ? shown[n] : root;
  while (way.length) {
    n = way.pop();
    if (!isHidden(data.nodes[n])) at = tree.child(at, data.nodes[n]);
    shown[n] = at;
    seen[n] = root;
  }
  return at;
}
function rootOf(tree, thread, known) {
  if (known[thread] !== undefined) return known[thread];
  let at = 0;
  if (state.group !== "none") at = tree.child(at, groupFrame(owners.process(thread, state.merge)));
  if (state.group === "thread") at = tree.child(at, groupFrame(owners.thread(thread, state.merge)));
  return (known[thread] = at);
}

// Weights by node of the recording's own tree: hidden frames count for their callers.
function nodeWeights({ weights, changes }) {
  const self = new Float64Array(nodeCount), change = new Float64Array(nodeCount), shown = new Int32Array(nodeCount);
  for (let n = 1; n < nodeCount; n++) shown[n] = isHidden(data.nodes[n]) ? shown[data.parents[n]] : n;
  for (let s = 0; s < sampleCount; s++) {
    self[shown[data.samples[3 * s + 1]]] += weights[s];
    change[shown[data.samples[3 * s + 1]]] += changes[s];
  }
  const summed = (values) => {
    const total = values.slice();
    for (let n = nodeCount - 1; n > 0; n--) total[data.parents[n]] += total[n];
    return total;
  };
  return { self, change, total: summed(self), totalChange: summed(change), isShown: (n) => shown[n] === n };
}

// The same weights by the node that they are charged to.
function ownWeights(w) {
  if (!data.ranks) return w;
  const charged = chargedNodes(nodeCount, data.parents, (n) => (n && w.isShown(n) ? data.ranks[data.nodes[n]] : undefined));
  const own = { self: new Float64Array(nodeCount), change: new Float64Array(nodeCount) };
  for (let n = 0; n < nodeCount; n++) {
    own.self[charged[n]] += w.self[n];
    own.change[charged[n]] += w.change[n];
  }
  return own;
}

// Rows of the table: `self` is what is charged to a function. It counts once in a stack, however often it is there.
function functionRows(samples) {
  const w = nodeWeights(samples), own = ownWeights(w), isRecursive = recursive();
  const rows = Array.from({ length: functions.count }, (_, id) => ({ id, self: 0, total: 0, change: 0, totalChange: 0, isEnd: false }));
  for (let n = 1; n < nodeCount; n++) {
    if (!w.isShown(n)) continue;
    const row = rows[functions.ofNode(n)];
    row.self += own.self[n];
    row.change += own.change[n];
    if (w.self[n] || w.change[n]) row.isEnd = true;
    if (!isRecursive[n]) row.total += w.total[n], row.totalChange += w.totalChange[n];
  }
  return rows.filter((r) => (r.total || r.totalChange) && (!isNote(functions.first[r.id]) || r.self || r.change || r.isEnd));
}

// Below a function: what it calls, from its outermost call in each stack on, so that recursion counts once.
function calleesOf(id, samples) {
  const w = nodeWeights(samples), tree = new Tree(functions.first[id]), place = new Int32Array(nodeCount).fill(-1);
  for (let n = 1; n < nodeCount; n++) {
    const above = place[data.parents[n]];
    if (above < 0 && functions.ofNode(n) !== id) continue;
    if (!w.total[n] && !w.totalChange[n]) continue;
    place[n] = above < 0 ? 0 : w.isShown(n) ? tree.child(above, data.nodes[n]) : above;
    tree.self[place[n]] += w.self[n];
    tree.change[place[n]] += w.change[n];
  }
  return tree.finish();
}
// Above it: who called that outermost call.
function callersOf(id, samples) {
  const w = nodeWeights(samples), tree = new Tree(functions.first[id], true), isRecursive = recursive();
  for (let n = 1; n < nodeCount; n++) {
    if (functions.ofNode(n) !== id || isRecursive[n] || !w.isShown(n) || (!w.total[n] && !w.totalChange[n])) continue;
    const at = inward(tree, data.parents[n], 0);
    tree.self[at] += w.total[n];
    tree.change[at] += w.totalChange[n];
  }
  return tree.finish();
}
