// Tracks: unpacked when they are asked for, with sums over blocks of segments. Segment i lasts from begins[i] to begins[i + 1]; the last of begins is the
// timeline's end. Level l has a block for each 16^(l + 1) segments: the time of each class in it (of a counter: its maximum). So a range of any length is
// drawn, and summed, in few steps.
const CPU = 0, THREAD = 1, CALLS = 2, COUNTER = 3;
const FAN = 16;
const packed = get("packed").textContent;

const bytesOf = Uint8Array.fromBase64 ? (digits) => Uint8Array.fromBase64(digits) : (digits) => {
  const text = atob(digits), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};
// Chunks that are unpacked, until all that is in them was read.
const chunks = new Map(), unread = new Map();
const isIn = (chunk) => unread.set(chunk, (unread.get(chunk) || 0) + 1);
async function unpack(chunk) {
  const [first, size] = data.chunks.slice(2 * chunk, 2 * chunk + 2), digits = packed.substr(first, Math.ceil(size / 3) * 4);
  const stream = new Blob([bytesOf(digits)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
// Where reading begins: { bytes, at }.
async function open(chunk, at) {
  if (!chunks.has(chunk)) chunks.set(chunk, unpack(chunk));
  const bytes = await chunks.get(chunk);
  unread.set(chunk, unread.get(chunk) - 1);
  if (!unread.get(chunk)) chunks.delete(chunk);
  return { bytes, at };
}
// `count` numbers of seven bits a byte, the lowest first. `isSum`: each is the difference to the one before. Up to 2^53 they are exact.
function readNumbers(from, out, count, isSum = false) {
  const { bytes } = from;
  let { at } = from, sum = 0;
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++], n = byte & 127, scale = 128;
    for (; byte > 127; scale *= 128) byte = bytes[at++], n += (byte & 127) * scale;
    out[i] = isSum ? (sum += n) : n;
  }
  from.at = at;
  return out;
}
function readSigned(from, out, count) {
  const { bytes } = from;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    let shift = 0n, n = 0n, byte;
    do byte = bytes[from.at++], n |= BigInt(byte & 127) << shift, shift += 7n; while (byte > 127);
    out[i] = sum += Number(n & 1n ? -(n >> 1n) - 1n : n >> 1n);
  }
  return out;
}

class Track {
  constructor(t) {
    [this.kind, this.owner, this.depth, this.chunk, this.offset, this.count] = data.tracks.slice(6 * t, 6 * t + 6);
    isIn(this.chunk);
    this.isReady = false;
    this.loading = null;
  }
  load() { return (this.loading = this.loading || this.read()); }
  async read() {
    const from = await open(this.chunk, this.offset), { count } = this;
    this.begins = readNumbers(from, new Float64Array(count + 1), count, true);
    this.begins[count] = length;
    if (this.kind === COUNTER) {
      this.values = readSigned(from, new Float64Array(count), count);
      this.most = this.values.reduce((most, v) => Math.max(most, v), 0);
    } else {
      this.classes = from.bytes.slice(from.at, from.at += count);
      this.refs = readNumbers(from, new Uint32Array(count), count);
      if (this.kind !== THREAD) this.classify();
    }
    this.sumUp();
    this.isReady = true;
  }
  // Colors instead of what the file has: inks.js.
  classify() {
    this.marked = state.search;
    const of = this.kind === CPU ? classOfCpu : classOfCall;
    this.given = this.given || this.classes.slice();
    for (let i = 0; i < this.count; i++) this.classes[i] = of(this.given[i], this.refs[i]);
  }
  sumUp() {
    const { begins, classes, values, count } = this, width = this.width = values ? 1 : classCounts[this.kind];
    this.levels = [];
    for (let below = null, blocks = Math.floor(count / FAN); blocks > 0; blocks = Math.floor(blocks / FAN)) {
      const level = new Float64Array(blocks * width).fill(values ? -Infinity : 0);
      for (let b = 0; b < blocks; b++)
        for (let i = b * FAN; i < (b + 1) * FAN; i++) {
          if (values) level[b] = Math.max(level[b], below ? below[i] : values[i]);
          else if (below) for (let c = 0; c < width; c++) level[b * width + c] += below[i * width + c];
          else level[b * width + classes[i]] += begins[i + 1] - begins[i];
        }
      this.levels.push(below = level);
    }
  }
  // The segment at a time; -1: before the first.
  at(time) {
    let low = -1, high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.begins[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  // Time of each class from one time to another.
  sums(from, until) {
    const { begins, classes, count, levels, width } = this, out = new Float64Array(width);
    for (let i = Math.max(0, this.at(from)); i < count && begins[i] < until;) {
      let span = 1, level = -1;
      if (begins[i] >= from)
        while (level + 1 < levels.length && i % (span * FAN) === 0 && i + span * FAN <= count && begins[i + span * FAN] <= until) span *= FAN, level++;
      if (level < 0) out[classes[i]] += Math.max(0, Math.min(begins[i + 1], until) - Math.max(begins[i], from));
      else for (let c = 0; c < width; c++) out[c] += levels[level][i / span * width + c];
      i += span;
    }
    return out;
  }
}
const tracks = Array.from({ length: data.tracks.length / 6 }, (_, t) => new Track(t));
const threadTracks = new Map(tracks.filter((t) => t.kind === THREAD).map((t) => [t.owner, t]));

// Many tracks, some at a time: the browser unpacks them beside each other, and the page stays alive in between.
async function loadAll(list) {
  const waiting = list.filter((t) => !t.isReady);
  for (let i = 0; i < waiting.length; i += 64) await Promise.all(waiting.slice(i, i + 64).map((t) => t.load()));
}

isIn(data.packed_samples[0]);

// Samples by time; what a flame graph of a range needs.
const samples = {
  load() { return (this.loading = this.loading || this.read()); },
  async read() {
    const [chunk, at, count] = data.packed_samples, from = await open(chunk, at);
    this.times = readNumbers(from, new Float64Array(count), count, true);
    for (const name of ["threads", "nodes", "weights"]) this[name] = readNumbers(from, new Float64Array(count), count);
    this.count = count;
  },
};
