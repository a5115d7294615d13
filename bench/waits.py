#!/usr/bin/env python3
"""Recording what threads wait for on a busy machine, and what memory grows by: waits.py --acu PATH [--seconds 10] [--runs 3] [--out FILE]

The load: eight threads at one mutex (test/flame/locked.cc), two that hand a byte back and forth (switcher.cc), and `find`. Measured from
the start of the command to its end, when the page or the text is there; beside `offcputime` of libbpf-tools and of bpfcc-tools where
they run. Then what the probe at sched_switch takes, as the kernel measures it (kernel.bpf_stats_enabled), less what an empty one
does: two threads hand a byte back and forth, so that nearly no switch is a sample. Then a server that leaks on each fourth request, of some 20 µs each, and one that does nothing but leak: how many requests they
answer in a second of their own CPU time, with and without `acu flame alloc`. Medians.
"""
import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = [("offcputime (libbpf-tools)", ["/usr/sbin/offcputime"]), ("offcputime (bpfcc-tools)", ["/usr/sbin/offcputime-bpfcc", "-f"])]
SERVER = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>
static double now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void* volatile sink;
__attribute__((noipa)) static void answer(int number, int work) {
  std::vector<std::string> words(20, std::string(100, 'w'));
  sink = &words;
  unsigned x = number;
  for (int i = 0; i < work; i++) x = x * 1664525 + 1013904223 + (x >> 7);
  words[0][0] = char(x);
  if (number % 4 == 0) { sink = malloc(1000); memset(sink, 1, 1000); }
}
int main(int, char** argv) {
  const double seconds = atof(argv[1]), start = now();
  long rounds = 0;
  while (now() - start < seconds) for (int i = 0; i < 100; i++) answer(rounds++, atoi(argv[2]));
  std::printf("%.1f\n", rounds / (now() - start));
}
"""


def compiled(folder, name, *options):
    out = os.path.join(folder, name)
    subprocess.run(["g++", "-O2", "-g", *options, "-o", out], check=True)
    return out


@contextlib.contextmanager
def load(folder):
    flame = os.path.join(HERE, "..", "test", "flame")
    commands = [[compiled(folder, "locked", "-pthread", os.path.join(flame, "locked.cc")), "1000000"],
                [compiled(folder, "switcher", "-pthread", os.path.join(flame, "switcher.cc")), "1000000000"],
                ["sh", "-c", "while :; do find /usr -name nothing; done"]]
    running = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) for c in commands]
    time.sleep(1)
    try:
        yield
    finally:
        for process in running:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, 9)
            process.wait()


def cpu_of_children():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def timed(command, folder):
    before, start = cpu_of_children(), time.monotonic()
    with open(os.path.join(folder, "out"), "w") as out:
        done = subprocess.run(["/usr/bin/env", *command], stdout=out, stderr=subprocess.PIPE, text=True, cwd=folder, timeout=600)
    return done, time.monotonic() - start, cpu_of_children() - before


def at_the_mutex(name, folder):
    """Seconds that the eight threads waited, as told."""
    if name == "acu":
        return sum(int(line.rsplit(" ", 1)[1]) for line in open(os.path.join(folder, "page.folded")) if line.startswith("locked;")) / 1e9
    text = open(os.path.join(folder, "out"), errors="replace").read()
    if "bpfcc" in name:
        return sum(int(n) for n in re.findall(r"^locked;.* (\d+)$", text, re.M)) / 1e6
    return sum(int(n) for n in re.findall(r"-\s+locked \(\d+\)\n\s+(\d+)", text)) / 1e6


def record_waits(given, acu, folder):
    lines = ["| recorder | from command to page or text | CPU of the recorder | wait of eight threads, share of 8 × the time |", "|---|---|---|---|"]
    ways = [("acu", [acu, "flame", "offcpu", "--duration", f"{given.seconds}s", "-o", "page.html"])]
    ways += [(name, [*words, str(given.seconds)]) for name, words in PEERS]
    with load(folder):
        for name, command in ways:
            if name != "acu" and not os.path.exists(command[0]):
                lines.append(f"| {name} | is not installed here | | |")
                continue
            walls, cpus, shares = [], [], []
            for _ in range(given.runs):
                done, wall, cpu = timed(command, folder)
                if done.returncode:
                    break
                if name == "acu":  # once more as text, to be read here
                    subprocess.run([*command[:-1], "page.folded", "-q"], cwd=folder, check=True)
                walls.append(wall), cpus.append(cpu), shares.append(at_the_mutex(name, folder) / (8 * given.seconds))
            if not walls:
                lines.append(f"| {name} | does not run here: {done.stderr.strip().splitlines()[-1][:100] if done.stderr.strip() else done.returncode} | | |")
                continue
            lines.append(f"| {name} | {statistics.median(walls):.2f} s | {statistics.median(cpus):.2f} s | {100 * statistics.median(shares):.0f}% |")
    return "\n".join(lines)


STATS = "/proc/sys/kernel/bpf_stats_enabled"


def ns_a_run(command, folder, program):
    """Of the program of `command` that ran at each switch of `program`, the time of a run, and how often it ran in a second."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        time.sleep(2)  # it is attached
        start = time.monotonic()
        subprocess.run([program, "300000"], stdout=subprocess.DEVNULL, check=True)
        seconds = time.monotonic() - start
        found = []
        for fd in os.listdir(f"/proc/{running.pid}/fdinfo"):
            with contextlib.suppress(OSError):
                about = open(f"/proc/{running.pid}/fdinfo/{fd}").read()
                if runs := re.search(r"^run_cnt:\s*(\d+)", about, re.M):
                    took = int(re.search(r"^run_time_ns:\s*(\d+)", about, re.M).group(1))
                    found.append((int(runs.group(1)), took))
        count, took = min((f for f in found if f[0] > 500_000), key=lambda f: f[0])  # the other one is at the end of system calls
        return took / count, count / seconds
    finally:
        running.send_signal(signal.SIGINT)
        running.wait()


