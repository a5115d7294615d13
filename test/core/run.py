#!/usr/bin/env python3
"""Core dumps, and the memory of live processes: run.py ACU [--filter TEXT]

Cores are of programs made here (crashes.c) and of running ones; what acu says of them is held against gdb and eu-stack on the
same core. Last line: `N passed, N failed, N skipped`.
"""
import json
import os
import pwd
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import floats
import goroutines
import heap_questions
import static_tools
import values
from common import ENVIRONMENT, HERE, LIMIT, SLOWNESS, TMP, Skipped, acu_core, call, crashed, end, gcore, gdb, need, path, program, run_suite, script, start


# ---------------------------------------------------------------------------------------------- summary

def summary_of_a_crash(acu):
    """Signal, address, the crashing thread with arguments and variables, other threads' stacks once, modules."""
    text = acu_core(acu, crashed())
    need(re.search(r"^signal    SIGSEGV in thread \d+, address 0x8: nothing is mapped there$", text, re.M), text)
    need(re.search(r"^   0  leaf\+0x[0-9a-f]+ at .*/crashes\.c:\d+", text, re.M), text)
    need(text.count("  middle+0x") == 4 and re.search(r"^ +\d+  main\+0x", text, re.M), text)
    need(re.search(r"^ +depth = 3, why = 0x[0-9a-f]+ \"because\"", text, re.M), text)
    need(re.search(r"^3 threads: \d+, \d+, \d+$", text, re.M), text)
    need(re.search(r"wait_forever\+0x", text), text)
    need(re.search(r"^  0x[0-9a-f]{12}  \S*/crashes  [0-9a-f]{40}$", text, re.M), text)


def summary_as_json(acu):
    told = json.loads(acu_core(acu, crashed(), "--json"))
    need(told["signal"] == "SIGSEGV" and told["address"] == "0x8", str(told)[:500])
    need([f["function"] for f in told["stacks"][0]["frames"]][:5] == ["leaf"] + ["middle"] * 4, str(told["stacks"][0]))
    need(len(told["stacks"][1]["threads"]) == 3, str(told["stacks"][1]))


def answers_in_files(acu):
    """-o takes what would go to standard output, also without a script."""
    file = path("answer")
    for words in (["--json"], ["leaks", "--json"], ["-e", 'oneshot { print("x"); }']):
        plain = acu_core(acu, crashed(), *words)
        need(acu_core(acu, crashed(), *words, "-o", file) == "" and open(file).read() == plain, f"{words}: {open(file).read()[:300]}")
    done = call(acu, "snap", "-p", os.getpid(), "-o", file)
    need(done.stdout == "" and open(file).read().startswith(f"process {os.getpid()} "), done.stdout[:300])
    done = call(acu, "core", crashed(), "-o", "/dev/full")
    need(done.returncode == 1 and "cannot write to /dev/full: No space left on device" in done.stderr, done.stderr)


def endings(acu):
    """What a program that aborted said last, and a stack that is too small: from the memory alone."""
    binary, core = path("endings"), path("endings.core")
    subprocess.run(["g++", "-g", "-O1", "-o", binary, os.path.join(HERE, "endings.cc"), "-pthread"], check=True, timeout=60 * SLOWNESS)
    unmapped, overflow = "nothing is mapped there", "stack overflow"
    for how, message, meaning in (
            ("free twice", "free(): double free detected in tcache 2", None), ("at", "exception std::out_of_range: vector::_M_range_check: __n (which is 5) >= this->size() (which is 0)", None),
            ("assert", f"endings: {HERE}/endings.cc:32: int main(int, char**): Assertion `how.empty() && \"nothing to do\"' failed.", None),
            ("derived", "exception BrokenOrder: order 17 has no lines", None), ("long", "exception std::logic_error: " + 200 * "x", None),
            ("plain", "exception Secret", None), ("int", "exception int", None), ("in a thread", "exception BrokenOrder: order 18 has no lines", None),
            ("nothing more", None, None), ("caught, then aborts", None, None), ("overflow", None, overflow), ("overflow in a thread", None, overflow),
            ("above the stack", None, unmapped)):
        call("gdb", "-nx", "-batch", "-ex", f"run '{how}'", "-ex", "generate-core-file " + core, binary)
        told = json.loads(acu_core(acu, core, "--json"))
        need(told.get("message") == message, f"{how}: {told.get('message')}")
        need(meaning is None or told.get("meaning") == meaning, f"{how}: {told.get('meaning')}")
        text = acu_core(acu, core)
        need((f"\nmessage   {message}\n" in text) if message else "\nmessage " not in text, f"{how}: {text}")
        if message:
            need(f"SIGABRT, abort: {message}" in call(acu, "why", "failing", core).stdout, f"{how}: acu why does not say it")
        os.unlink(core)


