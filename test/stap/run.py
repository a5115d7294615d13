#!/usr/bin/env python3
"""SystemTap scripts, converted by `acu convert`: run.py ACU [--filter TEXT] [--yardstick FOLDER]

- Each script of cases.py is converted. Those with an output print it, on the evaluator and in the kernel; the others are compiled.
- Each mistake of cases.py is refused with its place, a cause and a next step.
- Tools of acu are written for SystemTap by `acu emit` and converted back: acu compiles the result.
- Comments stay, remarks are where they belong, and output goes to a file.

With --yardstick, all *.stp files below a folder are converted and compiled, and nothing is tested: how many of them are.

Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, need, run_tests, take_filter

sys.path.insert(0, HERE)
from cases import CASES, MISTAKES

LIMIT = 60 * SLOWNESS
UNSUPPORTED = 5
# Tools whose way back needs a person.
NOT_BACK = {"permsnoop": "acu keeps no addresses of the kernel and of a program in one map"}
# What another host or kernel has, and this one lacks.
LACKS = ("no such probe", "there is no tracepoint", "no function matches", "built without kprobes", "does not exist", "cannot read")


def call(words, text=None):
    try:
        return subprocess.run(words, input=text, capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{words[0]} did not end") from None


def convert(acu, script):
    return call([acu, "convert", "-"], script)


def lines_of(text):
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def compile_only(acu, text, *words):
    return call([acu, "run", "--unsafe", "--no-warnings", "-d", "ir", "-", *words], text)


def check_case(acu, script, expected):
    written = convert(acu, script)
    need(written.returncode == 0, f"{written.stderr}\n{script}")
    if expected is None:
        compiled = compile_only(acu, written.stdout, "1", "text", "-c", "true") if "cpid" in written.stdout else compile_only(acu, written.stdout, "1", "text")
        if compiled.returncode != 0 and any(lack in compiled.stderr for lack in LACKS):
            raise Skipped(compiled.stderr.strip().splitlines()[0])
        return need(compiled.returncode == 0, f"{compiled.stderr}\n{written.stdout}")
    for engine in ("eval", "kernel"):
        run = call([acu, "run", "-q", "--no-warnings", "--engine", engine, "-"], written.stdout)
        if engine == "kernel" and run.returncode != 0 and "permitted" in run.stderr:
            raise Skipped("no BPF here")
        need(run.returncode == 0, f"{engine}: {run.stderr}\n{written.stdout}")
        need(lines_of(run.stdout) == lines_of(expected), f"{engine}:\n{run.stdout}\nexpected:\n{expected}\nof\n{written.stdout}")


def check_mistake(acu, script, place, message):
    said = convert(acu, script)
    need(said.returncode == UNSUPPORTED, f"status {said.returncode}\n{said.stdout}{said.stderr}")
    need(said.stdout == "", f"a script is written:\n{said.stdout}")
    first = said.stderr.splitlines()[0]
    need(re.match(r"stdin:" + re.escape(place), first), f"not at {place}: {first}")
    need(message in first, f"not about {message!r}: {first}")
    need("HINT: " in said.stderr, f"no next step:\n{said.stderr}")


def check_back(acu, name):
    """A tool of acu, as SystemTap has it, and back."""
    written = call([acu, "emit", "--to", "stap", "--no-warnings", name])
    if written.returncode != 0:
        raise Skipped("it is not carried over to SystemTap, or not compiled here")
    if name in NOT_BACK:
        raise Skipped(NOT_BACK[name])
    back = convert(acu, written.stdout)
    need(back.returncode == 0, f"{back.stderr}\n{written.stdout}")
    compiled = compile_only(acu, back.stdout)
    if compiled.returncode != 0 and any(lack in compiled.stderr for lack in LACKS):
        raise Skipped(compiled.stderr.strip().splitlines()[0])
    need(compiled.returncode == 0, f"{compiled.stderr}\n{back.stdout}")


def check_comments(acu):
    script = "# What it does.\n\n# Counted by name.\nglobal c\n\n// Each read\nprobe syscall.read {\n  # why\n  c[execname()]++\n}\n"
    written = convert(acu, script)
    need(written.returncode == 0, written.stderr)
    lines = written.stdout.splitlines()
    for comment in ("// What it does.", "// Each read", "  // why"):
        need(lines.count(comment) == 1, f"{comment} is not there once:\n{written.stdout}")
    need(lines.index("// Each read") + 1 == lines.index("tracepoint:syscalls:sys_enter_read {"), written.stdout)


def check_remarks(acu):
    written = convert(acu, 'probe begin { println("a")\n if (pid() == target()) println("b") }')
    need(written.returncode == 0, written.stderr)
    lines = [line.strip() for line in written.stdout.splitlines()]
    at = [i for i, line in enumerate(lines) if line.startswith("// convert: target()")]
    need(len(at) == 1 and lines[at[0] + 1].startswith("if (pid == cpid)"), written.stdout)
    need("1 comment in the script begins with `convert:`" in written.stderr, written.stderr)
    quiet = call([acu, "convert", "-q", "-"], "probe begin { println(target()) }")
    need(quiet.stderr == "", quiet.stderr)


def check_times(acu):
    """A time of a variable is that of its clock: local time, as acu prints it."""
    written = convert(acu, 'global t probe begin { t["x"] = 1000000000 printf("%s\\n", ctime(t["x"])) }')
    need(written.returncode == 0, written.stderr)
    run = call([acu, "run", "-q", "--engine", "eval", "-"], written.stdout)
    need(run.stdout.split() == time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(1000000000)).split(), f"{run.stdout}{run.stderr}")


def check_arguments(acu):
    script = 'global n\nprobe $1 { %( $# > 2 %? println("never") %: n++ %) if (n >= $2 || execname() == @3) exit() }'
    written = call([acu, "convert", "-", 'begin, kernel.function("vfs_read")', "10"], script)
    need(written.returncode == 0, written.stderr)
    for part in ("begin", "kprobe:vfs_read", "@n >= 10", "comm == str($3)"):
        need(part in written.stdout, f"no {part} in\n{written.stdout}")
    need("never" not in written.stdout, written.stdout)
    wrong = call([acu, "convert", "-", "begin", '"'], script)
    need(wrong.returncode == UNSUPPORTED and "is no part of a script" in wrong.stderr, wrong.stderr)


def check_indent(acu):
    written = convert(acu, 'probe begin { printf("%s a\\n", thread_indent(1)) printf("%s b\\n", thread_indent(1)) printf("%s b\\n", thread_indent(-1)) printf("%s a\\n", thread_indent(-1)) }')
    need(written.returncode == 0, written.stderr)
    for engine in ("eval", "kernel"):
        run = call([acu, "run", "-q", "--engine", engine, "-"], written.stdout)
        if engine == "kernel" and run.returncode != 0 and "permitted" in run.stderr:
            raise Skipped("no BPF here")
        lines = run.stdout.splitlines()
        need(len(lines) == 4 and all(re.match(r" *\d+ .+\(\d+\):", line) for line in lines), f"{engine}: {run.stdout}{run.stderr}")
        need([re.sub(r".*\):", "", line) for line in lines] == [" a", "  b", "  b", " a"], run.stdout)


def check_results(acu):
    """A result below 0 is below 0: it has its type."""
    written = convert(acu, 'probe kernel.function("tcp_sendmsg").return { if ($return < 0) println("x") } probe kernel.function("vfs_re*").return { if ($return < 0) println("x") }')
    need("fexit:tcp_sendmsg {\n  if (retval < 0)" in written.stdout and "kretprobe:vfs_re* {\n  if ((int64)retval < 0)" in written.stdout, written.stdout)
    numbers = convert(acu, 'probe process(4711).syscall { println("x") } probe process(@1).end { println("y") }')
    need("/pid == 4711/" in numbers.stdout and "/comm == str($1)/" in numbers.stdout, numbers.stdout)


def check_file(acu, folder):
    source, target = os.path.join(folder, "x.stp"), os.path.join(folder, "x.bt")
    open(source, "w").write('probe begin { println("x") }')
    done = call([acu, "convert", "-o", target, source])
    need(done.returncode == 0 and done.stdout == "", done.stderr)
    need(open(target).read() == 'begin {\n  printf("x\\n");\n}\n', open(target).read())
    missing = call([acu, "convert", os.path.join(folder, "none.stp")])
    need(missing.returncode != 0 and "none.stp" in missing.stderr, missing.stderr)
    need(call([acu, "convert"]).returncode != 0, "no script is no mistake")


def yardstick(acu, folder):
    all_scripts = sorted(glob.glob(os.path.join(folder, "**", "*.stp"), recursive=True))
    converted, compiled = [], []
    for path in all_scripts:
        text = open(path, errors="replace").read()
        written = convert(acu, text)
        if written.returncode < 0 or written.returncode not in (0, UNSUPPORTED):
            print(f"{path}: status {written.returncode}")
        if written.returncode != 0:
            print(f"{os.path.basename(path)}: {written.stderr.splitlines()[0] if written.stderr else written.returncode}")
            continue
        converted.append(os.path.basename(path))
        run = compile_only(acu, written.stdout, "1", "2", "3", "-c", "true")
        if run.returncode == 0:
            compiled.append(os.path.basename(path))
        else:
            print(f"{os.path.basename(path)}: compiles not: {run.stderr.splitlines()[0] if run.stderr else run.returncode}")
    print(f"{len(all_scripts)} scripts, {len(converted)} converted, {len(compiled)} compile here")
    print("compile:", " ".join(compiled))


def main():
    arguments = sys.argv[1:]
    if "--yardstick" in arguments:
        yardstick(os.path.abspath(arguments[0]), arguments[arguments.index("--yardstick") + 1])
        return 0
    wanted = take_filter(arguments)
    acu = os.path.abspath([a for a in arguments if not a.startswith("-")][0])
    tools = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(ROOT, "tools", "*.bt")))
    with tempfile.TemporaryDirectory() as folder:
        tests = [(f"case {name}", functools.partial(check_case, script=script, expected=expected)) for name, script, expected in CASES]
        tests += [(f"mistake {script[:40]}", functools.partial(check_mistake, script=script, place=place, message=message)) for script, place, message in MISTAKES]
        tests += [(f"back {name}", functools.partial(check_back, name=name)) for name in tools]
        tests += [("comments", check_comments), ("remarks", check_remarks), ("times", check_times), ("indent", check_indent), ("arguments", check_arguments), ("results", check_results), ("file", functools.partial(check_file, folder=folder))]
        return run_tests([t for t in tests if wanted in t[0]], acu)


if __name__ == "__main__":
    sys.exit(main())
