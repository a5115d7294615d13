#!/usr/bin/env python3
"""Loads for the tests: load.py NAME COMM [N]. The process first takes the name COMM, so that scripts can filter.

Hundreds of cases start it, on emulated processors too: so modules are imported where they are used.
"""
import ctypes
import os
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


def structs(n):  # write(2) of two linked structures to /dev/null, n times:
    # struct node { int id; char name[12]; struct node *next; unsigned flags : 3; int sign : 5; short list[3];
    #               unsigned kind; char **words; struct { struct node *self; } in; };
    import struct
    pack = lambda node, *parts: struct.pack_into("<i12sQBxhhhI4xQQ", node, 0, *parts)
    first, second = ctypes.create_string_buffer(56), ctypes.create_string_buffer(56)
    texts = [ctypes.create_string_buffer(text) for text in (b"alpha", b"beta")]
    words = (ctypes.c_void_p * 3)(ctypes.addressof(texts[0]), ctypes.addressof(texts[1]), 0)
    pack(first, 1, b"first", ctypes.addressof(second), 5 | (-3 & 31) << 3, 1, -2, 3, 1, ctypes.addressof(words),
         ctypes.addressof(first))
    pack(second, 2, b"second", 0, 7 | (-1 & 31) << 3, -1, 0, 300, 2, 0, ctypes.addressof(second))
    out = os.open("/dev/null", os.O_WRONLY)
    for _ in range(n):
        libc.write(out, first, 56)
    os.close(out)


def vectors(n):  # writev(2) of "hello" and "worlds" to /dev/null, n times
    out = os.open("/dev/null", os.O_WRONLY)
    for _ in range(n):
        os.writev(out, [b"hello", b"worlds"])
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
    import mmap
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
    import signal
    signal.signal(signal.SIGUSR1, lambda *_: None)
    for _ in range(n):
        os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), 0)


def thread(n):  # the same as getpid, in a thread of another name
    import threading
    def work():
        libc.prctl(PR_SET_NAME, b"acu_thread", 0, 0, 0)
        getpid(n)
    other = threading.Thread(target=work)
    other.start()
    other.join()


def child(n):  # the same as getpid, in a child process
    pid = os.fork()
    if pid == 0:
        getpid(n)
        os._exit(0)
    os.waitpid(pid, 0)


def udp(n):  # sends n datagrams of 100 bytes to this machine
    import socket
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(n):
        sender.sendto(b"needle" + b"x" * 94, ("127.0.0.1", 9))


def tcp(n):  # n connections to this machine
    import socket
    server = socket.create_server(("127.0.0.1", 0))
    for _ in range(n):
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        accepted.close()
        client.close()


def capture(n):  # as many cheap system calls as packets of udp() are in $TMP/out.pcap and whole
    import struct
    data = open(os.path.join(os.environ["TMP"], "out.pcap"), "rb").read()
    magic, major, minor, _, _, _, link = struct.unpack_from("=IHHIIII", data)
    assert (magic, major, minor, link) == (0xA1B2C3D4, 2, 4, 101)
    at, good = 24, 0
    while at < len(data):
        seconds, _, kept, length = struct.unpack_from("=IIII", data, at)
        packet = data[at + 16:at + 16 + kept]
        good += packet[0] == 0x45 and kept == length == 128 and packet[28:34] == b"needle" \
            and abs(seconds - time.time()) < 60
        at += 16 + kept
    getpid(good)


def catch(n):  # makes cheap system calls for at most n ms; a signal other than SIGKILL ends it by two closes of fd 1000+N
    import signal
    caught = []
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
        signal.signal(number, lambda s, _: caught.append(s))
    end = time.monotonic() + n / 1000
    while not caught and time.monotonic() < end:
        libc.syscall(GETPID)
    for number in caught:
        try:
            os.close(1000 + number)
        except OSError:
            pass


if __name__ == "__main__":
    name, comm = sys.argv[1], sys.argv[2]
    libc.prctl(PR_SET_NAME, comm.encode(), 0, 0, 0)
    globals()[name](int(sys.argv[3]) if len(sys.argv) > 3 else 1)
