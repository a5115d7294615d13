"""Tools that look at what programs ask of the kernel: calls, rights, signals, memory."""
import os
import re
import subprocess
import sys

from common import TMP, histogram_total, lines, load, need, python, shell, trace, value


def setuids(acu):
    text = trace(acu, "setuids.bt", python("import os\nos.setresuid(-1, 1000, 0)\nos.seteuid(0)\nos.setuid(1000)\n"
                                           "try: os.setuid(0)\nexcept OSError: pass"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python\S* +(\d+) +(\w+) +(-?\d+(?: +-?\d+ +-?\d+)?) +(-?\d+)")
    found = [(f[0], f[1], " ".join(f[2].split()), f[3]) for f in found]
    columns = text.split("\n")[0]
    need(all(line.index(f"{int(line.split()[-1])}", columns.index("RESULT")) == columns.index("RESULT") for line in text.strip().split("\n")[1:]), text)
    need(found[0] == ("0", "setresuid", "-1 1000 0", "0"), text)
    need(("0", "setuid", "1000", "0") in found and ("1000", "setuid", "0", "-1") in found, text)
    need("@" not in text, text)


def capable(acu):
    if not os.path.isdir("/sys/kernel/tracing/events/capability"):
        return "this kernel has no capability tracepoints"
    text = trace(acu, "capable.bt", python("import os, socket\nopen(f'/tmp/acu-{os.getpid()}', 'w').close()\n"
                                           "os.chown(f'/tmp/acu-{os.getpid()}', 1000, 1000)\n"
                                           "os.unlink(f'/tmp/acu-{os.getpid()}')\nos.setuid(1000)\n"
                                           "try: socket.sethostname('x')\nexcept OSError: pass"))
    need(lines(text, r"\d\d:\d\d:\d\d 0 +\d+ +python\S* +0 +CAP_CHOWN +yes"), text)
    need(lines(text, r"\d\d:\d\d:\d\d 1000 +\d+ +python\S* +21 +CAP_SYS_ADMIN +no"), text)


def sigsnoop(acu):
    text = trace(acu, "sigsnoop.bt", shell("sleep 10 & kill -USR1 $!; wait"))
    killed = lines(text, r"\d\d:\d\d:\d\d (\d+) +sh +User defined signal 1 +(\d+) +(?:sleep|sh)")
    need(len(killed) == 1, text)
    need(any(f == (killed[0][1], killed[0][0]) for f in lines(text, r"\d\d:\d\d:\d\d (\d+) +\S+ +Child exited +(\d+) +sh")), text)


def statsnoop(acu):
    text = trace(acu, "statsnoop.bt", shell("stat $TMP/no-such-file; stat $TMP; python3 -c 'import os; os.fstat(0)'"))
    found = lines(text, r"(\d+) +stat +(\d+) (.*)")
    need(any(f[1:] == ("2", TMP + "/no-such-file") for f in found), text)
    need(any(f[1:] == ("0", TMP) for f in found), text)
    need(not lines(text, r"(\d+) +\S+ +0 "), "descriptors are told, too:\n" + text)


def vfsstat(acu):
    text = trace(acu, "vfsstat.bt", shell("mkdir $TMP/d; for i in 1 2 3; do cat /etc/hostname >/dev/null; echo $i > $TMP/d/$i; done;"
                                          " rm -r $TMP/d; sleep 1.2"))
    total = lambda kind: sum(int(n) for n, in lines(text, rf"@calls\[{kind}\]: (\d+)"))
    need(total("mkdir") >= 1 and total("unlink") >= 4, text)
    need(total("open") >= 9 and total("read") >= 3 and total("write") >= 3, text)
    need(re.search(r"^\d\d:\d\d:\d\d$", text, re.M), text)


def brkstack(acu):
    text = trace(acu, "brkstack.bt", python("a = [bytearray(100) for _ in range(50000)]"))
    grown = re.findall(r"^@grown\[(python\S*), *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    need(sum(int(n) for _, _, n in grown) >= 5, text[:1500])
    need(any(re.search(r"brk\+\d+", frames) for _, frames, _ in grown), text[:1500])


def pagealloc(acu):
    text = trace(acu, "pagealloc.bt", python("a = bytearray(32 << 20)\nfor i in range(0, len(a), 4096): a[i] = 1"))
    found = lines(text, r"@kilobytes\[python\S*\]: (\d+)")
    need(sum(int(n) for n, in found) >= 32 << 10, text)
    need(histogram_total(text, "@order") >= 16, text)


def kmallocs(acu):
    text = trace(acu, "kmallocs.bt", shell("for i in 1 2 3; do cat /proc/self/stat; done"))
    found = lines(text, r"@bytes\[(\S+)\]: (\d+)")
    need(len(found) >= 5 and not found[-1][0].startswith("0x"), text)
    need("load_elf_phdrs" in [f[0] for f in found], text)
    need(value(text, "@unused_bytes") > 0, text)


def oomkill(acu):
    group = "/sys/fs/cgroup/memory/acu-tools"
    limit = "memory.limit_in_bytes"
    if not os.path.isdir("/sys/fs/cgroup/memory"):
        group, limit = "/sys/fs/cgroup/acu-tools", "memory.max"
    try:
        os.mkdir(group)
        open(os.path.join(group, limit), "w").write(str(24 << 20))
    except OSError as problem:
        if os.path.isdir(group):
            os.rmdir(group)
        return f"no control group with a memory limit: {problem}"
    victim = []

    def use_up():
        child = subprocess.Popen([sys.executable, "-c", f"import os\nopen('{group}/cgroup.procs', 'w').write(str(os.getpid()))\n"
                                  "a = bytearray(200 << 20)\nfor i in range(0, len(a), 4096): a[i] = 1"],
                                 stderr=subprocess.DEVNULL)
        victim.append(child.pid)
        child.wait()

    try:
        text = trace(acu, "oomkill.bt", use_up)
    finally:
        os.rmdir(group)
    found = lines(text, r"\d\d:\d\d:\d\d killed (\d+) \((python\S*)\), user 0, (\d+) KiB in memory, adjustment -?\d+, loads: \d.*")
    if not found:
        return "nothing was killed: " + text[:200]
    need(int(found[0][0]) == victim[0] and 10000 < int(found[0][2]) < 60000, text)


TESTS = [setuids, capable, sigsnoop, statsnoop, vfsstat, brkstack, pagealloc, kmallocs, oomkill]