def deep_stacks(acu):
    """The innermost and the outermost frames, and how many there are between."""
    source, binary, core = path("deep.c"), path("deep"), path("deep.core")
    with open(source, "w") as file:
        file.write("#include <stdlib.h>\nvolatile int sink;\n__attribute__((noipa)) int dive(int n) {\n  if (n == 0) abort();\n  int r = dive(n - 1);\n  sink++;\n  return r + 1;\n}\n"
                   ""
                   "__attribute__((noipa)) int even(int n);\n__attribute__((noipa)) int odd(int n) {\n  int r = n ? even(n - 1) : dive(200);\n  sink++;\n  return r + 1;\n}\n"
                   "int even(int n) {\n  int r = odd(n);\n  sink++;\n  return r + 1;\n}\n"
                   "int main(int argc, char **argv) { return argc > 1 ? even(5000) : dive(20000); }\n")
    subprocess.run(["gcc", "-g", "-O1", "-o", binary, source], check=True, timeout=60)
    call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
    text = acu_core(acu, core)
    # The crash itself is another place of dive; then three calls at both ends of the recursion.
    between = re.search(r"\n +(\d+)  dive.*\n(?: {10}.*\n)* +… ([\d,]+) frames omitted, all of dive\n *(\d+)  dive", text)
    need(between and int(between[2].replace(",", "")) == int(between[3]) - int(between[1]) - 1 == 19994, text)
    need(text.count("  dive+0x") == 7 and re.search(r"^\d+  main\+0x", text, re.M), text)
    frames = json.loads(acu_core(acu, core, "--json", "--frames", "6"))["stacks"][0]["frames"]
    left_out = [f["left_out"] for f in frames if "left_out" in f]
    need(len(left_out) == 1 and left_out[0] > 19990 and len(frames) == 7, str(frames))
    whole = json.loads(acu_core(acu, core, "--json", "--frames", "100000"))["stacks"][0]["frames"]
    need(sum(f["function"] == "dive" for f in whole) == 20001, str(len(whole)))
    call("gdb", "-nx", "-batch", "-ex", "run 1", "-ex", "generate-core-file " + core, binary)
    frames = json.loads(acu_core(acu, core, "--json"))["stacks"][0]["frames"]
    shown = [f.get("function", f.get("left_out")) for f in frames]
    middle = ["dive"] * 4 + [194] + ["dive"] * 3 + ["odd", "even"]
    need(str(middle)[1:-1] in str(shown) and shown.count("odd") == shown.count("even") == 7, str(shown))
    need(re.search(r"\n +… 9,9\d\d frames omitted, [\d,]+ of them of (odd|even)\n", acu_core(acu, core)), str(shown))


def as_gdb(acu):
    """The frames of all threads are gdb's."""
    text = gdb(crashed(), "thread apply all bt")
    theirs = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?([\w@.]+) ", text[text.index("\nThread "):], re.M)
    ours = json.loads(acu_core(acu, crashed(), "--json"))
    names = [f["function"] for s in ours["stacks"] for _ in s["threads"] for f in s["frames"]]
    # gdb ends at main, and says pause or __libc_pause as it likes.
    plain = lambda all: sorted(re.sub(r"[@.].*|^_*libc_(?=pause)", "", n).lstrip("_") for n in all if "libc_start" not in n and n != "_start")
    need(plain(names) == plain(theirs), f"{plain(names)}\n{plain(theirs)}")


# ----------------------------------------------------------------------------------------------- scripts

def oneshot(acu):
    out, _ = script(acu, crashed(), 'oneshot { $n = target.list; $s = 0; while ($n != 0) { $s += $n->value; $n = $n->next; } '
                    'printf("%d %d %s\\n", $s, target.counter, str(target.list->name)); }')
    need(out == "10 42 n4\n", out)


def c_loop_and_maps(acu):
    out, _ = script(acu, crashed(), 'oneshot { for ($n = target.list; $n; $n = $n->next) { if ($n->value == 3) { continue; } '
                    '@[str($n->name)] = $n->value; @h = hist($n->value); @c = count(); } }')
    need("@[n4]: 4" in out and "@[n3]" not in out and "@c: 4" in out and "@h:" in out, out)


