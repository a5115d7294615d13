"""Tools for processes: how they start and fail, what they hold, who controls them; and system calls."""
import os
import re
import subprocess
import time

from common import SLOWNESS, TMP, lines, listing, need, older_than, python, shell, trace, value

PYTHON = "/usr/bin/python3"


class Child:
    """A process of Python that has said a word and waits."""

    def __init__(self, text, **more):
        self.process = subprocess.Popen([PYTHON, "-c", text], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **more)
        self.word = self.process.stdout.readline().strip()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def zombies(acu):
    with Child("import os, signal, time\na = os.fork()\nif a == 0: os._exit(3)\nb = os.fork()\nif b == 0: os.kill(os.getpid(), 9)\ntime.sleep(0.2)\n"
               "print(a, b, flush=True)\ninput()") as parent:
        text = listing(acu, "zombies.bt")
    a, b = parent.word.split()
    found = lines(text, rf"(\d+) +python3 +(\w+ +\d+) +\d+ +{parent.pid} +python3")
    need({(pid, " ".join(how.split())) for pid, how in found} == {(a, "status 3"), (b, "signal 9")}, text)


def blockedtasks(acu):
    """A parent that waits for its child of vfork."""
    source, program = os.path.join(TMP, "blocked.c"), os.path.join(TMP, "acu_blocked")
    with open(source, "w") as file:
        file.write("#include <unistd.h>\nint main(void) { write(1, \"\\n\", 1); if (vfork() == 0) { pause(); _exit(0); } return 0; }\n")
    subprocess.run(["gcc", "-o", program, source], check=True, timeout=60 * SLOWNESS)
    process = subprocess.Popen([program], stdout=subprocess.PIPE, start_new_session=True)
    try:
        process.stdout.readline()
        time.sleep(0.2)
        text = listing(acu, "blockedtasks.bt")
    finally:
        os.killpg(process.pid, 9)
        process.communicate()
    need(re.search(rf"^{process.pid} +{process.pid} +acu_blocked +python3\n(        \S+\n)*        \S*fork\S*\n", text, re.M), text)


def fdusage(acu):
    with Child("import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))\n"
               "files = [os.open('/dev/null', 0) for _ in range(87)]\nprint('', flush=True)\ninput()") as child:
        open_now = len(os.listdir(f"/proc/{child.pid}/fd"))
        text = listing(acu, "fdusage.bt")
    need(open_now == 90 and value(text, f"@percent[python3, {child.pid}, 90, 100]") == 90, text)


def memtop(acu):
    if reason := older_than(6, 2):
        return reason
    with Child("memory = bytearray(300 << 20)\nprint('', flush=True)\ninput()") as child:
        with open(f"/proc/{child.pid}/oom_score_adj", "w") as file:
            file.write("321")
        text = listing(acu, "memtop.bt", ["--", "--top=1000"])
        status = dict(re.findall(r"^(\w+):\s+(\d+) kB$", open(f"/proc/{child.pid}/status").read(), re.M))
    found = lines(text, rf"@kb\[python3, {child.pid}, 321, (\d+), (\d+), 0, (\d+)\]: (\d+)")
    expected = sum(int(status[name]) for name in ("VmRSS", "VmSwap", "VmPTE"))
    need(found and abs(int(found[0][3]) - expected) <= 2048 and 299 <= int(found[0][0]) + int(found[0][2]) <= 320, f"{expected} kB expected:\n{text}")


def shortlived(acu):
    if reason := older_than(6, 16):
        return reason
    text = trace(acu, "shortlived.bt", shell("for n in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 0.3"), ["--", "--ms=250"])
    need(value(text, "@processes[sh, true]") == 10 and value(text, "@cpu_us[sh, true]") > 0, text)
    need("[sh, sleep]" not in text, text)


def exectree(acu):
    text = trace(acu, "exectree.bt", shell("sh -c '/bin/echo needle; true'; true"), ["--", "--name=echo"])
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +0 +/bin/echo +(\S+ < .*)")
    need(len(found) == 1 and found[0][0].startswith("sh < sh < python3 < "), text)


def execfail(acu):
    def fail():
        path = os.path.join(TMP, "needle-program")
        open(path, "w").close()
        for name in (path, path + "-missing"):
            subprocess.run([PYTHON, "-c", f"import os\ntry: os.execv({name!r}, ['x'])\nexcept OSError: pass"], timeout=60 * SLOWNESS)

    text = trace(acu, "execfail.bt", fail, ["--", "--all"])
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(\d+) +\S*(needle-\S+): (.*)")
    need(found == [("13", "needle-program", "Permission denied"), ("2", "needle-program-missing", "No such file or directory")], text)
    text = trace(acu, "execfail.bt", fail)
    need(len(lines(text, r".*needle-.*")) == 1, text)


