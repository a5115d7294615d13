#!/usr/bin/env python3
"""Names of code in processes that come and go: run.py ACU [--filter TEXT]

Each test runs real programs under a script that counts user stacks (or addresses), and looks for the names when the
programs, and often their files, are long gone. Last line: `N passed, N failed, N skipped`.
"""
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Wrong, need, require, require_real_time, run_suite
import tracing

TMP = tempfile.mkdtemp(prefix="acu-life-")
os.chmod(TMP, 0o755)
MARK = os.getpid()  # the argument of the calls that count: other programs make the same call, those of this suite run elsewhere too
FRAMES = ["-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", f"-DMARK={MARK}"]
STACKS = f"tracepoint:syscalls:sys_enter_getpgid /args.pid == {MARK}/ {{ @[ustack] = count() }}"
NOBODY = 65534


def path(*names):
    return os.path.join(TMP, *names)


def build(source, name, *options, link=()):
    """Compiles once; gives the program's path."""
    out = path(name)
    if not os.path.exists(out):
        subprocess.run(["gcc", *FRAMES, *options, "-o", out, os.path.join(HERE, source), *link], check=True, timeout=60 * SLOWNESS)
    return out


def victim(name, *options, pad=None):
    """A program that calls from NAME_outer and NAME_inner; by its padding its addresses are those of no other one."""
    pad = pad or sum(name.encode()) % 61
    return build("victim.c", f"victim_{name}{pad}{''.join(options)}", "-DNAME=" + name, f"-DPAD={pad}", *options)


def library(name):
    return build("victim.c", f"lib{name}.so", "-DNAME=" + name, "-DPAD=" + str(sum(name.encode()) % 61), "-DLIBRARY", "-shared", "-fPIC")


