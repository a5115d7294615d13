// The functions beside the graph: self and total, sorted by a click on a column, narrowed by the search. Rows are made as
// far as they are asked for, so that 100,000 functions cost nothing.
const table = { rows: [], shown: [], limit: 0, whole: 0 };
const PAGE = 150;

const columns = [
  { name: "self", label: "Self", key: (r) => r.self },
  { name: "total", label: "Total", key: (r) => r.total },
  ...(data.changes ? [{ name: "change", label: "Change", key: (r) => Math.abs(r.change) || Math.abs(r.totalChange) / 1e6 }] : []),
  { name: "name", label: "Function", key: null },
];
const rowFrame = (row) => functions.first[row.id];
const rowName = (row) => frameName(rowFrame(row));

function fillTable(rows, whole) {
  table.rows = rows;
  table.whole = whole;
  sortTable();
}
function sortTable() {
  const { key } = columns.find((c) => c.name === state.sort) || columns[0];
  const byName = (a, b) => (rowName(a) < rowName(b) ? -1 : rowName(a) > rowName(b) ? 1 : a.id - b.id);
  table.shown = table.rows.filter((r) => !state.pattern || isMatch(rowName(r), frameModule(rowFrame(r))));
  table.shown.sort(key ? (a, b) => key(b) - key(a) || b.total - a.total || byName(a, b) : byName);
  table.limit = PAGE;
  drawTable();
}
function drawTable() {
  const body = get("rows"), head = get("columns");
  head.textContent = "";
  for (const column of columns) {
    const cell = head.appendChild(document.createElement("th")), button = cell.appendChild(document.createElement("button"));
    cell.scope = "col";
    cell.className = column.name;
    if (state.sort === column.name) cell.setAttribute("aria-sort", column.key ? "descending" : "ascending");
    button.textContent = column.label;
    button.addEventListener("click", () => { state.sort = column.name; writeAddress(false); sortTable(); });
  }
  body.textContent = "";
  const chosen = chosenFunction();
  for (const row of table.shown.slice(0, table.limit)) body.appendChild(rowElement(row, chosen));
  get("more").hidden = table.shown.length <= table.limit;
  get("more").textContent = "Show more of " + table.shown.length.toLocaleString("en") + " functions";
  get("tableCount").textContent = countText(table.shown.length, "functions") + (state.pattern ? " match" + (table.shown.length === 1 ? "es" : "") : "");
}
function rowElement(row, chosen) {
  const line = document.createElement("tr"), frame = rowFrame(row);
  const figure = (weight) => {
    const cell = line.appendChild(document.createElement("td"));
    cell.className = "figure";
    cell.style.setProperty("--share", Math.min(100, 100 * weight / (table.whole || 1)) + "%");
    if (!weight) return void (cell.textContent = "–");
    cell.appendChild(document.createElement("b")).textContent = percentShort(weight, table.whole);
    cell.append(" " + shortAmount(weight));
  };
  figure(row.self);
  figure(row.total);
  if (data.changes) {
    const cell = line.appendChild(document.createElement("td"));
    cell.className = "figure change " + (row.change > 0 ? "more" : row.change < 0 ? "less" : "");
    cell.textContent = row.change ? signed(row.change, shortAmount) : "";
    cell.title = "including callees " + signed(row.totalChange, amount);
  }
  const cell = line.appendChild(document.createElement("td")), both = cell.appendChild(document.createElement("span"));
  const button = both.appendChild(document.createElement("button"));
  cell.className = "name";
  button.appendChild(document.createElement("i")).style.background = frameColor(frame);
  button.append(frameName(frame));
  button.title = frameName(frame) + (frameModule(frame) ? "\n" + frameModule(frame) : "");
  if (frameModule(frame)) both.appendChild(document.createElement("small")).textContent = lastPart(frameModule(frame));
  if (row.id === chosen) line.setAttribute("aria-selected", "true");
  line.addEventListener("click", () => act.choose(row.id));
  return line;
}
const percentShort = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : "0") + "%";
get("more").addEventListener("click", () => { table.limit *= 4; drawTable(); });
