// Zoom and search in a picture that is opened in a browser.
look(async (seen) => {
  const frame = (name) => [...document.querySelectorAll("#frames > g")].find((g) => g.querySelector("title").textContent.split("\n")[0] === name);
  const rect = (name) => frame(name).querySelector("rect"), width = (name) => Number(rect(name).getAttribute("width"));
  const whole = width("all");
  seen.before = width("parse") / whole;
  frame("parse").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  seen.zoomed = width("parse") / whole;
  seen.hidden = frame("other").style.display;
  seen.text = frame("parse").querySelector("text").textContent;
  seen.isResetSeen = get("reset").style.display !== "none";
  get("reset").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  seen.reset = width("parse") / whole;
  const fill = rect("read").getAttribute("fill");
  type("search", "^read$|parse");
  seen.found = get("found").textContent;
  seen.isMarked = rect("read").getAttribute("fill") !== fill;
  type("search", "");
  seen.cleared = [get("found").textContent, rect("read").getAttribute("fill") === fill];
});
