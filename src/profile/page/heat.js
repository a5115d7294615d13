// The heat map over time: what is dragged over is what everything else shows. A slice that was read late covers its real
// time, its weight spread evenly, and is hatched: within it nothing is known of when.
const heat = {
  sheet: get("heat"), lane: isNarrow ? 22 : 18, label: isNarrow ? 104 : 176, axis: 20,
  all: null, lanes: [], found: [], page: 0, from: null, until: null, wide: 0,

  begin() {
    if (!slices) return;
    get("time").hidden = false;
    this.pen = this.sheet.getContext("2d");
    this.listen();
    this.layLanes();
  },
  layLanes() {
    if (!slices) return;
    Object.assign(this, makeLanes());
    get("lanes").value = state.lanes;
    this.narrow();
  },
  narrow() {
    const text = get("laneSearch").value.toLowerCase();
    this.found = this.lanes.filter((l) => l.name.toLowerCase().includes(text));
    this.turn(0);
  },
  pages() { return Math.max(1, Math.ceil(this.found.length / LANES_A_PAGE)); },
  turn(page) {
    this.page = Math.max(0, Math.min(page, this.pages() - 1));
    const first = this.page * LANES_A_PAGE, last = Math.min(this.found.length, first + LANES_A_PAGE);
    get("lanePage").textContent = this.found.length ? `${first + 1}–${last} of ${this.found.length.toLocaleString("en")}` : "none match";
    get("pager").hidden = this.lanes.length <= LANES_A_PAGE;
    get("lanesBack").disabled = !this.page;
    get("lanesOn").disabled = this.page + 1 >= this.pages();
    this.draw();
  },
  shown() { return [this.all, ...this.found.slice(this.page * LANES_A_PAGE, (this.page + 1) * LANES_A_PAGE)]; },

  // ---- drawing
  left(slice) { return this.label + slice / slices.count * this.wide; },
  draw() {
    if (!slices || !this.all || !this.sheet.clientWidth) return;
    const ratio = window.devicePixelRatio || 1, shown = this.shown(), height = shown.length * this.lane, { pen, sheet } = this;
    this.wide = Math.max(50, sheet.clientWidth - this.label);
    sheet.width = Math.round(sheet.clientWidth * ratio);
    sheet.height = Math.round((height + this.axis) * ratio);
    sheet.style.height = height + this.axis + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = FONT;
    pen.textBaseline = "middle";
    pen.fillStyle = heatColor(0);
    pen.fillRect(this.label, 0, this.wide, height);
    shown.forEach((lane, line) => this.drawLane(lane, line * this.lane));
    this.drawAxis(height);
    if (this.from !== null) this.drawRange(height);
  },
  drawLane(lane, y) {
    const { pen } = this, name = fitted(pen, lane.name, this.label - 12);
    pen.fillStyle = lane === this.all ? palette.dim : palette.ink;
    pen.fillText(name, 0, y + this.lane / 2);
    // Where a pixel has several slices, the hottest is seen.
    const columns = new Map();
    for (const [n, { weight, span }] of lane.cells) {
      const x = Math.floor(this.left(n)), share = weight / span, known = columns.get(x);
      if (!known || known.share < share) columns.set(x, { share, span });
    }
    for (const [x, { share, span }] of columns) {
      const width = Math.max(1, span * this.wide / slices.count - (span * this.wide / slices.count > 4 ? 1 : 0));
      pen.fillStyle = heatColor(share / lane.most);
      pen.fillRect(x, y, width, this.lane - 1);
      if (span > 1) this.hatch(x, y, width);
    }
  },
  hatch(x, y, width) {
    const { pen } = this, height = this.lane - 1;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.strokeStyle = palette.ink;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let at = x - height - (x - height) % 6; at < x + width; at += 6) pen.moveTo(at, y + height), pen.lineTo(at + height, y);
    pen.stroke();
    pen.restore();
  },
  drawAxis(y) {
    const length = slices.seconds(slices.count), { pen } = this;
    let step = 10 ** Math.floor(Math.log10(Math.max(length, 1e-6)) - 1);
    for (const more of [2, 2.5, 2, 2, 2.5]) if (step / length * this.wide < 64) step *= more;
    pen.fillStyle = palette.dim;
    for (let i = 0; i * step < length; i++) {
      const x = this.label + i * step / length * this.wide;
      pen.fillRect(Math.floor(x), y, 1, 4);
      if (x + 40 < this.label + this.wide) pen.fillText(Number((i * step).toFixed(6)) + " s", x + 4, y + 11);
    }
  },
  drawRange(height) {
    const a = this.left(Math.min(this.from, this.until - 1)), b = this.left(Math.max(this.from + 1, this.until)), { pen } = this;
    pen.fillStyle = palette.paper;
    pen.globalAlpha = 0.62;
    pen.fillRect(this.label, 0, a - this.label, height);
    pen.fillRect(b, 0, this.label + this.wide - b, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 2;
    pen.strokeRect(a, 1, Math.max(2, b - a), height - 2);
  },

  // ---- the range: numbers of slices from, until; null: all
  set(range) {
    if (!slices) return;
    [this.from, this.until] = range ? wholeSlices(...range) : [null, null];
    state.time = range ? { from: this.from, until: this.until, weights: weightsBetween(this.from, this.until) } : null;
    state.range = range ? slices.seconds(this.from) + "-" + slices.seconds(this.until) : "";
    this.tell();
    this.draw();
  },
  // "FROM-UNTIL" in seconds, as the address has it; what it is not leaves the whole time.
  read(text) {
    const found = /^([\d.]+)-([\d.]+)$/.exec(text), number = (seconds) => Math.round(Number(seconds) * 1e9 / (data.slice_ns || 1));
    const range = found && [number(found[1]), number(found[2])];
    this.set(slices && range && range[0] < range[1] && range[0] < slices.count ? range : null);
    if (!slices) state.range = "";
  },
  tell() {
    const { seconds } = slices;
    get("whole").hidden = this.from === null;
    get("when").textContent = this.from === null
      ? `${slices.count.toLocaleString("en")} slices of ${timeText(data.slice_ns)}. Drag to choose a time.`
      : `From ${seconds(this.from)} s until ${seconds(this.until)} s: ${amount(state.time.weights.reduce((x, y) => x + y, 0))} (acu report --from ${seconds(this.from)} --until ${seconds(this.until)})`;
    const late = slices.merged.reduce((sum, s) => sum + s.span, 0);
    get("late").textContent = late ? `Hatched: ${countText(slices.merged.length, "slices")} read late, together over ${timeText(late * data.slice_ns)}.` : "";
  },

  // ---- pointing
  sliceAt(event) {
    const x = event.clientX - this.sheet.getBoundingClientRect().left - this.label;
    return Math.max(0, Math.min(slices.count - 1, Math.floor(x / this.wide * slices.count)));
  },
  laneAt(event) { return this.shown()[Math.floor((event.clientY - this.sheet.getBoundingClientRect().top) / this.lane)]; },
  isLabel(event) { return event.clientX < this.sheet.getBoundingClientRect().left + this.label; },
  tipAt(event) {
    const lane = this.laneAt(event), n = this.sliceAt(event);
    if (!lane) return tip.hide();
    if (this.isLabel(event)) return tip.show([[lane.name], [amount(lane.sum)], [lane === this.all ? "" : "click to show only this"]].filter(([t]) => t), event.clientX, event.clientY);
    const slice = slices.merged.find((s) => s.number <= n && n < s.number + s.span), from = slice ? slice.number : n, cell = lane.cells.get(from);
    const lines = [[lane.name], [slices.seconds(from) + " s: " + amount(cell ? cell.weight : 0), "figure"]];
    if (slice) lines.push([`read late: one sum for ${timeText(slice.span * data.slice_ns)}`]);
    tip.show(lines, event.clientX, event.clientY);
  },
  listen() {
    const { sheet } = this;
    let start = null;
    sheet.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (this.isLabel(event)) return act.lane(this.laneAt(event));
      start = this.from = this.sliceAt(event);
      this.until = start + 1;
      if (event.isTrusted) sheet.setPointerCapture(event.pointerId);
      this.draw();
    });
    sheet.addEventListener("pointermove", (event) => {
      if (start !== null) this.from = Math.min(start, this.sliceAt(event)), this.until = Math.max(start, this.sliceAt(event)) + 1, this.draw();
      if (event.pointerType !== "touch") this.tipAt(event);
    });
    sheet.addEventListener("pointerup", () => { if (start !== null) start = null, act.range([this.from, this.until]); });
    sheet.addEventListener("pointercancel", () => { if (start !== null) start = null, this.read(state.range); });
    sheet.addEventListener("pointerleave", () => tip.hide());
    get("laneSearch").addEventListener("input", () => this.narrow());
    get("lanesBack").addEventListener("click", () => this.turn(this.page - 1));
    get("lanesOn").addEventListener("click", () => this.turn(this.page + 1));
    get("lanes").addEventListener("change", () => { state.lanes = get("lanes").value; writeAddress(false); this.layLanes(); });
  },
  // The range earlier or later; without one it begins at an end.
  move(step) {
    if (!slices) return;
    const range = this.from !== null ? [this.from + step, this.until + step] : step > 0 ? [0, 1] : [slices.count - 1, slices.count];
    if (range[0] >= 0 && range[1] <= slices.count) act.range(range);
  },
};
