// Drags over the heat map of a page with slices of time.
look((seen) => {
  const point = (kind, slice) => get("heat").dispatchEvent(new PointerEvent(kind,
    { clientX: acu.slice(slice).x, clientY: acu.slice(slice).y, bubbles: true, button: 0, pointerId: 1 }));
  const weight = (name) => (acu.place(name) ? Math.round(acu.place(name).share * acu.total()) : 0);
  seen.lanes = acu.lanes();
  point("pointerdown", 4);
  point("pointermove", 5);
  point("pointerup", 5);
  seen.told = get("when").textContent;
  seen.total = acu.total();
  seen.spike = weight("spike");
  key("]");
  seen.moved = get("when").textContent;
  key("w");
  seen.whole = acu.total();
  seen.wholeSpike = weight("spike");
  pick("lanes", "thread");
  seen.threads = acu.lanes();
});
