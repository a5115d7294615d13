#!/usr/bin/env python3
"""Frames of PHP in user stacks: php.py ACU [--filter TEXT] [--php COMMAND]…

The system's PHP runs seeded.php (common.py), and each COMMAND does: another PHP with its options, such as "chroot /srv/trixie php8.4".
Last line: `N passed, N failed, N skipped`.
"""
import collections
import functools
import os
import re
import shutil
import socket as socketlib
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, LIMIT, STOPS, TRIGGERS, acu_run, check_busy, check_seeded, check_shares, check_stopped, take_commands
from tally import SLOWNESS, Skipped, need, run_tests, take_filter

# Native frames have an offset; functions in C have no file.
FRAME = re.compile(r"^\s+([^\s+]+)(?: ([/<].*):(\d+))?$")


SHAPES = os.path.join(HERE, "shapes.php")


@functools.cache
def works(command):
    done = subprocess.run([*command, "-r", "posix_getppid(); pcntl_fork();"], capture_output=True)
    return done.returncode == 0


def php(command):
    """Its words. A build may lack the functions that the programs need."""
    if not shutil.which(command[0]):
        raise Skipped(f"there is no {command[0]} here")
    if not works(command):
        raise Skipped(f"{' '.join(command)} has no posix_getppid() or pcntl_fork()")
    return [*command, "-d", "memory_limit=-1", "-d", "error_reporting=0"]


