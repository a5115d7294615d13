"""Tools for what should not happen, such as crashes, gained privileges and full queues; and for devices, terminals and io_uring."""
import os
import pty
import re
import shutil
import socket
import subprocess
import time

from common import DISK, HERE, ROOT, SLOWNESS, TMP, lines, listing, need, older_than, python, shell, trace, value
from processes import PYTHON, Child


def compiled(name, source):
    """A program of C in the folder of the tests."""
    path = os.path.join(TMP, name)
    if not os.path.exists(source):
        text, source = source, path + ".c"
        with open(source, "w") as file:
            file.write(text)
    subprocess.run(["gcc", "-O1", "-g", "-o", path, source], check=True, timeout=60 * SLOWNESS)
    return path


def deletedfiles(acu):
    path = os.path.join(DISK, "needle-gone")
    with Child(f"import os\nfile = os.open({path!r}, os.O_RDWR | os.O_CREAT)\nos.write(file, b'x' * 123456)\nos.unlink({path!r})\n"
               "m = os.memfd_create('needle-memory')\nprint(file, flush=True)\ninput()") as child:
        text = listing(acu, "deletedfiles.bt", ["--", "--top=10000"])
        descriptor = child.word
    need(value(text, f"@bytes[python3, {child.pid}, {descriptor}, needle-gone]") == 123456 and "needle-memory" not in text, text)


