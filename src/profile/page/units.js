// Numbers as people read them: times, bytes, counts and shares. They depend on nothing else: the console (web/) uses them too.
function timeText(ns) {
  for (const [least, size, unit, digits] of [[999.95e6, 1e9, "s", 2], [999.5e3, 1e6, "ms", 1], [999.5, 1e3, "µs", 0]])
    if (Math.abs(ns) >= least) return (ns / size).toFixed(digits) + " " + unit;
  return Math.round(ns) + " ns";
}
function bytesText(n) {
  const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  for (; Math.abs(n) >= (unit ? 1023.95 : 1024) && unit + 1 < names.length; unit++) n /= 1024;
  return n.toFixed(unit ? 1 : 0) + " " + names[unit];
}
const countText = (n, noun) => n.toLocaleString("en") + " " + (n === 1 ? noun.replace(/s$/, "") : noun);
const signed = (n, text) => (n > 0 ? "+" : n < 0 ? "−" : "±") + text(Math.abs(n));
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(2) : "0") + "%";
