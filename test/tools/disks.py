"""Tools that look at disks and files."""
import os
import re
import subprocess

from common import DISK, Wrong, disk_writes, histogram_total, lines, load, need, python, shell, tells, trace, value

WRITE = "dd if=/dev/zero of=$DISK/tools.tmp bs=64k count=32 oflag=direct,dsync; rm $DISK/tools.tmp"
NO_DISK = "no disk here that counts its requests"
NO_KPROBES = "this kernel refuses probes on its functions"


def fail(problem):
    raise problem


def biosnoop(acu):
    before = disk_writes()
    text = trace(acu, "biosnoop.bt", shell(WRITE))
    if disk_writes() == before:
        return NO_DISK
    found = lines(text, r"(\d+) +(\d+):(\d+) +(\w+) +(\d+) +(\d+) +(\d+)\.(\d{3})  (.+)")
    need(text.startswith("TIME(ms)") and len(found) >= 32, text[:1500])
    written = [f for f in found if "W" in f[3] and f[5] == "65536" and f[8] == "dd"]
    need(len(written) >= 32, text[:1500])


def bitesize(acu):
    before = disk_writes()
    text = trace(acu, "bitesize.bt", shell(WRITE))
    if disk_writes() == before:
        return NO_DISK
    need(histogram_total(text, "@bytes[dd]") >= 32, text)
    need(re.search(r"^\[64K, 128K\) +3\d \|", text, re.M), text)


def blkflush(acu):
    before = disk_writes()
    text = trace(acu, "blkflush.bt", shell("for i in 1 2 3; do echo $i > $DISK/tools.tmp; sync -f $DISK/tools.tmp; done;"
                                           " rm $DISK/tools.tmp"))
    if disk_writes() == before:
        return NO_DISK
    found = lines(text, r"\d\d:\d\d:\d\d +(\d+):(\d+) +(\d+)\.(\d{3})  (.+)")
    if not found:
        return "the disk has no cache that is flushed"
    need(histogram_total(text, "@usecs") == len(found), text)


def syncsnoop(acu):
    calls = ["sync", "fsync", "fdatasync"]
    text = trace(acu, "syncsnoop.bt", python("import os\nf = os.open('/tmp', os.O_RDONLY)\nos.sync(); os.fsync(f)\n"
                                             "os.fdatasync(f)"))
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +python\S* +tracepoint:syscalls:sys_enter_(\w+)")
    need([call for _, call in found] == calls, text)


def writeback(acu):
    before = disk_writes()
    text = trace(acu, "writeback.bt", shell("dd if=/dev/zero of=$DISK/tools.tmp bs=1M count=8; sync; rm $DISK/tools.tmp"))
    if disk_writes() == before:
        return NO_DISK
    found = lines(text, r"\d\d:\d\d:\d\d +(\d+):(\d+) +(\d+) +(\w+) +(\d+)\.(\d{3})")
    need(any(int(f[2]) >= 100 and f[3] in ("sync", "periodic", "background") for f in found), text)


def ext4sync(acu):
    if not re.search(r"^\S+ / ext4 ", open("/proc/mounts").read(), re.M) and not os.path.isdir("/sys/fs/ext4"):
        return "no ext4 here"
    text = trace(acu, "ext4sync.bt", python(f"import os\nf = open({os.path.join(DISK, 'tools.tmp')!r}, 'w')\n"
                                            "for i in range(5): f.write('x'); f.flush(); os.fsync(f.fileno())\n"
                                            "os.unlink(f.name)"))
    name = re.search(r"^@usecs\[(python\S*)\]", text, re.M)
    if not name:
        return "the build folder is not on ext4"
    need(histogram_total(text, f"@usecs[{name.group(1)}]") == 5, text)


def filecache(acu):
    if not tells("filemap:mm_filemap_add_to_page_cache", "order"):
        return "this kernel adds pages to the cache one by one"
    text = trace(acu, "filecache.bt", shell("dd if=/dev/zero of=$DISK/tools.tmp bs=1M count=16; rm $DISK/tools.tmp"))
    need(4096 <= value(text, "@pages[dd]") <= 5000, text)
    need(value(text, "@kilobytes") >= 4 * value(text, "@pages[dd]"), text)


def swapin(acu):
    path = os.path.join(DISK, "tools.tmp")
    script = (f"import mmap, os\nopen({path!r}, 'wb').write(os.urandom(1 << 22))\nf = os.open({path!r}, os.O_RDONLY)\n"
              "os.fsync(f); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)\n"
              "m = mmap.mmap(f, 1 << 22, prot=mmap.PROT_READ); m.madvise(mmap.MADV_RANDOM)\n"
              f"print(sum(m[i] for i in range(0, 1 << 22, 65536))); os.unlink({path!r})\nimport time; time.sleep(1.2)")
    text = trace(acu, "swapin.bt", python(script))
    need(re.search(r"^\d\d:\d\d:\d\d$", text, re.M), text)
    found = lines(text, r"@faults\[python\S*, \d+\]: (\d+)")
    need(sum(int(n) for n, in found) >= 20, text)


