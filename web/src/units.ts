// Numbers with their units, as the flame graph page prints them (src/profile/page/units.js).
// @ts-expect-error: a script without types, made a module by vite.config.ts
import { timeText as time, bytesText as bytes, countText as count, percent as share, signed as withSign } from "@page/units.js";

export const timeText: (ns: number) => string = time;
export const bytesText: (bytes: number) => string = bytes;
export const countText: (n: number, noun: string) => string = count;
export const signed: (n: number, text: (n: number) => string) => string = withSign;
export const percent: (part: number, whole: number) => string = share;

// A number and its unit: "ns", "s", "bytes", "percent", "CPUs", or a noun. Units may be rates: "bytes/s".
export function amountText(n: number | null | undefined, unit = ""): string {
  if (n === null || n === undefined || Number.isNaN(n)) return "–";
  const [base, ...rate] = unit.split("/"), suffix = rate.length ? "/" + rate.join("/") : "";
  switch (base) {
    case "ns": return timeText(n) + suffix;
    case "s": return timeText(n * 1e9) + suffix;
    case "bytes": return bytesText(n) + suffix;
    case "share": return amountText(100 * n, "percent");
    case "percent": case "%": return (Math.abs(n) < 10 ? n.toFixed(2) : n.toFixed(1)) + "%";
    case "1": case "": return plainText(n) + suffix;
    default: return plainText(n) + (unit ? " " + (n === 1 ? unit.replace(/s$/, "") : unit) : "");
  }
}
export const plainText = (n: number): string => (Number.isInteger(n) ? n.toLocaleString("en") : Math.abs(n) >= 100 ? Math.round(n).toLocaleString("en") : Number(n.toPrecision(3)).toString());

// A time of day; the date is added where it is not today's.
export function clockText(seconds: number, withSeconds = true): string {
  const at = new Date(seconds * 1000), two = (n: number) => String(n).padStart(2, "0");
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}` + (withSeconds ? ":" + two(at.getSeconds()) : "");
  return at.toDateString() === new Date().toDateString() ? clock : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}
export const rangeText = (from: number, to: number): string => `${clockText(from)} – ${clockText(to)} (${spanText(to - from)})`;

// A length of time in the largest units that describe it: 90 min, 2 d 3 h, 1 min 30 s.
export function spanText(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.round(seconds);
  if (seconds < 10) return timeText(seconds * 1e9);
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]] as const) {
    if (rest >= size && parts.length < 2) parts.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return parts.join(" ");
}
