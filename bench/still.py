#!/usr/bin/env python3
"""Core dumps side by side with gdb's Python: bench/still.py [--acu ACU] [--runs N] [--lldb] [--out FILE]

Two programs with 200,000 elements in two containers each. Every tool walks both on the same core and prints a sum, which must
be the program's own; measured is the whole process, the median of N runs after one that is not counted. And how long it takes to
find what nothing leads to among 600,000 chunks of a heap.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

ACU = {
    "list": "oneshot { $s = 0; for ($n = target.list; $n; $n = $n->next) { $s += $n->value; } "
            "for ($i : 0..65536) { for ($e = target.buckets[$i]; $e; $e = $e->next) { $s += $e->value; } } "
            'printf("%ld\\n", $s); }',
    # std::map is a red-black tree below _M_header; std::unordered_map a list below _M_before_begin.
    "containers": "fn total($n : struct _Rb_tree_node_base *) : int64 { $s = (int64)0; $t = $n; "
                  "while ($t) { $s += *(int64 *)uptr((uint64)$t + 40); $s += total($t->_M_left); $t = $t->_M_right; } return $s; } "
                  "oneshot { $s = total(target.ordered._M_t._M_impl._M_header._M_parent); "
                  "for ($n = target.hashed._M_h._M_before_begin._M_nxt; $n; $n = $n->_M_nxt) { $s += *(int64 *)uptr((uint64)$n + 16); } "
                  'printf("%ld\\n", $s); }',
}
GDB = {
    "list": """
import gdb
s = 0
n = gdb.parse_and_eval("list")
while n:
    s += int(n["value"])
    n = n["next"]
b = gdb.parse_and_eval("buckets")
for i in range(65536):
    e = b[i]
    while e:
        s += int(e["value"])
        e = e["next"]
print(s)
""",
    "containers": """
import gdb
base = gdb.lookup_type("long").pointer()
s = 0
stack = [gdb.parse_and_eval("ordered._M_t._M_impl._M_header._M_parent")]
char = gdb.lookup_type("char").pointer()
while stack:
    n = stack.pop()
    while n:
        s += int((n.cast(char) + 40).cast(base).dereference())
        stack.append(n["_M_left"])
        n = n["_M_right"]
n = gdb.parse_and_eval("hashed._M_h._M_before_begin._M_nxt")
while n:
    s += int((n.cast(char) + 16).cast(base).dereference())
    n = n["_M_nxt"]
print(s)
""",
}
LLDB_BEGIN = """
import lldb
def __lldb_init_module(debugger, _):
    t = debugger.GetSelectedTarget()
    p = t.GetProcess()
"""
# By values (SBValue) as with gdb it takes more than 400 s: each keeps all that led to it. So memory is read, by known offsets.
LLDB = {
    "list": """
s = 0
e = lldb.SBError()
read = p.ReadUnsignedFromMemory
n = t.FindFirstGlobalVariable("list").GetValueAsUnsigned()
while n:
    s += read(n + 8, 8, e)
    n = read(n, 8, e)
b = t.FindFirstGlobalVariable("buckets").GetLoadAddress()
for i in range(65536):
    n = read(b + 8 * i, 8, e)
    while n:
        s += read(n + 12, 4, e)
        n = read(n, 8, e)
print(s)
""",
    "containers": """
s = 0
e = lldb.SBError()
read = p.ReadUnsignedFromMemory
path = "._M_t._M_impl._M_header._M_parent"
stack = [t.FindFirstGlobalVariable("ordered").GetNonSyntheticValue().GetValueForExpressionPath(path).GetValueAsUnsigned()]
while stack:
    n = stack.pop()
    while n:
        s += read(n + 40, 8, e)
        stack.append(read(n + 16, 8, e))
        n = read(n + 24, 8, e)
path = "._M_h._M_before_begin._M_nxt"
n = t.FindFirstGlobalVariable("hashed").GetNonSyntheticValue().GetValueForExpressionPath(path).GetValueAsUnsigned()
while n:
    s += read(n + 16, 8, e)
    n = read(n, 8, e)
