// What a page shows of the choices in its address.
look((seen) => {
  seen.focus = acu.graph.nameOf({ last: acu.graph.focus });
  seen.search = get("search").value;
  seen.found = get("found").textContent;
  seen.who = get("who").selectedOptions[0].textContent;
  seen.kind = get("kind").value;
  seen.told = get("when").textContent;
  seen.total = acu.total();
  seen.nodes = acu.nodes();
});
