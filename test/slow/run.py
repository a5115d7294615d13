#!/usr/bin/env python3
"""What is slow: run.py ACU [--filter TEXT]

`acu slow` over programs that know themselves what takes long in them, and why. Last line: `N passed, N failed, N skipped`.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-slow-")
REQUESTS, WORKERS, CASES = (os.path.join(TMP, name) for name in ("requests", "workers", "cases"))
LEFT = os.path.join(TMP, "left")


def build():
    for compiler, source, program in (("g++", "requests.cc", REQUESTS), ("g++", "workers.cc", WORKERS), ("gcc", "cases.c", CASES), ("g++", "left.cc", LEFT)):
        subprocess.run([compiler, "-O1", "-g", "-o", program, os.path.join(HERE, source), "-pthread"], check=True, timeout=100 * SLOWNESS)


def slow(acu, *words, limit=60, status=0):
    done = subprocess.run([acu, "slow", *words], capture_output=True, text=True, timeout=limit * SLOWNESS)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


def told(acu, *words, **more):
    """What was slow, and the summary."""
    rows = [json.loads(line) for line in slow(acu, "--json", *words, **more)[0].splitlines() if line.startswith("{")]
    need(rows and rows[-1]["type"] == "summary" and rows[-1]["lost"] == 0, str(rows))
    need(rows[-1]["slow"] == len(rows) - 1, str(rows))
    return rows[:-1], rows[-1]


def only(rows):
    need(len(rows) == 1, f"{len(rows)} slow ones: {json.dumps(rows, indent=1)}")
    return rows[0]


def longest(row):
    """The wait that counts; a busy machine adds others, for a CPU."""
    return max(row["waits"], key=lambda w: w["waiting_ns"])


def named(stack):
    return [re.sub(r"\(.*", "", f) for f in stack["user"]]


def test_lock_of_one_request(acu):
    rows, summary = told(acu, "serve_request", "--", REQUESTS, "100000")
    row = only([r for r in rows if longest(r)["for"] != "a CPU"])
    need(row["what"] == "serve_request(int)" and row["thread"] == "requests" and not row["is_whole"], str(row))
    need(50e6 - 1.5e6 * SLOWNESS <= row["waiting_ns"] <= row["duration_ns"], str(row))
    wait = longest(row)
    need(wait["for"] == "the lock g_cache_lock", str(wait))
    need(named(wait["stack"])[-1] == "look_up" and "main" in named(row["stack"]), str(row))
    need(wait["held_by"]["thread"] == "rebuilder" == wait["woken_by"]["thread"], str(wait))
    need("rebuild_cache" in named(wait["waker_stack"]) or "rebuild_cache" in named(wait["holder_stack"]), str(wait))
    need(wait["holder_waiting_ns"] > 40e6 and "clock_nanosleep" in wait["holder_waits_for"], str(wait))
    need(summary["by_waits"] is True, str(summary))


def test_lock_as_text(acu):
    text, message = slow(acu, "--min-duration", "20ms", "serve_request", "--", REQUESTS, "20000")
    for part in (r"serve_request\(int\): at least \d+\.\d\d ms, in thread requests", r"^ +waiting [45]\d\.\d\d ms \(\d+\.\d%\), runnable ",
                 r"^  [45]\d\.\d\d ms waiting for the lock g_cache_lock$", r"^      > serve_request\(int\)$", r"^    held by rebuilder \(\d+\), which released it here:$",
                 r"^    rebuilder \(\d+\) was itself waiting for \d+\.\d\d ms of that, for clock_nanosleep\(", r"^        rebuild_cache\(\)$"):
        need(re.search(part, text, re.M), f"no {part} in\n{text}")
    need("calls per second: probing each call would take about" in message and re.search(r"^\d+ slow \(at least 20.00 ms\), found by their waits", message, re.M), message)


def test_durations_agree_with_the_program(acu):
    """Each call is probed: what waits, what computes, and what waits often and shortly."""
    text, _ = slow(acu, "--json", "--min-duration", "30ms", "handle", "--", CASES, "calls")
    measured = [float(line) for line in text.splitlines() if not line.startswith("{")]
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    long = [ms for ms in measured if ms >= 30]
    need(len(long) >= 3 and len(rows) == len(long) + 1 and rows[-1]["calls"] == 7, f"{measured} {rows}")
    for ms, row in zip(long, rows):
        need(row["is_whole"] and row["what"] == "handle" and abs(row["duration_ns"] / 1e6 - ms) < 0.5 * SLOWNESS, f"{ms} ms: {row}")
    naps, computes, often = rows[:3]
    need(naps["waiting_ns"] > 59e6 and naps["callees"][0]["function"] == "nap", str(naps))
    need(computes["waiting_ns"] < 10e6 and computes["callees"][0]["function"] == "compute" and computes["callees"][0]["on_cpu_ns"] > 1e6, str(computes))
    need(often["waiting_ns"] > 50e6 and longest(often)["number"] >= 30, str(often))


def test_more_waits_than_are_kept(acu):
    rows, _ = told(acu, "handle", "--", CASES, "waits")
    row = only(rows)
    need(row["waits_are_cut"] and longest(row)["number"] > 200 and row["duration_ns"] > 149e6, str(row))


def test_wait_for_a_pipe(acu):
    rows, _ = told(acu, "take", "--", CASES, "pipe")
    wait = longest(only(rows))
    need(re.fullmatch(r"read\(\d+<pipe:\[\d+\]>, 0x[0-9a-f]+, 1\)", wait["for"]), str(wait))
    need(wait["woken_by"]["thread"] == "giver" and "give" in named(wait["waker_stack"]), str(wait))


def test_waits_for_a_cpu(acu):
    cpu = min(os.sched_getaffinity(0))
    rows, _ = told(acu, "--min-duration", "40ms", "busy", "--", CASES, "queue", str(cpu))
    row = only(rows)
    need(row["runnable_ns"] > 20e6, str(row))
    ran = [r["thread"] for w in row["waits"] if w["for"] == "a CPU" for r in w["ran_before"]]
    need("competitor" in ran and all(w["cpu"] == cpu for w in row["waits"]), str(row))


def test_runnable_as_the_kernel_counts_it(acu):
    """Calls that share their CPU with two others: each by /proc/PID/schedstat, and who had the CPU."""
    cpu = min(os.sched_getaffinity(0))
    for least in ("1ms", "8ms"):  # waits for the CPU are noted each, and where the threshold is high together
        text, _ = slow(acu, "--json", "--exact", "--min-duration", least, "work", "--", CASES, "crowded", str(cpu))
        delays = [int(line) for line in text.splitlines() if not line.startswith("{")]
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")][:-1]
        need(len(delays) == 50 and (len(rows) == 50 or least != "1ms"), f"{len(rows)} of {len(delays)} are slow")
        if len(rows) < 50:
            continue  # which of them is not told
        # What comes between the call's begin or end and the program's own look is not in its number.
        differ = [(delay, row["runnable_ns"]) for delay, row in zip(delays, rows) if abs(row["runnable_ns"] - delay) > 0.1 * delay + 0.2e6 * SLOWNESS]
        need(len(differ) <= 5, str(differ))
        for row in rows:
            need(row["duration_ns"] >= row["runnable_ns"] + row["waiting_ns"] + row["on_cpu_ns"] - 1, str(row))
        ran = [r for row in rows for among in (row["turns"], *row["waits"]) for r in among["ran_before"]]
        need(sum(r["ns"] for r in ran if r["thread"] == "hog") > 0.6 * sum(delays), f"{sum(delays)} {ran}")


def test_slow_on_the_cpu_in_cpp(acu):
    """Exceptions may leave the function: returns are probed where they are, or where calls are too many for that entries alone."""
    for pause, by_entries in (2000, False), (50, True):
        text, message = slow(acu, "--json", "--min-duration", "30ms", "handle_request", "--", WORKERS, "2500", str(pause))
        took = [float(line) for line in text.splitlines() if not line.startswith("{")]
        *rows, summary = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        rows = [r for r in rows if r["duration_ns"] > 50e6]
        need(len(took) == len(rows) == 4 and summary["calls"] == 2500, f"{took} {rows} {summary}")
        need(summary["by_entries"] == by_entries and not summary["by_waits"], f"{summary} {message}")
        for ms, row in zip(took, rows):
            need(row["is_whole"] != by_entries and ms - (10 if by_entries else 3) * SLOWNESS <= row["duration_ns"] / 1e6 <= ms + 1, f"{ms} {row}")
            need(row["hot"][0]["function"] == "hash_blocks(double)" and named(row["hot"][0]["stack"])[-1] == "check_sum", str(row))
            need(row["what"] == "handle_request(int, int)" and "main" in named(row["stack"]), str(row))


def test_slow_on_the_cpu_among_millions(acu):
    """Too many calls to probe even their entries: most of the slow ones are found, and none that was not slow."""
    text, message = slow(acu, "--json", "--max-cost", "10", "handle_request", "--", WORKERS, "4000000")
    took = [float(line) for line in text.splitlines() if not line.startswith("{")]
    *rows, summary = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    need(summary["by_waits"] and "from now on calls are found by their waits and" in message, f"{summary} {message}")
    found = [r for r in rows if r["hot"] and r["hot"][0]["function"] == "hash_blocks(double)"]
    need(found and all(not r["is_whole"] and 10e6 <= r["duration_ns"] <= (max(took) + 1) * 1e6 for r in found), f"{took} {rows}")
    need(all(r in found or r["waits"] for r in rows) and len(found) <= len(took) == 4, f"{took} {rows}")


def test_preempted_until_it_returns(acu):
    """The call ends as its thread gets the CPU again; the wait before that is told all the same."""
    cpu = min(os.sched_getaffinity(0))
    for words in (["give_way"], [f"uprobe:{CASES}:give_way", f"uretprobe:{CASES}:give_way"]):
        rows, _ = told(acu, "--min-duration", "40ms", *words, "--", CASES, "preempted", str(cpu))
        row = only(rows)
        need(row["runnable_ns"] > 0.8 * row["duration_ns"] > 40e6, str(row))


def test_system_calls(acu):
    rows, summary = told(acu, "syscall:read", "--", CASES, "pipe")
    row = only(rows)
    need(re.fullmatch(r"read\(\d+<pipe:\[\d+\]>, .*, 1\) = 1", row["what"]) and row["duration_ns"] > 30e6, str(row))
    need("take" in named(row["stack"]) and longest(row)["woken_by"]["thread"] == "giver", str(row))
    need(2 <= summary["calls"] < 100, str(summary))
    rows, _ = told(acu, "syscalls", "--min-duration", "5s", "--", CASES, "nested")
    need(not rows, str(rows))
    rows, _ = told(acu, "syscall:*nanosleep", "--min-duration", "30ms", "--", CASES, "nested")
    need(only(rows)["what"].startswith("clock_nanosleep(") and only(rows)["what"].endswith(" = 0"), str(rows))


def test_system_calls_of_32_bits(acu):
    """nanosleep() and pause() of i386 have the numbers of other calls of x86-64; an execve ends as one of the other kind."""
    source, program = os.path.join(TMP, "sleep32.s"), os.path.join(TMP, "sleep32")
    with open(source, "w") as file:
        file.write(""".globl _start