def lists(acu):
    """Lists by their first element and the member that leads on; one that goes in a circle ends, and is told of."""
    out, err = script(acu, crashed(), 'oneshot { for ($n : list(target.list, next)) { if ($n->value == 2) { continue; } '
                      'printf("%d ", $n->value); } for ($n : list((struct node *)0, next)) { printf("never"); } }')
    need(out == "4 3 1 0 " and "circle" not in err, out + err)
    out, err = script(acu, crashed(), 'oneshot { for ($n : list(target.circle, next)) { @ = count(); @nodes[$n] = 1; } print(len(@nodes)); clear(@nodes); }')
    need("a list goes in a circle" in err and out.startswith("3\n"), out + err)
    need(3 <= int(re.search(r"^@: (\d+)$", out, re.M).group(1)) <= 12, out)
    done = call(acu, "core", crashed(), "-e", "oneshot { for ($n : list(target.list)) { } }")
    need(done.returncode == 2 and "`list` takes the first element" in done.stderr, done.stderr)


def reads_that_may_fail(acu):
    out, err = script(acu, crashed(), 'oneshot { printf("%d %d %d %s %s\\n", try(*(int32 *)8, 42), valid(target.list), valid((int32 *)8), '
                      'try(str((char *)8), "none"), try(str(target.list->name), "none")); '
                      'printf("%d %d\\n", try(((struct node *)16)->next->value, -1), try(target.list->next->value, -1)); }')
    need(out == "42 1 0 none n4\n-1 3\n" and "not mapped" not in err, out + err)


def recursion(acu):
    out, _ = script(acu, crashed(), 'fn total($t : struct tree *) : int64 { if ($t == 0) { return 0; } return $t->key + total($t->left) + total($t->right); } '
                    'oneshot { printf("%d\\n", total(target.root)); }')
    need(out == str(sum(range(1, 64))) + "\n", out)
    out, _ = script(acu, crashed(), 'fn deep($n : int64) : int64 { if ($n == 0) { return 0; } return deep($n - 1) + 1; } '
                    'oneshot { printf("%d %d\\n", deep(1000), deep(100000)); }')
    need(out == "1000 100000\n", out)


def threads(acu):
    out, _ = script(acu, crashed(), 'thread { printf("%d %d %s %d\\n", pid == tid, target.own, comm, reg("sp") != 0); @[ustack] = count(); }')
    rows = sorted(line for line in out.splitlines() if line.endswith(" crashes 1"))
    need(rows == ["0 100 crashes 1", "0 101 crashes 1", "0 102 crashes 1", "1 7 crashes 1"], out)
    need(re.search(r"wait_forever\+\d+\n(.*\n)*?\]: 3$", out, re.M), out)


def frames(acu):
    out, _ = script(acu, crashed(), 'frame("middle") { printf("%d %d %s\\n", args.depth, locals.depth, str(args.why)); }')
    need(out == "0 0 because\n1 1 because\n2 2 because\n3 3 because\n", out)
    out, _ = script(acu, crashed(), 'frame("worker") { @ = count(); }')
    need("@: 3" in out, out)


def fault(acu):
    out, _ = script(acu, crashed(), 'fault { printf("%s %d %d %s\\n", func, args.p->value, tid == pid, str(args.why)); }')
    need(out == "leaf 4 1 because\n", out)


def reads_that_fail(acu):
    out, err = script(acu, crashed(), 'oneshot { printf("%d\\n", *(int32*)8); printf("never\\n"); } end { printf("end\\n"); }')
    need(out == "end\n" and "the memory read here is not mapped: the block ended here once" in err, out + err)


def what_cannot_be(acu):
    """A script that asks for what a core has not is told so, with its place."""
    for text, wanted in (('tracepoint:syscalls:sys_enter_open { }', "has no events"), ('frame("nobody") { }', "no thread is in a call of `nobody`"),
                         ('oneshot { print(target.own); }', "each thread has of its own"), ('oneshot { print(target.nothing); }', "no global or static variable"),
                         ('fault { print(locals.nothing); }', "there is no `locals.nothing` here")):
        done = call(acu, "core", crashed(), "-e", text)
        need(done.returncode in (2, 3) and wanted in done.stderr and "stdin:1:" in done.stderr, f"{text}: {done.returncode} {done.stderr}")
    done = call(acu, "run", "-e", "oneshot { }")
    need(done.returncode == 2 and "acu core FILE" in done.stderr, done.stderr)


