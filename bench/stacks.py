#!/usr/bin/env python3
"""How many stacks are whole: stacks.py --acu PATH [--seconds 10] [--rate 199] [--out FILE]

Two loads are recorded, each with acu and, a moment later, with `perf record -g`:

  mixed  nginx under requests, python3, perl, sort, xz, g++ compiling, java, and a C++ program built `-O2 -fomit-frame-pointer`;
         what of these is not installed is named and left out
  forks  500 processes a second: half of them work for a moment, half execute another program

A stack is whole when it reaches the outermost frame: acu says of each that is not, why; of perf's those count whose last frame
is one that begins a program or a thread (`_start`, `clone3`, …) or lies in the kernel alone. In the mixed load stacks of java
with code made at run time, and of the interpreters, are counted apart from native ones. Results are medians of --runs rounds.
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
import threading
import time

from section import write_section

NATIVE = r"""
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} virtual double area(int depth) const = 0; };
struct Leaf : Shape { double area(int depth) const override { double x = depth + 1; for (int i = 0; i < 2000; i++) x = std::sqrt(x * 1.7 + i); return x; } };
struct Pair : Shape { Leaf leaf; const Shape* other; double area(int depth) const override { return depth > 24 ? leaf.area(depth) : other->area(depth + 1) + depth; } };
int main() {
  Pair a, b; a.other = &b; b.other = &a;
  std::map<std::string, double> seen; double sum = 0;
  for (unsigned i = 0;; i++) {
    std::vector<double> v; for (int k = 0; k < 200; k++) v.push_back(a.area(i % 8 + k % 16));
    std::sort(v.begin(), v.end(), [](double x, double y) { return std::sin(x) < std::sin(y); });
    seen["number " + std::to_string(i % 97)] += v[7]; sum += seen.size();
  }
}
"""
FORKS = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
__attribute__((noinline)) static int work(int n) { volatile int x = 0; for (int i = 0; i < n; i++) x += i; return x; }
int main(int count, char** words) {
  double end = now() + atof(words[1]), next = now();
  for (long n = 0; now() < end; n++) {
    while (now() < next) { while (waitpid(-1, 0, WNOHANG) > 0) {} usleep(200); }
    next += 1.0 / 500;
    if (fork() == 0) {
      if (n & 1) { work(300000); _exit(0); }
      execl("/bin/true", "true", (char*)0);
      _exit(1);
    }
  }
  while (waitpid(-1, 0, 0) > 0) {}
  return 0;
}
"""
JAVA = """
public class Busy {
  static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] a) {
    java.util.TreeMap<String, Long> m = new java.util.TreeMap<>();
    for (int i = 0; ; i++) m.merge("key" + fib(18 + i % 6) % 1000, 1L, Long::sum);
  }
}
"""
PYTHON = "def f(n):\n  return n if n < 2 else f(n - 1) + f(n - 2)\nwhile True:\n  sorted(str(f(i % 20)) for i in range(200))"
PERL = "sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } while (1) { my %h; $h{f($_ % 18)}++ for 1 .. 200; join ',', sort keys %h }"
OUTERMOST = {"_start", "clone", "clone3", "__clone", "__clone3", "start_thread", "__libc_start_main", "__libc_start_call_main",
             "__libc_start_main@@GLIBC_2.34", "__libc_start_main_impl", "ret_from_fork", "ret_from_fork_asm", "main"}
INTERPRETED = {"python3", "perl", "java"}