PTRACE = """
import ctypes, os, sys
c, target = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
c.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
c.ptrace(16, target, None, None)  # PTRACE_ATTACH
os.waitpid(target, 0)
for _ in range(5): c.ptrace(2, target, ctypes.c_void_p(0), None)  # PTRACE_PEEKDATA
c.ptrace(17, target, None, None)  # PTRACE_DETACH
c.ptrace(0x4206, 2 ** 22 - 1, None, None)  # PTRACE_SEIZE of nobody
c.process_vm_readv(target, None, 0, None, 0, 0)
"""


def ptracesnoop(acu):
    with Child("print('', flush=True)\ninput()") as target:
        text = trace(acu, "ptracesnoop.bt", lambda: subprocess.run([PYTHON, "-c", PTRACE, str(target.pid)], timeout=60 * SLOWNESS))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(\w+) +(\d+) +(\S*) +(.*)")
    need(("PTRACE_ATTACH", str(target.pid), "python3", "ok") in found, text)
    need(any(f[0] == "PTRACE_SEIZE" and f[3] == "No such process" for f in found), text)
    need(value(text, f"@calls[python3, ptrace, reads memory, {target.pid}]") == 5, text)
    need(value(text, f"@calls[python3, ptrace, other, {target.pid}]") == 1, text)  # the detachment
    need(value(text, f"@calls[python3, process_vm_readv, {target.pid}]") == 1, text)