_start: movl $162, %eax; movl $time, %ebx; xorl %ecx, %ecx; int $0x80
movl $29, %eax; int $0x80
time: .long 0, 50000000
""")
    subprocess.run(["as", "--32", "-o", program + ".o", source], check=True, timeout=20 * SLOWNESS)
    subprocess.run(["ld", "-m", "elf_i386", "-o", program, program + ".o"], check=True, timeout=20 * SLOWNESS)
    try:
        subprocess.Popen([program]).kill()
    except OSError:
        raise Skipped("this kernel runs no programs of 32 bits") from None
    for calls in ("syscalls", "syscall:nanosleep,pause", "syscall:nanosleep,pause,read,write,open,close"):
        rows, _ = told(acu, calls, "--min-duration", "30ms", "--duration", "1s", "--", program)
        whats = [r["what"] for r in rows]
        need(len(whats) == 2 and re.fullmatch(r"\[32 bit\] nanosleep\(0x[0-9a-f]+, NULL\) = 0", whats[0]) and whats[1].startswith("[32 bit] pause("), f"{calls}: {whats}")
        need(50e6 <= rows[0]["duration_ns"] < 500e6 * SLOWNESS, str(rows[0]))
    rows, _ = told(acu, "syscall:read", "--min-duration", "30ms", "--duration", "1s", "--", program)
    need(not rows, str(rows))


# Words that a script is made of; none of them may be taken for one in a name.
WORDS = ["BEGIN", "END", "LEAST", "PART", "FILTER", "ENDED", "WAITS", "TELL_DUE", "IN_SYSTEM_CALL", "IS_WANTED", "VALUES", "SEND", "MIN_DURATION_NS",
         "SYSCALLS", "TASK_STATE", "entry", "ours"]


def test_names_that_are_words_of_the_script(acu):
    source = "#include <unistd.h>\nvolatile int sum;\n"
    source += "".join(f"__attribute__((noipa)) void {word}(void) {{ usleep(30000); sum++; }}\n" for word in WORDS)
    source += "int main(void) { " + "".join(word + "(); " for word in WORDS) + "}\n"
    folder = os.path.join(TMP, "END BEGIN LEAST FILTER")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "PART VALUES")
    subprocess.run(["gcc", "-O1", "-o", path, "-x", "c", "-"], input=source, text=True, check=True, timeout=100 * SLOWNESS)
    for word in WORDS:
        rows, summary = told(acu, word, "--min-duration", "20ms", "--", path)
        need([row["what"] for row in rows if row["duration_ns"] > 29e6] == [word] and summary["calls"] == 1, f"{word}: {rows}")
        probes = [f'{kind}:"{path}":{word}' for kind in ("uprobe", "uretprobe")]
        rows, summary = told(acu, *probes, "--min-duration", "20ms", "--", path)
        need(rows[0]["what"] == " … ".join(probes) and rows[0]["duration_ns"] > 29e6 and summary["calls"] == 1, f"{word}: {rows}")


def test_programs_in_folders_of_any_name(acu):
    """The program has the unwinder in itself, so that its path is also that of the probes where exceptions land."""
    plain = os.path.join(TMP, "left-static")
    subprocess.run(["g++", "-O1", "-g", "-static-libgcc", "-o", plain, os.path.join(HERE, "left.cc")], check=True, timeout=100 * SLOWNESS)
    for name in ('END RATE {LEAST} "q" %d é', "a:b", "new\nline", "[ab]*?", "$1 ${x} \\n // /* #", "x" * 200):
        folder = os.path.join(TMP, name)
        os.makedirs(folder, exist_ok=True)
        path = shutil.copy(plain, os.path.join(folder, "FILTER"))
        rows, summary = told(acu, "deep", "--min-duration", "15ms", "--", path)
        need([row["left_by"] for row in rows if "left_by" in row] == ["exception", "exception", "longjmp"] and len(rows) == 4, f"{name}: {rows}")
        need(summary["calls"] == 4, f"{name}: {summary}")


def test_mistakes_in_probes_are_shown_in_them(acu):
    probe = "tracepoint:sched:sched_switch"
    for begin, end, told_at, part in [("END", "VALUES", "the second probe:1:1-7", "`VALUES` is not a kind of probe"),
                                      ("uprobe:/FILTER/END:f", probe, "the first probe:1:1-21", "cannot open /FILTER/END"),
                                      ("uprobe:/" + "END" * 1333 + ":f", probe, "the first probe:1:1-4010", "cannot open /END"),
                                      (probe, f"{probe} /pid/", "the second probe:1:31-32", "unexpected `/`"),
                                      (probe, probe + " {}\nbegin", "the second probe:1:31-32", "unexpected `{`"),
                                      (probe, f'uprobe:"{CASES}:nap', "the second probe:1:8-", "has no closing quote"),
                                      (probe, "uprobe:%s:\x01é", "the second probe:1:11-14", "not part of the language"),
                                      ("", probe, "a probe cannot be empty", "")]:
        done = subprocess.run([acu, "slow", begin, end, "--", "true"], capture_output=True, text=True, timeout=30 * SLOWNESS)
        need(told_at in done.stderr and part in done.stderr and done.stdout == "" and done.returncode in (2, 3), f"{begin[:80]} {end}: {done}")
        need(re.match(r"ERROR: (cannot probe that: )?" + told_at, done.stderr) and len(re.findall("ERROR: ", done.stderr)) <= 2, done.stderr)


def test_script_by_itself(acu):
    """`acu run` takes it, too: with its standard values it is of system calls."""
    script = os.path.join(HERE, "../../src/scripts/slow.bt")
    for kind in ("SYSCALLS", "FUNCTIONS", "BETWEEN", "DISKS", "LISTED"):
        words = ["-D", f"{kind}=true"] if kind in ("SYSCALLS", "LISTED") else ["-D", "SYSCALLS=false", "-D", f"{kind}=true"]
        done = subprocess.run([acu, "run", *words, script, "-c", "sleep 0.1"], capture_output=True, text=True, timeout=30 * SLOWNESS)
        need(done.returncode == 0 and "ERROR" not in done.stderr, f"{kind}: {done.stderr}")
        is_told = re.search(r"\.returned = \d+, \.thread = \{ \.pid = \d+, \.tid = \d+, \.name = sleep \}", done.stdout)
        need(bool(is_told) == (kind == "SYSCALLS"), f"{kind}: {done.stdout}")


def test_many_system_calls_by_name(acu):
    """More than are compared with: they are in a map."""
    names = "read,write,open,close,fsync"
    rows, summary = told(acu, f"syscall:{names}", "--", CASES, "pipe")
    need("read(" in only(rows)["what"] and 2 <= summary["calls"] < 100, f"{rows} {summary}")
    rows, summary = told(acu, f"syscall:{names}", "--", CASES, "nested")
    need(not rows and summary["calls"] >= 2, f"{rows} {summary}")


def test_between_two_probes(acu):
    rows, _ = told(acu, f"uprobe:{CASES}:handle", f"uretprobe:{CASES}:handle", "--min-duration", "30ms", "--", CASES, "calls")
    need(len(rows) >= 3 and all(r["waits"] or r["callees"] or r["duration_ns"] for r in rows), str(rows))


def test_disks(acu):
    """A piece of I/O that is waited for, and found slow by a low threshold."""
    folder = os.environ.get("ACU_TEST_DISK", os.path.dirname(HERE))
    if not os.access(folder, os.W_OK):
        raise Skipped("no disk to write to")
    path = os.path.join(folder, "slow.tmp")
    write = f"import os\nfd = os.open({path!r}, os.O_CREAT | os.O_WRONLY)\nos.write(fd, bytes(65536))\nos.fsync(fd)\nos.unlink({path!r})"
    rows, summary = told(acu, "io", "--min-duration", "1us", "--", sys.executable, "-c", write)
    writes = [r for r in rows if re.fullmatch(r"write of \d+ bytes at sector \d+ of \S+( .*)?", r["what"])]
    need(writes and summary["calls"] >= len(rows), f"{rows} {summary}")
    need(any("fsync" in name for r in writes for name in r["stack"]["user"]), str(writes))
    need(all(r["queue_ns"] + r["device_ns"] == r["duration_ns"] for r in rows), str(rows))


def test_calls_within_calls(acu):
    rows, summary = told(acu, "nested", "--", CASES, "nested")
    need(only(rows)["duration_ns"] > 39e6 and summary["calls"] == 6, f"{rows} {summary}")


def test_calls_left_by_longjmp(acu):
    rows, summary = told(acu, "leaves", "--", CASES, "leaves")
    need(not rows and summary["calls"] == 2, f"{rows} {summary}")


def test_calls_end_as_an_exception_or_longjmp_leaves_them(acu):
    """At that moment, not with the next call from above; and what is called in the meantime further down is told."""
    rows, summary = told(acu, "deep", "--min-duration", "15ms", "--", LEFT)
    need([row["left_by"] for row in rows if "left_by" in row] == ["exception", "exception", "longjmp"] and len(rows) == 4, json.dumps(rows, indent=1))
    for row in rows:
        need(row["what"].startswith("deep(") and row["is_whole"] and row["has_ended"] and 20e6 <= row["duration_ns"] < 28e6 + 40e6 * (SLOWNESS - 1), str(row))
        need(longest(row)["for"].startswith("clock_nanosleep") or "nanosleep" in longest(row)["for"], str(row))
    need(summary["calls"] == 4, str(summary))
    text, _ = slow(acu, "deep", "--min-duration", "15ms", "--", LEFT)
    need(len(re.findall(r"ms, left by an exception, in thread left", text)) == 2 and "ms, left by longjmp, in thread left" in text, text)


def test_many_calls_are_not_probed(acu):
    text, message = slow(acu, "--json", "handle", "--", CASES, "often")
    rows = [json.loads(line) for line in text.splitlines()]
    need("calls per second: probing each call would take about" in message, message)
    need(rows[-1]["by_waits"] and rows[-1]["calls"] < 100000, str(rows))
    row = only([r for r in rows[:-1] if r["waits"] and longest(r)["for"] != "a CPU"])
    need(not row["is_whole"] and row["duration_ns"] > 59e6 and named(row["waits"][0]["stack"])[-1] == "nap", str(row))


def test_exact_whatever_it_costs(acu):
    rows, summary = told(acu, "--exact", "handle", "--min-duration", "30ms", "--", CASES, "often")
    need(summary["calls"] == 300000 and not summary["by_waits"], str(summary))
    need(any(r["is_whole"] and r["duration_ns"] > 59e6 for r in rows), str(rows))


def test_program_ends_in_the_call(acu):
    """What was going on is told, whoever ends."""
    slow_one = subprocess.Popen([acu, "slow", "--json", "nap", "--", CASES, "forever"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    deadline, child = time.monotonic() + 20 * SLOWNESS, None
    while not child and time.monotonic() < deadline:
        for pid in open(f"/proc/{slow_one.pid}/task/{slow_one.pid}/children").read().split():
            if os.readlink(f"/proc/{pid}/exe") == CASES:
                child = int(pid)
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(child, signal.SIGKILL)
    out = slow_one.communicate(timeout=30 * SLOWNESS)[0]
    need(slow_one.returncode == 128 + signal.SIGKILL, f"{slow_one.returncode} {out}")
    row = only([json.loads(line) for line in out.splitlines()][:-1])
    need(not row["has_ended"] and row["duration_ns"] > 100e6 and row["what"] == "nap", str(row))
    need(any(w["for"].startswith("clock_nanosleep(") for w in row["waits"]), str(row))


def test_process_that_runs(acu):
    program = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.03)"])
    try:
        rows, _ = told(acu, "syscalls", "-p", str(program.pid), "-n", "3")
        need(len(rows) == 3 and all("nanosleep(" in r["what"] for r in rows), str(rows))
        rows, summary = told(acu, "libc.so.6:write", "-p", str(program.pid), "--duration", "200ms")
        need(not rows and summary["calls"] == 0, f"{rows} {summary}")
    finally:
        program.kill()
        program.wait()


def test_locks_of_a_process_that_runs(acu):
    """What its threads wait for while others have the CPUs."""
    program = subprocess.Popen([CASES, "locks"])
    try:
        rows, summary = told(acu, "look_up", "-p", str(program.pid), "-n", "5", "--min-duration", "30ms", "--duration", "10s")
        waits = [w for r in rows for w in r["waits"] if w["for"] == "the lock table_lock"]
        need(len(rows) == 5 and len(waits) >= 4 and not summary["by_waits"], f"{rows} {summary}")
        need(all(w["held_by"]["thread"] == "writer" for w in waits), str(waits))
        # It had begun to wait before the first was looked for.
        need(sum(w.get("holder_waiting_ns", 0) > 25e6 and "write_table" in named(w["holder_stack"]) for w in waits) >= len(waits) - 1, str(waits))
        rows, _ = told(acu, "write_table", "-p", str(program.pid), "-n", "2", "--duration", "10s")
        need(len(rows) == 2 and rows[-1]["waiting_ns"] > 50e6 and rows[-1]["callees"][0]["function"] == "nap", str(rows))
    finally:
        program.kill()
        program.wait()


def test_nothing_slow(acu):
    rows, summary = told(acu, "--min-duration", "5s", "handle", "--", CASES, "calls")
    need(not rows and summary["calls"] == 7, str(summary))
    text, message = slow(acu, "--min-duration", "5s", "handle", "--", CASES, "nested")
    need(text == "" and message.startswith("nothing was slow (at least 5.000 s) of 0 calls; 0 lost"), text + message)


def test_lock_of_an_interpreter(acu):
    """Who waits for the GIL is told who had it, though timers end most of its waits."""
    python = os.path.realpath("/usr/bin/python3")
    rows, _ = told(acu, "--min-duration", "5ms", "PyEval_RestoreThread", "--", python, os.path.join(HERE, "gil.py"), "2")
    waits = [longest(row) for row in rows if row["waits"] and longest(row)["for"] == "the GIL"]
    need(len(waits) >= 10, f"{len(waits)} waits for the GIL in {len(rows)} slow calls: {rows[:1]}")
    held = [w for w in waits if "compute" in named(w.get("waker_stack", {"user": []})) and w["held_by"]["tid"] == w["woken_by"]["tid"]]
    need(len(held) >= 0.8 * len(waits), f"the holder of {len(held)} of {len(waits)} is known: {[w for w in waits if w not in held][:1]}")


def test_status_and_file(acu):
    path = os.path.join(TMP, "found")
    text, message = slow(acu, "-q", "-o", path, "syscalls", "--", "sh", "-c", "sleep 0.05; exit 7", status=7)
    need(text == "" and message == "" and "nanosleep" in open(path).read(), text + message)


def test_mistakes_name_what_was_meant(acu):
    for words, part, status in [([], "nothing to measure given", 2),
                                (["serve"], "no target given", 2),
                                (["serve", "-a"], "no program given for `serve`", 2),
                                (["serve_reqest", "--", REQUESTS], "has no function `serve_reqest`; did you mean `serve_request`?", 3),
                                (["syscall:raed", "-a"], "there is no system call `raed`; did you mean `read`?", 2),
                                (["handle", "--min-duration", "soon", "--", CASES], "--min-duration", 2),
                                (["handle", "--min-duration", "0", "--", CASES], "--min-duration", 2),
                                (["handle", "-n", "0", "--", CASES], "`-n` takes a number above 0", 2),
                                (["handle", "--max-cost", "x", "--", CASES], "`--max-cost` takes a percentage of a CPU", 2),
                                (["handle", "-p", "4194300"], "no process 4194300", 3),
                                ([f"uprobe:{CASES}:handle", "--", CASES], "is a probe: add a second one, for the end", 2),
                                (["a", "b", "c", "-a"], "at most two probes", 2),
                                (["handle", "--", "no-such-command"], "there is no command `no-such-command`", 2)]:
        done = subprocess.run([acu, "slow", *words], capture_output=True, text=True, timeout=30 * SLOWNESS)
        need(part in done.stderr and done.stderr.count("ERROR") == 1 and done.stdout == "", f"{words}: {done.stderr}")
        need(done.returncode == status, f"{words}: status {done.returncode}, {done.stderr}")


if __name__ == "__main__":
    build()
    sys.exit(run_suite([f for n, f in globals().items() if n.startswith("test_")], TMP, tells_reason=False))
