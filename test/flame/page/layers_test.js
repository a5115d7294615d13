// What is shown of an interpreted program, by the field and by its key.
look((seen) => {
  const figures = (name) => {
    const row = rowOf(name);
    return row ? [...row.querySelectorAll(".figure b, .figure:not(:has(b))")].map((c) => c.textContent) : null;
  };
  const shown = () => ({
    names: rows().map((r) => r.querySelector("button").textContent).sort(),
    depth: Math.max(...acu.boxes().map((b) => b.depth + b.folded)),
    walk: figures("walk"),
    call: figures("call"),
  });
  seen.isThere = isSeen(get("frames"));
  if (!seen.isThere) return;
  seen.language = shown();
  key("l");
  seen.both = shown();
  key("l");
  seen.native = shown();
  seen.hash = location.hash;
  key("l");
  seen.again = acu.state.frames;
});