def nssnoop(acu):
    text = trace(acu, "nssnoop.bt", shell("unshare -n -u true; unshare -p -f true; nsenter -t $$ -n true"))
    found = [(f[0], f[1], " ".join(f[3].split())) for f in lines(text, r"\d\d:\d\d:\d\d \d+ +(\w+) +(\w+) +(-?\d+) +(.*)")]
    need([f for f in found if f[0] in ("unshare", "nsenter")] == [("unshare", "unshare", "uts net"), ("unshare", "unshare", "pid"), ("nsenter", "setns", "net")], text)
    clone = "import ctypes, os\np = ctypes.CDLL(None).syscall(56, 0x20000000 | 17, 0, 0, 0, 0)\nif p == 0: os._exit(0)\nprint(p, flush=True)\nos.waitpid(p, 0)"
    child = []
    text = trace(acu, "nssnoop.bt", lambda: child.append(subprocess.run([PYTHON, "-c", clone], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout.strip()))
    need((child[0], "pid") in [(f[0], f[1].strip()) for f in lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +clone +(\d+) +(.*)")], text)


def group_folder():
    for folder in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(os.path.join(folder, "cgroup.procs")):
            return os.path.join(folder, "acu-needle")
    return None


def cgsnoop(acu):
    folder = group_folder()
    if not folder:
        return "no control groups of version 2"
    child = []

    def move():
        os.mkdir(folder)
        with Child("print('', flush=True)\ninput()") as process:
            child.append(process.pid)
            with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                file.write(str(process.pid))
        os.rmdir(folder)

    text = trace(acu, "cgsnoop.bt", move)
    found = lines(text, rf"\d\d:\d\d:\d\d {os.getpid()} +python3 +(\w+) +(\S+) +/acu-needle")
    need(found == [("mkdir", "-"), ("move", str(child[0])), ("rmdir", "-")], text)


def bpfprogs(acu):
    """A program of another run of acu: what is printed of it, against what /proc shows."""
    if reason := older_than(5, 19):
        return reason
    with subprocess.Popen([acu, "run", "--notify-attached", "#attached#", "-e", "rawtracepoint:sys_enter { @ = count(); }"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as other:
        try:
            other.stdout.readline()
            told = set()
            for name in os.listdir(f"/proc/{other.pid}/fdinfo"):
                fields = dict(re.findall(r"^(\w+):\s*(\S+)$", open(f"/proc/{other.pid}/fdinfo/{name}").read(), re.M))
                if "prog_id" in fields and "link_type" not in fields:
                    told.add((fields["prog_id"], fields.get("prog_jited") == "1"))
            text = listing(acu, "bpfprogs.bt")
        finally:
            other.kill()
    found = {f[0]: f[1:] for f in lines(text, r"(\d+) +(BPF_PROG_TYPE_\w+) +(\S*) +(\d+) +(\d+) +\d+ +0 +\d+ +(.*)")}
    need(told, "no program in /proc")
    for number, is_compiled in told:
        need(number in found and found[number][4] == f"acu ({other.pid})", f"program {number}:\n{text}")
        need(int(found[number][2]) > 0 and (int(found[number][3]) > 0) == is_compiled, text)


def bpfmaps(acu):
    """A map of another run of acu, against what /proc shows."""
    with subprocess.Popen([acu, "run", "--notify-attached", "#attached#", "-e", "config = { max_map_keys = 777 } rawtracepoint:sys_enter { @needle[comm] = 1; }"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as other:
        try:
            other.stdout.readline()
            told = [dict(re.findall(r"^(\w+):\s*(\S+)$", open(f"/proc/{other.pid}/fdinfo/{name}").read(), re.M)) for name in os.listdir(f"/proc/{other.pid}/fdinfo")]
            text = listing(acu, "bpfmaps.bt")
        finally:
            other.kill()
    expected = {(t["map_id"], t["key_size"], t["value_size"], t["max_entries"]) for t in told if "map_id" in t}
    found = lines(text, rf"(\d+) +(BPF_MAP_TYPE_\w+) +(\S*) +(\d+) +(\d+) +(\d+) +acu \({other.pid}\)")
    need({(f[0], f[3], f[4], f[5]) for f in found} == expected, f"{expected}\n{text}")
    need(any(f[1:3] == ("BPF_MAP_TYPE_HASH", "needle") and f[5] == "777" for f in found), text)


def bpfsnoop(acu):
    text = trace(acu, "bpfsnoop.bt", lambda: subprocess.run([acu, "run", "-q", "-e", "begin { @needle_map[1] = 1; exit(); }"],
                                                               stdout=subprocess.DEVNULL, timeout=60 * SLOWNESS))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +\S+ +(\w+) +(BPF_\w+) +(\S*) +(\d+) +(-?\d+)")
    need(any(f[0] == "map" and f[1] == "BPF_MAP_TYPE_HASH" and f[2].startswith("needle_map") and int(f[4]) > 0 for f in found), text)
    need(any(f[0] == "load" and f[2] == "begin" and int(f[3]) > 5 and int(f[4]) > 0 for f in found), text)
    need(re.search(r"^@calls\[[^\]]*, BPF_PROG_TEST_RUN\]: \d+$", text, re.M), text)


def syslat(acu):
    text = trace(acu, "syslat.bt", shell("sleep 0.05; sleep 0.05; sleep 0.1"), ["--", "--name=sleep"])
    found = re.search(r"^@ns\[clock_nanosleep\]: \{ \.count = 3, \.average = \d+, \.total = (\d+) \}$", text, re.M)
    need(found and 200e6 <= int(found[1]) <= 5e9 and 100e6 <= value(text, "@longest_ns[clock_nanosleep]") <= 4e9, text)


def errinfo(acu):
    text = trace(acu, "errinfo.bt", python("import os\nfor n in range(7):\n try: os.open('/needle/missing', 0)\n except OSError: pass\n"
                                           "try: os.kill(2 ** 22 - 1, 9)\nexcept OSError: pass\n"
                                           "for n in range(3):\n try: os.rmdir('/dev/null')\n except OSError: pass"), ["--", "--name=python3"])
    need(value(text, "@errors[python3, rmdir, 20, Not a directory]") == 3 and value(text, "@errors[python3, kill, 3, No such process]") == 1, text)
    need(value(text, "@errors[python3, openat, 2, No such file or directory]") >= 7, text)
    text = trace(acu, "errinfo.bt", shell("rmdir /dev/null"), ["--", "--name=no-such-name"])
    need("@errors[" not in text, text)


def schedsnoop(acu):
    with Child("print('', flush=True)\ninput()") as child:
        text = trace(acu, "schedsnoop.bt", shell(f"renice -n 5 {child.pid}; chrt -f -p 50 {child.pid}; taskset -p 1 {child.pid};"
                                                   f" ionice -c 3 -p {child.pid}"))
    found = lines(text, rf"\d\d:\d\d:\d\d \d+ +(\w+) +(\w+) +{child.pid} +(\S+) +(\S+) +(-?\d+)")
    need(found[:3] == [("renice", "setpriority", "5", "-", "0"), ("chrt", "setscheduler", "FIFO", "50", "0"), ("taskset", "setaffinity", "0x1", "-", "0")], text)
    need(len(found) == 4 and found[3][:2] == ("ionice", "ioprio_set") and int(found[3][2]) >> 13 == 3, text)  # the idle class


SEGMENT = """
import ctypes
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
number = c.shmget(0x4e4544, 5000, 0o1600)
address = c.shmat(number, None, 0)
c.shmdt(ctypes.c_void_p(address))
c.shmctl(number, 0, None)
c.shmat(number, None, 0)
print(number, hex(address))
"""


def shmsnoop(acu):
    said = []
    text = trace(acu, "shmsnoop.bt", lambda: said.extend(subprocess.run([PYTHON, "-c", SEGMENT], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout.split()))
    number, address = said
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +(\w+) +(\S+) +(\S+) +(\S+) +(\S+)")
    need(found == [("shmget", number, "-", "0x4e4544", "5000"), ("shmat", address, number, "-", "-"), ("shmdt", "0", address, "-", "-"), ("remove", "0", number, "-", "-"),
                   ("shmat", "-22", number, "-", "-")], text)


TESTS = [zombies, blockedtasks, fdusage, memtop, shortlived, exectree, execfail, ptracesnoop, nssnoop, cgsnoop, bpfprogs, bpfmaps, bpfsnoop, syslat, errinfo, schedsnoop, shmsnoop]
