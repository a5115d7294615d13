// The head of the page: what was recorded, how far it can be trusted, and first of all what is missing in it.
function warnings() {
  const list = [], { samples, lost, incomplete } = about;
  if (incomplete) list.push(["", incomplete]);
  if (lost) list.push([countText(lost, "samples") + " lost", percentShort(lost, samples + lost) + " of the recording is missing"]);
  return list;
}
function fillHeader() {
  document.title = get("title").textContent = about.title + (about.what ? " of " + about.what : "");
  const place = get("about");
  for (const [what, meaning] of warnings()) {
    const line = place.appendChild(document.createElement("p"));
    line.className = "warning";
    line.appendChild(document.createElement("b")).textContent = what;
    line.append(" " + meaning);
  }
  data.lines.forEach((text, i) => {
    const line = place.appendChild(document.createElement("p"));
    line.textContent = text;
    line.className = i >= data.plain_lines ? "note" : "fact";
  });
}

// ---- the fields that choose what is shown
function option(parent, value, text) {
  const made = parent.appendChild(document.createElement("option"));
  made.value = value;
  made.textContent = text;
}
// Processes and threads, by weight; with names merged one of each name.
function fillOwners() {
  const field = get("who");
  field.textContent = "";
  option(field, "", "All processes");
  const weights = new Float64Array(owners.count);
  for (let s = 0; s < sampleCount; s++) weights[data.samples[3 * s]] += data.samples[3 * s + 2];
  for (const level of ["process", "thread"]) {
    const sums = new Map();
    for (let t = 0; t < owners.count; t++) {
      const { key, label } = owners[level](t, state.merge), known = sums.get(key) || { key, label, sum: 0, count: 0 };
      sums.set(key, Object.assign(known, { sum: known.sum + weights[t], count: known.count + 1 }));
    }
    const list = field.appendChild(document.createElement("optgroup"));
    list.label = level === "process" ? "Processes" : "Threads";
    for (const { key, label, count } of [...sums.values()].sort((a, b) => b.sum - a.sum || (a.label < b.label ? -1 : 1)))
      if (label) option(list, key, label + (state.merge && level === "thread" && count > 1 ? " ×" + count : ""));
    if (!list.children.length) list.remove();
  }
  field.value = state.who;
  if (field.value !== state.who) option(field, state.who, state.who.replace(/^\S+ /, "")), field.value = state.who;
  field.hidden = field.querySelectorAll("option").length <= 2 && !state.who;
}
function fillKinds() {
  const field = get("kind"), sides = new Set(data.nodes.slice(1).map((frame) => frameKind(frame).side));
  option(field, "all", "All code");
  if (sides.has("user")) option(field, "user", "User code only");
  if (sides.has("kernel")) option(field, "kernel", "Kernel only");
  for (const frame of leafNotes.slice(0, 20)) option(field, "note:" + frameName(frame), frameName(frame).replace(/^\[|\]$/g, ""));
  field.hidden = field.options.length < 3;
  get("frames").hidden = !hasLayer("interpreter");
}
// What the fields and switches show is what `state` says.
function showChoices() {
  for (const name of ["kind", "frames", "group", "color"]) get(name).value = state[name];
  if (get("search").value !== state.search) get("search").value = state.search;
  for (const name of ["merge", "reverse", "icicle", "fold"]) get(name).checked = state[name];
  for (const tab of document.querySelectorAll("#views button")) tab.setAttribute("aria-pressed", tab.value === state.view);
  document.body.dataset.view = state.view;
  get("reset").hidden = !state.zoom;
}
