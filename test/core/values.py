"""Containers, strings and smart pointers of C++ and values of Rust, in cores and in live memory: as gdb's printers show them, and the same
whether the program uses libstdc++ or libc++."""
import json
import os
import re
import shutil
import subprocess

from common import HERE, LIMIT, Skipped, acu_core, call, end, need, path, script, start

AS_GDB = "text empty_text few words orders names lists twice numbers ages queue_ ahead fixed two matrix either maybe_text three moved moved_to".split()
BY_KEY = ["names", "lists", "twice", "ages"]


DAMAGED = "lost_vector lost_text lost_map lost_deque lost_list lost_hash lost_variant lost_function lost_ahead".split()
# What values.cc must print, whichever library it is built with.
PRINTED = {
    "text": '"short"', "strange": r'"a\"b\x0a"', "orders": '[{ .id = 7, .who = "seven", .prices = [1.5,2] }]', "names": '{ [1] = "one", [2] = "two", [3] = "three" }',
    "few": "[17,18,19]", "none": "[]", "words": '["a","b"]', "two": '{ .first = 9, .second = "nine" }',
    "lists": '{ ["even"] = [2], ["odd"] = [1,3] }', "twice": "{ [1] = 1.5, [1] = 2.5 }", "numbers": "[3,4,5]", "ages": '{ ["ann"] = 30 }', "hashed": "[42]",
    "queue_": "[4,5,6]", "ahead": "[7,8]", "nobody": "0x0", "maybe": "3", "not_there": "nothing", "maybe_text": '"yes"', "either": '"second"',
    "three": '(1, "x", 2.5)', "fixed": "[1,2,3]", "counter": "11", "wait_ms": "250", "part_of": '"viewed"', "flags": "[true,false,true]", "empty_text": '""',
    "moved": '""', "moved_to": '"a text that is longer than fifteen"', "matrix": "[[1,2],[3]]",
    "scores": "[1,2,2]", "marks": "{ [1] = 120 }", "tags": '["tag"]', "letters": "[{ .a = 97, .b = 98 },{ .a = 99, .b = 100 }]",
    "by_letter": "{ [107] = { .a = 118, .b = 119 } }", "precise": '{ ["half"] = 0.5 }', "lines": "{ [1] = { .first = 2 } }", "listed_lines": "[{ .first = 3 }]", "aligned_of": "{ [4] = { .first = 5 } }", "wide": "[119,105,100,101]", "wider": "[119]",
    "some": "[17,18]", "both": "[18,19]", "calls": "twice_of(int)", "adds": "Adder", "adds_large": "LargeAdder", "calls_none": "nothing", "closed": "0x0",
    "partly_empty": "({ }, 7, { })", "no_value": "nothing (valueless by exception)", "pieces": '["left","right"]', "nested": '{ [1] = ["a","b"], [2] = [] }',
    "maybe_list": "[1]", "moved_list": "[]", "moved_words": "[]", "ahead_circle": "<a list that goes in a circle: not initialised, or damaged?>",
    "many": "[" + "1," * 100 + "… 200 more]", "all": "[" + "1," * 100 + "… 200 more]", "ahead_many": "[" + "2," * 100 + "… 200 more]",
    "chars": "[" + "99," * 100 + "… 4,900 more]", "many_flags": "[" + "true," * 100 + "… 30 more]", "long_text": '"' + "x" * 4096 + '"… 904 bytes more',
    "wide_long": str([ord(c) for c in "too wide for that"]).replace(" ", ""),
    "both_ends": "[" + ",".join(str(i) for i in [-1, -2, -3, *range(97)]) + ",… 103 more]",
    "blocks": "[" + ",".join("{ .at = %d, .rest = [%s] }" % (i, ",".join(["0"] * 49)) for i in range(3, 40)) + "]",
    "large": "{ " + "".join(f"[{i}] = {2 * i}, " for i in range(100)) + "… 99,900 more }",
    "circle": "[" + "1," * 100 + "… 999,900 more]",
    "torn": "{ [0] = 0, [1] = 1, <the rest cannot be followed: it says that it has 7, damaged?> }",
    "wound": "{ [0] = 0, [1] = 1, <the rest cannot be followed: it says that it has 7, damaged?> }",
}
BUILDS = {
    "libstdc++": ["g++"],
    "libstdc++, optimized": ["g++", "-O2"],
    "libc++": ["clang++", "-stdlib=libc++"],
    "libc++, optimized": ["clang++", "-stdlib=libc++", "-O2"],
    # The other layout of strings, and so without the functions that are in the library file.
    "libc++, alternate strings": ["clang++", "-stdlib=libc++", "-D_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT", "-D_LIBCPP_DISABLE_EXTERN_TEMPLATE"],
}


def compiler(build):
    words = BUILDS[build]
    if not shutil.which(words[0]):
        raise Skipped("missing: " + words[0])
    if "-stdlib=libc++" in words and call(*words, "-fsyntax-only", "-x", "c++", "-include", "string", "/dev/null").returncode:
        raise Skipped("libc++ is not installed (Debian: apt-get install libc++-dev libc++abi-dev)")
    return words


def core_of_cpp(build="libstdc++"):
    words = compiler(build)
    binary = path("values" + re.sub(r"\W", "-", build))
    core = binary + ".core"
    if not os.path.exists(core):
        subprocess.run([*words, "-std=c++20", "-g", "-o", binary, os.path.join(HERE, "values.cc")], check=True, timeout=LIMIT)
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


