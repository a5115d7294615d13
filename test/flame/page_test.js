// Runs inside a page that acu wrote: looks around as a reader would, and leaves what it saw in the document as JSON.
(() => {
  const seen = { errors: window.pageErrors };
  const click = (spot) => document.getElementById("graph").dispatchEvent(
    new MouseEvent("click", { clientX: spot.x, clientY: spot.y, bubbles: true }));
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  (async () => {
    seen.title = document.title;
    seen.nodes = acu.nodes();
    const before = acu.place("hot");
    seen.share = before.share;
    click(before);
    await wait(400);
    const after = acu.place("hot");
    seen.focus = acu.state.focus.data.name;
    seen.wider = after.width / before.width;
    seen.full = after.width / document.getElementById("graph").clientWidth;
    const field = document.getElementById("search");
    field.value = "^hot$";
    field.dispatchEvent(new Event("input"));
    seen.found = document.getElementById("found").textContent;
    seen.sum = acu.state.sum;
    key("Escape");
    seen.cleared = field.value === "" && document.getElementById("found").textContent === "";
    key("0");
    await wait(400);
    seen.reset = acu.place("hot").width / before.width;
    key("r");
    seen.reversed = acu.state.reverse && acu.place("stir") !== null;
    key("r");
    key("i");
    seen.icicle = acu.state.icicle && acu.place("hot").y > acu.place("all").y;
    key("i");
    key("d");
    seen.theme = document.documentElement.dataset.theme;
    key("d");
    key("ArrowUp");
    key("ArrowUp");
    seen.walked = acu.state.selected !== null && !document.getElementById("tip").hidden;
    seen.network = performance.getEntriesByType("resource").length;
    const out = document.createElement("pre");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  })().catch((error) => {
    seen.errors.push(String(error && error.stack || error));
    const out = document.createElement("pre");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  });
})();
