#!/usr/bin/env python3
"""Frames of Java in user stacks: java.py ACU [--filter TEXT] [--java COMMAND]… [--all]

The system's JVM runs Seeded.java (common.py), and so does each COMMAND: another JVM, such as "chroot /srv/trixie java". No flag is given to a JVM that
would help to find frames; flags that choose a compiler or a collector are. Last line: `N passed, N failed, N skipped`.
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
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COMM, EVERY, LIMIT, MANY, STOPS, acu_run, check_seeded, check_shares, check_stopped, first_stack, take_commands, wait_for_read
from tally import Skipped, need, run_tests, take_filter

# Parameters are not in tracebacks of Java; native frames have an offset, and files of Java no folder. What triggers (java.io.File) is not written down.
FRAME = re.compile(r"^\s+(?!java\.io\.|java\.lang\.Thread\.sleep)([\w.$/<>]+)\([^ +]*\)(?: (\S+?):(\d+)| (\S+))?$")
SIMPLE = [["-Xint"], ["-XX:TieredStopAtLevel=1"], ["-XX:-TieredCompilation"]]
COLLECTORS = [["-XX:+UseSerialGC"], ["-XX:+UseParallelGC"], ["-XX:+UseZGC"], ["-XX:+UseShenandoahGC"], ["-XX:-UseCompressedOops"]]


@functools.cache
def classes():
    """A folder with the compiled programs, by the system's compiler."""
    compiler = shutil.which("javac")
    if not compiler:
        raise Skipped("there is no javac here")
    folder = tempfile.mkdtemp(prefix="acu-java-")
    sources = [os.path.join(HERE, name) for name in ("Seeded.java", "Shapes.java")]
    done = subprocess.run([compiler, "-nowarn", "--release", "8", "-Xlint:-options", "-d", folder, *sources], capture_output=True, text=True, timeout=LIMIT)
    need(done.returncode == 0, done.stderr)
    return folder


def java(command, options=()):
    """Its words, up to the class."""
    if not shutil.which(command[0]):
        raise Skipped(f"there is no {command[0]} here")
    done = subprocess.run([*command, *options, "-version"], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Skipped(f"{' '.join([*command, *options])} does not run: {done.stderr[:200]}")
    return [*command, *options, "-cp", classes()]


def seeded(command, options, script, trigger, count, how="before", *way):
    def test(acu):
        words = [*java(command, options), "Seeded", "FOLDER", "7", str(count), trigger, *way]
        all_stacks = count * (int(way[0]) if way else 1)
        return check_seeded(acu, words, script, how, all_stacks, FRAME, lines=trigger == "unlink")
    return test


def is_deep(command):
    def test(acu):
        """Of a recursion 2,000 deep the innermost 500 frames are shown."""
        done = acu_run(acu, "run", "-e", 'tracepoint:syscalls:sys_enter_unlink /str(args.pathname) == "/nonexistent/acu-shapes"/ { print(ustack(500)); }', "-c",
                       " ".join([*java(command), "Shapes", "deep", "2000"]))
        frames = re.findall(r"^\s+Shapes\.descend\(int\) Shapes.java:\d+$", done.stdout, re.M)
        need(490 <= len(frames) <= 500, f"{len(frames)} frames: {done.stdout[:600]}")
    return test


def shares(command, options):
    def test(acu):
        frames = {70: "Shapes.seventy()_[java]", 20: "Shapes.twenty()_[java]", 10: "Shapes.ten()_[java]"}
        return check_shares(acu, [*java(command, options), "Shapes", "shares", "3"], frames, "Shapes.shares(int)_[java]")
    return test


def is_known(command):
    """Of all samples in Java threads at most 5 in 1000 have a frame without a name or a stack that is not complete."""
    def test(acu):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "seeded.folded")
            acu_run(acu, "flame", "-q", "-F", "1999", "-o", path, "--", *java(command), "Seeded", folder, "7", "3000", "unlink")
            with open(path) as f:
                stacks = [line.rsplit(" ", 1) for line in f]
        own = [(stack, int(weight)) for stack, weight in stacks if "_[java]" in stack]
        total = sum(weight for _, weight in own)
        bad = sum(weight for stack, weight in own if re.search(r"\[(unknown|code object gone)\]|;0x[0-9a-f]+", stack))
        complete = sum(weight for stack, weight in own if re.search(r"(start_thread|clone3?)", stack.split("_[java]")[0]))
        need(total > 200 and bad <= 0.005 * total and complete >= 0.99 * total, f"{bad} of {total} samples have unknown frames, {complete} are complete")
        return f"{bad} of {total} samples have unknown frames, {complete} are complete"
    return test


def seeded_stack(acu, how, pid):
    """As first_stack() in common.py, of the thread that asks."""
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path) as f:
            if f.read() == COMM + "\n":
                thread = int(path.split("/")[4])
    wait_for_read(pid, thread)
    frames = [(name.partition("(")[0], file if line else "", line) for name, file, line in first_stack(acu, how, pid, thread)]
    return [frame for frame in frames if not frame[0].startswith("java.io.")]


def stopped(command, how):
    def test(acu):
        count = STOPS[how] // 10
        return check_stopped(acu, [*java(command), "Seeded", "FOLDER", "7", str(count), "ask"], how, count, waits=False, find=seeded_stack)
    return test


def tests(commands):
    for command in commands:
        name = " ".join(command)
        yield f"{name}: unlink, attached before it starts", seeded(command, (), "unlink", "unlink", MANY)
        yield f"{name}: unlink, attached after it starts", seeded(command, (), "unlink", "unlink", MANY, "after")
        if command == ("java",):  # in another root it is another libc
            yield f"{name}: uprobe", seeded(command, (), "remove", "unlink", MANY)
        yield f"{name}: spin", seeded(command, (), "unlink, spin", "spin", 2000 if EVERY else 400)
        yield f"{name}: sleep", seeded(command, (), "unlink, sleep", "sleep", 2000 if EVERY else 400)
        yield f"{name}: threads", seeded(command, (), "unlink", "unlink", 300, "before", "4")
        yield f"{name}: deep", is_deep(command)
        yield f"{name}: known", is_known(command)
        for how in STOPS if EVERY else ["snap"]:  # a core dump of a JVM takes many seconds
            yield f"{name}: stopped, {how}", stopped(command, how)
        for options in SIMPLE + COLLECTORS if EVERY else SIMPLE[:2]:
            yield f"{name}: {' '.join(options)}", seeded(command, options, "unlink", "unlink", 1000 if EVERY else 500)
        for options in [(), *SIMPLE] if EVERY else [()]:
            yield f"{name}: shares {' '.join(options)}".rstrip(), shares(command, options)


if __name__ == "__main__":
    only, commands = take_filter(sys.argv), take_commands(sys.argv, "java")
    try:
        status = run_tests([(name, test) for name, test in tests(commands) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False)
    finally:
        if classes.cache_info().currsize:
            shutil.rmtree(classes())
    sys.exit(status)
