"""Tools for the ways of programs: how they wait, how much they ask for at once, what they look for, and what they hold at a moment."""
import os
import re
import shutil
import socket
import subprocess

from common import DISK, SLOWNESS, TMP, lines, listing, need, python, shell, trace, value
from processes import PYTHON, Child


def filelife(acu):
    if subprocess.run(["stat", "-f", "-c", "%T", DISK], capture_output=True, text=True).stdout.strip() != "ext2/ext3":
        return "the build folder is not on ext4"
    text = trace(acu, "filelife.bt", shell("cd $DISK; head -c 8000 /dev/zero > needle-life; sleep 0.2; mv needle-life needle-renamed; rm needle-renamed;"
                                           " echo 1 > needle-kept; ln needle-kept needle-link; rm needle-link; sleep 0.1; rm needle-kept"))
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +(\d+) +sh +(\w+) +(needle-\S+)")
    need([f[1:] for f in found] == [("8000", "rm", "needle-renamed"), ("2", "rm", "needle-kept")], text)
    need(200 <= int(found[0][0]) <= 5000 * SLOWNESS and 100 <= int(found[1][0]) <= 5000 * SLOWNESS, text)


def getenvs(acu):
    text = trace(acu, "getenvs.bt", python("import ctypes\nc = ctypes.CDLL(None)\nfor _ in range(5): c.getenv(b'ACU_NEEDLE')\n"
                                           "c.setenv(b'ACU_NEEDLE', b'1', 1)\nc.getenv(b'ACU_NEEDLE')"),
                 ["--", "--name=python3"])
    need(value(text, "@asked[python3, ACU_NEEDLE, not set]") == 5 and value(text, "@asked[python3, ACU_NEEDLE, set]") == 1, text)


def polltimeouts(acu):
    script = ("import os, select, threading\np, e, lock = select.poll(), select.epoll(), threading.Lock()\nlock.acquire()\n"
              "for _ in range(20): p.poll(5)\nfor _ in range(10): e.poll(0.003)\nfor _ in range(5): select.select([], [], [], 0.002)\n"
              "for _ in range(3): lock.acquire(timeout=0.002)\nr, w = os.pipe()\nos.write(w, b'x')\np.register(r)\nfor _ in range(7): p.poll(6)")
    text = trace(acu, "polltimeouts.bt", python(script))
    for key, count in (("poll, 5", 20), ("epoll_wait, 3", 10), ("select, -1", 5), ("futex, -1", 3)):
        need(value(text, f"@timeouts[python3, {key}]") == count, text)
    need("[python3, poll, 6]" not in text, "a wait that an event ended:\n" + text)


def rwsizes(acu):
    text = trace(acu, "rwsizes.bt", python("import os\nr, w = os.pipe()\nfor _ in range(50): os.write(w, b'x' * 5000); os.read(r, 3000); os.read(r, 3000)"),
                 ["--", "--name=python3"])
    need(re.search(r"^@bytes\[python3, write\]:\n(?:[\[(].*\n)*?\[4K, 8K\) +5\d \|", text, re.M), text)
    need(re.search(r"^@bytes\[python3, read\]:\n(?:[\[(].*\n)*?\[1K, 2K\) +[56]\d \|.*\n\[2K, 4K\) +[56]\d \|", text, re.M), text)


