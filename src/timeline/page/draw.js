// The canvas: names on the left, time on top, a row of pixels for each track in sight. Pixels are written into an image, texts and arrows over it. What one
// frame costs depends on the size of the window, not on how many events there are.
const NAMES = isNarrow ? 104 : 210, RULER = 30, MOST_ARROWS = 150;
const canvas = get("canvas"), lanes = get("lanes"), pen = canvas.getContext("2d");
const view = { width: 0, height: 0, ratio: 1, image: null, pixels: null, isAsked: false, hover: null, event: null, chain: [], row: -1 };
const FONTS = "12px system-ui, sans-serif", SMALL = "11px system-ui, sans-serif";

const plotWidth = () => Math.max(1, view.width - NAMES);
const timeAt = (x) => state.from + (x - NAMES) * (state.until - state.from) / plotWidth();
const xOf = (time) => NAMES + (time - state.from) * plotWidth() / (state.until - state.from);

function askFrame() {
  if (view.isAsked) return;
  view.isAsked = true;
  requestAnimationFrame(() => { view.isAsked = false; drawFrame(); });
}
function fitCanvas() {
  const ratio = devicePixelRatio || 1, width = lanes.clientWidth, height = lanes.clientHeight;
  get("height").style.height = Math.max(0, rows.height + RULER - height) + "px";
  if (width === view.width && height === view.height && ratio === view.ratio) return;
  Object.assign(view, { width, height, ratio });
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  view.image = pen.createImageData(Math.max(1, Math.round(plotWidth() * ratio)), Math.max(1, Math.round((height - RULER) * ratio)));
  view.pixels = new Uint32Array(view.image.data.buffer);
}
// Rows in sight, from the first to before the last.
function rowsInSight() {
  if (!rows.all.length) return [];
  const first = rowAt(lanes.scrollTop), last = rowAt(lanes.scrollTop + view.height - RULER);
  return rows.all.slice(first, last + 1);
}

function drawFrame() {
  fitCanvas();
  if (view.width < 1 || view.height <= RULER) return;
  const inSight = rowsInSight(), texts = [], missing = [];
  view.pixels.fill(inks.paper);
  for (const row of inSight) paintRow(row, texts, missing);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = palette.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.putImageData(view.image, Math.round(NAMES * view.ratio), Math.round(RULER * view.ratio));
  pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  drawNames(inSight);
  clip(() => { writeTexts(texts); drawArrows(inSight); drawEvent(); });
  drawTime();
  drawMarks();
  if (missing.length) Promise.all(missing.map((t) => t.load())).then(askFrame);
  else timing.painted();
}
function clip(draw) {
  pen.save();
  pen.beginPath();
  pen.rect(NAMES, RULER, plotWidth(), view.height - RULER);
  pen.clip();
  draw();
  pen.restore();
}
const yOf = (row, top = 0) => RULER + row.top - lanes.scrollTop + top;

// ---- pixels
function paintRow(row, texts, missing) {
  row.tracks.forEach((track, n) => {
    const top = n ? STATE_LINE + (n - 1) * CALL_LINE : 0, height = row.kind === "counter" ? COUNTER_LINE : n ? CALL_LINE - 1 : STATE_LINE, y = yOf(row, top);
    if (y + height < RULER || y > view.height) return;
    if (!track.isReady) return void missing.push(track);
    if (track.kind === CALLS && track.marked !== state.search) track.classify(), track.sumUp();
    if (track.kind === COUNTER) paintCounter(track, y - RULER, height);
    else paintTrack(track, y - RULER, height), addTexts(row, track, y, height, texts);
  });
}
// In each column the classes lie on each other, as high as their share of the column's time.
function paintTrack(track, y, height) {
  const { ratio, pixels, image } = view, count = image.width, ink = inks.of[track.kind], { width } = track;
  fillColumns(track, state.from, state.until, count);
  const top = Math.round(y * ratio), tall = Math.max(1, Math.round(height * ratio)), whole = (state.until - state.from) / count, { sums } = columns;
  const first = Math.max(0, top), end = Math.min(image.height, top + tall);
  for (let x = 0; x < count; x++) {
    let bottom = top + tall, done = 0;
    for (let c = 1; c < width; c++) {
      const time = sums[x * width + c];
      if (!time) continue;
      done += time;
      const above = top + tall - Math.max(1, Math.round(Math.min(1, done / whole) * tall)), color = ink[c]; // the least is one pixel: nothing is invisible
      for (let row = Math.max(above, first); row < Math.min(bottom, end); row++) pixels[row * count + x] = color;
      bottom = Math.min(bottom, above);
    }
  }
  // Calls in a row are told from each other by a line between them.
  if (track.kind !== CALLS) return;
  for (const i of columns.wide) {
    const x = Math.round((track.begins[i + 1] - state.from) / whole) - 1;
    if (track.classes[i] && x >= 0 && x < count) for (let row = first; row < end; row++) pixels[row * count + x] = inks.paper;
  }
}
const maxima = { values: new Float64Array(0) };
function paintCounter(track, y, height) {
  const { ratio, pixels, image } = view, count = image.width, color = inks.of[COUNTER][0], top = Math.round(y * ratio), tall = Math.round(height * ratio);
  if (maxima.values.length < count) maxima.values = new Float64Array(count);
  fillMaxima(track, state.from, state.until, count, maxima.values);
  const first = Math.max(0, top), end = Math.min(image.height, top + tall);
  for (let x = 0; x < count; x++) {
    if (maxima.values[x] === -Infinity) continue;
    const from = top + tall - Math.max(1, Math.round(Math.max(0, maxima.values[x]) / (track.most || 1) * tall));
    for (let row = Math.max(from, first); row < end; row++) pixels[row * count + x] = color;
  }
}

