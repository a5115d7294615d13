// Classes of segments, and their colors as pixels. A thread's classes are states. A CPU's are processes: those that ran longest have a hue of their own. Calls
// have a hue by their name; while something is searched for, those of other names are pale.
const PROCESS_HUES = [212, 36, 150, 285, 4, 182, 64, 248, 24, 330], CALL_HUES = [43, 20, 75, 96, 130, 170, 195, 260, 290, 320, 345, 8];
const CPU_OTHER = PROCESS_HUES.length + 1, CPU_LOST = CPU_OTHER + 1;
const CALL_SYSTEM = CALL_HUES.length + 1, CALL_PALE = CALL_SYSTEM + 1, CALL_FOUND = CALL_PALE + 1;
const classCounts = [CPU_LOST + 1, data.states.length, CALL_FOUND + 1, 1]; // by kind of track

const processClasses = (() => {
  const classes = new Map();
  for (const t of threadTracks.keys()) {
    const pid = data.threads[4 * t];
    if (!classes.has(pid)) classes.set(pid, Math.min(classes.size + 1, CPU_OTHER));
  }
  return classes;
})();
// From the classes in the file: idle, busy, unknown.
const classOfCpu = (given, thread) => (given === 0 ? 0 : given === 2 ? CPU_LOST : processClasses.get(data.threads[4 * thread]) || CPU_OTHER);
// Nothing, function, system call, other.
const callClasses = { search: null, known: new Map() };
function classOfCall(given, name) {
  if (given === 0) return 0;
  if (callClasses.search !== state.search) callClasses.search = state.search, callClasses.known.clear();
  if (state.pattern) {
    if (!callClasses.known.has(name)) callClasses.known.set(name, isMatch(data.texts[name], "") ? CALL_FOUND : CALL_PALE);
    if (foundCalls()) return callClasses.known.get(name);
  }
  return given === 2 ? CALL_SYSTEM : 1 + hashOf(data.texts[name]) % CALL_HUES.length;
}
// Whether the name of any call matches. (If only threads do, calls keep their colors.)
const callNames = { search: null, any: false };
function foundCalls() {
  if (callNames.search !== state.search) Object.assign(callNames, { search: state.search, any: state.pattern !== null && data.calls.some((text) => isMatch(data.texts[text], "")) });
  return callNames.any;
}

const inks = { of: [], paper: 0 };
function readInks() {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const pixel = (color) => {
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0];
  };
  const hue = (h, richness = 60) => (isDark() ? `hsl(${h} ${richness * 0.6}% 42%)` : `hsl(${h} ${richness}% 68%)`);
  const colors = [
    ["", ...PROCESS_HUES.map((h) => hue(h)), hue(210, 8), data.states.at(-1)[1 + isDark()]],
    data.states.map((s) => s[1 + isDark()]),
    ["", ...CALL_HUES.map((h) => hue(h, 72)), hue(206, 28), isDark() ? "#23282e" : "#e9edf1", palette.found],
    [isDark() ? "#4f8fbf" : "#7fb2d9"],
  ];
  inks.names = colors;
  inks.paper = pixel(palette.paper);
  inks.of = colors.map((list) => Uint32Array.from(list, (color) => (color ? pixel(color) : inks.paper)));
}
