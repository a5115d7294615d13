#!/usr/bin/env python3
"""Scripts compiled for other hosts, without those: run.py ACU [--filter TEXT] [--every N]

- For each host of hosts/ (Debian's 5.10, 6.1 and 6.12, and 6.18; cut down to what is asked for here, saved_host.py) the
  scripts of CASES are compiled, and what the kernels differ in is looked at: what functions are attached by, helpers, loops,
  kinds of maps, and what acu says where there is no way.
- This host is saved, and scripts compiled for the file must be the same, byte by byte, as those compiled without it: tools/*.bt
  and each N-th of test/runtime (default 25). Lines that differ between two runs without it (times) are left out.
- Mistakes of the command line, and files that are damaged.

Nothing is loaded or attached; only to save this host takes root. Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import saved_host
from tally import Skipped, Tally, Wrong, need

HOSTS = ("5.10", "6.1", "6.12", "6.18")
OLD = ("5.10",)
NEWER = ("6.1", "6.12", "6.18")


class Expected:
    """What an output must have and must not have, and the exit status."""

    def __init__(self, *patterns, lacks=(), status=0):
        self.patterns, self.lacks, self.status = patterns, lacks, status

    def judge(self, done):
        need(done.returncode == self.status, f"status {done.returncode} instead of {self.status}: {done.stderr.strip()[-600:]}")
        text = done.stdout + done.stderr
        for pattern in self.patterns:
            need(re.search(pattern, text, re.M), f"no {pattern!r} in:\n{text[-1500:]}")
        for pattern in self.lacks:
            need(not re.search(pattern, text, re.M), f"there is {pattern!r} in:\n{text[-1500:]}")


def refused(*patterns):
    return Expected(*patterns, status=5)


has = Expected


def lacks(*patterns):
    return Expected(lacks=patterns)


# name, script, stages to print, what is expected by host (a tuple of hosts may share it)
CASES = []


def case(name, script, expected, stages="bpf"):
    by_host = {host: what for hosts, what in expected.items() for host in ((hosts,) if isinstance(hosts, str) else hosts)}
    CASES.append((name, script, stages, by_host))


case("loops", "begin { $i = 0; while ($i < 100) { @ += $i; $i++; } }",
     {OLD: lacks("call loop"), NEWER: has("call loop")})


# ------------------------------------------------------------------------------------------------- running

class Suite:
    def __init__(self, acu, folder, every):
        self.acu, self.folder, self.every = acu, folder, every
        for host in HOSTS:
            text = open(os.path.join(HERE, "hosts", host + ".txt")).read()
            with open(self.file(host), "wb") as file:
                file.write(saved_host.write(saved_host.entries_of(text)))

    def file(self, host):
        return os.path.join(self.folder, host + ".host")

    def run(self, *words):
        return subprocess.run([self.acu, *words], capture_output=True, text=True, errors="replace", timeout=60, cwd=ROOT,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C.UTF-8"))

    def compiled(self, host, script, stages):
        return self.run("run", "--for", self.file(host), "--dump", stages, "-e", script)

    def cases(self):
        """(name, function)"""
        for name, script, stages, by_host in CASES:
            for host, expected in by_host.items():
                yield f"{name}_{host}", lambda h=host, s=script, g=stages, e=expected: e.judge(self.compiled(h, s, g))
        for name in [n for n in dir(self) if n.startswith("test_")]:
            yield name[len("test_"):], getattr(self, name)
        paths = sorted(glob.glob(ROOT + "/tools/*.bt")) + sorted(glob.glob(ROOT + "/test/runtime/*.bt"))[::self.every]
        for path in paths:
            yield "same_" + os.path.basename(path)[:-len(".bt")], lambda p=path: self.same(p)

    # ------------------------------------------------------------------------------------------- this host

    def this_host(self):
        """Saved once."""
        path = self.file("this")
        if os.geteuid() != 0:
            raise Skipped("only root can save a host")
        if not os.path.exists(path):
            done = self.run("info", "--save", path + ".new")
            need(done.returncode == 0 and not done.stderr, f"not saved: {done.stderr}")
            os.replace(path + ".new", path)
        return path

    def same(self, path):
        text = open(path, errors="replace").read()
        if re.search(r"\b(percpu_)?kaddr\(|\bcgroupid\(|watchpoint:", text):
            raise Skipped("addresses of the kernel, and ids of control groups, are not those of a saved host")
        words = ["run", "--unsafe", "--dump", "ast,ir,bpf", path]
        first, again = self.run(*words), self.run(*words)
        saved = self.run("run", "--for", self.this_host(), *words[1:])
        need(saved.returncode == first.returncode, f"status {saved.returncode} instead of {first.returncode}: {saved.stderr}")
        need(saved.stderr == first.stderr, f"told {saved.stderr!r} instead of {first.stderr!r}")
        here, there, others = first.stdout.split("\n"), saved.stdout.split("\n"), again.stdout.split("\n")
        need(len(here) == len(there) == len(others), f"{len(there)} lines instead of {len(here)}")
        for mine, other, its in zip(here, others, there):
            need(mine == its or mine != other, f"{its!r} instead of {mine!r}")

    def test_info(self):
        here, there = self.run("info"), self.run("info", "--for", self.this_host())
        need(here.stdout.startswith(there.stdout.rstrip("\n") + "\n\ncapabilities"), there.stdout)

    def test_list(self):
        for words in (["tracepoint:sched:*"], ["-v", "tracepoint:sched:sched_switch"], ["struct list_head"], ["kprobe:vfs_*"], ["rawtracepoint:*"],
                      ["nothing_like_this"]):
            here, there = self.run("list", *words), self.run("list", "--for", self.this_host(), *words)
            need((here.stdout, here.stderr, here.returncode) == (there.stdout, there.stderr, there.returncode), f"{words}: {there.stdout[:500]}{there.stderr}")

    def test_addresses_are_not_saved(self):
        done = self.run("run", "--for", self.this_host(), "--dump", "bpf", "-e", 'begin { printf("%p", kaddr("_text")); }')
        need(done.returncode == 0 and str(0x81000000 - (1 << 32)) in done.stdout, done.stdout + done.stderr)  # 0xffffffff81000000

    # -------------------------------------------------------------------------------------------- mistakes

    def refuses(self, expected, *words, status=2):
        done = self.run(*words)
        need(done.returncode == status and expected in done.stderr, f"status {done.returncode}, {done.stderr!r}")
        need(len(done.stderr.strip().split("\n")) == 1, f"more than one line: {done.stderr}")

    def test_only_compiles(self):
        file = self.file("6.1")
        self.refuses("add `--dump ast`, `--dump ir` or `--dump bpf`", "run", "--for", file, "-e", "begin { exit(); }")
        self.refuses("add `--dump ast`", "run", "--for", file, "--dump", "verifier", "-e", "begin { exit(); }")
        self.refuses("`--for` and `-p` exclude each other", "run", "--for", file, "--dump", "bpf", "-p", "1", "-e", "begin { exit(); }")
        self.refuses("`--for` and `-c` exclude each other", "run", "--for", file, "--dump", "bpf", "-c", "true", "-e", "begin { exit(); }")
        self.refuses("`--for` and `-p` exclude each other", "list", "--for", file, "-p", "1")
        self.refuses("only this host can be saved", "info", "--for", file, "--save", file)

    def test_damaged_files(self):
        good = open(self.file("6.1"), "rb").read()
        path = os.path.join(self.folder, "damaged.host")
        for name, data in (("damaged", good[:-1]), ("damaged", good[:100] + b"x" + good[101:]), ("damaged", good + b"\0"), ("damaged", good[:12]),
                           ("is not the file of a saved host", b""), ("is not the file of a saved host", good[1:]),
                           ("another version of acu (format 9", good[:8] + b"\x09" + good[9:])):
            with open(path, "wb") as file:
                file.write(data)
            self.refuses(name, "run", "--for", path, "--dump", "bpf", "-e", "begin { exit(); }")
        self.refuses("No such file", "info", "--for", path + ".not_there")

    def test_other_machine(self):
        entries = saved_host.read(open(self.file("6.1"), "rb").read())
        entries["kernel"] = entries["kernel"].replace(b"machine x86_64", b"machine s390x")
        path = os.path.join(self.folder, "s390x.host")
        with open(path, "wb") as file:
            file.write(saved_host.write(entries))
        self.refuses("is of a host with the architecture `s390x`", "info", "--for", path)

    def test_cgroupid(self):
        done = self.compiled("6.1", 'begin { print(cgroupid("/sys/fs/cgroup")); }', "bpf")
        need(done.returncode == 2 and "not known of a saved host" in done.stderr, done.stderr)


def main():
    arguments, only, every = sys.argv[1:], "", 25
    for option in ("--filter", "--every"):
        if option in arguments:
            at = arguments.index(option)
            only, every = (arguments[at + 1], every) if option == "--filter" else (only, int(arguments[at + 1]))
            del arguments[at:at + 2]
    acu, tally = os.path.abspath(arguments[0]), Tally()

    def outcome(function):
        begin = time.monotonic()
        try:
            function()
            return None, time.monotonic() - begin
        except (Wrong, Skipped, subprocess.TimeoutExpired) as problem:
            return problem, time.monotonic() - begin

    with tempfile.TemporaryDirectory(prefix="acu-environment-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        suite = Suite(acu, folder, every)
        outcome(suite.this_host)
        cases = [(name, function) for name, function in suite.cases() if only in name]
        for (name, function), (problem, seconds) in zip(cases, pool.map(lambda c: outcome(c[1]), cases)):
            if problem is None:
                tally.passed(name, seconds)
            elif isinstance(problem, Skipped):
                tally.skipped(name, str(problem))
            else:
                tally.failed(name, str(problem), lambda f=function: str(outcome(f)[0] or ""))
        return tally.end()


sys.exit(main())
