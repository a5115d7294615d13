#!/usr/bin/env python3
"""Recordings in formats of other tools: run.py ACU [--filter TEXT]

`acu report FILE -o …` of a recording that a small program writes, with all kinds of events and more of them than are sorted at once. Other programs read the results: each event is
there once, with its time, its thread and its begin. Last line: `N passed, N failed, N skipped`.
"""
import collections
import functools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from readers import Perfetto, needs, needs_protobuf, read_chrome, read_ctf, read_otlp, use_python_with_protobuf
from tally import SLOWNESS, Skipped, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-exports-")
ROUNDS = 40000  # of about 10 events each: two windows of 2^18
BEGIN = 5_000_000_000


@functools.cache
def sample(acu, rounds=ROUNDS):
    """(path, number of events by kind)"""
    path = os.path.join(TMP, f"sample{rounds}.acu")
    done = subprocess.run([os.path.join(os.path.dirname(acu), "test", "sample_recording"), path, str(rounds)], stdout=subprocess.PIPE, text=True, check=True)
    return path, json.loads(done.stdout)


@functools.cache
def exported(acu, name, *words, rounds=ROUNDS):
    output = os.path.join(TMP, name)
    done = subprocess.run([acu, "report", sample(acu, rounds)[0], "-o", output, *words], capture_output=True, text=True, timeout=300 * SLOWNESS)
    need(done.returncode == 0 and not done.stdout, f"acu report -o {name}: {done.stdout}{done.stderr}")
    return output


@functools.cache
def ctf(acu):
    needs("babeltrace2", "babeltrace2")
    return read_ctf(exported(acu, "x.ctf"))


@functools.cache
def perfetto(acu):
    needs_protobuf()
    return Perfetto(exported(acu, "x.pftrace"))


@functools.cache
def chrome(acu):
    return read_chrome(exported(acu, "x.json"))


def check_counts(acu, events):
    found = collections.Counter(e.kind for e in events)
    wanted = {k: n for k, n in sample(acu)[1].items() if n}
    need(found == wanted, f"{dict(found)} instead of {wanted}")


def test_ctf_has_each_event(acu):
    events, discarded, by_cpu = ctf(acu)
    check_counts(acu, events)
    need(discarded == [7], f"lost: {discarded}")
    need(sorted(by_cpu) == [0, 1, 2, 3], f"CPUs: {sorted(by_cpu)}")
    need(all(times == sorted(times) for times in by_cpu.values()), "a stream is not in the order of times")


def test_ctf_has_the_wall_clock(acu):
    needs("babeltrace2", "babeltrace2")
    done = subprocess.run(["babeltrace2", "--clock-seconds", exported(acu, "small.ctf", rounds=20)], capture_output=True, text=True)
    need(done.stdout.startswith("[1700000000.123456789]"), done.stdout[:100] + done.stderr)


def test_ctf_has_stacks_and_texts(acu):
    needs("babeltrace2", "babeltrace2")
    done = subprocess.run(["babeltrace2", exported(acu, "small.ctf", rounds=20)], capture_output=True, text=True)
    for wanted in ('stack_depth = 4, stack = [ [0] = "do_read", [1] = "read_page", [2] = "serve", [3] = "main" ]', "stack_depth = 0, stack = [ ]",
                   'name = "read", result = -11', 'owner_tid = 102, owner_name = "worker 2"', 'text = "50% of \\"C:\\\\tmp\\"\\nü"', "lock = 0x7FFF00001000"):
        need(wanted in done.stdout, f"no {wanted}:\n{done.stdout[:3000]}")


def test_ctf_folder_must_be_empty(acu):
    folder = exported(acu, "small.ctf", rounds=20)
    done = subprocess.run([acu, "report", sample(acu, 20)[0], "-o", folder], capture_output=True, text=True)
    need(done.returncode == 1 and "the folder is not empty" in done.stderr, done.stderr)


def test_perfetto_has_each_event(acu):
    trace = perfetto(acu)
    check_counts(acu, trace.events)
    need(set(trace.clocks) == {1, 3, 6} and trace.clocks[1] == 1_700_000_000_123_456_789 and trace.clocks[3] == trace.clocks[6] == BEGIN, f"clocks: {trace.clocks}")


def test_perfetto_is_as_ctf(acu):
    """The same times, threads and begins, by two readers; a slice that would end another one shows here."""
    strip = lambda events: sorted((e.kind, e.time, e.begin) if e.kind == "counter" else e for e in events)
    need(strip(perfetto(acu).events) == strip(ctf(acu)[0]), "different events")


def test_perfetto_has_cpus(acu):
    switches = perfetto(acu).switches
    need(sorted(switches) == [0, 1, 2, 3], f"CPUs: {sorted(switches)}")
    for cpu, list_ in switches.items():
        need(list_ == sorted(list_), f"CPU {cpu} is not in the order of times")
        need(all(a[2] == b[1] for a, b in zip(list_, list_[1:])), f"CPU {cpu}: who leaves is not who came")


def test_perfetto_has_states_of_threads(acu):
    """As the kernel's tracepoint reports them: one bit each."""
    each = ROUNDS // 4
    need(perfetto(acu).states == {0: ROUNDS, 1: each, 2: each, 0x80: each, 0x10: each}, str(perfetto(acu).states))


def test_perfetto_has_stacks(acu):
    stacks = perfetto(acu).stacks
    each = ROUNDS // 5
    need(stacks == {"": each, "main": each, "main;serve": each, "main;serve;read_page": each, "main;serve;read_page;do_read": each}, str(stacks))