print(s)
""",
}


def build(folder, name):
    source = os.path.join(HERE, "load", "still_list.c" if name == "list" else "still_containers.cc")
    program = os.path.join(folder, name)
    subprocess.run(["gcc" if name == "list" else "g++", "-g", "-O1", "-o", program, source], check=True)
    core = os.path.join(folder, name + ".core")
    pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    if "/" not in pattern and not pattern.startswith("|"):
        place = os.path.join(folder, name + ".crash")
        os.makedirs(place)
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        subprocess.run([program], cwd=place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited))
        found = os.listdir(place)
        if found:
            os.rename(os.path.join(place, found[0]), core)
    if not os.path.exists(core):
        subprocess.run(["gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, program], capture_output=True)
    expected = subprocess.run(["gdb", "-nx", "-batch", "-ex", "print expected", program, core], capture_output=True, text=True).stdout
    return program, core, re.search(r"^\$1 = (\d+)", expected, re.M).group(1)


def build_leaky(folder):
    """A core of four threads with 600,000 chunks, of which 100 are lost; with gcore, as the program lives on."""
    program = os.path.join(folder, "leaky")
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", program, os.path.join(ROOT, "test", "core", "leaky.c")], check=True)
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    process.stdout.readline()
    subprocess.run(["gcore", "-o", program, str(process.pid)], capture_output=True)
    process.kill()
    return f"{program}.{process.pid}"


def measure(words, expected, runs, environment):
    """Milliseconds from exec to exit, and of processor time; the sum must be right."""
    walls, processors = [], []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        walls.append((time.monotonic() - begin) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        if not re.search(rf"^{expected}$", done.stdout, re.M):
            sys.exit(f"{' '.join(words)[:200]}: not {expected}:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return statistics.median(walls[1:]), statistics.median(processors[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--lldb", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="acu-still-")
    # Debian's lldb 14 does not find its own Python module.
    modules = ":".join(glob.glob("/usr/lib/llvm-*/lib/python3*/dist-packages") + ["/usr/lib/python3/dist-packages"])
    environment = dict(os.environ, PYTHONPATH=modules, ACU_CACHE=os.path.join(folder, "cache"), DEBUGINFOD_URLS="")
    rows = []
    try:
        for name in ("list", "containers"):
            program, core, expected = build(folder, name)
            ours = measure([options.acu, "core", core, "-e", ACU[name]], expected, options.runs, environment)
            rows.append((name, "acu", ours, ours))
            script = os.path.join(folder, name + ".py")
            open(script, "w").write(GDB[name])
            theirs = measure(["gdb", "-nx", "-batch", "-x", script, program, core], expected, max(1, options.runs // 4), environment)
            rows.append((name, "gdb's Python", theirs, ours))
            if options.lldb and name in LLDB and shutil.which("lldb"):
                open(script, "w").write(LLDB_BEGIN + LLDB[name].replace("\n", "\n    "))
                theirs = measure(["lldb", "--batch", "-c", core, program, "-o", "command script import " + script], expected, 1, environment)
                rows.append((name, "lldb's Python", theirs, ours))
        ours = measure([options.acu, "core", build_leaky(folder), "leaks"], r"100 chunks of \d+ .*", options.runs, environment)
        rows.append(("leaks", "acu", ours, ours))
    finally:
        shutil.rmtree(folder)
    about = {"list": "C: list of 200,000, hash of 65,536 buckets", "containers": "C++: `std::map`, `std::unordered_map` of 200,000",
             "leaks": "`leaks`: 600,000 chunks in 4 threads, 100 of them lost"}
    text = ["## Core dumps", "",
            "Whole processes, from exec to exit, and their processor time (which a busy machine changes less), ms; medians (`bench/still.py`).",
            "lldb reads memory by offsets that its script knows: with its values (SBValue) the list alone was not done after 400 s.", 
            "", "| program | tool | ms | processor | processor, times acu |", "|---|---|---|---|---|"]
    for name, tool, (wall, processor), (_, own) in rows:
        more = "–" if tool == "acu" else f"{processor / own:.0f}"
        text.append(f"| {about[name] if tool == 'acu' else ''} | {tool} | {wall:.1f} | {processor:.1f} | {more} |")
    text = "\n".join(text) + "\n"
    print(text)
    if options.out:
        old = open(options.out).read()
        begin = old.find("## Core dumps\n")
        if begin >= 0:
            after = old.find("\n## ", begin + 1)
            old = old[:begin] + (old[after + 1:] if after >= 0 else "")
        open(options.out, "w").write(old.rstrip("\n") + "\n\n" + text)


main()
