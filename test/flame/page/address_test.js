// Makes choices, goes back and forward, and leaves the address that a reader would copy.
look(async (seen) => {
  const focus = () => acu.graph.nameOf({ last: acu.graph.focus });
  click(acu.place("parse"));
  seen.zoomed = [focus(), location.hash.includes("zoom=")];
  type("search", "read");
  pick("kind", "user");
  seen.zoomAfterKind = focus();
  const steps = [];
  for (let i = 0; i < 3; i++) {
    await go(-1);
    steps.push([acu.state.kind, acu.state.search, focus()]);
  }
  seen.back = steps;
  await go(1);
  seen.forward = focus();
  pick("who", [...get("who").options].find((o) => o.textContent.startsWith("worker")).value);
  click(acu.place("parse"));
  acu.act.range([2, 4]);
  type("search", "read");
  pick("kind", "user");
  click(acu.place("parse"));
  seen.total = acu.total();
  seen.hash = location.hash;
});
