"""Tools that look at threads, CPUs and the work of the kernel."""
import os
import re
import subprocess
import sys
import time

from common import LOAD, TMP, histogram_total, lines, load, need, python, shell, tells, trace, value


def cpuwalk(acu):
    text = trace(acu, "cpuwalk.bt", load("spin", "acu_load", 1500))
    need(histogram_total(text, "@cpu") >= 100, text)


def runqlen(acu):
    def crowd():  # three times as many threads as CPUs
        spinners = [subprocess.Popen([sys.executable, LOAD, "spin", "acu_spin", "700"])
                    for _ in range(3 * (os.cpu_count() or 1))]
        for s in spinners:
            s.wait()

    if not re.search(r"\bnr_queued\b", subprocess.run([acu, "list", "-v", "struct cfs_rq"], capture_output=True, text=True).stdout):
        return "this kernel's run queues have a different layout"
    text = trace(acu, "runqlen.bt", crowd)
    need(histogram_total(text, "@threads") >= 60, text)
    need(re.search(r"^\[[23456], \d\) ", text, re.M), "no queue of two threads:\n" + text)


def pidpersec(acu):
    text = trace(acu, "pidpersec.bt", shell("for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 1.3"))
    found = lines(text, r"\d\d:\d\d:\d\d started: (\d+)")
    need(found and sum(int(n) for n, in found) >= 10, text)


def exitsnoop(acu):
    text = trace(acu, "exitsnoop.bt", shell("sh -c 'exit 3'; sleep 0.2; sleep 10 & kill $!; wait"))
    need(lines(text, r"\d\d:\d\d:\d\d \d+ +\d+ +sh +\d+ +exit 3"), text)
    slept = lines(text, r"\d\d:\d\d:\d\d \d+ +\d+ +sleep +(\d+) +exit 0")
    need(any(200 <= int(ms) <= 2000 for ms, in slept), text)
    need(lines(text, r"\d\d:\d\d:\d\d \d+ +\d+ +(?:sleep|sh) +\d+ +signal 15"), text)


