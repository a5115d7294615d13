#!/usr/bin/env python3
"""Recordings and flame graphs: run.py ACU [--filter TEXT]

Real programs are recorded, and what acu says of them is compared with what they measured themselves; every format is
written and read back; the page is opened in a browser without a screen. Last line: `N passed, N failed, N skipped`.
"""
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import browser
import page_cases
from tally import Skipped as Skip, Wrong, need, run_suite, wait_until_attached

TMP = tempfile.mkdtemp(prefix="acu-flame-")
ACU = os.path.abspath(sys.argv[1])


def path(*names):
    return os.path.join(TMP, *names)


def build_of(source, *options):
    out = path(source.split(".")[0] + "".join(options).replace("/", "_"))
    if not os.path.exists(out):
        subprocess.run(["g++", "-O2", "-g", *options, "-o", out, os.path.join(HERE, source)], check=True, timeout=120)
    return out


def build(*options):
    return build_of("hot.cc", *options)


def hot():
    return build("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")


def acu(*words, status=0, limit=120, **more):
    done = subprocess.run([ACU, *[str(w) for w in words]], capture_output=True, text=True, timeout=limit, cwd=TMP, **more)
    need(status is None or done.returncode == status,
         f"status {done.returncode} of acu {' '.join(map(str, words))[:200]}: {done.stderr.strip()[:500]}")
    return done


def report(file, *options):
    return json.loads(acu("report", file, "--json", "--top", "100000", *options).stdout)


def total_of(about, name):
    return sum(f["total"] for f in about["functions"] if f["name"] == name)


def share_of(about, name):
    return total_of(about, name) / max(1, about["total"])


def wait_until_recording(pid, limit=60):
    """acu follows processes with one perf event a CPU, and opens more for its samples once it listens to signals."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            events = [fd for fd in os.listdir(f"/proc/{pid}/fd") if "perf_event" in os.readlink(f"/proc/{pid}/fd/{fd}")]
        except OSError:
            events = []
        if len(events) > os.cpu_count():
            return
        time.sleep(0.02)
    raise Wrong("acu does not record")


def wait_for_text(file, text, limit=60):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if text in open(file).read():
            return
        time.sleep(0.02)
    raise Wrong(f"no `{text}` in: {open(file).read()}")


RECORDED = {}


def recording():
    """One recording of the program that most tests look at, and what it measured itself."""
    if not RECORDED:
        out = path("hot.acu")
        done = acu("record", "-F", "999", "-o", out, "--", hot(), 4000)
        RECORDED.update(file=out, told=done.stderr, measured=[int(n) for n in re.findall(r"\d+", done.stdout)])
    return RECORDED


# ------------------------------------------------------------------------------------------------ what is recorded


def shares_are_right():
    RECORDED.clear()  # a second try looks at a recording of its own
    about = report(recording()["file"])
    hot_ns, cold_ns = recording()["measured"]
    measured = hot_ns / (hot_ns + cold_ns)
    hot_part, cold_part = total_of(about, "hot"), total_of(about, "cold")
    need(about["samples"] > 1000, f"only {about['samples']} samples")
    share = hot_part / (hot_part + cold_part)
    chance = 4 * math.sqrt(measured * (1 - measured) / about["samples"])  # four standard deviations of a share that is sampled
    need(abs(share - measured) < chance, f"hot {share:.3f}, as the program measured {measured:.3f} (chance: {chance:.3f})")
    need(share_of(about, "hot") + share_of(about, "cold") > 0.9, "most of the time is in neither")


def inlined_calls_have_names():
    about = report(recording()["file"])
    rows = [f for f in about["functions"] if f["name"] == "stir"]
    need(rows and rows[0]["kind"] == "inlined", str(about["functions"][:5]))
    need(rows[0]["self"] / about["total"] > 0.8, str(rows))


def header_tells_what_is_missing():
    told = recording()["told"]
    for part in ("samples ", "lost ", "stacks complete ", "frames named ", "acu itself", "of memory", "wrote "):
        need(part in told, f"no `{part}` in:\n{told}")
    about = report(recording()["file"])
    need(about["lost"] == 0, str(about["lost"]))
    need(about["own_memory"] > 0 and about["own_cpu_ns"] > 0, "its own cost is not told")


def command_gives_its_status():
    acu("flame", "-q", "-o", path("status.html"), "--", hot(), 50, 7, status=7)
    acu("flame", "-q", "-o", path("status.html"), "--", "sh", "-c", "kill -TERM $$", status=128 + 15)
    acu("flame", "-q", "-o", path("status.html"), "--", "/nowhere/at-all", status=2)


def children_of_the_command_count():
    out = path("children.acu")
    acu("record", "-F", "999", "-o", out, "--", "sh", "-c", f"{hot()} 300 & {hot()} 300; wait")
    processes = {p["where"]: p["total"] for p in report(out)["processes"] if p["name"].startswith("hot")}
    need(len(processes) == 2, str(processes))


def interrupt_writes_the_results():
    program = subprocess.Popen([hot(), "600000"], stdout=subprocess.DEVNULL)
    try:
        out = path("interrupted.folded")
        recorder = subprocess.Popen([ACU, "record", "-F", "999", "-p", str(program.pid), "-o", out], stderr=subprocess.PIPE, text=True)
        wait_until_recording(recorder.pid)
        time.sleep(1.5)
        recorder.send_signal(signal.SIGINT)
        told = recorder.communicate(timeout=60)[1]
        need(recorder.returncode == 0, told)
        need("hot" in open(out).read(), "no stack of the program")
    finally:
        program.kill()
        program.wait()


def process_that_ends():
    program = subprocess.Popen([hot(), "1500"], stdout=subprocess.DEVNULL)
    out = path("ended.acu")
    acu("record", "-F", "999", "-p", program.pid, "-o", out, limit=60)
    program.wait()
    need(share_of(report(out), "stir") > 0.5, "names of a process that has ended are missing")


def process_that_execs():
    """Both programs have the same process id, and both have their names."""
    other = build("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-Dhot=warm", "-Dstir=shake")
    out = path("exec.acu")
    acu("record", "-F", "999", "-o", out, "--", "sh", "-c", f"exec {sys.executable} -c \"import os,subprocess\n"
        f"n=0\nfor i in range(3000000): n+=i\nos.execv('{other}', ['{other}', '800'])\"")
    about = report(out)
    need(share_of(about, "shake") > 0.2, str(about["functions"][:8]))
    need(any("PyEval" in f["name"] or "python" in f["where"] for f in about["functions"]), str(about["functions"][:12]))


def program_that_is_replaced():
    copy = path("replaced")
    shutil.copy(hot(), copy)
    out = path("replaced.acu")
    program = subprocess.Popen([copy, "600000"], stdout=subprocess.DEVNULL)
    try:
        recorder = subprocess.Popen([ACU, "record", "-F", "499", "-p", str(program.pid), "-o", out], stderr=subprocess.PIPE)
        wait_until_recording(recorder.pid)
        time.sleep(1)
        os.unlink(copy)
        shutil.copy("/bin/true", copy)
        time.sleep(0.5)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=60)
        need(share_of(report(out), "hot") > 0.3, "names come from the file that lies there now")
    finally:
        program.kill()
        program.wait()


def many_short_lives():
    """Thousands of processes that end at once: acu neither fails nor grows, and names what it saw."""
    out = path("short.acu")
    script = "i=0\nwhile [ $i -lt 10000 ]; do\n  (:); i=$((i+1)); done"
    acu("record", "-F", "999", "-o", out, "--", "sh", "-c", script, limit=200)
    about = report(out)
    need(about["samples"] > 50, str(about["samples"]))
    need(share_of(about, "[not mapped]") < 0.05, "code of processes that have ended is not known")
    need(about["own_memory"] < 80 << 20, str(about["own_memory"]))
    need("i=0 while [ $i" in about["what"], about["what"])


def all_processes():
    program = subprocess.Popen([hot(), "600000"], stdout=subprocess.DEVNULL)
    try:
        out = path("all.acu")
        acu("record", "-a", "-F", "499", "--duration", "1500ms", "-o", out)
        about = report(out)
        need(any(p["name"].startswith("hot") for p in about["processes"]), str(about["processes"][:5]))
        need(not any("swapper" in p["name"] for p in about["processes"]), "idle CPUs were counted")
    finally:
        program.kill()
        program.wait()


def has_processes(user):
    return subprocess.run(["pgrep", "-u", user], capture_output=True).returncode == 0


def acu_is_left_out():
    """Of all processes it shows all others; it looks at the maps each 100 ms."""
    for options, is_there in (([], False), (["--include-acu"], True)):
        process = subprocess.Popen([ACU, "record", "tracepoint:syscalls:sys_enter_bpf", "-a", "--split", "100ms", "--duration", "1s", "-q", "-o", path("own.acu"), *options])
        need(process.wait(timeout=60) == 0 or not is_there, "no recording")  # without acu there may be nothing to record
        found = [p for p in report(path("own.acu"))["processes"] if p["where"] == str(process.pid)]
        need(bool(found) == is_there, f"{options}: {found}")


def waits_are_ranked_by_the_program():
    """First is what the program did or what it waited for, not how the kernel waits."""
    sleeps = acu("flame", "offcpu", "--top", 2, "-q", "-o", "sleeps.acu", "--", build_of("sleeper.cc", "-fno-omit-frame-pointer", "-pthread"), 1000).stdout
    need(set(re.findall(r"%.*  (\S+)  sleeper", sleeps)) == {"nap", "sleeper()"}, sleeps)
    locks = acu("flame", "lock", "--top", 1, "-q", "-o", "locks.acu", "--", build_of("locked.cc", "-pthread"), 60).stdout
    need(re.findall(r"%.*s  (.*)", locks) == ["[waits for g_index_lock]"], locks)


def user_without_processes():
    out = path("nobody.acu")
    acu("record", "-u", "nobody", "--duration", "100ms", "-o", out, status=None if has_processes("nobody") else 1)
    if not has_processes("nobody"):
        need(report(out)["total"] == 0, "samples of other users")
    done = acu("record", "-u", "nobdy", status=2)
    need("did you mean `nobody`" in done.stderr, done.stderr)


# ------------------------------------------------------------------------------------------------ other kinds


def waiting_has_its_time():
    """A thread that sleeps has the time it was away, under the function that called."""
    out = path("waiting.acu")
    program = build_of("sleeper.cc", "-fno-omit-frame-pointer", "-pthread")
    done = acu("record", "offcpu", "-o", out, "--", program, 2000)
    slept = int(done.stdout.split()[1])
    about = report(out)
    need(about["unit"] == "ns", about["unit"])
    waited = total_of(about, "main")
    need(abs(waited - slept) < 0.15 * slept, f"main {waited / 1e9:.3f} s, the program measured {slept / 1e9:.3f} s")
    notes = {f["name"] for f in about["functions"] if f["kind"] == "note"}
    need("[waiting]" in notes and notes & {"[run queue]", "[preempted]"}, str(notes))


def sampled_and_all(text, most, share):
    """Of at least `most` events no more than one in `share` had its stack taken, as acu says."""
    events = re.search(r"stacks were taken for (\d+) of (\d+) events", text)
    need(events and int(events[2]) >= most and int(events[1]) < int(events[2]) / share, text)


def short_waits_are_sampled():
    """Of waits that are many and short few have stacks, and their times add up all the same."""
    out = path("switches.acu")
    done = acu("record", "offcpu", "-F", 5000, "-o", out, "--", build_of("switcher.cc", "-pthread"), 100000)
    away, queued = map(int, done.stdout.split())
    about = report(out)
    told = [f for f in about["functions"] if f["name"].startswith("hand_over(")][0]["total"]
    need(abs(told - away) < 0.02 * away, f"told {told / 1e9:.3f} s, the program measured {away / 1e9:.3f} s")
    notes = {f["name"]: f["total"] for f in about["functions"] if f["kind"] == "note"}
    on_queue = notes.get("[run queue]", 0) + notes.get("[preempted]", 0)
    # To the kernel a thread is in the queue also while acu looks at the switch that ends that, and not yet while it looks at the one before.
    need(0.98 * queued - about["own_kernel_ns"] < on_queue < 1.02 * queued + about["own_kernel_ns"], f"in the run queue {on_queue / 1e9:.3f} s, and as the kernel counts {queued / 1e9:.3f} s")
    sampled_and_all(done.stderr, 50000, 5)
    acu("report", out, "-o", path("switches.folded"))
    stacks = [line.rpartition(" ") for line in open(path("switches.folded"))]
    in_read = sum(int(weight) for frames, _, weight in stacks if ";read;" in frames and frames.endswith("[waiting]"))
    need(in_read > 0.9 * notes["[waiting]"], f"of {notes['[waiting]']} ns of waits {in_read} are in read()")
    for frames, _, weight in stacks: # who rings may have to let the other go first
        need(";read;" in frames or ";write;" in frames or int(weight) < 0.01 * told, f"{weight} ns of {told} in {frames}")
    need(any("pipe_read" in f["name"] for f in about["functions"] if f["kind"] == "kernel"), "the kernel's stack is not there")


def locks_have_names():
    """Who waits for a lock, and who lets wait: both under the lock's name, with the function that took it."""
    program = build_of("locked.cc", "-pthread")
    out = path("lock.acu")
    waited = int(acu("record", "lock", "-o", out, "--", program, 60).stdout.split()[1])
    about = report(out)
    told = total_of(about, "[waits for g_index_lock]")
    need(about["unit"] == "ns" and abs(told - waited) < 0.1 * waited, f"waited {waited / 1e9:.3f} s, told {told / 1e9:.3f} s")
    need(total_of(about, "rebuild_index") == told, "waits outside of rebuild_index")
    need(total_of(about, "main") == 0, f"main waited {total_of(about, 'main') / 1e9:.3f} s for threads, which are no locks")
    acu("record", "holder", "-o", out, "--", program, 60)
    about = report(out)
    told = total_of(about, "[unblocks waiters of g_index_lock]")
    need(told > 0 and total_of(about, "rebuild_index") == told, f"held {told / 1e9:.3f} s")