def test_perfetto_has_tracks(acu):
    trace = perfetto(acu)
    names = collections.Counter(t.name or t.thread.thread_name or t.process.process_name for t in trace.tracks.values())
    need(names["server"] == 1 and names["worker 1"] == 1 and names["marks"] == 1 and names['queue "in"'] == 1, str(names))
    need(names["lock"] == 8 and names["block_io"] == 16, f"two requests of a thread overlap, its waits for locks do not: {names}")
    need(len(trace.counters) == ROUNDS and trace.counters[3] == ('queue "in"', BEGIN + 36_001, -3), str(trace.counters[3]))


def test_chrome_has_each_event(acu):
    check_counts(acu, chrome(acu)[0] + [e for e in ctf(acu)[0] if e.kind == "sched_switch"])


def test_chrome_is_as_ctf(acu):
    strip = lambda events: sorted((e.kind, e.time, e.begin) if e.kind == "counter" else e for e in events if e.kind != "sched_switch")
    need(strip(chrome(acu)[0]) == strip(ctf(acu)[0]), "different events")


def test_chrome_has_cpus_and_stacks(acu):
    _, running, samples, frames = chrome(acu)
    need(len(running) == ROUNDS and all(dur == 7000 for _, _, dur, _ in running), f"{len(running)} slices")
    need(frames["4"] == {"category": "kernel", "name": "do_read", "parent": 3} and frames["1"]["category"] == "/usr/bin/server", str(frames))
    need(collections.Counter(s.get("sf", 0) for s in samples) == {i: ROUNDS // 5 for i in range(5)}, "stacks of samples")


def test_a_range_of_time(acu):
    whole = [e for e in chrome(acu)[0] if BEGIN + 100_000_000 <= e.time <= BEGIN + 200_000_000]
    part = read_chrome(exported(acu, "part.json", "--from", "0.1", "--until", "0.2"))[0]
    need(whole and sorted(e[:2] for e in whole) == sorted(e[:2] for e in part), f"{len(part)} events instead of {len(whole)}")


def test_perf_data_is_read(acu):
    """As many samples as perf itself prints."""
    needs("perf", "linux-perf")
    data = os.path.join(TMP, "perf data")
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "200", "-o", data, "--", "timeout", "1", "sh", "-c", "while :; do :; done"], capture_output=True)
    printed = subprocess.run(["perf", "script", "-F", "pid", "-i", data], capture_output=True, text=True).stdout.split()
    if not printed:
        raise Skipped("perf record takes no samples here")
    found = json.loads(subprocess.run([acu, "report", data, "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    need(found["samples"] == len(printed), f"{found['samples']} samples instead of {len(printed)}")


def test_otlp_has_the_sums_of_the_flame_graph(acu):
    needs_protobuf()
    text, folded, otlp = (os.path.join(TMP, "stacks." + ending) for ending in ("perf", "folded", "otlp"))
    sample = "{0} {1}/{1} [000] {2}.000000: 10000000 cpu-clock:\n{3}\n"
    read = "\tffffffff81a1b2c3 vfs_read+0x83 ([kernel.kallsyms])\n"
    work, main = "\t7f2a1c0e12ab helper (inlined)\n\t7f2a1c0e12ab work+0x1b (/usr/bin/server)\n", "\t55d0a4b0c2d1 main+0x1 (/usr/bin/server)\n"
    stacks = [("server", 17, read + work + main)] * 3 + [("server", 17, work + main)] * 2 + [("other", 18, main)]
    with open(text, "w") as out:
        out.writelines(sample.format(name, pid, at, stack) for at, (name, pid, stack) in enumerate(stacks, 1))
    for output in (folded, otlp):
        done = subprocess.run([acu, "report", text, "-o", output], capture_output=True, text=True)
        need(done.returncode == 0, done.stderr)
    profiles, types = read_otlp(otlp)
    sums = {f"{about['service.name']};{stack}": n for about, _, _, of_process in profiles for stack, n in of_process.items()}
    lines = (line.rpartition(" ") for line in open(folded))
    wanted = {";".join(f.removesuffix("_[k]").removesuffix("_[i]") for f in stack.split(";")): int(n) for stack, _, n in lines}
    need(sums == wanted and sum(sums.values()) == len(stacks), f"{sums}\n{wanted}")
    need([about["process.pid"] for about, *_ in profiles] == [17, 18] and {kind[1:3] for kind in profiles} == {("cpu", "count")}, str(profiles))
    need(types == {"vfs_read": "kernel", "helper": "native", "main": "native"}, str(types))


def test_stacks_are_no_events(acu):
    folded = os.path.join(TMP, "x.folded")
    open(folded, "w").write("main;f 7\n")
    done = subprocess.run([acu, "report", folded, "-o", os.path.join(TMP, "stacks.pftrace")], capture_output=True, text=True)
    need(done.returncode == 2 and "has only stacks" in done.stderr and "acu record --flight" in done.stderr, done.stderr)


def test_a_full_disk_is_reported(acu):
    link = os.path.join(TMP, "full.json")
    os.symlink("/dev/full", link)
    done = subprocess.run([acu, "report", sample(acu, 20)[0], "-o", link], capture_output=True, text=True)
    need(done.returncode == 1 and "No space left" in done.stderr, done.stderr)


if __name__ == "__main__":
    use_python_with_protobuf()
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
