#!/usr/bin/env python3
"""What `acu http-requests` costs a web server: http_requests.py --acu ACU [--pairs N] [--seconds S] [--rate R] [--recorders a,b] [--out FILE]

nginx with one worker (trace_nginx.py) answers 5,000 requests a second of load/paced_http.c, which sends each when it is due. Recorders: `acu http-requests` of the whole host
with a line for each request, and with --quiet; strace of the worker with the calls that have a request's line and its status (nginx reads with
recvfrom and answers with writev; that it stops the worker at all other calls, too, is how strace -p works); tcpdump, which writes the first 256 bytes of
each packet of the port to a file, from which requests and answers have yet to be put together. "nothing" has no recorder: it shows how far chance goes.

Each has pairs of runs, one with it and one without, in alternating order, so that a host that is busy with other things disturbs both alike. Compared is the
CPU time of nginx's worker for a request, in which programs in the kernel are: medians of the pairs, and between which the middle half of them is. Beside it:
requests that the recorder has seen, of all that were sent, what it says it lost, and the CPU time of its own process while it records. Where the rate is not
reached, the table shows that which was.
"""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from languages import cpu_ns
from section import write_section
from trace_nginx import serving

HERE = os.path.dirname(os.path.abspath(__file__))


def acu_seen(said, _):
    """The sum over routes, which is printed at the end."""
    found = re.search(r"^ *(\d+) +\d+ +[\d.]+ +[\d.]+ GET /page\.html$", said, re.M)
    return int(found[1]) if found else 0


def acu_lost(said):
    return sum(int(number.replace(",", "")) for number in re.findall(r"^(?:Lost|WARNING:) ([\d,]+) (?:event|run|hit)s?\b", said, re.M))


def calls_seen(_, path):
    """The calls that read a request; nginx also writes its line to the log."""
    with open(path, "rb") as file:
        return file.read().count(b', "GET /page.html')


def packets_seen(_, path):
    with open(path, "rb") as file:
        return file.read().count(b"GET /page.html")


def packets_dropped(said):
    return sum(map(int, re.findall(r"^(\d+) packets? dropped by", said, re.M)))


def recorders(acu, port, worker):
    """By name: a command with FILE, what it prints once it records, how many requests it has seen (of what it printed, and the file), and how many events it says it lost."""
    out = {"nothing": None}
    for name, more in (("acu http-requests", []), ("acu http-requests -- --quiet", ["--quiet"])):
        out[name] = ([acu, "http-requests", "--notify-attached", "#attached#", "--", *more], "#attached#", acu_seen, acu_lost)
    if shutil.which("strace"):
        out["strace -e trace=network,read,readv,write,writev"] = (
            ["strace", "-f", "-ttt", "-s", "200", "-e", "trace=network,read,readv,write,writev", "-o", "FILE", "-p", str(worker)], "attached", calls_seen, None)
    if shutil.which("tcpdump"):
        out["tcpdump -s 256 -w FILE"] = (["tcpdump", "-i", "lo", "-s", "256", "-w", "FILE", "tcp", "port", str(port)], "listening on", packets_seen, packets_dropped)
    return out


def ask(load, port, rate, seconds, worker, recorder=None):
    """Of one run: requests sent, those a second, microseconds of the worker's CPU time for one, median and 99th percentile of the latency in us, and percent of a CPU that the recorder takes."""
    processes = [worker, recorder] if recorder else [worker]
    before = list(map(cpu_ns, processes))
    done = subprocess.run([load, str(port), str(rate), str(seconds)], capture_output=True, text=True, check=True)
    used = [cpu_ns(pid) - at_first for pid, at_first in zip(processes, before)]
    good, made, took, median, high = map(float, done.stdout.split())
    if good != made:
        raise RuntimeError(f"{made - good:.0f} of {made:.0f} requests were not answered")
    return {"sent": made, "rate": made / took, "cpu": used[0] / made / 1000, "median": median, "high": high, "own": used[1] / took / 1e7 if recorder else 0}