def threads_whose_return_is_not_seen():
    """Without restartable sequences, as programs of Go and of musl are: the same times, and each stack in the call that waits."""
    unseen = ("env", "GLIBC_TUNABLES=glibc.pthread.rseq=0")
    out, folded = path("unseen.acu"), path("unseen.folded")
    done = acu("record", "offcpu", "-F", 5000, "-o", out, "--", *unseen, build_of("switcher.cc", "-pthread"), 100000)
    away = int(done.stdout.split()[0])
    acu("report", out, "-o", folded)
    stacks = [line.rpartition(" ") for line in open(folded) if ";hand_over(" in line]
    told = sum(int(weight) for _, _, weight in stacks)
    need(abs(told - away) < 0.03 * away, f"told {told / 1e9:.3f} s, the program measured {away / 1e9:.3f} s")
    wrong = [s for s in stacks if ";read;" not in s[0] and ";write;" not in s[0] and int(s[2]) > 0.01 * told]
    need(not wrong and any(s[0].endswith("[waiting]") for s in stacks), f"{wrong}")
    done = acu("record", "lock", "-o", out, "--", *unseen, build_of("locked.cc", "-pthread"), 60)
    about = report(out)
    waited, told = int(done.stdout.split()[1]), total_of(about, "[waits for g_index_lock]")
    need(abs(told - waited) < 0.1 * waited, f"waited {waited / 1e9:.3f} s, told {told / 1e9:.3f} s")
    need(total_of(about, "main") == 0, "waits for threads are no waits for locks")


def times_off_the_cpu_are_whole():
    """Eight threads at one mutex: as long off their CPUs as the clock and the kernel's own count say, to 2%."""
    out = path("mutex.acu")
    done = acu("record", "offcpu", "-o", out, "--", build_of("locked.cc", "-pthread"), 60)
    away, told = int(done.stdout.split()[3]), total_of(report(out), "take_turns")
    need(abs(told - away) < 0.02 * away, f"told {told / 1e9:.3f} s, the threads measured {away / 1e9:.3f} s")


def waits_that_end_on_another_cpu():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one CPU")
    out = path("moved.acu")
    words = acu("record", "offcpu", "-o", out, "--", build_of("mover.cc", "-pthread"), 60).stdout.split()
    away, moved = int(words[1]), int(words[3])
    need(moved > 30, f"moved {moved} times")
    told = total_of(report(out), "wait_and_move")
    need(abs(told - away) < 0.02 * away, f"told {told / 1e9:.3f} s, the thread measured {away / 1e9:.3f} s")


def target_that_ends_while_it_waits():
    """It is killed in a wait, which counts up to there."""
    program = subprocess.Popen([sys.executable, "-c", "import time\nprint(flush=True)\nwhile True: time.sleep(0.2)"], stdout=subprocess.PIPE)
    program.stdout.readline()
    out = path("gone.acu")
    recorder = subprocess.Popen([ACU, "record", "offcpu", "-p", str(program.pid), "-o", out], stderr=subprocess.PIPE, text=True)
    try:
        wait_until_attached(recorder.pid)
        time.sleep(1.1)
        program.kill()
        told = recorder.communicate(timeout=60)[1]
    finally:
        for process in (program, recorder):
            process.kill()
            process.wait()
    need(recorder.returncode == 0 and "wrote " in told, told)
    about = report(out)
    need(total_of(about, "[waiting]") > 8e8, str(about["functions"][:9]))


