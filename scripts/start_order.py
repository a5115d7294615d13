#!/usr/bin/env python3
"""The functions that acu runs when it starts, found by acu: scripts/start_order.py build/release/acu > cmake/start_order.txt

They are linked next to each other (cmake/start_order.cmake), so that a start loads few pages: run this again when `bench/run.py`
shows that peak memory has grown. Needs root.
"""

import collections
import os
import re
import shlex
import subprocess
import sys

# What is started most: probes of each common kind, a map, a text, a stack.
STARTS = (
    "begin { exit(); }",
    "tracepoint:syscalls:sys_enter_read { @[pid, comm] = count(); } interval:ms:50 { exit(); }",
    'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); } interval:ms:50 { exit(); }',
    "tracepoint:raw_syscalls:sys_exit /args.ret < 0/ { @us = hist(nsecs / 1000); } interval:ms:50 { exit(); }",
    "uprobe:libc:malloc /pid == 1/ { @[ustack] = sum(arg0); } interval:ms:50 { exit(); }",
    "profile:hz:99 /pid == 0/ { @[kstack] = count(); } interval:ms:50 { exit(); }",
    # As tools are written: members of the kernel's structures, conditions, several maps and messages.
    """begin { printf("%-8s %-6s %s\\n", "TIME", "PID", "COMM"); }
tracepoint:syscalls:sys_enter_openat /pid != 1/ {
  @start[tid] = nsecs; @names[str(args.filename)] = count(); $task = (struct task_struct *)curtask;
  if ($task->real_parent->tgid > 1) { @parents[$task->real_parent->tgid, comm] = count(); } else { @other++; }
}
tracepoint:syscalls:sys_exit_openat /@start[tid]/ {
  $us = (nsecs - @start[tid]) / 1000; @us = hist($us); @by[comm] = avg($us); @worst[comm] = max($us);
  if ($us > 100000) { time("%H:%M:%S "); printf("%-6d %s %d\\n", pid, comm, args.ret); }
  delete(@start, tid);
}
interval:s:10 { print(@by, 10); clear(@by); }
interval:ms:50 { exit(); }
end { clear(@start); }""",
)
# A function is in the section of its own name; the compiler's second names of constructors and destructors are not.
SECOND_NAMES = (("C1E", "C2E"), ("C4E", "C2E"), ("D1E", "D2E"), ("D4E", "D2E"))


def functions_of(acu, script):
    settings = {"ACU_MAX_PROBES": "100000", "ACU_MAX_MAP_KEYS": "100000", "ACU_CPP_DEMANGLE": "false"}
    watched = shlex.join([acu, "run", "-q", "-e", script])
    done = subprocess.run([acu, "run", "-q", "-e", f'uprobe:"{acu}":* {{ @[func] = count(); }}', "-c", watched],
                          env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"^@\[(\w[\w.$]*)\]: \d+$", done.stdout, re.M))


def section_name(function):
    for second, first in SECOND_NAMES:
        function = re.sub(rf"(?<=[a-z0-9_]){second}", first, function)
    return function


def main():
    acu = os.path.abspath(sys.argv[1])
    starts = collections.Counter()
    for script in STARTS:
        starts.update({section_name(f) for f in functions_of(acu, script)})
    print("\n".join(sorted(starts, key=lambda name: (-starts[name], name)))) # what each start runs comes first


if __name__ == "__main__":
    main()
