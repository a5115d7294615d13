// The time range of a page: the last so many minutes, which moves on, or a fixed one. In the address: last=SECONDS, or from= and to= (seconds since 1970).
import { useState } from "preact/hooks";
import { change, useAddress } from "../address";
import { rangeText } from "../units";

export interface Range { from: number; to: number; isLive: boolean; last: number; refresh: () => void }
const spans: [number, string][] = [[300, "last 5 minutes"], [900, "last 15 minutes"], [3600, "last hour"], [21600, "last 6 hours"], [86400, "last day"], [604800, "last week"]];
const DEFAULT = 900;

// `now` of the server, so that a browser's wrong clock does no harm. Where `moves`, a live range moves on in steps of 10 s; otherwise it stays until
// the reader refreshes it, so that a picture is not replaced while it is read.
export function useRange(now: number, moves = false): Range {
  const { words } = useAddress(), from = Number(words.get("from")), to = Number(words.get("to")), [held, setHeld] = useState(now), refresh = () => setHeld(now);
  if (from > 0 && to > from) return { from, to, isLive: false, last: 0, refresh };
  const given = Number(words.get("last")), last = given >= 1 && given <= 366 * 86400 ? given : DEFAULT, end = Math.ceil((moves ? now : held) / 10) * 10;
  return { from: end - last, to: end, isLive: true, last, refresh };
}
export const fix = (from: number, to: number): void => change({ from: round(from), to: round(to), last: undefined });
const round = (seconds: number) => Math.round(seconds * 10) / 10;
const localText = (seconds: number) => { const at = new Date(seconds * 1000); return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19); };

export function RangePicker({ range }: { range: Range }) {
  const { from, to, isLive, last } = range, size = to - from;
  const edit = (which: "from" | "to") => (event: Event) => {
    const at = new Date((event.currentTarget as HTMLInputElement).value).getTime() / 1000;
    if (!Number.isFinite(at)) return;
    const next = { from, to, [which]: at };
    if (next.from < next.to) fix(next.from, next.to);
  };
  return (
    <div class="bar range" role="group" aria-label="Time range">
      <select aria-label="Range" value={isLive ? String(last) : "fixed"} onChange={(event) => { const value = event.currentTarget.value; if (value !== "fixed") change({ last: value, from: undefined, to: undefined }); }}>
        {spans.map(([seconds, text]) => <option key={seconds} value={String(seconds)}>{text}</option>)}
        {isLive && !spans.some(([s]) => s === last) && <option value={String(last)}>last {last} s</option>}
        <option value="fixed" disabled>fixed range</option>
      </select>
      <button type="button" class="icon" aria-label="Earlier" title="Earlier ([)" data-key="[" onClick={() => fix(from - size / 2, to - size / 2)}>‹</button>
      <button type="button" class="icon" aria-label="Later" title="Later (])" data-key="]" onClick={() => fix(from + size / 2, to + size / 2)}>›</button>
      <button type="button" class="icon" aria-label="Longer" title="Longer (-)" data-key="-" onClick={() => fix(from - size / 2, to + size / 2)}>−</button>
      <button type="button" class="icon" aria-label="Shorter" title="Shorter (+)" data-key="+" onClick={() => fix(from + size / 4, to - size / 4)}>+</button>
      {isLive && <button type="button" data-key="r" title="Refresh (r)" onClick={range.refresh}>Refresh</button>}
      <details class="exact"><summary>Exact</summary><div>
        <label>From <input type="datetime-local" step="1" value={localText(from)} onChange={edit("from")} /></label>
        <label>To <input type="datetime-local" step="1" value={localText(to)} onChange={edit("to")} /></label>
        {isLive && <button type="button" onClick={() => fix(from, to)}>Keep this range</button>}
      </div></details>
      <output class="dim" aria-live="polite">{rangeText(from, to)}</output>
    </div>
  );
}
