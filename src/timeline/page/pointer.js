// Mouse, touch and wheel. Over the time area: the wheel zooms at the pointer, dragging moves, dragging with Shift or on the ruler selects. Over the names the
// wheel scrolls. Two fingers zoom.
const pointer = { down: new Map(), drag: null, apart: 0 };
const CLICK = 4; // pixels: less is no drag
const placeOf = (event) => { const box = canvas.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };

function atPlace({ x, y }) {
  if (x < NAMES || y < RULER || !rows.all.length) return null;
  const height = lanes.scrollTop + y - RULER, row = rows.all[rowAt(height)];
  return height < row.top + row.height ? segmentAt(row, height - row.top, timeAt(x)) : null;
}
canvas.addEventListener("wheel", (event) => {
  const { x } = placeOf(event), turn = event.deltaY * (event.deltaMode ? 16 : 1);
  if (x < NAMES && !event.ctrlKey) return; // the page scrolls
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) act.pan((event.deltaX || event.deltaY) / plotWidth());
  else act.zoom(Math.exp(Math.min(Math.max(turn, -240), 240) / 400), timeAt(Math.max(x, NAMES)));
  tip.hide();
}, { passive: false });

canvas.addEventListener("pointerdown", (event) => {
  const at = placeOf(event);
  canvas.setPointerCapture(event.pointerId);
  pointer.down.set(event.pointerId, at);
  pointer.apart = 0;
  if (pointer.down.size === 1) pointer.drag = { ...at, from: state.from, until: state.until, scroll: lanes.scrollTop, time: timeAt(at.x), selects: at.x >= NAMES && (event.shiftKey || at.y < RULER), moved: false };
});
canvas.addEventListener("pointermove", (event) => {
  const at = placeOf(event);
  if (!pointer.down.has(event.pointerId)) return event.pointerType === "touch" ? undefined : point(at, event);
  pointer.down.set(event.pointerId, at);
  if (pointer.down.size === 2) return pinch();
  const { drag } = pointer;
  drag.moved = drag.moved || Math.hypot(at.x - drag.x, at.y - drag.y) >= CLICK;
  if (!drag.moved) return;
  tip.hide();
  if (drag.selects) {
    state.range = [drag.time, timeAt(Math.max(at.x, NAMES))].sort((a, b) => a - b).map((t) => Math.min(Math.max(0, t), length));
    return askFrame();
  }
  const by = (drag.x - at.x) * (drag.until - drag.from) / plotWidth();
  act.see(drag.from + by, drag.until + by);
  lanes.scrollTop = drag.scroll + drag.y - at.y;
});
function release(event) {
  const { drag } = pointer, at = placeOf(event);
  if (!pointer.down.delete(event.pointerId) || !drag) return;
  if (pointer.down.size) return void (drag.moved = true);
  pointer.drag = null;
  if (drag.moved) return drag.selects ? act.select(state.range) : undefined;
  click(at);
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", (event) => { pointer.down.delete(event.pointerId), pointer.drag = null; });
function pinch() {
  const [a, b] = [...pointer.down.values()], apart = Math.max(20, Math.abs(a.x - b.x));
  if (pointer.apart) act.zoom(pointer.apart / apart, timeAt((a.x + b.x) / 2));
  pointer.apart = apart;
}
function click(at) {
  const row = rows.all.length && at.y >= RULER ? rows.all[rowAt(lanes.scrollTop + at.y - RULER)] : null;
  if (row && row.kind === "head" && lanes.scrollTop + at.y - RULER < row.top + HEAD) return act.fold(row.key);
  if (at.y < RULER) return act.select(null);
  act.choose(atPlace(at));
}
function point(at, event) {
  const found = atPlace(at), before = view.hover;
  view.hover = found;
  if (!found !== !before || (found && (found.segment !== before.segment || found.track !== before.track))) askFrame();
  if (found) tip.show(linesOf(found), event.clientX, event.clientY);
  else tip.hide();
}
canvas.addEventListener("pointerleave", () => { view.hover = null; tip.hide(); askFrame(); });
canvas.addEventListener("dblclick", (event) => { const at = atPlace(placeOf(event)); if (at) act.see(at.track.begins[at.segment], at.track.begins[at.segment + 1]); });
lanes.addEventListener("scroll", () => { tip.hide(); askFrame(); });