// ---- texts
function addTexts(row, track, y, height, texts) {
  if (track.kind === THREAD) return;
  for (const i of columns.wide) {
    if (!track.classes[i] || (track.kind === CPU && track.classes[i] === CPU_LOST)) continue;
    const left = Math.max(NAMES, xOf(track.begins[i])), right = Math.min(view.width, xOf(track.begins[i + 1]));
    texts.push([track.kind === CPU ? threadLabel(track.refs[i]) : data.texts[track.refs[i]], left + 4, y + height / 2, right - left - 8]);
  }
}
function writeTexts(texts) {
  pen.font = SMALL;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = palette.ink;
  for (const [text, x, y, room] of texts) pen.fillText(fitted(pen, text, room), x, y + 0.5);
}
function drawNames(inSight) {
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = palette.paper;
  pen.fillRect(0, RULER, NAMES - 1, view.height);
  for (const row of inSight) {
    const y = yOf(row), line = row.kind === "counter" ? COUNTER_LINE : row.kind === "head" ? HEAD : STATE_LINE;
    if (row.kind === "head") {
      pen.fillStyle = palette.panel;
      pen.fillRect(0, y, view.width, HEAD - 1);
    }
    if (view.row >= 0 && rows.all[view.row] === row) {
      pen.fillStyle = palette.accent;
      pen.fillRect(0, y, 3, row.height - GAP);
    }
    pen.font = row.kind === "head" ? "600 " + FONTS : FONTS;
    pen.fillStyle = row.kind === "head" ? palette.ink : palette.dim;
    const text = row.kind === "head" ? (state.closed.has(row.key) ? "▸ " : "▾ ") + row.label + (row.key[0] === "p" ? "  " + countText(row.count, "threads") : "") : row.label;
    pen.fillText(fitted(pen, text, row.kind === "head" ? view.width - 16 : NAMES - 20), row.kind === "head" ? 8 : 12, y + line / 2 + 0.5);
    if (row.kind === "counter" && row.tracks[0].isReady && !isNarrow) writeMost(row.tracks[0], y);
  }
}
function writeMost(track, y) {
  pen.font = SMALL;
  pen.textAlign = "right";
  pen.fillText("max " + track.most.toLocaleString("en"), NAMES - 6, y + COUNTER_LINE - 6);
  pen.textAlign = "left";
}

