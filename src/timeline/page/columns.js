// A track as columns of pixels: how much of each column's time belongs to each class. A block of segments that fits in a column is added at once.
const columns = { sums: new Float64Array(0), wide: [] };
const WIDE = 28; // pixels: room for a text

// columns.sums[column * track.width + class] = ns; columns.wide = segments that are wide enough for a text.
function fillColumns(track, from, until, count) {
  const { begins, classes, levels, width } = track, scale = count / (until - from), size = count * width, last = track.count;
  if (columns.sums.length < size) columns.sums = new Float64Array(size);
  const { sums } = columns, wide = columns.wide = [];
  sums.fill(0, 0, size);
  for (let i = Math.max(0, track.at(from)); i < last && begins[i] < until;) {
    const begin = Math.max(begins[i], from), column = Math.min(count - 1, Math.floor((begin - from) * scale)), end = from + (column + 1) / scale;
    let span = 1, level = -1;
    if (begins[i] >= from)
      while (level + 1 < levels.length && i % (span * FAN) === 0 && i + span * FAN <= last && begins[i + span * FAN] <= end) span *= FAN, level++;
    if (level >= 0) {
      const block = levels[level], at = i / span * width;
      for (let c = 0; c < width; c++) sums[column * width + c] += block[at + c];
    } else {
      spread(sums, width, classes[i], begin, Math.min(begins[i + 1], until), from, scale, count);
      if ((Math.min(begins[i + 1], until) - begin) * scale > WIDE) wide.push(i);
    }
    i += span;
  }
}
function spread(sums, width, of, begin, end, from, scale, count) {
  let column = Math.min(count - 1, Math.floor((begin - from) * scale));
  const last = Math.min(count - 1, Math.floor((end - from) * scale));
  if (column === last) return void (sums[column * width + of] += end - begin);
  sums[column * width + of] += from + (column + 1) / scale - begin;
  for (const whole = 1 / scale; ++column < last;) sums[column * width + of] = whole;
  sums[last * width + of] += end - (from + last / scale);
}

// Of a counter: the maximum in each column, -Infinity where it has no value yet.
function fillMaxima(track, from, until, count, out) {
  const { begins, values, levels } = track, scale = count / (until - from), last = track.count;
  out.fill(-Infinity, 0, count);
  for (let i = Math.max(0, track.at(from)); i < last && begins[i] < until;) {
    const begin = Math.max(begins[i], from), column = Math.min(count - 1, Math.floor((begin - from) * scale)), end = from + (column + 1) / scale;
    let span = 1, level = -1;
    if (begins[i] >= from)
      while (level + 1 < levels.length && i % (span * FAN) === 0 && i + span * FAN <= last && begins[i + span * FAN] <= end) span *= FAN, level++;
    const value = level < 0 ? values[i] : levels[level][i / span], to = Math.min(count - 1, Math.floor((begins[i + span] - from) * scale));
    for (let c = column; c <= to; c++) out[c] = Math.max(out[c], value);
    i += span;
  }
}
