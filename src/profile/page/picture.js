// Zoom and search in a flame graph that is a picture (svg.cc). Without this script the picture shows the same and stands
// still; what the script needs is in it: frames are <g> with <title> (name, file, share on lines of their own), <rect>, and
// <text> where there was room. Click: zoom; click on the lowest frame, Esc or "Reset zoom": the whole; / or the field: search.
(() => {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml", svg = document.documentElement;
  const LETTER = 6.6, LEFT = 10, WIDTH = Number(svg.getAttribute("width")) - 2 * LEFT, ROW = 17;
  const make = (tag, of, attributes = {}) => {
    const made = of.appendChild(document.createElementNS(NS, tag));
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    return made;
  };
  const number = (element, name) => Number(element.getAttribute(name));
  const frames = [...document.querySelectorAll("#frames > g")].map((g) => {
    const rect = g.querySelector("rect"), [name, ...more] = g.querySelector("title").textContent.split("\n");
    return { g, rect, name, file: more.length > 1 ? more[0] : "", x: number(rect, "x"), width: number(rect, "data-width"), y: number(rect, "y"), fill: rect.getAttribute("fill") };
  });
  const root = frames[0], byRow = (a) => Math.round((root.y - a.y) / ROW);
  let focus = root;

  function place(frame) {
    const scale = WIDTH / focus.width, isCaller = byRow(frame) < byRow(focus) && frame.x <= focus.x + 1e-6 && frame.x + frame.width >= focus.x + focus.width - 1e-6;
    const x = isCaller ? LEFT : LEFT + (frame.x - focus.x) * scale, width = isCaller ? WIDTH : frame.width * scale;
    const isSeen = isCaller || (frame.x >= focus.x - 1e-6 && frame.x + frame.width <= focus.x + focus.width + 1e-6 && byRow(frame) >= byRow(focus));
    frame.g.style.display = isSeen ? "" : "none";
    if (!isSeen) return;
    frame.rect.setAttribute("x", x);
    frame.rect.setAttribute("width", Math.max(width - 0.4, 0.1));
    frame.rect.style.opacity = isCaller ? 0.5 : 1;
    write(frame, x, width);
  }
  function write(frame, x, width) {
    const room = width > 22 ? Math.floor((width - 6) / LETTER) : 0;
    let text = frame.g.querySelector("text");
    if (room > 2 && !text) text = make("text", frame.g, { y: frame.y + 12 });
    if (!text) return;
    text.setAttribute("x", x + 3);
    const letters = [...frame.name];
    text.textContent = room <= 2 ? "" : letters.length <= room ? frame.name : letters.slice(0, room - 2).join("") + "..";
  }
  function zoom(frame) {
    focus = frame;
    frames.forEach(place);
    reset.style.display = focus === root ? "none" : "";
  }

  // What matches in colour, and its sum, each stack counted once.
  function search(text) {
    let pattern = null, sum = 0;
    try {
      pattern = text ? new RegExp(text, "i") : null;
    } catch {
      pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
    let covered = -1; // up to this x, by a frame that matches
    for (const frame of frames) {
      const hit = pattern !== null && (pattern.test(frame.name) || pattern.test(frame.file));
      frame.rect.setAttribute("fill", hit ? "#c58ad2" : frame.fill);
      if (hit && frame.x >= covered - 1e-6) sum += frame.width, covered = frame.x + frame.width;
    }
    found.textContent = pattern ? "matched " + (100 * sum / root.width).toFixed(1) + "%" : "";
  }

  const field = make("foreignObject", svg, { x: WIDTH + LEFT - 240, y: 6, width: 240, height: 30 }).appendChild(document.createElementNS(HTML, "input"));
  field.setAttribute("type", "search");
  field.setAttribute("id", "search");
  field.setAttribute("placeholder", "Search (regular expression)");
  field.setAttribute("aria-label", "Search");
  field.setAttribute("style", "width:100%;box-sizing:border-box;height:26px;font:13px system-ui,sans-serif;border:1px solid #aab;border-radius:5px;padding:0 8px");
  const found = make("text", svg, { x: WIDTH + LEFT, y: 50, "text-anchor": "end", id: "found" });
  const reset = make("text", svg, { x: WIDTH + LEFT - 250, y: 24, "text-anchor": "end", id: "reset", fill: "#1661c4", style: "cursor:pointer;display:none", tabindex: 0, role: "button" });
  reset.textContent = "Reset zoom";
  field.addEventListener("input", () => search(field.value));
  reset.addEventListener("click", () => zoom(root));
  reset.addEventListener("keydown", (event) => { if (event.key === "Enter") zoom(root); });
  for (const frame of frames) frame.g.addEventListener("click", () => zoom(frame)), frame.g.style.cursor = "pointer";
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) field.value = "", search("");
    else if (event.key === "Escape") zoom(root);
    else if (event.key === "/" && event.target !== field) field.focus();
    else return;
    event.preventDefault();
  });
})();
