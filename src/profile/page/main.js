// What the reader can do, and how the page follows: an action changes `state` and calls render(), which makes anew only what
// depends on what changed. Keys, buttons, the back button and the address all go this way.
const graph = new Graph("graph", { isDown: () => state.icicle, folds: true, pick: (box) => act.zoom(box) });
const callers = new Graph("callers", { isDown: () => false, pick: (box, of) => act.choose(functionOf(of.tree.frame[box.last])) });
const callees = new Graph("callees", { isDown: () => true, pick: (box, of) => act.choose(functionOf(of.tree.frame[box.last])) });
let samples, rows, tree;

const made = {};
function remake(name, parts, make) {
  const key = JSON.stringify(parts);
  if (made[name] === key) return;
  made[name] = key;
  make();
}
function render() {
  const sampleParts = [state.who, state.kind, state.frames, state.range], treeParts = [...sampleParts, state.group, state.merge, state.reverse];
  remake("time", state.range, () => heat.read(state.range));
  remake("owners", state.merge, () => { fillOwners(); if (made.lanes) heat.layLanes(); });
  remake("lanes", state.lanes, () => heat.layLanes());
  remake("samples", sampleParts, () => { samples = shownSamples(); rows = functionRows(samples); });
  remake("tree", treeParts, () => { tree = buildTree(samples); });
  remake("colors", [sampleParts, state.color, isDark()], () => { readColors(); rankValues(rows); drawLegend(); heat.draw(); });
  showChoices();
  get("who").value = state.who;
  const focus = zoomed(tree), size = [innerWidth, get("graph").parentElement.clientWidth, state.view];
  state.zoom = zoomOf(tree, focus);
  showChoices();
  remake("graph", [treeParts, state.zoom, state.search, state.fold, size], () => showGraph(focus));
  graph.draw();
  remake("table", [sampleParts, state.search, state.sort, state.color, isDark(), state.function, state.module], () => fillTable(rows, tree.total[0]));
  remake("found", [treeParts, state.search], () => {
    get("found").textContent = state.pattern ? "matched " + percent(graph.sum, tree.total[0]) + " (" + amount(graph.sum) + ")" : "";
  });
  showChosen();
  showSandwich([sampleParts, state.function, state.module, state.fold, state.color, isDark(), state.search, size]);
}
function showGraph(focus) {
  get("empty").hidden = tree.size[0] > 0;
  graph.show(tree, focus);
  graph.canvas.setAttribute("aria-label", "Flame graph, " + amount(tree.total[0]) + ". Arrow keys walk from frame to frame, Enter zooms. The table of functions has the same figures.");
  if (!state.icicle) graph.sheet.parentElement.scrollTop = 1e9; // the root is at the bottom
}
// Callers above, callees below: of what was chosen.
function showSandwich(parts) {
  const id = chosenFunction(), isShown = state.view === "sandwich";
  get("noFunction").hidden = id >= 0;
  get("sandwichGraphs").hidden = id < 0;
  if (!isShown || id < 0) return;
  remake("sandwich", parts, () => {
    callers.show(callersOf(id, samples));
    callees.show(calleesOf(id, samples));
    callers.sheet.parentElement.scrollTop = 1e9;
    const { count } = callers.tree, name = frameName(functions.first[id]);
    get("callersHead").textContent = count > 1 ? "Callers" : "No callers: outermost in all of its stacks";
    get("calleesHead").textContent = callees.tree.count > 1 ? "Callees" : "No callees";
    callers.canvas.setAttribute("aria-label", "Callers of " + name);
    callees.canvas.setAttribute("aria-label", "Callees of " + name);
  });
}
function showChosen() {
  const id = chosenFunction(), row = id >= 0 ? rows.find((r) => r.id === id) : null, whole = tree.total[0];
  get("chosen").hidden = id < 0;
  if (id < 0) return;
  const frame = functions.first[id], figure = (weight) => percent(weight, whole) + " (" + shortAmount(weight) + ")";
  get("chosenName").textContent = frameName(frame);
  get("chosenName").title = frameModule(frame);
  get("chosenFigures").textContent = [lastPart(frameModule(frame)), row ? "self " + figure(row.self) + ", total " + figure(row.total) : "nothing of what is shown",
    row && data.changes ? "change " + signed(row.change, shortAmount) : ""].filter(Boolean).join(" · ");
  get("openSandwich").hidden = state.view === "sandwich";
}

// A choice: the page follows, and it is in the address.
function choose(changes, isStep = true) {
  Object.assign(state, changes);
  setPattern();
  render();
  writeAddress(isStep);
}
const grouping = ["process", "thread", "none"];
const act = {
  zoom(box) {
    if (box.members.length > 1 && !box.rest) box.members.forEach((n) => graph.unfolded.add(n)), delete made.graph;
    const frame = tree.frame[box.last], id = box.rest ? -1 : functionOf(frame);
    choose({ zoom: zoomOf(tree, box.node), ...(id < 0 ? {} : nameOfFunction(id)) });
  },
  // Of a table or a sandwich.
  choose(id) {
    if (id < 0) return;
    choose({ ...nameOfFunction(id), ...(isNarrow && state.view === "table" ? { view: "sandwich" } : {}) });
  },
  forget: () => choose({ function: "", module: "", ...(state.view === "sandwich" ? { view: "graph" } : {}) }),
  reset() { graph.unfolded.clear(); delete made.graph; choose({ zoom: "", function: "", module: "" }); },
  view: (view) => choose({ view }),
  search: (search) => choose({ search }, !state.search !== !search),
  reverse: () => choose({ reverse: !state.reverse, zoom: "" }),
  icicle() { delete made.graph; choose({ icicle: !state.icicle }, false); },
  fold() { graph.unfolded.clear(); choose({ fold: !state.fold }, false); },
  merge: () => choose({ merge: !state.merge, zoom: "", who: "" }),
  group: (to) => choose({ group: to || grouping[(grouping.indexOf(state.group) + 1) % 3], zoom: "" }),
  who: (who) => choose({ who, zoom: "" }),
  kind: (kind) => choose({ kind, zoom: "" }),
  frames: (to) => choose({ frames: to || choices.frames[(choices.frames.indexOf(state.frames) + 1) % choices.frames.length], zoom: "" }),
  color: (color) => choose({ color }, false),
  range(range) { heat.set(range); choose({}); },
  whole: () => act.range(null),
  lane(lane) {
    if (!lane || lane === heat.all) return state.lanes === "function" ? act.forget() : act.who("");
    if (state.lanes === "function") act.choose(lane.key);
    else act.who(lane.key);
  },
  theme(to) {
    const root = document.documentElement;
    root.dataset.theme = to || (isDark() ? "light" : "dark");
    get("theme").setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
    readColors();
    if (tree) render();
  },
  help: () => get("keys").showModal(),
  escape() {
    get("menu").open = false;
    tip.hide();
    if (state.search) act.search("");
    else act.reset();
    get("search").blur();
  },
  enter() { if (graph.selected) act.zoom(graph.selected); },
};
const nameOfFunction = (id) => ({ function: frameName(functions.first[id]), module: frameModule(functions.first[id]) });