def recorded(chosen, folder, run):
    """What `run(pid)` gives, with the requests that were seen and the events that were lost."""
    command, ready, seen, lost = chosen
    path, said = os.path.join(folder, "recording"), os.path.join(folder, "said")
    with open(said, "w") as file:
        process = subprocess.Popen([path if word == "FILE" else word for word in command], stdout=file, stderr=file, stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        until = time.monotonic() + 60
        while ready not in open(said).read():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{' '.join(command)} does not record: {open(said).read().strip()[-300:]}")
            time.sleep(0.05)
        time.sleep(0.5)
        found = run(process.pid)
        time.sleep(0.5)  # what is still under way
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    text = open(said, errors="replace").read()
    return found | {"seen": seen(text, path), "lost": lost(text) if lost else None}


def compare(acu, load, port, folder, worker, given):
    """The rows of the table, and the runs without a recorder."""
    chosen = {name: what for name, what in recorders(acu, port, worker).items() if not given.recorders or name in given.recorders.split(",")}
    pairs, bare = {name: [] for name in chosen}, []
    ask(load, port, given.rate, 1, worker)
    for number in range(given.pairs):
        for name, what in chosen.items():
            run = lambda pid=None: ask(load, port, given.rate, given.seconds, worker, pid)
            found = {}
            for with_it in (True, False) if number % 2 else (False, True):
                found[with_it] = recorded(what, folder, run) if with_it and what else run()
            pairs[name].append((found[False], found[True]))
            bare.append(found[False])
            print(f"pair {number + 1}, {name}: {found[True]['cpu']:.1f} us of CPU time for a request, bare {found[False]['cpu']:.1f}; {found[True]['rate']:,.0f} requests/s", file=sys.stderr, flush=True)
    return [row(name, found, chosen[name]) for name, found in pairs.items()], bare


def row(name, pairs, what):
    def quartiles(values, form):
        low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        return f"{middle:{form}} ({low:{form}} to {high:{form}})"
    extra = quartiles([b["cpu"] - a["cpu"] for a, b in pairs], "+.2f")
    share = quartiles([100 * (b["cpu"] / a["cpu"] - 1) for a, b in pairs], "+.1f")
    both = quartiles([(b["cpu"] - a["cpu"]) * b["rate"] / 1e4 + b["own"] for a, b in pairs], "+.1f")
    with_it = [b for _, b in pairs]
    median = lambda key: statistics.median(run[key] for run in with_it)
    cells = [f"`{name}`" if what else name, f"{median('rate'):,.0f}", extra, share, both, f"{median('median'):,.0f}", f"{median('high'):,.0f}"]
    if not what:
        return "| " + " | ".join([*cells, "", "", ""]) + " |"
    lost = [run["lost"] for run in with_it]
    return "| " + " | ".join([*cells, f"{median('own'):.1f}%", f"{100 * sum(r['seen'] for r in with_it) / sum(r['sent'] for r in with_it):.2f}%",
                              "not reported" if None in lost else f"{sum(lost):,}"]) + " |"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--pairs", type=int, default=8)
    options.add_argument("--seconds", type=float, default=4)
    options.add_argument("--rate", type=int, default=5000)
    options.add_argument("--recorders", help="names, as in the table")
    options.add_argument("--out")
    given = options.parse_args()
    port = 20000 + os.getpid() % 10000
    with tempfile.TemporaryDirectory(prefix="acu-bench-") as folder, serving(port) as (_, worker):
        recordings = os.path.join(folder, "recordings")
        os.mkdir(recordings)
        os.chmod(folder, 0o755)
        os.chmod(recordings, 0o777)  # tcpdump writes as a user of its own
        load = os.path.join(folder, "paced_http")
        subprocess.run(["gcc", "-O2", "-o", load, os.path.join(HERE, "load", "paced_http.c")], check=True)
        rows, bare = compare(os.path.abspath(given.acu), load, port, recordings, worker, given)
    median = lambda key: statistics.median(run[key] for run in bare)
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr.strip().rpartition("/")[2]
    text = (f"nginx {nginx}, one worker, {given.rate:,} requests/s wanted. Bare: {median('rate'):,.0f} requests/s, {median('cpu'):.1f} us of the worker's CPU time for one, latency {median('median'):,.0f} us "
            f"(99th percentile {median('high'):,.0f} us). Medians of the pairs, in parentheses the middle half of them. Seen: of the requests sent. Lost: as the recorder reports.\n\n"
            "| recorder | requests/s | worker's CPU for a request, us more | % more | worker and recorder, % of a CPU more | latency, us | its 99th percentile | recorder's CPU | seen | lost |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            + "\n".join(rows) + "\n\n`strace` and `tcpdump` see the bytes of requests and answers, and put neither together; `tcpdump` does not see what TLS encrypts.\n")
    print(text)
    if given.out:
        write_section(given.out, "http", f"## HTTP requests of a web server\n\nbench/http_requests.py, {given.pairs} pairs of {given.seconds:g} s each, {time.strftime('%Y-%m-%d')}, Linux {os.uname().release}, "
                      f"{os.cpu_count()} CPUs. {text}")


if __name__ == "__main__":
    main()
