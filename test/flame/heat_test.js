// Runs inside a page with slices of time: drags over the heat map, and leaves what it saw in the document as JSON.
(() => {
  const seen = { errors: window.pageErrors };
  const point = (kind, slice) => document.getElementById("heat").dispatchEvent(new PointerEvent(kind,
    { clientX: acu.times.place(slice).x, clientY: acu.times.place(slice).y, bubbles: true, button: 0, pointerId: 1 }));
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const told = () => document.getElementById("when").textContent;
  const weight = (name) => (acu.place(name) ? Math.round(acu.place(name).share * acu.total()) : 0);
  try {
    seen.lanes = acu.times.lanes();
    point("pointerdown", 4);
    point("pointermove", 5);
    point("pointerup", 5);
    seen.told = told();
    seen.total = acu.total();
    seen.spike = weight("spike");
    key("]");
    seen.moved = told();
    key("w");
    seen.whole = acu.total();
    seen.wholeSpike = weight("spike");
    const lanes = document.getElementById("lanes");
    lanes.value = "thread";
    lanes.dispatchEvent(new Event("change"));
    seen.threads = acu.times.lanes();
  } catch (error) {
    seen.errors.push(String(error && error.stack || error));
  }
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