class Load:
    """The mixed load: processes that run until stop()."""

    def __init__(self, folder):
        self.folder, self.processes, self.missing, self.threads, self.ends = folder, [], [], [], False
        self.names = {}
        source = self.write("busy.cc", NATIVE)
        native = os.path.join(folder, "busy")
        subprocess.run(["g++", "-O2", "-fomit-frame-pointer", "-o", native, source], check=True)
        self.start("native", [native])
        self.start("python3", ["python3", "-c", PYTHON])
        self.start("perl", ["perl", "-e", PERL])
        lines = self.write("lines", "".join(f"{(i * 7919) % 1000003} line {i}\n" for i in range(300000)))
        self.repeat("sort", ["sort", "--parallel=1", "-o", "/dev/null", lines])
        self.repeat("xz", ["xz", "-c", "-k", "-T1", lines])
        self.repeat("g++", ["g++", "-O2", "-o", os.path.join(folder, "again"), source])
        self.java()
        self.nginx()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, name, words):
        if not shutil.which(words[0]):
            self.missing.append(name)
            return None
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.processes.append(process)
        self.names.setdefault(name, []).append(process.pid)
        return process

    def repeat(self, name, words):
        if not shutil.which(words[0]):
            self.missing.append(name)
            return

        def again():
            while not self.ends:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
                while process.poll() is None:
                    if self.ends:
                        process.kill()
                    time.sleep(0.02)

        self.threads.append(threading.Thread(target=again))
        self.threads[-1].start()

    def java(self):
        source = self.write("Busy.java", JAVA)
        compiled = shutil.which("javac") and subprocess.run(["javac", source], capture_output=True).returncode == 0
        if not compiled and shutil.which("java"):
            self.start("java", ["java", "-XX:+PreserveFramePointer", source])
        else:
            self.start("java", ["java", "-XX:+PreserveFramePointer", "-cp", self.folder, "Busy"])

    def nginx(self):
        config = self.write("nginx.conf", f"daemon off; master_process off; pid {self.folder}/nginx.pid; error_log {self.folder}/errors;\n"
                            "events {} http { access_log off; server { listen 127.0.0.1:18999; location / { gzip on; gzip_min_length 1; gzip_types *; "
                            f"root {self.folder}; }} }} }}\n")
        if not self.start("nginx", ["nginx", "-c", config]):
            return

        def ask():
            import http.client
            while not self.ends:
                try:
                    link = http.client.HTTPConnection("127.0.0.1", 18999, timeout=2)
                    for _ in range(50):
                        link.request("GET", "/busy.cc", headers={"Accept-Encoding": "gzip"})
                        link.getresponse().read()
                        time.sleep(0.002)
                except OSError:
                    time.sleep(0.1)

        self.threads.append(threading.Thread(target=ask))
        self.threads[-1].start()

    def stop(self):
        self.ends = True
        for process in self.processes:
            process.kill()
            process.wait()
        for thread in self.threads:
            thread.join()


def folded(acu, recording):
    """(frames, count) of each stack, the process's name first."""
    text = subprocess.run([acu, "report", recording, "-o", recording + ".folded"], capture_output=True, text=True)
    if text.returncode:
        raise SystemExit(text.stderr)
    for line in open(recording + ".folded", errors="replace"):
        stack, _, count = line.rstrip("\n").rpartition(" ")
        yield stack.split(";"), int(count)


REASONS = {"[code without unwind tables]", "[stack not readable]", "[unwind tables not understood]", "[return address is not code]", "[stack damaged]",
           "[more than 512 frames]", "[stack deeper than copied]", "[process not known yet]", "[code not known yet]", "[not finished]", "[no user stack]"}
# What the load runs; of everything else on the machine nothing is counted.
KINDS = {"busy": "native", "python3": "python3", "perl": "perl", "sort": "native", "xz": "native", "g++": "native", "cc1plus": "native", "as": "native",
         "collect2": "native", "ld": "native", "nginx": "native", "java": "java", "forks": "native", "true": "native"}


def count_acu(acu, recording):
    """By kind: [samples, of those whole], and why others are not."""
    found, why = {}, {}
    for frames, count in folded(acu, recording):
        kind = KINDS.get(frames[0].split("-")[0])
        if not kind:
            continue
        row = found.setdefault(kind, [0, 0])
        row[0] += count
        bad = REASONS.intersection(frames)
        row[1] += 0 if bad else count
        for reason in bad:
            key = f"{frames[0]} {reason}"
            why[key] = why.get(key, 0) + count
    return found, why


