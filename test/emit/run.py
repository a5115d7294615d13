#!/usr/bin/env python3
"""Scripts as other frameworks have them, checked with the frameworks that this host has: run.py ACU [--filter TEXT] [--all]

- Each program of programs/ runs as it is in acu, and as emitted for bpftrace's version here in bpftrace, on the same load (load.c):
  what they print is the same, counts and texts.
- Tools are written for the latest bpftrace: acu reads the result and would write the same again.
- Tools are written for bpftrace 0.17: bpftrace compiles each (`-d`), or bpftrace.txt says what it can't carry over. By default one in three
  of them, with --all each.
- Tools are written for SystemTap and parsed by it (`stap -p1`), where the package is installed, and for D, by the same rules: stap.txt, d.txt.
  `acu dscript -e` compiles each of those in D.
- Programs of programs/ that D can have run in `acu dscript` as emitted, on the same load: their counts are those of acu.
- docs/emit_support.md is what `acu emit --support` prints.

With --write, bpftrace.txt, stap.txt and d.txt are written anew, and nothing is tested.

Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, need, run_tests, take_filter

BPFTRACE = "/usr/bin/bpftrace"
VERSION = "0.17"
TARGETS = ("bpftrace", "stap", "d")
LIMIT = 60 * SLOWNESS
IN_STEPS_OF = 3  # of the tools, without --all
# Blanks and order of lines with equal values differ; "Attaching N probes" went to standard error in later versions.
ATTACHING = re.compile(r"^Attaching \d+ probes?\.\.\.$")
STATISTICS = re.compile(r"\{ \.count = (-?\d+), \.average = (-?\d+), \.total = (-?\d+) \}")  # written otherwise before 0.22
UNSUPPORTED = 5
# What Debian's bpftrace says where it can't do on this kernel what it supports.
LACKS = {
    "Invalid probe type made it to attachpoint parser": "this bpftrace aborts at raw tracepoints",
    "not available for your kernel version": "this bpftrace has no iterators on this kernel",
}


def call(words, folder=None, **variables):
    try:
        return subprocess.run(words, cwd=folder, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{words[0]} did not end") from None


def variables_of(path):
    """What the first line of a script sets in the environment."""
    return dict(re.findall(r"(BPFTRACE_\w+)=(\S+)", open(path).readline()))


def lines_of(text):
    text = STATISTICS.sub(r"count \1, average \2, total \3", text)
    return sorted(line.rstrip() for line in text.split("\n") if line.strip() and not ATTACHING.match(line))


def emit(acu, target, script, folder, *more):
    words = [acu, "emit", "--to", target, "--no-warnings"]
    if target == "bpftrace":
        words += ["--target-version", VERSION]
    return call(words + [script, *more], folder)


def compare(acu, program, folder):
    """A program in acu and in bpftrace."""
    if not os.path.exists(BPFTRACE):
        raise Skipped("bpftrace is not installed")
    load = [] if "exit();\n}" in open(program).read() else ["-c", "./emit_load"]
    own = call([acu, "run", "--no-warnings", program] + load, folder)
    need(own.returncode == 0, f"acu: {own.stderr}")
    newest = os.path.join(folder, "newest_" + os.path.basename(program))
    written = call([acu, "emit", "--to", "bpftrace", "--no-warnings", "-o", newest, program], folder)
    need(written.returncode == 0, f"emit: {written.stderr}")
    again = call([acu, "run", "--no-warnings", newest] + load, folder)
    need(lines_of(again.stdout) == lines_of(own.stdout), f"acu:\n{own.stdout}\nas emitted for the latest bpftrace:\n{again.stdout}{again.stderr}\n{open(newest).read()}")
    written = emit(acu, "bpftrace", program, folder)
    need(written.returncode == 0, f"emit: {written.stderr}")
    path = os.path.join(folder, "emitted_" + os.path.basename(program))
    open(path, "w").write(written.stdout)
    other = call([BPFTRACE, path] + load, folder, **variables_of(path))
    need(other.returncode == 0, f"bpftrace: {other.stderr}\n{written.stdout}")
    ours, theirs = lines_of(own.stdout), lines_of(other.stdout)
    need(ours, "acu printed nothing")
    need(ours == theirs, f"acu:\n{own.stdout}\nbpftrace:\n{other.stdout}\n{written.stdout}")


def read_exceptions(target):
    """What a target can't carry over: `NAME REASON`, with a text that the message has."""
    path = os.path.join(HERE, target + ".txt")
    rows = [line.split(maxsplit=1) for line in open(path) if line.strip() and not line.startswith("#")]
    return {name: reason.strip() for name, reason in rows}


