// Amounts as people read them: times, bytes, counts and shares. `state.time` narrows what rates refer to.
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
const shownTime = () => (state.time ? (state.time.until - state.time.from) * data.slice_ns : about.duration_ns);

// A weight with its unit, in full.
function amount(weight) {
  if (about.period_ns) return countText(weight, "samples") + ", " + timeText(weight * about.period_ns);
  if (about.unit === "ns") return timeText(weight);
  if (about.unit !== "bytes") return countText(weight, about.unit);
  return bytesText(weight) + (shownTime() ? " (" + bytesText(weight * 1e9 / shownTime()) + "/s)" : "");
}
// The same for a column of a table.
function shortAmount(weight) {
  if (about.period_ns) return timeText(weight * about.period_ns);
  return about.unit === "ns" ? timeText(weight) : about.unit === "bytes" ? bytesText(weight) : weight.toLocaleString("en");
}
const signed = (n, text) => (n > 0 ? "+" : n < 0 ? "−" : "±") + text(Math.abs(n));
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(2) : "0") + "%";