def seeded(command, script, how, *way):
    def test(acu):
        count = COUNTS[script] // (4 if way else 1)
        words = [*php(command), os.path.join(HERE, "seeded.php"), "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way]
        return check_seeded(acu, words, script, how, count // 2 if script == "spin" else count, FRAME)
    return test


def stopped(command, how):
    def test(acu):
        return check_stopped(acu, [*php(command), os.path.join(HERE, "seeded.php"), "FOLDER", "7", str(STOPS[how]), "ask"], how, STOPS[how])
    return test


def busy(command):
    def test(acu):
        return check_busy(acu, [*php(command), os.path.join(HERE, "seeded.php"), "FOLDER", "7", "100000000", "getppid"], "{main}")
    return test


def is_cut(command):
    def test(acu):
        """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
        done = acu_run(acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c",
                       " ".join([*php(command), SHAPES, "deep", "2000"]))
        frames = re.findall(r"^\s+descend .*shapes.php:\d+$", done.stdout, re.M)
        need(len(frames) == 499 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stderr[-400:]}")
    return test


def generators(command):
    """A chain of 100 generators that delegate, of which each is shown once."""
    def test(acu):
        done = acu_run(acu, "run", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c",
                       " ".join([*php(command), SHAPES, "chain", "100"]))
        found = re.findall(r"^\s+(delegates|chain|\{main\}) .*shapes.php:\d+$", done.stdout, re.M)
        need(found == ["delegates"] * 101 + ["chain", "{main}"], f"{found}")
    return test


def lines(command):
    """A CPU sample in the evaluation function is on the line that is carried out, not on the last one that might have failed."""
    def test(acu):
        done = acu_run(acu, "run", "-q", "-e", "profile:hz:499 /pid == cpid/ { printf(\"%s\", ustack(100)) }", "-c",
                       " ".join([*php(command), SHAPES, "spin", "20000000"]))
        found = collections.Counter(re.findall(r"^\s+spin .*shapes.php:(\d+)$", done.stdout, re.M))
        text = open(SHAPES).read().split("\n")
        first = next(n for n, line in enumerate(text, 1) if line.startswith("function spin"))
        share = {n: found[str(first + n)] / max(1, sum(found.values())) for n in (2, 3, 4)}
        need(min(share.values()) > 0.08 and sum(share.values()) > 0.5, f"lines of the loop have {share} of {found}")
    return test


def shares(command):
    def test(acu):
        frames = {70: "seventy_[php]", 20: "twenty_[php]", 10: "ten_[php]"}
        return check_shares(acu, [*php(command), SHAPES, "shares", "3"], frames, "shares_[php]")
    return test


def web_server(acu):
    """A request that php-fpm answers, in a worker that was there before acu."""
    program = shutil.which("php-fpm8.2") or shutil.which("php-fpm")
    if not program:
        raise Skipped("there is no php-fpm here")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        socket, config = os.path.join(folder, "socket"), os.path.join(folder, "fpm.conf")
        with open(config, "w") as f:
            f.write(f"[global]\nerror_log = {folder}/log\n[www]\nuser = nobody\ngroup = nogroup\nlisten = {socket}\npm = static\npm.max_children = 1\n")
        server = subprocess.Popen([program, "-n", "-F", "-y", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 10 * SLOWNESS
            while not os.path.exists(socket) and time.monotonic() < end:
                time.sleep(0.05)
            need(os.path.exists(socket), "php-fpm does not listen")
            request(socket, SHAPES)  # the worker has begun
            tracer = subprocess.Popen([acu, "run", "-q", "-B", "none", "--notify-attached", "#attached#", "-e",
                                       'tracepoint:syscalls:sys_enter_nanosleep,tracepoint:syscalls:sys_enter_clock_nanosleep /comm == "php-fpm8.2" || comm == "php-fpm"/ { print(ustack(100)); exit() }'],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                need(tracer.stdout.readline() == "#attached#\n", "acu is not attached")
                request(socket, SHAPES)
                out, _ = tracer.communicate(timeout=LIMIT)
            finally:
                tracer.kill()
        finally:
            server.terminate()
            server.wait()
    need(re.search(r"usleep\n\s+Page->answer .*shapes.php:\d+\n\s+serves .*shapes.php:\d+\n\s+\{main\} .*shapes.php:\d+$", out, re.M), out)


def unknown_layout(acu):
    """A PHP whose layout is not known is named, and its frames stay native."""
    path = os.path.realpath(shutil.which("php") or "")
    if not os.path.isfile(path):
        raise Skipped("there is no php here")
    with open(path, "rb") as f:
        program = re.sub(rb"X-Powered-By: PHP/\d", b"X-Powered-By: PHP/9", f.read())
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "php")
        with open(other, "wb") as f:
            f.write(re.sub(rb"(\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0)....", rb"\1acu!", program, count=1, flags=re.S))  # the build id
        os.chmod(other, 0o755)
        done = acu_run(acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c",
                       f"{other} {SHAPES} deep 3")
    need(re.search(r"PHP 9\S*: layout not known", done.stderr) and "descend" not in done.stdout and "execute_ex" in done.stdout, done.stdout + done.stderr)


def request(path, script):
    """Sends a FastCGI request (one GET without contents), and waits for its end."""
    def record(kind, contents):
        return struct.pack(">BBHHBx", 1, kind, 1, len(contents), 0) + contents
    values = {"SCRIPT_FILENAME": script, "REQUEST_METHOD": "GET", "QUERY_STRING": "serves"}
    parameters = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode() for name, value in values.items())
    with socketlib.socket(socketlib.AF_UNIX) as s:
        s.settimeout(10 * SLOWNESS)
        s.connect(path)
        s.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, parameters) + record(4, b"") + record(5, b""))
        while s.recv(65536):
            pass


def tests(commands):
    for command in commands:
        name = " ".join(command)
        for script in COUNTS:
            for how in ("before", "after"):
                if len(command) > 1 and (script, how) == ("uprobe", "before"):
                    continue  # in another root it is another libc
                yield f"{name}: {script}, attached {how} it starts", seeded(command, script, how)
        yield f"{name}: forked workers", seeded(command, "getppid", "before", "fork", "4")
        yield f"{name}: deep", is_cut(command)
        yield f"{name}: chain of generators", generators(command)
        yield f"{name}: lines", lines(command)
        yield f"{name}: shares", shares(command)
        yield f"{name}: busy", busy(command)
        for how in STOPS:
            yield f"{name}: stopped, {how}", stopped(command, how)
    yield "web server", web_server
    yield "unknown layout", unknown_layout


if __name__ == "__main__":
    only, commands = take_filter(sys.argv), take_commands(sys.argv, "php")
    sys.exit(run_tests([(name, test) for name, test in tests(commands) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