def udpqueues(acu):
    """A socket that nobody reads: what is printed, against ss."""
    if not shutil.which("ss"):
        return "no ss here"
    with socket.socket(type=socket.SOCK_DGRAM) as there, socket.socket(type=socket.SOCK_DGRAM) as here, socket.socket(type=socket.SOCK_DGRAM) as idle:
        there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
        for s in (there, idle):
            s.bind(("127.0.0.1", 0))
        for _ in range(50):
            here.sendto(b"x" * 100, there.getsockname())
        port, other = there.getsockname()[1], idle.getsockname()[1]
        text = listing(acu, "udpqueues.bt")
        everything = listing(acu, "udpqueues.bt", ["--", "--all"])
        shown = subprocess.run(["ss", "-uanmH", f"sport = :{port}"], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout
    memory, limit, dropped = re.search(r"skmem:\(r(\d+),rb(\d+),.*,d(\d+)\)", shown).groups()
    row = r"127\.0\.0\.1 +(\d+) +(\d+) +(\d+) +(\d+)"
    need((str(port), memory, limit, dropped) in lines(text, row) and int(dropped) > 0, f"{shown}\n{text}")
    need(str(other) not in [f[0] for f in lines(text, row)] and str(other) in [f[0] for f in lines(everything, row)], everything)


def taskstacks(acu):
    with Child("import ctypes, threading, os\nctypes.CDLL(None).prctl(15, b'acu_waiter')\nr, w = os.pipe()\n"
               "threads = [threading.Thread(target=os.read, args=(r, 1), daemon=True) for _ in range(9)]\nfor t in threads: t.start()\n"
               "import time\ntime.sleep(0.3)\nprint('', flush=True)\nos.read(r, 1)"):
        text = listing(acu, "taskstacks.bt", ["--", "--name=acu_waiter"])
    stacks = re.findall(r"^@threads\[acu_waiter, *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    need([int(n) for frames, n in stacks if re.search(r"pipe_read\+", frames)] == [10], text)
    need(len(re.findall(r"^@threads", text, re.M)) == len(stacks), text)


def socketcount(acu):
    with Child("import socket\nl = socket.create_server(('127.0.0.1', 0))\nmine = [socket.create_connection(l.getsockname()) for _ in range(5)]\n"
               "theirs = [l.accept()[0] for _ in range(5)]\n"
               "for s in mine[:2]: s.close()\nudp = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(3)]\npair = socket.socketpair()\n"
               "import time\ntime.sleep(0.2)\nprint('', flush=True)\ninput()") as child:
        text = listing(acu, "socketcount.bt", ["--", "--top=10000"])
    # Two of five pairs are closed at one end.
    for kind, count in (("TCP LISTEN", 1), ("TCP ESTABLISHED", 6), ("TCP CLOSE_WAIT", 2), ("UDP", 3), ("unix", 2)):
        need(value(text, f"@sockets[python3, {child.pid}, {kind}]") == count, text)


def permsnoop(acu):
    path = os.path.join(TMP, "needle-mode")
    script = (f"import os\nopen({path!r}, 'w').close()\nos.chmod({path!r}, 0o640)\nos.chown({path!r}, 33, -1)\nf = os.open({path!r}, os.O_RDWR)\nos.fchmod(f, 0o4755)\n"
              f"os.fchown(f, -1, 34)\ntry: os.chmod({path!r} + '-missing', 0o600)\nexcept OSError: pass")
    text = trace(acu, "permsnoop.bt", lambda: subprocess.run([PYTHON, "-c", script], timeout=60 * SLOWNESS), ["--", "--name=python3"])
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(-?\d+) +(\S+) +(\S+) +(\S+) +(\S*needle-\S+)")
    need(found == [("0", "640", "-", "-", path), ("0", "-", "33", "-1", path), ("0", "4755", "-", "-", "needle-mode"), ("0", "-", "-1", "34", "needle-mode"),
                   ("-2", "600", "-", "-", path + "-missing")], text)


def cpuwaits(acu):
    """A process with a second thread: what is printed, against the kernel's sums of each thread before and after."""
    def sums(pid):
        found = [[int(n) for n in open(f"/proc/{pid}/task/{thread}/schedstat").read().split()] for thread in os.listdir(f"/proc/{pid}/task")]
        return sum(f[0] for f in found) // 1000000, sum(f[1] for f in found) // 1000000

    with Child("import threading, time\ndef work():\n end = time.time() + 0.3\n while time.time() < end: pass\n time.sleep(1000)\n"
               "for _ in range(2): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.6)\nprint('', flush=True)\ninput()") as child:
        before = sums(child.pid)
        text = listing(acu, "cpuwaits.bt", ["--", "--top=10000"])
        after = sums(child.pid)
    found = lines(text, rf"@wait_ms\[python3, {child.pid}, (\d+)\]: (\d+)")
    need(len(found) == 1 and before[0] <= int(found[0][0]) <= after[0] and before[1] <= int(found[0][1]) <= after[1] and sum(before) >= 200, f"{before} {after} {found}")


def iototals(acu):
    path = os.path.join(DISK, "needle-io")
    with Child(f"import os, subprocess\nf = os.open({path!r}, os.O_RDWR | os.O_CREAT)\nos.write(f, b'x' * 5000000)\nos.fsync(f)\n"
               f"subprocess.run(['dd', 'if=/dev/zero', 'of={path}-2', 'bs=1M', 'count=3'], stderr=subprocess.DEVNULL)\nprint('', flush=True)\ninput()") as child:
        told = dict(re.findall(r"^(\w+): (\d+)$", open(f"/proc/{child.pid}/io").read(), re.M))
        text = listing(acu, "iototals.bt", ["--", "--top=10000"])
    for name in (path, path + "-2"):
        os.unlink(name)
    read, written, cancelled = (int(told[name]) for name in ("read_bytes", "write_bytes", "cancelled_write_bytes"))
    found = lines(text, rf"@kb\[python3, {child.pid}, (\d+), (\d+), \d+\]: (\d+)")
    need(written >= 8000000 and found == [(str(read // 1024), str(cancelled // 1024), str((read + written) // 1024))], f"{told} {found}")


FILTER = """
import ctypes, struct
c = ctypes.CDLL(None)
c.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)  # return SECCOMP_RET_ALLOW
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
c.prctl(22, 2, program, 0, 0)  # PR_SET_SECCOMP
c.prctl(15, b"acu_filter", 0, 0, 0)
c.syscall(317, 1, 0, struct.pack("HxxxxxxP", 0, 0))  # an empty one
"""


def seccompsnoop(acu):
    text = trace(acu, "seccompsnoop.bt", lambda: subprocess.run([PYTHON, "-c", FILTER], timeout=60 * SLOWNESS))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +(python3|acu_filter) +(\w+) +(-?\d+) +(\S+)")
    need(found == [("python3", "no_new_privs", "0", "-"), ("python3", "filter", "0", "1"), ("acu_filter", "filter", "-22", "0")], text)


TESTS = [seccompsnoop, cpuwaits, iototals, filelife, getenvs, polltimeouts, rwsizes, udpqueues, taskstacks, socketcount, permsnoop]
