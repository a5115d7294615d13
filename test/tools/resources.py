"""Tools for CPUs, memory, locks and interrupts: what programs compete for."""
import os
import re
import subprocess
import sys

from common import DISK, LOAD, SLOWNESS, TMP, histogram_total, lines, load, need, older_than, python, shell, trace, value
from tally import require_real_time

PYTHON = "/usr/bin/python3"


def in_group(group, *command):
    """Runs a command in a control group."""
    join = lambda: open(os.path.join(group, "cgroup.procs"), "w").write(str(os.getpid()))
    return lambda: subprocess.run(command, preexec_fn=join, timeout=60 * SLOWNESS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def spinners(count, name):
    def run():
        processes = [subprocess.Popen([sys.executable, LOAD, "spin", name, "600"]) for _ in range(count)]
        for process in processes:
            process.wait()
    return run


def runqslower(acu):
    text = trace(acu, "runqslower.bt", spinners(3 * (os.cpu_count() or 1), "acu_spin"), ["--", "--us=1500", "--name=acu_spin"])
    found = lines(text, r"\d\d:\d\d:\d\d\.\d{6} (\d+) +(\d+) +acu_spin +(\d+) +(\d+) +(.+)")
    need(len(found) >= 5 and all(1500 <= int(f[2]) < 5e6 * SLOWNESS and int(f[1]) != int(f[3]) for f in found), text[:3000])
    need(any(f[4] == "acu_spin" for f in found), text[:3000])


def cswitches(acu):
    said = []
    script = ("import ctypes, resource, time\nctypes.CDLL(None).prctl(15, b'acu_load')\nbefore = resource.getrusage(resource.RUSAGE_SELF)\n"
              "for _ in range(100): time.sleep(0.001)\nend = time.time() + 0.3\nwhile time.time() < end: pass\n"
              "after = resource.getrusage(resource.RUSAGE_SELF)\nprint(after.ru_nvcsw - before.ru_nvcsw, after.ru_nivcsw - before.ru_nivcsw, flush=True)")
    def both():
        other = subprocess.Popen([sys.executable, LOAD, "spin", "acu_spin", "400"])
        said.extend(subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout.split())
        other.wait()

    text = trace(acu, "cswitches.bt", both)
    waited, preempted = map(int, said)
    need(waited >= 100 and waited <= value(text, "@waited[acu_load]") <= waited + 10, f"{said}: {text}")
    found = re.search(r"^@preempted\[acu_load\]: (\d+)$", text, re.M)
    need(preempted <= (int(found[1]) if found else 0) <= preempted + 20, f"{said}: {text}")


def offwaketime(acu):
    script = ("import ctypes, os, time\nc = ctypes.CDLL(None)\nr, w = os.pipe()\nif os.fork() == 0:\n c.prctl(15, b'acu_waker')\n"
              " for _ in range(20): time.sleep(0.01); os.write(w, b'x')\n os._exit(0)\nc.prctl(15, b'acu_waiter')\nfor _ in range(20): os.read(r, 1)\nos.wait()")
    text = trace(acu, "offwaketime.bt", python(script), ["--", "--name=acu_waiter"])
    waits = re.findall(r"^@us\[acu_waiter, *\n(.*?)^, (\S+), *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    ours = [int(us) for waiting, waker, waking, us in waits if waker == "acu_waker" and "read" in waiting and "write" in waking]
    need(ours and 150000 <= sum(ours) <= 200000 * 20 * SLOWNESS, text[-3000:])
    need(all(name == "acu_waiter" for name in re.findall(r"^@us\[(\S+),", text, re.M)), text[-3000:])


def cgroupcpu(acu):
    group = "/sys/fs/cgroup/cpu/acu-needle"
    if not os.path.exists("/sys/fs/cgroup/cpu/cgroup.procs"):
        return "no control groups with a CPU controller, version 1"
    script = "import os, time\nwhile time.process_time() < 0.5: pass\ntime.sleep(1.1)"
    os.makedirs(group, exist_ok=True)
    try:
        text = trace(acu, "cgroupcpu.bt", in_group(group, PYTHON, "-c", script))
    finally:
        os.rmdir(group)
    ran = sum(int(n) for n in re.findall(r"^@cpu_ns\[acu-needle\]: (\d+)$", text, re.M))
    need(480e6 <= ran <= 750e6, f"{ran} ns of a program that used the CPU for 0.5 s:\n{text}")


def ipis(acu):
    if reason := older_than(6, 5):
        return reason
    if len(os.sched_getaffinity(0)) < 2:
        return "one CPU only"
    # Memory that a program with a thread on another CPU unmaps.
    cpus = sorted(os.sched_getaffinity(0))[:2]
    script = (f"import os, threading, time, mmap\nstop = []\ndef spin():\n os.sched_setaffinity(0, {{{cpus[1]}}})\n while not stop: pass\n"
              f"thread = threading.Thread(target=spin)\nthread.start()\nos.sched_setaffinity(0, {{{cpus[0]}}})\n"
              "for _ in range(400):\n m = mmap.mmap(-1, 1 << 20); m[0] = 1; m.close(); time.sleep(0.001)\nstop.append(1)\nthread.join()")
    before = interrupts()
    text = trace(acu, "ipis.bt", python(script))
    need(sum(int(n) for n, in lines(text, r"@calls\[python3, \w\S*, flush_tlb_func\]: (\d+)")) >= 10, text)
    rescheduled = sum(int(n) for n, in lines(text, r"@reschedules\[[^\]]+\]: (\d+)"))
    happened = interrupts() - before
    need(rescheduled <= happened + 50, f"{rescheduled} were reported, {happened} in /proc/interrupts:\n{text}")


def interrupts():
    """Those that make another CPU look for a thread to run."""
    return sum(sum(int(n) for n in line.split()[1:] if n.isdigit()) for line in open("/proc/interrupts") if re.match(r" *RES:", line))


def timerlat(acu):
    text = trace(acu, "timerlat.bt", load("sleep", "acu_load", 60))
    need(histogram_total(text, "@late_us[hrtimer_wakeup]") >= 60, text)
    slept = re.search(r"^@late_us\[hrtimer_wakeup\]:\s*\n((?:[\[(].*\|\n?)+)", text, re.M)[1]
    # The slack of 50 us: most are later than 32 us.
    late = sum(int(n) for n in re.findall(r"^\[(?:32|64|128|256|512|\d+K), .*?\) +(\d+) \|", slept, re.M))
    need(late >= 50, text)


def softirqlat(acu):
    text = trace(acu, "softirqlat.bt", load("spin", "acu_load", 500))
    need(histogram_total(text, "@usecs[TIMER]") >= 3 and histogram_total(text, "@usecs[RCU]") >= 3, text)


GROWS = "import time\ntime.sleep(0.3)\nmemory = bytearray(100 << 20)\ntime.sleep(1.2)\ndel memory\ntime.sleep(1.2)"
# What a process shares with its parent until it runs a program of its own is not memory that this program gives back.
STARTS = f"""import os, sys
memory = bytearray(40 << 20)
child = os.fork()
if child == 0:
    memory[0] = 1
    os.execv(sys.executable, [sys.executable, "-c", {GROWS!r}])
os.waitpid(child, 0)"""


def rssgrowth(acu):
    text = trace(acu, "rssgrowth.bt", python(STARTS), ["--", "--name=python3"])
    grown = [int(n) for n, in lines(text, r"@grown\[python3, \d+, anonymous\]: (-?\d+)")]
    need(any(95 << 20 <= n <= 115 << 20 for n in grown) and any(-115 << 20 <= n <= -95 << 20 for n in grown), text)


def mmapstacks(acu):
    text = trace(acu, "mmapstacks.bt", python("import mmap\nfor _ in range(10): mmap.mmap(-1, 3 << 20).close()"), ["--", "--name=python3"])
    ours = [int(n) for frames, n in re.findall(r"^@mapped\[python3, *\n(.*?)\]: (\d+)$", text, re.M | re.S) if "new_mmap_object" in frames]
    # The first of them may come before the frames of Python are known: then it has a stack of its own.
    need(sum(ours) == 10 * (3 << 20), text[-3000:])
    need(value(text, "@unmapped[python3]") >= 10 * (3 << 20), text[-3000:])


def drsnoop(acu):
    group, path = "/sys/fs/cgroup/memory/acu-needle", os.path.join(DISK, "tools.tmp")
    if not os.path.exists("/sys/fs/cgroup/memory/cgroup.procs"):
        return "no control groups for memory, version 1"
    os.makedirs(group, exist_ok=True)
    try:
        with open(os.path.join(group, "memory.limit_in_bytes"), "w") as file:
            file.write("20M")
        text = trace(acu, "drsnoop.bt", in_group(group, "dd", "if=/dev/zero", f"of={path}", "bs=1M", "count=60"))
        os.unlink(path)
    finally:
        os.rmdir(group)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +dd +cgroup +(\d+)\.\d{3} (\d+)")
    freed = sum(int(pages) for _, pages in found)
    need(36 * 256 <= freed <= 80 * 256, f"{freed} pages were freed for 60 MB in a group of 20 MB:\n{text[:3000]}")
    need(histogram_total(text, "@us[dd, cgroup]") == len(found), text)


def compactsnoop(acu):
    if not os.path.exists("/proc/sys/vm/compact_memory"):
        return "this kernel does not compact memory"
    text = trace(acu, "compactsnoop.bt", shell("echo 1 > /proc/sys/vm/compact_memory"))
    zones = lines(text, r"\d\d:\d\d:\d\d \d+ +sh +(\w+) +\d+\.\d{3} ([\w ]+)")
    need(zones and all(mode == "sync" and result in ("complete", "contended", "success") for mode, result in zones), text)


HOLDS = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void hold(int us) { pthread_mutex_lock(&mutex); usleep(us); pthread_mutex_unlock(&mutex); }
static void *hold_long(void *unused) { for (int i = 0; i < 5; i++) hold(20000); return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, hold_long, 0);
  for (int i = 0; i < 10; i++) hold(100);
  pthread_join(thread, 0);
}
"""


def pthreadlocks(acu):
    source, program = os.path.join(TMP, "holds.c"), os.path.join(TMP, "acu_holds")
    with open(source, "w") as file:
        file.write(HOLDS)
    subprocess.run(["gcc", "-O1", "-o", program, source, "-lpthread"], check=True, timeout=60 * SLOWNESS)
    text = trace(acu, "pthreadlocks.bt", lambda: subprocess.run([program], timeout=60 * SLOWNESS), ["--", "--name=acu_holds"])
    held = re.search(r"^@held_us\[acu_holds, (0x\w+)\]: \{ \.count = 15, \.average = \d+, \.total = (\d+) \}$", text, re.M)
    need(held and 100000 <= int(held[2]) <= 5e6 * SLOWNESS, text[-3000:])
    waited = re.search(rf"^@waited_us\[acu_holds, {held[1]}\]: \{{ \.count = 15, \.average = \d+, \.total = (\d+) \}}$", text, re.M)
    need(waited and int(waited[1]) >= 19000, text[-3000:])
    longest = re.findall(rf"^@longest\[acu_holds, {held[1]}, *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    need(longest and all("hold" in frames and int(us) >= 10000 for frames, us in longest), text[-3000:])


def futexctn(acu):
    script = ("import threading, time\nlock = threading.Lock()\nlock.acquire()\nthread = threading.Thread(target=lock.acquire)\n"
              "thread.start()\ntime.sleep(0.3)\nlock.release()\nthread.join()")
    text = trace(acu, "futexctn.bt", python(script), ["--", "--name=python3"])
    waits = re.findall(r"^@us\[python3, *\n(.*?)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M | re.S)
    # The thread also waits for the interpreter's lock, in other code.
    ours = [int(us) for frames, n, us in waits if re.search(r"^        start_thread\+", frames, re.M) and n == "1"]
    need(ours and 250000 <= max(ours) <= 5e6 * SLOWNESS, text[-3000:])


def runqocc(acu):
    require_real_time("samples are lost")
    where = sorted(os.sched_getaffinity(0))[-1]
    script = f"import os, time\nos.sched_setaffinity(0, {{{where}}})\nend = time.time() + 1.5\nwhile time.time() < end: pass"

    def crowd():
        processes = [subprocess.Popen([PYTHON, "-c", script]) for _ in range(3)]
        for process in processes:
            process.wait()

    text = trace(acu, "runqocc.bt", crowd)
    found = {int(f[0]): [int(n) for n in f[1:]] for f in lines(text, r"(\d+) +(\d+) +(\d+) +(\d+) +(\d+)")}
    samples, busy, queued, longest = found[where]
    need(samples >= 100 and 70 <= queued <= busy <= 100 and longest >= 3, text)
    need(len(found) == len(os.sched_getaffinity(0)), text)


def stackcount(acu):
    text = trace(acu, "stackcount.bt", python("import os\nfor _ in range(7): os.getpriority(0, 0)"), ["uprobe:libc:getpriority", "--", "--name=python3"])
    found = re.findall(r"^@\[ *\n(.*?)\]: (\d+)$", text, re.M | re.S)
    need([n for frames, n in found if "getpriority" in frames] == ["7"], text)
    text = trace(acu, "stackcount.bt", python("import os\nfor _ in range(7): os.getpriority(0, 0)"), ["uprobe:libc:getpriority", "--", "--name=other"])
    need("@[" not in text, text)


TESTS = [runqslower, cswitches, offwaketime, cgroupcpu, ipis, timerlat, softirqlat, rssgrowth, mmapstacks, drsnoop, compactsnoop, pthreadlocks, futexctn, runqocc, stackcount]