def kernel_folder(folder):
    """What stap wants to see of a kernel's build before it parses; it is empty."""
    kernel = os.path.join(folder, "kernel")
    for name in ("include/config", "include/generated"):
        os.makedirs(os.path.join(kernel, name), exist_ok=True)
    for name, text in ((".config", ""), ("Module.symvers", ""), ("include/config/kernel.release", os.uname().release + "\n")):
        open(os.path.join(kernel, name), "w").write(text)
    return kernel


def check_stap_functions(acu, folder):
    """Names of functions and types of their arguments, of a script that needs nothing of a kernel."""
    if not shutil.which("stap"):
        raise Skipped("SystemTap is not installed")
    written = emit(acu, "stap", os.path.join(HERE, "functions.bt"), folder)
    need(written.returncode == 0, written.stderr)
    path = os.path.join(folder, "functions.stp")
    open(path, "w").write(written.stdout)
    analysed = call(["stap", "-r", kernel_folder(folder), "-p2", path], folder)
    need(analysed.returncode == 0, f"{analysed.stderr[-2000:]}\n{written.stdout}")


def parse(acu, target, path, folder):
    if target == "bpftrace":
        if not os.path.exists(BPFTRACE):
            raise Skipped("bpftrace is not installed")
        return call([BPFTRACE, "-d", path], folder, **variables_of(path))
    if target == "stap":
        if not shutil.which("stap"):
            raise Skipped("SystemTap is not installed")
        return call(["stap", "-r", kernel_folder(folder), "-p1", path], folder)
    return call([acu, "dscript", "-e", "-p", str(os.getpid()), "-s", path], folder)


def check_tool(acu, target, name, folder, exceptions):
    written = emit(acu, target, name, folder)
    if written.returncode not in (0, UNSUPPORTED):
        raise Skipped(f"acu does not compile it here: {written.stderr.strip().splitlines()[0] if written.stderr.strip() else written.returncode}")
    if name in exceptions:
        need(written.returncode == UNSUPPORTED, f"it is in {target}.txt, and is carried over")
        return need(exceptions[name] in written.stderr, f"not for this reason: {exceptions[name]}\n{written.stderr}")
    need(written.returncode == 0, written.stderr)
    path = os.path.join(folder, f"{name}.{target}")
    open(path, "w").write(written.stdout)
    parsed = parse(acu, target, path, folder)
    for said, why in LACKS.items():
        if said in parsed.stderr:
            raise Skipped(why)
    need(parsed.returncode == 0, f"{parsed.stderr[-2000:]}\n{written.stdout}")


# Programs that D prints less of, or that `acu dscript` can't have.
NOT_IN_D = {
    "known_keys": "D prints no associative arrays at the end",
    "maps": "D prints no associative arrays at the end",
    "results": "acu dscript has no uregs[]",
    "structures": "acu dscript takes no definitions of structures",
}


def numbers_of(text):
    """All numbers that are printed, in order of size: layouts of D differ."""
    return sorted(int(n) for n in re.findall(r"-?\b\d+\b", text))