def flame(acu):
    """Where all threads are, as a flame graph."""
    acu_core(acu, crashed(), "--flame", path("threads.folded"))
    text = open(path("threads.folded")).read()
    need(re.search(r";main;middle;middle;middle;middle;leaf 1$", text, re.M), text)
    need(sum(int(n) for n in re.findall(r";wait_forever(?:;.*)? (\d+)$", text, re.M)) == 3, text)
    acu_core(acu, crashed(), "--flame", path("threads.html"))
    need("<html" in open(path("threads.html")).read(), "no page")
    need("threads.xyz" in acu_core(acu, crashed(), "--flame", path("threads.xyz"), status=2), "a format that is none")


# ---------------------------------------------------------------------------------------- entry values

def entry_core(*options):
    """The program whose arguments only its callers can tell, its core, and gdb's frames of that."""
    name = "-".join(["entry", *options])
    binary, core = path(name), path(name + ".core")
    if not os.path.exists(core):
        subprocess.run(["gcc", "-g", "-O2", *options, "-o", binary, os.path.join(HERE, "entry.c")], check=True, timeout=60)
        call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
        need(os.path.exists(core), "gdb wrote no core")
    text = call("gdb", "-nx", "-batch", "-ex", "set print entry-values no", "-ex", "bt", binary, core).stdout
    return core, text[text.rindex("\n#0 "):]


def given_by_callers(acu):
    """Arguments that are nowhere any more, as callers tell of them: gdb's values; where it has none, none is made up."""
    for options in ((), ("-gdwarf-4",)):
        core, text = entry_core(*options)
        theirs = [dict(re.findall(r"(\w+)=(<optimized out>|\w+)", arguments)) for arguments in re.findall(r"^#\d+ .*? \((.*?)\) at ", text, re.M)]
        told = json.loads(acu_core(acu, core, "--json"))["stacks"][0]["frames"]
        ours = [frame.get("args", {}) for frame in told if frame["function"] in text]
        need(len(ours) >= len(theirs) >= 13, f"{len(theirs)} frames: {text}\n{told}")
        theirs.pop()  # main's callers are not gdb's business
        for mine, gdbs in zip(ours, theirs):
            need(list(mine) == list(gdbs), f"{mine}\n{gdbs}")
            for name, value in gdbs.items():
                is_gone = value.startswith("<")
                right = mine[name].startswith("<is optimised away") if is_gone else int(mine[name].split()[0], 0) == int(value, 0)
                need(right, f"{options} {name}: {mine[name]}, but gdb says {value}\n{text}")
        need(theirs[0] == {"why": "7"} and theirs[3]["why"].startswith("<"), text)


def given_by_callers_in_scripts(acu):
    """The same where scripts ask, also for calls of one place with different callers; what is gone is an error, or left out."""
    core, _ = entry_core()
    out, _ = script(acu, core, 'fault { printf("%d\\n", args.why); } frame("told") { printf("%d %d\\n", args.a, *args.place); } '
                    'frame("passes_on") { printf("%d %d\\n", args.x, args.p->key); } frame("second") { printf("%d\\n", locals.n); }')
    need(out == "7\n11 5\n11 5\n30\n", out)
    out, err = script(acu, core, 'frame("again") { printf("%d %d\\n", args.depth, args.hidden); }')
    need(out == "0 100\n1 200\n2 300\n" and "args.hidden" in err, out + err)
    for function, name in (("told_by_jump", "hidden"), ("even", "why")):
        done = call(acu, "core", core, "-e", f'frame("{function}") {{ print(args.{name}); }}')
        need(done.returncode in (2, 3) and "is optimised away here" in done.stderr, f"{done.returncode} {done.stdout}{done.stderr}")


def given_by_callers_live(acu):
    """The same of a process that goes on."""
    entry_core()
    process = start(path("entry"), "wait")
    try:
        done = call(acu, "snap", "-p", process.pid, "-e", 'frame("told") { printf("%d %d\\n", args.a, *args.place); } frame("crash") { printf("%d\\n", args.why); }')
        need(done.returncode == 0 and sorted(done.stdout.split("\n")) == ["", "11 5", "7"], done.stdout + done.stderr)
    finally:
        end(process)


# ------------------------------------------------------------------------------------------ bad cores

