// Search: threads and processes of a name, calls of a name, and lines that scripts printed. Matching threads are the rows that remain; matching calls keep their color, others are pale.

function setPattern() {
  if (!state.search) return void (state.pattern = null);
  try {
    state.pattern = new RegExp(state.search, "i");
  } catch {
    state.pattern = new RegExp(state.search.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
}
const matchingCalls = () => new Set(data.calls.filter((text) => isMatch(data.texts[text], "")));

async function countFound() {
  const { search } = state, out = get("found");
  out.textContent = "";
  if (!state.pattern) return;
  const threads = [...threadTracks.keys()].filter(isNamed).length, names = matchingCalls();
  const lines = allMarks().filter(({ text, isLine }) => isLine && isMatch(text, "")).length;
  let calls = 0;
  if (names.size) {
    const list = tracks.filter((t) => t.kind === CALLS);
    await loadAll(list);
    if (search !== state.search) return;
    for (const track of list) for (let i = 0; i < track.count; i++) if (names.has(track.refs[i])) calls++;
  }
  if (search === state.search) out.textContent = [countText(threads, "threads"), countText(calls, "calls"), ...(lines ? [countText(lines, "lines")] : [])].join(", ");
}
// To the next call that matches after the one that is chosen, or after what is in sight on the left; after the last one, the first.
async function findNext() {
  const names = state.pattern ? matchingCalls() : new Set(), after = view.event && view.event.track.kind === CALLS ? view.event.track.begins[view.event.segment] : state.from;
  let best = null, first = null;
  if (!names.size) return;
  await loadAll(rows.all.flatMap((row) => row.tracks.filter((t) => t.kind === CALLS)));
  for (const row of rows.all)
    for (const track of row.tracks) {
      if (track.kind !== CALLS) continue;
      for (let i = 0; i < track.count; i++) {
        if (!names.has(track.refs[i])) continue;
        const begin = track.begins[i];
        if (!first || begin < first.begin) first = { row, track, segment: i, begin };
        if (begin > after && (!best || begin < best.begin)) best = { row, track, segment: i, begin };
        if (begin > after) break;
      }
    }
  const found = best || first;
  if (!found) return;
  const line = { top: STATE_LINE + found.track.depth * CALL_LINE, height: CALL_LINE };
  act.choose({ ...found, ...line });
  act.center(found.track.begins[found.segment], found.track.begins[found.segment + 1]);
}