def naptime(acu):
    text = trace(acu, "naptime.bt", shell("sleep 0.125; sleep 0.25"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +\d+ +sleep +(\d+\.\d{3})")
    need(found == [("0.125",), ("0.250",)], text)


def migrations(acu):
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        return "one CPU only"
    text = trace(acu, "migrations.bt", python(f"import os, time\nfor i in range(20):\n os.sched_setaffinity(0, {{{cpus}[i % 2]}})\n"
                                              " time.sleep(0.005)"))
    moves = lines(text, r"@moves\[(?:python\S*|migration/\d)\]: (\d+)")
    need(sum(int(n) for n, in moves) >= 10, text)
    there, back = ("@from_to[{}, {}]".format(*way) for way in (cpus, cpus[::-1]))
    need(value(text, there) >= 5 and value(text, back) >= 5, text)


def offcputime(acu):
    text = trace(acu, "offcputime.bt", load("sleep", "acu_load", 40), ["--", "--name=acu_load"])
    waits = re.findall(r"^@us\[acu_load, *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    total = sum(int(us) for frames, us in waits if "nanosleep" in frames)
    need(40 * 4800 <= total <= 3 * 40 * 5000, text[-2000:])  # a sleep begins a little before the thread leaves the CPU
    need("@left" not in text and "@kernel" not in text, text)


def wakeuptime(acu):
    script = ("import os\nr, w = os.pipe()\nif os.fork() == 0:\n"
              " for _ in range(50): os.write(w, b'x'); __import__('time').sleep(0.002)\n os._exit(0)\n"
              "for _ in range(50): os.read(r, 1)")
    text = trace(acu, "wakeuptime.bt", python(script))
    woken = re.findall(r"^@woken\[(python\S*), (python\S*), *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    need(sum(int(n) for _, _, frames, n in woken if "write" in frames) >= 40, text[-2000:])


def softirqs(acu):
    text = trace(acu, "softirqs.bt", load("spin", "acu_load", 500))
    names = re.findall(r"^@usecs\[(\w+)\]:", text, re.M)
    need("TIMER" in names and "SCHED" in names, text)
    need(histogram_total(text, "@usecs[TIMER]") >= 3, text)  # timers that are due, not ticks


def hardirqs(acu):
    count = lambda: [l.split() for l in open("/proc/interrupts") if re.match(r" *\d+:", l)]
    before = {l[0]: l[1:1 + (os.cpu_count() or 1)] for l in count()}
    text = trace(acu, "hardirqs.bt", shell("dd if=/dev/zero of=$DISK/tools.tmp bs=64k count=64 oflag=direct,dsync;"
                                           " rm $DISK/tools.tmp"))
    if all(before.get(l[0]) == l[1:1 + (os.cpu_count() or 1)] for l in count()):
        return "no device here that interrupts"
    names = re.findall(r"^(@nsecs\[[^\]]+\]):", text, re.M)
    need(sum(histogram_total(text, name) for name in names) >= 10, text)


def lockcontention(acu):
    if not tells("lock:contention_begin", "lock_addr"):
        return "this kernel has no lock tracepoints"
    script = ("import os, threading\nr, w = os.pipe()\n"
              "def work():\n for _ in range(3000): os.pread(f, 1, 0); os.lseek(f, 0, 0)\n"
              "f = os.open('/proc/self/maps', os.O_RDONLY)\nfor _ in range(4): threading.Thread(target=work).start()")
    text = trace(acu, "lockcontention.bt", lambda: [python(script)(), load("spin", "acu_load", 300)()])
    if "@where" not in text:
        return "no lock was waited for"
    need(re.search(r"^        \S+\+\d+$", text, re.M), text)


def wqlat(acu):
    text = trace(acu, "wqlat.bt", shell("sleep 0.5; sync; sleep 1"))
    form = r"\{ \.count = (\d+), \.average = (\d+), \.total = (\d+) \}"
    waited = lines(text, r"@waited_us\[(\w\S*)\]: " + form)
    ran = lines(text, r"@ran_us\[(\w\S*)\]: " + form)
    need(waited and ran and {r[0] for r in ran} <= {w[0] for w in waited}, text)
    need(all(not w[0].startswith("0x") for w in waited), text)


def cpuidle(acu):
    idle = lambda: int(open("/proc/stat").readline().split()[4]) / os.sysconf("SC_CLK_TCK")
    before = idle()
    text = trace(acu, "cpuidle.bt", lambda: time.sleep(1))
    if idle() - before < 0.2:
        return "the CPUs are too busy to sleep"
    names = re.findall(r"^(@usecs\[\d+\]):", text, re.M)
    if not names:
        return "the CPUs here do not tell of their sleep"
    need(sum(histogram_total(text, name) for name in names) >= 5, text)


def loads(acu):
    text = trace(acu, "loads.bt", lambda: time.sleep(2.3))
    need(len(lines(text, r"\d\d:\d\d:\d\d \d+\.\d\d \d+\.\d\d \d+\.\d\d \d+/\d+ \d+")) == 2, text)


def cpudist(acu):
    script = ("import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'acu_load')\nsince = time.process_time()\n"
              "while time.process_time() - since < 0.4: pass\nos._exit(0)")
    text = trace(acu, "cpudist.bt", python(script), ["--", "--name=acu_load"])
    need(histogram_total(text, "@usecs") >= 1, text)
    ran = value(text, "@cpu_ms[acu_load]")
    need(350 <= ran <= 800, f"{ran} ms of a program that used the CPU for 400:\n" + text)


def futexlat(acu):
    script = ("import ctypes, threading, time\nlock = threading.Lock()\n"
              "def wait():\n for _ in range(10):\n  with lock: pass\n  time.sleep(0.001)\n"
              "lock.acquire()\nthreads = [threading.Thread(target=wait) for _ in range(3)]\n"
              "for t in threads: t.start()\ntime.sleep(0.3)\nlock.release()\nfor t in threads: t.join()")
    text = trace(acu, "futexlat.bt", python(script), ["--", "--name=python3"])
    waits = lines(text, r"@waited_us\[python3, 0x\w+\]: \{ \.count = (\d+), \.average = (\d+), \.total = (\d+) \}")
    need(waits and sum(int(w[2]) for w in waits) >= 3 * 250000, text)
    need(histogram_total(text, "@usecs[python3]") == sum(int(w[0]) for w in waits), text)


def slabgrowth(acu):
    if "struct kmem_cache * s" not in subprocess.run([acu, "list", "-v", "rawtracepoint:kmem_cache_alloc"],
                                                     capture_output=True, text=True).stdout:
        return "this kernel's tracepoint does not name the cache"
    script = ("import os, time\ntime.sleep(0.2)\nopen_files = [os.open('/dev/null', os.O_RDONLY) for _ in range(800)]\n"
              "time.sleep(1.2)\nfor f in open_files: os.close(f)\ntime.sleep(1.2)")
    text = trace(acu, "slabgrowth.bt", python(script))
    grown = [int(n) for n, in lines(text, r"@bytes\[filp\]: (-?\d+)")]
    need(grown and max(grown) >= 800 * 150, text[:2000])


def signals(acu):
    text = trace(acu, "signals.bt", load("signals", "acu_load", 4))
    need(value(text, "@sent[User defined signal 1, acu_load, acu_load]") == 4, text)
    became = lines(text, r"@became\[acu_load, User defined signal 1, (\w+)\]: (\d+)")
    lost = lines(text, r"@lost\[User defined signal 1, ([\w ]+)\]: (\d+)")
    need(sum(int(n) for _, n in became + lost) >= 4, text)


TESTS = [cpudist, futexlat, slabgrowth, signals, cpuwalk, runqlen, pidpersec, exitsnoop, naptime, migrations, offcputime, wakeuptime, softirqs,
         hardirqs, lockcontention, wqlat, cpuidle, loads]