def run(*words, **more):
    return subprocess.run([str(w) for w in words], timeout=60 * SLOWNESS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def ms(count):
    """How long a program goes on, that acu may get to see it also where all takes longer."""
    return round(count * SLOWNESS)


def trace(acu, script, during, options=(), limit=60 * SLOWNESS):
    def keep(pid):
        trace.pid = pid

    return tracing.trace([acu, "run", "--notify-attached", tracing.ATTACHED, *options, "-e", script], path("cache"), during, limit, keep)


def free_id():
    """A process id that nobody has, far from those given out next."""
    most = int(open("/proc/sys/kernel/pid_max").read())
    last = int(open("/proc/loadavg").read().split()[4])
    while True:
        pid = random.randrange(1000, most)
        if not os.path.exists(f"/proc/{pid}") and (pid - last) % most > 3000:
            return pid


def stacks(text, name="@"):
    """Each stack as its lines, with its count."""
    found = re.findall(r"^" + name + r"\[\n((?: .+\n)*)\]: (\d+)$", text, re.M)
    return [([line.strip() for line in frames.strip().split("\n")], int(count)) for frames, count in found]


def count_of(text, name):
    """How many stacks were counted that run through NAME_inner, NAME_outer and main, in this order."""
    total = 0
    for frames, count in stacks(text):
        names = [frame.split("+")[0] for frame in frames]
        if names[:3] == [name + "_inner", name + "_outer", "main"]:
            total += count
    return total


def all_named(text):
    """Every frame, except those of libraries without names above main."""
    for frames, _ in stacks(text):
        below_main = frames[:next((i for i, f in enumerate(frames) if f.startswith("main+")), len(frames))]
        need(not [f for f in below_main if f.startswith("0x")], "a frame without a name:\n" + text[:1500])
    need(stacks(text), "no stack at all:\n" + text)


# ------------------------------------------------------------------------------------------------ short lives


def lives_20_ms(acu):
    text, _ = trace(acu, STACKS, lambda: [run(victim("alpha"), 20) for _ in range(3)])
    all_named(text)
    need(count_of(text, "alpha") >= 6, text)


def lives_2_ms(acu):
    text, _ = trace(acu, STACKS, lambda: [run(victim("alpha"), 2) for _ in range(20)])
    all_named(text)
    need(count_of(text, "alpha") >= 20, text)


def lives_one_call(acu):
    text, _ = trace(acu, STACKS, lambda: [run(victim("alpha"), 0) for _ in range(50)])
    all_named(text)
    need(count_of(text, "alpha") == 50, text)


def command_of_the_session(acu):
    text = subprocess.run([acu, "run", "-c", victim("alpha") + " 0", "-e", STACKS], capture_output=True, text=True,
                          timeout=30 * SLOWNESS).stdout
    need(count_of(text, "alpha") == 1, text)


def forked_but_not_executed(acu):
    """A shell that ran before, whose children end at once: they have its code, and none of their own."""
    script = "tracepoint:syscalls:sys_enter_exit_group /comm == \"acu-forker\"/ { @[ustack(1)] = count() }"
    forker = subprocess.Popen([sys.executable, "-c",
                               "import os,sys\nopen('/proc/self/comm','w').write('acu-forker')\n"
                               "for line in sys.stdin:\n  os.waitpid(os.fork() or os._exit(0), 0)\nos.kill(os.getpid(), 9)\n"],
                              stdin=subprocess.PIPE, text=True)

    def drive():
        forker.stdin.write("\n" * 10)
        forker.stdin.close()
        forker.wait(timeout=20 * SLOWNESS)

    text, _ = trace(acu, script, drive)
    need(sum(count for frames, count in stacks(text) if frames[0].startswith("_exit+")) == 10, text)


def ran_before_and_ends_at_its_first_stack(acu):
    """Nothing was known of it when it was gone, had it not been looked at before."""
    script = "tracepoint:syscalls:sys_enter_exit_group /comm == \"acu-waiter\"/ { @[ustack(1)] = count() }"
    waiter = subprocess.Popen([sys.executable, "-c",
                               "import os,sys\nopen('/proc/self/comm','w').write('acu-waiter')\n"
                               "sys.stdin.read()\nos._exit(0)"], stdin=subprocess.PIPE)

    def drive():
        time.sleep(0.3)
        waiter.stdin.close()
        waiter.wait(timeout=20 * SLOWNESS)

    text, _ = trace(acu, script, drive)
    need([frames[0].split("+")[0] for frames, _ in stacks(text)] == ["_exit"], text)


# ------------------------------------------------------------------------------------- files that are not there


def running(copy_of, during):
    """Runs a copy of a program and calls `during` with its path 50 ms later."""
    copy = path("copy")
    shutil.copy(copy_of, copy)
    process = subprocess.Popen([copy, str(ms(200))])
    time.sleep(0.05)
    during(copy)
    process.wait(timeout=20 * SLOWNESS)


def renamed_over(acu):
    def replace(copy):
        shutil.copy(victim("beta"), copy + ".new")
        os.rename(copy + ".new", copy)

    text, _ = trace(acu, STACKS, lambda: running(victim("alpha"), replace))
    need(count_of(text, "alpha") > 50 and "beta" not in text, text)


def deleted(acu):
    text, _ = trace(acu, STACKS, lambda: running(victim("alpha"), os.unlink))
    need(count_of(text, "alpha") > 50, text)


def deleted_before_the_session(acu):
    copy = path("copy")
    shutil.copy(victim("alpha"), copy)
    process = subprocess.Popen([copy, str(ms(800))])
    os.unlink(copy)
    shutil.copy(victim("beta"), copy)
    text, _ = trace(acu, STACKS, lambda: process.wait(timeout=20 * SLOWNESS))
    os.unlink(copy)
    need(count_of(text, "alpha") > 10 and "beta" not in text, text)


def deleted_after_2_ms(acu):
    def many():
        for i in range(20):
            copy = path(f"copy{i}")
            shutil.copy(victim("alpha"), copy)
            run(copy, 2)
            os.unlink(copy)

    text, _ = trace(acu, STACKS, many)
    need(count_of(text, "alpha") >= 19, text)


def overwritten_in_place(acu):
    """A program file cannot be written while it runs, but right afterwards."""
    def overwrite():
        copy = path("copy")
        shutil.copy(victim("alpha"), copy)
        run(copy, ms(100))
        with open(victim("beta"), "rb") as other, open(copy, "r+b") as file:
            file.write(other.read())
        run(copy, ms(50))
        os.unlink(copy)

    text, _ = trace(acu, STACKS, overwrite)
    all_named(text)
    need(count_of(text, "alpha") > 10 and count_of(text, "beta") > 10, text)


def library_overwritten_in_place(acu):
    def overwrite():
        copy = path("libcopy.so")
        shutil.copy(library("alpha"), copy)
        run(loader(), copy, "alpha_outer")
        time.sleep(0.1)
        with open(library("beta"), "rb") as other, open(copy, "r+b") as file:
            file.write(other.read())
        run(loader(), copy, "beta_outer")

    text, _ = trace(acu, STACKS, overwrite)
    need("alpha_inner" in text and "beta_inner" in text, text)


# --------------------------------------------------------------------------------------------- other root folders


def fill_root(folder, program):
    """A root folder that has the program and copies of the libraries it needs."""
    needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)
    for library_path in needed:
        target = folder + library_path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.realpath(library_path), target)
    shutil.copy(program, os.path.join(folder, "program"))


