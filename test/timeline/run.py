#!/usr/bin/env python3
"""`acu timeline`: run.py ACU [--filter TEXT]

A simulated host writes a recording and prints what is true of it (make_recording.cc). The page of that recording, in headless Chromium, has to say the same: states at
given times, time by state, calls and samples of a range, who woke whom. A recording of 5 million events is opened, too: how fast it is painted and zoomed is printed, with
limits that only a page that is broken exceeds. Last line: `N passed, N failed, N skipped`.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite, untimed
from timeline_page import Page

TMP = tempfile.mkdtemp(prefix="acu-timeline-")
LARGE = 5_000_000


@functools.cache
def recording(acu, events, *words):
    """A file, and the truth of it."""
    make = os.path.join(os.path.dirname(os.path.abspath(acu)), "test", "make_recording")
    if not os.path.exists(make):
        raise Skipped("make_recording is not built")
    path = os.path.join(TMP, f"{events}.acu")
    with untimed():
        done = subprocess.run([make, path, str(events), *words], capture_output=True, text=True, check=True, timeout=300 * SLOWNESS)
    return path, json.loads(done.stdout)


def timeline(acu, *words, status=0):
    done = subprocess.run([acu, "timeline", *words], capture_output=True, text=True, timeout=300 * SLOWNESS)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


@functools.cache
def small_page(acu):
    path, truth = recording(acu, 60_000, "4", "24")
    timeline(acu, path)
    return path[:-4] + ".html", truth


def test_states_at_given_times(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        need(len(truth["looks"]) > 40, f"{len(truth['looks'])} times to look at")
        found = p.say("""(async () => { for (const t of acu.tracks) await t.load();
            return %s.map(([thread, time]) => { const t = acu.tracks.find((x) => x.kind === 1 && x.owner === thread); return t.classes[t.at(time)]; }); })()""" % json.dumps(truth["looks"]))
        wrong = [(look, state) for look, state in zip(truth["looks"], found) if look[2] != state]
        need(not wrong, f"(thread, time, state), shown: {wrong}")
        need(p.say("acu.length") == truth["length"], "length")


def test_sums_of_a_range_are_exact(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        times = dict(p.say(f"acu.stateTimes([{truth['from']}, {truth['until']}]).then((l) => l.map(([t, s]) => [t, [...s]]))"))
        for thread, sums in truth["states"].items():
            need(times.get(int(thread), [0] * 10)[1:] == sums[1:], f"thread {thread}: {times.get(int(thread))} is shown, {sums} is true")
        calls = {c["name"]: [c["count"], c["total"], c["max"]] for c in p.say(f"acu.callTimes([{truth['from']}, {truth['until']}])")}
        need(calls == truth["calls"], f"{calls}\n{truth['calls']}")
        samples = p.say(f"acu.sampleTree([{truth['from']}, {truth['until']}]).then(({{ tree }}) => tree.total[0])")
        need(samples == truth["samples_ns"], f"{samples} ns of samples are shown, {truth['samples_ns']} are true")


def test_what_is_drawn_adds_up(acu):
    """Columns of pixels are made of blocks of segments: together they have the time of the range."""
    page, truth = small_page(acu)
    with Page(page) as p:
        for span in (1, 0.1, 0.001, 0.00001):
            worst = p.say("""(() => { const worst = [], from = acu.length * 0.4, until = from + acu.length * %f * 0.6;
                for (const t of acu.tracks) if (t.isReady && t.kind < 3 && t.begins[0] === 0) worst.push(Math.abs(acu.columnSum(t, from, until, 700) / (until - from) - 1)); return Math.max(...worst); })()""" % span)
            need(worst < 1e-6, f"{worst} of the time is missing or too much in {span} of the timeline")


def test_a_click_shows_the_waker(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        # A segment that waits for a CPU, with a waker.
        x, y, thread, waker = p.say("""(async () => { for (const t of acu.tracks) await t.load();
            const row = acu.rows.all.find((r) => r.kind === "thread"), t = row.tracks[0];
            for (let i = 10; i < t.count; i++) if (t.classes[i] === 2 && t.refs[i] > 1) {
              acu.act.center(t.begins[i], t.begins[i + 1]); acu.act.reveal(row);
              await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);
              const box = document.getElementById("canvas").getBoundingClientRect();
              return [box.left + acu.xOf((t.begins[i] + t.begins[i + 1]) / 2), box.top + acu.placeOfRow(row).y + 4, row.thread, t.refs[i] - 1];
            } })()""")
        p.mouse("mousePressed", x, y, button="left", clickCount=1), p.mouse("mouseReleased", x, y, button="left", clickCount=1)
        p.wait("acu.view.chain.length > 0")
        chain = p.say("acu.view.chain")
        need(chain[0]["thread"] == thread and chain[0]["waker"] == waker, f"{chain} for thread {thread}, which {waker} woke")
        text = p.say("document.getElementById('event').textContent")
        need("waits for a CPU" in text and "woken by" in text, text)
        need("at=%d-" % thread in p.say("location.hash || new Promise((d) => setTimeout(() => d(location.hash), 600))"), "the address does not keep the event")


def test_selection(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        box = p.say("(({ left, top, width }) => ({ left, top, width }))(document.getElementById('canvas').getBoundingClientRect())")
        p.drag(box["left"] + 400, box["top"] + 10, box["left"] + 700, box["top"] + 10)  # on the ruler
        p.wait("acu.state.range && document.getElementById('flamePane').getAttribute('aria-busy') === null && acu.flame.tree")
        first, last = p.say("acu.state.range")
        need(abs(first - p.say("acu.timeAt(400)")) < 2 and abs(last - p.say("acu.timeAt(700)")) < 2, f"{first} {last}")
        need(p.say("acu.state.tab") == "flame" and p.say("acu.flame.tree.total[0]") > 0, "no flame graph")
        p.say("acu.act.tab('threads')")
        p.wait("document.querySelectorAll('#threadsRows tr').length > 5")
        need(p.say("document.querySelector('#threadsHead').textContent").startswith("Threadrunning"), p.say("document.querySelector('#threadsHead').textContent"))
        p.say("acu.act.tab('calls')")
        p.wait("document.querySelectorAll('#callsRows tr').length > 5")
        p.key("Escape"), p.key("Escape")
        need(p.say("acu.state.range") is None, "Escape leaves the selection")
        p.drag(box["left"] + 500, box["top"] + 200, box["left"] + 600, box["top"] + 200, modifiers=8)  # Shift
        p.wait("acu.state.range !== null")


def test_keys_and_the_address(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        for key in "www":
            p.key(key)
        p.key("d")
        first, last = p.say("[acu.state.from, acu.state.until]")
        need(abs((last - first) / truth["length"] - 0.7**3) < 1e-6, f"{first} {last}")
        p.wait("location.hash.includes('from=')")
        kept = p.say("location.hash")
        p.key("0")
        need(p.say("acu.state.until - acu.state.from") == truth["length"], "0 is not the whole timeline")
        p.key("ArrowDown")
        p.wait("acu.view.event !== null")
        need("CPU 0" in p.say("document.getElementById('spoken').textContent"), "what a key reaches is not read out")
        p.key("m")
        need(p.say("acu.view.row") == 1, "the first row is not chosen")
        p.key("?")
        need(p.say("document.getElementById('keys').open"), "no help")
    with Page(page, kept + "&tab=calls&at=3-40000000&select=1000-50000") as p:
        need([round(t) for t in p.say("[acu.state.from, acu.state.until]")] == [round(first), round(last)], "the address does not keep what is in sight")
        p.wait("acu.view.event && acu.view.event.row.thread === 3 && acu.state.tab === 'calls' && document.querySelectorAll('#callsRows tr').length > 0")
        need(p.say("acu.state.range") == [1000, 50000], "the address does not keep the selection")
    with Page(page, "#from=x&until=-7&select=9-3&at=999999-1&tab=none&search=[&closed=p0") as p:
        need(p.say("acu.state.until - acu.state.from") == truth["length"] and p.say("acu.state.range === null && acu.state.event === null && acu.state.tab === 'event'"), "a damaged address changes the page")


def test_wheel_and_drag(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        left, top = p.say("(({ left, top }) => [left, top])(document.getElementById('canvas').getBoundingClientRect())")
        before = p.say("acu.timeAt(600)")
        p.mouse("mouseWheel", left + 600, top + 200, deltaX=0, deltaY=-240)
        p.wait("acu.state.until - acu.state.from < acu.length * 0.9")
        need(abs(p.say("acu.timeAt(600)") - before) < 10, "what is under the pointer does not stay there")
        p.drag(left + 600, top + 200, left + 500, top + 200)
        need(abs(p.say("acu.timeAt(500)") - before) < 10, "what is dragged does not follow the pointer")
        need(p.say("acu.state.range") is None, "dragging selects")
        scrolled = p.say("document.getElementById('lanes').scrollTop")
        p.mouse("mouseWheel", left + 50, top + 200, deltaX=0, deltaY=100)
        p.wait(f"document.getElementById('lanes').scrollTop > {scrolled}")


def test_search(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        p.key("/")
        p.say("acu.act.search('^step_1$')")
        p.wait("document.getElementById('found').textContent !== ''")
        calls = p.say("""(() => { let n = 0; for (const t of acu.tracks) if (t.kind === 2) for (let i = 0; i < t.count; i++) n += acu.textOf(t.refs[i]) === "step_1"; return n; })()""")
        need(p.say("document.getElementById('found').textContent") == f"0 threads, {calls:,} calls" and calls > 10, p.say("document.getElementById('found').textContent") + f" {calls}")
        p.say("acu.findNext()")
        need("step_1" == p.say("acu.linesOf(acu.view.event)[0][0]"), "the next call has another name")
        p.say("acu.act.search('slow req')")
        p.wait("document.getElementById('found').textContent.endsWith(' lines')")
        need(p.say("document.getElementById('found').textContent") == f"0 threads, 0 calls, {truth['lines']} lines", p.say("document.getElementById('found').textContent"))
        rows = p.say("acu.rows.all.length")
        p.say("acu.act.search('postgres')")
        need(p.say("acu.rows.all.filter((r) => r.kind === 'thread').every((r) => document.title && r.thread >= 9 && r.thread <= 16)"), "rows of other processes remain")
        need(p.say("acu.rows.all.length") < rows, "no row is left out")


def test_scripts_do_not_fail_on_a_phone(acu):
    page, truth = small_page(acu)
    with Page(page, width=390, height=800) as p:
        need(p.say("document.documentElement.scrollWidth <= 390"), "the page is wider than a phone")
        need(p.say("acu.view.width") > 300, "no room for the timeline")


def test_no_request_leaves_the_page(acu):
    page, truth = small_page(acu)
    with Page(page) as p:
        p.say("acu.act.select([0, acu.length])")
        p.wait("acu.flame.tree")
        need(p.say("performance.getEntriesByType('resource').filter((r) => !r.name.startsWith('blob:')).map((r) => r.name)") == [], "something is fetched")


def test_five_million_events(acu):
    path, truth = recording(acu, LARGE)
    page = os.path.join(TMP, "large.html")
    need(f"{truth['events']} events, lost 0" in timeline(acu, path, "-o", page), "the summary does not count them")
    with Page(page) as p:
        first_paint = p.say("acu.timing.first_paint")
        zoom = p.say("acu.measure()")
        print(f"  5 million events: {os.path.getsize(page) / 1e6:.1f} MB, painted after {first_paint / 1000:.2f} s, zooming {zoom['frames_per_second']:.0f} frames/s, "
              f"a frame takes {zoom['median_ms']:.1f} ms (longest {zoom['longest_ms']:.1f})")
        need(first_paint < 20_000 * SLOWNESS and zoom["median_ms"] < 200 * SLOWNESS, "too slow")
    os.unlink(page)


def test_picture_and_part(acu):
    path, truth = recording(acu, 60_000, "4", "24")
    picture = os.path.join(TMP, "part.svg")
    out = timeline(acu, path, "--from", "20ms", "--until", "40ms", "-o", picture)
    need("20.00 ms from 20.00 ms on" in out, out)
    texts = [t.text for t in xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    need("CPU 3" in texts and any(t.startswith("worker") for t in texts) and "waits for a CPU" in texts, f"{texts}")


def test_mistakes(acu):
    path, truth = recording(acu, 60_000, "4", "24")
    need("unknown format" in timeline(acu, path, "-o", "x.txt", status=2), "a format that is not known")
    need("no recording" in timeline(acu, status=2), "no file")
    need("the recording ends after" in timeline(acu, path, "--from", "9m", status=2), "a time behind the end")
    samples = os.path.join(TMP, "samples.folded")
    with open(samples, "w") as file:
        file.write("main;work 7\n")
    need("is a recording of samples" in timeline(acu, samples, status=2), "samples have no times")
    need("not a recording of events" in timeline(acu, "/etc/hostname", status=1), "a file that is no recording")


if __name__ == "__main__":
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
