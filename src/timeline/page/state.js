// What the reader chose, and the address of the page, which keeps it behind the # as name=value: reload, back and a link that is sent show the same.
//   from, until: ns that are in sight   select=FROM-UNTIL (ns)   search=TEXT   at=THREAD-NS: the event that was clicked   tab=flame|threads|calls|event
//   closed=KEY,KEY…: processes that are folded
const isNarrow = matchMedia("(max-width: 700px)").matches;
const NO_LENGTH = 1; // ns: the least that can be in sight is SHORTEST
const length = Math.max(about.length, NO_LENGTH), SHORTEST = 100;

// `range`: [from, until] in ns, or null; `event`: [thread, ns], or null. The rest is what the flame graph's scripts ask for.
const state = {
  from: 0, until: length, range: null, search: "", event: null, tab: "event", closed: new Set(),
  pattern: null, kind: "all", who: "", frames: "language", group: "process", merge: false, reverse: false, fold: true, icicle: true, color: "kind", time: null,
};
const tabs = ["event", "flame", "threads", "calls"];
const chosenFunction = () => -1; // the flame graph has no function that is chosen beside the zoom
const isMatch = (name, module) => state.pattern !== null && (state.pattern.test(name) || state.pattern.test(module));

function addressOf() {
  const words = new URLSearchParams();
  if (state.from > 0 || state.until < length) words.set("from", Math.round(state.from)), words.set("until", Math.round(state.until));
  if (state.range) words.set("select", state.range.map(Math.round).join("-"));
  if (state.search) words.set("search", state.search);
  if (state.event) words.set("at", state.event[0] + "-" + Math.round(state.event[1]));
  if (state.tab !== "event") words.set("tab", state.tab);
  if (state.closed.size) words.set("closed", [...state.closed].join(","));
  return words.toString();
}
// What is not understood is as it was at the start.
function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1)), pair = (name) => /^\d+-\d+$/.test(words.get(name) || "") ? words.get(name).split("-").map(Number) : null;
  const [from, until] = [Number(words.get("from")), Number(words.get("until"))];
  [state.from, state.until] = until > from && from >= 0 && until <= length ? [from, until] : [0, length];
  state.range = pair("select");
  if (state.range && !(state.range[0] < state.range[1] && state.range[1] <= length)) state.range = null;
  state.event = pair("at");
  if (state.event && !(state.event[0] < owners.count && state.event[1] <= length)) state.event = null;
  state.search = words.get("search") || "";
  state.tab = tabs.includes(words.get("tab")) ? words.get("tab") : "event";
  state.closed = new Set((words.get("closed") || "").split(",").filter(Boolean));
}
let writtenAddress = null;
function writeAddress() {
  const address = addressOf();
  if (address === writtenAddress) return;
  writtenAddress = address;
  try {
    history.replaceState(null, "", "#" + address);
  } catch { // a browser that refuses this for files, or for so many changes a second
    location.hash = "#" + address;
  }
}
