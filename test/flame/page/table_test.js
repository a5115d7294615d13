// The table beside the graph, and callers and callees of what is chosen in it.
look(async (seen) => {
  const names = () => rows().map((r) => r.querySelector("button").textContent);
  const area = (id) => get(id).getBoundingClientRect();
  seen.beside = isSeen(get("tablePane")) && area("tablePane").left >= area("graphPane").right;
  for (const column of ["total", "name", "self"]) {
    document.querySelector(`#columns .${column} button`).click();
    seen[column] = names();
    seen[column + "Sort"] = document.querySelector("#columns [aria-sort]").className;
  }
  seen.figures = Object.fromEntries(rows().map((r) => [r.querySelector("button").textContent, [...r.querySelectorAll(".figure b, .figure:not(:has(b))")].map((c) => c.textContent)]));
  type("search", "^ev");
  seen.narrowed = names();
  type("search", "");
  rowOf("eval").click();
  seen.chosen = get("chosen").textContent;
  get("openSandwich").click();
  const sums = (graph) => graph.layout.rows.map((row) => row.filter((b) => !b.rest).map((b) => [graph.nameOf(b), graph.tree.total[b.node]]));
  seen.callers = sums(acu.callers);
  seen.callees = sums(acu.callees);
  seen.above = acu.place("main", acu.callers).y < acu.place("eval", acu.callers).y;
  seen.below = acu.place("apply", acu.callees).y > acu.place("eval", acu.callees).y;
  seen.isGraphGone = !isSeen(get("graphPane"));
  click(acu.place("apply", acu.callees), "callees");
  seen.next = acu.state.function;
  await go(-1);
  seen.back = acu.state.function;
});