def compare_d(acu, program, folder):
    """A program in acu and, as emitted for DTrace, in `acu dscript`."""
    if "hist(" in open(program).read():
        raise Skipped("distributions of D have their own layout")
    name = os.path.basename(program)[:-3]
    if name in NOT_IN_D:
        raise Skipped(NOT_IN_D[name])
    load = [] if "exit();\n}" in open(program).read() else ["-c", "./emit_load"]
    written = emit(acu, "d", program, folder)
    if written.returncode == UNSUPPORTED:
        raise Skipped("it is not carried over to D")
    need(written.returncode == 0, written.stderr)
    path = os.path.join(folder, os.path.basename(program)[:-3] + ".d")
    open(path, "w").write(written.stdout)
    own = call([acu, "run", "--no-warnings", program] + load, folder)
    other = call([acu, "dscript", "-q", "-s", path] + load, folder)
    need(own.returncode == 0 and other.returncode == 0, f"{own.stderr}{other.stderr}\n{written.stdout}")
    need(numbers_of(own.stdout) == numbers_of(other.stdout), f"acu:\n{own.stdout}\nD:\n{other.stdout}\n{written.stdout}")


def check_newest(acu, name, folder):
    """A tool for the latest bpftrace: acu reads it as well, since its language is the same, and would write the same again."""
    path, again = os.path.join(folder, name + ".newest.bt"), os.path.join(folder, name + ".again.bt")
    words = [acu, "emit", "--to", "bpftrace", "--no-warnings", "-o"]
    written = call(words + [path, name], folder)
    if written.returncode != 0:
        raise Skipped("it is not carried over, or not compiled here")
    once_more = call(words + [again, path], folder)
    need(once_more.returncode == 0, f"{once_more.stderr}\n{open(path).read()}")

    def code(file):
        return [line for line in open(file) if line.strip() and not line.lstrip().startswith(("//", "#!"))]

    need(code(path) == code(again), f"{open(path).read()}\nbecomes\n{open(again).read()}")


def check_support(acu):
    said = call([acu, "emit", "--support"])
    document = open(os.path.join(ROOT, "docs", "emit_support.md")).read()
    need(said.stdout.strip() in document, "docs/emit_support.md differs from what `acu emit --support` prints")


def write_exceptions(acu, target, tools):
    """A tool that can't be carried over, with what its first message is about."""
    path = os.path.join(HERE, target + ".txt")
    rows = [line for line in open(path) if line.startswith("#")]
    for name in tools:
        written = emit(acu, target, name, HERE)
        found = re.search(r"ERROR: (.*?) can't be carried over", written.stderr)
        if written.returncode == UNSUPPORTED and found:
            rows.append(f"{name} {found.group(1)}\n")
    open(path, "w").writelines(rows)


def main():
    arguments = sys.argv[1:]
    wanted = take_filter(arguments)
    is_all = "--all" in arguments
    acu = os.path.abspath([a for a in arguments if not a.startswith("-")][0])
    tools = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(ROOT, "tools", "*.bt")))
    if "--write" in arguments:
        for target in TARGETS:
            write_exceptions(acu, target, tools)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcc", "-g", "-O1", "-o", os.path.join(folder, "emit_load"), os.path.join(HERE, "load.c")], check=True)
        programs = sorted(glob.glob(os.path.join(HERE, "programs", "*.bt")))
        tests = [(f"run {os.path.basename(p)[:-3]}", functools.partial(compare, program=p, folder=folder)) for p in programs]
        tests += [(f"run d {os.path.basename(p)[:-3]}", functools.partial(compare_d, program=p, folder=folder)) for p in programs]
        for target in TARGETS:
            exceptions = read_exceptions(target)
            step = 1 if is_all else IN_STEPS_OF
            tests += [(f"{target} {n}", functools.partial(check_tool, target=target, name=n, folder=folder, exceptions=exceptions)) for n in tools[::step]]
        tests += [(f"newest {n}", functools.partial(check_newest, name=n, folder=folder)) for n in (tools if is_all else tools[::IN_STEPS_OF])]
        tests.append(("stap functions", functools.partial(check_stap_functions, folder=folder)))
        tests.append(("support", check_support))
        return run_tests([t for t in tests if wanted in t[0]], acu)


if __name__ == "__main__":
    sys.exit(main())