// ---- time
// 1, 2 or 5 of a power of ten, at least 90 pixels wide.
function tickLength() {
  const least = 90 * (state.until - state.from) / plotWidth(), power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
}
// As exact as the ticks are apart.
function clockText(ns, step) {
  const [size, unit] = ns + step >= 1e9 ? [1e9, "s"] : ns + step >= 1e6 ? [1e6, "ms"] : ns + step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return (ns / size).toFixed(Math.min(9, Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)))) + " " + unit;
}
function drawTime() {
  const step = tickLength();
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, view.width, RULER - 1);
  pen.font = SMALL;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillStyle = pen.strokeStyle = palette.dim;
  pen.lineWidth = 1;
  for (let at = Math.ceil(state.from / step) * step; at <= state.until; at += step) {
    const x = Math.round(xOf(at)) + 0.5;
    pen.globalAlpha = 0.16;
    line(x, RULER, x, view.height);
    pen.globalAlpha = 1;
    line(x, RULER - 8, x, RULER - 1);
    if (x < view.width - 60) pen.fillText(clockText(about.from + at, step), x + 4, 12);
  }
  pen.fillText(isNarrow ? timeText(state.until - state.from) : "in sight " + timeText(state.until - state.from), 8, 14);
  if (!state.range) return;
  const [left, right] = state.range.map((t) => Math.min(view.width, Math.max(NAMES, xOf(t))));
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.13;
  pen.fillRect(left, 0, right - left, view.height);
  pen.globalAlpha = 1;
  pen.fillRect(left, 0, 1, view.height);
  pen.fillRect(right - 1, 0, 1, view.height);
  pen.fillRect(left, RULER - 4, right - left, 3);
}
function line(x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}
// What triggered the recording, and marks of the reader; lines that scripts printed are ticks on the ruler, with as much of their text as there is room for.
function drawMarks() {
  pen.font = SMALL;
  const inSight = allMarks().map(({ time, text, isLine }) => ({ x: xOf(time), text, isLine })).filter(({ x }) => x >= NAMES && x <= view.width);
  inSight.forEach(({ x, text, isLine }, i) => {
    const next = i + 1 < inSight.length ? inSight[i + 1].x : view.width, isPale = isLine && state.pattern && !isMatch(text, "");
    pen.strokeStyle = pen.fillStyle = isLine ? palette.accent : palette.found;
    pen.globalAlpha = isPale ? 0.3 : 1;
    pen.lineWidth = 1.5;
    if (isLine) line(x, RULER - 12, x, RULER);
    else line(x, 4, x, view.height);
    pen.fillText(fitted(pen, text, next - x - 8), x + 4, RULER - 6);
    pen.globalAlpha = 1;
  });
}
const ownMarks = [], givenMarks = Array.from({ length: data.marks.length / 3 }, (_, i) => ({ time: data.marks[3 * i], text: data.marks[3 * i + 1], isLine: data.marks[3 * i + 2] === 1 }));
const allMarks = () => (ownMarks.length ? [...givenMarks, ...ownMarks.map((time) => ({ time, text: "mark", isLine: false }))].sort((a, b) => a.time - b.time) : givenMarks);

// ---- arrows from wakers to those they woke: all of them where there are few, and those of the chosen event
function drawArrows(inSight) {
  const list = [];
  for (const row of inSight) {
    const track = row.tracks[0];
    if (row.kind !== "thread" || !track.isReady) continue;
    const last = track.at(state.until);
    if (last - track.at(state.from) > MOST_ARROWS) return drawChain();
    for (let i = Math.max(0, track.at(state.from)); i <= last; i++)
      if (track.classes[i] === RUNNABLE && track.refs[i] > 1) list.push({ thread: row.thread, waker: track.refs[i] - 1, time: track.begins[i] });
    if (list.length > MOST_ARROWS) return drawChain();
  }
  pen.globalAlpha = 0.35;
  for (const wake of list) arrow(wake, palette.ink, 1);
  pen.globalAlpha = 1;
  drawChain();
}
function drawChain() { for (const wake of view.chain) arrow(wake, palette.found, 1.75); }
function arrow({ thread, waker, time }, color, thickness) {
  const to = rows.ofThread.get(thread), from = rows.ofThread.get(waker), x = xOf(time);
  if (!to || x < NAMES || x > view.width) return;
  const end = yOf(to) + STATE_LINE / 2, start = from ? yOf(from) + STATE_LINE / 2 : end - 14, side = start < end ? -1 : 1;
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = thickness;
  line(x, start, x, end + side * 4);
  pen.beginPath();
  pen.moveTo(x, end);
  pen.lineTo(x - 4, end + side * 7);
  pen.lineTo(x + 4, end + side * 7);
  pen.fill();
  pen.beginPath();
  pen.arc(x, start, 2, 0, 7);
  pen.fill();
}
// A frame around what was clicked, and around what the pointer is over.
function drawEvent() {
  for (const [at, color] of [[view.hover, palette.dim], [view.event, palette.ink]]) {
    if (!at || !rows.all.includes(at.row)) continue;
    const left = Math.max(NAMES - 2, xOf(at.track.begins[at.segment])), right = Math.min(view.width + 2, xOf(at.track.begins[at.segment + 1]));
    pen.strokeStyle = color;
    pen.lineWidth = 1.5;
    pen.strokeRect(left + 0.75, yOf(at.row, at.top) + 0.75, Math.max(2, right - left - 1.5), at.height - 1.5);
  }
}
