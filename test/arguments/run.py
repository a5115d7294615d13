#!/usr/bin/env python3
"""Every builtin with values of every type: arguments/run.py ACU [--filter TEXT] [--all]

The examples are those of `acu help reference`. Each of their arguments is replaced by each of VALUES, and by a variable that holds it. What comes
of it must load, or be refused with a location. A case is a builtin; without --all only each seventh script of it is tried.

Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, need, run_tests, take_filter

BUILTIN = re.compile(r"^### (\w+)\n(.*?)(?=^###? |\Z)", re.M | re.S)
EXAMPLE = re.compile(r"^```bt\n(.*?)^```", re.M | re.S)
OF_THIS_KERNEL = re.compile("this kernel lacks|this kernel's list of symbols has functions only|not permitted here")
PLACE = re.compile(r"^stdin:\d+:\d+\S*: ERROR: ", re.M)
BEFORE = ' $v = 5; $p = (struct task_struct *)curtask; @m[1] = 2; @h = hist(1); @c = count(); @s = "abc"; @t = (1, "a"); '
VALUES = (
    "1", "-1", "0xffffffffffffffff", "nsecs", "(int8)5", "(1s)", "sizeof(int8)", "cgroup", "1.5", "true",  # numbers
    "curtask", "$p", "(void *)0", "(uint64)curtask", "curtask.pid", "curtask.__state", "&$v", "$v",  # addresses and what is at them
    '"x"', "comm", "curtask.comm", "str($p)", "@s", '(string)"abc"', '(int32)1 ? comm : "a"', "probe", "username",  # text
    '(1, "x")', "(1, 2)", "(kstack, 1)", "{.a = 1}", "*$p", '(uint8[3])"ab"', 'pton("127.0.0.1")', 'buf("abc", 2)',  # several
    "kstack", "ustack", "ksym(1)", 'strftime("%H", nsecs)', "ntop(1)", "macaddr((uint8[6])1)",  # with forms of their own
    "@m", "@m[1]", "@h", "@c", "@t", "@never", "avg(1)", "count()",  # maps
    "int8", "struct task_struct", "stats_t", "$unknown", "nsecs()",  # no values
)
SELDOM = 7
# Of builtins whose manual has none.
MORE_EXAMPLES = {
    **{name: "begin { print(%s(curtask)); }" % name for name in ("ppid", "leader_tid", "pcomm", "leader_comm")},
    "comm": "begin { print(comm(1)); }",
    "pid": "begin { print(pid(init)); }",
    "memcmp": 'begin { print(memcmp("abc", "abd", 2)); }',
    "percpu_kaddr": 'begin { print(percpu_kaddr("runqueues", 0)); }',
    "container_of": "begin { print(container_of($p, struct task_struct, pid)); }",
    "signal": "tracepoint:syscalls:sys_enter_getpid { signal(10); }",
    "write_user": "tracepoint:syscalls:sys_enter_getpid { print(write_user(16, 1, 1)); }",
    "unwatch": "tracepoint:syscalls:sys_enter_getpid { unwatch(16); }",
    "system": 'begin { system("%d", 1); }',
    "cat": 'begin { cat("/proc/%d/comm", 1); }',
    "fail": 'begin { fail("%d", 1); }',
    "errorf": 'begin { errorf("%d", 1); }',
}


def ends_of_arguments(text, begin):
    """Where the arguments of a call that begins there end, each."""
    ends, depth, quoted = [], 0, False
    for at in range(begin, len(text)):
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c == "," and depth == 0:
            ends.append(at)
        elif c in ")]}" and depth == 0:
            return ends + [at]
        else:
            depth += (c in "([{") - (c in ")]}")
    return ends


def scripts_of(name, example):
    """The example with other arguments, one at a time."""
    begin = example.find(name + "(") + len(name) + 1
    if begin <= len(name):
        return
    body = example.index("{") + 1
    for end in ends_of_arguments(example, begin):
        for value in VALUES:
            yield example[:body] + BEFORE + example[body:begin] + value + example[end:]
            yield example[:body] + BEFORE + f"$w = {value}; " + example[body:begin] + "$w" + example[end:]
        begin = end + 1


def try_one(acu, script):
    """What is wrong, or nothing."""
    done = subprocess.run([acu, "run", "--unsafe", "--dry-run", "--no-warnings", "-e", script], capture_output=True, text=True, errors="replace",
                          timeout=60 * SLOWNESS)
    if done.returncode == 0 or PLACE.search(done.stderr) or OF_THIS_KERNEL.search(done.stderr):
        return ""
    return f"status {done.returncode}: {script}\n{done.stderr}"


def test_of(scripts):
    def each_is_loaded_or_refused(acu):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(lambda s: try_one(acu, s), scripts) if w]
        need(not wrong, f"{len(wrong)} scripts are refused without a location, such as\n" + "\n".join(wrong[:3]))

    return each_is_loaded_or_refused


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    manual = subprocess.run([acu, "help", "reference"], capture_output=True, text=True, check=True).stdout
    examples = {name: found[1].strip() for name, text in BUILTIN.findall(manual) if (found := EXAMPLE.search(text))} | MORE_EXAMPLES
    tests = []
    for name, example in examples.items():
        scripts = list(scripts_of(name, example))[:: 1 if "--all" in arguments else SELDOM]
        if scripts and only in name:
            tests.append((name, test_of(scripts)))
    return run_tests(tests, acu)


if __name__ == "__main__":
    sys.exit(main())
