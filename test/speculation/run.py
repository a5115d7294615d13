#!/usr/bin/env python3
"""What `speculate` sends to user space: run.py ACU [--filter TEXT]

A program handles 1,000,000 requests, of which 100 turn out slow. Two lines are printed about each request, and only those of the
slow ones are committed: exactly these lines arrive, and the ring buffer, whose reading position is in acu's memory, has
moved by the bytes of 100 records. Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Wrong, need, take_filter

CALLS, EVERY = 1_000_000, 10_000
RECORD = 16  # bytes of a printf of one number: action, state, number
SCRIPT = """tracepoint:syscalls:sys_enter_lseek /comm == "acu_requests"/ {
  if (args.whence == 1) { speculate { printf("begin %d\\n", args.offset); } }
  if (args.whence == 2) { speculate { printf("detail %d\\n", args.offset); } }
  if (args.whence == 3) { discard(); }
  if (args.whence == 4) { commit(); }
}"""


def bytes_read(pid):
    """Where acu reads its ring buffers: their first page, the only one that it may write."""
    page = os.sysconf("SC_PAGESIZE")
    for line in open(f"/proc/{pid}/maps"):
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-s 00000000 .*anon_inode:bpf-map", line)
        if found and int(found[2], 16) - int(found[1], 16) == page:
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(int(found[1], 16))
                yield struct.unpack("Q", memory.read(8))[0]


def only_slow_requests(acu, folder):
    program = os.path.join(folder, "requests")
    subprocess.run(["gcc", "-O1", "-o", program, os.path.join(HERE, "requests.c")], check=True)
    output = os.path.join(folder, "output")
    with open(output, "w") as out, open(os.path.join(folder, "errors"), "w+") as errors:
        process = subprocess.Popen([acu, "--notify-attached", "attached", "-e", SCRIPT], stdout=out, stderr=errors)
        try:
            for _ in range(int(100 * SLOWNESS)):
                if "attached" in open(output).read():
                    break
                time.sleep(0.1)
            subprocess.run([program, str(CALLS), str(EVERY)], check=True)
            expected = ["attached"] + [f"{word} {n}" for n in range(0, CALLS, EVERY) for word in ("begin", "detail")]
            time.sleep(1)
            positions = list(bytes_read(process.pid))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        errors.seek(0)
        told = errors.read()
    lines = open(output).read().split("\n")
    need([line for line in lines if line] == expected, f"{len(lines)} lines instead of {len(expected)}: {lines[:5]}")
    need("ost" not in told.replace("host", ""), told)
    container = 8 + 8 + 2 * RECORD  # header of the ring's record, header of the container, the records
    need(100 * container in positions, f"the reader is at {positions}, not at {100 * container}")


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    passed = failed = 0
    for test in (only_slow_requests,):
        if only not in test.__name__:
            continue
        with tempfile.TemporaryDirectory(prefix="acu-speculation-") as folder:
            try:
                test(acu, folder)
                passed += 1
            except Wrong as wrong:
                failed += 1
                print(f"FAILED {test.__name__}\n  {wrong}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
