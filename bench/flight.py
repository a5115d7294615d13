#!/usr/bin/env python3
"""What a flight recorder costs a busy server, and what an event costs: flight.py --acu PATH [--rate 20000] [--pairs 10] [--seconds 5] [--recorders a,b] [--soak SECONDS] [--out FILE]

The server (test/recorder/server.c, `requests`) has two threads, each with a client that waits for every answer, so both CPUs are busy. What it calculates for an answer is
chosen so that it answers --rate requests a second without a recorder. Recorders of the whole host, all with switches, wake-ups and system calls (acu and perf also with CPU samples and their stacks at 99 Hz, `acu without samples` without):
acu's flight recorder, which keeps events in memory and writes a file at the end, and perf, trace-cmd and LTTng, which write all events to a file; those that are not
installed, or do not run here, are named below the table.

Each recorder has --pairs pairs of runs of --seconds, one with it and one without, in alternating order, so that a host that is busy with other things disturbs both alike. The
table has the median of the pairs' ratios of requests a second and the middle half of them; of the runs with the recorder, the medians of: events a second, the bytes of an
event in the file, and the CPU time of the recorder's own processes: while it records, in percent of one CPU, and in all, until the file is complete, per event. What it costs in the
server's threads is in the ratio.

Then a spike: the server's lock is held for 50 ms once in 5 s, and a request that waited for it triggers. The file has to show the holder, with its stack, and the wait, before the
trigger. --soak SECONDS: the recorder runs so long beside the server, with a spike a minute; its memory is noted six times.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(os.path.dirname(HERE), "test", "recorder", "server.c")
NEVER = 10 ** 6  # seconds between two spikes


class Failed(Exception):
    """What did not work, and what it said."""


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: status {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout + done.stderr


class Server:
    """test/recorder/server.c as a server of about `rate` requests a second, where the host can do that many."""

    def __init__(self, path, rate):
        self.path, self.rounds = path, 20000
        if rate:
            few, many = 5000, 50000
            least, most = (statistics.median(1 / self.measured(2, rounds=n) for _ in range(3)) for n in (few, many))
            self.rounds = max(0, round(few + (1 / rate - least) / (most - least) * (many - few)))

    def words(self, seconds, period=NEVER, rounds=None):
        return [self.path, "requests", str(seconds), str(period), str(self.rounds if rounds is None else rounds)]

    def measured(self, seconds, rounds=None):
        """Requests a second."""
        return float(run(*self.words(seconds, rounds=rounds)).split()[0])


def cpu_of(pid):
    """Of a process and those that it has started, in seconds."""
    try:
        words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        started = open(f"/proc/{pid}/task/{pid}/children").read().split()
    except OSError:
        return 0  # it has ended
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_of, started))


class Recorder:
    """One way to record. `words`: its command; `ready`: what it says once it records, a function that knows, or nothing: then it gets a second for that."""

    def __init__(self, name, words, ready, read):
        self.name, self.words, self.ready, self.read = name, words, ready, read

    def record(self, folder, load):
        """What `load()` gives while it records, then (events a second, bytes of one, the CPUs it takes then, ns of CPU time in all for one)."""
        path = os.path.join(folder, "recording")
        said = os.path.join(folder, "said")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(said, "w") as file:
            process = subprocess.Popen([w.replace("FILE", path) for w in self.words], stdout=file, stderr=file, stdin=subprocess.DEVNULL, cwd=folder)
        begin = time.monotonic()
        is_ready = self.ready if callable(self.ready) else lambda: re.search(self.ready, open(said).read())
        while self.ready and not is_ready():
            if process.poll() is not None or time.monotonic() - begin > 30:
                process.kill()
                process.wait()
                raise Failed(f"{self.name}: {open(said).read().strip()[-300:]}")
            time.sleep(0.05)
        if not self.ready:
            time.sleep(1)
        begin, at_first = time.monotonic(), cpu_of(process.pid)
        server_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = load()
        server_after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = time.monotonic() - begin
        while_recording = cpu_of(process.pid) - at_first
        process.send_signal(signal.SIGUSR2 if self.name.startswith("acu") else signal.SIGINT)
        if self.name.startswith("acu"):
            while "\nwrote " not in "\n" + open(said).read():
                if process.poll() is not None:
                    raise Failed(f"{self.name}: {open(said).read().strip()[-300:]}")
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = lambda a, b: b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime
        own = cpu(before, after) - cpu(server_before, server_after)
        events, size = self.read(path, open(said).read(), folder)
        recorded = seconds + (0 if self.ready else 1)  # before the load, too
        shutil.rmtree(path, ignore_errors=True)
        for name in os.listdir(folder):
            if name.startswith("recording"):
                os.unlink(os.path.join(folder, name))
        return result, (events / recorded, size / max(events, 1), while_recording / seconds, own / max(events, 1) * 1e9)


def read_acu(path, said, _):
    found = re.search(r"events (\d+), from", said)
    return int(found[1]), os.path.getsize(path)


def read_perf(path, said, _):
    """Perf says how many samples there are; its own events are few."""
    found = re.search(r"\((\d+) samples\)", said)
    events = int(found[1]) if found else int(run("perf", "report", "-i", path, "--stats").split("SAMPLE events:")[1].split()[0])
    return events, os.path.getsize(path)


def read_trace_cmd(path, said, _):
    return sum(map(int, re.findall(r"^entries: (\d+)", said, re.M))) or len(run("trace-cmd", "report", "-i", path).splitlines()), os.path.getsize(path)


def read_lttng(path, _said, _folder):
    size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)
    return len(run("babeltrace2", path).splitlines()), size


LTTNG = """set -e; lttng create acu-bench --output=FILE >/dev/null; trap 'lttng destroy acu-bench >/dev/null' EXIT
lttng enable-event --kernel sched_switch,sched_waking >/dev/null; lttng enable-event --kernel --syscall --all >/dev/null
lttng start >/dev/null; echo ready; trap 'exit 0' INT; while :; do sleep 0.1; done"""


def recorders(acu):
    """By name; those that do not run here give the reason instead."""
    flight = [acu, "record", "--flight", "-a", "--memory", "512M", "--before", "1h", "--after", "1ms", "-o", "FILE", "--streams"]
    tracepoints = ["sched:sched_switch", "sched:sched_waking", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]
    perf_events = [word for point in tracepoints for word in ("-e", point)]
    trace_events = [word for point in tracepoints for word in ("-e", point)]
    ready = "in memory; to write it"
    traces = lambda: any(open(f"{at}/events/raw_syscalls/sys_exit/enable").read().startswith("1") for at in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing") if os.path.exists(at + "/events"))
    out = {"acu": Recorder("acu", [*flight, "sched,syscalls,cpu"], ready, read_acu), "acu without samples": Recorder("acu without samples", [*flight, "sched,syscalls"], ready, read_acu)}
    missing = {}
    if shutil.which("perf"):
        perf = ["perf", "record", "-a", "-m", "16M", "-o", "FILE", *perf_events]
        out["perf record"] = Recorder("perf record", perf, None, read_perf)
    else:
        missing["perf"] = "not installed (linux-perf)"
    if shutil.which("trace-cmd"):
        out["trace-cmd"] = Recorder("trace-cmd", ["trace-cmd", "record", "-b", "65536", "-o", "FILE", *trace_events], traces, read_trace_cmd)
    else:
        missing["trace-cmd"] = "not installed (trace-cmd)"
    has_modules = subprocess.run(["modprobe", "-n", "lttng-tracer"], capture_output=True).returncode == 0 if shutil.which("modprobe") else False
    if not shutil.which("lttng"):
        missing["LTTng"] = "not installed (lttng-tools); it also needs kernel modules (lttng-modules-dkms)"
    elif not has_modules:
        missing["LTTng"] = "its kernel modules (lttng-modules-dkms) are not there for this kernel"
    else:
        out["LTTng"] = Recorder("LTTng", ["bash", "-c", LTTNG], "ready", read_lttng)
    return out, missing


def compare(acu, server, folder, given):
    chosen, missing = recorders(acu)
    if given.recorders:
        chosen = {name: recorder for name, recorder in chosen.items() if name in given.recorders.split(",")}
    ratios, bare, costs = {n: [] for n in chosen}, [], {n: [] for n in chosen}
    server.measured(1)
    for pair in range(given.pairs):
        for name, recorder in list(chosen.items()):
            load = lambda: server.measured(given.seconds)
            try:
                if pair % 2:
                    without = load()
                    with_it, cost = recorder.record(folder, load)
                else:
                    with_it, cost = recorder.record(folder, load)
                    without = load()
            except Failed as problem:
                missing[name] = str(problem)
                del chosen[name]
                continue
            ratios[name].append(with_it / without)
            bare.append(without)
            costs[name].append(cost)
            print(f"pair {pair + 1}, {name}: {with_it:,.0f} of {without:,.0f} requests/s", file=sys.stderr)
    lines = ["| recorder | requests/s, with/without | middle half of the pairs | events/s | bytes of an event | its CPU while it records | its CPU in all, ns an event |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name in chosen:
        low, middle, high = statistics.quantiles(ratios[name], n=4) if len(ratios[name]) > 1 else ratios[name] * 3
        rate, size, cpu, each = (statistics.median(values) for values in zip(*costs[name]))
        lines.append(f"| {name} | {middle:.1%} | {low:.1%} to {high:.1%} | {rate:,.0f} | {size:.1f} | {cpu:.1%} | {each:,.0f} |")
    lines.append("")
    if bare:
        lines.append(f"Without a recorder: {statistics.median(bare):,.0f} requests/s. acu writes its file at the end, the others all the time.")
    lines += [f"Not measured: {name}: {why}" for name, why in missing.items()]
    return lines


def spike(acu, server, folder, seconds=12):
    """What the file of a spike shows."""
    path = os.path.join(folder, "spike.acu")
    said = run(acu, "record", "--flight", "--streams", "sched,syscalls,cpu,locks", "--when", f"uprobe:{server.path}:slow_request /arg0 > 20000/", "--after", "200ms",
               "--cool-down", "1h", "-o", path, "--", *server.words(seconds, 5))
    if not os.path.exists(path):
        return f"The spike wrote no file: {said.strip()}"
    found = json.loads(run(acu, "report", path, "--json", "--top", "1000"))
    trigger = (found["triggers"][0]["ns"] - found["begin_ns"]) / 1e9
    folded = os.path.join(folder, "spike.folded")
    run(acu, "report", path, "-o", folded, "--until", str(trigger))
    lines = [line for line in open(folded) if "hold_lock_long" in line]
    events = os.path.join(folder, "spike.json")
    run(acu, "report", path, "-o", events, "--until", str(trigger))
    waits = [e["args"] for e in json.load(open(events))["traceEvents"] if e.get("cat") == "lock" and e["ph"] == "b"]
    counts = {k: sum(kind[k] for kind in found["kinds"]) for k in ("sent", "kept", "overwritten", "lost")}
    adds_up = counts["sent"] == counts["kept"] + counts["overwritten"] + counts["lost"]
    return (f"A spike of 50 ms: the file has {sum(int(line.rsplit(' ', 1)[1]) for line in lines)} samples of `hold_lock_long` and {len(waits)} waits for its lock before the trigger"
            f"{', with owner ' + waits[-1]['owner'] if waits else ''}; events sent {counts['sent']:,} = kept {counts['kept']:,} + overwritten {counts['overwritten']:,} + lost {counts['lost']:,}"
            f"{'' if adds_up else ': THIS DOES NOT ADD UP'}.")


def soak(acu, server, folder, seconds):
    """Memory of a recorder that runs for long, beside the busy server with a spike a minute."""
    path = os.path.join(folder, "soak.acu")
    with open(os.path.join(folder, "soak.err"), "w") as err:
        recorder = subprocess.Popen([acu, "record", "--flight", "-a", "--when", f"uprobe:{server.path}:slow_request /arg0 > 20000/", "--files", "3", "-o", path], stderr=err, cwd=folder)
    load = subprocess.Popen(server.words(seconds, 60), stdout=subprocess.DEVNULL)
    lines = ["| minutes | memory of its own | of mapped files | its CPU time |", "|--:|--:|--:|--:|"]
    tick = os.sysconf("SC_CLK_TCK")
    try:
        begin = time.monotonic()
        for part in range(7):
            time.sleep(max(0, begin + 3 + (seconds - 6) * part / 6 - time.monotonic()))
            status = open(f"/proc/{recorder.pid}/status").read()
            own, files = (int(re.search(name + r":\s+(\d+)", status)[1]) / 1024 for name in ("RssAnon", "RssFile"))
            words = open(f"/proc/{recorder.pid}/stat").read().rsplit(")", 1)[1].split()
            lines.append(f"| {(time.monotonic() - begin) / 60:.1f} | {own:.1f} MiB | {files:.1f} MiB | {(int(words[11]) + int(words[12])) / tick:.1f} s |")
    finally:
        load.wait()
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
    said = open(os.path.join(folder, "soak.err")).read().strip().splitlines()
    return [f"A recorder beside the server for {seconds / 60:.0f} minutes, a spike a minute (resident memory: RssAnon, and RssFile: the programs of the host that have a name in a stack, and the ring of 64 MiB once it was read for a file):", "", *lines, "", f"At the end: {said[-1] if said else ''}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acu", required=True)
    parser.add_argument("--rate", type=int, default=20000, help="0: as many as there can be with a calculation of some 20 us")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--recorders", help="names, as in the table")
    parser.add_argument("--soak", type=int, default=0)
    parser.add_argument("--out")
    given = parser.parse_args()
    acu, folder = os.path.abspath(given.acu), tempfile.mkdtemp(prefix="acu-bench-flight-")
    try:
        path = os.path.join(folder, "server")
        run("gcc", "-O2", "-g", "-o", path, SERVER, "-pthread")
        server = Server(path, given.rate)
        lines = compare(acu, server, folder, given)
        lines += ["", spike(acu, server, folder)]
        if given.soak:
            lines += ["", *soak(acu, server, folder, given.soak)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        write_section(given.out, "flight", f"## The flight recorder\n\nbench/flight.py, {given.pairs} pairs of {given.seconds} s each, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} CPUs.\n\n{text}")


main()
