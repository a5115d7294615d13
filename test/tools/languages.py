"""Tools that look into programs of interpreted languages, with programs that count what they do themselves."""
import glob
import os
import re
import shutil
import subprocess

from common import SLOWNESS, TMP, histogram_total, need, trace, value

PYTHON = "/usr/bin/python3.11"
LIBPYTHON = "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"


def write(name, text):
    path = os.path.join(TMP, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def follow(acu, tool, command, arguments):
    """What the tool prints of a program that acu starts. Programs pause first: acu needs a moment to find a new process's interpreter."""
    return trace(acu, tool, lambda: None, arguments, ["-c", " ".join(command)])


def other_pythons():
    """Pythons of a version manager from 3.8 to 3.13: their version, the file that has the interpreter, and the program."""
    found = []
    for program in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3.*"))):
        version = re.search(r"/bin/python3\.(\d+)$", program)
        if version and 8 <= int(version[1]) <= 13:
            library = re.search(r"libpython\S* => (\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)
            found.append((int(version[1]), library[1] if library else program, program))
    return found


def has_symbol(file, name):
    return re.search(rf" {name}$", subprocess.run(["nm", file], capture_output=True, text=True).stdout, re.M) is not None


def has_dynamic_symbol(file, part):
    return part in subprocess.run(["nm", "-D", file], capture_output=True, text=True).stdout


def embedding():
    """A program that runs Python from its library."""
    path = os.path.join(TMP, "embeds_python")
    if not os.path.exists(path):
        source = write("embeds_python.c", "int Py_BytesMain(int, char**);\nint main(int n, char** words) { return Py_BytesMain(n, words); }\n")
        subprocess.run(["gcc", "-o", path, source, LIBPYTHON], check=True)
    return path


def by_line(text, file):
    """How many exceptions of each type were raised at each line of the file, from the innermost frame in it."""
    counts = {}
    for kind, frames, number in re.findall(r"^@stacks\[(\S+), *\n((?:        .+\n)+)\]: (\d+)$", text, re.M):
        lines = re.findall(rf"^        (\S+) {re.escape(file)}:(\d+)$", frames, re.M)
        if lines:
            at = (kind, lines[0][0], int(lines[0][1]))
            counts[at] = counts.get(at, 0) + int(number)
    return counts


PYTHON_RAISES = """\
class Lost(Exception): __import__("time").sleep(0.5)
def raises(): raise Lost("here")
def looks_up(): return {}["key"]
def calls_c(): return [].index(1)
def passes_on():
    try: raises()
    except Lost: raise
def passes_on_with():
    try: raises()
    finally: pass
def chains():
    try: looks_up()
    except KeyError as e: raise Lost("instead") from e
def ends():
    for _ in (n for n in range(3)): pass
    return next(iter(()))
def has_none(): return hasattr(3, "no"), {}.get(1), next(iter(()), 1)
for function, times in ((raises, 7), (looks_up, 11), (calls_c, 5), (passes_on, 3), (passes_on_with, 2), (chains, 4), (ends, 6), (has_none, 9)):
    for _ in range(times):
        try: function()
        except Exception: pass
"""
RAISED_BY_PYTHON = {("Lost", "raises", 2): 7 + 3 + 2, ("KeyError", "looks_up", 3): 11 + 4, ("ValueError", "calls_c", 4): 5,
                    ("Lost", "chains", 13): 4}

PHP_THROWS = """\
<?php
class Lost extends Exception {} usleep(500000);
function throws() { throw new Lost("here"); }
function divides() { return intdiv(1, 0); }
function passes_on() { try { throws(); } finally { $done = 1; } }
function chains() { try { throws(); } catch (Lost $e) { throw new RuntimeException("instead", 0, $e); } }
foreach (["throws" => 7, "divides" => 11, "passes_on" => 3, "chains" => 4] as $function => $times)
  for ($i = 0; $i < $times; $i++) { try { $function(); } catch (Throwable $e) {} }
"""
THROWN_BY_PHP = {("Lost", "throws", 3): 7 + 3 + 4, ("DivisionByZeroError", "divides", 4): 11, ("RuntimeException", "chains", 6): 4}

PERL_DIES = """\
package My::Lost; sub new { bless {}, shift }
package main; select(undef, undef, undef, 0.5);
sub throws { die My::Lost->new }
sub dies { die "here" }
sub divides { my $zero = 0; 1 / $zero }
sub refers { die [1] }
sub passes_on { eval { throws() }; die $@ if ref $@ }
my %times = (throws => 7, dies => 11, divides => 5, refers => 2, passes_on => 3);
for my $function (keys %times) { for (1 .. $times{$function}) { eval { &$function() } } }
"""
RAISED_BY_PERL = {("My::Lost", "main::throws", 3): 7 + 3, ("text", "main::dies", 4): 11, ("text", "main::divides", 5): 5,
                  ("reference", "main::refers", 6): 2, ("My::Lost", "main::passes_on", 7): 3}


def exceptions(acu):
    path = write("raises.py", PYTHON_RAISES)
    cases = [(PYTHON, PYTHON, path, RAISED_BY_PYTHON)]
    if os.path.exists(PYTHON):
        cases.append((LIBPYTHON, embedding(), path, RAISED_BY_PYTHON))
    cases += [(file, program, path, RAISED_BY_PYTHON) for _, file, program in other_pythons() if has_symbol(file, "_PyErr_SetObject")]
    cases.append(("/usr/bin/php8.2", "/usr/bin/php8.2", write("throws.php", PHP_THROWS), THROWN_BY_PHP))
    cases.append((os.path.realpath(shutil.which("perl") or "/usr/bin/perl"), "perl", write("dies.pl", PERL_DIES), RAISED_BY_PERL))
    seen = 0
    for file, program, script, expected in cases:
        if not os.path.exists(file):
            continue
        text = follow(acu, "exceptions.bt", [program, script], [file, "--", "--depth=20"])
        need(by_line(text, script) == expected, f"{file}: {by_line(text, script)}, not {expected}:\n{text[-3000:]}")
        seen += 1
    if not os.path.exists(PYTHON):
        return "no Python 3.11 here" if seen == 0 else None
    name = ["--", "--depth=20", "--name=" + os.path.basename(PYTHON)]
    text = follow(acu, "exceptions.bt", [PYTHON, "-I", path], [PYTHON, *name, "--all"])
    need(by_line(text, path) == RAISED_BY_PYTHON | {("StopIteration", "ends", 16): 6}, text[-3000:])
    text = follow(acu, "exceptions.bt", [PYTHON, "-I", path], [PYTHON, *name, "--type=Lost", "--each"])
    found = re.findall(rf"^\d\d:\d\d:\d\d\.\d{{6}} \d+ +python3\.11 +Lost\n        _PyErr_SetObject\+\d+\n        (\w+) {re.escape(path)}:(\d+)$", text, re.M)
    need(len(found) == 16 and found[:7] == [("raises", "2")] * 7 and value(text, "@types[Lost]") == 16, text)
    text = follow(acu, "exceptions.bt", ["true"], ["/usr/bin/env"])
    need(text.startswith("No exceptions in /usr/bin/env"), text)


COLLECTS = """\
import gc, time
time.sleep(0.5)
gc.collect()
gc.disable()
def ring(): a = []; a.append(a)
def large():
    for _ in range(30000): ring()
    before = time.perf_counter()
    gc.collect()
    print("took", int((time.perf_counter() - before) * 1e6))
def small():
    for _ in range(50): ring()
    gc.collect(0)
large()
for _ in range(7): small()
"""


def python_gc(acu):
    if not os.path.exists(PYTHON):
        return "no Python 3.11 here"
    path = write("collects.py", COLLECTS)
    others = [(file, program) for version, file, program in other_pythons() if version >= 10 and has_symbol(file, "gc_collect_main")]
    for file, program in ((PYTHON, PYTHON), (LIBPYTHON, embedding()), *others):
        text = follow(acu, "python-gc.bt", [program, "-I", path], [file, "--", "--min-us=0", "--name=" + os.path.basename(program)])
        pauses = re.findall(rf"^\d\d:\d\d:\d\d\.\d{{6}} \d+ +\S+ +(\d+) +(\d+) (\d)\n((?:        .+\n)*)", text, re.M)
        by_function = lambda name: [p for p in pauses if re.search(rf"^        {name} {re.escape(path)}:\d+\n        <module> ", p[3], re.M)]
        large, small = by_function("large"), by_function("small")
        need([p[1:3] for p in large] == [("30000", "2")] and f"        large {path}:9\n" in large[0][3], text)
        need([p[1:3] for p in small] == [("50", "0")] * 7, text)
        took = int(re.search(r"^took (\d+)$", text, re.M).group(1))
        need(took // 2 <= int(large[0][0]) <= took, f"{large[0][0]} us of {took}")
        need(histogram_total(text, "@us[0]") == len([p for p in pauses if p[2] == "0"]), text)
        text = follow(acu, "python-gc.bt", [program, "-I", path], [file, "--", f"--min-us={took * 100}"])
        need(histogram_total(text, "@us[2]") >= 2 and "collects.py" not in text, text)
    need("No collections in /usr/bin/env" in follow(acu, "python-gc.bt", ["true"], ["/usr/bin/env"]), "no hint")


python_gc.__name__ = "python-gc"

LUA_COLLECTS = """\
local start = os.clock()
while os.clock() - start < 0.5 do end
function large()
  local kept = {}
  for n = 1, 100000 do kept[n] = {n} end
  local before = os.clock()
  collectgarbage()
  print("took", math.floor((os.clock() - before) * 1e6))
  return kept
end
local kept = large()
for n = 1, 7 do collectgarbage("step", 1) end
for n = 1, 9 do collectgarbage("count") end
"""


def lua_gc(acu):
    script, seen = write("collects.lua", LUA_COLLECTS), 0
    for name in ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit"):
        program = os.path.realpath(shutil.which(name) or "")
        if not os.path.isfile(program):
            continue
        seen += 1
        for _ in range(3):  # Lua's clock is CPU time: a pause is longer if another process runs meanwhile, which is rare with this niceness
            text = follow(acu, "lua-gc.bt", ["nice", "-n", "-15", program, script], [program, "--", "--min-us=0", "--name=" + os.path.basename(program)])
            found = re.findall(r"^\d\d:\d\d:\d\d\.\d{6} \d+ +\S+ +(\d+) collectgarbage\n((?:        .+\n)*)", text, re.M)
            need(len(found) == 8 == histogram_total(text, "@us[collectgarbage]"), f"{name}: {len(found)}, not 8:\n{text}")
            at = [int(us) for us, frames in found if re.search(rf" {re.escape(script)}:7$", frames, re.M)]
            took = int(re.search(r"^took\s+(\d+)$", text, re.M).group(1))
            if at and at[0] <= took * 1.5 + 1000:
                break
        need(len(at) == 1 and took // 3 <= at[0] <= took * 1.5 + 1000, f"{name}: {at} us of {took}:\n{text}")
    return None if seen else "no Lua here"


lua_gc.__name__ = "lua-gc"

NODE_COLLECTS = """\
let kept = [];
for (let round = 0; round < 3; round++) {
  for (let n = 0; n < 100000; n++) { kept.push({ n: n, text: "x" + n }); }
  kept = kept.slice(0, 30000);
}
global.gc(); global.gc();
"""


def node_gc(acu):
    node = os.path.realpath(shutil.which("node") or "")
    if not has_dynamic_symbol(node, "PerformGarbageCollection"):
        return "no Node.js with symbols here"
    script, said = write("collects.js", NODE_COLLECTS), []
    load = lambda: said.append(subprocess.run([node, "--expose-gc", "--trace-gc", script], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout)
    text = trace(acu, "node-gc.bt", load, [node, "--", "--min-us=0"])
    found = re.findall(r"^\d\d:\d\d:\d\d\.\d{6} \d+ +(\d+) (\S+) +(\w+)$", text, re.M)
    told = re.findall(r"ms: (Scavenge|Mark-Compact) .* MB, ([\d.]+) / .*\) ([a-z ]+);", said[0])  # its own log
    need(len(told) >= 4 and [f[1] for f in found] == [t[0].lower() for t in told], text + said[0])
    for (us, _, reason), (_, ms, why) in zip(found, told):
        need(abs(float(us) / 1000 - float(ms)) <= 5 + 0.3 * float(ms), f"{us} us, the log has {ms} ms:\n{text}{said[0]}")
        need(why != "testing" or reason == "testing", text + said[0])
    need([f[2] for f in found[-2:]] == ["testing"] * 2 and histogram_total(text, "@us[scavenge]") == len([t for t in told if t[0] == "Scavenge"]), text)


node_gc.__name__ = "node-gc"

TESTS = [exceptions, python_gc, lua_gc, node_gc]
