#!/usr/bin/env python3
"""Core dumps side by side with gdb's and lldb's Python: bench/cores.py [--acu ACU] [--runs N] [--lldb] [--large FILE:FUNCTION]
[--out FILE]

Two programs with 200,000 elements in two containers each. Every tool walks both on the same core and prints a sum, which must
be the program's own; acu also in the living program. Measured is the whole process, the median of N runs after one that is not
counted. And how long it takes to find what nothing leads to among 600,000 chunks of a heap, and on one of 1.1 GB, and to tell the arguments of a
function of a large file with debug information, at first and later; also of a copy of it whose debug sections are compressed.
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

from section import write_section

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
# The fastest way: memory is read, by offsets that the script knows.
GDB_MEMORY = {
    "list": """
import gdb
from struct import unpack_from
read = gdb.selected_inferior().read_memory
s = 0
n = int(gdb.parse_and_eval("list"))
while n:
    n, value = unpack_from("<Qq", read(n, 16))
    s += value
b = read(int(gdb.parse_and_eval("&buckets")), 8 * 65536)
for (e,) in __import__("struct").iter_unpack("<Q", b):
    while e:
        e, _, value = unpack_from("<QIi", read(e, 16))
        s += value
print(s)
""",
    "containers": """
import gdb
from struct import unpack_from
read = gdb.selected_inferior().read_memory
s = 0
stack = [int(gdb.parse_and_eval("ordered._M_t._M_impl._M_header._M_parent"))]
while stack:
    n = stack.pop()
    while n:
        left, n, _, value = unpack_from("<QQqq", read(n + 16, 32))
        s += value
        stack.append(left)
n = int(gdb.parse_and_eval("hashed._M_h._M_before_begin._M_nxt"))
while n:
    n, _, value = unpack_from("<Qqq", read(n, 24))
    s += value
print(s)
""",
}
LLDB_BEGIN = """
import lldb
def __lldb_init_module(debugger, _):
    t = debugger.GetSelectedTarget()
    p = t.GetProcess()
"""
# As with gdb, by types and names of members. A value is made of each address anew: one got from another by GetChildMemberWithName
# and Dereference keeps all that led to it, and the list alone takes more than 400 s.
LLDB_TYPES = {
    "list": """
s = 0
def values(at, kind):
    total = 0
    while at:
        v = t.CreateValueFromAddress("v", lldb.SBAddress(at, t), kind)
        total += v.GetChildMemberWithName("value").GetValueAsSigned()
        at = v.GetChildMemberWithName("next").GetValueAsUnsigned()
    return total
head = t.FindFirstGlobalVariable("list")
s += values(head.GetValueAsUnsigned(), head.GetType().GetPointeeType())
b = t.FindFirstGlobalVariable("buckets")
kind = b.GetType().GetArrayElementType().GetPointeeType()
e = lldb.SBError()
for i in range(65536):
    s += values(p.ReadPointerFromMemory(b.GetLoadAddress() + 8 * i, e), kind)
print(s)
""",
    # The base of all nodes of a map is a type with members; where its value is, and the nodes of the other, no type tells alone.
    "containers": """
s = 0
e = lldb.SBError()
path = "._M_t._M_impl._M_header._M_parent"
root = t.FindFirstGlobalVariable("ordered").GetNonSyntheticValue().GetValueForExpressionPath(path)
kind = root.GetType().GetPointeeType()
stack = [root.GetValueAsUnsigned()]
while stack:
    n = stack.pop()
    while n:
        s += p.ReadUnsignedFromMemory(n + 40, 8, e)
        v = t.CreateValueFromAddress("v", lldb.SBAddress(n, t), kind)
        stack.append(v.GetChildMemberWithName("_M_left").GetValueAsUnsigned())
        n = v.GetChildMemberWithName("_M_right").GetValueAsUnsigned()
path = "._M_h._M_before_begin._M_nxt"
first = t.FindFirstGlobalVariable("hashed").GetNonSyntheticValue().GetValueForExpressionPath(path)
kind = first.GetType().GetPointeeType()
n = first.GetValueAsUnsigned()
while n:
    s += p.ReadUnsignedFromMemory(n + 16, 8, e)
    v = t.CreateValueFromAddress("v", lldb.SBAddress(n, t), kind)
    n = v.GetChildMemberWithName("_M_nxt").GetValueAsUnsigned()
