#!/usr/bin/env python3
"""Loads for the tests: load.py NAME COMM [N]. The process first takes the name COMM, so that scripts can filter."""
import ctypes
import mmap
import os
import signal
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME = 15
# x86-64 and arm64 numbers of getpid and of kill.
GETPID, KILL = (39, 62) if os.uname().machine == "x86_64" else (172, 129)


def getpid(n):  # n cheap system calls
    for _ in range(n):
        libc.syscall(GETPID)


def openat(n):  # opens $TMP/needle for reading n times, then a file that is not there
    path = os.path.join(os.environ["TMP"], "needle")
    open(path, "w").close()
    for _ in range(n):
        os.close(os.open(path, os.O_RDONLY))
    try:
        os.open(path + "-missing", os.O_RDONLY)
    except OSError:
        pass


def write(n):  # writes n times, with lengths 1, 2, … n
    out = os.open("/dev/null", os.O_WRONLY)
    for i in range(1, n + 1):
        os.write(out, b"x" * i)
    os.close(out)


def sleep(n):  # sleeps n times for 5 ms
    for _ in range(n):
        time.sleep(0.005)


def spin(n):  # uses n ms of CPU time
    while time.process_time() < n / 1000:
        pass


def syscalls_spin(n):  # spends n ms of CPU time mostly in the kernel
    zero = os.open("/dev/zero", os.O_RDONLY)
    while time.process_time() < n / 1000:
        os.read(zero, 1 << 20)


def faults(n):  # touches n fresh pages
    memory = mmap.mmap(-1, n * 4096)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(n):
        memory[i * 4096] = 1


def fork_exec(n):  # runs /bin/true with two arguments, n times
    for _ in range(n):
        child = os.fork()
        if child == 0:
            os.execv("/bin/true", ["true", "needle", "thread"])
        os.waitpid(child, 0)


def signals(n):  # sends itself SIGUSR1 n times, and signal 0 to itself once
    signal.signal(signal.SIGUSR1, lambda *_: None)
    for _ in range(n):
        os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), 0)


if __name__ == "__main__":
    name, comm = sys.argv[1], sys.argv[2]
    libc.prctl(PR_SET_NAME, comm.encode(), 0, 0, 0)
    globals()[name](int(sys.argv[3]) if len(sys.argv) > 3 else 1)