def count_perf(seconds, rate, folder):
    data = os.path.join(folder, "perf.data")
    subprocess.run(["perf", "record", "-B", "-N", "-q", "-a", "-g", "-e", "cpu-clock", "-F", str(rate), "-o", data, "--", "sleep", str(seconds)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run(["perf", "script", "-i", data, "-F", "comm,pid,ip,sym"], capture_output=True, text=True, errors="replace").stdout
    os.remove(data)
    found = {}
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        comm = re.match(r"\s*(\S.*?)\s+\d+", lines[0])
        kind = KINDS.get(comm.group(1)) if comm else None
        if not kind or len(lines) < 2:
            continue
        row = found.setdefault(kind, [0, 0])
        row[0] += 1
        last = lines[-1].split(None, 1)
        row[1] += len(last) > 1 and (last[1].split("+")[0] in OUTERMOST or int(last[0], 16) >= 1 << 63)
    return found


def record(acu, words, seconds, rate, folder):
    out = os.path.join(folder, "recording.acu")
    done = subprocess.run([acu, "record", "-F", str(rate), "-o", out, *words, "--duration", f"{seconds:g}s"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return out, done.stdout + done.stderr


def share(rows, kinds):
    all_of, whole = (sum(rows.get(k, [0, 0])[i] for k in kinds) for i in (0, 1))
    return 100 * whole / all_of if all_of else float("nan"), all_of


def mixed(acu, given, folder):
    load = Load(folder)
    time.sleep(3)
    ours, theirs, why_all, costs = [], [], {}, []
    try:
        for _ in range(given.runs):
            out, text = record(acu, ["-a"], given.seconds, given.rate, folder)
            found, why = count_acu(acu, out)
            ours.append(found)
            costs.append(text)
            for key, n in why.items():
                why_all[key] = why_all.get(key, 0) + n
            if shutil.which("perf"):
                theirs.append(count_perf(given.seconds, given.rate, folder))
    finally:
        load.stop()
    lines = []
    for name, kinds in (("native", ["native"]), ("native, interpreters and JIT", ["native", "python3", "perl", "java"])):
        def tell(rounds):
            shares = [share(r, kinds) for r in rounds]
            return f"{statistics.median(s for s, _ in shares):.2f}% of {sum(n for _, n in shares):,}" if shares else "-"
        lines.append(f"| mixed load: {name} | {tell(ours)} | {tell(theirs)} |")
    if load.missing:
        print("not installed: " + ", ".join(load.missing))
    for text in costs:
        print(*[line for line in text.split("\n") if "acu itself" in line or "samples" in line], sep="\n")
    reasons = ", ".join(f"{key} {n}" for key, n in sorted(why_all.items(), key=lambda k: -k[1])[:8])
    return [*lines, f"| … incomplete stacks of acu | {reasons or '-'} | |"]


def forks(acu, given, folder):
    source, program = os.path.join(folder, "forks.c"), os.path.join(folder, "forks")
    with open(source, "w") as file:
        file.write(FORKS)
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-o", program, source], check=True)
    bad, all_of, theirs, why_all, unnamed = [], 0, [], {}, []
    for _ in range(given.runs):
        load = subprocess.Popen([program, str(given.seconds + 2)])
        time.sleep(0.5)
        out, text = record(acu, ["-a"], given.seconds, given.rate * 5, folder)
        load.wait()
        n = lost = 0
        for frames, count in folded(acu, out):
            if KINDS.get(frames[0]) != "native":
                continue
            n += count
            reasons = REASONS.intersection(frames)
            nameless = [f for f in frames[1:] if f.startswith("[not mapped]") or f.startswith("[code made")]
            lost += count if reasons or nameless else 0
            for r in reasons or nameless[:1]:
                why_all[r] = why_all.get(r, 0) + count
        bad.append(100 * lost / max(1, n))
        all_of += n
        print(*[line for line in text.split("\n") if "acu itself" in line or "samples" in line], sep="\n")
        if shutil.which("perf"):
            load = subprocess.Popen([program, str(given.seconds + 2)])
            time.sleep(0.5)
            theirs.append(100 - share(count_perf(given.seconds, given.rate * 5, folder), ["native"])[0])
            load.wait()
    print("  " + ", ".join(f"{k} {n}" for k, n in sorted(why_all.items(), key=lambda k: -k[1])))
    peer = f"{statistics.median(theirs):.2f}%" if theirs else "-"
    return [f"| 500 processes a second: stack incomplete or frames unnamed | {statistics.median(bad):.2f}% of {all_of:,} | {peer} |"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--rate", type=int, default=199)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", choices=["mixed", "forks"])
    options.add_argument("--out")
    given = options.parse_args()
    acu, folder = os.path.abspath(given.acu), tempfile.mkdtemp(prefix="acu-bench-")
    os.chmod(folder, 0o755)
    lines = ["| load | acu | `perf record -g` |", "|---|---|---|"]
    try:
        if given.only != "forks":
            lines += mixed(acu, given, folder)
        if given.only != "mixed":
            lines += forks(acu, given, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        section = f"## Complete stacks\n\nbench/stacks.py, {given.runs} rounds of {given.seconds:g} s at {given.rate} Hz (forks {5 * given.rate} Hz), medians; java's generated code keeps frame " \
                  f"pointers. Load average of the host at the end: {os.getloadavg()[1]:.0f}.\n\n{text}"
        write_section(given.out, "stacks", section)


main()
