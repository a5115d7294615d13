// What the reader can do, and how the page follows. An action changes `state` and asks for a frame; the address follows when the hand rests.
const timing = {
  first_paint: 0,
  // The first frame in which all that is in sight is drawn.
  painted() { if (!this.first_paint) this.first_paint = performance.now(); },
};
const later = { timer: 0, write() { clearTimeout(this.timer); this.timer = setTimeout(writeAddress, 200); } };

const act = {
  see(from, until) {
    const span = Math.min(Math.max(until - from, SHORTEST), length), left = Math.min(Math.max(0, from), length - span);
    Object.assign(state, { from: left, until: left + span });
    askFrame();
    later.write();
  },
  // `at` stays where it is.
  zoom(factor, at = (state.from + state.until) / 2) { act.see(at - (at - state.from) * factor, at + (state.until - at) * factor); },
  pan(share) { const by = share * (state.until - state.from); act.see(state.from + by, state.until + by); },
  // Brings a time into sight: in the middle, and so near that it is a tenth of the width.
  center(begin, end) {
    const span = Math.min(state.until - state.from, Math.max((end - begin) * 10, SHORTEST)), middle = (begin + end) / 2;
    act.see(middle - span / 2, middle + span / 2);
  },
  fit() { state.range && (state.from > state.range[0] || state.until < state.range[1] || state.until - state.from > 1.01 * (state.range[1] - state.range[0])) ? act.see(...state.range) : act.see(0, length); },
  select(range) {
    state.range = range && range[1] - range[0] >= 1 ? [Math.max(0, range[0]), Math.min(length, range[1])] : null;
    if (state.range && state.tab === "event") state.tab = data.packed_samples[2] ? "flame" : "threads";
    askFrame(), showTab(), later.write();
  },
  tab(name) { state.tab = name, showTab(), later.write(); },
  choose(at) {
    view.event = at;
    state.event = at && at.row.kind === "thread" ? [at.row.thread, at.track.begins[at.segment]] : null;
    if (at) state.tab = "event", view.row = rows.all.indexOf(at.row), act.reveal(at.row);
    showEvent(), showTab(), askFrame(), later.write();
  },
  // A thread at a time, which comes into sight unless the view is a given one.
  async show(thread, time, isGiven = false) {
    const track = threadTracks.get(thread);
    if (!track) return;
    await track.load();
    if (!rows.ofThread.has(thread)) state.closed.delete("p" + data.threads[4 * thread]), state.search && act.search(""), layRows();
    const row = rows.ofThread.get(thread), segment = Math.max(0, track.at(time));
    act.choose({ row, track, top: 0, height: STATE_LINE, segment });
    if (!isGiven && (time < state.from || time > state.until)) act.center(track.begins[segment], track.begins[segment + 1]);
  },
  reveal(row) {
    const seen = view.height - RULER;
    if (row.top < lanes.scrollTop) lanes.scrollTop = row.top - HEAD;
    else if (row.top + row.height > lanes.scrollTop + seen) lanes.scrollTop = row.top + row.height - seen + HEAD;
  },
  search(text) {
    state.search = text;
    if (get("search").value !== text) get("search").value = text;
    setPattern(), layRows(), countFound(), askFrame(), later.write();
  },
  fold(key) {
    if (!state.closed.delete(key)) state.closed.add(key);
    layRows(), askFrame(), later.write();
  },
  mark() {
    const middle = view.event ? view.event.track.begins[view.event.segment] : (state.from + state.until) / 2, near = (state.until - state.from) / 200;
    const at = ownMarks.findIndex((time) => Math.abs(time - middle) < near);
    if (at >= 0) ownMarks.splice(at, 1);
    else ownMarks.push(middle);
    askFrame();
  },
  // From mark to mark.
  toMark(step) {
    const times = allMarks().filter((m) => !m.isLine || !state.pattern || isMatch(m.text, "")).map((m) => m.time), middle = (state.from + state.until) / 2, near = (state.until - state.from) / 1e6;
    const next = step > 0 ? times.find((t) => t > middle + near) : times.reverse().find((t) => t < middle - near);
    if (next !== undefined) act.see(next - (state.until - state.from) / 2, next + (state.until - state.from) / 2);
  },
  // Rows by the keys ↑ and ↓, segments by ← and → where a row is chosen.
  row(step) {
    let n = view.row;
    do n += step; while (rows.all[n] && rows.all[n].kind === "head");
    if (!rows.all[n]) return;
    view.row = n;
    act.reveal(rows.all[n]);
    act.segment(0);
  },
  async segment(step) {
    const row = rows.all[view.row];
    if (!row || row.kind === "head") return act.pan(step / 4);
    const before = view.event && view.event.row === row ? view.event : null, track = before ? before.track : row.tracks[0];
    await track.load();
    const line = before || { top: 0, height: row.kind === "counter" ? COUNTER_LINE : STATE_LINE }, i = before ? before.segment + step : track.at((state.from + state.until) / 2);
    const at = { row, track, top: line.top, height: line.height, segment: Math.min(Math.max(0, i), track.count - 1) };
    act.choose(at);
    if (track.begins[at.segment] > state.until || track.begins[at.segment + 1] < state.from) act.center(track.begins[at.segment], track.begins[at.segment + 1]);
    get("spoken").textContent = row.label + ": " + linesOf(at).map(([text]) => text).join(", ");
  },
  theme(to) {
    document.documentElement.dataset.theme = to || (isDark() ? "light" : "dark");
    get("theme").setAttribute("aria-label", isDark() ? "Light colors" : "Dark colors");
    readColors(), readInks(), fillLegend(), askFrame(), showTab();
  },
  help: () => get("keys").showModal(),
  escape() {
    tip.hide();
    get("search").blur();
    if (state.search) act.search("");
    else if (view.event) act.choose(null);
    else act.select(null);
  },
};
function fillLegend() {
  const list = get("legend");
  list.textContent = "";
  data.states.forEach(([label], c) => {
    if (!c) return;
    const item = list.appendChild(document.createElement("li"));
    item.appendChild(document.createElement("i")).style.background = inks.names[THREAD][c];
    item.append(label);
  });
}
function fillHeader() {
  document.title = get("title").textContent = "Timeline of " + about.title;
  for (const [list, kind] of [[data.lines, "fact"], [data.notes, "warning"]])
    for (const text of list) Object.assign(get("about").appendChild(document.createElement("p")), { textContent: text, className: kind });
}
