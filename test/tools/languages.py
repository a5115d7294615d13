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

NODE_BLOCKS = """\
const { execSync } = require("child_process");
const { monitorEventLoopDelay } = require("perf_hooks");
const { Worker, isMainThread } = require("worker_threads");
const delay = monitorEventLoopDelay({ resolution: 1 });
function busy(ms) { for (const end = performance.now() + ms; performance.now() < end;) {} }
function note(name, work) { const begin = performance.now(); work(); console.log(name, (performance.now() - begin).toFixed(3)); }
function computes() { note("computes", () => busy(400)); }
function executes() { note("executes", () => execSync("sleep 0.2")); }
function works() { busy(150); }
if (isMainThread) {
  console.log("main"); // the first line takes long
  delay.enable();
  setTimeout(computes, 300);
  setTimeout(executes, 1200);
  setTimeout(() => { new Worker(__filename); }, 2000);
  setTimeout(() => { console.log("most", (delay.max / 1e6).toFixed(3)); delay.disable(); }, 3000);
} else {
  setTimeout(works, 300);
  setTimeout(() => {}, 600);
}
"""


def node_loop(acu):
    node = shutil.which("node")
    if not node:
        return "no Node.js here"
    node, script = os.path.realpath(node), write("blocks.js", NODE_BLOCKS)
    name = os.path.basename(node)
    for _ in range(3):  # other programs may have the CPU when the loop is to turn
        text = follow(acu, "node-loop.bt", [node, script], ["--", f"--name={name}", "--ms=100"])
        found = re.findall(r"^\d\d:\d\d:\d\d\.\d{6} (\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (\w+)\n((?:        .+\n)*)", text, re.M)
        turns = {function: [f for f in found if re.search(rf"^        {function} {re.escape(script)}:\d+$", f[7], re.M)] for function in ("computes", "executes", "works")}
        told = {name: float(ms) for name, ms in re.findall(r"^(computes|executes|most) ([\d.]+)$", text, re.M)}
        off = {name: abs(int(turns[name][0][2]) / told[name] - 1) for name in ("computes", "executes") if turns[name]}
        if len(off) == 2 and max(off.values()) <= 0.05 and abs(int(turns["computes"][0][2]) / told["most"] - 1) <= 0.05:
            break
    need([len(turns[function]) for function in ("computes", "executes", "works")] == [1, 1, 1], text)
    need(len(off) == 2 and max(off.values()) <= 0.05, f"off by {off} of {told}:\n{text}")
    need(abs(int(turns["computes"][0][2]) / told["most"] - 1) <= 0.05, f"the program's longest delay was {told['most']} ms:\n{text}")
    pid, tid, lag, cpu, samples, longest, call, _ = turns["computes"][0]
    need(pid == tid and int(cpu) <= int(lag) + 20 and int(samples) >= 10 and int(longest) <= int(lag) // 2, text)
    pid, tid, lag, cpu, samples, longest, call, _ = turns["executes"][0]
    need(call in ("epoll_pwait", "epoll_wait") and 195 <= int(longest) <= int(lag) and int(cpu) <= int(lag) // 2, text)
    need(turns["works"][0][0] == pid != turns["works"][0][1] and int(turns["works"][0][2]) >= 150, text)
    need(histogram_total(text, f"@us[{pid}, {pid}]") >= 100, text)


node_loop.__name__ = "node-loop"

RUBY_COLLECTS = """\
sleep 0.5
$kept = []
def fills
  400000.times do |n|
    $kept << ["x#{n}", n]
    $kept.shift(100000) if $kept.size > 200000
  end
end
def collects
  GC.start
end
fills
before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
collects
puts "took #{((Process.clock_gettime(Process::CLOCK_MONOTONIC) - before) * 1e6).to_i}"
100.times { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
puts "total #{GC.respond_to?(:total_time) ? GC.total_time / 1000 : 0} #{GC.count}"
"""


def ruby_gc(acu):
    library = next(iter(sorted(glob.glob("/usr/lib/x86_64-linux-gnu/libruby-*.so.*"))), "")
    if not shutil.which("ruby") or not library or "gc__mark__begin" not in subprocess.run(["readelf", "-n", library], capture_output=True, text=True).stdout:
        return "no Ruby with static probes here"
    script = write("collects.rb", RUBY_COLLECTS)
    for _ in range(3):  # Ruby's clock is CPU time: as above
        text = follow(acu, "ruby-gc.bt", ["nice", "-n", "-15", "ruby", "--disable=gems", script], [library, "--", "--min-us=0", "--name=ruby"])
        total, count = (int(n) for n in re.search(r"^total (\d+) (\d+)$", text, re.M).groups())
        took = int(re.search(r"^took (\d+)$", text, re.M).group(1))
        sums = {work: (int(n), int(us)) for work, n, us in re.findall(r"^@total_us\[(.+)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M)}
        own = sum(us for _, us in sums.values())
        found = re.findall(r"^\d\d:\d\d:\d\d\.\d{6} \d+ +ruby +(\d+) ([a-z, ]+)\n((?:        .+\n)*)", text, re.M)
        asked = [int(us) for us, _, frames in found if re.search(rf"^        collects {re.escape(script)}:10$", frames, re.M)]
        if total and abs(own - total) <= 0.05 * total and abs(sum(asked) - took) <= 0.05 * took:
            break
    need(sums.get("mark", (0, 0))[0] + sums.get("mark, sweep", (0, 0))[0] == count, f"not {count} collections:\n{text}")
    need(abs(sum(asked) - took) <= 0.05 * took, f"{asked} us, the program measured {took}:\n{text}")
    if total:
        need(abs(own - total) <= 0.05 * total, f"{own} us, Ruby counted {total}:\n{text}")
        need(any(re.search(rf"^        (block in )?fills {re.escape(script)}:\d+$", frames, re.M) for _, work, frames in found if work == "mark step"), text)


ruby_gc.__name__ = "ruby-gc"

TESTS = [exceptions, python_gc, lua_gc, node_gc, node_loop, ruby_gc]