def cut_anywhere(acu):
    """At whatever length it is cut: a summary or one clear sentence."""
    data = open(crashed(), "rb").read(1 << 26)
    lengths = [0, 1, 16, 63, 64, 100, 200, 1000, 4096, 5000, 8192, 20000, 1 << 16, 1 << 18, 1 << 20, len(data) // 2, len(data) - 4096, len(data) - 1]
    for n in lengths:
        cut = path("cut.core")
        with open(cut, "wb") as file:
            file.write(data[:n])
        done = call(acu, "core", cut)
        text = done.stdout + done.stderr
        need(done.returncode in (0, 1), f"{n}: status {done.returncode}: {text[-500:]}")
        need(re.search(r"cut|empty|no core dump|not an ELF", text) or n == len(data) - 1, f"{n}: {text[:500]}")


def cut_at_every_page(acu):
    """A script that reads all of the list: the right sum, or an error that names the cut."""
    data = open(crashed(), "rb").read(1 << 26)
    right = 0
    for n in range(4096, len(data), 4096 * max(1, len(data) // 4096 // 150)):
        with open(path("page.core"), "wb") as file:
            file.write(data[:n])
        done = call(acu, "core", path("page.core"), "-e", 'oneshot { for ($n : list(target.list, next)) { @ = sum($n->value); } printf("whole\\n"); }')
        need(done.returncode in (0, 1, 2), f"{n}: status {done.returncode}: {done.stderr[-500:]}")
        if done.returncode == 0 and "whole" in done.stdout:
            need("@: 10\n" in done.stdout, f"{n}: {done.stdout}{done.stderr}")
            right += 1
        else:
            need(done.stderr.strip(), f"{n}: nothing is said")
    need(right, "no cut was harmless")


def summary_of_a_cut_core(acu):
    """Cut at each of its first pages and at some of the others: a summary, its heap and its leaks, or a sentence; no false damage."""
    data = open(crashed(), "rb").read(1 << 26)
    pages = len(data) // 4096
    for page in [*range(24), *range(24, pages, max(1, pages // 24))]:
        with open(path("part.core"), "wb") as file:
            file.write(data[:page * 4096])
        for words in ((), ("heap",), ("leaks", "explain")):
            done = call(acu, "core", path("part.core"), *words)
            text = done.stdout + done.stderr
            need(done.returncode in (0, 1) and text and "DAMAGED" not in text, f"page {page} {words}: status {done.returncode}: {text[-500:]}")


def damaged(acu):
    """Bytes changed anywhere in the headers: an answer in time, and no crash."""
    data = bytearray(open(crashed(), "rb").read(1 << 26))
    seed = 12345
    for turn in range(40):
        bad = bytearray(data)
        for _ in range(1 + turn % 7):
            seed = (seed * 1103515245 + 12345) % (1 << 31)
            bad[16 + seed % 12000] = seed >> 8 & 255
        with open(path("bad.core"), "wb") as file:
            file.write(bad)
        done = call(acu, "core", path("bad.core"))
        need(done.returncode in (0, 1), f"turn {turn}: status {done.returncode}: {done.stderr[-500:]}")


def other_machines(acu):
    """A core of another architecture, a program, a text: each is told apart."""
    head = bytearray(open(crashed(), "rb").read(1 << 16))
    cases = []
    arm = bytearray(head)
    arm[18:20] = struct.pack("<H", 183)
    cases.append((arm, "ARM64"))
    small = bytearray(head)
    small[4] = 1
    small[18:20] = struct.pack("<H", 3)
    cases.append((small, "32-bit x86"))
    cases.append((bytearray(open(program(), "rb").read()), "not a core dump"))
    cases.append((bytearray(b"hello, world\n" * 10), "no core dump"))
    cases.append((bytearray(b"\x28\xb5\x2f\xfd" + bytes(100)), "compressed"))
    for data, wanted in cases:
        with open(path("other"), "wb") as file:
            file.write(data)
        text = acu_core(acu, path("other"), status=1)
        need(wanted in text and text.count("\n") == 1, text)
    need("No such file" in acu_core(acu, path("nowhere"), status=1), "a file that is not there")


def missing_binary(acu):
    """Without the program: what is known is told, and what is missing; with another one of its name its build-id is told."""
    other = path("away")
    core = crashed()
    os.rename(program(), other)
    try:
        text = acu_core(acu, core)
        need("missing: " in text and "SIGSEGV" in text, text)
        subprocess.run(["gcc", "-g", "-O2", "-o", path("crashes"), os.path.join(HERE, "crashes.c"), "-pthread"], check=True, timeout=60)
        text = acu_core(acu, core)
        need(re.search(r"its build-id is [0-9a-f]{40}, not [0-9a-f]{40}", text), text)
        os.makedirs(path("root") + TMP, exist_ok=True)
        shutil.copy(other, path("root") + TMP + "/crashes")
        text = acu_core(acu, core, "--sysroot", path("root"))
        need(re.search(r"  leaf\+0x[0-9a-f]+ at .*/crashes\.c", text), text)
    finally:
        os.rename(other, path("crashes"))


def huge_and_sparse(acu):
    """A core of 20 GB, nearly all of it holes: little memory, little time."""
    data = open(crashed(), "rb").read(1 << 26)
    huge = path("huge.core")
    with open(huge, "wb") as file:
        file.write(data)
        at = struct.unpack_from("<Q", data, 32)[0]
        count = struct.unpack_from("<H", data, 56)[0]
        # The last segment, which is code of the kernel's, becomes 20 GB of nothing.
        last = at + 56 * (count - 1)
        address = 0x100000000000
        offset = (len(data) + 4095) // 4096 * 4096
        size = 20 << 30
        file.seek(last)
        file.write(struct.pack("<IIQQQQQQ", 1, 6, offset, address, 0, size, size, 4096))
        file.truncate(offset + size)
    done = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys\ncode = subprocess.run(sys.argv[1:]).returncode\n"
                           "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nsys.exit(code)",
                           acu, "core", huge], capture_output=True, text=True, timeout=LIMIT, env=ENVIRONMENT)
    need(done.returncode == 0 and "SIGSEGV" in done.stdout, done.stdout + done.stderr)
    peak = int(re.search(r"^peak (\d+)", done.stdout, re.M).group(1))
    need(peak < 300 << 10, f"{peak} KB")
    os.unlink(huge)


# ---------------------------------------------------------------------------------------- running programs

SCRIPT = ('oneshot { $n = target.list; $s = 0; while ($n != 0) { $s += $n->value; $n = $n->next; } printf("sum %d\\n", $s); } '
          'thread { @[ustack(raw)] = count(); @own = sum(target.own); }')


def live_and_dead(acu):
    """One script on a live process and on its core: the same."""
    process = start(program(), "1000", "wait")
    try:
        live = call(acu, "snap", "-p", process.pid, "-e", SCRIPT)
        need(live.returncode == 0, live.stdout + live.stderr)
        need("was stopped" in live.stderr, live.stderr)
        dead, _ = script(acu, gcore(process.pid, "live"), SCRIPT)
        need(live.stdout == dead and "sum 499500" in dead, live.stdout + dead)
        need(process.poll() is None and "t (tracing" not in open(f"/proc/{process.pid}/status").read(), "it does not run on")
        loose = call(acu, "snap", "-p", process.pid, "--no-stop", "-e", 'oneshot { print(target.counter); }')
        need(loose.stdout == "42\n", loose.stdout + loose.stderr)
        late = call(acu, "snap", "-p", process.pid, "-e", "end { $n = target.list; $s = 0; while ($n != 0) { $s += $n->value; $n = $n->next; } "
                    "print(($s, *(int32 *)uaddr(\"counter\"))) }")
        need(late.stdout == "(499500, 42)\n" and "WARNING" not in late.stderr, late.stdout + late.stderr)
        text = call(acu, "snap", "-p", process.pid).stdout
        need("wait_forever" in text, text)
    finally:
        end(process)


def nobody_there(acu):
    """Processes that are not there, or may not be looked at."""
    process = start(program(), "10", "wait")
    end(process)
    done = call(acu, "snap", "-p", process.pid)
    need(done.returncode == 3 and "there is no process" in done.stderr, f"{done.returncode} {done.stderr}")
    need(call(acu, "snap").returncode == 2, "no process was named")


def not_allowed(acu):
    """A process of another user: what is missing is named."""
    if os.geteuid():
        raise Skipped("only root can become another user")
    process = start(program(), "10", "wait")
    folder = tempfile.mkdtemp(prefix="acu-nobody-")
    try:
        os.chmod(folder, 0o755)
        own = shutil.copy(acu, folder)
        nobody = pwd.getpwnam("nobody")
        done = subprocess.run([own, "snap", "-p", str(process.pid)], capture_output=True, text=True, timeout=LIMIT, user=nobody.pw_uid,
                              group=nobody.pw_gid, extra_groups=[], cwd="/", env=dict(ENVIRONMENT, ACU_CACHE=folder + "/cache"))
        need(done.returncode == 4 and f"process {process.pid}" in done.stderr, f"{done.returncode} {done.stderr}")
        need("CAP_SYS_PTRACE" in done.stderr and done.stderr.count("ERROR") == 1, done.stderr)
    finally:
        shutil.rmtree(folder)
        end(process)


def heap_of_a_process(acu):
    """The heap of a live process is that of its core."""
    process = start(program(), "1000", "wait")
    try:
        os.kill(process.pid, signal.SIGSTOP)
        live = call(acu, "snap", "-p", process.pid, "--max-pause", "10s", "heap", "--json")
        core = gcore(process.pid, "heap")
        need(live.returncode == 0 and json.loads(live.stdout) == json.loads(acu_core(acu, core, "heap", "--json")), live.stdout + live.stderr)
        need(json.loads(live.stdout)["sizes"]["24"] >= 1000, live.stdout)
        found = call(acu, "snap", "-p", process.pid, "--max-pause", "10s", "find", "n999")
        need(re.search(r"block 0x[0-9a-f]+ of 24 B, \+12$", found.stdout, re.M), found.stdout + found.stderr)
    finally:
        end(process)


def replaced_program(acu):
    """A program that goes on after its file was deleted, or replaced by another one: an update."""
    source, binary = path("updated.c"), path("updated")
    with open(source, "w") as file:
        file.write("#include <stdio.h>\n#include <unistd.h>\nvolatile int sink;\n__attribute__((noipa)) void serve(int request) {\n  for (;; sink = request) pause();\n}\n"
                   'int main(void) { puts("ready"); fflush(stdout); serve(17); }\n')
    for options in ([], ["-Wl,--build-id=none"]):
        subprocess.run(["gcc", "-g", "-O1", *options, "-o", binary, source], check=True, timeout=60)
        process = start(binary)
        try:
            os.unlink(binary)
            text = call(acu, "snap", "-p", process.pid).stdout
            need(re.search(r"serve\+0x.* at .*updated\.c:5", text) and "missing" not in text, text)
            shutil.copy("/bin/true", binary)
            text = call(acu, "snap", "-p", process.pid).stdout
            need(re.search(r"serve\+0x.* at .*updated\.c:5", text) and "build-id is" not in text, text)
        finally:
            end(process)


def gone_meanwhile(acu):
    """A process that ends at any time of the snapshot: an answer, or one sentence that says so."""
    for turn in range(30):
        process = subprocess.Popen(["sleep", f"{turn * 0.004:.3f}"])
        done = call(acu, "snap", "-p", process.pid, "-e", "thread { @[ustack] = count(); }")
        process.wait()
        need(done.returncode in (0, 1, 3, 4), f"status {done.returncode} {done.stderr}")
        need(done.returncode == 0 or (done.stderr.count("ERROR") == 1 and str(process.pid) in done.stderr), done.stderr)


def ended_but_there(acu):
    """A process that nobody has waited for yet, and one whose first thread has ended: an answer, or one sentence, and soon."""
    zombie = subprocess.Popen(["true"])
    while state_of(zombie.pid) != "Z":
        time.sleep(0.01)
    done = call(acu, "snap", "-p", zombie.pid)
    need(done.returncode == 3 and str(zombie.pid) in done.stderr and "has ended" in done.stderr, f"{done.returncode} {done.stderr}")
    zombie.wait()
    headless = subprocess.Popen(["/usr/bin/python3", "-c", "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"
                                 "ctypes.CDLL(None).pthread_exit(None)"])
    try:
        while state_of(headless.pid) != "Z":
            time.sleep(0.01)
        done = call(acu, "snap", "-p", headless.pid)
        need(done.returncode in (0, 1, 3, 4) and (done.returncode == 0 or done.stderr.count("ERROR") == 1), f"{done.returncode} {done.stderr}")
        need(state_of(headless.pid) == "Z" and open(f"/proc/{headless.pid}/status").read().count("TracerPid:\t0") == 1, "it is held")
    finally:
        headless.kill()
        headless.wait()


def another_debugger(acu):
    process = start(program(), "10", "wait")
    other = subprocess.Popen(["gdb", "-nx", "-q", "-p", str(process.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        limit = time.monotonic() + LIMIT
        while "TracerPid:\t0\n" in open(f"/proc/{process.pid}/status").read():
            need(time.monotonic() < limit, "gdb does not come")
            time.sleep(0.05)
        done = call(acu, "snap", "-p", process.pid)
        need(done.returncode == 4 and f"held by another debugger: process {other.pid} (gdb)" in done.stderr, f"{done.returncode} {done.stderr}")
    finally:
        other.kill()
        other.communicate()
        end(process)


def state_of(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[0]


def as_eu_stack(acu):
    """Running programs, frame by frame as eu-stack on the same core."""
    if not shutil.which("eu-stack"):
        raise Skipped("eu-stack is not here")
    commands = [["sleep", "1000"], ["bash", "-c", "read x"], ["cat"], ["python3", "-c", "import sys; sys.stdin.read()"],
                ["perl", "-e", "<STDIN>"], ["tail", "-f", "/dev/null"], ["sort"], ["awk", "{}"], ["sed", "p"], ["tee"], ["wc"], ["od"],
                ["grep", "x"], ["cut", "-c1"], ["tr", "a", "b"], ["uniq"], ["head"], ["md5sum"], ["gzip", "-c"], ["xz", "-c"], ["bc"],
                ["gawk", "{}"], ["dash", "-c", "read x"], ["base64"], ["nl"], ["fold"], ["tac"]]
    compared = frames_seen = 0
    wrong = []
    for words in commands:
        if not shutil.which(words[0]):
            continue
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            limit = time.monotonic() + LIMIT
            while (state := state_of(process.pid)) not in "SZ" and time.monotonic() < limit:
                time.sleep(0.02)
            if state != "S":
                continue  # it did not want to read
            core = gcore(process.pid, "program")
            theirs = call("eu-stack", "--core", core, "-n", "256").stdout
            theirs = [int(a, 16) for a in re.findall(r"^#\d+ +0x([0-9a-f]+)", theirs, re.M)]
            told = json.loads(acu_core(acu, core, "--json", "--lang", "native"))
            ours = [int(f["address"], 16) for s in told["stacks"] for _ in s["threads"] for f in s["frames"] if "inlined" not in f]
            os.unlink(core)
            if not theirs:
                continue
            compared += 1
            frames_seen += len(theirs)
            # eu-stack tells return addresses less one of all but the innermost.
            same = len(ours) >= len(theirs) and all(a in (b, b + 1) for a, b in zip(ours, theirs))
            if not same:
                wrong.append(f"{words[0]}: {[hex(a) for a in ours]} {[hex(a) for a in theirs]}")
        finally:
            process.kill()
            process.communicate()
    need(not wrong, "\n".join(wrong))
    need(compared >= 15, f"only {compared} programs could be compared")


def leaks(acu):
    """All that was forgotten in four threads' heaps, and nothing else; totals that fit."""
    process = start(program("leaky"))
    try:
        core = gcore(process.pid, "leaky")
    finally:
        end(process)
    told = json.loads(acu_core(acu, core, "leaks", "--json"))
    sizes = sorted(c["size"] for c in told["chunks"])
    need(told["leaks"] == 100, f"{told['leaks']}: {sizes[:20]} … {sizes[-20:]}")
    need(all(1000 <= s < 1040 for s in sizes), str(sizes))
    heap = json.loads(acu_core(acu, core, "heap", "--json"))
    need(heap["arenas"] >= 5 and 600000 <= heap["used"]["chunks"] < 601500, str(heap)[:300])
    address = told["chunks"][0]["address"]
    need(acu_core(acu, core, "refs", address).startswith("0 locations point to the block at " + address), "something leads to what is lost")
    need("usage" not in acu_core(acu, core, "refs", status=2), "refs takes an address")
    os.unlink(core)


def find(acu):
    text = acu_core(acu, crashed(), "find", "because")
    need(re.match(r"(1 location contains|\d+ locations contain) `because`", text), text)
    text = acu_core(acu, crashed(), "find", "n4")
    need(re.search(r"^  0x[0-9a-f]+  block 0x[0-9a-f]+ of 24 B, \+12$", text, re.M), text)


TESTS = [
    leaks, find, summary_of_a_crash, summary_as_json, answers_in_files, endings, deep_stacks, as_gdb, oneshot, c_loop_and_maps, recursion, threads, frames, fault, reads_that_fail,
    what_cannot_be, cut_anywhere, summary_of_a_cut_core, not_allowed, damaged, other_machines, missing_binary, huge_and_sparse, live_and_dead, nobody_there,
    another_debugger, ended_but_there, as_eu_stack, lists, reads_that_may_fail, flame, cut_at_every_page, heap_of_a_process, replaced_program, gone_meanwhile,
    given_by_callers, given_by_callers_in_scripts, given_by_callers_live, *floats.TESTS, *goroutines.TESTS, *heap_questions.TESTS, *static_tools.TESTS, *values.TESTS,
]


sys.exit(run_suite(TESTS, TMP))
