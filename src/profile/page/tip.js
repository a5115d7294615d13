// What is shown of a box beside the pointer: lines of [text, class], the first in bold.
const tip = {
  element: get("tip"),
  show(lines, x, y) {
    const { element } = this;
    element.hidden = false;
    element.textContent = "";
    lines.forEach(([text, kind], i) => {
      const line = element.appendChild(document.createElement(i ? "div" : "b"));
      if (kind) line.className = kind;
      line.textContent = text;
    });
    const size = element.getBoundingClientRect();
    element.style.left = Math.max(4, Math.min(x + 14, innerWidth - size.width - 8)) + "px";
    element.style.top = Math.max(4, y + 22 + size.height > innerHeight ? y - size.height - 10 : y + 22) + "px";
  },
  hide() { this.element.hidden = true; },
};

function tipOf(graph, box) {
  const { tree } = graph, frame = tree.frame[box.last], total = tree.total[box.node], most = 8;
  if (box.rest) return [[countText(box.rest, "frames") + ", each narrower than half a pixel"], ["together " + amount(box.size) + ", " + percent(box.size, tree.total[0])], ["zoom in to see them"]];
  const lines = [[nameOf(frame)]];
  if (moduleOf(frame) || kindOf(frame) !== GROUP) lines.push([[moduleOf(frame), kindOf(frame).label].filter(Boolean).join(" · ")]);
  lines.push(["total " + amount(total) + ", " + percent(total, tree.total[0]) + (graph.focus && tree.total[graph.focus] !== tree.total[0] ? ", " + percent(total, tree.total[graph.focus]) + " of what is shown" : ""), "figure"]);
  const own = tree.ownOf(box.last);
  if (own) lines.push(["self " + amount(own) + ", " + percent(own, tree.total[0]), "figure"]);
  if (data.changes) lines.push(["change " + signed(tree.change[box.node], amount), "figure"]);
  if (box.members.length > 1) {
    const folded = box.members.slice(0, -1).map((n) => nameOf(tree.frame[n])).reverse();
    lines.push(["called by, folded (click unfolds):", "head"], ...folded.slice(0, most).map((name) => [name, "folded"]));
    if (folded.length > most) lines.push(["and " + (folded.length - most) + " more", "folded"]);
  }
  return lines;
}
