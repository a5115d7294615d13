// Colours of frames: by kind, by module, by language, or by change where two recordings are compared. Lightness is such
// that the text on them has a contrast of at least 4.5 (WCAG AA) in both themes.
const palette = {};
const isDark = () => document.documentElement.dataset.theme === "dark";
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "dim", "line", "panel", "group", "note", "found", "accent"]) palette[name] = style.getPropertyValue("--" + name).trim();
  palette.cache = new Map();
}
function hashOf(text) {
  let hash = 2166136261; // FNV-1a
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}
const RICH = 76, GREY = 6;
// Of one hue a shade for each name, so that neighbours differ.
function shade(hue, name, richness = RICH) {
  const hash = hashOf(name), turn = (hash >>> 3) % 13 - 6, step = (hash >>> 9) % 7 - 3;
  return isDark() ? `hsl(${hue + turn} ${richness * 0.55}% ${27 + step}%)` : `hsl(${hue + turn} ${richness}% ${77 + step}%)`;
}

const richnessOf = (hue) => (hue === null ? GREY : (data.kinds.find((kind) => kind.hue === hue) || { richness: RICH }).richness);

// ---- languages, guessed from names: symbols do not say in what they were written
const interpreted = [[/\.py[co]?$|^py::|<frozen/, "Python"], [/\.rb$/, "Ruby"], [/\.lua$/, "Lua"], [/\.php$/, "PHP"], [/\.m?js$|\.ts$|^(JS:|LazyCompile:|Function:|Script:|RegExp:|Builtin:)/, "JavaScript"]];
function languageOf(frame) {
  const name = frameName(frame), module = frameModule(frame);
  if (frameKind(frame).language) return frameKind(frame).language;
  for (const [pattern, language] of interpreted) if (pattern.test(name) || pattern.test(module)) return language;
  if (/^L[\w/$]+;|\b(java|javax|jdk|sun|kotlin|scala)\.[\w.$]+/.test(name)) return "Java";
  if (/^(runtime|main|sync|syscall|net|os|fmt|internal\/\w+|[\w.-]+\.[a-z]+\/[\w./-]+)\.[\w(*]|\.\(\*\w+\)\./.test(name)) return "Go";
  if (/^<.* as .*>::|\{closure|\{impl#|::\{|^(core|alloc|std)::(?!__)\w+::|::h[0-9a-f]{16}$/.test(name) && !/std::(_|chrono|vector|map|string|basic_|function|unique)/.test(name)) return "Rust";
  if (/::|\boperator\b|^_Z|\(.*\)( const)?(\[.*\])?$|~\w+\(/.test(name)) return "C++";
  if (/perf-\d+\.map|jit|anon/.test(module)) return "compiled at run time";
  if (/^[\w.-]+\+0x[0-9a-f]+$|^0x[0-9a-f]+$|^func_0x/.test(name)) return "no name";
  return "C or other";
}

// ---- what is shown by hue: the values that have most get hues far apart, the rest is grey
const ways = {
  kind: { of: (frame) => frameKind(frame).label, hue: (frame) => frameKind(frame).hue },
  module: { of: (frame) => (isKernel(frame) ? "kernel" : lastPart(frameModule(frame)) || "(no file)") },
  language: { of: languageOf },
};
const spreadHues = [212, 43, 150, 270, 330, 96, 182, 24, 240, 300];
const named = { kernel: 14 };
function rankValues(rows) {
  const way = ways[state.color];
  palette.cache.clear();
  palette.hues = new Map();
  palette.shares = [];
  if (!way) return;
  const sums = new Map();
  for (const row of rows) {
    const frame = functions.first[row.id];
    if (!isNote(frame)) sums.set(way.of(frame), (sums.get(way.of(frame)) || 0) + row.self);
  }
  palette.shares = [...sums].sort((a, b) => b[1] - a[1]);
  let used = 0;
  for (const [value] of palette.shares) palette.hues.set(value, value in named ? named[value] : used < spreadHues.length ? spreadHues[used++] : null);
}
function hueOf(frame) {
  const way = ways[state.color] || ways.kind;
  if (way.hue) return way.hue(frame);
  const hue = palette.hues.get(way.of(frame));
  return hue === undefined ? null : hue;
}
function frameColor(frame) {
  if (kindOf(frame) === GROUP) return palette.group;
  if (isNote(frame)) return palette.note;
  let color = palette.cache.get(frame);
  if (!color) {
    const hue = hueOf(frame);
    color = shade(hue === null ? 210 : hue, frameName(frame), richnessOf(hue));
    palette.cache.set(frame, color);
  }
  return color;
}
// Of two recordings: red where there is more, blue where less; deeper where it is more of the whole.
function changeColor(change, whole) {
  const share = whole ? change / whole : 0, size = Math.abs(share);
  const depth = size < 0.0005 ? 0 : Math.min(1, size * 4 + 0.15);
  return `hsl(${share > 0 ? 6 : 214} ${Math.round(80 * depth)}% ${Math.round(isDark() ? 26 + 8 * depth : 91 - 20 * depth)}%)`;
}
function heatColor(share) {
  const depth = Math.sqrt(share);
  return isDark() ? `hsl(${40 - 28 * depth} ${8 + 74 * depth}% ${13 + 42 * depth}%)` : `hsl(${46 - 36 * depth} ${45 + 37 * depth}% ${96 - 42 * depth}%)`;
}

function drawLegend() {
  const list = get("legend"), most = 9, least = 0.005; // of all: less is among the others
  list.textContent = "";
  const item = (color, text) => {
    const li = list.appendChild(document.createElement("li"));
    if (color) li.appendChild(document.createElement("i")).style.background = color;
    li.append(text);
  };
  if (state.color === "change") return item(changeColor(1, 4), "more"), item(changeColor(-1, 4), "less"), item(changeColor(0, 1), "same");
  const sum = palette.shares.reduce((all, [, weight]) => all + weight, 0);
  const shown = palette.shares.slice(0, most).filter(([, weight]) => weight >= least * sum);
  for (const [value, weight] of shown) {
    const hue = state.color === "kind" ? data.kinds.find((kind) => kind.label === value).hue : palette.hues.get(value);
    item(shade(hue === null ? 210 : hue, "", richnessOf(hue)), value + " " + (sum ? Math.round(100 * weight / sum) : 0) + "%");
  }
  if (palette.shares.length > shown.length) item("", palette.shares.length - shown.length + " more");
  if (leafNotes.length) item(palette.note, "note");
}