def with_own_library():
    """A program that gets its function from a library of its own."""
    out = path("uses_library")
    if not os.path.exists(out):
        library("own")
        subprocess.run(["gcc", *FRAMES, "-o", out, os.path.join(HERE, "loader.c"), "-L" + TMP, "-lown",
                        "-Wl,-rpath," + TMP], check=True, timeout=60 * SLOWNESS)
    return out


def loader():
    return with_own_library()


def chroot_with_own_libraries(acu):
    root = path("root")
    os.makedirs(root)
    fill_root(root, with_own_library())
    # Under the same paths something else lies outside.
    outside = "/program"
    need(not os.path.exists(outside), outside + " is there")

    def drive():
        for _ in range(10):
            run("chroot", root, "/program")
        shutil.rmtree(root)

    text, _ = trace(acu, STACKS, drive)
    named = sum(count for frames, count in stacks(text) if frames[0].startswith("own_inner+") and
                frames[1].startswith("own_outer+") and any(f.startswith("main+") for f in frames))
    need(named >= 7, text)  # of processes that end at once, on a machine that may be busy


def probes_of_a_process_after_chroot(acu):
    """Its files have other paths for us than for it."""
    root = path("other_root")
    os.makedirs(root)
    fill_root(root, "/bin/sleep")
    target = subprocess.Popen(["chroot", root, "/program", "60"])
    try:
        time.sleep(0.3 * SLOWNESS)
        script = 'uprobe:libc:nanosleep { } begin { print("attached"); exit() }'
        done = subprocess.run([acu, "run", "-p", str(target.pid), "-e", script], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need("attached" in done.stdout, done.stdout + done.stderr)
    finally:
        target.kill()
        target.wait()
        shutil.rmtree(root)


def mount_namespace(acu):
    """Another file at the same path."""
    inside, seen = path("inside"), path("seen")
    os.makedirs(inside)
    os.makedirs(seen)
    shutil.copy(victim("alpha"), os.path.join(inside, "program"))
    shutil.copy(victim("beta"), os.path.join(seen, "program"))
    program = os.path.join(seen, "program")

    def drive():
        for ms in (2, 2, 2, 2, 30):
            run("unshare", "-m", "sh", "-c", f"mount --bind {inside} {seen} && exec {program} {ms}")
        run(program, 30)

    text, _ = trace(acu, STACKS, drive)
    all_named(text)
    need(count_of(text, "alpha") >= 15 and count_of(text, "beta") >= 10, text)


def pid_namespace(acu):
    """Its processes have other ids there, and so do their perf maps."""
    program, made = victim("alpha"), build("jit.c", "jit")
    def drive():
        for _ in range(5):
            run("unshare", "-pf", program, 2)
        run("unshare", "-pf", "--mount-proc", made, ms(200), "made_inside")

    text, _ = trace(acu, STACKS, drive)
    if os.path.exists("/tmp/perf-1.map"):
        os.unlink("/tmp/perf-1.map")
    need(count_of(text, "alpha") >= 5, text)
    need(re.search(r"made_inside\+", text), text)


def temporary_folder_of_its_own(acu):
    """It goes with its namespace, and the perf map in it."""
    made, folder = build("jit.c", "jit"), path("own_tmp")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(made, folder)
    text, _ = trace(acu, STACKS, lambda: run("unshare", "-pfm", "sh", "-c", f"mount --bind {folder} /tmp && exec /tmp/jit {ms(200)} made_inside"))
    need(re.search(r"made_inside\+", text), text)


def session_in_a_pid_namespace(acu):
    """There processes have numbers that are not the kernel's own."""
    command = ["unshare", "-pf", "--mount-proc", acu, "run", "-c", victim("alpha") + " 20", "-e", STACKS]
    text = subprocess.run(command, capture_output=True, text=True, timeout=30 * SLOWNESS).stdout
    need(count_of(text, "alpha") >= 2, text)


def thread_of_a_pid_namespace(acu):
    program = build("victim.c", "threaded", "-DNAME=alpha", "-DTHREAD", link=["-lpthread"])
    text, _ = trace(acu, STACKS, lambda: run("unshare", "-pf", program, ms(20)))
    need(sum(count for frames, count in stacks(text) if frames[0].startswith("alpha_inner+") and
             frames[1].startswith("alpha_outer+")) >= 10, text)


# ------------------------------------------------------------------------------------------------ changing code


def library_opened_later(acu):
    libraries = [library("alpha"), "alpha_outer", library("beta"), "beta_outer", library("alpha"), "alpha_outer"]
    text, _ = trace(acu, STACKS, lambda: [run(loader(), *libraries) for _ in range(3)])
    all_named(text)
    for name, times in (("own", 3), ("alpha", 6), ("beta", 3)):
        got = sum(count for frames, count in stacks(text) if frames[0].startswith(name + "_inner+") and
                  frames[1].startswith(name + "_outer+"))
        need(got == times, f"{name}: {got} of {times}\n{text}")


def trace_all_changes(acu, script, during, options=()):
    """Where a busy machine lets acu miss what processes do, which it says, it cannot know whose code it was: that is another test."""
    for _ in range(5):
        text, err = trace(acu, script, during, options)
        if not re.search(r"WARNING: lost \d+ process event", err):
            break
    return text


def all_are_there(acu, programs):
    for script in (STACKS, STACKS.replace("ustack", "ustack(fp)")):
        for options in ([], ["--no-feature", "task_registers"]):
            text = trace_all_changes(acu, script, lambda: run(*programs), options)
            all_named(text)
            for name in ("alpha", "beta", "gamma"):
                need(count_of(text, name) >= 1, f"{name} is not there ({script} {options}):\n{text}")


def executed_twice(acu):
    all_are_there(acu, [victim("alpha"), ms(5), victim("beta"), ms(5), victim("gamma"), ms(5)])


def executed_twice_at_the_same_addresses(acu):
    """Where nothing is left to chance, stacks of different programs are made of equal numbers."""
    programs = []
    for name in ("alpha", "beta", "gamma"):
        programs += [victim(name, "-static", "-no-pie", pad=7), ms(5)]
    all_are_there(acu, programs)


def process_id_used_again(acu):
    spawn = build("spawn.c", "spawn")
    pid = free_id()
    programs = [victim("alpha"), ms(5), victim("beta"), ms(5), victim("gamma"), ms(5)]
    done = []
    text = trace_all_changes(acu, STACKS, lambda: done.append(run(spawn, pid, *programs)))
    if done[0].returncode == 2:
        return "the kernel does not let process ids be chosen"
    all_named(text)
    for name in ("alpha", "beta", "gamma"):
        need(count_of(text, name) >= 1, name + " is not there:\n" + text)


# ------------------------------------------------------------------------------------------ interpreters and JITs


def named_apart(program):
    """The path of a program under a name, which its threads get, that no other process has."""
    link = path(f"{os.path.basename(program)[:7]}{MARK}")
    if not os.path.lexists(link):
        os.symlink(os.path.realpath(program), link)
    return link


def remove_maps(before):
    """What programs of these tests wrote beside `before`; others that still run keep theirs."""
    for file in set(glob.glob("/tmp/perf-*.map")) - before:
        if not os.path.exists("/proc/" + re.search(r"\d+", file)[0]):
            os.unlink(file)


def addresses(acu, command, what, during=None):
    """Names of the addresses at which samples of a command met it: name -> samples."""
    command = [named_apart(command[0]), *command[1:]]
    program = os.path.basename(command[0])
    script = f"profile:hz:499 /comm == \"{program}\" && reg(\"ip\") < 0x800000000000/ {{ @[{what}] = count() }}"
    def drive():
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=TMP)
        try:
            process.wait(timeout=40 * SLOWNESS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return trace(acu, script, drive)[0]


def debug_file_of(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w\w)(\w+)", notes)
    return build_id and os.path.exists(f"/usr/lib/debug/.build-id/{build_id.group(1)}/{build_id.group(2)}.debug")


def share_of_named(text):
    rows = re.findall(r"^@\[(.*)\]: (\d+)$", text, re.M)
    total = sum(int(n) for _, n in rows)
    need(total >= 50, "too few samples:\n" + text[:1500])
    return sum(int(n) for name, n in rows if "0x" not in name) / total


def python_frames(acu):
    interpreter = "/usr/bin/python3.11"
    if not os.path.exists(interpreter):
        return "no " + interpreter
    # The file itself names what it exports; the package with its debug information (python3.11-dbg) names the rest.
    least = 0.95 if debug_file_of(interpreter) else 0.2
    text = addresses(acu, [interpreter, "-c", "n = 0\nfor i in range(6000000): n += len(str(i))"], 'usym(reg("ip"))')
    need(share_of_named(text) > least and "_PyEval_EvalFrameDefault" in text, f"{share_of_named(text):.2f} named\n{text[:3000]}")


def perl_frames(acu):
    text = addresses(acu, ["/usr/bin/perl", "-e", "my $n = 0; for my $i (1..6000000) { $n += length($i) }"], 'usym(reg("ip"))')
    need(share_of_named(text) > 0.7 and "Perl_" in text, f"{share_of_named(text):.2f} named\n{text[:3000]}")


def node_frames(acu):
    node = shutil.which("node")
    if not node:
        return "no node"
    require_real_time("JIT compilers take minutes")
    before = set(glob.glob("/tmp/perf-*.map"))
    script = "function hotFunction(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }\n" \
             "const end = Date.now() + 800; while (Date.now() < end) hotFunction(100000)"
    text = addresses(acu, [node, "--perf-basic-prof", "-e", script], 'usym(reg("ip"))')
    need(share_of_named(text) > 0.7 and len(re.findall(r"^@\[JS:.*\]: ", text, re.M)) > 4 and "hotFunction" in text,
         f"{share_of_named(text):.2f} named\n{text[:3000]}")
    text = addresses(acu, [node, "--perf-basic-prof", "-e", script], "ustack")
    need(any(re.match("JS:.*(hotFunction|eval)", f[0]) for f, _ in stacks(text)), text[:3000])
    remove_maps(before)


def node_jitdump(acu):
    """The other way to tell names: a file that the program maps to make it known."""
    node = shutil.which("node")
    if not node:
        return "no node"
    script = "function hotFunction(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }\n" \
             "const end = Date.now() + 600; while (Date.now() < end) hotFunction(100000)"
    text = addresses(acu, [node, "--perf-prof", "-e", script], 'usym(reg("ip"))')
    need(share_of_named(text) > 0.7 and re.search(r"^@\[.*hotFunction.*\]: ", text, re.M),
         f"{share_of_named(text):.2f} named\n{text[:3000]}")


def java_frames(acu):
    """The JVM writes its perf map when it ends. A program that comes with it and computes for a second."""
    if not shutil.which("keytool"):
        return "no Java"
    keytool = named_apart(shutil.which("keytool"))
    require_real_time("JIT compilers take minutes")
    before = set(glob.glob("/tmp/perf-*.map"))
    options = ["-J-XX:+UnlockDiagnosticVMOptions", "-J-XX:+DumpPerfMapAtExit", "-J-XX:+PreserveFramePointer"]
    words = ["-genkeypair", "-keyalg", "RSA", "-keysize", "3072", "-dname", "CN=a", "-storepass", "secret", "-alias"]
    script = f'profile:hz:499 /comm == "{os.path.basename(keytool)}" && reg("ip") < 0x800000000000/ ' \
             '{ @[usym(reg("ip"))] = count(); @stacks[ustack] = count() }'

    def drive():
        run(keytool, *options, *words, "key", "-keystore", path("keys"))

    text, _ = trace(acu, script, drive)
    remove_maps(before)
    need(share_of_named(text) > 0.8 and "java.math." in text, f"{share_of_named(text):.2f} named\n{text[:3000]}")
    need(any(f[0].startswith("java.") for f, _ in stacks(text, "@stacks")), text[-3000:])


# ------------------------------------------------------------------------------------------- perf maps of all kinds


def made(acu, *words, before=None, limit=30):
    """The stacks of a program that makes code; `before` gets the id that it will have, to lay out its map."""
    program = build("jit.c", "jit")
    spawn = build("spawn.c", "spawn")
    pid = free_id()
    if before:
        before(f"/tmp/perf-{pid}.map")
    start = time.monotonic()
    command = path("wrapped")
    with open(command, "w") as file:
        file.write("#!/bin/sh\nexec " + program + " " + " ".join(words) + "\n")
    os.chmod(command, 0o755)
    text, _ = trace(acu, STACKS, lambda: run(spawn, pid, command, 0), limit=limit)
    took = time.monotonic() - start
    try:
        os.unlink(f"/tmp/perf-{pid}.map")
    except OSError:
        pass
    need(stacks(text), "no stack at all:\n" + text)
    return text, took


def perf_map(acu):
    text, _ = made(acu, "20", "acu_made")
    need(re.search(r"^        acu_made\+16$", text, re.M), text)


def perf_map_written_at_the_end(acu):
    text, _ = made(acu, "20", "acu_made", "late")
    need(re.search(r"^        acu_made\+16$", text, re.M), text)


def perf_map_is_a_pipe(acu):
    text, took = made(acu, "20", "acu_made", "none", before=os.mkfifo)
    need("acu_made" not in text and took < 10, text)


def perf_map_is_a_link_to_a_device(acu):
    text, took = made(acu, "20", "acu_made", before=lambda p: os.symlink("/dev/zero", p))
    need("acu_made" not in text and took < 10, text)


def perf_map_is_a_link(acu):
    """The program itself writes through it, but where it leads is anybody's choice."""
    text, _ = made(acu, "20", "acu_made", before=lambda p: os.symlink(path("elsewhere.map"), p))
    need(os.path.getsize(path("elsewhere.map")) and "acu_made" not in text, text)


def perf_map_of_another_user(acu):
    text, _ = made(acu, "20", "acu_made", "given")
    need("acu_made" not in text, text)


def perf_map_of_ten_million_lines(acu):
    text, took = made(acu, "20", "acu_made", before=lambda p: run(build("jit.c", "jit"), "lines", 10000000, p), limit=60)
    need(re.search(r"^        acu_made\+16$", text, re.M), text)
    need(took < 30, f"{took:.1f} s")


def perf_map_being_written(acu):
    """Half a line at the end is left for later; what was read before stays."""
    stop = threading.Event()

    def writer(place):
        def write():
            while not stop.is_set() and not os.path.exists(place):
                time.sleep(0.001)
            with open(place, "a") as file:
                i = 0
                while not stop.is_set():
                    for half in (f"{0x10000000 + i * 64:x} 40 acu_other_{i} with some mo", "re words\n"):
                        file.write(half)
                        file.flush()
                    i += 1
        threading.Thread(target=write).start()

    try:
        text, took = made(acu, "50", "acu_made", before=writer)
    finally:
        stop.set()
    need("acu_made+16" in text and took < 20, text)


# -------------------------------------------------------------------------------------------------- what it costs


def many_processes(acu):
    """Hundreds of processes a second: every one is named, and no change is lost."""
    program = victim("alpha")
    text, err = trace(acu, STACKS, lambda: run("sh", "-c", f"for i in $(seq 500); do {program} 0; done"), options=["-v"])
    all_named(text)
    need(count_of(text, "alpha") == 500, text[-500:])
    found = re.search(r"^processes: (\d+) events, (\d+) lost; (\d+) known", err, re.M)
    need(found and int(found.group(1)) >= 1500 and found.group(2) == "0", err[-500:])


def changes_are_lost(acu):
    """More happens than there is room for, while nobody reads: it is told, and what comes later has its names."""
    def drive():
        os.kill(trace.pid, signal.SIGSTOP)
        run(loader(), library("alpha"), "alpha_outer", env=dict(os.environ, TIMES="9000"))
        os.kill(trace.pid, signal.SIGCONT)
        time.sleep(0.5)  # until there is room again; the kernel tells of a loss with what comes next on that CPU
        for cpu in os.sched_getaffinity(0):
            run("taskset", "-c", cpu, victim("beta"), 5)

    text, err = trace(acu, STACKS, drive)
    need(re.search(r"^WARNING: lost \d+ process events?", err, re.M), err)
    need(count_of(text, "beta") >= 1, text)


def only_when_names_are_asked_for(acu):
    """Other scripts open nothing that follows processes."""
    for script, wanted in (("tracepoint:syscalls:sys_enter_getpgid { @ = count() }", False),
                           ("tracepoint:syscalls:sys_enter_getpgid { @[kstack] = count() }", False),
                           ("tracepoint:syscalls:sys_enter_getpgid { @[ustack(raw, fp)] = count() }", False), (STACKS, True)):
        _, err = trace(acu, script, lambda: None, options=["-v"])
        need(("\nprocesses: " in err) == wanted, script + ":\n" + err)


def ends_while_calls_go_on(acu, program, others=()):
    """Its return probes are in a function that does not return, and in one that this calls all the time."""
    running = []

    def during():
        running.append(subprocess.Popen([program, str(ms(90_000))]))
        time.sleep(1)

    script = " ".join(f"uretprobe:{program}:{f} {{ @{f} = count() }}" for f in ("main", *others))
    try:
        return trace(acu, script, during)
    finally:
        for process in running:
            process.kill()
            process.wait()


def call_that_does_not_return(acu):
    text, err = ends_while_calls_go_on(acu, victim("delta"), ["delta_outer"])
    need(re.search(r"^@delta_outer: \d\d+$", text, re.M), text)
    need("still detaching" not in err, err)


def call_that_does_not_return_and_another_tracer(acu):
    program = victim("epsilon")
    trace(acu, f"uretprobe:{program}:epsilon_outer {{ @ = count() }}", lambda: ends_while_calls_go_on(acu, program))


TESTS = [
    call_that_does_not_return, call_that_does_not_return_and_another_tracer, lives_20_ms, lives_2_ms, lives_one_call, command_of_the_session, forked_but_not_executed,
    ran_before_and_ends_at_its_first_stack, renamed_over, deleted, deleted_before_the_session, deleted_after_2_ms,
    overwritten_in_place, library_overwritten_in_place, chroot_with_own_libraries, probes_of_a_process_after_chroot, mount_namespace, pid_namespace, temporary_folder_of_its_own,
    session_in_a_pid_namespace, thread_of_a_pid_namespace, library_opened_later, executed_twice, executed_twice_at_the_same_addresses,
    process_id_used_again, python_frames, perl_frames, node_frames, node_jitdump, java_frames, perf_map, perf_map_written_at_the_end,
    perf_map_is_a_pipe, perf_map_is_a_link_to_a_device, perf_map_is_a_link, perf_map_of_another_user,
    perf_map_of_ten_million_lines, perf_map_being_written, many_processes, changes_are_lost, only_when_names_are_asked_for,
]


sys.exit(run_suite(TESTS, TMP))
