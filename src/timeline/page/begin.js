// Buttons, fields and keys go to the actions of main.js; then the page shows what the address says.
for (const name of ["theme", "help", "fit"]) get(name).addEventListener("click", () => act[name]());
get("zoomIn").addEventListener("click", () => act.zoom(0.5));
get("zoomOut").addEventListener("click", () => act.zoom(2));
get("clear").addEventListener("click", () => act.select(null));
for (const name of tabs) get(name + "Tab").addEventListener("click", () => act.tab(name));
get("search").addEventListener("input", () => act.search(get("search").value));
get("search").addEventListener("keydown", (event) => { if (event.key === "Enter") findNext(); });

const keys = {
  "/": () => get("search").focus(), f: act.fit, m: act.mark, t: () => act.theme(), "?": act.help, n: findNext, 0: () => act.see(0, length), Home: () => act.see(0, length),
  w: () => act.zoom(0.7), s: () => act.zoom(1 / 0.7), a: () => act.pan(-0.2), d: () => act.pan(0.2), "+": () => act.zoom(0.5), "-": () => act.zoom(2),
  ArrowUp: () => act.row(-1), ArrowDown: () => act.row(1), ArrowLeft: () => act.segment(-1), ArrowRight: () => act.segment(1), "[": () => act.toMark(-1), "]": () => act.toMark(1),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || get("keys").open) return;
  if (event.key === "Escape") act.escape();
  else if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});
new ResizeObserver(askFrame).observe(lanes);
addEventListener("resize", () => { if (state.tab === "flame" && flame.tree) flame.show(flame.tree, flame.focus); });
get("flamePane").addEventListener("scroll", () => flame.draw());

function follow() {
  if (location.hash.slice(1) === writtenAddress) return;
  writtenAddress = location.hash.slice(1);
  readAddress();
  get("search").value = state.search;
  setPattern(), layRows(), countFound(), showTab(), askFrame();
  const { tab } = state;
  if (state.event && threadTracks.has(state.event[0])) act.show(...state.event, true).then(() => act.tab(tab));
  else view.event = null, showEvent();
}
addEventListener("hashchange", follow);
fillHeader();
act.theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
follow();

// For tests and measurements: what is shown, and how fast.
window.acu = { state, act, view, rows, tracks, timing, flame, stateTimes, callTimes, textOf: (text) => data.texts[text], sampleTree, linesOf, timeAt, xOf, placeOfRow: (row, top = 4) => ({ x: NAMES, y: yOf(row, top) }), findNext, length,
  columnSum(track, from, until, count) { fillColumns(track, from, until, count); return columns.sums.subarray(0, count * track.width).reduce((sum, time) => sum + time, 0); },
  // Zooms from the whole timeline to 10 µs and back: frames a second, and what a frame takes.
  async measure(frames = 90) {
    const start = performance.now(), spans = [];
    await new Promise((done) => {
      const step = (n) => {
        const begin = performance.now(), depth = 1 - Math.abs(1 - 2 * n / frames), span = length / 2 ** (depth * Math.log2(length / 1e4));
        state.from = (length - span) * 0.37, state.until = state.from + span;
        drawFrame();
        spans.push(performance.now() - begin);
        if (n < frames) requestAnimationFrame(() => step(n + 1));
        else done();
      };
      requestAnimationFrame(() => step(0));
    });
    const seconds = (performance.now() - start) / 1000;
    spans.sort((a, b) => a - b);
    return { frames_per_second: (frames + 1) / seconds, longest_ms: spans.at(-1), median_ms: spans[spans.length >> 1] };
  },
};
