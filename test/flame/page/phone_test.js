// A page as wide as a phone: all of it fits, and each view is one tap away.
look(async (seen) => {
  const fits = () => document.documentElement.scrollWidth <= innerWidth;
  const tap = (id, spot) => { for (const kind of ["pointerdown", "pointerup"]) get(id).dispatchEvent(new PointerEvent(kind, { pointerType: "touch", clientX: spot.x, clientY: spot.y, bubbles: true, pointerId: 1 })); click(spot, id); };
  seen.width = innerWidth;
  seen.fits = { graph: fits() };
  seen.isRootOnTop = acu.place("all").y < acu.place("main").y;
  seen.row = acu.place("main").y - acu.place("all").y;
  tap("graph", acu.place("parse"));
  await wait(300);
  seen.zoomed = acu.graph.nameOf({ last: acu.graph.focus });
  seen.tip = get("tip").hidden;
  seen.chosen = get("chosenName").textContent;
  for (const view of ["table", "sandwich", "graph"]) {
    document.querySelector(`#views button[value=${view}]`).click();
    seen.fits[view] = fits();
    seen[view] = ["graphPane", "sandwich", "tablePane"].filter((id) => isSeen(get(id)));
  }
  seen.small = [...document.querySelectorAll("nav button, nav select, nav input[type=search]")].filter((e) => isSeen(e) && e.getBoundingClientRect().height < 36).map((e) => e.id || e.value);
});
