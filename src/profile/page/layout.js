// From a tree to boxes: what is wide enough to be seen below the focus, its callers above it at full width, and chains of
// single children folded into one box. d3's partition gives x from 0 to 1. Only what is seen becomes objects, so a
// tree of a million nodes is laid out in milliseconds; siblings too narrow to be seen are one box, `rest` of them.
const LEAST = 0.5; // pixels
const SHORTEST_CHAIN = 3;

class Layout {
  constructor(tree, focus, width, unfolded) { // unfolded: first nodes of chains, or null: nothing is folded
    Object.assign(this, { tree, focus, width, unfolded });
    this.least = tree.size[focus] * LEAST / width;
    const way = [];
    for (let n = focus; n; n = tree.parent[n]) way.push(n);
    if (focus) way.push(0);
    this.above = this.foldAbove(way.reverse().slice(0, -1));
    const root = d3.hierarchy(this.above[0] || this.box(this.chainFrom(focus)), (box) => this.childrenOf(box));
    root.each((h) => { h.value = h.data.size; });
    d3.partition()(root);
    this.rows = [];
    root.each((h) => {
      Object.assign(h.data, { x0: h.x0, x1: h.x1, depth: h.depth, parent: h.parent ? h.parent.data : null });
      (this.rows[h.depth] = this.rows[h.depth] || []).push(h.data);
    });
    this.focusDepth = this.above.length;
    this.root = root.data;
  }
  box(members, size = this.tree.size[members[0]]) { return { members, node: members[0], last: members[members.length - 1], size, rest: 0, isAbove: false }; }
  foldAbove(way) {
    const boxes = [], full = this.tree.size[this.focus];
    for (let i = 0; i < way.length;) {
      let end = i + 1;
      while (end < way.length && this.isLink(way[end - 1], way[end], this.tree.size[way[end - 1]] * LEAST / this.width)) end++;
      const members = way.slice(i, this.folds(way[i], end - i) ? end : i + 1);
      boxes.push({ ...this.box(members, full), isAbove: true });
      i += members.length;
    }
    return boxes;
  }
  mayFold(first) { return state.fold && this.unfolded !== null && !this.unfolded.has(first); }
  folds(first, length) { return this.mayFold(first) && length >= SHORTEST_CHAIN; }
  // Whether one is all that is seen of the other; groups and notes stay apart, and so do the kernel and its callers.
  isLink(outer, inner, least) {
    const [a, b] = [kindOf(this.tree.frame[outer]).side, kindOf(this.tree.frame[inner]).side];
    return a === b && a !== "none" && this.tree.size[outer] - this.tree.size[inner] < least;
  }
  chainFrom(n) {
    const chain = [n];
    if (!this.mayFold(n)) return chain;
    for (let at = n, next; (next = this.onlyChild(at)); at = next) chain.push(next);
    return chain.length >= SHORTEST_CHAIN ? chain : [n];
  }
  onlyChild(n) {
    for (let c = this.tree.first[n]; c; c = this.tree.next[c]) if (this.tree.size[c] >= this.least) return this.isLink(n, c, this.least) ? c : 0;
    return 0;
  }
  childrenOf(box) {
    if (box.rest) return null;
    if (box.isAbove) return [this.above[this.above.indexOf(box) + 1] || this.box(this.chainFrom(this.focus))];
    const boxes = [], { tree } = this;
    let rest = 0, size = 0;
    for (let c = tree.first[box.last]; c; c = tree.next[c])
      if (tree.size[c] >= this.least) boxes.push(this.box(this.chainFrom(c)));
      else rest++, size += tree.size[c];
    if (rest && size >= this.least) boxes.push({ ...this.box([box.last], size), rest });
    return boxes.length ? boxes : null;
  }
  // The box that shows a node, if one does.
  boxOf(node) {
    for (const row of this.rows) for (const box of row) if (!box.rest && box.members.includes(node)) return box;
    return null;
  }
  at(depth, x) {
    const row = this.rows[depth] || [];
    let low = 0, high = row.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (row[middle].x0 <= x) low = middle;
      else high = middle - 1;
    }
    return row[low] && row[low].x0 <= x && x < row[low].x1 ? row[low] : null;
  }
}
