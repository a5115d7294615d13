// Buttons, fields and keys go to the actions of main.js; then the page shows what the address says.
for (const name of ["reset", "theme", "help", "whole", "forget"]) d3.select("#" + name).on("click", () => act[name]());
for (const name of ["merge", "reverse", "icicle", "fold"]) d3.select("#" + name).on("change", () => act[name]());
for (const name of ["group", "who", "kind", "frames", "color"]) d3.select("#" + name).on("change", () => act[name](get(name).value));
for (const tab of document.querySelectorAll("#views button")) d3.select(tab).on("click", () => act.view(tab.value));
d3.select("#openSandwich").on("click", () => act.view("sandwich"));
d3.select("#search").on("input", () => act.search(get("search").value));
document.addEventListener("click", (event) => { if (!get("menu").contains(event.target)) get("menu").open = false; });

const keys = {
  "/": () => get("search").focus(), r: act.reverse, i: act.icicle, f: act.fold, m: act.merge, g: () => act.group(), l: () => act.frames(), d: () => act.theme(), w: act.whole,
  s: () => act.view(state.view === "sandwich" ? "graph" : "sandwich"), c: () => act.color(choices.color[(choices.color.indexOf(state.color) + 1) % choices.color.length]),
  "[": () => heat.move(-1), "]": () => heat.move(1), "?": act.help, 0: act.reset, Home: act.reset,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || get("keys").open) return;
  const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), isButton = /^(BUTTON|SUMMARY)$/.test(event.target.tagName);
  if (event.key === "Escape") act.escape();
  else if (isField) return;
  else if (event.key.startsWith("Arrow") && state.view !== "sandwich") graph.walk(event.key);
  else if (event.key === "Enter" && !isButton) act.enter();
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

const redraw = () => { for (const g of [graph, callers, callees]) g.draw(); };
addEventListener("resize", () => { if (samples) render(), heat.draw(); });
addEventListener("scroll", () => { tip.hide(); redraw(); }, true);
function follow() {
  if (location.hash.slice(1) === writtenAddress) return;
  writtenAddress = location.hash.slice(1);
  readAddress();
  render();
}
addEventListener("popstate", follow);
addEventListener("hashchange", follow);

if (data.changes) document.body.dataset.diff = "";
fillHeader();
fillKinds();
for (const name of choices.color) option(get("color"), name, "Colour: " + name);
act.theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
readAddress();
heat.begin();
render();
writeAddress(false);

// For tests: where a function's widest box is, and what is shown.
window.acu = {
  state, heat, graph, callers, callees, act, table, tree: () => tree,
  total: () => tree.total[0],
  nodes: () => tree.count,
  lanes: () => heat.shown().map((l) => l.name),
  slice: (n) => ({ x: heat.sheet.getBoundingClientRect().left + heat.left(n + 0.5), y: heat.sheet.getBoundingClientRect().top + heat.lane / 2 }),
  boxes: (of = graph) => of.layout.rows.flat().map((b) => ({ name: b.rest ? "" : of.nameOf(b), folded: b.members.length - 1, width: of.place(b).width, total: of.tree.total[b.node], depth: b.depth, color: b.rest ? "" : of.colorOf(b) })),
  place(name, of = graph) {
    const box = of.layout.rows.flat().filter((b) => !b.rest && of.nameOf(b) === name).sort((a, b) => b.size - a.size)[0];
    if (!box) return null;
    const { left, top, width } = of.place(box), area = of.sheet.getBoundingClientRect();
    return { x: area.left + left + width / 2, y: area.top + top + ROW / 2, width, share: of.tree.total[box.node] / of.tree.total[0] };
  },
};
