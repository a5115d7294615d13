#!/usr/bin/env python3
"""Scripts for core dumps as Python for gdb and lldb: run_debuggers.py ACU [--filter PART] [--keep] [--times FILE]

Each script is written by `acu emit`, run in the real debugger on a core dump, and must print what `acu core` prints there. The tools of
tools/static run on the programs of test/core/static_tools.py; their times go to the file of --times, as a table.
"""
import concurrent.futures
import difflib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "core"))
import common
import static_tools
from common import ENVIRONMENT, LIMIT, Skipped, call, end, gcore, need, path, program, run_suite, start

DEBUGGERS = ("gdb", "lldb")
NUMBERS = itertools.count()
TIMES = {}  # tool: [acu, gdb, lldb], in seconds


def debugger(name):
    if not shutil.which(name):
        raise Skipped(f"no {name} here")


def answer(what, words):
    """What a command prints, and how long it takes."""
    begin = time.monotonic()
    done = call(*words)
    seconds = time.monotonic() - begin
    need(done.returncode == 0, f"{what}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done, seconds


def emitted(acu, target, core, words, parameters=()):
    """A script's Python, as a file."""
    out = path(f"{target}_script_{next(NUMBERS)}.py")
    done = call(acu, "emit", "--to", target, "--core", core, "-o", out, *words, *(("--", *parameters) if parameters else ()))
    need(done.returncode == 0, f"emit --to {target}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return out


def difference(wanted, there, target):
    return "\n".join(difflib.unified_diff(wanted.split("\n"), there.split("\n"), "acu", target, lineterm="", n=1)) + "\n"


def compare(acu, core, words, parameters=(), executable=None, debuggers=DEBUGGERS):
    """acu and both debuggers on one core: the same text. Gives it, the times, and what acu warned of."""
    told, seconds = answer("acu", (acu, "core", core, *words, *(("--", *parameters) if parameters else ())))
    times = [seconds]
    for target in debuggers:
        debugger(target)
        script = emitted(acu, target, core, words, parameters)
        there, seconds = answer(target, (script, core, *((executable,) if executable else ())))
        times.append(seconds)
        need(there.stdout == told.stdout, difference(told.stdout, there.stdout, target) + told.stderr + there.stderr)
    return told, times


# ----------------------------------------------------------------------------------- the tools of tools/static

def on_core(acu, pid, name, *more):
    """In place of static_tools.live_and_dead: what the tool says of a core, in acu and in both debuggers."""
    os.kill(pid, signal.SIGSTOP)
    core = gcore(pid, "tool")
    parameters = more[1:] if more[:1] == ("--",) else more
    try:
        told, TIMES[name] = compare(acu, core, (static_tools.tool(name),), parameters)
    finally:
        os.unlink(core)
    need("WARNING" not in told.stderr, told.stderr)
    return told.stdout


def of_core(acu, core, name, *more):
    told, TIMES[name] = compare(acu, core, (static_tools.tool(name),), more)
    return told.stdout


static_tools.live_and_dead = on_core
static_tools.of_core = of_core


def containers_by_macros(acu):
    """The containers of the C++ library by the macros of libstdcxx.bt."""
    built = path("containers")
    subprocess.run(["g++", "-g", "-O0", "-o", built, os.path.join(os.path.dirname(static_tools.__file__), "containers.cc")], check=True, timeout=LIMIT)
    process = start(built)
    try:
        static_tools.wait_for_sleep(process.pid)
        core = gcore(process.pid, "containers")
    finally:
        end(process)
    words = ("-I", os.path.join(static_tools.ROOT, "tools", "static"), "-e", static_tools.CONTAINERS)
    told, _ = compare(acu, core, words, debuggers=("gdb",))
    done = call(acu, "emit", "--to", "lldb", "--core", core, *words)
    need(done.returncode != 0 and "lldb does not find templates by their names" in done.stderr, done.stderr)
    need("map 300 313950\nunordered 300 44850\n" in told.stdout, told.stdout)


# ------------------------------------------------------------------------------------------------- the language

# Each is the body of a oneshot probe.
LANGUAGE = """
printf("%d %u %x %ld %s\\n", -1, -1, 255, 1 << 40, "text");
printf("[%5d] [%-5d] [%05d] [%+d] [%x] [%#x] [%o] [%c]\\n", 42, 42, 42, 42, 48879, 48879, 8, 65);
printf("[%10s] [%-10s] [%.2s]\\n", "abc", "abc", "abc");
printf("%hhd %hd %d %lld\\n", 511, 65535, 4294967295, 1 << 62);
$x = 5; $x += 3; $x -= 10; printf("%d\\n", $x);
$x = (uint64)1; $x -= 2; printf("%lu %ld\\n", $x, $x);
printf("%d %d %d %d\\n", 7 / 2, 7 % 3, 1 << 4, 256 >> 3);
printf("%ld %ld\\n", -8 >> 1, (uint64)-8 >> 1);
printf("%d %d\\n", 6 & 3 | 8 ^ 1, ~5 & 255);
printf("%d %d %d\\n", 1 < 2, -1 < 1, (uint64)-1 < 1);
printf("%d %d\\n", (uint8)300, (int8)200);
printf("%d %d\\n", !5, !!5);
$a = 3; $b = $a > 2 ? 10 : 20; printf("%d\\n", $b);
if (1 == 2) { printf("no\\n"); } else if ("a" == "a") { printf("yes\\n"); } else { printf("no\\n"); }
for ($i : 0..5) { if ($i == 1) { continue; } if ($i == 4) { break; } printf("%d ", $i); } printf("\\n");
for ($i = 0; $i < 5; $i++) { if ($i == 2) { continue; } printf("%d ", $i); } printf("\\n");
$n = 3; while ($n) { $n--; printf("%d ", $n); } printf("\\n");
unroll (3) { printf("turn\\n"); }
$i = 1; $j = $i++ + 10; $k = ++$i; printf("%d %d %d\\n", $i, $j, $k);
@ = 5; @++; print(@); clear(@);
@m[1] = 2; @m[2] += 5; @m[1]++; @m[3] = -4; print(@m); printf("%d %d\\n", @m[1], @m[7]); clear(@m);
@c["a"] = count(); @c["a"] = count(); @c["b"] = count(); print(@c); printf("%d\\n", (int64)@c["a"]); clear(@c);
@s = sum(5); @s = sum(-7); @lo = min(3); @lo = min(-2); @hi = max(3); @hi = max(9); print(@s); print(@lo); print(@hi); clear(@s); clear(@lo); clear(@hi);
@a = avg(10); @a = avg(21); @t["x"] = stats(5); @t["x"] = stats(6); @t["y"] = stats(-1); print(@a); print(@t); clear(@a); clear(@t);
for ($i : 0..100) { @h = hist($i * $i); } @h = hist(-5); print(@h); clear(@h);
for ($i : 0..20) { @h[$i % 2] = hist(1 << $i, 2); } print(@h); clear(@h);
for ($i : 0..50) { @l = lhist($i - 3, 0, 40, 10); } print(@l); clear(@l);
for ($i : 0..9) { @l["k"] = lhist($i * 1024, 0, 8192, 2048); } print(@l); clear(@l);
@m[1, "a"] = 1; @m[1, "b"] = 2; @m[0, "z"] = 2; print(@m); print(@m, 1); delete(@m, (1, "b")); print(@m); clear(@m);
@m[5] = 1; @m[-5] = 1; @m[0] = 1; print(@m); clear(@m);
@n["x"] = "text"; @n["y"] = "other"; print(@n); if (has_key(@n, "x")) { printf("has x\\n"); } if (!has_key(@n, "z")) { printf("no z\\n"); } clear(@n);
for ($i : 0..5) { @m[$i] = $i * 10; } for ($kv : @m) { printf("%d=%d ", $kv.0, $kv.1); } printf("%d\\n", len(@m)); clear(@m);
for ($i : 0..8) { @m[$i] = ($i * 5) % 7; } print(@m, 3); print(@m, 3, 2); clear(@m);
$t = (1, "two", 3); printf("%d %s %d\\n", $t.0, $t.1, $t.2); print($t);
print((1, -2)); print((a = 1, b = "x")); print("text"); print(7); print(1 == 1);
@t = (1, 2); print(@t); clear(@t);
@m[(int8)-1, (uint16)7] = 3; print(@m); clear(@m);
$s = "hello"; printf("%s %d %d\\n", $s, strlen($s), strncmp($s, "help", 3)); if ($s == "hello") { printf("equal\\n"); } if (strcontains($s, "ell")) { printf("in\\n"); }
printf("%s|%s\\n", str("truncate me", 5), str("short", 50));
$v = 10; let $w : uint8 = 255; $w++; printf("%d %d\\n", $v, $w);
printf("%r|\\n", buf("a\\x01b", 3));
$x = try(*(uint64 *)16, 77); printf("%d %d\\n", $x, valid(16));
printf("%d\\n", 10 / (uint64)3); $z = 0; printf("%d\\n", 5 % 3 + ($z == 0 ? 1 : 2));
@e[3] = 1; zero(@e); print(@e); clear(@e);
$x = 0x123456789abcdef0; printf("%x %lx %llx\\n", $x, $x, bswap($x));
printf("%d %d\\n", sizeof(uint64), sizeof((1, 2)));
printf("%s %s\\n", 1 == 1 ? "yes" : "no", pid > 0 ? "some" : "none");
printf("%p %s\\n", (void *)4096, comm); print((void *)0);
exit(); printf("never\\n");
"""

FUNCTIONS = [
    'fn twice($x : int64) : int64 { return $x * 2; } oneshot { printf("%d\\n", twice(21)); }',
    'fn fib($n : int64) : int64 { if ($n < 2) { return $n; } return fib($n - 1) + fib($n - 2); } oneshot { printf("%d\\n", fib(15)); }',
    'fn name($n : int64) : string[8] { return $n == 1 ? "one" : "a long"; } oneshot { printf("%s %s\\n", name(1), name(2)); }',
    'fn low($x : int64) : uint8 { return $x; } oneshot { printf("%d\\n", low(511)); }',
    'macro add(a, b) { a + b } oneshot { printf("%d\\n", add(1, 2)); }',
    'begin { printf("begin\\n"); @a = 1; } oneshot { @a++; } end { printf("end %d\\n", @a); }',
    'oneshot { @left = 5; @kept["x"] = count(); }',
    'oneshot /1 == 2/ { printf("never\\n"); } oneshot /pid > 0/ { printf("here\\n"); }',
    'config = { print_maps_on_exit = false } oneshot { @x = 1; }',
]


def all_of_the_language(acu):
    """All at once, each in a run of its own, would take minutes: the scripts become one, in blocks of their own."""
    core = common.crashed()
    lines = LANGUAGE.strip().split("\n")
    # Maps of one name would have one type.
    text = "\n".join("oneshot { %s }" % re.sub(r"@(\w*)", r"@\g<1>_%d" % i, line) for i, line in enumerate(lines))
    told, _ = compare(acu, core, ("-e", text), executable=program())
    need(told.stdout.count("\n") > 150, told.stdout)


def each(acu, scripts):
    """Scripts on the core of a crash, several at a time."""
    core, executable = common.crashed(), program()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda text: compare(acu, core, ("-e", text), executable=executable), scripts):
            pass


def functions(acu):
    each(acu, FUNCTIONS)


# ------------------------------------------------------------------------------------------- values of the program

def values_of_the_program(acu):
    """Variables, members, lists, arguments and locals of calls, threads, the crash."""
    each(acu, VALUES)


VALUES = [
    'oneshot { printf("%d %s\\n", target.counter, str(target.list->name)); for ($n : list(target.list, next)) { printf("%d ", $n->value); } printf("\\n"); }',
    'oneshot { for ($n : list(target.list, next)) { @by_name[str($n->name)] = $n->value; @h = hist($n->value); } }',
    'fn depth($t : struct tree *) : int64 { if (!$t) { return 0; } $l = depth($t->left); $r = depth($t->right); return ($l > $r ? $l : $r) + 1; } '
    'fn total($t : struct tree *) : int64 { return $t ? total($t->left) + total($t->right) + $t->key : (int64)0; } '
    'oneshot { printf("%d %d\\n", depth(target.root), total(target.root)); }',
    'oneshot { print(*target.list); printf("%d\\n", sizeof(struct node)); $p = target.list; print($p->next->value); print(target.ring[1].value); }',
    'oneshot { $p = &target.counter; printf("%d %d\\n", *$p, *(int32 *)uaddr("counter")); printf("%s\\n", usym(uaddr("main"))); }',
    'oneshot { for ($n : list(target.circle, next)) { @seen = count(); } }',
    'frame("middle") { printf("%s %d %d %s\\n", func, args.depth, locals.here, str(args.why)); }',
    'frame("leaf") { printf("%d %s %d\\n", args.p->value, str(args.p->name), locals.twice); }',
    'frame("wait_forever") { @n[args.n] = count(); }',
    'thread { @threads = count(); @tid[tid != 0] = count(); @names[comm] = count(); }',
    'fault { printf("%s %s %d\\n", func, comm, args.p->value); @[ustack] = count(); }',
    'thread { @[ustack] = count(); }',
    'thread { if (reg("ip")) { @ip = count(); } }',
    'oneshot { $x = *(int32 *)8; printf("never\\n"); } oneshot { printf("%d\\n", try(*(int32 *)8, -1)); }',
    'oneshot { @blocks = 0; for ($c = next_chunk(0); $c; $c = next_chunk($c)) { @blocks++; @size[chunk_size($c)] = count(); } }',
]


def mistakes(acu):
    """What cannot be carried over is refused where it is, with the reason."""
    core = common.crashed()
    for text, wanted in (('oneshot { @t = tseries(1, 1s, 5); }', "nothing happens in a stopped program"),
                         ('oneshot { speculate { printf("x"); } }', "can't be carried over"),
                         ('oneshot { print(nsecs); }', "`nsecs` can't be carried over"),
                         ('oneshot { limit(1/s) { printf("x"); } }', "can't be carried over")):
        for target in DEBUGGERS:
            done = call(acu, "emit", "--to", target, "--core", core, "-e", text)
            need(done.returncode != 0 and wanted in done.stderr and "stdin:1:" in done.stderr and not done.stdout, f"{text}\n{done.stdout}{done.stderr}")
    done = call(acu, "emit", "--to", "gdb", "-e", 'uprobe:libc:malloc { @ = count(); }')
    need(done.returncode != 0 and "a breakpoint would stop the program" in done.stderr, done.stderr)


def bad_use(acu):
    """The emitted file without a core, with something else, with a program of other structures."""
    core = common.crashed()
    for target in DEBUGGERS:
        debugger(target)
        script = emitted(acu, target, core, ("-e", 'oneshot { printf("%d\\n", pid); }'))
        done = call(script)
        need(done.returncode == 1 and done.stderr.startswith("usage: "), done.stderr)
        done = call(script, script)
        need(done.returncode == 1 and "is not a core dump" in done.stderr, done.stdout + done.stderr)
        done = call(script, "/nothing/there")
        need(done.returncode == 1 and "No such file" in done.stderr, done.stdout + done.stderr)


def times(_):
    """Writes the table of times, where it is asked for."""
    if "--times" in sys.argv:
        with open(sys.argv[sys.argv.index("--times") + 1], "w") as out:
            out.write("| tool | acu | gdb | lldb |\n|---|---|---|---|\n")
            for name, three in sorted(TIMES.items()):
                out.write("| %s | %s |\n" % (name, " | ".join("%.2f s" % t for t in three)))


TOOLS = [static_tools.stdio, static_tools.locks, static_tools.py_stacks, static_tools.py_objects, static_tools.biggest_containers, static_tools.redis_state,
         static_tools.lj_objects, static_tools.pg_state, static_tools.nginx_state, static_tools.nginx_crash]
TESTS = [all_of_the_language, functions, values_of_the_program, mistakes, bad_use, *TOOLS, containers_by_macros, times]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, common.TMP))