def waits_without_an_end():
    """Of a process that hangs nothing is recorded, and it is told what shows where."""
    program = subprocess.Popen(["sleep", "1000"])
    try:
        time.sleep(0.3)
        told = acu("record", "offcpu", "-p", program.pid, "--duration", "300ms", "-o", path("hangs.acu"), status=1).stderr
        need(f"run `acu snap -p {program.pid}`" in told, told)
        need("acu record: nothing was recorded" in told, told)
    finally:
        program.kill()
        program.wait()


def who_ended_a_wait_stands_above():
    """The waker's stack, innermost function first, above the waiter's; an interrupt has no stack but its own."""
    out = path("offwake.folded")
    done = acu("record", "offcpu", "--waker", "-o", out, "--", build_of("sleeper.cc", "-fno-omit-frame-pointer", "-pthread"), 2000)
    slept = int(done.stdout.split()[1])
    woken = {True: 0, False: 0}
    for line in open(out):
        stack, weight = line.rsplit(" ", 1)
        below, _, above = stack.partition(";[woken by ")
        functions = above.split(";")
        if ";sleeper()" in below and functions[0].startswith("sleeper"):
            need("try_to_wake_up_[k]" in functions and functions[-1] == "_start" and "main" in functions, stack)
            woken[True] += int(weight)
        if ";nap;" in below:
            need(functions[0] == "an interrupt]" and "main" not in functions, stack)
            woken[False] += int(weight)
    for who, told in woken.items():  # the program counts until it has a CPU again, and not what is between its naps
        need(0.6 * slept < told < 1.15 * slept, f"woken by {'main' if who else 'the clock'}: {told / 1e9:.3f} s of {slept / 1e9:.3f} s")
    need("WARNING" not in done.stderr, done.stderr)


def wakers_are_named():
    out = path("wakers.acu")
    program = build_of("sleeper.cc", "-fno-omit-frame-pointer", "-pthread")
    acu("record", "wakeup", "-a", "-o", out, "--", program, 300)
    notes = {f["name"] for f in report(out)["functions"] if f["kind"] == "note"}
    need(any(n.startswith("[wakes sleeper") for n in notes), str(notes))


def faults_are_counted():
    """As many as the kernel counts, though few have stacks."""
    out = path("faults.acu")
    done = acu("record", "faults", "-o", out, "--", build_of("chatty.cc"), 400000)
    about, counted = report(out), int(done.stdout.split()[1])
    told = total_of(about, "touch(int)") or sum(f["total"] for f in about["functions"] if f["name"].startswith("touch"))
    need(about["unit"] == "faults" and abs(told - counted) < 0.03 * counted, f"{told} {about['unit']}, the kernel counted {counted}")
    sampled_and_all(done.stderr, 100000, 5)


def many_events_are_sampled():
    """Bytes written in 400,000 calls: the total is exact, shares are within what samples allow, few events have stacks."""
    out = path("chatty.acu")
    done = acu("record", "file", "-o", out, "--", build_of("chatty.cc"), 400000)
    about, written = report(out), int(done.stdout.split()[0])
    told = total_of(about, "[writes /dev/null]")
    need(abs(told - written) < 0.02 * written, f"{told} bytes, the program wrote {written}")
    talked = sum(f["total"] for f in about["functions"] if f["name"].startswith("talk"))
    need(abs(talked / told - 0.75) < 0.06, f"{talked / told:.3f} of the bytes, and not 0.75")
    sampled_and_all(done.stderr, 50000, 5)  # fewer than all where probes are attached part of the time
    done = acu("record", "file", "--exact", "-o", out, "--", build_of("chatty.cc"), 4000)
    told, written = total_of(report(out), "[writes /dev/null]"), int(done.stdout.split()[0])
    need(told == written and "stacks were taken for" not in done.stderr, f"{told} of {written} bytes: {done.stderr}")
    refused = acu("record", "cpu", "--exact", "-o", out, "--", "true", status=2).stderr
    need("--exact" in refused, refused)


def share_attached(text):
    found = re.search(r"probes were attached ([\d.]+)% of the time to limit overhead: totals are estimates", text)
    need(found, text)
    return float(found[1])


def gaps_of_a_duty_cycle_are_counted():
    """Calls so many that probes are attached for a part of the time: the kernel's own count tells what was written in the gaps."""
    out = path("gaps.acu")
    done = acu("record", "file", "-o", out, "--", build_of("chatty.cc"), 4000, 5)
    about, written = report(out), int(done.stdout.split()[0])
    told = total_of(about, "[writes /dev/null]")
    need(share_attached(done.stderr) < 80, done.stderr)
    need(abs(told - written) < 0.05 * written, f"{told} bytes, the program wrote {written}")
    talked = sum(f["total"] for f in about["functions"] if f["name"].startswith("talk"))
    need(abs(talked / told - 0.75) < 0.06, f"{talked / told:.3f} of the bytes, and not 0.75")
    done = acu("record", "file", "--exact", "-o", out, "--", build_of("chatty.cc"), 4000, 2)
    need("were attached" not in done.stderr, done.stderr)


def cost_is_estimated():
    """Before the recording, by 0.2 s of the same. How near it comes depends on what else runs: bench/overhead.py measures that."""
    program = subprocess.Popen([build_of("switcher.cc", "-pthread"), "100000000"], stdout=subprocess.DEVNULL)
    try:
        out = path("estimated.acu")
        done = acu("record", "offcpu", "--exact", "-p", program.pid, "--duration", "2s", "-o", out)
        about = report(out)
        told = float(re.search(r"estimated overhead of recording: ([\d.]+)% of a CPU", done.stderr)[1])
        need(told > 0 and about["own_kernel_ns"] > 0, f"estimated {told}%, took {about['own_kernel_ns']} ns")
        refused = acu("record", "offcpu", "--exact", "--max-cost", 1, "-p", program.pid, "--duration", "2s", "-o", out, status=1)
        need("above the limit of `--max-cost`" in refused.stderr, refused.stderr)
    finally:
        program.kill()
        program.wait()


def time_on_and_off_the_cpu_adds_up():
    """Of a thread that works and sleeps, both are in one picture, and their sum is the time that passed."""
    out = path("wall.acu")
    work = "import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end:\n  x = sum(range(200000)); time.sleep(0.01)"
    acu("record", "--kind", "cpu,offcpu", "-F", 499, "-o", out, "--", sys.executable, "-c", work)
    about = report(out)
    passed = about["duration_ns"]
    # The recording begins before the program does and ends after it.
    need(about["unit"] == "ns" and 0.98 * 3e9 < about["total"] < 1.02 * passed, f"{about['total'] / 1e9:.3f} s of {passed / 1e9:.3f} s")
    waited = total_of(about, "[waiting]")
    need(0.02 * passed < waited < 0.98 * passed, f"waited {waited / 1e9:.3f} s of {passed / 1e9:.3f} s")
    refused = acu("record", "--kind", "cpu,alloc", "-o", out, "--", "true", status=2).stderr
    need("cpu,offcpu" in refused, refused)


def locks_in_shared_memory_have_places():
    memory, out = path("pool"), path("shared.acu")
    program = subprocess.Popen([build_of("shared_lock.cc", "-pthread"), memory, "100000"])
    try:
        acu("record", "lock", "-p", program.pid, "--duration", "1s", "-o", out)
    finally:
        program.kill()
        program.wait()
    notes = {f["name"] for f in report(out)["functions"] if f["kind"] == "note"}
    need(f"[waits for {memory}+0x40]" in notes, str(notes))


