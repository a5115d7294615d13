#!/usr/bin/env python3
"""The page of a large recording until it is painted: page.py --acu PATH [--runs 5] [--samples 100000] [--out FILE]

Recordings at 999 Hz, in slices of 100 ms, are written as files: one with stacks that repeat as those of a server do, one in which no two
stacks are the same. Chromium opens the page from the disk. Measured with its own clock, from the start of the navigation: parsed and laid
out (`ready`), and painted (the second frame of the animation after that); `CPU`: what the page's thread took for it, which does not depend on what
else runs. Then how long a zoom, a search and a change of the range take until the canvas is drawn. Medians of --runs, in milliseconds.
"""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "test", "flame"))
from browser import Browser
from recording_file import Recording

HZ, SLICE = 999, 100_000_000
# Leaves its figures in the element that browser.py waits for.
PAINTED = """<script>{
  const ready = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const out = document.body.appendChild(document.createElement("pre"));
    out.id = "seen";
    out.textContent = JSON.stringify({ ready, painted: performance.now() });
  }));
}</script></body>"""
ACTIONS = """(() => {
  const took = (work) => { const begin = performance.now(); work(); return performance.now() - begin; };
  const box = acu.graph.layout.rows[4].reduce((a, b) => (b.size > a.size ? b : a));
  return { zoom: took(() => acu.act.zoom(box)), search: took(() => acu.act.search("f1")), range: took(() => acu.act.range([10, 30])) };
})()"""


def stacks(samples, is_same):
    """A call tree of 24 levels; stacks repeat, or each ends in a function of its own."""
    chance = random.Random(1)
    for i in range(samples):
        path, at = [], 1
        for level in range(24):
            at = (at * 31 + (chance.randrange(3) if level in (4, 8, 11, 14, 17, 20, 22) else 0)) % 5003
            path.append((f"f{at}_of_level_{level}", f"/usr/lib/lib{at % 7}.so", "user" if level < 20 else "kernel"))
        yield path if is_same else [*path, (f"leaf_{i}", "/usr/bin/server", "user")]


def write_page(acu, folder, samples, is_same):
    out = Recording(period_ns=10**9 // HZ, duration_ns=samples * 10**9 // HZ // 8, slice_ns=SLICE)
    for i, stack in enumerate(stacks(samples, is_same)):
        out.add((100, 100 + i % 8, "server", f"worker{i % 8}"), stack, 1, i // 8 * 10**9 // HZ // SLICE)
    page = os.path.join(folder, "page.html")
    subprocess.run([acu, "report", out.write(os.path.join(folder, "page.acu")), "-o", page], check=True)
    with open(page) as file:
        text = file.read()
    with open(page, "w") as file:
        file.write(text.replace("</body>", PAINTED))
    return page, len(out.samples)


def measure(page, folder, runs):
    figures = []
    for run in range(runs):
        with Browser(os.path.join(folder, f"browser{run}")) as browser:
            browser.ask("Performance.enable", timeDomain="threadTicks")
            browser.open("file://" + page, 1400, 900)
            seen = browser.seen()
            cpu = {m["name"]: m["value"] for m in browser.ask("Performance.getMetrics")["metrics"]}["TaskDuration"]
            figures.append({**seen, "cpu": 1000 * cpu, **browser.value(ACTIONS)})
    return {name: statistics.median(f[name] for f in figures) for name in figures[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--out")
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="acu-page-")
    lines = ["| recording | distinct stacks | page | ready | painted | CPU | zoom | search | range |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    try:
        for name, is_same in (("stacks repeat", True), ("no two stacks are the same", False)):
            page, different = write_page(os.path.abspath(given.acu), folder, given.samples, is_same)
            f = measure(page, folder, given.runs)
            lines.append(f"| {given.samples:,} samples, {name} | {different:,} | {os.path.getsize(page) / 1e6:.1f} MB | "
                         + " | ".join(f"{f[n]:.0f} ms" for n in ("ready", "painted", "cpu", "zoom", "search", "range")) + " |")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(lines))
    if given.out:
        write_section(given.out, "The page of a large recording", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