def deletedlibs(acu):
    program = os.path.join(DISK, "needle-old")
    shutil.copy("/bin/sleep", program)
    process = subprocess.Popen([program, "100"])
    try:
        os.rename(program, program + "-2")  # is not deleted
        before = subprocess.run([acu, "run", "-q", os.path.join(ROOT, "tools", "deletedlibs.bt")], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout
        os.unlink(program + "-2")
        text = listing(acu, "deletedlibs.bt")
    finally:
        process.kill()
        process.wait()
    need(str(process.pid) not in before, "a program that is only renamed:\n" + before)
    need(lines(text, r"(\d+) +needle-old +(\d+) +needle-old-2") == [(str(process.pid), "0")], text)


def tcpqueues(acu):
    """A peer that does not read: what is printed, against ss."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as here:
        there = listener.accept()[0]
        here.sendall(b"x" * 1234)
        there.setblocking(False)
        try:
            while True:
                there.send(b"y" * 100000)
        except BlockingIOError:
            pass
        time.sleep(0.3)
        text = listing(acu, "tcpqueues.bt")
        port = str(listener.getsockname()[1])
        shown = subprocess.run(["ss", "-tnH", f"( sport = :{port} or dport = :{port} )"], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout
        there.close()
    rows = [line.split() for line in shown.strip().split("\n")]
    expected = sorted((received, sent, local.split(":")[1], peer.split(":")[1]) for _, received, sent, local, peer in rows)
    found = lines(text, r"127\.0\.0\.1 +(\d+) +127\.0\.0\.1 +(\d+) +(\d+) +(\d+) +\d+ +\d+ +\d+")
    ours = sorted((unread, unsent, local, peer) for local, peer, unread, unsent in found if port in (local, peer))
    need(ours == expected and any(e[0] == "1234" for e in expected), f"ss: {expected}\n{text}")


CRASH = """#include <stdlib.h>
__attribute__((noinline)) int read_row(volatile int *row) { return row[6]; }
int main(int argc, char **argv) { if (argc > 1) abort(); return read_row(0) + 1; }
"""


def crashsnoop(acu):
    program = compiled("acu_crash", CRASH)
    handled = "import os, signal\nsignal.signal(signal.SIGSEGV, lambda *_: None)\nos.kill(os.getpid(), signal.SIGSEGV)"
    text = trace(acu, "crashsnoop.bt", lambda: [subprocess.run([program], timeout=60 * SLOWNESS), subprocess.run([program, "1"], timeout=60 * SLOWNESS), python(handled)(),
                                                subprocess.run([PYTHON, "-c", "import os; os.kill(os.getpid(), 11)"], timeout=60 * SLOWNESS)])
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +\1 +(\S+) +(.*?) +(0x\w+)")
    need([f[1:] for f in found] == [("acu_crash", "Segmentation fault", "0x18"), ("acu_crash", "Aborted", "0x0"), ("python3", "Segmentation fault", "0x0")], text)
    need(re.search(r"0x18\n        read_row\+\d+\n        main\+\d+\n", text) and re.search(r"0x0\n(        \S+\n)*        abort\+\d+\n", text), text)


def suidsnoop(acu):
    for program in ("/bin/su", "/usr/bin/mount"):
        if not os.path.exists(program) or not os.stat(program).st_mode & 0o4000:
            return f"{program} is not a setuid program"
    nobody = lambda: subprocess.run(["/bin/sh", "-c", "/usr/bin/mount; true"], user=65534, timeout=60 * SLOWNESS, stdout=subprocess.DEVNULL)
    text = trace(acu, "suidsnoop.bt", lambda: [nobody(), shell("/usr/bin/mount; true")()])
    need(lines(text, r"\d\d:\d\d:\d\d \d+ +(\d+) +(\d+) +sh +(\S+)") == [("65534", "0", "/usr/bin/mount")], text)


def execmem(acu):
    text = trace(acu, "execmem.bt", python("import mmap\nfor _ in range(3): mmap.mmap(-1, 8192, prot=7).close()\n"
                                           "mmap.mmap(-1, 4096, prot=5).close()\nmmap.mmap(-1, 4096, prot=3).close()"))
    need(value(text, "@bytes[python3, mmap, writable and executable]") == 3 * 8192 and value(text, "@bytes[python3, mmap, executable]") == 4096, text)


def ttysnoop(acu):
    ends = [pty.openpty() for _ in range(2)]
    numbers = [os.ttyname(end).rsplit("/")[-1] for _, end in ends]
    text = trace(acu, "ttysnoop.bt", lambda: [os.write(end, f"needle {number}\n".encode()) for (_, end), number in zip(ends, numbers)], ["--", f"--pts={numbers[0]}"])
    for pair in ends:
        for end in pair:
            os.close(end)
    need(text == f"needle {numbers[0]}\n", repr(text))


def outbound(acu):
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("::1", 0), family=socket.AF_INET6) as six:
        def connect():
            for _ in range(3):
                socket.create_connection(listener.getsockname()).close()
            socket.create_connection(six.getsockname()[:2]).close()
            with socket.socket() as s, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
                s.connect_ex(("127.0.0.1", 1))
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", 1))
                datagrams.connect(("127.0.0.1", 53))

        text = trace(acu, "outbound.bt", connect)
        for key, count in ((f"127.0.0.1, {listener.getsockname()[1]}, ok", 3), (f"::1, {six.getsockname()[1]}, ok", 1), ("127.0.0.1, 1, Connection refused", 1),
                           ("127.0.0.1, 1, started", 1), ("127.0.0.1, 53, ok", 1)):
            need(value(text, f"@connections[python3, {key}]") == count, text)


def netqtop(acu):
    counted = lambda: int(open("/sys/class/net/lo/statistics/tx_packets").read())
    before = []

    def send():
        before.append(counted())
        with socket.socket(type=socket.SOCK_DGRAM) as here:
            for _ in range(100):
                here.sendto(b"x" * 972, ("127.0.0.1", 9))  # 14 + 20 + 8 bytes of headers
        time.sleep(1.3)

    text = trace(acu, "netqtop.bt", send)
    packets = sum(int(n) for n in re.findall(r"^@sent\[lo, 0\]: \{ \.count = (\d+),", text, re.M))
    size = sum(int(n) for n in re.findall(r"^@sent\[lo, 0\]: \{.* \.total = (\d+) \}", text, re.M))
    # An error comes back for each.
    need(100 <= packets <= counted() - before[0] + 20 and size >= 100 * 1014, f"{counted() - before[0]} packets in /sys:\n{text}")


def intbycpu(acu):
    counts = lambda: sum(sum(int(n) for n in line.split()[1:1 + (os.cpu_count() or 1)]) for line in open("/proc/interrupts") if re.match(r" *\d+:.*virtio|.*nvme", line))
    before = counts()
    text = trace(acu, "intbycpu.bt", shell("dd if=/dev/zero of=$DISK/tools.tmp bs=4k count=100 oflag=direct,dsync; rm $DISK/tools.tmp; sleep 1.2"))
    happened = counts() - before
    if happened < 50:
        return "no disk here whose interrupts are counted"
    found = [(name, int(n)) for name, n in re.findall(r"^@interrupts\[([^\],]+), \d+\]: (\d+)$", text, re.M)]
    reported = sum(n for name, n in found if re.match("virtio|nvme", name))
    need(happened * 0.5 <= reported <= happened + 5, f"{happened} in /proc/interrupts:\n{text}")


def pfilestat(acu):
    text = trace(acu, "pfilestat.bt", shell("dd if=/dev/zero of=$TMP/needle-file bs=4k count=100; dd if=$TMP/needle-file bs=4k | cat"), ["--", "--name=dd"])
    need(value(text, "@bytes[dd, write, needle-file]") == value(text, "@bytes[dd, read, needle-file]") == value(text, "@bytes[dd, write, pipe]") == 409600, text)
    need("@us[dd, write, needle-file]: { .count = 100," in text and "@us[dd, read, needle-file]: { .count = 101," in text, text)


def inotifysnoop(acu):
    script = ("import ctypes, os\nc = ctypes.CDLL(None)\ni = c.inotify_init()\nopen(os.environ['TMP'] + '/watched', 'w').close()\n"
              "for name in ('/watched', '/not-there'): c.inotify_add_watch(i, (os.environ['TMP'] + name).encode(), 0x102)")
    text = trace(acu, "inotifysnoop.bt", shell(f'{PYTHON} -c "{script}"'))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(-?\d+) +(0x\w+) +(\S+)")
    need(found == [("1", "0x102", TMP + "/watched"), ("-2", "0x102", TMP + "/not-there")], text)


def iouring(acu):
    if reason := older_than(6, 0):
        return reason
    program = compiled("acu_uring", os.path.join(HERE, "uring.c"))
    if subprocess.run([program], timeout=60 * SLOWNESS).returncode:
        return "this kernel refuses io_uring"
    text = trace(acu, "iouring.bt", lambda: subprocess.run([program], timeout=60 * SLOWNESS))
    need("@us[acu_uring, READ]: { .count = 37," in text and value(text, "@errors[acu_uring, READ, 9, Bad file descriptor]") == 7, text)


TESTS = [deletedfiles, deletedlibs, tcpqueues, crashsnoop, suidsnoop, execmem, ttysnoop, outbound, netqtop, intbycpu, pfilestat, inotifysnoop, iouring]
