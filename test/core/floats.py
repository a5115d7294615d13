"""Numbers of floating point in cores and in live memory: variables, members, arguments in registers; as gdb has them."""
import json
import os
import re
import subprocess

from common import HERE, LIMIT, acu_core, call, end, need, path, script, start

# Expressions that mean the same to acu and to gdb, and how both print them.
EXPRESSIONS = [
    ("target.g_float", "g_float", "%.9g"), ("target.g_double", "g_double", "%.17g"), ("target.g_zero", "g_zero", "%g"),
    ("target.g_inf", "g_inf", "%f"), ("target.g_nan", "g_nan", "%f"), ("target.g_denormal", "g_denormal", "%.17g"),
    ("target.g_large", "g_large", "%e"), ("target.g_negative", "g_negative", "%f"), ("target.g_whole", "g_whole", "%g"),
    ("target.g_price.low", "g_price.low", "%10.3f"), ("target.g_price.high", "g_price.high", "%-8.2f|"),
    ("target.g_prices->high", "g_prices->high", "%+E"), ("target.g_price.quarters[2]", "g_price.quarters[2]", "%G"),
    ("(int64)target.g_double", "(long)g_double", "%ld"), ("(int32)target.g_negative", "(int)g_negative", "%d"),
    ("(uint8)target.g_price.low", "(unsigned char)g_price.low", "%d"), ("(int64)target.g_whole", "(long)g_whole", "%ld"),
]


def core_of(optimisation):
    binary, core = path("floats" + optimisation), path(f"floats{optimisation}.core")
    if not os.path.exists(core):
        subprocess.run(["g++", "-g", optimisation, "-o", binary, os.path.join(HERE, "floats.cc")], check=True, timeout=LIMIT)
        call("gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, binary)
        need(os.path.exists(core), "gdb wrote no core")
    return binary, core


def floats_as_gdb(acu):
    binary, core = core_of("-O0")
    words = ["gdb", "-nx", "-batch"]
    for _, theirs, form in EXPRESSIONS:
        words += ["-ex", f'printf "{form}\\n", {theirs}']
    expected = call(*words, binary, core).stdout.splitlines()[-len(EXPRESSIONS):]
    out, _ = script(acu, core, "oneshot { " + " ".join(f'printf("{form}\\n", {ours});' for ours, _, form in EXPRESSIONS) + " }")
    for row, ours, theirs in zip(EXPRESSIONS, out.splitlines(), expected, strict=True):
        need(ours == theirs, f"{row[0]}: {ours}, gdb says {theirs}")


def floats_in_structures(acu):
    _, core = core_of("-O0")
    out, _ = script(acu, core, "oneshot { print(target.g_price); @by[target.g_double] = target.g_long; }")
    need("{ .id = 7, .low = 1.5, .high = 2.25, .exact = 0.1, .quarters = [0.25,0.5,0.75,1] }" in out, out)
    need("@by[3.14159265358979]: 0.1\n" in out, out)
    lines = script(acu, core, "oneshot { print(target.g_price); print((target.g_nan, target.g_inf, target.g_float)); }", "--json")[0].splitlines()
    price = json.loads(lines[0])["data"]
    need(price == {"id": 7, "low": 1.5, "high": 2.25, "exact": "0.1", "quarters": [0.25, 0.5, 0.75, 1]}, lines[0])
    need(json.loads(lines[1])["data"] == ["nan", "inf", 1.1], lines[1])


def floats_in_registers(acu):
    """Arguments that are in xmm0 and xmm1 where the program crashed; those of callers are not kept."""
    for optimisation in "-O0", "-O1":
        _, core = core_of(optimisation)
        text = acu_core(acu, core)
        need(re.search(r"  0  crash\(.*\n +x = 2\.6000000\d*, y = 0\.1, nowhere = 0x0\n", text), text)
        out, _ = script(acu, core, 'fault { printf("%.3f %.3f\\n", args.x, args.y); } frame("crash") { print(args.y); }')
        need(out == "2.600 0.100\n0.1\n", out)


def floats_of_a_live_process(acu):
    """A thread that is stopped has its registers, too."""
    with open(path("stopped.c"), "w") as file:
        file.write("#include <unistd.h>\n__attribute__((noipa)) void wait_with(double x) {\n  write(1, \"ready\\n\", 6);\n  __asm__ volatile(\"1: pause; jmp 1b\" : : \"x\"(x));\n}\n"
                   "int main(int argc, char **argv) { alarm(60); wait_with(argc * 0.3); return 0; }\n")
    subprocess.run(["gcc", "-g", "-O1", "-o", path("stopped"), path("stopped.c")], check=True, timeout=LIMIT)
    process = start(path("stopped"))
    try:
        done = call(acu, "snap", "-p", process.pid, "-e", 'frame("wait_with") { print(args.x); }')
        need(done.stdout == "0.3\n", done.stdout + done.stderr)
    finally:
        end(process)


TESTS = [floats_as_gdb, floats_in_structures, floats_in_registers, floats_of_a_live_process]
