// What is in sight when a page opens; folding, colours, merging, contrast, names for those who do not see.
look(async (seen) => {
  const inSight = (element) => { const r = element.getBoundingClientRect(); return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight; };
  seen.scrolled = scrollY;
  seen.titleInSight = inSight(get("title"));
  seen.warnings = [...document.querySelectorAll("header .warning")].filter(inSight).map((p) => p.textContent);
  seen.notes = [...document.querySelectorAll("header .note")].filter(inSight).map((p) => p.textContent);
  const names = () => acu.boxes().map((b) => b.name);
  const folded = acu.boxes().find((b) => b.folded);
  seen.folded = folded && [folded.name, folded.folded, names().includes("chain2")];
  click(acu.place("chain5"));
  await wait(300);
  seen.unfolded = names().filter((n) => n.startsWith("chain"));
  key("f");
  seen.noneFolded = acu.boxes().filter((b) => b.folded).length;
  key("f");
  key("0");
  seen.foldedAgain = acu.boxes().filter((b) => b.folded).length;
  key("f"); // off
  const colorOf = (name) => acu.boxes().find((b) => b.name === name).color;
  const legend = () => get("legend").textContent;
  for (const way of ["kind", "module", "language"]) {
    pick("color", way);
    seen[way] = { cpp: colorOf("app::run()"), go: colorOf("main.serve"), rust: colorOf("core::iter::next"), kernel: colorOf("do_read"), legend: legend() };
  }
  const hueOf = (color) => Number(/hsl\((-?\d+)/.exec(color)[1]);
  seen.hues = ["kind", "module", "language"].map((way) => [hueOf(seen[way].cpp), hueOf(seen[way].go), hueOf(seen[way].rust)]);
  seen.contrast = contrasts();
  seen.unnamed = [...document.querySelectorAll("button, select, input, canvas")].filter((e) => isSeen(e) && !nameFor(e)).map((e) => e.outerHTML.slice(0, 80));
  pick("group", "thread");
  seen.apart = names().filter((n) => n.startsWith("pool")).length;
  key("m");
  seen.merged = names().filter((n) => n.startsWith("pool")).length;
});
// A name that a screen reader says.
const nameFor = (e) => e.getAttribute("aria-label") || (e.labels && e.labels[0] && e.labels[0].textContent.trim()) || (e.tagName === "BUTTON" && e.textContent.trim());
// The lowest contrast of text on frames, and of words on the page, in both themes.
function contrasts() {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (color) => {
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const lowest = [];
  for (const theme of ["light", "dark"]) {
    acu.act.theme(theme);
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim();
    for (const way of ["kind", "module", "language"]) {
      pick("color", way);
      lowest.push(...acu.boxes().filter((b) => b.color).map((b) => contrast(b.color, of("ink"))));
    }
    for (const [text, back] of [["ink", "paper"], ["dim", "paper"], ["dim", "panel"], ["warn", "paper"], ["warn", "warn-back"], ["paper", "accent"], ["more", "paper"], ["less", "paper"]]) lowest.push(contrast(of(text), of(back)));
    lowest.push(contrast("#fff", of("found")));
  }
  return Math.min(...lowest);
}