print(s)
""",
}
# The fastest way: memory is read, by offsets that the script knows.
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
    source = os.path.join(HERE, "load", "core_list.c" if name == "list" else "core_containers.cc")
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


HEAP = """
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
struct Node { Node* next; char data[40]; };
std::map<int, std::string> names;
std::unordered_map<long, std::vector<int>> lists;
Node* volatile head;
int main() {
  for (int i = 0; i < 3500000; i++) head = new Node{head, {}};
  for (int i = 0; i < 4700000; i++) names[i] = "a name that is longer than fifteen bytes " + std::to_string(i);
  for (long i = 0; i < 2400000; i++) lists[i].resize(8);
  abort();
}
"""


def measure_heap(options, folder, environment):
    """A heap of 1.1 GB, beside what gdb takes for the stacks alone."""
    program, source = os.path.join(folder, "heap"), os.path.join(folder, "heap.cc")
    open(source, "w").write(HEAP)
    subprocess.run(["g++", "-g", "-O2", "-o", program, source], check=True)
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    subprocess.run([program], cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited))
    found = glob.glob(os.path.join(folder, "core*"))
    if not found:
        return [] # the kernel writes cores elsewhere
    few = max(3, options.runs // 2)
    ours = measure([options.acu, "core", found[0]], r"heap .*", few, environment)
    theirs = measure(["gdb", "-nx", "-batch", "-ex", "thread apply all bt", program, found[0]], r".* main .*", few, environment)
    leaks = measure([options.acu, "core", found[0], "leaks"], r"0 unreachable blocks of \d+, .*", few, environment)
    os.unlink(found[0])
    return [("heap", "acu: stacks and heap totals", ours, None), ("heap", "gdb: stacks", theirs, ours), ("heap", "acu: `leaks`", leaks, None)]


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
    counted = slice(1 if runs else 0, None)
    return statistics.median(walls[counted]), statistics.median(processors[counted])


def measure_living(options, program, script, expected, environment):
    process = subprocess.Popen([program, "stay"], stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        return measure([options.acu, "snap", "-p", str(process.pid), "--max-pause", "1s", "-e", script], expected, options.runs, environment)
    finally:
        process.kill()
        process.wait()


def measure_large(options, folder, environment):
    """The first use of a file, with an empty cache, and those after it."""
    path, function = options.large.rsplit(":", 1)
    copy = os.path.join(folder, "large")
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", path, copy], check=True)
    rows = []
    for kind, file in (("plain", path), ("compressed", copy)):
        size = f"{os.path.getsize(file) / 1e6:.0f} MB"
        words = [options.acu, "list", "-v", f"uprobe:{os.path.realpath(file)}:{function}"]
        first = []
        for _ in range(5):
            shutil.rmtree(environment["ACU_CACHE"], ignore_errors=True)
            first.append(measure(words, "    .+", 0, environment))
        rows.append(("large", f"acu, first use, {kind} ({size})", tuple(statistics.median(column) for column in zip(*first)), None))
        rows.append(("large", f"acu, later, {kind}", measure(words, "    .+", options.runs, environment), None))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--lldb", action="store_true")
    parser.add_argument("--large", metavar="FILE:FUNCTION", help="with debug information, such as the vmlinux of linux-image-*-dbg")
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
            rows.append((name, "acu", ours, None))
            rows.append((name, "acu, on the live process", measure_living(options, program, ACU[name], expected, environment), None))
            script = os.path.join(folder, name + ".py")
            few = max(1, options.runs // 4)
            for how, text in (("by types", GDB[name]), ("reading memory at known offsets", GDB_MEMORY[name])):
                open(script, "w").write(text)
                theirs = measure(["gdb", "-nx", "-batch", "-x", script, program, core], expected, few, environment)
                rows.append((name, "gdb's Python, " + how, theirs, ours))
            if not options.lldb or not shutil.which("lldb"):
                continue
            for how, text, runs in (("by types", LLDB_TYPES[name], 1), ("reading memory at known offsets", LLDB[name], few)):
                open(script, "w").write(LLDB_BEGIN + text.replace("\n", "\n    "))
                words = ["lldb", "--batch", "-c", core, program, "-o", "command script import " + script]
                rows.append((name, "lldb's Python, " + how, measure(words, expected, runs, environment), ours))
        ours = measure([options.acu, "core", build_leaky(folder), "leaks"], r"100 unreachable blocks of \d+, .*", options.runs, environment)
        rows.append(("leaks", "acu", ours, None))
        rows += measure_heap(options, folder, environment)
        if options.large:
            rows += measure_large(options, folder, environment)
    finally:
        shutil.rmtree(folder)
    about = {"list": "C: list of 200,000, hash of 65,536 buckets", "containers": "C++: `std::map`, `std::unordered_map` of 200,000",
             "leaks": "`leaks`: 600,000 blocks in 4 threads, 100 of them leaked", "heap": "core of 1.1 GB: 17.7 million blocks", "large": "arguments of a function in a large file"}
    text = ["## Core dumps", "",
            "Wall-clock time of whole processes, from exec to exit, and their CPU time (which depends less on other load), ms; medians",
            "(`bench/cores.py`). All print the same sum. *By types*: the script accesses members by name, as acu's script does (except, in all of",
            "them, the values in the nodes of the C++ containers). For lldb, each value is created from its address: a value derived from others keeps",
            "all of them alive (with derived values, the list alone was not finished after 400 s).",
            f"Load average of the host at the end: {os.getloadavg()[0]:.0f}.",
            "", "| program | tool | wall | CPU | CPU/acu |", "|---|---|---|---|---|"]
    seen = set()
    for name, tool, (wall, processor), own in rows:
        more = f"{processor / own[1]:.{0 if processor > own[1] else 1}f}" if own else "–"
        text.append(f"| {'' if name in seen else about[name]} | {tool} | {wall:.1f} | {processor:.1f} | {more} |")
        seen.add(name)
    text = "\n".join(text) + "\n"
    print(text)
    if options.out:
        write_section(options.out, "cores", text)


main()
