"""Tools for what disks and file systems are asked for: requests by process and control group, locks, deleted files."""
import contextlib
import os
import re
import subprocess

from common import DISK, SLOWNESS, TMP, histogram_total, lines, need, older_than, python, shell, trace, value

NO_DISK = "no disk here that counts its requests"
BLKIO = "/sys/fs/cgroup/blkio"
# Reads of 64 KB that no cache answers: 200 by each of N threads, in the order of the file or in a random one. Random
# ones are never neighbours, as the kernel merges neighbours that two threads read at once into one request.
READS = """
import mmap, os, random, sys, threading
path, order, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
def read():
    file, memory = os.open(path, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 65536)
    for n in range(200):
        os.preadv(file, [memory], 65536 * (n if order == "sequential" else 2 * random.randrange(250)))
threads = [threading.Thread(target=read) for _ in range(threads)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


@contextlib.contextmanager
def file_on_disk():
    path = os.path.join(DISK, "tools.tmp")
    with open(path, "wb") as file:
        file.write(b"x" * (32 << 20))
        os.fsync(file.fileno())
    try:
        yield path
    finally:
        os.unlink(path)


def reads(path, order, threads, group=None):
    join = None if group is None else lambda: open(os.path.join(group, "cgroup.procs"), "w").write(str(os.getpid()))
    return lambda: subprocess.run(["/usr/bin/python3", "-c", READS, path, order, str(threads)], preexec_fn=join, timeout=60 * SLOWNESS, check=True)


def disk_reads():
    return sum(int(line.split()[3]) for line in open("/proc/diskstats"))


def reads_are_counted(path):
    before = disk_reads()
    reads(path, "random", 1)()
    return disk_reads() >= before + 200


def by_type(text, key):
    """The sum of all entries `@bytes[…, read]: N` of a tool that prints each second."""
    return sum(int(n) for n in re.findall(r"^@bytes\[" + key + r"\]: (\d+)$", text, re.M))


def biotop(acu):
    if reason := older_than(6, 5):
        return reason
    with file_on_disk() as path:
        if not reads_are_counted(path):
            return NO_DISK
        text = trace(acu, "biotop.bt", lambda: [reads(path, "random", 1)(), python("import time; time.sleep(1.3)")()])
    need(re.search(r"^\d\d:\d\d:\d\d$", text, re.M) and by_type(text, r"python3, \d+, \w+, read") >= 200 * 65536, text)
    need(re.search(r"^@us\[[^\]]+, \w+, (?:read|write|flush|discard|other)\]: \{ \.count = [1-9]\d*, \.average = \d+, \.total = \d+ \}$", text, re.M), text)


def iopending(acu):
    with file_on_disk() as path:
        if not reads_are_counted(path):
            return NO_DISK
        text = trace(acu, "iopending.bt", reads(path, "random", 8))
    disk = max(re.findall(r"^@most\[(\w+)\]: (\d+)$", text, re.M), key=lambda found: int(found[1]))
    need(int(disk[1]) >= 2, "eight threads read at once, and one request at most was pending:\n" + text)
    need(histogram_total(text, f"@pending[{disk[0]}]") >= 8 * 200, text)


def biopattern(acu):
    with file_on_disk() as path:
        if not reads_are_counted(path):
            return NO_DISK
        shares = {}
        for order in ("sequential", "random"):
            text = trace(acu, "biopattern.bt", reads(path, order, 1))
            found = lines(text, r"\d\d:\d\d:\d\d +(\d+:\d+) +(\d+) +(\d+) +(\d+) +(\d+)")
            need(all(int(f[1]) + int(f[2]) == 100 for f in found) and sum(int(f[4]) for f in found) >= 200 * 64, text)
            shares[order] = max(found, key=lambda f: int(f[3]))
    need(int(shares["sequential"][2]) > int(shares["random"][2]) + 20, str(shares))


def biostacks(acu):
    if reason := older_than(6, 5):
        return reason
    with file_on_disk() as path:
        if not reads_are_counted(path):
            return NO_DISK
        text = trace(acu, "biostacks.bt", reads(path, "random", 1), ["--", "--name=python3"])
    ours = re.findall(r"^@us\[python3, *\n(.*?)\]: \{ \.count = (\d+),", text, re.M | re.S)
    need(sum(int(n) for frames, n in ours if "preadv" in frames and "submit_bio" in frames) >= 200, text[:3000])


def biocgroup(acu):
    if reason := older_than(6, 5):
        return reason
    group = os.path.join(BLKIO, "acu-test")
    if not os.path.exists(os.path.join(BLKIO, "cgroup.procs")):
        return "no control groups for disks, version 1"
    os.makedirs(group, exist_ok=True)
    try:
        with file_on_disk() as path:
            if not reads_are_counted(path):
                return NO_DISK
            text = trace(acu, "biocgroup.bt", reads(path, "random", 1, group))
    finally:
        os.rmdir(group)
    ours = lines(text, r"@bytes\[acu-test, \w+, read\]: (\d+)")
    need([int(n) for n, in ours] == [200 * 65536], text)


def filegone(acu):
    text = trace(acu, "filegone.bt", shell("cd $TMP; echo 1 > gone-a; mv gone-a gone-b; truncate -s 0 gone-b; rm gone-b; mkdir gone-d; rmdir gone-d;"
                                           " rmdir gone-d; python3 -c 'import os; os.truncate(\"gone-e\", 1)'"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +(\S+) +(\w+) +(-?\d+) +(.*gone-.*)")
    need([f for f in found if f[0] != "sh"] == [("mv", "rename", "0", "gone-a -> gone-b"), ("truncate", "truncate", "0", "gone-b"), ("rm", "delete", "0", "gone-b"),
                                                ("rmdir", "delete", "0", "gone-d"), ("rmdir", "delete", "-2", "gone-d"), ("python3", "truncate", "-2", "gone-e")], text)


def rwbytype(acu):
    text = trace(acu, "rwbytype.bt", shell("cd $TMP; head -c 100000 /dev/zero > sized; cat sized | cat > sized-b; rm sized sized-b"), ["--", "--name=cat"])
    need(value(text, "@bytes[cat, write, pipe]") == value(text, "@bytes[cat, read, pipe]") == value(text, "@bytes[cat, write, file]") == 100000, text)
    need(value(text, "@bytes[cat, read, file]") >= 100000, text)  # and its libraries
    text = trace(acu, "rwbytype.bt", python("import socket\na, b = socket.socketpair()\nfor _ in range(7): a.sendall(b'x' * 1000); b.recv(1000)"), ["--", "--name=python3"])
    need(value(text, "@bytes[python3, write, socket]") == value(text, "@bytes[python3, read, socket]") == 7000, text)


LOCKS = """
import fcntl, os, time
def locked(call, *more):
    there = os.open(path, os.O_RDWR)
    call(there, fcntl.LOCK_EX, *more)
    return there
