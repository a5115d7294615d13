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
from tally import SLOWNESS, Skipped, Tally, Wrong, need

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


def without_clock(text):
    """Without what CLOCK_BOOTTIME lacks to the wall clock, which is almost the same in each run."""
    lacks_ns = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    is_clock = lambda number: abs(int(number, 16) - lacks_ns) < 60 * 10**9
    return re.sub(r"0x[0-9a-f]{16}\b", lambda found: "CLOCK" if is_clock(found.group(0)) else found.group(0), text)


# name, script, stages to print, what is expected by host (a tuple of hosts may share it)
CASES = []


def case(name, script, expected, stages="bpf"):
    by_host = {host: what for hosts, what in expected.items() for host in ((hosts,) if isinstance(hosts, str) else hosts)}
    CASES.append((name, script, stages, by_host))


# Loops and what programs are attached by.
case("loops", "begin { $i = 0; while ($i < 100) { @ += $i; $i++; } }",
     {OLD: Expected(r"if r\d >= 1000 goto", lacks=["call loop"]), NEWER: has("call loop")})
case("stacks", "tracepoint:sched:sched_switch { @[ustack] = count(); }",
     {OLD: lacks("call loop"), NEWER: has("call loop")})
case("functions", "kprobe:vfs_read,kprobe:vfs_write { @[func] = count(); }",
     {("5.10", "6.1", "6.18"): Expected("^kprobe:vfs_read: 2 events by tracefs$", "^map acu_places: hash", lacks=["call helper 174"]),
      "6.12": Expected(r"^kprobe:vfs_read: 2 events by kprobe\.multi$", "call helper 174", lacks=["acu_places"])})
case("returns", "kretprobe:vfs_read,kretprobe:vfs_write { @[func] = count(); }",
     {OLD: has("^kretprobe:vfs_read: 1 event by trampoline$", "^kretprobe:vfs_write: 1 event by trampoline$"),
      ("6.1", "6.18"): has("^kretprobe:vfs_read: 2 events by tracefs$", "call helper 173"),
      "6.12": has(r"^kretprobe:vfs_read: 2 events by kprobe\.multi$", "call helper 174")})
PAIR = "kprobe:vfs_read,kprobe:vfs_write { @[tid] = nsecs; } kretprobe:vfs_read,kretprobe:vfs_write { @t = hist(nsecs - @[tid]); }"
case("pair", PAIR, {("5.10", "6.1", "6.18"): has("^kprobe:vfs_read: 2 events by tracefs$", "^kretprobe:vfs_read: 2 events by tracefs$"),
                    "6.12": Expected(r"^kprobe:vfs_read: 2 events by kprobe\.session$", lacks=["^kretprobe:"])})
case("one_function", "kprobe:vfs_read { @[args.count] = count(); }",
     {("5.10", "6.1", "6.12"): has("^kprobe:vfs_read: 1 event by trampoline$"), "6.18": has("^kprobe:vfs_read: 1 event by tracefs$")})
case("registers", 'kprobe:vfs_read { @ = reg("ip"); }',
     {("5.10", "6.1", "6.18"): has("^kprobe:vfs_read: 1 event by tracefs$"), "6.12": has(r"^kprobe:vfs_read: 1 event by kprobe\.multi$")})
case("instruction", "kprobe:vfs_read+4 { @ = count(); }", {HOSTS: has("^kprobe:vfs_read\+4: 1 event by tracefs$")})
case("user_functions", "uprobe:libc:malloc { @ = count(); } uretprobe:libc:malloc { @r = count(); }",
     {("5.10", "6.1"): has("^uprobe:.*malloc: 1 event by tracefs$", "^uretprobe:.*malloc: 1 event by tracefs$"),
      "6.12": has(r"^uprobe:.*malloc: 1 event by uprobe\.multi$", r"^uretprobe:.*malloc: 1 event by uprobe\.multi$"),
      "6.18": Expected(r"^uprobe:.*malloc: 1 event by uprobe\.session$", lacks=["^uretprobe:"])})

# Helpers, maps and functions of the kernel.
case("current_task", "tracepoint:sched:sched_switch { @ = curtask.pid; }",
     {OLD: Expected("call helper 35", lacks=["get_current_task_btf"]), NEWER: has("call get_current_task_btf")})
case("map_by_thread", "tracepoint:sched:sched_switch { @[tid] = nsecs; }",
     {OLD: has("^map at: hash"), NEWER: has("^map at: task_storage", "call task_storage_get")})
case("keys_of_counts", "tracepoint:sched:sched_switch { @[args.next_comm] = count(); }",
     {OLD: Expected("^map at: percpu_hash", lacks=["acu_hot"]), NEWER: has("^map at: hash", "^map acu_hot: percpu_hash")})
SCRATCH = "tracepoint:sched:sched_switch { $y = str(12343, 300); $z = str(43434, 300); print($y == $z); }"
case("scratch_memory", SCRATCH, {OLD: lacks("cmpxchg"), NEWER: has("atomic cmpxchg")})
case("kfunc_allowed", 'begin { print(kfunc_allowed("bpf_task_from_pid")); }',
     {("5.10", "6.1"): has(r"\*\(u8 \*\)\(r\d \+ 8\) = 0$"), ("6.12", "6.18"): has(r"\*\(u8 \*\)\(r\d \+ 8\) = 1$")})
case("name_of_a_task", "begin { print(comm(1)); }",
     {("5.10", "6.1"): Expected(r"needs a kernel that finds tasks for programs \(Linux 6\.2\)", status=2), ("6.12", "6.18"): has("call kernel function")})
case("iterator", "iter:task { print(ctx.task.pid); }", {HOSTS: has("^probe iter:task: context iterator")}, "ir,bpf")