def fsslower(acu):
    text = trace(acu, "fsslower.bt", shell("for i in 1 2 3; do dd if=/dev/urandom of=$TMP/needle.tmp bs=64k count=16 conv=fsync;"
                                           " done; rm $TMP/needle.tmp"), ["--", "--ms=0"])
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +dd +(\w+) +(\d+) +(\d+)\.\d{3} +(\w+) +needle\.tmp")
    need(sum(f[0] == "write" and f[1] == "65536" for f in found) == 48, text[:1500])
    need(sum(f[0] == "fsync" for f in found) == 3, text[:1500])
    need(not lines(text, r".* dd .* (?:urandom|pipe:\S*)"), "urandom is no file of a disk:\n" + text[:1500])


def filetop(acu):
    text = trace(acu, "filetop.bt", shell("sleep 0.2; dd if=/dev/zero of=$TMP/needle.out bs=64k count=512;"
                                          " dd if=$TMP/needle.out of=/dev/null bs=64k; rm $TMP/needle.out; sleep 1.3"))  # more than others'
    size = 512 << 16
    written = [int(n) for n, in lines(text, r"@bytes\[dd, write, needle\.out\]: (\d+)")]
    read = [int(n) for n, in lines(text, r"@bytes\[dd, read, needle\.out\]: (\d+)")]
    need(sum(written) == size and sum(read) == size, text[:1500])
    need("zero]" not in text and "null]" not in text, text[:1500])


def cachestat(acu):
    probes = subprocess.run([acu, "list", "tracepoint:filemap:mm_filemap_get_pages"], capture_output=True, text=True).stdout
    if not probes and not subprocess.run([acu, "list", "kprobe:*mark*_accessed"], capture_output=True, text=True).stdout:
        return "this kernel has no tracepoint for file reads, and refuses probes on its functions"
    if not os.access(DISK, os.W_OK):
        return "nothing can be written to a real file system here"
    # 3000 pages come in once, and are then read twenty times.
    script = ("import os\np = os.path.join(os.environ['DISK'], 'needle.tmp')\nopen(p, 'wb').write(b'x' * 4096 * 3000)\n"
              "f = os.open(p, os.O_RDONLY)\nfor _ in range(20):\n for i in range(3000): os.pread(f, 4096, i * 4096)\n"
              "os.unlink(p)")
    text = trace(acu, "cachestat.bt", shell(f"sleep 0.2; python3 -c \"{script}\"; sleep 2.5"))
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +(\d+) +(\d+)%")
    need(sum(int(f[0]) for f in found) >= 55000 and sum(int(f[1]) for f in found) >= 100, text)
    seen = [[int(n) for n in f] for f in found]
    need(all(ratio == (100 * hits // (hits + misses) if hits + misses else 100) for hits, misses, ratio in seen), text)  # others may miss much


def dcsnoop(acu):
    if not subprocess.run([acu, "list", "kprobe:d_lookup"], capture_output=True, text=True).stdout:
        return NO_KPROBES
    try:
        text = trace(acu, "dcsnoop.bt", shell("for i in 1 2 3; do test -e $TMP/needle-$i; done"))
    except Wrong as problem:
        refused = any(t in str(problem) for t in ("lockdown", "does not support", "built without kprobes"))
        return NO_KPROBES if refused else fail(problem)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +sh +M (needle-\d)")
    need([n for n, in found][:3] == ["needle-1", "needle-2", "needle-3"], text[:1500])


def mounts(acu):
    text = trace(acu, "mounts.bt", shell("unshare -m sh -c 'mkdir $TMP/needle-fs; mount -t tmpfs none $TMP/needle-fs;"
                                         " umount $TMP/needle-fs; umount $TMP/needle-fs'"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +(\S+) +(\w+) +(-?\d+) +(\S+) +(\S+) +(.*)")
    ours = [f[1:] for f in found if "needle" in f[5]]
    in_steps = any(f[0] == "move_mount" for f in ours)
    need(any(f[0] in ("mount", "move_mount") and f[1] == "0" for f in ours), text)
    need(in_steps or any(f[:4] == ("mount", "0", "tmpfs", "none") for f in ours), text)
    need([f[1] for f in ours if f[0] == "umount"] == ["0", "-22"], text)


TESTS = [fsslower, filetop, cachestat, dcsnoop, mounts, biosnoop, bitesize, blkflush, syncsnoop, writeback, ext4sync, filecache, swapin]
