"""Containers, strings and smart pointers of C++ and values of Rust, in cores and in live memory: as gdb's printers show them."""
import json
import os
import re
import shutil
import subprocess

from common import HERE, LIMIT, Skipped, acu_core, call, end, need, path, script, start

AS_GDB = "text empty_text few words orders names lists twice numbers ages queue_ ahead fixed two matrix either maybe_text three moved moved_to".split()
BY_KEY = ["names", "lists", "twice", "ages"]


def core_of_cpp():
    binary, core = path("values"), path("values.core")
    if not os.path.exists(core):
        subprocess.run(["g++", "-std=c++20", "-g", "-O0", "-o", binary, os.path.join(HERE, "values.cc")], check=True, timeout=LIMIT)
        call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
        need(os.path.exists(core), "gdb wrote no core")
    return binary, core


def values(acu, core, names, *more):
    return script(acu, core, "oneshot { " + " ".join(f"print(target.{n});" for n in names) + " }", *more)[0].splitlines()


def said(text):
    """The numbers, texts and truth values, in order."""
    return re.findall(r'"(?:[^"\\]|\\.)*"|-?\b(?:0x)?[0-9a-f.]+\b|true|false', text)


def containers_as_gdb(acu):
    binary, core = core_of_cpp()
    words = ["gdb", "-batch", "-ex", "set print elements 300"]
    for name in AS_GDB:
        words += ["-ex", "print " + name]
    printed = re.findall(r"^\$\d+ = (.*(?:\n(?!\$).*)*)", call(*words, binary, core).stdout, re.M)
    need(len(printed) == len(AS_GDB), str(printed))
    if "std::vector of length 3" not in printed[AS_GDB.index("few")]:
        raise Skipped("gdb has no printers of libstdc++ here")
    compared = 0
    for name, ours, theirs in zip(AS_GDB, values(acu, core, AS_GDB), printed, strict=True):
        if re.search(r"elements?$", theirs.strip()): # its printer failed: some of gdb's do not find the types of nodes
            continue
        compared += 1
        # gdb says of each container how many it has, and numbers the elements of those without keys.
        plain = re.sub(r"std::[\w:]+(?:<[^{}=]*>)? (?:of length \d+, capacity \d+|with \d+ elements?) = ", "", theirs)
        if name not in BY_KEY:
            plain = re.sub(r"\[\d+\] = ", "", plain)
        ours = said(ours)
        need(said(plain)[-len(ours):] == ours or not ours, f"{name}: {ours}\ngdb: {theirs}")
    need(compared >= 12, f"only {compared} compared")


def containers(acu):
    _, core = core_of_cpp()
    expected = {
        "strange": r'"a\"b\x0a"', "orders": '[{ .id = 7, .who = "seven", .prices = [1.5,2] }]', "names": '{ [1] = "one", [2] = "two", [3] = "three" }',
        "lists": '{ ["even"] = [2], ["odd"] = [1,3] }', "twice": "{ [1] = 1.5, [1] = 2.5 }", "numbers": "[3,4,5]", "ages": '{ ["ann"] = 30 }', "hashed": "[42]",
        "queue_": "[4,5,6]", "ahead": "[7,8]", "nobody": "0x0", "maybe": "3", "not_there": "nothing", "maybe_text": '"yes"', "either": '"second"',
        "three": '(1, "x", 2.5)', "fixed": "[1,2,3]", "counter": "11", "wait_ms": "250", "part_of": '"viewed"', "flags": "[true,false,true]", "empty_text": '""',
        "moved": '""', "moved_to": '"a text that is longer than fifteen"', "matrix": "[[1,2],[3]]",
    }
    for name, ours in zip(expected, values(acu, core, expected)):
        need(ours == expected[name], f"{name}: {ours}, not {expected[name]}")
    many, large, long_text, both = values(acu, core, ["many", "large", "long_text", "both_ends"])
    need(many == "[" + "1," * 100 + "… 200 more]", many)
    need(large.startswith("{ [0] = 0, [1] = 2, ") and large.endswith(", [99] = 198, … 99,900 more }"), large)
    need(long_text == '"' + "x" * 4096 + '"… 904 bytes more', long_text)
    need(both == "[" + ",".join(str(i) for i in [-1, -2, -3, *range(97)]) + ",… 103 more]", both)
    out = [json.loads(line)["data"] for line in values(acu, core, ["names", "orders", "many", "either", "shared1"], "--json")]
    need(out[0] == [[1, "one"], [2, "two"], [3, "three"]] and out[1] == [{"id": 7, "who": "seven", "prices": [1.5, 2]}], str(out[:2]))
    need(out[2][100:] == [{"left_out": 200}] and out[3] == "second" and out[4]["uses"] == 2, str(out))
    text = acu_core(acu, core)
    need(re.search(r"  stop\(.*\n +n = @0x[0-9a-f]+: \[17,18,19\], s = \"given\", m = 0x", text), text)


