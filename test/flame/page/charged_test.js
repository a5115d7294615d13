// What the table has as `self`, of all code and of the kernel's, and what the box of a function says of it.
look((seen) => {
  const own = (column = "self") => Object.fromEntries(rows().map((r, i) => [r.querySelector("button").textContent, acu.table.shown[i][column]]));
  const pointed = (name) => {
    const spot = acu.place(name);
    get("graph").dispatchEvent(new PointerEvent("pointermove", { clientX: spot.x, clientY: spot.y, bubbles: true }));
    return [...get("tip").children].map((line) => line.textContent).filter((text) => text.startsWith("self "));
  };
  seen.self = own();
  seen.change = own("change");
  seen.chosen = {};
  for (const name of ["serve", "[waiting]"]) {
    seen[name] = pointed(name);
    rowOf(name).click();
    seen.chosen[name] = get("chosen").textContent;
  }
  key("r");
  seen.reversed = [own(), pointed("[waiting]")];
  key("r");
  pick("kind", "kernel");
  seen.kernel = own();
});
