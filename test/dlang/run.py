#!/usr/bin/env python3
"""D scripts on real events: run.py ACU [--filter TEXT]

The well-known one-liners of DTrace, and scripts in their spirit, run on loads that make a known number of events (load.c): what they
print is compared as a whole, or by the lines that do not depend on time. Last line: `N passed, N failed, N skipped`.
"""
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_tests, take_filter

FOLDER = tempfile.TemporaryDirectory(prefix="acu-dlang-")
LOAD = os.path.join(FOLDER.name, "acu_dload")
CALLS = LOAD + " calls"


def dscript(acu, *words, status=0, timeout=30, quiet=True):
    """What it prints to standard output; standard error must be empty unless something is wrong with it."""
    done = subprocess.run([acu, "dscript"] + (["-q"] if quiet else []) + list(words), capture_output=True, text=True,
                          timeout=timeout * SLOWNESS, cwd=FOLDER.name)
    if "is built without kprobes" in done.stderr:
        raise Skipped("the kernel is built without kprobes")
    need(done.returncode == status, f"status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    dscript.errors = done.stderr
    return done.stdout


def key(name, value):
    return f"  {name:<50} {value:16d}\n"


def number(n, value):
    return f" {n:8d} {value:16d}\n"


def wide(n, value):
    return f" {n:16d} {value:16d}\n"


def row(value, bar, count):
    return f"{value:>16} |{'@' * bar:<40} {count:<9}\n"


HEAD = "\n           value  ------------- Distribution ------------- count    \n"


def same(found, expected):
    need(found == expected, f"printed\n{found}\ninstead of\n{expected}")


def calls_by_process(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry /pid == $target/ { @[execname] = count(); }")
    same(out, "\n" + key("acu_dload", 5))


def calls_by_name(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall:::entry /execname == \"acu_dload\"/ { @[probefunc] = count(); }")
    for name, count in (("getppid", 5), ("openat", 11), ("close", 7), ("read", 6)):
        need(key(name, count) in out, f"no {count} {name} in\n{out}")


def returns_by_name(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::*pp*:return, syscall::read:return /execname == \"acu_dload\"/ { @[probefunc] = count(); }")
    same(out, "\n" + key("getppid", 5) + key("read", 6))


def opens_by_path(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::openat:entry /execname == \"acu_dload\"/ { @[copyinstr(arg1)] = count(); }")
    same(out, "\n" + key("/dev/zero", 1) + key("/nonexistent/file", 3) + key("/dev/null", 7))


def failed_opens(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::openat:entry { self->path = copyinstr(arg1); } "
                  "syscall::openat:return /execname == \"acu_dload\" && errno/ { @[self->path, errno] = count(); } syscall::openat:return { self->path = 0; }")
    same(out, f"\n  {'/nonexistent/file':<50} {2:8d} {3:16d}\n")


def read_sizes(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::read:return /execname == \"acu_dload\" && arg0 > 0/ { @ = quantize(arg0); }")
    same(out, "\n" + HEAD + row(0, 0, 0) + row(1, 13, 2) + "".join(row(n, 0, 0) for n in (2, 4, 8)) + row(16, 20, 3) +
         "".join(row(n, 0, 0) for n in (32, 64, 128, 256, 512, 1024, 2048)) + row(4096, 7, 1) + row(8192, 0, 0) + "\n")


def bytes_by_process(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::read:return /execname == \"acu_dload\"/ { @[execname] = sum(arg0); }")
    same(out, "\n" + key("acu_dload", 1 + 1 + 16 * 3 + 4096))


def asked_sizes(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::read:entry /execname == \"acu_dload\"/ { @[arg2] = count(); }")
    same(out, "\n" + wide(4096, 1) + wide(1, 2) + wide(16, 3))


def latency(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::read:entry /execname == \"acu_dload\"/ { self->t = timestamp; } "
                  "syscall::read:return /self->t/ { @n = count(); @least = min(timestamp - self->t); self->t = 0; }")
    lines = out.split()
    need(len(lines) == 2 and lines[0] == "6" and 0 < int(lines[1]) < 10 ** 9, out)


def function_arguments(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_twice:entry { @[arg0] = count(); }")
    same(out, "\n" + "".join(wide(n, 1) for n in range(10)))


def function_results(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_twice:return { @ = sum(arg1); }")
    same(out, f"\n {90:16d}\n")


def functions_by_pattern(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target::work_*:entry { @[probefunc] = count(); }")
    same(out, "\n" + key("work_name", 3) + key("work_twice", 10))


def text_arguments(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:acu_dload:work_name:entry { @[copyinstr(arg0)] = count(); }")
    same(out, "\n" + key("first", 1) + key("second", 2))


def entry_to_return(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_twice:entry { self->n = arg0 + 1; } "
                  "pid$target:a.out:work_twice:return /self->n/ { @ = sum(arg1 - 2 * (self->n - 1)); @calls = count(); self->n = 0; }")
    same(out, f"\n {0:16d}\n {10:16d}\n")


def order_of_returns(acu):
    """Clauses at one return run in the order of the script, also where those of the entries have another one."""
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_*:entry { self->d = 1; } pid$target:a.out:work_twice:entry { x = 1; } "
                  "pid$target:a.out:work_twice:return { @[self->d] = count(); } pid$target:a.out:work_*:return { self->d = 0; }")
    same(out, "\n" + number(1, 10))


def user_stacks(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_name:entry { @[ustack(2)] = count(); }")
    lines = out.split("\n")
    need(any(re.fullmatch(r" {14}acu_dload`work_name(\+0x\w+)?", line) for line in lines) and any(re.fullmatch(r" {14}acu_dload`main\+0x\w+", line) for line in lines), out)
    need([int(line) for line in lines if re.fullmatch(r" +\d+", line)] in ([3], [1, 2], [1, 1, 1]), out)


def profile(acu):
    out = dscript(acu, "-c", LOAD + " burn 300", "-n", "profile-997 /pid == $target/ { @[ustack()] = count(); @all = count(); }")
    need("burn" in out and "main" in out, out)
    need(int(out.split()[-1]) > 20, out)


def profile_places(acu):
    """Addresses of one function, or module, are one key."""
    out = dscript(acu, "-c", LOAD + " burn 300", "-n", "profile-997 /pid == $target && arg1/ { @[ufunc(arg1)] = count(); @least[ufunc(arg1)] = min(arg1); @sum = count(); } "
                  "END { printa(\"%A %@d\\n\", @); printf(\"--\\n\"); printa(\"%s\\n\", @least); printa(\"-- %@d\\n\", @sum); }")
    rows, least, total = out.split("--")
    counts = dict(line.rsplit(" ", 1) for line in rows.strip().split("\n"))
    need(len(counts) == len(rows.strip().split("\n")) == len(set(least.split())) == len(least.split()) and "acu_dload`burn" in counts, out)
    need(sum(int(n) for n in counts.values()) == int(total), out)
    out = dscript(acu, "-c", LOAD + " burn 300", "-n", "profile-997 /pid == $target && arg1/ { @[umod(arg1)] = count(); }")
    modules = [line.split()[0] for line in out.strip().split("\n")]
    need("acu_dload" in modules and len(modules) == len(set(modules)), out)


def ticks(acu):
    out = dscript(acu, "-n", "tick-10ms { n++; } tick-10ms /n == 5/ { printf(\"%d ticks\\n\", n); exit(0); }")
    same(out, "5 ticks\n")


def ticks_by_name(acu):
    out = dscript(acu, "-n", "tick-100hz { printf(\"%s %s\", probeprov, probename); exit(0); }")
    same(out, "profile tick-100hz")


def exit_status(acu):
    dscript(acu, "-n", "BEGIN { exit(3); }", status=3)


def lines_by_default(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry /execname == \"acu_dload\"/", quiet=False)
    lines = out.rstrip("\n").split("\n")
    need(lines[0] == "CPU     ID                    FUNCTION:NAME", out)
    need(len(lines) == 6 and all(re.fullmatch(r" {1,2}\d+ {6}1 {20}getppid:entry ", line) for line in lines[1:]), out)
    need("probe" in dscript.errors, dscript.errors)


def functions_in_lines(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::getp*:entry /execname == \"acu_dload\"/ { trace(execname); }", quiet=False)
    need(len(re.findall(r"getppid:entry +acu_dload", out)) == 5, out)


def new_processes(acu):
    out = dscript(acu, "-c", "/bin/sh -c '/bin/true; /bin/true; :'", "-n", "proc:::exec-success /execname == \"true\"/ { @[curpsinfo->pr_psargs] = count(); }")
    same(out, "\n" + key("/bin/true", 2))


def arguments(acu):
    """Up to 80 bytes of them, as in DTrace."""
    long = "x" * 90
    out = dscript(acu, "-c", f"/bin/sh -c '/bin/true one two; /bin/true a \"\" b; /bin/true {long}; :'",
                  "-n", "proc:::exec-success /execname == \"true\"/ { printf(\"%s|%d\\n\", curpsinfo->pr_psargs, curpsinfo->pr_psargs == execargs); }")
    same(out, f"/bin/true one two|1\n/bin/true a  b|1\n{('/bin/true ' + long)[:80]}|1\n")


def parents(acu):
    out = dscript(acu, "-c", "/bin/sh -c '/bin/true; /bin/true; :'", "-n", "proc:::create /pid == $target/ { n++; } END { printf(\"%d\\n\", n); }")
    same(out, "2\n")


def threads(acu):
    """Threads are no processes, and belong to theirs."""
    code = ("import threading, time, subprocess\nevents = [threading.Event() for i in range(3)]\nthreads = [threading.Thread(target=e.wait) for e in events]\n"
            "for t in threads: t.start()\ntime.sleep(0.3)\nfor e in events: e.set()\nfor t in threads: t.join()\nsubprocess.run(['/bin/true'])\n")
    script = os.path.join(FOLDER.name, "threads.py")
    open(script, "w").write(code)
    out = dscript(acu, "-c", "/usr/bin/python3 " + script, "-n", "proc:::create /pid == $target/ { @created[args[0]->pr_ppid == $target] = count(); } "
                  "proc:::lwp-create /pid == $target && args[1]->pr_pid == $target/ { @threads = count(); } "
                  "sched:::wakeup /pid == $target && args[1]->pr_pid == $target && args[0]->pr_lwpid != $target/ { @woken = count(); } "
                  "END { printa(\"created %d %@d\\n\", @created); printa(\"threads %@d\\n\", @threads); printa(\"woken %@d\\n\", @woken); }")
    need("created 1 1\n" in out and "threads 3\n" in out, out)
    need(int(re.search(r"woken (\d+)", out)[1]) >= 3, out)


def exits(acu):
    out = dscript(acu, "-c", "/bin/sh -c '/bin/true; kill -9 $$'", "-n", "proc:::exit /pid == $target || ppid == $target/ { @[args[0]] = count(); }")
    same(out, "\n" + number(1, 1) + number(2, 1))


def signals(acu):
    out = dscript(acu, "-c", "/bin/sh -c 'trap : USR1; kill -USR1 $$'", "-n", "proc:::signal-send /pid == $target/ { @[args[1]->pr_fname, args[2]] = count(); }")
    need(f"  {'sh':<50} {10:8d} {1:16d}\n" in out, out)


def off_cpu(acu):
    out = dscript(acu, "-c", LOAD + " sleep", "-n", "sched:::off-cpu /pid == $target/ { @ = count(); } sched:::sleep /pid == $target/ { @sleeps = count(); }")
    counts = [int(n) for n in out.split()]
    need(len(counts) == 2 and counts[0] >= 2 and counts[1] >= 2, out)


def kernel_functions(acu):
    out = dscript(acu, "-c", CALLS, "-n", "fbt::vfs_read:entry /execname == \"acu_dload\"/ { @n = count(); @asked = sum(arg2); } fbt::vfs_read:return /execname == \"acu_dload\"/ { @got = sum(arg1); }")
    counts = [int(n) for n in out.split()]
    need(len(counts) == 3 and counts[0] >= 6 and counts[1] >= 4146 and counts[2] >= 4146, out)


def typed_values(acu):
    out = dscript(acu, "-c", CALLS, "-n", "fbt::vfs_read:entry /execname == \"acu_dload\"/ { print(args[0]->f_path); print(args[0]); exit(0); }")
    need(re.fullmatch(r"struct path \{\n    struct vfsmount \* mnt = 0x[0-9a-f]+\n    struct dentry \* dentry = 0x[0-9a-f]+\n\}\nstruct file \* 0x[0-9a-f]+\n", out), out)
    out = dscript(acu, "-c", CALLS, "-n", "fbt::vfs_read:entry /execname == \"acu_dload\"/ { print(args[0]->f_path.dentry->d_name); exit(0); }", quiet=False)
    need("vfs_read:entry struct qstr {\n    " in out and "char * name = 0x" in out, out)


def counters(acu):
    """What counters of Solaris grow by."""
    out = dscript(acu, "-c", CALLS, "-n", "sysinfo:::readch /execname == \"acu_dload\"/ { @[\"bytes\"] = sum(arg0); } sysinfo:::sysread /execname == \"acu_dload\"/ { @[\"calls\"] = sum(arg0); } "
                  "sysinfo:::sysexec /execname == \"acu_dload\"/ { @[\"programs\"] = sum(arg0); }")
    same(out, "\n" + key("programs", 1) + key("calls", 6) + key("bytes", 1 + 1 + 16 * 3 + 4096))
    out = dscript(acu, "-c", "/bin/sh -c '/bin/true; /bin/true; :'", "-n", "sysinfo:::sysfork /pid == $target/ { @ = sum(arg0); }")
    same(out, f"\n {2:16d}\n")
    out = dscript(acu, "-c", CALLS, "-n", "vminfo:::as_fault /pid == $target/ { @a = sum(arg0); @b = count(); } sysinfo:::pswitch { @c = sum(arg0); } vminfo:::pgpgin { @d = sum(arg0); } vminfo:::scan { @e = sum(arg0); }")
    faults = out.split()
    need(len(faults) >= 3 and faults[0] == faults[1] and int(faults[0]) > 5, out)


def kernel_stacks(acu):
    out = dscript(acu, "-c", CALLS, "-n", "fbt::vfs_read:entry /execname == \"acu_dload\"/ { @[stack(3)] = count(); }")
    need(re.search(r"^ {14}vmlinux`\w*vfs_read", out, re.M) or re.search(r"^ {14}vmlinux`\w+read", out, re.M), out)


def descriptors(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::read:entry /execname == \"acu_dload\"/ { @[fds[arg0].fi_pathname, fds[arg0].fi_name, fds[arg0].fi_dirname] = count(); @none[fds[99].fi_pathname] = count(); }")
    same(out, f"\n  {'/dev/zero':<50}  {'zero':<50}  {'/dev':<50} {6:16d}\n" + key("<none>", 6))
    same(dscript.errors, "")
    out = dscript(acu, "-c", "/bin/sh -c 'cd /usr/lib; exec " + CALLS + "'", "-n", "syscall::getppid:entry /execname == \"acu_dload\"/ { @[cwd, root] = count(); }")
    same(out, f"\n  {os.path.realpath('/usr/lib'):<50}  {'/':<50} {5:16d}\n")


def callers(acu):
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_twice:entry { @[ufunc(ucaller)] = count(); }")
    same(out, "\n" + key("acu_dload`main", 10))
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_twice:entry /arg0 < 2/ { printf(\"%A \", ucaller); ufunc(ucaller); umod(ucaller); uaddr(ucaller); }")
    need(re.fullmatch(r"(acu_dload`main\+0x\w+   acu_dload`main +acu_dload +acu_dload`main\+0x\w+ *){2}", out), out)


def typed_arguments(acu):
    out = dscript(acu, "-c", CALLS, "-n", "rawtp:::sched_process_exit /args[0]->tgid == $target/ { @[args[0]->comm] = count(); }")
    same(out, "\n" + key("acu_dload", 1))
    for clause in ("fbt::vfs_read:entry { @[stringof(args[0]->f_path.dentry->d_name.name), args[2]] = count(); }", "vfs_read:entry", "::vfs_read:", "sched:::enqueue { @[args[2]->cpu_id] = count(); }",
                   "fbt::ip_rcv:entry { printf(\"%s\", inet_ntoa(&((struct iphdr *)arg0)->saddr)); }", "fbt::vfs_read:entry { @[caller] = count(); }"):
        dscript(acu, "-e", "-n", clause)


def address_in_memory(acu):
    """The peer of connect(2), as the program passes it."""
    code = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.9', 9))"
    script = os.path.join(FOLDER.name, "peer.py")
    open(script, "w").write(code)
    out = dscript(acu, "-c", "/usr/bin/python3 " + script, "-n", "syscall::connect:entry /pid == $target && arg2 == 16/ "
                  "{ this->to = (struct sockaddr_in *)copyin(arg1, sizeof (struct sockaddr_in)); printf(\"%s %d\\n\", inet_ntoa(&this->to->sin_addr.s_addr), ntohs(this->to->sin_port)); }")
    need("127.0.0.9 9\n" in out, out)


def tracepoints(acu):
    out = dscript(acu, "-c", CALLS, "-n", "sdt:syscalls::sys_enter_read /execname == \"acu_dload\"/ { @ = sum(args.count); }")
    same(out, f"\n {4146:16d}\n")


def user_probes(acu):
    if not os.path.exists("/usr/include/x86_64-linux-gnu/sys/sdt.h") and not os.path.exists("/usr/include/sys/sdt.h"):
        raise Skipped("no sys/sdt.h (package systemtap-sdt-dev)")
    for provider in ("shop$target", "shop*"):
        out = dscript(acu, "-c", CALLS, "-n", provider + ":::order-done { @[probename, copyinstr(arg1)] = sum(arg0); }")
        same(out, f"\n  {'order-done':<50}  {'item':<50} {6:16d}\n")


def probes_of_all_programs(acu):
    """Without a target, a pattern names the probes of all programs that run."""
    if not os.path.exists("/usr/include/x86_64-linux-gnu/sys/sdt.h") and not os.path.exists("/usr/include/sys/sdt.h"):
        raise Skipped("no sys/sdt.h (package systemtap-sdt-dev)")
    running = subprocess.Popen([LOAD, "burn", "600000"])
    try:
        tracer = subprocess.Popen([acu, "dscript", "-q", "--notify-attached", "attached", "-n", "shop*:::order-done { @[execname, copyinstr(arg1)] = sum(arg0); }"], stdout=subprocess.PIPE, text=True)
        need(tracer.stdout.readline() == "attached\n", "it was not attached")
        subprocess.run([LOAD, "calls"], check=True)
        tracer.send_signal(signal.SIGINT)
        out, _ = tracer.communicate(timeout=20 * SLOWNESS)
        same(out, f"\n  {'acu_dload':<50}  {'item':<50} {6:16d}\n")
    finally:
        running.kill()
        running.wait()
    done = subprocess.run([acu, "dscript", "-n", "nosuch*:::order-done"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 1 and "namespace `nosuch*`" in done.stderr, done.stderr)


def ends_of_text(acu):
    """Text with a length: the program that copies it ends it."""
    out = dscript(acu, "-c", "/bin/echo hello", "-n", "syscall::write:entry /execname == \"echo\"/ { this->s = (char *)copyin(arg1, arg2 + 1); this->s[4] = '\\0'; printf(\"[%s]\", stringof(this->s)); "
                  "this->s[arg2 - 1] = 0; printf(\"[%s]\", stringof(this->s)); }")
    need(out.endswith("[hell][hello]"), out)


def scratch_memory(acu):
    out = dscript(acu, "-c", "/bin/echo hello", "-n", "syscall::write:entry /execname == \"echo\"/ { this->p = alloca(16); copyinto(arg1, 5, this->p); printf(\"%s\", stringof(this->p)); }")
    need(out.startswith("hello"), out)
    code = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.9', 9))"
    script = os.path.join(FOLDER.name, "peer2.py")
    open(script, "w").write(code)
    out = dscript(acu, "-c", "/usr/bin/python3 " + script, "-n", "syscall::connect:entry /pid == $target && arg2 == 16/ { this->to = (struct sockaddr_in *)alloca(sizeof (struct sockaddr_in)); "
                  "copyinto(arg1, sizeof (struct sockaddr_in), this->to); this->a = (uint32_t *)alloca(4); *this->a = this->to->sin_addr.s_addr; printf(\"%s %d\\n\", inet_ntoa(this->a), ntohs(this->to->sin_port)); }")
    need("127.0.0.9 9\n" in out, out)
    out = dscript(acu, "-c", CALLS, "-n", "fbt::vfs_read:entry /execname == \"acu_dload\" && arg2 == 4096/ { this->f = (struct path *)alloca(sizeof (struct path)); bcopy(&args[0]->f_path, this->f, sizeof (struct path)); "
                  "printf(\"%s\\n\", stringof(this->f->dentry->d_name.name)); }")
    need("zero\n" in out, out)


def matched(acu):
    """How many probes each text of the command line has, and a file."""
    dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry /execname == \"acu_dload\"/ { n = 1; }", "-n", "syscall::read:,BEGIN{ }", "-P", "vminfo", quiet=False)
    need(dscript.errors.startswith("dtrace: description 'syscall::getppid:entry ' matched 1 probe\ndtrace: description 'syscall::read:,BEGIN' matched 3 probes\n"
                                   "dtrace: description 'vminfo' matched 7 probes\n"), dscript.errors)
    need(re.search(r"^dtrace: pid \d+ has exited$", dscript.errors, re.M), dscript.errors)
    for command, end in (("/bin/false", "exited with status 1"), ("/bin/sh -c 'kill -9 $$'", "terminated by SIGKILL")):
        dscript(acu, "-c", command, "-n", "proc:::exit { n = args[0]; }", quiet=False)
        need(dscript.errors.endswith(f" {end}\n"), dscript.errors)
    path = os.path.join(FOLDER.name, "matched.d")
    open(path, "w").write("#!/usr/sbin/dtrace -s\nBEGIN\n{\n\texit(0);\n}\n\nERROR, END, tick-1s,\nsyscall::openat:entry { }\n")
    dscript(acu, "-s", path, "-w", quiet=False)
    need(dscript.errors == f"dtrace: script '{path}' matched 5 probes\ndtrace: allowing destructive actions\n", dscript.errors)
    dscript(acu, "-s", path, "-n", "END", quiet=False)
    need(dscript.errors == f"dtrace: script '{path}' matched 5 probes\ndtrace: description 'END' matched 1 probe\n", dscript.errors)
    for quiet in (["-q"], ["-x", "quiet"]):
        dscript(acu, "-s", path, *quiet, quiet=False)
        same(dscript.errors, "")
    out = dscript(acu, "-c", CALLS, "-n", "pid$target:a.out:work_*:entry", quiet=False)
    need("dtrace: description 'pid$target:a.out:work_*:entry' matched 2 probes\n" in dscript.errors, dscript.errors)


def files(acu):
    """freopen() and ftruncate()."""
    path = os.path.join(FOLDER.name, "freopened")
    same(dscript(acu, "-w", "-n", f"BEGIN {{ printf(\"1\"); freopen(\"{path}.%d\", 7); printf(\"2\"); freopen(\"\"); printf(\"3\"); exit(0); }} END {{ freopen(\"{path}.7\"); @[4] = count(); }}"), "13")
    same(open(path + ".7").read(), "2\n" + number(4, 1))
    same(oct(os.stat(path + ".7").st_mode & 0o777), "0o600")
    same(dscript(acu, "-w", "-n", f"BEGIN {{ freopen(\"{path}.7\"); printf(\"old\"); ftruncate(); printf(\"new\"); exit(0); }}"), "")
    same(open(path + ".7").read(), "new")
    with open(path, "w") as to:
        subprocess.run([acu, "dscript", "-q", "-n", "tick-10ms { n++; printf(\"%d \", n); } tick-10ms /n == 4/ { ftruncate(); printf(\"last\"); exit(0); }"], stdout=to, check=True, timeout=30 * SLOWNESS)
    same(open(path).read(), "last")
    dscript(acu, "-o", path, "-n", "tick-10ms { n++; printf(\"%d \", n); } tick-10ms /n == 4/ { ftruncate(); printf(\"end\"); exit(0); }")
    same(open(path).read(), "end")
    dscript(acu, "-w", "-n", f"BEGIN {{ freopen(\"{FOLDER.name}\"); printf(\"here\"); exit(0); }}")
    need("freopen: cannot open" in dscript.errors, dscript.errors)


def data_of_writes(acu):
    out = dscript(acu, "-c", "dd if=/dev/zero of=/dev/null bs=5 count=1", "-n", "syscall::write:entry /execname == \"dd\" && arg0 == 2/ { @[stringof(copyin(arg1, arg2))] = count(); }")
    need("5 bytes copied" in out, out)
    out = dscript(acu, "-c", "/bin/echo hello", "-n", "syscall::write:entry /execname == \"echo\"/ { printf(\"[%S]\", stringof(copyin(arg1, arg2))); }")
    need("[hello\\n]" in out, out)


def connections(acu):
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); c = [socket.create_connection(s.getsockname()) for i in range(3)]; print(s.getsockname()[1], flush=True)"
    script = os.path.join(FOLDER.name, "connect.py")
    open(script, "w").write(code)
    out = dscript(acu, "-c", "/usr/bin/python3 " + script, "-n", "tcp:::connect-established /pid == $target/ { @[args[3]->tcps_rport] = count(); }")
    port = out.split()[0]
    need(out.endswith(number(int(port), 3)), out)


def addresses(acu):
    """Of both families; established connections have the packet that was received."""
    code = ("import socket\nfor family, host in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):\n"
            "    s = socket.create_server((host, 0), family=family)\n    c = socket.create_connection(s.getsockname()[:2], source_address=('127.0.0.7', 0) if family == socket.AF_INET else None)\n")
    script = os.path.join(FOLDER.name, "addresses.py")
    open(script, "w").write(code)
    if subprocess.run(["/usr/bin/python3", script], capture_output=True).returncode != 0:
        raise Skipped("no IPv6 address on lo")
    out = dscript(acu, "-c", "/usr/bin/python3 " + script, "-n", "tcp:::connect-established /pid == $target/ { printf(\"=%s %s %s %d %d\\n\", args[3]->tcps_raddr, args[3]->tcps_laddr, "
                  "args[2]->ip_saddr, args[2]->ip_ver, args[4]->tcp_sport == args[3]->tcps_rport); } "
                  "tcp:::connect-request /pid == $target/ { printf(\"-%s %s\\n\", args[2]->ip_saddr, args[2]->ip_daddr); }")
    need("=127.0.0.1 127.0.0.7 127.0.0.1 4 1\n" in out and "=::1 ::1 ::1 6 1\n" in out, out)
    need("127.0.0.1\n" in re.findall(r"^-\S+ (\S+\n)", out, re.M), out)


def devices(acu):
    """By name, as in /sys/class/block."""
    load = os.path.join(FOLDER.name, "synced")
    out = dscript(acu, "-c", f"dd if=/dev/zero of={load} bs=4k count=1 conv=fsync", "-n", "io:::start { @[args[1]->dev_statname, args[1]->dev_pathname] = count(); printf(\"%s %d\\n\", args[1]->dev_statname, args[0]->b_flags & (B_READ | B_WRITE)); }")
    lines = [line.split() for line in out.strip().split("\n") if line]
    if not lines:
        raise Skipped("no request of a block device")
    known = os.listdir("/sys/class/block")
    need(all(words[0] in known and (len(words) == 2 and int(words[1]) in (0, 64, 256) or words[1] == "/dev/" + words[0]) for words in lines), out)


def speculation(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::openat:entry /execname == \"acu_dload\"/ { self->s = speculation(); speculate(self->s); printf(\"%s\\n\", copyinstr(arg1)); } "
                  "syscall::openat:return /self->s && errno/ { commit(self->s); self->s = 0; } syscall::openat:return /self->s/ { discard(self->s); self->s = 0; }")
    same(out, "/nonexistent/file\n" * 3)


def destructive(acu):
    same(dscript(acu, "-w", "-n", "BEGIN { system(\"echo %d\", 6 * 7); exit(0); }"), "42\n")
    out = subprocess.run([acu, "dscript", "-n", "BEGIN { system(\"echo no\"); }"], capture_output=True, text=True)
    need(out.returncode == 1 and "destructive" in out.stderr and out.stdout == "", out.stderr)
    out = dscript(acu, "-w", "-c", CALLS, "-n", "syscall::getppid:entry /pid == $target/ { @ = count(); raise(SIGKILL); }")
    same(out, "\n" + f" {1:16d}\n")  # one of five calls


def formats(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry, syscall::read:entry /execname == \"acu_dload\"/ { @a[probefunc] = count(); @b[probefunc] = sum(2); } "
                  "END { printf(\"%-10s %5s %5s\\n\", \"CALL\", \"N\", \"TWICE\"); printa(\"%-10s %@5d %@5d\\n\", @a, @b); }")
    same(out, "CALL           N TWICE\ngetppid        5    10\nread           6    12\n")


def largest(acu):
    out = dscript(acu, "-c", CALLS, "-n", "syscall::openat:entry, syscall::read:entry, syscall::getppid:entry /execname == \"acu_dload\"/ { @[probefunc] = count(); } END { trunc(@, 2); }")
    same(out, "\n" + key("read", 6) + key("openat", 11))


def each_second(acu):
    out = dscript(acu, "-c", LOAD + " burn 250", "-n", "profile-199 /pid == $target/ { @ = count(); } tick-100ms { printa(\"%@d \", @); trunc(@); }")
    need(len(out.split()) >= 1 and sum(int(n) for n in out.split()) > 5, out)


def from_file(acu):
    path = os.path.join(FOLDER.name, "script.d")
    open(path, "w").write("#!/usr/sbin/dtrace -s\n#pragma D option quiet\nBEGIN { printf(\"%d %s\\n\", $1 * 2, $$2); exit(0); }\n")
    same(dscript(acu, "-s", path, "21", "word"), "42 word\n")
    same(dscript(acu, path, "4", "x", quiet=False), "8 x\n")
    done = subprocess.run([acu, "run", path, "5", "y"], capture_output=True, text=True)
    need(done.stdout == "10 y\n" and done.stderr == "", done.stdout + done.stderr)


def of_a_process(acu):
    """-p: the target's own calls, until it ends."""
    load = subprocess.Popen(["/bin/sh", "-c", f"read x; exec {CALLS}"], stdin=subprocess.PIPE)
    tracer = subprocess.Popen([acu, "dscript", "-q", "--notify-attached", "attached", "-p", str(load.pid), "-n",
                               "syscall::getppid:entry /execname == \"acu_dload\"/ { @[execname] = count(); }"], stdout=subprocess.PIPE, text=True)
    need(tracer.stdout.readline() == "attached\n", "it was not attached")
    load.communicate(b"go\n")
    out, _ = tracer.communicate(timeout=20 * SLOWNESS)
    same(out, "\n" + key("acu_dload", 5))


def lists(acu):
    out = dscript(acu, "-l", "-n", "syscall::open*:entry", quiet=False)
    need(re.search(r"^ +1 +syscall +vmlinux +openat entry$", out, re.M) and " open entry" in out, out)
    same(dscript(acu, "-l", "-n", "BEGIN", quiet=False).split("\n")[1].split(), ["1", "dtrace", "BEGIN"])
    everything = dscript(acu, "-l", quiet=False)
    for words in ("dtrace BEGIN", "syscall vmlinux openat return", "proc exec-success", "io start"):
        need(re.search(r"^ +\d+ +" + words.replace(" ", " +") + "$", everything, re.M), f"no {words} in\n{everything[:2000]}")
    out = dscript(acu, "-l", "-n", "getppid:entry", quiet=False) # without a provider
    same(out.split("\n")[1].split(), ["1", "syscall", "vmlinux", "getppid", "entry"])


def descriptions(acu):
    out = dscript(acu, "-c", CALLS, "-f", "syscall::getppid /execname == \"acu_dload\"/ { @[probename] = count(); }")
    same(out, "\n" + key("entry", 5) + key("return", 5))


def interrupted(acu):
    """Ctrl-C prints what there is."""
    tracer = subprocess.Popen([acu, "dscript", "-q", "--notify-attached", "attached", "-n", "BEGIN { @ = sum(5); }  tick-1s { } END { printf(\"end\"); }"],
                              stdout=subprocess.PIPE, text=True)
    need(tracer.stdout.readline() == "attached\n", "it was not attached")
    time.sleep(0.2)
    tracer.send_signal(signal.SIGINT)
    out, _ = tracer.communicate(timeout=20 * SLOWNESS)
    same(out, f"end\n {5:16d}\n")


def progeny(acu):
    for of in ("$target", "$pid"):
        out = dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry /progenyof(" + of + ")/ { @[execname] = count(); }")
        same(out, "\n" + key("acu_dload", 5))


def flow(acu):
    """-F: entries and returns of a program that stays on one CPU."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        out = dscript(acu, "-F", "-c", CALLS, "-n", "pid$target:a.out:work_twice:entry, pid$target:a.out:work_twice:return", quiet=False)
    finally:
        os.sched_setaffinity(0, cpus)
    lines = out.rstrip("\n").split("\n")
    need(lines[0].split() == ["CPU", "FUNCTION"] and len(lines) == 21, out)
    for n, line in enumerate(lines[1:]):
        need(line.split()[1:] == (["->", "work_twice"] if n % 2 == 0 else ["<-", "work_twice"]) and line.index("work_twice") == 8, out)


def preprocessor(acu):
    if not shutil.which("cpp"):
        raise Skipped("no cpp (package cpp)")
    header = os.path.join(FOLDER.name, "limit.h")
    open(header, "w").write("#ifndef LIMIT\n#define LIMIT 5\n#endif\ntypedef struct pair { int a, b; } pair_t;\nint some_function(int);\n")
    path = os.path.join(FOLDER.name, "macros.d")
    open(path, "w").write("#!/usr/sbin/dtrace -Cs\n#pragma D option quiet\n#include \"limit.h\"\n#define TWICE(x) ((x) * 2)\npair_t p;\n"
                          "BEGIN { p.a = TWICE(LIMIT); printf(\"%d %d\\n\", p.a, sizeof (pair_t)); exit(0); }\n")
    same(dscript(acu, "-C", "-s", path), "10 8\n")
    same(dscript(acu, "-C", "-DLIMIT=7", "-s", path), "14 8\n")
    same(dscript(acu, "-C", "-D", "N=3", "-n", "BEGIN { trace(N); exit(0); }"), "3")
    open(path, "a").write("BEGIN { trace(TWICE(nothing)); }\n")
    done = subprocess.run([acu, "dscript", "-C", "-s", path], capture_output=True, text=True, timeout=30 * SLOWNESS)
    need(done.returncode == 1 and "macros.d:7:" in done.stderr, f"the line of the mistake is not 7\n{done.stderr}")
    done = subprocess.run([acu, "dscript", "-D", "N=3", "-n", "BEGIN"], capture_output=True, text=True, timeout=30 * SLOWNESS)
    need(done.returncode == 2 and "add -C" in done.stderr, done.stderr)


def refused(acu):
    for clause, message in (("plockstat:::mutex-block", "not supported on Linux"), ("syscall::read:entry { stop(); }", "destructive action"),
                            ("pid$target::main:entry", "-p PID"), ("fbt:::entry", "every function")):
        done = subprocess.run([acu, "dscript", "-n", clause], capture_output=True, text=True, timeout=30 * SLOWNESS)
        need(done.returncode == 1 and message in done.stderr, f"{clause}: {done.returncode} {done.stderr}")
    done = subprocess.run([acu, "dscript", "-x", "errtags", "-n", "BEGIN { trace(nosuch); }"], capture_output=True, text=True, timeout=30 * SLOWNESS)
    need(done.returncode == 1 and "ERROR: [D_IDENT_UNDEF] there is no variable" in done.stderr, done.stderr)


def faults(acu):
    """Reads that fail in a program that goes on: a line for each, and the clauses of ERROR."""
    out = dscript(acu, "-c", CALLS, "-n", "syscall::getppid:entry /pid == $target/ { @ok = count(); } syscall::getppid:entry /pid == $target/ { trace(copyinstr(16)); @never = count(); } "
                  "dtrace:::ERROR { @faults[arg1, arg2, arg4, arg5] = count(); }")
    need(out.count("\n") == 3 and " 5\n" in out and f" {16:16d} {5:16d}\n" in out, out)
    same(dscript.errors, "dtrace: error on enabled probe ID 1 (ID 1: syscall:vmlinux:getppid:entry): invalid address (0x10) in action #1\n" * 5)


def script_test(path):
    """A script of the folder `scripts`: RUN: words of the command line (SCRIPT is the file), EXPECT: lines as regular expressions, NEVER: those that may not be there."""

    def test(acu):
        text = open(path).read()
        words = shlex.split(re.search(r"RUN: (.*)", text)[1].replace("LOAD", LOAD))
        words = [path if word == "SCRIPT" else word for word in words] if "SCRIPT" in words else words + ["-s", path]
        out = dscript(acu, *words, quiet=False)
        for wanted in re.findall(r"EXPECT: (.*)", text):
            need(re.search(wanted, out, re.M), f"no line {wanted!r} in\n{out}")
        for unwanted in re.findall(r"NEVER: (.*)", text):
            need(not re.search(unwanted, out, re.M), f"{unwanted!r} is in\n{out}")

    return "scripts/" + os.path.basename(path), test


TESTS = [calls_by_process, calls_by_name, returns_by_name, opens_by_path, failed_opens, read_sizes, bytes_by_process, asked_sizes, latency, function_arguments, function_results,
         functions_by_pattern, text_arguments, entry_to_return, order_of_returns, user_stacks, profile, profile_places, ticks, ticks_by_name, exit_status, lines_by_default, functions_in_lines,
         new_processes, typed_values, counters, probes_of_all_programs, ends_of_text, scratch_memory, matched, files, arguments, parents, threads, exits, signals, off_cpu, kernel_functions, kernel_stacks, descriptors, callers, typed_arguments, address_in_memory, tracepoints, user_probes, data_of_writes, connections, addresses, devices, speculation, destructive, formats, largest, each_second,
         from_file, of_a_process, lists, descriptions, interrupted, progeny, flow, preprocessor, refused, faults]


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    subprocess.run(["gcc", "-O1", "-g", "-static", "-o", LOAD, os.path.join(HERE, "load.c")], check=True)
    tests = [(t.__name__, t) for t in TESTS] + [script_test(path) for path in sorted(glob.glob(os.path.join(HERE, "scripts", "*.d")))]
    return run_tests([(name, test) for name, test in tests if only in name], acu)


sys.exit(main())