# What a kernel lacks, with the exit status that it has there.
case("for_each", "interval:s:1 { for ($kv : @) { print($kv.0); } } tracepoint:sched:sched_switch { @[pid] = 1; }",
     {OLD: refused(r"this kernel lacks `for_each` \(Linux 5\.13 has it\)"), NEWER: has("call for_each_map_elem")})
case("lookup_percpu", "tracepoint:sched:sched_switch { @[1] = count(); print(@[1]); }",
     {OLD: refused(r"this kernel lacks `lookup_percpu` \(Linux 5\.19 has it\)"), NEWER: has("call map_lookup_percpu_elem")})
case("tai_clock", "tracepoint:sched:sched_switch { print(nsecs(tai)); }",
     {OLD: refused(r"this kernel lacks `tai_clock` \(Linux 6\.1 has it\)"), NEWER: has("call ktime_get_tai_ns")})

# Types, trace events and symbols.
case("members", "tracepoint:sched:sched_switch { @ = curtask.__state; }",
     {OLD: Expected("has no member `__state`", "did you mean `state`", status=2), NEWER: has("^program tracepoint:sched:sched_switch")})
case("arguments", "tracepoint:skb:kfree_skb { @[args.reason] = count(); }",
     {OLD: Expected("tracepoint:skb:kfree_skb has no argument `reason`", status=2), NEWER: has("^probe tracepoint:skb:kfree_skb: context raw_tracepoint")}, "ir,bpf")
case("typed_arguments", "tracepoint:sched:sched_switch { @[args.next_pid] = count(); }",
     {HOSTS: has("^probe tracepoint:sched:sched_switch: context btf_tracepoint")}, "ir")
case("system_calls", "tracepoint:syscalls:sys_enter_openat { print(str(args.filename)); }",
     {HOSTS: has("^probe sys_enter: context btf_tracepoint", "call probe_read_user_str")}, "ir,bpf")
case("entry_of_functions", "fentry:vfs_read { print(args.file->f_inode->i_ino); }",
     {HOSTS: has("^fentry:vmlinux:vfs_read: 1 event by trampoline$")})
case("no_such_function", "kprobe:vfs_raed { @ = count(); }",
     {HOSTS: Expected("the kernel has no function `vfs_raed`", "did you mean `vfs_read`", status=3)})
case("no_such_event", "tracepoint:sched:sched_swich { @ = count(); }",
     {HOSTS: Expected("there is no tracepoint `sched:sched_swich`", "did you mean `tracepoint:sched:sched_switch`", status=3)})
case("symbol", 'begin { printf("%p", kaddr("vfs_read")); }', {HOSTS: has(r"= -21\d{8}$|= 0xffffffff8")})


# ------------------------------------------------------------------------------------------------- running

class Suite:
    def __init__(self, acu, folder, every):
        self.acu, self.folder, self.every = acu, folder, every
        self.problem = None  # with saving this host
        for host in HOSTS:
            text = open(os.path.join(HERE, "hosts", host + ".txt")).read()
            with open(self.file(host), "wb") as file:
                file.write(saved_host.write(saved_host.entries_of(text)))

    def file(self, host):
        return os.path.join(self.folder, host + ".host")

    def run(self, *words):
        return subprocess.run([self.acu, *words], capture_output=True, text=True, errors="replace", timeout=60 * SLOWNESS, cwd=ROOT,
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
        need(not self.problem, self.problem)
        if not os.path.exists(path):
            done = self.run("info", "--save", path + ".new")
            self.problem = f"not saved: {done.stderr}" if done.returncode else None
            need(not self.problem, self.problem)
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
        here, there, others = (without_clock(done.stdout).split("\n") for done in (first, saved, again))
        need(len(here) == len(there) == len(others), f"{len(there)} lines instead of {len(here)}")
        for mine, other, its in zip(here, others, there):
            need(mine == its or mine != other, f"{its!r} instead of {mine!r}")

    def test_info(self):
        here, there = self.run("info"), self.run("info", "--for", self.this_host())
        of_processes = re.sub(r"(?m)^  (control groups|in a container) .*\n", "", here.stdout)  # of this host alone
        need(of_processes.startswith(there.stdout.rstrip("\n") + "\n\ncapabilities"), there.stdout)

    def test_info_of_each(self):
        for host, release in zip(HOSTS, ("5.10.", "6.1.", "6.12.", "6.18.")):
            done = self.run("info", "--for", self.file(host))
            need(re.search(rf"^  kernel +Linux {re.escape(release)}", done.stdout, re.M), done.stdout[:300])
            need(bool(re.search("^  loop +yes", done.stdout, re.M)) == (host not in OLD), done.stdout)
            need("capabilities" not in done.stdout, "capabilities of a process of this host")

    def test_list_of_each(self):
        for host in HOSTS:
            done = self.run("list", "--for", self.file(host), "tracepoint:sched:*")
            need(done.stdout.split() == [f"tracepoint:sched:sched_{e}" for e in ("process_exit", "process_fork", "switch", "wakeup")], done.stdout + done.stderr)
            done = self.run("list", "--for", self.file(host), "-v", "kprobe:vfs_read")
            need("    struct file * file\n" in done.stdout, done.stdout + done.stderr)

    def test_without_abilities(self):
        done = self.run("run", "--for", self.file("6.12"), "--no-feature", "kprobe_multi,loop", "--dump", "bpf", "-e",
                        "kprobe:vfs_read,kprobe:vfs_write { @[func] = count(); } begin { $i = 0; while ($i < 100) { $i++; } }")
        need("2 events by tracefs" in done.stdout and "call loop" not in done.stdout, done.stdout + done.stderr)

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
