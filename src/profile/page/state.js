// What the reader chose, and the address of the page: all of it stands behind the # as name=value, so that reload, back and
// a link that is sent show the same. Values equal to those at the start are left out. A step that one would want to take
// back (zoom, range, filter, function, view) is a new entry of the browser's history; letters typed into a field are not.
//   view=sandwich  search=TEXT  zoom=FRAME.FRAME… (numbers in base 36, from the root)  time=FROM-UNTIL (seconds)
//   who=KEY (process or thread)  kind=user|kernel|note:TEXT  frames=both|native (of interpreted programs)  group, merge, reverse, icicle, fold, color, sort, lanes
//   function=NAME  module=PATH
const isNarrow = matchMedia("(max-width: 700px)").matches;
const initial = {
  view: "graph", search: "", zoom: "", range: "", who: "", kind: "all", frames: "language", function: "", module: "",
  group: owners.count <= 4 ? "none" : "process", merge: owners.areMany, reverse: false, icicle: isNarrow || !!data.slices, fold: true,
  color: data.changes ? "change" : "kind", sort: data.changes ? "change" : "self", lanes: about.unit === "samples" ? "function" : "thread",
};
const choices = {
  view: ["graph", "sandwich", "table"], frames: ["language", "both", "native"], group: ["process", "thread", "none"], sort: ["self", "total", "name", "change"],
  color: data.changes ? ["change", "kind", "module", "language"] : ["kind", "module", "language"], lanes: ["function", "thread", "process"],
};
const isKind = (text) => text === "user" || text === "kernel" || text.startsWith("note:");
// Beside the choices: `time`, the weights of the range; `pattern`, what is searched for.
const state = { ...initial, time: null, pattern: null };

function addressOf() {
  const words = new URLSearchParams();
  for (const name in initial)
    if (state[name] !== initial[name]) words.set(name === "range" ? "time" : name, typeof state[name] === "boolean" ? (state[name] ? "1" : "0") : state[name]);
  return words.toString();
}
// What is not understood is as it was at the start.
function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  for (const name in initial) {
    const text = words.get(name === "range" ? "time" : name);
    if (text === null) state[name] = initial[name];
    else if (typeof initial[name] === "boolean") state[name] = text === "1";
    else state[name] = (name === "kind" ? isKind(text) : !choices[name] || choices[name].includes(text)) ? text : initial[name];
  }
  setPattern();
}
let writtenAddress = null;
function writeAddress(isStep) {
  const address = addressOf();
  if (address === writtenAddress) return;
  writtenAddress = address;
  const url = fragmentUrl(address);
  if (isEmbedded) sendAddress(address, isStep);
  try {
    history[isStep && !isEmbedded ? "pushState" : "replaceState"](null, "", url);
  } catch { // a browser that refuses this for files, or for so many steps a second
    location.hash = url;
  }
}

function setPattern() {
  if (!state.search) return void (state.pattern = null);
  try {
    state.pattern = new RegExp(state.search, "i");
  } catch {
    state.pattern = new RegExp(state.search.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
}
const isMatch = (name, module) => state.pattern !== null && (state.pattern.test(name) || state.pattern.test(module));

// The function that the reader chose, or -1.
function chosenFunction() {
  if (!state.function) return -1;
  for (let id = 0; id < functions.count; id++) {
    const frame = functions.first[id];
    if (frameName(frame) === state.function && (!state.module || frameModule(frame) === state.module)) return id;
  }
  return -1;
}
const zoomOf = (tree, node) => tree.path(node).map((frame) => frame.toString(36)).join(".");
const zoomed = (tree) => tree.find(state.zoom.split(".").filter(Boolean).map((text) => parseInt(text, 36)));
