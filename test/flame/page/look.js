// Begins every script that looks into a page: `look` runs it and leaves what it saw in the document as JSON.
const get = (id) => document.getElementById(id);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const click = (spot, id = "graph") => get(id).dispatchEvent(new MouseEvent("click", { clientX: spot.x, clientY: spot.y, bubbles: true }));
const type = (id, text) => { get(id).value = text; get(id).dispatchEvent(new Event("input", { bubbles: true })); };
const pick = (id, value) => { get(id).value = value; get(id).dispatchEvent(new Event("change", { bubbles: true })); };
// Through the browser's history, until the page has followed.
const go = (step) => new Promise((done) => { addEventListener("popstate", () => setTimeout(done), { once: true }); history.go(step); });
const rows = () => [...document.querySelectorAll("#rows tr")];
const rowOf = (name) => rows().find((r) => r.querySelector("button").textContent === name);
const isSeen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";

function look(script) {
  const seen = { errors: window.pageErrors };
  const leave = () => {
    const out = document.documentElement.appendChild(document.createElementNS("http://www.w3.org/1999/xhtml", "pre"));
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
  };
  Promise.resolve().then(() => script(seen)).catch((error) => seen.errors.push(String(error && error.stack || error))).then(leave);
}