for call, path in ((fcntl.flock, "lock-a"), (fcntl.lockf, "lock-b")):
    path = os.path.join(os.environ["TMP"], path)
    open(path, "w").close()
    held = locked(call)
    if os.fork() == 0:
        other = os.open(path, os.O_RDWR)
        try:
            call(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            call(other, fcntl.LOCK_EX)
        os._exit(0)
    time.sleep(0.2)
    call(held, fcntl.LOCK_UN)
    os.wait()
    print(os.getpid(), flush=True)
"""


def filelocks(acu):
    holder = []
    def load():
        done = subprocess.run(["/usr/bin/python3", "-c", LOCKS], env=dict(os.environ, TMP=TMP), timeout=60 * SLOWNESS, capture_output=True, text=True)
        holder.append(done.stdout.split()[0])

    text = trace(acu, "filelocks.bt", load)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(\w+) +(\d+)\.\d{3} (-?\d+) +(-?\d+) +(\S+) +(lock-\w)")
    refused = [(f[0], f[2], f[5]) for f in found if f[2] == "-11"]
    waited = [(f[0], f[2], f[3], f[4], f[5]) for f in found if f[2] == "0" and 150 <= int(f[1]) < 5000]
    need(refused == [("flock", "-11", "lock-a"), ("fcntl", "-11", "lock-b")], text)
    need(waited == [("flock", "0", holder[0], "python3", "lock-a"), ("fcntl", "0", holder[0], "python3", "lock-b")], text)
    need(value(text, "@taken[python3, flock]") >= 1 and value(text, "@taken[python3, fcntl]") >= 1, text)


def readdirs(acu):
    script = ("import os\np = os.path.join(os.environ['TMP'], 'needle-dir')\nos.mkdir(p)\n"
              "for n in range(50): open(f'{p}/{n:04}', 'w').close()\nfor _ in range(3): os.listdir(p)")
    text = trace(acu, "readdirs.bt", shell(f'/usr/bin/python3 -c "{script}"; rm -r $TMP/needle-dir'))
    # 4 bytes of name and NUL behind 19 of the record, in steps of 8; `.` and `..` are there, too.
    need(value(text, "@bytes[python3, needle-dir]") == 3 * 52 * 24 and value(text, "@calls[python3, needle-dir]") == 3 * 2, text)


def fsdist(acu):
    script = ("import os\nf = os.open('/dev/shm/acu-needle', os.O_RDWR | os.O_CREAT)\nfor _ in range(40): os.write(f, b'x')\n"
              "for _ in range(20): os.fsync(f)\nos.unlink('/dev/shm/acu-needle')")
    text = trace(acu, "fsdist.bt", python(script), ["--", "--name=python3"])
    need(histogram_total(text, "@us[tmpfs, write]") == 40 and histogram_total(text, "@us[tmpfs, fsync]") == 20, text)
    need("sockfs" not in text and "pipefs" not in text, text)


TESTS = [biotop, iopending, biopattern, biostacks, biocgroup, filegone, rwbytype, filelocks, readdirs, fsdist]