def cost_of_switches(given, acu, folder):
    program = compiled(folder, "switcher", "-pthread", os.path.join(HERE, "..", "test", "flame", "switcher.cc"))
    was = open(STATS).read()
    net, rates = [], []
    try:
        open(STATS, "w").write("1")
        for _ in range(2 * given.runs + 1):
            empty, _ = ns_a_run([acu, "run", "-e", "rawtracepoint:sched_switch { }"], folder, program)
            ours, rate = ns_a_run([acu, "record", "offcpu", "-o", "switches.acu"], folder, program)
            net.append(ours - empty), rates.append(rate)
    finally:
        open(STATS, "w").write(was)
    return f"{statistics.median(rates):,.0f} switches a second: the probe of `acu record offcpu` takes {statistics.median(net):.0f} ns for each " \
           f"({min(net):.0f} to {max(net):.0f}, {len(net)} runs), not counting the time that the kernel takes to call and measure an empty program."


def grow(given, acu, folder):
    with open(os.path.join(folder, "server.cc"), "w") as file:
        file.write(SERVER)
    server = compiled(folder, "server", os.path.join(folder, "server.cc"))
    text = ""
    for name, work in (("A server that leaks 1,000 bytes on every fourth request", "10000"), ("A program that does nothing but allocate, free, and leak in the same way", "0")):
        slower = []
        for _ in range(2 * given.runs + 1):
            plain = float(subprocess.run([server, "3", work], capture_output=True, text=True, check=True).stdout)
            with_acu = subprocess.run([acu, "flame", "alloc", "-q", "-o", "alloc.html", "--", server, "3", work],
                                      capture_output=True, text=True, check=True, cwd=folder)
            slower.append(100 * (1 - float(with_acu.stdout) / plain))
        text += (f"{name}, {plain:,.0f} requests and {plain / 4 * 1000 / 1e6:.0f} MB a second: `acu flame alloc` makes it {statistics.median(slower):.1f}% slower "
                 f"({min(slower):.1f} to {max(slower):.1f}%, {len(slower)} pairs of runs).\n\n")
    return text.rstrip("\n")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--out")
    given = options.parse_args()
    acu = os.path.abspath(given.acu)
    folder = tempfile.mkdtemp(prefix="acu-bench-")
    try:
        text = record_waits(given, acu, folder) + "\n\n" + cost_of_switches(given, acu, folder) + "\n\n" + grow(given, acu, folder) + "\n"
    finally:
        shutil.rmtree(folder)
    print(text)
    if given.out:
        section = f"## Waits on a busy host ({given.seconds} s), and memory growth\n\nbench/waits.py. " \
                  f"Load average of the host at the end: {os.getloadavg()[1]:.0f}.\n\n{text}"
        write_section(given.out, "waits", section)


main()
