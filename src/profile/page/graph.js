// A call tree on a canvas. The canvas is as high as what is seen of it and is drawn anew when the page scrolls, so that
// stacks of any depth have room. `options`: isDown() tells whether the root is on top, pick(box) what a click does,
// folds whether chains of single children become one box.
const ROW = isNarrow ? 26 : 20, FONT = "12px system-ui, sans-serif", BADGE = "10px system-ui, sans-serif";
const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
const ANIMATION = 160; // ms

class Graph {
  constructor(name, options) {
    this.canvas = get(name);
    this.sheet = this.canvas.parentElement;
    this.pen = this.canvas.getContext("2d");
    this.options = options;
    this.unfolded = options.folds ? new Set() : null;
    this.start = -1e9;
    this.hover = this.selected = this.layout = null;
    this.canvas.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") this.point(event); });
    this.canvas.addEventListener("pointerleave", () => { this.hover = null; tip.hide(); this.draw(); });
    this.canvas.addEventListener("click", (event) => { const box = this.boxAt(event); if (box) tip.hide(), options.pick(box, this); });
  }
  // Shows a tree from a node on.
  show(tree, focus = 0) {
    const before = this.tree === tree ? this.layout : null;
    if (this.tree !== tree && this.unfolded) this.unfolded.clear();
    Object.assign(this, { tree, focus, hover: null, selected: null, layout: null });
    this.mark();
    this.layOut();
    this.from = before && this.layout && !isStill ? this.placeBefore(before) : null;
    this.start = this.from ? performance.now() : -1e9;
    this.draw();
  }
  layOut() {
    this.width = this.sheet.clientWidth;
    if (!this.width) return;
    this.layout = new Layout(this.tree, this.focus, this.width, this.unfolded);
    this.sheet.style.height = this.layout.rows.length * ROW + "px";
  }
  // What of the new layout was on the screen before: the new focus grows out of its box, or the old one shrinks into its.
  placeBefore(before) {
    const old = before.boxOf(this.focus), now = this.layout.boxOf(before.focus);
    if (!old || old.x1 - old.x0 > 0.999) return now ? { x0: now.x0, x1: now.x1 } : null;
    const width = 1 / (old.x1 - old.x0);
    return { x0: -old.x0 * width, x1: (1 - old.x0) * width };
  }
  view() {
    const done = Math.min(1, (performance.now() - this.start) / ANIMATION), soft = done * (2 - done);
    return done < 1 ? { x0: this.from.x0 * (1 - soft), x1: this.from.x1 + (1 - this.from.x1) * soft, moves: true } : { x0: 0, x1: 1 };
  }

  // ---- search: nodes that match, and what they have in all, each stack counted once
  mark() {
    const { tree } = this;
    this.matched = null;
    this.sum = 0;
    if (!state.pattern) return;
    const hits = new Map(), under = new Uint8Array(tree.count);
    this.matched = new Uint8Array(tree.count);
    for (let n = 0; n < tree.count; n++) {
      const frame = tree.frame[n];
      if (!hits.has(frame)) hits.set(frame, isMatch(nameOf(frame), moduleOf(frame)));
      this.matched[n] = hits.get(frame) ? 1 : 0;
      const isUnder = n > 0 && under[tree.parent[n]];
      under[n] = isUnder || this.matched[n] ? 1 : 0;
      if (this.matched[n] && !isUnder) this.sum += tree.total[n];
    }
  }

