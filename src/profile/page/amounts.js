// Weights of the recording as people read them. `state.time` narrows what rates refer to.
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
