#!/usr/bin/env python3
"""The page of a recording of events until it is painted, and how it zooms: timeline.py --acu PATH [--runs 5] [--events 5000000] [--out FILE]

A simulated host writes the recording (test/timeline/make_recording.cc); Chromium opens the page from the disk. Measured by the page itself: from the start of the
navigation to the first frame in which all that is in sight is drawn, and frames while it zooms from the whole timeline to 10 µs and back. Medians of --runs.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), "test"), os.path.join(os.path.dirname(HERE), "test", "timeline")]
from timeline_page import Page


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--out")
    given = parser.parse_args()
    acu, folder = os.path.abspath(given.acu), tempfile.mkdtemp(prefix="acu-timeline-")
    try:
        recording, page = os.path.join(folder, "large.acu"), os.path.join(folder, "large.html")
        subprocess.run([os.path.join(os.path.dirname(acu), "test", "make_recording"), recording, str(given.events)], check=True, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        subprocess.run([acu, "timeline", "-q", recording, "-o", page], check=True)
        took = time.monotonic() - begin
        figures = []
        for _ in range(given.runs):
            with Page(page) as p:
                figures.append({"paint": p.say("acu.timing.first_paint"), **p.say("acu.measure()")})
        f = {name: statistics.median(x[name] for x in figures) for name in figures[0]}
        text = ("| events | recording | page | written in | painted after | zooming | a frame takes |\n|--:|--:|--:|--:|--:|--:|--:|\n"
                f"| {given.events:,} | {os.path.getsize(recording) / 1e6:.1f} MB | {os.path.getsize(page) / 1e6:.1f} MB | {took:.1f} s | {f['paint'] / 1000:.2f} s | "
                f"{f['frames_per_second']:.0f} frames/s | {f['median_ms']:.1f} ms |\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(text)
    if given.out:
        write_section(given.out, "The page of a large recording of events", text)


if __name__ == "__main__":
    main()