def objects_that_are_none(acu):
    _, core = core_of_cpp()
    names = ["lost_vector", "lost_text", "lost_map", "lost_deque", "lost_list", "lost_hash", "lost_variant", "circle"]
    shown = script(acu, core, "oneshot { " + " ".join(f"print(*target.{n});" if n != "circle" else "print(target.circle);" for n in names) + " }")[0].splitlines()
    for name, text in zip(names, shown, strict=True):
        if name == "circle":
            need(text.startswith("[1,1,1,") and text.endswith("… 999,900 more]"), text)
        else:
            need(re.search(r"not initialised, or damaged\?>|is not there>|cannot be followed", text) or text == "[]", f"{name}: {text}")


def containers_of_a_live_process(acu):
    with open(path("standing.cc"), "w") as file:
        file.write('#include <map>\n#include <string>\n#include <unistd.h>\n#include <vector>\nstd::map<std::string, std::vector<int>> held = {{"odd", {1, 3}}, {"even", {2}}};\n'
                   'int main() {\n  alarm(60);\n  write(1, "ready\\n", 6);\n  pause();\n}\n')
    subprocess.run(["g++", "-g", "-O1", "-o", path("standing"), path("standing.cc")], check=True, timeout=LIMIT)
    process = start(path("standing"))
    try:
        done = call(acu, "snap", "-p", process.pid, "-e", 'oneshot { print(target.held); printf("%s\\n", target.held); }')
        need(done.stdout == '{ ["even"] = [2], ["odd"] = [1,3] }\n' * 2, done.stdout + done.stderr)
    finally:
        end(process)


def values_of_rust(acu):
    if not shutil.which("rustc"):
        raise Skipped("not there: rustc")
    binary, core = path("values-rust"), path("values-rust.core")
    subprocess.run(["rustc", "-g", "-o", binary, os.path.join(HERE, "values.rs")], check=True, timeout=LIMIT)
    call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
    out, _ = script(acu, core, 'frame("*stop") { print(*args.h); }')
    need(re.fullmatch(r'\{ \.name = "acu", \.list = \[1,2,3\], \.maybe = Some\(5\), \.none = None, \.boxed = Some\(0x[0-9a-f]+\), \.nobox = None, \.result = Ok\(3\), '
                      r'\.failed = Err\("bad"\), \.shapes = \[Circle\(1\.5\),Rect \{ \.w = 2, \.h = 3 \},Empty\], \.slice = "static", \.pair = \{ \.__0 = 1, \.__1 = "x" \}, '
                      r"\.nums = \[\[1\],\[2,3\]\], \.big = Some\(9\) \}\n", out), out)
    data = json.loads(script(acu, core, 'frame("*stop") { print(*args.h); }', "--json")[0])["data"]
    need(data["shapes"] == [{"Circle": 1.5}, {"Rect": {"w": 2, "h": 3}}, "Empty"] and data["maybe"] == {"Some": 5} and data["none"] == "None", str(data))


TESTS = [containers_as_gdb, containers, objects_that_are_none, containers_of_a_live_process, values_of_rust]
