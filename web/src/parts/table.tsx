// A table: sorted by a click on a column, narrowed by a search, in parts of PAGE rows, saved as CSV. Cells are text, never HTML.
// Sorting and search are in the address, as NAME.sort and NAME.search.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { change, useAddress } from "../address";
import { csv, save } from "../save";
import { amountText, countText, percent } from "../units";

export interface Column<Row> {
  name: string;
  label: string;
  value: (row: Row) => unknown;
  unit?: string;          // of a number: right-aligned, with its unit
  isNumber?: boolean;     // a number without a unit
  show?: (row: Row) => ComponentChildren;
  share?: (row: Row) => number; // 0 to 1: a bar behind the number
}
interface Parameters<Row> {
  name: string;           // of the table in addresses and files
  caption: string;
  noun: string;           // plural
  columns: Column<Row>[];
  rows: Row[];
  keyOf?: (row: Row, index: number) => string;
  sort?: string;          // "-NAME": descending
  hasSearch?: boolean;
  marked?: (row: Row) => boolean;
}
const PAGE = 100;

const isNumeric = <Row,>(column: Column<Row>) => column.unit !== undefined || !!column.isNumber;
function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
  if (b === null || b === undefined) return 1;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

export function Table<Row>({ name, caption, noun, columns, rows, keyOf, sort = "", hasSearch = false, marked }: Parameters<Row>) {
  const { words } = useAddress(), [limit, setLimit] = useState(PAGE);
  const order = words.get(name + ".sort") ?? sort, search = words.get(name + ".search") ?? "";
  const isDescending = order.startsWith("-"), sorted = columns.find((c) => c.name === order.replace(/^-/, ""));
  const wanted = search.toLowerCase();
  let shown = wanted ? rows.filter((row) => columns.some((c) => String(c.value(row) ?? "").toLowerCase().includes(wanted))) : rows.slice();
  if (sorted) shown.sort((a, b) => compare(sorted.value(a), sorted.value(b)) * (isDescending ? -1 : 1));
  const count = shown.length;
  const saveAll = () => save(`acu-${name}.csv`, csv(columns.map((c) => c.label + (c.unit ? ` (${c.unit})` : "")), shown.map((row) => columns.map((c) => c.value(row)))), "text/csv");
  const sortBy = (column: Column<Row>) => {
    const first = isNumeric(column) ? "-" + column.name : column.name, other = isNumeric(column) ? column.name : "-" + column.name;
    change({ [name + ".sort"]: order === first ? other : first }, false);
  };
  const cells = shown.slice(0, limit);
  return (
    <div class="table">
      <div class="bar">
        {hasSearch && <input type="search" data-search value={search} placeholder={"Search " + noun} aria-label={"Search " + noun} autocomplete="off" spellcheck={false}
          onInput={(event) => change({ [name + ".search"]: event.currentTarget.value }, false)} />}
        <output aria-live="polite">{search ? `${count.toLocaleString("en")} of ${countText(rows.length, noun)}` : countText(count, noun)}</output>
        <button type="button" class="end" onClick={saveAll} disabled={!count}>CSV</button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead><tr>
            {columns.map((column) => (
              <th scope="col" key={column.name} class={isNumeric(column) ? "figure" : ""} aria-sort={column === sorted ? (isDescending ? "descending" : "ascending") : undefined}>
                <button type="button" onClick={() => sortBy(column)}>{column.label}</button>
              </th>
            ))}
          </tr></thead>
          <tbody>
            {cells.map((row, index) => (
              <tr key={keyOf ? keyOf(row, index) : index} class={marked?.(row) ? "marked" : ""}>
                {columns.map((column) => <Cell key={column.name} column={column} row={row} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {count > limit && <button type="button" onClick={() => setLimit(limit * 4)}>Show more of {countText(count, noun)}</button>}
      {!count && <p class="dim empty">{search ? `No ${noun} match the search.` : `No ${noun}.`}</p>}
    </div>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const value = column.value(row);
  if (column.show) return <td class={isNumeric(column) ? "figure" : ""}>{column.show(row)}</td>;
  if (isNumeric(column)) {
    const share = column.share ? Math.max(0, Math.min(1, column.share(row))) : 0;
    return <td class="figure" style={share ? { "--share": percent(share, 1) } : undefined}>{typeof value === "number" ? amountText(value, column.unit ?? "") : String(value ?? "–")}</td>;
  }
  return <td>{value === null || value === undefined ? <span class="dim">–</span> : typeof value === "object" ? JSON.stringify(value) : String(value)}</td>;
}