def acu_goes_before_others():
    """While it records, so that a busy host does not keep it from reading in time; not when it makes names of what it has read."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    recorder = subprocess.Popen([ACU, "record", "offcpu", "-a", "-o", path("before.acu")], stderr=subprocess.DEVNULL)
    try:
        wait_until_attached(recorder.pid)
        nice = os.getpriority(os.PRIO_PROCESS, recorder.pid)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=60)
    need(nice < 0, f"nice value {nice}")
    shown = acu("record", "cpu", "-o", path("nice.acu"), "--", sys.executable, "-c",
                "import os\nsum(range(10**7))\nprint(os.getpriority(os.PRIO_PROCESS, 0))").stdout
    need(shown.strip() == str(os.getpriority(os.PRIO_PROCESS, 0)), f"the command's nice value is {shown}")


def pieces_of_io_have_kinds():
    """What a disk is asked to discard is not written."""
    image = path("discarded")
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    loop = subprocess.run(["losetup", "--show", "-f", image], capture_output=True, text=True)
    if loop.returncode:
        raise Skip(f"no loop device: {loop.stderr.strip()}")
    device, out = loop.stdout.strip(), path("kinds.acu")
    try:
        script = f"blkdiscard -o 0 -l 8388608 {device} && dd if=/dev/zero of={device} bs=1M count=2 oflag=direct && dd if={device} of=/dev/null bs=1M count=3 iflag=direct"
        done = acu("record", "io", "--exact", "-o", out, "--", "sh", "-c", script, status=None)
        if "not supported" in done.stderr:
            raise Skip("the loop device discards nothing")
        about = report(out)
        for note, size in (("[discards]", 8 << 20), ("[writes to disk]", 2 << 20)):
            need(total_of(about, note) == size, f"{note}: {total_of(about, note)}, and not {size}: {done.stderr}")
        need(3 << 20 <= total_of(about, "[reads from disk]") < 6 << 20, str(about["functions"][:9]))
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


def bytes_to_disk_are_counted():
    out = path("io.acu")
    file = path("written")
    write = f"import os\nf = os.open('{file}', os.O_WRONLY | os.O_CREAT)\nos.write(f, bytes(8 << 20))\nos.fsync(f)"
    acu("record", "io", "-a", "-o", out, "--", sys.executable, "-c", write)
    if subprocess.run(["stat", "-f", "-c", "%T", TMP], capture_output=True, text=True).stdout.strip() in ("tmpfs", "overlayfs"):
        raise Skip("files here are on no disk")
    about = report(out)
    need(about["unit"] == "bytes" and about["total"] >= 8 << 20, f"{about['total']} {about['unit']}")


def writes_have_their_writer():
    """What is written into memory is charged to who writes it, what the disk takes for it to who asks the disk."""
    if not os.path.exists("/sys/kernel/tracing/events/writeback/writeback_dirty_folio"):
        raise Skip("this kernel has no tracepoint for dirtied pages")
    if subprocess.run(["stat", "-f", "-c", "%T", TMP], capture_output=True, text=True).stdout.strip() in ("tmpfs", "overlayfs"):
        raise Skip("files here are on no disk")
    out, file = path("dirty.acu"), path("dirtied")
    write = (f"import os\nf = os.open('{file}', os.O_WRONLY | os.O_CREAT)\nfor i in range(8): os.write(f, bytes(1 << 20))\n"
             f"os.fsync(f)\nos.unlink('{file}')")
    acu("record", "dirty", "-o", out, "--", sys.executable, "-c", write)
    about = report(out)
    written = total_of(about, "ksys_write")
    need(8 << 20 <= written <= 9 << 20, f"{written} {about['unit']}")
    acu("record", "iotime", "-o", out, "--", sys.executable, "-c", write)
    about = report(out)
    need(about["unit"] == "ns" and total_of(about, "[writes to disk]") > 1e4, str(about["functions"][:9]))
    need(any("fsync" in f["name"] for f in about["functions"]), str(about["functions"][:20]))


def bytes_of_peers_are_counted():
    """Ten times 1,000 bytes to oneself: sent once, received once."""
    if not os.path.exists("/sys/kernel/tracing/events/sock/sock_send_length"):
        raise Skip("this kernel has no socket tracepoints")
    talk = ("import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\n"
            "p = s.accept()[0]\nfor i in range(10): c.sendall(bytes(1000))\nn = 0\n"
            "while n < 10000: p.recv(10, socket.MSG_PEEK); n += len(p.recv(4096))")
    out = path("net.acu")
    acu("record", "net", "-o", out, "--", sys.executable, "-c", talk)
    about = report(out)
    for note in ("[sends to 127.0.0.1]", "[receives from 127.0.0.1]"):
        need(total_of(about, note) == 10000, f"{note}: {total_of(about, note)} of {about['total']} {about['unit']}")
    tracing = [f["name"] for f in about["functions"] if f["name"].startswith(("call_trace_", "__traceiter_"))]
    need(not tracing, f"the kernel's way to the probe is part of the stacks: {tracing}")


def files_have_paths():
    """Bytes read and written by path: of plain calls, of those that pass from file to file, of files without a name."""
    folder, out = path("deep", "er"), path("file.acu")
    os.makedirs(folder)
    program = f"""import os
f = os.open('{folder}/data', os.O_RDWR | os.O_CREAT)
for i in range(100): os.pwrite(f, bytes(1000), 0)
for i in range(50): os.preadv(f, [bytearray(500), bytearray(500)], 0)
g = os.open('{folder}/copy', os.O_RDWR | os.O_CREAT)
os.sendfile(g, f, 0, 700)
os.unlink('{folder}/copy')
os.pread(g, 70, 0)
r, w = os.pipe()
os.write(w, bytes(3000))
h = os.open('/dev/null', os.O_WRONLY)
os.write(h, bytes(12345))
"""
    acu("record", "file", "-o", out, "--", sys.executable, "-c", program)
    about = report(out)
    for note, size in ((f"[writes {folder}/data]", 100000), (f"[reads {folder}/data]", 50700), (f"[writes {folder}/copy]", 700),
                       (f"[reads {folder}/copy]", 70), ("[writes /dev/null]", 12345)):
        need(total_of(about, note) == size, f"{note}: {total_of(about, note)}, and not {size}")
    need(not any("3000" in str(f["total"]) for f in about["functions"] if f["kind"] == "note"), "a pipe is no file")


def files_without_room_are_counted():
    folder, out = path("many"), path("many.acu")
    os.makedirs(folder)
    program = f"import os\nfor i in range(17000):\n  f = os.open('{folder}/%d' % i, os.O_RDWR | os.O_CREAT)\n  os.write(f, b'x')\n  os.close(f)"
    done = acu("record", "file", "--exact", "-o", out, "--", sys.executable, "-c", program)
    about = report(out)
    others = total_of(about, "[writes other files]")
    named = sum(f["total"] for f in about["functions"] if f["name"].startswith(f"[writes {folder}/"))
    need(600 < others < 3000 and others + named == 17000, f"{named} and {others} bytes")
    noted = re.search(r"(\d+) reads and writes are counted under \[other files\]", done.stderr)
    need(noted and others <= int(noted[1]) < others + 100, f"{others} bytes: {done.stderr}")
    need(about["lost"] == 0, done.stderr)
    shutil.rmtree(folder)


def locks_of_the_kernel_have_kinds():
    """Processes that write to one file take turns at its lock."""
    if not os.path.exists("/sys/kernel/tracing/events/lock/contention_begin"):
        raise Skip("this kernel has no lock tracepoints")
    out, file = path("klock.acu"), path("contended")
    write = f"import os\nfor i in range(3): os.fork()\nf = os.open('{file}', os.O_RDWR | os.O_CREAT)\nfor i in range(20000): os.pwrite(f, bytes(4096), 0)"
    acu("record", "klock", "-o", out, "--", sys.executable, "-c", write)
    about = report(out)
    told = total_of(about, "[waits for a rw_semaphore, to write]")
    need(told > 1e6 and about["unit"] == "ns", f"{told} {about['unit']}")
    need(any("write" in f["name"] for f in about["functions"] if f["kind"] == "kernel"), str(about["functions"][:9]))
    hide = 'mount -t tmpfs none /sys/kernel/tracing/events/lock && exec "$0" flame klock'
    done = subprocess.run(["unshare", "-m", "sh", "-c", hide, ACU], capture_output=True, text=True, timeout=60)
    need(done.returncode == 5 and "needs the tracepoint lock:contention_begin, available from Linux 5.19" in done.stderr, done.stderr)


def probes_have_weights():
    out = path("weights.acu")
    read = "import os\nf = os.open('/dev/zero', os.O_RDONLY)\nfor i in range(100): os.read(f, 1000)"
    acu("record", "tracepoint:syscalls:sys_exit_read", "--weight", "args.ret == 1000 ? 1000 : 0", "-o", out, "--", sys.executable, "-c", read)
    need(report(out)["total"] == 100000, str(report(out)["total"]))
    acu("record", "tracepoint:syscalls:sys_enter_getpgid", "-o", out, "--", sys.executable, "-c", "import os\nfor i in range(77): os.getpgid(0)")
    need(report(out)["total"] >= 77 and report(out)["unit"] == "hits", str(report(out)["total"]))


def scripts_draw_their_maps():
    """flame(): any map with stacks in its keys; its file by the title, in the format of an ending."""
    script = path("draws.bt")
    with open(script, "w") as out:
        out.write("""tracepoint:syscalls:sys_exit_read /pid == cpid && args.ret == 1000/ {
  @bytes[comm, args.ret, ustack] = sum(args.ret); @both[stack] = count();
}
end { flame(@bytes, "Bytes read", "bytes"); flame(@both, "both.folded"); clear(@bytes); clear(@both) }
""")
    read = f"{sys.executable} -c \"import os\nf = os.open('/dev/zero', os.O_RDONLY)\nfor i in range(100): os.read(f, 1000)\""
    told = acu("run", script, "-c", read).stderr
    need("wrote bytes-read.html" in told and "wrote both.folded" in told, told)
    lines = open(path("both.folded")).read().strip().split("\n")
    need(sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 100, str(lines)[:500])
    need(all(line.startswith("@both;") and "_start;" in line and "do_syscall_64" in line for line in lines), str(lines)[:500])
    page = open(path("bytes-read.html")).read()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1])
    need(data["about"]["unit"] == "bytes" and data["about"]["title"] == "Bytes read", str(data["about"]))
    need(sum(data["samples"][2::3]) == 100000, str(data["samples"]))
    need(any(t.endswith(", 1000") for t in data["texts"]), str(data["texts"][:20]))


# ------------------------------------------------------------------------------------------------ memory


def leaks_of(program, requests, environment=None):
    """What acu tells of a server that forgets, recorded while it answers; and what it told on the way."""
    server = subprocess.Popen([program, str(requests)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **(environment or {})})
    need(server.stdout.readline() == "ready\n", "the server did not start")
    out, told = path("leaks.acu"), path("leaks.told")
    with open(told, "w") as to:
        recorder = subprocess.Popen([ACU, "record", "alloc", "--leaks", "-p", str(server.pid), "-o", out], stderr=to)
    try:
        wait_for_text(told, "estimated overhead of tracking")
        wait_until_attached(recorder.pid)
        server.stdin.write("go\n")
        server.stdin.flush()
        need(server.stdout.readline() == "done\n", "the server did not answer")
        recorder.send_signal(signal.SIGINT)
        need(recorder.wait(timeout=60) == 0, open(told).read())
        return report(out), open(told).read()
    finally:
        for process in (recorder, server):
            process.kill()
            process.wait()


def leaks_are_found():
    """The stack that forgets, with its bytes; and nothing of what was given back, in every way there is."""
    about, told = leaks_of(build_of("leaky.cc", "-pthread"), 400)
    need(about["unit"] == "bytes" and total_of(about, "remember_session(unsigned long)") == 100 * 1000, str(about["functions"][:9]))
    need(total_of(about, "keep_across_fork()") == 777, "what a child gave back is its parent's")
    for name in ("resize()", "take_aligned()"):
        need(total_of(about, name) == 0, f"{name} gave everything back, and has {total_of(about, name)} bytes")
    need(total_of(about, "answer(int)") == 100 * 1000, str(about["functions"][:9]))
    need(re.search(r"[0-9.]+ KiB, [0-9.]+ KiB/s\)", told), told)
    need("per second" in acu("report", path("leaks.acu")).stdout, "no bytes a second")


def leaks_of_other_allocators():
    found = 0
    for library in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        file = "/usr/lib/x86_64-linux-gnu/" + library
        if not os.path.exists(file):
            continue
        found += 1
        about, told = leaks_of(build_of("leaky.cc", "-pthread"), 100, {"LD_PRELOAD": file})
        need(total_of(about, "remember_session(unsigned long)") == 25 * 1000, library + str(about["functions"][:9]))
        need(total_of(about, "resize()") + total_of(about, "take_aligned()") == 0, library + str(about["functions"][:9]))
        need(any(f["where"].split("/")[-1].startswith(library) for f in about["functions"]), str(about["functions"][:9]))
        need("`operator new` of " + library + " is probed at its return instructions" in told, told)
    if not found:
        raise Skip("neither jemalloc nor tcmalloc here")


def leaks_of_a_static_program():
    program = build_of("leaky.cc", "-static", "-pthread")
    about, _ = leaks_of(program, 40)
    need(total_of(about, "remember_session(unsigned long)") == 10 * 1000, str(about["functions"][:9]))
    stripped = path("leaky-stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    server = subprocess.Popen([stripped, "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        server.stdout.readline()
        done = acu("flame", "alloc", "--leaks", "-p", server.pid, status=3)
        need("no malloc, calloc, realloc, free" in done.stderr and "leaky-stripped, which is stripped" in done.stderr, done.stderr)
    finally:
        server.kill()
        server.wait()


def leaks_of_a_command():
    """From its start on; also of one that a script executes, and of an allocator that is loaded before the library's."""
    out = path("command.acu")
    script = path("leaky.sh")
    with open(script, "w") as text:
        text.write(f"#!/usr/bin/env bash\nexec {build_of('leaky.cc', '-pthread')} 40\n")
    os.chmod(script, 0o755)
    for command in ([build_of("leaky.cc", "-pthread"), "40"], [script]):
        done = acu("record", "alloc", "--leaks", "-o", out, "--", *command, input="go\n")
        about = report(out)
        need(total_of(about, "remember_session(unsigned long)") == 10 * 1000, str(about["functions"][:9]))
        need(total_of(about, "resize()") + total_of(about, "take_aligned()") == 0, str(about["functions"][:9]))
        need("only the command's own process" in done.stderr, done.stderr)
        need(re.search(r"overhead of tracking about [\d.]+% of a CPU: \d+ allocation calls?, \d+ free calls?", done.stderr), done.stderr)
    done = acu("record", "alloc", "--leaks", "-o", out, "--", "no-such-command", status=2)
    need("no-such-command" in done.stderr and "malloc" not in done.stderr, done.stderr)