def containers_in(acu, build):
    _, core = core_of_cpp(build)
    for name, ours in zip(PRINTED, values(acu, core, PRINTED), strict=True):
        need(ours == PRINTED[name], f"{build}: {name}: {ours}, not {PRINTED[name]}")
    owned, shared, watches, expired, shown_at, referred, a_lambda = values(acu, core, ["owned", "shared1", "watches", "expired", "shown_at", "referred", "lambda"])
    need(re.fullmatch(r"0x[0-9a-f]+", owned) and re.fullmatch(r"0x[0-9a-f]+ \(uses 2\)", shared) and watches == shared, f"{build}: {owned} {shared} {watches}")
    need(re.fullmatch(r"0x[0-9a-f]+ \(uses 0\)", expired) and shown_at == referred != "0x0", f"{build}: {expired} {shown_at} {referred}")
    need(re.fullmatch(r"lambda::\{lambda\(int\)#1\}|\$_\d+", a_lambda), f"{build}: {a_lambda}")  # as each compiler names it
    out = [json.loads(line)["data"] for line in values(acu, core, ["names", "orders", "many", "either", "shared1", "calls", "three", "letters", "torn"], "--json")]
    need(out[0] == [[1, "one"], [2, "two"], [3, "three"]] and out[1] == [{"id": 7, "who": "seven", "prices": [1.5, 2]}], str(out[:2]))
    need(out[2][100:] == [{"left_out": 200}] and out[3] == "second" and out[4]["uses"] == 2 and out[5] == "twice_of(int)", str(out))
    need(out[6] == [1, "x", 2.5] and out[7][1] == {"a": 99, "b": 100} and list(out[8][2]) == ["not_shown"], str(out))
    text = acu_core(acu, core)
    # clang keeps no place of `s`.
    need(re.search(r"  stop\(.*\n +n = @0x[0-9a-f]+: \[17,18,19\], s = (?:\"given\"|<is optimised away here>), m = 0x", text) or "optimized" in build, text)
    need('taken_list = [1,2], taken_words = ["x"]' in text or "optimized" in build, text)
    out, _ = script(acu, core, 'oneshot { printf("%s %s\\n", target.names, target.wide); }')
    need(out == PRINTED["names"] + " [119,105,100,101]\n", out)


def containers(acu):
    for build in ("libstdc++", "libstdc++, optimized"):
        containers_in(acu, build)


def containers_of_libcxx(acu):
    for build in ("libc++", "libc++, optimized", "libc++, alternate strings"):
        containers_in(acu, build)


def damaged_objects(acu, build):
    _, core = core_of_cpp(build)
    shown = script(acu, core, "oneshot { " + " ".join(f"print(*target.{n});" for n in DAMAGED) + " }")[0].splitlines()
    for name, text in zip(DAMAGED, shown, strict=True):
        need(re.search(r"not initialised, or damaged\?>|is not there>|not mapped>|cannot be followed", text) or text == "[]", f"{build}: {name}: {text}")


def objects_that_are_none(acu):
    damaged_objects(acu, "libstdc++")


def objects_of_libcxx_that_are_none(acu):
    for build in ("libc++", "libc++, alternate strings"):
        damaged_objects(acu, build)


def live_containers(acu, build):
    words, binary = compiler(build), path("standing" + re.sub(r"\W", "-", build))
    with open(path("standing.cc"), "w") as file:
        file.write('#include <map>\n#include <string>\n#include <unistd.h>\n#include <vector>\nstd::map<std::string, std::vector<int>> held = {{"odd", {1, 3}}, {"even", {2}}};\n'
                   'int main() {\n  alarm(60);\n  write(1, "ready\\n", 6);\n  pause();\n}\n')
    subprocess.run([*words, "-std=c++17", "-w", "-g", "-O1", "-o", binary, path("standing.cc")], check=True, timeout=LIMIT)
    process = start(binary)
    try:
        done = call(acu, "snap", "-p", process.pid, "-e", 'oneshot { print(target.held); printf("%s\\n", target.held); }')
        need(done.stdout == '{ ["even"] = [2], ["odd"] = [1,3] }\n' * 2, done.stdout + done.stderr)
    finally:
        end(process)


def containers_of_a_live_process(acu):
    live_containers(acu, "libstdc++")


def containers_of_libcxx_in_a_live_process(acu):
    live_containers(acu, "libc++")


def values_of_rust(acu):
    if not shutil.which("rustc"):
        raise Skipped("missing: rustc")
    binary, core = path("values-rust"), path("values-rust.core")
    subprocess.run(["rustc", "-g", "-o", binary, os.path.join(HERE, "values.rs")], check=True, timeout=LIMIT)
    call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
    out, _ = script(acu, core, 'frame("*stop") { print(*args.h); }')
    need(re.fullmatch(r'\{ \.name = "acu", \.list = \[1,2,3\], \.maybe = Some\(5\), \.none = None, \.boxed = Some\(0x[0-9a-f]+\), \.nobox = None, \.result = Ok\(3\), '
                      r'\.failed = Err\("bad"\), \.shapes = \[Circle\(1\.5\),Rect \{ \.w = 2, \.h = 3 \},Empty\], \.slice = "static", \.pair = \{ \.__0 = 1, \.__1 = "x" \}, '
                      r"\.nums = \[\[1\],\[2,3\]\], \.big = Some\(9\) \}\n", out), out)
    data = json.loads(script(acu, core, 'frame("*stop") { print(*args.h); }', "--json")[0])["data"]
    need(data["shapes"] == [{"Circle": 1.5}, {"Rect": {"w": 2, "h": 3}}, "Empty"] and data["maybe"] == {"Some": 5} and data["none"] == "None", str(data))


TESTS = [containers_as_gdb, containers, containers_of_libcxx, objects_that_are_none, objects_of_libcxx_that_are_none, containers_of_a_live_process, containers_of_libcxx_in_a_live_process,
         values_of_rust]
