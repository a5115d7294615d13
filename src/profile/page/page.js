// The page of a profile: a call tree as a flame graph on a canvas. The data stands in the page as JSON (page.cc); the
// layout is d3's partition, drawing and everything else is here.
// With slices of time there is a heat map above it, whose selection is what the graph shows.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const USER = 0, INLINED = 1, KERNEL = 2, NOTE = 3, GROUP = 4;
  const kindNames = ["user code", "inlined", "kernel", "note", "group"];
  const ROW = 19, FONT = "12px system-ui, sans-serif", LEAST = 0.5; // pixels
  const get = (id) => document.getElementById(id);
  const canvas = get("graph"), pen = canvas.getContext("2d"), tip = get("tip");
  const about = data.about;

  // ---- amounts as people read them
  const units = [[1e9, "s", 2], [1e6, "ms", 1], [1e3, "µs", 0]];
  function time(ns) {
    for (const [size, unit, digits] of units) if (Math.abs(ns) >= size) return (ns / size).toFixed(digits) + " " + unit;
    return Math.round(ns) + " ns";
  }
  function bytes(n) {
    const names = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    for (; Math.abs(n) >= 1024 && unit + 1 < names.length; unit++) n /= 1024;
    return n.toFixed(unit ? 1 : 0) + " " + names[unit];
  }
  function amount(weight) {
    if (about.period_ns) return weight.toLocaleString("en") + " samples, " + time(weight * about.period_ns);
    if (about.unit === "ns") return time(weight);
    if (about.unit === "bytes")
      return bytes(weight) + (lasted() ? " (" + bytes(weight * 1e9 / lasted()) + "/s)" : "");
    return weight.toLocaleString("en") + " " + about.unit;
  }
  const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(2) : "0") + "%";

  const lasted = () => (state.time ? (state.time.until - state.time.from) * data.slice_ns : about.duration_ns);

  // ---- from samples to a tree
  const frameName = (f) => data.texts[data.frames[3 * f]];
  const frameModule = (f) => data.texts[data.frames[3 * f + 1]];
  const frameKind = (f) => data.frames[3 * f + 2];
  const state = { group: "process", reverse: false, icicle: false, focus: null, selected: null, hover: null, pattern: null, time: null };

  function child(of, key, make) {
    let found = of.index.get(key);
    if (!found) {
      found = make();
      found.index = new Map();
      found.self = 0;
      found.change = 0;
      of.index.set(key, found);
    }
    return found;
  }
  function groupsOf(thread) {
    const [pid, tid, process, name] = data.threads.slice(4 * thread, 4 * thread + 4);
    const groups = [];
    if (state.group !== "none") groups.push(["p" + pid + " " + process, data.texts[process] + (pid ? " (" + pid + ")" : "")]);
    if (state.group === "thread") groups.push(["t" + tid + " " + name, data.texts[name] + (tid ? " (" + tid + ")" : "")]);
    return groups;
  }
  function buildTree() {
    const root = { name: "all", module: "", kind: GROUP, index: new Map(), self: 0, change: 0 };
    for (let s = 0; s < data.samples.length; s += 3) {
      const [thread, node, weight] = [data.samples[s], data.samples[s + 1], state.time ? state.time.weights[s / 3] : data.samples[s + 2]];
      if (!weight && state.time) continue;
      let at = root;
      for (const [key, name] of groupsOf(thread)) at = child(at, key, () => ({ name, module: "", kind: GROUP }));
      const path = [];
      for (let n = node; n; n = data.parents[n]) path.push(data.nodes[n]);
      if (!state.reverse) path.reverse();
      for (const f of path)
        at = child(at, f, () => ({ name: frameName(f), module: frameModule(f), kind: frameKind(f) }));
      at.self += weight;
      if (data.changes) at.change += data.changes[s / 3];
    }
    return root;
  }

  // ---- layout: x from 0 to 1, a row for each depth
  let tree, rows, deepest;
  function layOut() {
    tree = d3.hierarchy(buildTree(), (d) => (d.index.size ? [...d.index.values()] : null)).sum((d) => d.self);
    tree.sort((a, b) => (a.data.name < b.data.name ? -1 : a.data.name > b.data.name ? 1 : 0));
    d3.partition()(tree);
    if (data.changes) tree.eachAfter((n) => { n.change = n.data.change + (n.children || []).reduce((sum, c) => sum + c.change, 0); });
    rows = [];
    tree.each((n) => (rows[n.depth] = rows[n.depth] || []).push(n));
    for (const row of rows) row.sort((a, b) => a.x0 - b.x0);
    deepest = rows.length;
    state.focus = tree;
    state.selected = state.hover = null;
    view.from = view.to = { x0: 0, x1: 1 };
    mark();
  }

  // ---- search: nodes that match, and what they have in all, each stack counted once
  let matched = new Set();
  function mark() {
    matched = new Set();
    let sum = 0;
    if (state.pattern) {
      const hits = new Map();
      const isHit = (d) => {
        const key = d.name + "\0" + d.module;
        if (!hits.has(key)) hits.set(key, state.pattern.test(d.name) || state.pattern.test(d.module));
        return hits.get(key);
      };
      tree.eachBefore((n) => {
        const hit = isHit(n.data);
        n.under = (n.parent && n.parent.under) || hit;
        if (!hit) return;
        matched.add(n);
        if (!n.parent || !n.parent.under) sum += n.value;
      });
    }
    get("found").textContent = state.pattern ? "matched " + percent(sum, tree.value) + " (" + amount(sum) + ")" : "";
    state.sum = sum;
  }
  function search(text) {
    try {
      state.pattern = text ? new RegExp(text, "i") : null;
    } catch {
      state.pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
    mark();
    draw();
  }

  // ---- drawing
  let colors = {}, width = 0;
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "ink", "dim", "edge", "group", "note", "found", "kernel", "user", "inlined", "light", "rich"])
      colors[name] = style.getPropertyValue("--" + name).trim();
    colors.cache = new Map();
    const show = [["user code", fill({ kind: USER, name: "", module: "" })], ["inlined", fill({ kind: INLINED, name: "", module: "" })],
      ["kernel", fill({ kind: KERNEL, name: "", module: "" })], ["note", colors.note]];
    get("legend").innerHTML = data.changes ? "<li>red: more, blue: less</li>"
      : show.map(([name, color]) => `<li><span style="background:${color}"></span>${name}</li>`).join("");
  }
  // One color for a function, near that of its kind.
  function fill(d) {
    if (d.kind === GROUP) return colors.group;
    if (d.kind === NOTE) return colors.note;
    const key = d.kind + d.name;
    let color = colors.cache.get(key);
    if (!color) {
      let hash = 0;
      for (let i = 0; i < d.name.length; i++) hash = (hash * 31 + d.name.charCodeAt(i)) | 0;
      const hue = Number(d.kind === KERNEL ? colors.kernel : d.kind === INLINED ? colors.inlined : colors.user);
      const turn = d.name ? ((hash >>> 3) % 19) - 9 : 0;
      color = `hsl(${hue + turn}, ${colors.rich}, ${parseFloat(colors.light) + (d.name ? ((hash >>> 9) % 9) - 4 : 0)}%)`;
      colors.cache.set(key, color);
    }
    return color;
  }
  // Of two recordings: red where there is more, blue where less.
  function changeFill(n) {
    const share = tree.value ? n.change / tree.value : 0;
    const depth = Math.min(1, Math.abs(share) * 4 + (Math.abs(share) > 0.0005 ? 0.12 : 0));
    const dark = document.documentElement.dataset.theme === "dark";
    return `hsl(${share > 0 ? 4 : 214}, ${Math.round(75 * depth)}%, ${Math.round(dark ? 30 + 12 * depth : 90 - 28 * depth)}%)`;
  }

  const view = { from: { x0: 0, x1: 1 }, to: { x0: 0, x1: 1 }, start: 0, now: { x0: 0, x1: 1 } };
  const toX = (x) => (x - view.now.x0) / (view.now.x1 - view.now.x0) * width;
  const toY = (depth) => (state.icicle ? depth : deepest - 1 - depth) * ROW;
  function fit(text, room) {
    if (room < 14) return "";
    const most = Math.floor(room / 5);
    if (text.length > most * 2) text = text.slice(0, most * 2);
    if (pen.measureText(text).width <= room) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
      else high = middle - 1;
    }
    return low > 1 ? text.slice(0, low) + "…" : "";
  }
  function box(n) {
    const left = Math.max(0, toX(n.x0)), right = Math.min(width, toX(n.x1));
    return { left, top: toY(n.depth), width: right - left };
  }
  // From the root down; what is too narrow to be seen has no children that are not.
  function drawNode(n) {
    const { left, top, width: wide } = box(n);
    if (wide < LEAST || left >= width) return;
    pen.globalAlpha = n.depth < state.focus.depth ? 0.55 : 1;
    pen.fillStyle = matched.has(n) ? colors.found : data.changes ? changeFill(n) : fill(n.data);
    pen.fillRect(left, top, Math.max(wide - (wide > 3 ? 1 : 0), LEAST), ROW - 1);
    if (n === state.selected || n === state.hover) {
      pen.strokeStyle = colors.ink;
      pen.strokeRect(left + 0.5, top + 0.5, Math.max(wide - 2, 1), ROW - 2);
    }
    const text = fit(n.data.name, wide - 8);
    if (text) {
      pen.fillStyle = matched.has(n) ? "#fff" : colors.ink;
      pen.fillText(text, left + 4, top + ROW / 2);
    }
    for (const c of n.children || []) drawNode(c);
  }
  function draw() {
    const ratio = window.devicePixelRatio || 1, height = deepest * ROW + 1;
    width = canvas.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = FONT;
    pen.textBaseline = "middle";
    const done = Math.min(1, (performance.now() - view.start) / 160), soft = done * (2 - done);
    view.now = { x0: view.from.x0 + (view.to.x0 - view.from.x0) * soft, x1: view.from.x1 + (view.to.x1 - view.from.x1) * soft };
    drawNode(tree);
    if (done < 1) requestAnimationFrame(draw);
  }
  function zoom(n) {
    state.focus = n;
    view.from = view.now;
    view.to = { x0: n.x0, x1: n.x1 };
    view.start = matchMedia("(prefers-reduced-motion: reduce)").matches ? -1e9 : performance.now();
    draw();
  }

  // ---- pointing
  function nodeAt(event) {
    const area = canvas.getBoundingClientRect();
    const line = Math.floor((event.clientY - area.top) / ROW), row = rows[state.icicle ? line : deepest - 1 - line];
    if (!row) return null;
    const x = view.now.x0 + (event.clientX - area.left) / width * (view.now.x1 - view.now.x0);
    let low = 0, high = row.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (row[middle].x0 <= x) low = middle;
      else high = middle - 1;
    }
    return row[low] && row[low].x0 <= x && x < row[low].x1 ? row[low] : null;
  }
  function showTip(n, x, y) {
    tip.hidden = !n;
    if (!n) return;
    const line = (text, tag) => tip.appendChild(document.createElement(tag)).append(text);
    tip.textContent = "";
    line(n.data.name, "b");
    if (n.data.module) line(n.data.module + " · " + kindNames[n.data.kind], "div");
    line(amount(n.value) + ": " + percent(n.value, tree.value) + " of all" +
      (state.focus !== tree ? ", " + percent(n.value, state.focus.value) + " of what is shown" : ""), "div");
    if (n.data.self) line("itself " + amount(n.data.self) + ", " + percent(n.data.self, tree.value), "div");
    if (data.changes) line("change " + (n.change > 0 ? "+" : n.change < 0 ? "−" : "") + amount(Math.abs(n.change)), "div");
    const size = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - size.width - 8)) + "px";
    tip.style.top = (y + 18 + size.height > innerHeight ? y - size.height - 10 : y + 18) + "px";
  }
  function showSelected() {
    const b = box(state.selected), area = canvas.getBoundingClientRect();
    showTip(state.selected, area.left + b.left, area.top + b.top);
  }

  // ---- time: a lane for all, and for those that have most; a column for each slice, or for several
  const times = (() => {
    const none = { begin() {}, draw() {}, select() {}, move() {} };
    if (!data.slices) return none;
    const sheet = get("heat"), brush = sheet.getContext("2d"), LANE = 16, LABEL = 150, MOST = 10, AXIS = 18;
    const seconds = (slice) => Number((slice * data.slice_ns / 1e9).toFixed(6));
    // Of each slice: numbers of samples and their weights, side by side.
    const slices = new Map(data.slices.map(([number, ...rest]) => {
      let last = 0;
      return [number, rest.map((n, i) => (i % 2 ? n : (last += n)))];
    }));
    const count = Math.max(1, Math.ceil(about.duration_ns / data.slice_ns - 0.1), ...[...slices.keys()].map((n) => n + 1));
    const laneOf = {
      function(s) {
        let n = data.samples[3 * s + 1];
        while (data.parents[n] && frameKind(data.nodes[n]) === NOTE) n = data.parents[n];
        return n ? frameName(data.nodes[n]) : "(no stack)";
      },
      thread(s) { const t = 4 * data.samples[3 * s]; return data.texts[data.threads[t + 3]] + " (" + data.threads[t + 1] + ")"; },
      process(s) { const t = 4 * data.samples[3 * s]; return data.texts[data.threads[t + 2]] + " (" + data.threads[t] + ")"; },
    };
    let by = about.unit === "samples" ? "function" : "thread", lanes = [], from = null, to = null, wide = 0;

    function layLanes() {
      const found = new Map(), names = [];
      for (let s = 0; s < data.samples.length / 3; s++) names.push(laneOf[by](s));
      const lane = (name) => {
        if (!found.has(name)) found.set(name, { name, sum: 0, cells: new Map() });
        return found.get(name);
      };
      const all = { name: "all", sum: 0, cells: new Map() };
      for (const [number, gains] of slices)
        for (let i = 0; i < gains.length; i += 2)
          for (const l of [all, lane(names[gains[i]])]) {
            l.sum += gains[i + 1];
            l.cells.set(number, (l.cells.get(number) || 0) + gains[i + 1]);
          }
      const sorted = [...found.values()].sort((a, b) => b.sum - a.sum), rest = sorted.splice(MOST);
      if (rest.length) {
        const others = { name: rest.length + " others", sum: 0, cells: new Map() };
        for (const l of rest) for (const [n, w] of l.cells) others.cells.set(n, (others.cells.get(n) || 0) + w);
        sorted.push(others);
      }
      lanes = [all, ...sorted];
      const most = (l) => Math.max(1, ...l.cells.values());
      const hottest = Math.max(...sorted.map(most), 1);
      for (const l of lanes) l.most = l === all ? most(l) : hottest;
    }
    const left = (slice) => LABEL + slice / count * wide;
    function heat(share) {
      const dark = document.documentElement.dataset.theme === "dark", depth = Math.sqrt(share);
      return `hsl(${46 - 34 * depth}, ${60 + 25 * depth}%, ${dark ? 12 + 48 * depth : 95 - 48 * depth}%)`;
    }
    function drawLane(l, line) {
      brush.fillStyle = colors.ink;
      const font = brush.measureText(l.name).width;
      brush.fillText(font <= LABEL - 8 ? l.name : l.name.slice(0, Math.floor(l.name.length * (LABEL - 16) / font)) + "…", 0, line * LANE + LANE / 2);
      // Where a pixel has several slices, the hottest is seen.
      const columns = new Map();
      for (const [n, w] of l.cells) {
        const x = Math.floor(left(n));
        columns.set(x, Math.max(columns.get(x) || 0, w));
      }
      for (const [x, w] of columns) {
        brush.fillStyle = heat(w / l.most);
        brush.fillRect(x, line * LANE, Math.max(1, wide / count - (wide / count > 4 ? 1 : 0)), LANE - 1);
      }
    }
    function drawAxis() {
      const length = seconds(count), y = lanes.length * LANE;
      let step = 10 ** Math.floor(Math.log10(Math.max(length, 1e-6)) - 1);
      for (const more of [2, 2.5, 2, 2, 2.5]) if (step / length * wide < 60) step *= more;
      brush.fillStyle = colors.dim;
      for (let i = 0; i * step < length; i++) {
        const x = LABEL + i * step / length * wide;
        brush.fillRect(Math.floor(x), y, 1, 4);
        brush.fillText(Number((i * step).toFixed(6)) + " s", x + 3, y + 10);
      }
    }
    function drawTimes() {
      const ratio = window.devicePixelRatio || 1, height = lanes.length * LANE + AXIS;
      wide = Math.max(50, sheet.clientWidth - LABEL);
      sheet.width = Math.round(sheet.clientWidth * ratio);
      sheet.height = Math.round(height * ratio);
      sheet.style.height = height + "px";
      brush.setTransform(ratio, 0, 0, ratio, 0, 0);
      brush.font = FONT;
      brush.textBaseline = "middle";
      brush.fillStyle = heat(0);
      brush.fillRect(LABEL, 0, wide, lanes.length * LANE);
      lanes.forEach(drawLane);
      drawAxis();
      if (from === null) return;
      const a = left(Math.min(from, to)), b = left(Math.max(from, to) + 1);
      brush.fillStyle = colors.paper;
      brush.globalAlpha = 0.6;
      brush.fillRect(LABEL, 0, a - LABEL, lanes.length * LANE);
      brush.fillRect(b, 0, LABEL + wide - b, lanes.length * LANE);
      brush.globalAlpha = 1;
      brush.strokeStyle = colors.ink;
      brush.strokeRect(a - 0.5, 0.5, Math.max(2, b - a + 1), lanes.length * LANE - 1);
    }
    // Slices from one to another, or null: all.
    function select(a, b = a) {
      from = a === null ? null : Math.max(0, Math.min(a, b, count - 1));
      to = a === null ? null : Math.min(count - 1, Math.max(a, b, 0));
      state.time = null;
      let text = "Heat map of " + count + " slices of " + time(data.slice_ns) + ": drag to choose what the graph shows";
      if (from !== null) {
        const weights = new Float64Array(data.samples.length / 3);
        for (let n = from; n <= to; n++) {
          const gains = slices.get(n) || [];
          for (let i = 0; i < gains.length; i += 2) weights[gains[i]] += gains[i + 1];
        }
        state.time = { from, until: to + 1, weights };
        text = "From " + seconds(from) + " s until " + seconds(to + 1) + " s: " + amount(weights.reduce((x, y) => x + y, 0)) +
          " (acu report --from " + seconds(from) + " --until " + seconds(to + 1) + ")";
      }
      get("when").textContent = text;
      get("whole").hidden = from === null;
      if (tree) rebuild();
      drawTimes();
    }
    function sliceAt(event) {
      const x = event.clientX - sheet.getBoundingClientRect().left - LABEL;
      return Math.max(0, Math.min(count - 1, Math.floor(x / wide * count)));
    }
    function point(event) {
      const n = sliceAt(event), l = lanes[Math.floor((event.clientY - sheet.getBoundingClientRect().top) / LANE)];
      tip.hidden = !l;
      if (!l) return;
      tip.textContent = seconds(n) + " s, " + l.name + ": " + amount(l.cells.get(n) || 0);
      tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.clientWidth - 8) + "px";
      tip.style.top = event.clientY + 18 + "px";
    }
    let drags = false;
    sheet.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drags = true;
      from = to = sliceAt(event);
      if (event.isTrusted) sheet.setPointerCapture(event.pointerId);
      drawTimes();
    });
    sheet.addEventListener("pointermove", (event) => {
      if (drags) to = sliceAt(event), drawTimes();
      point(event);
    });
    sheet.addEventListener("pointerup", () => { if (drags) drags = false, select(from, to); });
    sheet.addEventListener("pointerleave", () => showTip(null));
    get("lanes").addEventListener("change", () => { by = get("lanes").value; layLanes(); drawTimes(); });
    return {
      // The graph's root is next to it.
      begin() { get("time").hidden = false; state.icicle = true; get("icicle").setAttribute("aria-pressed", true); get("lanes").value = by; layLanes(); select(null); },
      draw() { if (lanes.length) drawTimes(); },
      select,
      move(step) { if (from !== null && from + step >= 0 && to + step < count) select(from + step, to + step); },
      place: (slice) => ({ x: sheet.getBoundingClientRect().left + left(slice + 0.5), y: sheet.getBoundingClientRect().top + LANE / 2 }),
      lanes: () => lanes.map((l) => l.name),
    };
  })();

  // ---- what the reader can do
  const grouping = ["process", "thread", "none"];
  const act = {
    reset() { zoom(tree); },
    reverse() { state.reverse = !state.reverse; rebuild(); },
    icicle() { state.icicle = !state.icicle; rebuild(false); },
    group(to) { state.group = to || grouping[(grouping.indexOf(state.group) + 1) % 3]; get("group").value = state.group; rebuild(); },
    theme(to) {
      const root = document.documentElement;
      root.dataset.theme = to || (root.dataset.theme === "dark" ? "light" : "dark");
      get("theme").textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
      readColors();
      if (tree) draw();
      times.draw();
    },
    whole() { times.select(null); },
    help() { get("keys").showModal(); },
    walk(key) {
      let n = state.selected || state.focus;
      const siblings = n.parent ? n.parent.children : [n], at = siblings.indexOf(n);
      const inner = (state.icicle ? "ArrowDown" : "ArrowUp") === key;
      if (key === "ArrowLeft") n = siblings[Math.max(0, at - 1)];
      else if (key === "ArrowRight") n = siblings[Math.min(siblings.length - 1, at + 1)];
      else if (inner) n = n.children ? n.children.reduce((a, b) => (b.value > a.value ? b : a)) : n;
      else n = n.parent || n;
      state.selected = n;
      draw();
      showSelected();
    },
  };
  function rebuild(anew = true) {
    get("reverse").setAttribute("aria-pressed", state.reverse);
    get("icicle").setAttribute("aria-pressed", state.icicle);
    if (anew) layOut();
    draw();
  }
  for (const name of ["reverse", "icicle", "reset", "theme", "help", "whole"]) d3.select("#" + name).on("click", () => act[name]());
  d3.select("#group").on("change", () => act.group(get("group").value));
  d3.select("#search").on("input", () => search(get("search").value));
  canvas.addEventListener("mousemove", (event) => {
    const n = nodeAt(event);
    if (n !== state.hover) {
      state.hover = n;
      draw();
    }
    showTip(n, event.clientX, event.clientY);
  });
  canvas.addEventListener("mouseleave", () => { state.hover = null; showTip(null); draw(); });
  canvas.addEventListener("click", (event) => {
    const n = nodeAt(event);
    if (n) state.selected = null, zoom(n);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || get("keys").open) return;
    const isField = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (get("search").value) get("search").value = "", search("");
      else act.reset();
      get("search").blur();
      showTip(null);
      return;
    }
    if (isField) return;
    const keys = { "/": () => get("search").focus(), r: act.reverse, i: act.icicle, g: () => act.group(), d: () => act.theme(), w: act.whole,
      "[": () => times.move(-1), "]": () => times.move(1),
      "?": act.help, 0: act.reset, Home: act.reset, Enter: () => { if (state.selected) zoom(state.selected); } };
    if (event.key.startsWith("Arrow")) act.walk(event.key);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
  addEventListener("resize", () => { draw(); times.draw(); });

  // ---- begin
  document.title = get("title").textContent = about.title + (about.what ? " of " + about.what : "");
  data.lines.forEach((text, i) => {
    const p = get("about").appendChild(document.createElement("p"));
    p.textContent = text;
    if (i >= data.plain_lines) p.className = "note";
  });
  if (data.threads.length <= 4) state.group = get("group").value = "none";
  act.theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  times.begin();
  layOut();
  draw();
  canvas.setAttribute("aria-label", "Flame graph, " + amount(tree.value));
  if (!state.icicle) scrollTo(0, Math.max(0, document.body.scrollHeight - innerHeight));
  // For tests: where a function's widest frame is, and what is shown.
  window.acu = {
    state,
    times,
    total: () => tree.value,
    nodes: () => rows.reduce((sum, row) => sum + row.length, 0),
    place(name) {
      const n = tree.descendants().filter((d) => d.data.name === name).sort((a, b) => b.value - a.value)[0];
      if (!n) return null;
      const b = box(n), area = canvas.getBoundingClientRect();
      return { x: area.left + b.left + b.width / 2, y: area.top + b.top + ROW / 2, width: b.width, share: n.value / tree.value };
    },
    settled: () => performance.now() - view.start > 200,
  };
})();