  // ---- drawing
  place(box) {
    const view = this.view(), scale = this.width / (view.x1 - view.x0);
    const left = Math.max(0, (box.x0 - view.x0) * scale), right = Math.min(this.width, (box.x1 - view.x0) * scale);
    return { left, top: this.top(box.depth), width: right - left };
  }
  top(depth) { return (this.options.isDown() ? depth : this.layout.rows.length - 1 - depth) * ROW; }
  // What is in sight of the sheet, in its coordinates.
  window() {
    const sheet = this.sheet.getBoundingClientRect(), pane = this.sheet.parentElement.getBoundingClientRect();
    const top = Math.max(0, Math.max(pane.top, 0) - sheet.top), bottom = Math.min(sheet.height, Math.min(pane.bottom, innerHeight) - sheet.top);
    return { top, height: Math.max(0, bottom - top) };
  }
  draw() {
    if (!this.layout || !this.sheet.clientWidth) return;
    const ratio = window.devicePixelRatio || 1, { top, height } = this.window(), { pen, canvas } = this;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.cssText = `width:${this.width}px;height:${height}px;top:${top}px`;
    pen.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
    pen.textBaseline = "middle";
    this.chosen = chosenFunction();
    this.layout.rows.forEach((row, depth) => {
      const y = this.top(depth);
      if (y < top + height && y + ROW > top) for (const box of row) this.drawBox(box);
    });
    if (this.view().moves) requestAnimationFrame(() => this.draw());
  }
  drawBox(box) {
    const { left, top, width } = this.place(box), { pen } = this;
    if (width < LEAST) return;
    const isFound = this.isFound(box), room = Math.max(width - (width > 3 ? 1 : 0), LEAST);
    pen.globalAlpha = box.isAbove ? 0.55 : 1;
    pen.fillStyle = box.rest ? palette.line : isFound ? palette.found : this.colorOf(box);
    pen.fillRect(left, top, room, ROW - 1);
    pen.globalAlpha = 1;
    if (this.chosen >= 0 && !box.rest && box.members.some((n) => functionOf(this.tree.frame[n]) === this.chosen)) this.frameBox(left, top, room, palette.accent, 2);
    if (box === this.hover || box === this.selected) this.frameBox(left, top, room, palette.ink, 1);
    if (width < 22) return;
    this.write(box, left, top + ROW / 2, width, isFound && !box.isAbove ? "#fff" : palette.ink);
  }
  frameBox(left, top, width, color, thickness) {
    this.pen.strokeStyle = color;
    this.pen.lineWidth = thickness;
    this.pen.strokeRect(left + thickness / 2, top + thickness / 2, Math.max(width - thickness, 1), ROW - 1 - thickness);
  }
  isFound(box) { return this.matched !== null && !box.rest && box.members.some((n) => this.matched[n]); }
  colorOf(box) {
    if (state.color === "change" && box.node) return changeColor(this.tree.change[box.last], this.tree.total[0]);
    return frameColor(this.tree.frame[box.last]);
  }
  // The name; before it in a badge how many callers are folded into the box.
  write(box, left, middle, width, color) {
    const { pen } = this;
    let x = left + 4;
    pen.fillStyle = color;
    if (box.members.length > 1 && width > 48) {
      const text = "+" + (box.members.length - 1);
      pen.font = BADGE;
      const size = pen.measureText(text).width + 8;
      pen.globalAlpha = 0.14;
      pen.beginPath();
      pen.roundRect(x - 1, middle - 7, size, 13, 3);
      pen.fill();
      pen.globalAlpha = 1;
      pen.fillText(text, x + 3, middle);
      x += size + 3;
    }
    pen.font = FONT;
    const text = fitted(pen, box.rest ? box.rest.toLocaleString("en") + " narrower" : this.nameOf(box), left + width - 4 - x);
    if (text) pen.fillText(text, x, middle);
  }
  nameOf(box) { return nameOf(this.tree.frame[box.last]); }

  // ---- pointing
  boxAt(event) {
    if (!this.layout) return null;
    const area = this.sheet.getBoundingClientRect(), line = Math.floor((event.clientY - area.top) / ROW), view = this.view();
    const depth = this.options.isDown() ? line : this.layout.rows.length - 1 - line;
    return this.layout.at(depth, view.x0 + (event.clientX - area.left) / this.width * (view.x1 - view.x0));
  }
  point(event) {
    const box = this.boxAt(event);
    if (box !== this.hover) this.hover = box, this.draw();
    if (box) tip.show(tipOf(this, box), event.clientX, event.clientY);
    else tip.hide();
  }
  // From box to box by the arrow keys; what is reached is read out.
  walk(key) {
    let box = this.selected || this.layout.boxOf(this.focus) || this.layout.root;
    const row = this.layout.rows[box.depth], below = (this.layout.rows[box.depth + 1] || []).filter((b) => b.parent === box && !b.rest);
    if (key === "ArrowLeft") box = row[Math.max(0, row.indexOf(box) - 1)];
    else if (key === "ArrowRight") box = row[Math.min(row.length - 1, row.indexOf(box) + 1)];
    else if ((this.options.isDown() ? "ArrowDown" : "ArrowUp") === key) box = below.length ? below.reduce((a, b) => (b.size > a.size ? b : a)) : box;
    else box = box.parent || box;
    this.selected = box;
    this.reveal(box);
    this.draw();
    const at = this.place(box), area = this.sheet.getBoundingClientRect(), lines = tipOf(this, box);
    tip.show(lines, area.left + at.left, area.top + at.top);
    get("spoken").textContent = lines.map(([text]) => text).join(", ");
  }
  reveal(box) {
    const pane = this.sheet.parentElement, visible = this.window();
    const top = this.top(box.depth), target = pane.scrollHeight > pane.clientHeight + 1 ? pane : document.scrollingElement;
    if (top < visible.top) target.scrollTop -= visible.top - top + ROW;
    else if (top + ROW > visible.top + visible.height) target.scrollTop += top + ROW - visible.top - visible.height + ROW;
  }
}

// As much of a text as there is room for.
function fitted(pen, text, room) {
  if (room < 10) return "";
  const most = Math.floor(room / 2.5);
  if (text.length > most) text = text.slice(0, most);
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? text.slice(0, low) + "…" : "";
}
