"""Tools that look at disks and files."""
import os
import re

from common import ROOT, disk_writes, histogram_total, lines, load, need, python, shell, trace, value

WRITE = "dd if=/dev/zero of=$DISK/tools.tmp bs=64k count=32 oflag=direct,dsync; rm $DISK/tools.tmp"
NO_DISK = "no disk here that counts its requests"


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
    text = trace(acu, "ext4sync.bt", python(f"import os\nf = open({os.path.join(ROOT, 'build', 'tools.tmp')!r}, 'w')\n"
                                            "for i in range(5): f.write('x'); f.flush(); os.fsync(f.fileno())\n"
                                            "os.unlink(f.name)"))
    name = re.search(r"^@usecs\[(python\S*)\]", text, re.M)
    if not name:
        return "the build folder is not on ext4"
    need(histogram_total(text, f"@usecs[{name.group(1)}]") == 5, text)


def filecache(acu):
    text = trace(acu, "filecache.bt", shell("dd if=/dev/zero of=$DISK/tools.tmp bs=1M count=16; rm $DISK/tools.tmp"))
    need(4096 <= value(text, "@pages[dd]") <= 5000, text)
    need(value(text, "@kilobytes") >= 4 * value(text, "@pages[dd]"), text)


def swapin(acu):
    path = os.path.join(ROOT, "build", "tools.tmp")
    script = (f"import mmap, os\nopen({path!r}, 'wb').write(os.urandom(1 << 22))\nf = os.open({path!r}, os.O_RDONLY)\n"
              "os.fsync(f); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)\n"
              "m = mmap.mmap(f, 1 << 22, prot=mmap.PROT_READ); m.madvise(mmap.MADV_RANDOM)\n"
              f"print(sum(m[i] for i in range(0, 1 << 22, 65536))); os.unlink({path!r})\nimport time; time.sleep(1.2)")
    text = trace(acu, "swapin.bt", python(script))
    need(re.search(r"^\d\d:\d\d:\d\d$", text, re.M), text)
    found = lines(text, r"@faults\[python\S*, \d+\]: (\d+)")
    need(sum(int(n) for n, in found) >= 20, text)


TESTS = [biosnoop, bitesize, blkflush, syncsnoop, writeback, ext4sync, filecache, swapin]
