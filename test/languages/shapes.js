// Programs with known stacks, for node.py: shapes.js NAME [ARGUMENT]. It runs in Node.js 18.
'use strict';
const fs = require('fs');
let sink = 1;

function descend(depth) {
  if (depth > 0) return descend(depth - 1);
  try { fs.unlinkSync('/nonexistent/acu-shapes'); } catch { }
  return 0;
}
function deep(depth) {
  descend(depth);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500); // so that its functions can be read
}

// Of a CPU, in microseconds.
function spent() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

// That many tenths of 104.3 ms: no multiple of a sampling period.
function busy(share) {
  for (const end = spent() + share * 10430; spent() < end;)
    for (let i = 0; i < 100000; i++) sink = sink * 31 + i | 0;
}
function seventy() { busy(7); }
function twenty() { busy(2); }
function ten() { busy(1); }
function shares(seconds) {
  for (const end = spent() + seconds * 1e6; spent() < end;) {
    seventy();
    twenty();
    ten();
  }
}

// Functions that the compiler puts into their caller. It may have to leave them where an index is not in the table.
const table = Array.from({ length: 1000 }, (_, i) => i & 7);
function inner(n) { return table[n] + table[n + 1] + table[n + 2]; }
function middle(n) { return inner(n) + inner(n + 3) + table[n + 6]; }
function outer() {
  let sum = 0;
  for (let i = 0; i < 900; i++) sum += middle(i);
  return sum;
}
function inlined(seconds) {
  for (const end = spent() + seconds * 1e6; spent() < end;)
    for (let i = 0; i < 1000; i++) sink += outer() & 1;
}

// Code that is thrown away, as its types change, and made anew; functions that are collected.
function pull(how) {
  try { fs.unlinkSync('/nonexistent/acu-shapes'); } catch { }
  return how;
}
function changing(count) {
  const kinds = [1, 1.5, 'a', {}, [], null, 2n];
  for (let n = 0; n < count; n++) {
    const made = new Function('pull', 'a', 'b', `function made${n % 97}(a, b) { return pull(a === b); } return made${n % 97}(a, b);`);
    for (let i = 0; i < 3; i++) made(pull, kinds[n % kinds.length], kinds[i]);
    if (n % 100 === 0 && globalThis.gc) gc();
  }
}

const shapes = { deep, shares, inlined, changing };
shapes[process.argv[2]](Number(process.argv[3] || 0));