def leaks_have_totals():
    """What was allocated and freed beside what was not, as the program counts it."""
    rounds = 300
    program = build_of("churner.cc")
    alone = subprocess.run([program, str(rounds)], input="go\n", capture_output=True, text=True)
    allocated, freed = map(int, alone.stdout.split()[2:])
    about, told = leaks_of(program, rounds)
    need(about["total"] == allocated - freed, f"{about['total']} bytes, and not {allocated} - {freed}")
    need(f"allocated {allocated} bytes in {22 * rounds} blocks; freed of that {freed} bytes" in told, told)


def needs_duty_cycles_of_user_probes():
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 10):
        raise Skip("before Linux 6.10 probes of one process are not attached and detached at once")


def bytes_allocated_are_sampled():
    """Of a program that allocates all the time: its total, and shares of functions, at little cost; the same of what it frees."""
    needs_duty_cycles_of_user_probes()
    program = build_of("churner.cc")
    for kind in ("allocated", "freed"):
        server = subprocess.Popen([program, "1000000000", "3000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            need(server.stdout.readline() == "ready\n", "the program did not start")
            server.stdin.write("go\n")
            server.stdin.flush()
            out = path(kind + ".acu")
            done = acu("record", kind, "-p", server.pid, "--duration", "6s", "-o", out)
        finally:
            server.kill()
            server.wait()
        about = report(out)
        need(share_attached(done.stderr) < 50, done.stderr)
        need(about["unit"] == "bytes" and total_of(about, "main") > 0.99 * about["total"] > 0, str(about["functions"][:5]))
        if kind == "allocated":
            # 20 blocks of 40 to 79 bytes, and 2 of 400 to 799.
            share = total_of(about, "take(unsigned long)") / about["total"]
            need(abs(share - 1199 / (20 * 59.5 + 1199)) < 0.08, f"{share:.3f} of the bytes are take's")


def totals_of_allocations_are_estimated():
    """The whole run of a program: what is estimated for the gaps between windows beside what it counts itself."""
    needs_duty_cycles_of_user_probes()
    program, out = build_of("churner.cc"), path("whole.acu")
    for kind, at in (("allocated", 2), ("freed", 3)):
        done = acu("record", kind, "-o", out, "--", program, 250000, 3000, input="go\n")
        counted = int(done.stdout.split()[at])
        told = report(out)["total"]
        if kind == "freed":
            counted *= 1.12  # blocks have room for more than was asked for: up to 15 bytes
        need(share_attached(done.stderr) < 60, done.stderr)
        percent = lambda words: sum(float(n) for n in re.findall(words + r" ([\d.]+)%", done.stderr)) / 100
        most = 1.2 + percent("totals may be wrong by") + 2 * percent("standard error")
        need(counted / most < told < counted * most, f"{told} bytes {kind}, the program counted {counted}: {done.stderr}")
        exact = acu("record", kind, "--exact", "-o", out, "--", program, 300, input="go\n")
        counted, told = int(exact.stdout.split()[at]), report(out)["total"]
        need(counted <= told < 1.35 * counted, f"{told} bytes {kind}, the program counted {counted}")


def frees_without_sizes_are_told():
    """jemalloc does not say how large a block is: only calls that have its size count, and acu says so."""
    file = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    if not os.path.exists(file):
        raise Skip("no jemalloc here")
    needs_duty_cycles_of_user_probes()
    done = acu("record", "freed", "-o", path("freed.acu"), "--", build_of("churner.cc"), 10, input="go\n", status=1,
               env={**os.environ, "LD_PRELOAD": file})
    need("not counted: blocks freed by" in done.stderr and "free" in done.stderr and "nothing was recorded" in done.stderr, done.stderr)
    need("-p 4711" in acu("record", "allocated", status=2).stderr, "allocations of all processes")


OBJECTS = """\
import sys, time
class Order: __slots__ = ("id", "items")
class Entry(dict): pass
def orders(n): return [Order() for _ in range(n)]
def entries(n): return [Entry() for _ in range(n)]
def failures(n): return [KeyError() for _ in range(n)]
def sets(n): return [set() for _ in range(n)]
print("ready", flush=True)
if sys.argv[1] == "once":
    time.sleep(0.5)
    for function, number in ((orders, 5000), (entries, 700), (failures, 90), (sets, 8)):
        made = function(number)
        print(type(made[0]).__name__, function.__name__, number * sys.getsizeof(made[0]))
else:
    while True: orders(300), failures(100)
"""


def objects_have_types():
    """Bytes of each type in the function that creates them: exact, and shares of a program that creates them all the time."""
    python, file, out = "/usr/bin/python3.11", path("objects.py"), path("objects.acu")
    if not os.path.exists(python):
        raise Skip("no Python 3.11 here")
    with open(file, "w") as script:
        script.write(OBJECTS)
    done = acu("record", "objects", "--exact", "-o", out, "--", python, "-S", file, "once")
    told = [line.split() for line in done.stdout.split("\n") if len(line.split()) == 3]
    need(len(told) == 4 and report(out)["unit"] == "bytes", done.stdout)
    stacks = subprocess.run([ACU, "report", out, "-o", path("objects.folded")], capture_output=True, text=True)
    need(stacks.returncode == 0, stacks.stderr)
    folded = [line.rsplit(" ", 1) for line in open(path("objects.folded")).read().strip().split("\n")]
    for kind, function, size in told:
        found = sum(int(n) for stack, n in folded if stack.endswith(f";[new {kind}]") and f";{function}_[py];" in stack)
        need(found == int(size), f"{found} bytes of {kind} in {function}, not {size}")
    needs_duty_cycles_of_user_probes()
    server = subprocess.Popen([python, "-S", file, "always"], stdout=subprocess.PIPE, text=True)
    try:
        need(server.stdout.readline() == "ready\n", "the program did not start")
        done = acu("record", "objects", "-p", server.pid, "--duration", "4s", "-o", out)
    finally:
        server.kill()
        server.wait()
    about = report(out)
    need(share_attached(done.stderr) < 50, done.stderr)
    share = total_of(about, "[new Order]") / about["total"]  # 48 bytes each beside 88
    need(abs(share - 300 * 48 / (300 * 48 + 100 * 88)) < 0.08, f"{share:.3f} of the bytes are of Order")
    need("no Python in" in acu("record", "objects", "-o", out, "--", "/bin/true", status=3).stderr, "a program without Python")


def dear_leaks_are_refused():
    """A program that does nothing but take and give back memory is not followed, unless that is asked for."""
    program = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: bytearray(5000)"], stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        done = acu("flame", "alloc", "--leaks", "-p", program.pid, "--max-cost", "1", status=1)
        need(re.search(r"estimated overhead of tracking every allocation: [0-9.]+% of a CPU, above the limit of `--max-cost`", done.stderr), done.stderr)
        need("requires `alloc`" in acu("flame", "io", "--leaks", "-p", program.pid, status=2).stderr, "leaks of io")
        need("-p 4711" in acu("flame", "alloc", "--leaks", status=2).stderr, "leaks of all processes")
    finally:
        program.kill()
        program.wait()


def asking_has_its_stacks():
    """What is asked of the kernel, under the function that did it; what is touched is no part of it."""
    out = path("mapped.acu")
    acu("record", "mapped", "-o", out, "--", build_of("grower.cc"))
    about = report(out)
    notes = {f["name"]: f["total"] for f in about["functions"] if f["kind"] == "note"}
    mega = 1 << 20
    need(about["unit"] == "bytes" and notes.get("[requested with mmap]", 0) >= 64 * mega, str(notes))
    for name, size in (("map_much()", 64 * mega), ("touch_half(char volatile*)", 0), ("grow_heap()", 8 * mega)):
        told = total_of(about, name)
        need(0.98 * size <= told <= 1.05 * size, f"{name}: {told} bytes, and not {size}")


def private_memory_of(pid):
    return int(re.search(r"^RssAnon:\s*(\d+) kB", open(f"/proc/{pid}/status").read(), re.M).group(1)) << 10


def growth_has_its_stacks():
    """Pages are counted once, when they are touched: of a command, and of a process that gives much of them back."""
    out = path("growth.acu")
    acu("record", "alloc", "-o", out, "--", build_of("grower.cc"))
    about = report(out)
    mega = 1 << 20
    need(about["unit"] == "bytes" and 32 * mega <= about["total"] <= 33 * mega, str(about["total"]))
    need(0.98 * 32 * mega <= total_of(about, "touch_half(char volatile*)") <= 33 * mega, str(about["functions"][:9]))
    program = subprocess.Popen([build_of("breather.cc")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    recorder = None
    try:
        need(program.stdout.readline() == "ready\n", "the program did not start")
        before = private_memory_of(program.pid)
        recorder = subprocess.Popen([ACU, "record", "alloc", "-q", "-p", str(program.pid), "-o", out])
        wait_until_attached(recorder.pid)
        program.stdin.write("go\n")
        program.stdin.flush()
        need(program.stdout.readline() == "done\n", "the program did not go on")
        grown = private_memory_of(program.pid) - before
        recorder.send_signal(signal.SIGINT)
        need(recorder.wait(timeout=60) == 0, "the recorder failed")
    finally:
        for process in filter(None, (recorder, program)):
            process.kill()
            process.wait()
    about = report(out)
    need(abs(about["total"] - grown) <= 0.03 * grown, f"{about['total']} bytes, and RssAnon has grown by {grown}")
    for name, size in (("keep_half()", 24 * mega), ("keep_heap()", 20 * mega), ("keep_nothing()", 0)):
        told = total_of(about, name)
        need(abs(told - size) <= mega // 2, f"{name}: {told} bytes, and not {size}")


# ------------------------------------------------------------------------------------------------ docs/examples


def examples_show_their_cause():
    """Each example of the documents has its cause on top, as its page says."""
    sys.path.insert(0, os.path.join(HERE, "..", "..", "docs", "examples"))
    sys.dont_write_bytecode = True
    import make
    page, missing = open(os.path.join(make.HERE, "README.md")).read(), []
    for name in make.EXAMPLES:
        try:
            need(not (mistakes := make.make(name, ACU)), "; ".join(mistakes))
        except make.Missing as what:
            missing.append(f"{name}: {what}")
    for picture in re.findall(r"\]\((.*?\.png)\)", page):
        need(os.path.exists(os.path.join(make.HERE, picture)), f"no {picture}")
    if missing:
        raise Skip("; ".join(missing))


# ------------------------------------------------------------------------------------------------ formats


def same_shares(file):
    want, got = report(recording()["file"]), report(file)
    for name in ("hot", "cold", "stir", "main"):
        need(abs(share_of(want, name) - share_of(got, name)) < 0.001, f"{name}: {share_of(want, name):.3f} became {share_of(got, name):.3f}")
    return want, got


def formats_are_read_back():
    for ending in ("acu", "folded", "perf", "pb.gz", "json", "html", "svg"):
        out = path("again." + ending)
        acu("report", recording()["file"], "-o", out)
        want, got = same_shares(out)
        need(want["total"] == got["total"], f"{ending}: {want['total']} became {got['total']}")


def picture_is_xml():
    out = path("hot.svg")
    acu("report", recording()["file"], "-o", out)
    picture = xml.dom.minidom.parse(out)
    titles = [t.firstChild.data for t in picture.getElementsByTagName("title")]
    need(any(t.startswith("hot\n") for t in titles), str(titles[:10]))


def speedscope_is_json():
    out = path("hot.json")
    acu("report", recording()["file"], "-o", out)
    data = json.load(open(out))
    names = [f["name"] for f in data["shared"]["frames"]]
    profile = data["profiles"][0]
    need("hot" in names and len(profile["samples"]) == len(profile["weights"]), str(profile)[:300])
    need(profile["endValue"] == sum(profile["weights"]) and profile["unit"] == "nanoseconds", str(profile["endValue"]))
    need(all(0 <= f < len(names) for s in profile["samples"] for f in s), "a frame that is not there")


def text_of_the_real_perf():
    if not shutil.which("perf"):
        raise Skip("no perf here")
    data, text = path("perf.data"), path("real.perf")
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "-g", "-o", data, "--", hot(), "1500"],
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Skip("perf cannot record here: " + done.stderr.strip()[:100])
    with open(text, "w") as out:
        subprocess.run(["perf", "script", "-i", data], stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=120)
    about = report(text)
    share = total_of(about, "hot") / max(1, total_of(about, "hot") + total_of(about, "cold"))
    need(0.6 < share < 0.9, f"hot {share:.3f} in {about['functions'][:6]}")


def damaged_files_are_told():
    whole = open(recording()["file"], "rb").read()
    for size in (0, 7, 12, 40, len(whole) // 2, len(whole) - 1):
        with open(path("cut.acu"), "wb") as out:
            out.write(whole[:size])
        done = acu("report", path("cut.acu"), status=1)
        need(done.stderr.startswith("ERROR: ") and "cut.acu" in done.stderr, done.stderr)
    with open(path("noise.bin"), "wb") as out:
        out.write(bytes(range(256)) * 4)
    need("not a recording" in acu("report", path("noise.bin"), status=1).stderr, "noise was read")


def on_small_disk(*words, name):
    """Runs acu where `disk`, which nobody else sees, is nearly full and holds the file `name`: what it told, and the folder's
    files as they were at the end."""
    copy = tempfile.mkdtemp(dir=TMP)
    os.makedirs(path("disk"), exist_ok=True)
    script = f"""mount -t tmpfs -o size=64k tmpfs disk || exit 99
        echo old > disk/{name}; head -c 50000 /dev/zero > disk/filler
        "$@"; status=$?
        cp disk/* {copy}; ls -A disk > {copy}/names; exit $status"""
    done = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", ACU, *[str(w) for w in words]],
                          capture_output=True, text=True, timeout=120, cwd=TMP)
    if done.returncode == 99:
        raise Skip("a small disk cannot be mounted here")
    need(done.returncode == 1 and "cannot write" in done.stderr and "No space" in done.stderr, f"{done.returncode}: {done.stderr}")
    need(open(os.path.join(copy, "names")).read().split() == sorted(["filler", name]), open(os.path.join(copy, "names")).read())
    return done, copy


def full_disk_keeps_all():
    """What had a name keeps what it had, and the result is elsewhere."""
    for command in (["report", recording()["file"], "-o", "disk/hot.html"], ["record", "-o", "disk/hot.html", "--", hot(), 50]):
        done, copy = on_small_disk(*command, name="hot.html")
        need(open(os.path.join(copy, "hot.html")).read() == "old\n", "the old file is gone")
        kept = re.search(r"^hint: the result is in (.*\.hot\.html)$", done.stderr, re.M)
        need(kept, done.stderr)
        try:
            need(share_of(report(kept[1]), "stir") > 0.5, "the file elsewhere is another one")
        finally:
            os.unlink(kept[1])


def full_disk_keeps_lines():
    """Lines go on elsewhere when the disk is full; each is whole, and none is missing."""
    calls = "import os\nfor i in range(5000): os.getpgid(0)"
    done, copy = on_small_disk("trace", "-e", "getpgid", "-o", "disk/log", "--", sys.executable, "-c", calls, name="log")
    rest = re.search(r"^hint: the rest of the results is in (.*\.log)$", done.stderr, re.M)
    need(rest, done.stderr)
    first, second = open(os.path.join(copy, "log")).read(), open(rest[1]).read()
    os.unlink(rest[1])
    lines = (first + second).split("\n")
    need(first.endswith("\n") and second and "old" not in first, "the files do not end with lines")
    need(sum(bool(re.search(r"getpgid\(0\)\s+= \d+", line)) for line in lines) == 5000, f"{len(lines)} lines")


def files_are_opened_first():
    """What cannot be written is told before anything is measured, or a command is started."""
    mark, file = path("mark"), path("no", "such", "x")
    command = ["--", "touch", mark]
    for words in (["flame", "-o", file + ".html", *command], ["record", "-o", file + ".acu", *command], ["trace", "-o", file, *command],
                  ["slow", "syscall", "-o", file, *command], ["graph", "main", "-o", file, *command], ["stat", "-o", file, *command],
                  ["run", "-o", file, "-c", "touch " + mark, "-e", "begin { }"], ["report", recording()["file"], "-o", file + ".svg"],
                  ["diff", recording()["file"], recording()["file"], "-o", file + ".html"], ["snap", "-p", os.getpid(), "--flame", file + ".html"]):
        if words[0] == "graph":
            words[words.index("--") + 1:] = [hot(), 1]
        done = acu(*words, status=1)
        need("cannot write" in done.stderr and "No such file" in done.stderr, f"{words[0]}: {done.stderr}")
        need(not os.path.exists(mark) and not done.stdout, f"{words[0]}: the command ran")
    done = acu("record", "-o", "/proc/x.acu", *command, status=None)
    need(done.returncode in (1, 4) and not os.path.exists(mark), done.stderr)
    with open(path("kept"), "w") as out:
        out.write("old")
    acu("run", "-o", path("kept"), "-e", "begin { nonsense }", status=2)
    need(open(path("kept")).read() == "old", "a script that never ran has emptied the file")
    acu("run", "-q", "-o", path("kept"), "-e", "begin { exit() }")
    need(open(path("kept")).read() == "", "what was there before is among the results")


def control_characters_are_shown():
    """The name of a process can be anything."""
    name = "import time\nopen('/proc/self/comm', 'w').write('x\\033[1m\\ny')\nend = time.time() + 0.4\nwhile time.time() < end: pass"
    acu("record", "-F", 499, "-o", "strange.acu", "--", sys.executable, "-c", name)
    for ending in ("folded", "svg", "html", "json", "perf"):
        acu("report", "strange.acu", "-o", "strange." + ending)
        text = open(path("strange." + ending)).read()
        need("\033" not in text and "x\\x1b[1m" in text.replace("\\\\", "\\"), ending)
    need("\033" not in acu("report", "strange.acu").stdout, "the terminal is told what to do")


# ------------------------------------------------------------------------------------------------ command line, tables


def tables_for_a_terminal():
    text = acu("report", recording()["file"], "--top", "5").stdout
    for part in ("called by", "calls", "processes", "modules", "more functions"):
        need(part in text, f"no `{part}` in:\n{text}")
    text = acu("report", recording()["file"], "--function", "hot").stdout
    need(re.search(r"^hot: .*\n  called by\n.*main", text, re.M), text)
    done = acu("report", recording()["file"], "--function", "no_such_*", status=3)
    need(not done.stdout and "no function of the recording matches `no_such_*`" in done.stderr, done.stdout + done.stderr)


def mistakes_name_what_was_meant():
    for words, part in ((["flame", "--freqency", "9"], "did you mean `--frequency`"), (["flame", "-o", "x.htlm"], ".html"),
                        (["flame", "-F", "0"], "from 1 to"), (["flame", "-p", "1", "-a"], "cannot be combined"),
                        (["flame", "--duration", "soon"], "10s"), (["record", "sleep", "1"], "after `--`"),
                        (["report"], "no recording"), (["flame", "ofcpu"], "did you mean `offcpu`"),
                        (["flame", "io", "--weight", "1"], "requires a probe"), (["flame", "io", "--waker"], "requires `offcpu`"), (["report", "x", "--sort", "slef"], "did you mean `self`")):
        done = acu(*words, status=2)
        need(part in done.stderr, f"{words}: {done.stderr}")
    need("no process" in acu("flame", "-p", "4194304", status=3).stderr, "a process that is not there")


def help_is_short():
    for command in ("flame", "record", "top", "report", "diff"):
        text = acu("help", command).stdout
        need(len(text.split("\n")) <= 40, f"{command}: {len(text.splitlines())} lines")
        need(len(text.split("examples:\n")[1].strip().split("\n")) == 3, text)


def differences_are_found():
    """The second run has cold() no longer: what it took went to hot()."""
    first, second = path("first.folded"), path("second.folded")
    with open(first, "w") as out:
        out.write("p;main;hot;stir_[i] 300\np;main;cold;stir_[i] 100\n")
    with open(second, "w") as out:
        out.write("p;main;hot;stir_[i] 350\np;main;warm 70\n")
    page = path("diff.html")
    done = acu("diff", first, second, "--json", "-o", page)
    rows = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
    need(rows["warm"]["self"] == 70 and rows["stir"]["self"] == -50 and rows["hot"]["total"] == 50, done.stdout)
    need(rows["cold"]["total"] == -100 and rows["main"]["total"] == 20, done.stdout)
    need('"changes":[' in open(page).read(), "no changes in the page")
    both = json.loads(done.stdout)
    need(both["a"]["file"] == first and both["b"]["total"] == 420 and rows["warm"]["in"] == "B" and rows["cold"]["in"] == "A", done.stdout)
    text = acu("diff", first, second).stdout
    need(f"A  {first}: " in text and f"B  {second}: " in text and "not scaled" in text and "only in A" in text, text)
    need("+70" in text and "-50" in text, text)
    need("two recordings" in acu("diff", first, status=2).stderr, "one is not enough")


# ------------------------------------------------------------------------------------------------ slices of time

SPLIT = {}


def split_recording():
    """2 s of calm() with spike() from 0.8 to 1.2 s of the program's time, in slices of 200 ms."""
    if not SPLIT:
        out = path("spiky.acu")
        acu("record", "-F", "499", "--split", "200ms", "-o", out, "--", build_of("spiky.cc"), 2, 0.8, 1.2)
        SPLIT["file"] = out
    return SPLIT["file"]


def slices_add_up():
    """The parts of a recording are all of it, and the spike is where it was."""
    file = split_recording()
    whole = report(file)
    ends = [["--until", str(i * 0.2 + 0.2)] for i in range(9)] + [[]]
    parts = [report(file, "--from", str(i * 0.2), *ends[i]) for i in range(10)]
    for name in ("spike", "calm", "main"):
        told = sum(total_of(p, name) for p in parts)
        need(told == total_of(whole, name), f"{name}: {told} in the slices, {total_of(whole, name)} in all")
    inside = sum(total_of(p, "spike") for p in parts[3:7])
    need(0 < inside == total_of(whole, "spike"), f"{inside} of {total_of(whole, 'spike')} between 0.6 and 1.4 s")
    need(share_of(parts[5 - 1], "spike") > 0.5 or share_of(parts[5], "spike") > 0.5, "no slice is the spike's")
    need(parts[5]["duration_ns"] == 200_000_000, str(parts[5]["duration_ns"]))
    late = report(file, "--from", "1.4")
    need(total_of(late, "calm") == sum(total_of(p, "calm") for p in parts[7:]), "the end of it")


def slices_of_waits():
    """Any kind can be split: of ten equal waits, as many in each half as in the report of all."""
    out = path("split-waits.acu")
    acu("record", "offcpu", "--split", "100ms", "-o", out, "--", sys.executable, "-c", "import time\nfor i in range(10): time.sleep(0.1)")
    whole, first, rest = report(out), report(out, "--until", "500ms"), report(out, "--from", "500ms")
    need(first["total"] + rest["total"] == whole["total"] and first["total"] > 0.2 * whole["total"], f"{first['total']} + {rest['total']} = {whole['total']}")


def slices_in_other_formats():
    file = split_recording()
    want = report(file, "--from", "0.8", "--until", "1.2")
    for ending in ("folded", "pb.gz", "perf", "acu"):
        out = path("part." + ending)
        acu("report", file, "--from", "0.8", "--until", "1.2", "-o", out)
        got = report(out)
        need(got["total"] == want["total"] and total_of(got, "spike") == total_of(want, "spike"), f"{ending}: {got['total']} and not {want['total']}")
    need("from 0.8 s until 1.2 s" in want["what"], want["what"])
    done = acu("diff", file, "--from", "0.8", "--until", "1.2", "--json")
    rows = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
    need(rows["spike"]["self"] > 0 > rows["calm"]["self"], done.stdout[:300])


def slices_stay_small():
    """Stacks are kept once: a split recording is not much larger."""
    plain = path("plain.acu")
    acu("record", "-F", "499", "-o", plain, "--", build_of("spiky.cc"), 2, 0.8, 1.2)
    sizes = [os.path.getsize(f) for f in (plain, split_recording())]
    need(sizes[1] < 2 * sizes[0] + 1000, str(sizes))


def mistakes_of_times():
    file = split_recording()
    for words, part in ((["report", file, "--from", "9"], "is only 2."), (["report", file, "--from", "1", "--until", "1"], "later than"),
                        (["report", file, "--from", "soon"], "takes a time"), (["report", recording()["file"], "--from", "1"], "--split"),
                        (["diff", file, file, "--from", "1"], "one recording"), (["record", "--split", "1ms"], "at least 10ms"),
                        (["record", "leaks", "-p", "1", "--split", "1s"], "only at the end"), (["flame", "--split", "1s", "-o", "x.svg"], ".html or .acu")):
        done = acu(*words, status=2)
        need(part in done.stderr and done.stderr.startswith("ERROR: "), f"{words}: {done.stderr}")
    newer = path("newer.acu")
    with open(newer, "wb") as out:
        out.write(b"ACUPROF9" + open(file, "rb").read()[8:])
    done = acu("report", newer, status=1)
    need("format version 9" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)


# ------------------------------------------------------------------------------------------------ the page


def with_scripts(text, *scripts):
    """A page or a picture with scripts at its beginning, which notes what goes wrong, and at its end."""
    begin = "window.pageErrors=[];addEventListener('error',e=>pageErrors.push(e.message));" \
            "for(const n of ['error','warn']){const o=console[n];console[n]=(...a)=>{pageErrors.push(a.join(' '));o(...a)}}"
    end = "\n".join(open(os.path.join(HERE, s)).read() for s in scripts)
    if text.startswith("<?xml"):
        begin, end = f"<script><![CDATA[{begin}]]></script>", f"<script><![CDATA[{end}]]></script>"
        return re.sub(r"(<svg[^>]*>)", lambda tag: tag[1] + begin, text, count=1).replace("</svg>", end + "</svg>")
    return text.replace("<head>", f"<head><script>{begin}</script>", 1).replace("</body>", f"<script>{end}</script></body>")


def look_into(page, script, fragment="", width=1200):
    """What a script sees in a page that acu wrote."""
    if not browser.find():
        raise Skip("no Chromium here")
    text = open(page).read()
    need(not re.search(r"(src|href)=[\"']?https?:", text), "it asks the network")
    looked_at = path("looked_at" + os.path.splitext(page)[1])
    with open(looked_at, "w") as out:
        out.write(with_scripts(text, "page/look.js", script))
    with browser.Browser(path("browser")) as b:
        b.open("file://" + looked_at + fragment, width)
        seen = b.seen()
    need(not seen["errors"], str(seen["errors"]))
    return seen


def heat_map_in_a_browser():
    """What is dragged over is what `--from` and `--until` report."""
    page = path("spiky.html")
    acu("report", split_recording(), "-o", page)
    seen = look_into(page, "page/heat_test.js")
    want = report(split_recording(), "--from", "0.8", "--until", "1.2")
    need(seen["told"].startswith("From 0.8 s until 1.2 s: ") and "--from 0.8 --until 1.2" in seen["told"], str(seen))
    need(seen["total"] == want["total"] and seen["spike"] == total_of(want, "spike"), f"{seen} and not {want['total']}, {total_of(want, 'spike')}")
    whole = report(split_recording())
    need(seen["whole"] == whole["total"] and seen["wholeSpike"] == total_of(whole, "spike"), str(seen))
    need(seen["moved"].startswith("From 1 s until 1.4 s") and {"all", "spike", "calm"} <= set(seen["lanes"]), str(seen))
    need(any(l.startswith("spiky") for l in seen["threads"]), str(seen))


def page_in_a_browser():
    page = path("hot.html")
    acu("report", recording()["file"], "-o", page)
    need(os.path.getsize(page) < 1 << 20, f"{os.path.getsize(page)} bytes")
    seen = look_into(page, "page/page_test.js")
    need(seen["focus"] == "hot" and seen["wider"] > 1.1 and seen["full"] > 0.99, str(seen))
    want = share_of(report(recording()["file"]), "hot")
    need(abs(seen["share"] - want) < 0.003, str(seen))  # of a width in pixels
    told = re.match(r"matched ([\d.]+)%", seen["found"])
    need(told and abs(float(told[1]) - 100 * want) < 0.0051, f"{seen['found']} and not {want}")  # half of the last digit: ties are rounded either way
    need(seen["cleared"] and seen["reversed"] and seen["icicle"] and seen["walked"] and abs(seen["reset"] - 1) < 0.05, str(seen))
    need(seen["network"] == 0, str(seen["network"]))


TESTS = [shares_are_right, inlined_calls_have_names, header_tells_what_is_missing, command_gives_its_status,
         children_of_the_command_count, interrupt_writes_the_results, process_that_ends, process_that_execs,
         program_that_is_replaced, many_short_lives, all_processes, acu_is_left_out, waits_are_ranked_by_the_program, user_without_processes, waiting_has_its_time, short_waits_are_sampled, threads_whose_return_is_not_seen, times_off_the_cpu_are_whole, waits_that_end_on_another_cpu,
         target_that_ends_while_it_waits, waits_without_an_end, who_ended_a_wait_stands_above, locks_have_names, locks_of_the_kernel_have_kinds, wakers_are_named,
         faults_are_counted, many_events_are_sampled, gaps_of_a_duty_cycle_are_counted, cost_is_estimated, time_on_and_off_the_cpu_adds_up, locks_in_shared_memory_have_places,
         acu_goes_before_others, pieces_of_io_have_kinds, bytes_to_disk_are_counted, writes_have_their_writer, bytes_of_peers_are_counted, files_have_paths, files_without_room_are_counted, probes_have_weights, scripts_draw_their_maps, leaks_are_found, leaks_of_other_allocators,
         leaks_of_a_static_program, leaks_of_a_command, leaks_have_totals, bytes_allocated_are_sampled, totals_of_allocations_are_estimated, frees_without_sizes_are_told, objects_have_types, dear_leaks_are_refused, growth_has_its_stacks, asking_has_its_stacks, examples_show_their_cause, formats_are_read_back,
         picture_is_xml, speedscope_is_json, text_of_the_real_perf, damaged_files_are_told, full_disk_keeps_all, full_disk_keeps_lines, files_are_opened_first, control_characters_are_shown,
         tables_for_a_terminal, differences_are_found, mistakes_name_what_was_meant, help_is_short, page_in_a_browser,
         slices_add_up, slices_of_waits, slices_in_other_formats, slices_stay_small, mistakes_of_times, heat_map_in_a_browser]
TESTS += page_cases.use(sys.modules[__name__])


sys.exit(run_suite(TESTS, TMP, tells_reason=False, limit=400))
