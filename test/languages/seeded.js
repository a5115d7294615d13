// Calls functions in many ways, by chance, and writes its own stack down before each trigger (common.py):
// seeded.js FOLDER SEED COUNT unlink|spin|sleep|ask [wait] [THREADS]
//
// The trigger is unlinkSync(), which calls unlink(2). Functions become hot while it runs, so that stacks are of interpreted, baseline, optimised and
// inlined functions alike. What has no file, as functions of the engine, is not written down.
// Names that are computed when a function is made, as `[Symbol.iterator]`, are only in that one object: such functions count as anonymous. It runs in Node.js 18.
'use strict';
const fs = require('fs');
const worker = require('worker_threads');
const NOTHING = '/nonexistent/acu-seeded';

const [folder, seed, count, trigger, ...rest] = worker.isMainThread ? process.argv.slice(2) : worker.workerData;
Error.stackTraceLimit = Infinity;
Error.prepareStackTrace = (error, sites) => sites;

let state = Number(seed), left = Number(count), out, sink = 0;
const cell = new Int32Array(new SharedArrayBuffer(4));

function random(below) {
  state = state * 1103515245 + 12345 & 0x7fffffff;
  return (state >> 8) % below;
}

function write(sites) {
  let text = '';
  for (const s of sites)
    if (s.getFileName() && !s.isAsync()) text += `${(s.getFunctionName() || '').replace(/^\[.*\]$/, '') || '<anonymous>'}|${s.getFileName()}|${s.getLineNumber()}\n`;
  fs.writeSync(out, text + '\n');
}

// ------------------------------------------------------------------------------------------- triggers

function remove() { try { fs.unlinkSync(NOTHING); } catch { } }

function pull() {
  if (left <= 0) return 0;
  left--;
  switch (trigger) {
    case 'spin': return spin();
    case 'sleep': return sleep();
    case 'ask': return ask();
    default: return unlink();
  }
}

function unlink() { write(new Error().stack); try { fs.unlinkSync(NOTHING); } catch { } return 1; }

// remove() goes on for a while behind unlink(2), to throw and catch; getppid(2) does not.
function spin() { write(new Error().stack); sink = process.ppid; for (let n = 0; n < 3000000; n++) sink = sink * 31 + n | 0; return 1; }

function sleep() { write(new Error().stack); remove(); Atomics.wait(cell, 0, 0, 1); return 1; }

function ask() { write(new Error().stack); fs.writeSync(1, 'ready\n'); fs.readSync(0, Buffer.alloc(1)); return 1; }

// -------------------------------------------------------------------------------------------- ways to call

function small(n) { return n & 1 ? tiny(n) : n; }
function tiny(n) { return go(n - 1); }

class Base {
  #secret(n) { return go(n); }
  constructor(n) { if (n !== undefined) this.value = go(n); }
  method(n) { return go(n); }
  hidden(n) { return this.#secret(n); }
  get property() { return go(Base.depth); }
  set property(n) { go(n); }
  static make(n) { return go(n); }
  static depth = 0;
  toString() { go(Base.depth); return ''; }
  valueOf() { return go(Base.depth); }
  *values() { yield go(Base.depth); }
}
class Derived extends Base {
  constructor(n) { super(n); }
  method(n) { return super.method(n) + 1; }
}

function* generator(n) { yield 1; yield go(n); }
async function promised(n) { return go(n); }
function recursive(levels, n) {
  if (levels > 0)
    return recursive(levels - 1, n) + 1;
  return go(n);
}
const arrow = (n) => go(n);
const held = { named: function (n) { return go(n); }, short(n) { return go(n); }, get got() { return go(Base.depth); } };
const bound = function inBound(n) { return go(n); }.bind(null);
const proxy = new Proxy({}, { get(target, name) { return go(Base.depth); } });
function withDefault(n, value = go(n)) { return value; }
function counted(n) {
  let captured = n;
  return function () { return go(captured); };
}
function tag(strings, n) { return go(n); }
function finallyCalls(n) {
  try { sink++; }
  finally {
    go(n);
  }
}
function thrower(n) { try { throw new Error('x'); } catch { return go(n); } }
function compare(a, b) { compare.left && (compare.left--, go(Base.depth)); return a - b; }
compare.left = 0;

const ways = [
  (n) => small(n | 1),
  (n) => new Base(n).value,
  (n) => new Derived(n).value,
  (n) => new Derived().method(n),
  (n) => new Base().hidden(n),
  (n) => { Base.depth = n; return new Base().property; },
  (n) => { new Base().property = n; },
  (n) => Base.make(n),
  (n) => { Base.depth = n; return `${new Base()}`; },
  (n) => { Base.depth = n; return +new Base(); },
  (n) => { Base.depth = n; return [...new Base().values()]; },
  (n) => [...generator(n)],
  (n) => { promised(n); },
  (n) => recursive(random(20), n),
  (n) => arrow(n),
  (n) => held.named(n) + held.short(n),
  (n) => { Base.depth = n; return held.got; },
  (n) => bound(n),
  (n) => { Base.depth = n; return proxy.anything; },
  (n) => withDefault(n),
  (n) => counted(n)(),
  (n) => tag`a${n}b`,
  (n) => finallyCalls(n),
  (n) => thrower(n),
  (n) => [1, 2].map((x) => x === 1 ? go(n) : 0),
  (n) => [1].forEach(function inForEach() { go(n); }),
  (n) => [3].reduce((a, x) => go(n) + x, 0),
  (n) => { compare.left = 1; Base.depth = n; [2, 1].sort(compare); },
  (n) => 'a'.replace(/a/, () => String(go(n))),
  (n) => JSON.parse('[1]', (k, v) => k === '0' ? go(n) : v),
  (n) => JSON.stringify({ toJSON() { return go(n); } }),
  (n) => Reflect.apply(arrow, null, [n]),
  (n) => arrow.call(null, n),
  (n) => arrow.apply(null, [n]),
  (n) => new Map([[1, 2]]).forEach((v) => go(n)),
  (n) => { new Promise((resolve) => resolve(go(n))); },
  (n) => Array.from({ length: 1 }, () => go(n)),
  (n) => (0,
    arrow)(
      n),
];

function go(n) {
  if (n <= 0 || left <= 0) return pull();
  return Number(ways[random(ways.length)](n - 1)) ? 1 : 0;
}

function main() {
  fs.writeFileSync('/proc/thread-self/comm', 'acu-seeded');
  out = fs.openSync(`${folder}/${fs.readlinkSync('/proc/thread-self').split('/')[2]}`, 'a');
  while (left > 0) go(1 + random(14));
  Atomics.wait(cell, 0, 0, 1500); // so that its functions can be read
}

if (worker.isMainThread) {
  const threads = Number(rest.find((word) => word !== 'wait') || 0);
  if (rest.includes('wait')) {
    fs.writeSync(1, 'ready\n');
    fs.readSync(0, Buffer.alloc(1));
  }
  for (let n = 0; n < threads; n++) new worker.Worker(__filename, { workerData: [folder, Number(seed) + n, count, trigger] });
  if (!threads) main();
} else {
  main();
}
