#!/usr/bin/env python3
"""User stacks of programs that keep no frame pointers: run.py ACU [--filter TEXT]

whole.c is built as distributions build, and gets to its `leaf` in many ways; what acu shows of its stack is compared with
the calls that it made, and stacks of waiting programs, whatever they are, with those that eu-stack finds.
Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, need, run_suite
import tracing

TMP = tempfile.mkdtemp(prefix="acu-stacks-")
os.chmod(TMP, 0o755)
PLAIN = ["-O2", "-fomit-frame-pointer", "-fcf-protection=none"]
GETPGID = 'tracepoint:syscalls:sys_enter_getpgid /comm == "whole"/ { @[ustack] = count() }'
PLAIN_CALLS = ["leaf", "work", "inner", "outer", "main"]
LIMIT = 60 * SLOWNESS


def path(*names):
    return os.path.join(TMP, *names)


def whole():
    """The program's path."""
    out = path("whole")
    if not os.path.exists(out):
        subprocess.run(["gcc", *PLAIN, "-o", out, os.path.join(HERE, "whole.c")], check=True, timeout=LIMIT)
    return out


def run(*words, **more):
    return subprocess.run([str(w) for w in words], timeout=LIMIT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def trace(acu, script, during, options=(), tries=5):
    """Where others have the CPUs acu may come too late to a new process, which it says of its stacks: that is tried again."""
    for _ in range(tries):
        done = tracing.trace([acu, "run", "-v", "--lang", "native", "--notify-attached", tracing.ATTACHED, *options, "-e", script], path("cache"), during, 2 * LIMIT)
        if "[process not known yet]" not in done[0]:
            break
    return done


def stacks(text, name="@"):
    """Each stack as the names of its frames, innermost first, with its count."""
    found = re.findall(r"^" + name + r"\[\n((?: .+\n)*)\]: (\d+)$", text, re.M)
    return [([line.strip().split("+")[0] for line in frames.strip().split("\n")], int(count)) for frames, count in found]


def own(frames):
    """The frames without those of the C library around main and getpgid, which have no names everywhere."""
    known = {"leaf", "work", "inner", "outer", "main", "recurse", "handler", "raise_signal", "on_own_stack", "switch_stack",
             "damage", "bare", "made", "fork_many"}
    return [f for f in frames if f in known or f.startswith("[")]


def is_whole(frames):
    """Up to the first instruction of the program, or of its loader."""
    return frames[-1] in ("_start", "_dl_start_user", "__start_context", "clone", "clone3", "__clone3", "__clone")


def expect(text, calls, count, complete=True):
    """That many stacks were counted, all with these calls."""
    found = stacks(text)
    need(found, "no stack at all:\n" + text[:1000])
    for frames, _ in found:
        need(own(frames) == calls, f"calls are {own(frames)}, not {calls}:\n" + text[:2000])
        need(not complete or is_whole(frames), "does not reach the first function:\n" + text[:2000])
    need(sum(n for _, n in found) == count, f"{sum(n for _, n in found)} stacks, not {count}:\n" + text[:2000])
    return found


# -------------------------------------------------------------------------------------- ways to get somewhere


def plain_calls(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "plain", 5))
    expect(text, PLAIN_CALLS, 5)


def many_runs(acu):
    """One key for equal stacks of one process, though the first are walked outside of the kernel."""
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "plain", 200))
    found = expect(text, PLAIN_CALLS, 200)
    need(len(found) == 1, "not one stack:\n" + text[:2000])


def frame_pointers_on_demand(acu):
    script = GETPGID.replace("ustack", "ustack(fp)")
    text, _ = trace(acu, script, lambda: run(whole(), "plain", 5))
    need(sum(n for _, n in stacks(text)) == 5, text)
    need(not any(own(frames) == PLAIN_CALLS for frames, _ in stacks(text)), "frame pointers that are not there:\n" + text)


def in_a_signal_handler(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "signal", 3))
    expect(text, ["leaf", "work", "inner", "handler", "raise_signal", "main"], 3)


def on_a_signal_stack(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "altstack", 3))
    expect(text, ["leaf", "work", "inner", "handler", "raise_signal", "main"], 3)


def on_an_own_stack(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "switch", 3))
    found = stacks(text)
    for frames, _ in found:  # glibc's __start_context begins with nothing that calls it; it has no tables before it
        need(own(frames)[:4] == ["leaf", "work", "inner", "on_own_stack"] and "__start_context" in frames, text)
    need(sum(n for _, n in found) == 3, text)


def recursion_of_300(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "deep", 3, 300))
    expect(text, ["leaf", "work"] + ["recurse"] * 301 + ["main"], 3)


def recursion_of_10000(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "deep", 3000, 10000), tries=1)
    deep = [frames for frames, _ in stacks(text) if frames[-1] == "[more than 512 frames]"]
    need(deep and len(deep[0]) == 513 and deep[0].count("recurse") >= 508, text[:1000])
    for frames, _ in stacks(text):  # those that were copied out have as much as was copied
        need(frames[-1] in ("[more than 512 frames]", "[stack deeper than copied]", "[process not known yet]"), frames[-1])
    need(sum(n for _, n in stacks(text)) == 3000, text[:1000])


def depth_that_is_asked_for(acu):
    text, _ = trace(acu, GETPGID.replace("ustack", "ustack(3)"), lambda: run(whole(), "deep", 20, 10000))
    for frames, _ in stacks(text):
        need(len(frames) == 3 and own(frames) == ["leaf", "work"], text)
    need(sum(n for _, n in stacks(text)) == 20, text)


def damaged_stack(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "damage", 3))
    for frames, _ in expect(text, ["leaf", "work", "damage", "[return address is not code]"], 3, complete=False):
        need(frames[-1].startswith("["), text)


def code_without_tables(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "bare", 3))
    expect(text, ["leaf", "work", "inner", "bare", "[code without unwind tables]"], 3, complete=False)


def code_that_was_made(acu):
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "made", 3))
    expect(text, ["leaf", "work", "inner", "made", "main"], 3)


# ---------------------------------------------------------------------------------------- life of processes


def program_that_executes_itself(acu):
    text, _ = trace(acu, GETPGID.replace('comm == "whole"', "1").replace("sys_enter_getpgid /1/", 'sys_enter_getpgid /comm == "whole" || comm == "exe"/'),
                    lambda: run(whole(), "exec", 2))
    found = {tuple(own(frames)): n for frames, n in stacks(text)}
    need(found == {tuple(PLAIN_CALLS): 2, ("leaf", "work", "inner", "handler", "raise_signal", "main"): 1}, text)


def file_that_was_replaced(acu):
    """The program runs before acu does, and another file has its name by then."""
    copy = path("replaced", "whole")
    os.makedirs(path("replaced"), exist_ok=True)
    shutil.copy(whole(), copy)
    process = subprocess.Popen([copy, "plain", "0"])
    try:
        os.remove(copy)
        shutil.copy("/bin/true", copy)
        text, _ = trace(acu, GETPGID, lambda: time.sleep(0.5 * SLOWNESS))
    finally:
        process.kill()
        process.wait()
    for frames, _ in stacks(text):
        need(own(frames) == PLAIN_CALLS and is_whole(frames), text[:2000])
    need(stacks(text), "no stack at all")


def ran_before(acu):
    process = subprocess.Popen([whole(), "plain", "0"])
    try:
        text, err = trace(acu, GETPGID, lambda: time.sleep(0.5 * SLOWNESS))
    finally:
        process.kill()
        process.wait()
    found = stacks(text)
    need(len(found) == 1 and own(found[0][0]) == PLAIN_CALLS and is_whole(found[0][0]), text[:2000])
    counts = re.search(r"user stacks: (\d+), complete 100.00%, unwound outside the kernel (\d+)", err)
    need(counts and int(counts[1]) == found[0][1], err)
    need(int(counts[2]) < int(counts[1]), "all were walked outside of the kernel: " + err)


def other_code_at_the_same_address(acu):
    """What is known of an address is forgotten when something else is mapped there."""
    program, libraries = path("reload"), [path(f"reloaded{room}.so") for room in (32, 96)]
    subprocess.run(["gcc", *PLAIN, "-o", program, os.path.join(HERE, "reload.c")], check=True, timeout=LIMIT)
    for library, room in zip(libraries, (32, 96)):
        subprocess.run(["gcc", *PLAIN, "-shared", "-fPIC", "-fno-stack-protector", f"-DROOM={room}", "-o", library, os.path.join(HERE, "reloaded.c")],
                       check=True, timeout=LIMIT)
    rounds = 6
    status = []
    text, _ = trace(acu, GETPGID.replace("whole", "reload"), lambda: status.append(run(program, *libraries * (rounds // 2)).returncode))
    need(status[-1] == 0, f"the libraries are not at one address (status {status[-1]})")
    found = [(frames[:4], n) for frames, n in stacks(text)]
    good = sum(n for frames, n in found if frames[1:] == ["leaf", "call_back", "main"])
    need(sum(n for _, n in found) == 400 * rounds and good >= 0.9 * 400 * rounds, f"{good} of {400 * rounds} lead to main: {found}")


def many_children(acu):
    """Children that live for a few milliseconds each, and never map anything themselves."""
    text, err = trace(acu, GETPGID, lambda: run(whole(), "fork", 500))
    calls = ["leaf", "work", "inner", "outer", "fork_many", "main"]
    found = stacks(text)
    good = sum(n for frames, n in found if own(frames) == calls and is_whole(frames))
    need(sum(n for _, n in found) == 500 and good >= 495, f"{good} of 500 are whole:\n{text[:1500]}\n{err}")


def many_short_programs(acu):
    def drive():
        for _ in range(100):
            run(whole(), "plain", 1)

    text, err = trace(acu, GETPGID, drive)
    found = stacks(text)
    good = sum(n for frames, n in found if own(frames) == PLAIN_CALLS and is_whole(frames))
    need(sum(n for _, n in found) == 100 and good >= 99, f"{good} of 100 are whole:\n{text[:1500]}\n{err}")


# ------------------------------------------------------------------------------------------ kinds of probes


def spinning(acu, script):
    text, _ = trace(acu, script, lambda: run(whole(), "spin", 2))
    return stacks(text)


def in_samples(acu):
    found = spinning(acu, 'profile:hz:499 /comm == "whole"/ { @[ustack] = count() }')
    all_of = sum(n for _, n in found)
    good = sum(n for frames, n in found if is_whole(frames))
    in_leaf = sum(n for frames, n in found if own(frames) == PLAIN_CALLS)
    need(all_of >= 20 and good >= 0.97 * all_of, f"{good} of {all_of} are whole: {found}")
    need(in_leaf >= 0.8 * all_of, f"{in_leaf} of {all_of} in leaf: {found}")


def results_begin_with_what_is_missing(acu):
    """Where code has no tables the first line of each result says how many stacks are complete, which file it is, and what helps."""
    bare = path("without_tables")
    subprocess.run(["gcc", *PLAIN, "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-o", bare, os.path.join(HERE, "whole.c")],
                   check=True, timeout=LIMIT)

    def told(*words):
        done = subprocess.run([acu, *words], capture_output=True, text=True, timeout=LIMIT, env={**os.environ, "XDG_CACHE_HOME": path("cache")})
        need(done.returncode == 0, done.stderr)
        return done.stdout, done.stderr

    sentence = re.compile(r"only \d+\.\d% of stacks are complete: code without unwind tables in " + re.escape(bare) +
                          r" \(\d+\.\d%\): build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer\b")
    results = {"record": told("record", "--split", "100ms", "-o", path("bare.acu"), "--", bare, "spin", "1")[1],
               "flame": told("flame", "-o", path("bare.html"), "--", bare, "spin", "1")[1],
               "top": told("top", "--count", "1", "--interval", "500ms", "--", bare, "spin", "2")[0],
               "report": told("report", path("bare.acu"))[0],
               "part": told("report", "--from", "0.1", path("bare.acu"))[0],
               "json": told("report", "--json", path("bare.acu"))[0].partition('"incomplete":"')[2],
               "page": open(path("bare.html")).read().partition('"incomplete":"')[2]}
    for name, text in results.items():
        need(sentence.match(text), f"{name} begins with {text[:300]!r}")
    need(re.search(r"^samples \d+ \(.*\), lost 0 · stacks complete \d+\.\d% · frames named \d+\.\d%$", results["flame"], re.M), results["flame"])
    fine = told("record", "-o", path("fine.acu"), "--", whole(), "spin", "1")[1]
    need(not sentence.search(fine) and "are complete" not in fine and "stacks complete" in fine, fine)


def in_raw_tracepoints(acu):
    text, _ = trace(acu, 'rawtracepoint:sys_enter /comm == "whole" && arg1 == 121/ { @[ustack] = count() }', lambda: run(whole(), "plain", 4))
    expect(text, PLAIN_CALLS, 4)


def in_the_scheduler(acu):
    process = []

    def drive():
        process.append(subprocess.Popen([whole(), "wait"]))
        time.sleep(0.5 * SLOWNESS)
        process[-1].kill()
        process[-1].wait()

    text, _ = trace(acu, 'tracepoint:sched:sched_switch /comm == "whole"/ { @[ustack] = count() }', drive)
    waits = [frames for frames, _ in stacks(text) if own(frames) == ["main"] and is_whole(frames)]
    need(waits, text[:2000])


def at_functions(acu):
    text, _ = trace(acu, f"uprobe:{whole()}:leaf {{ @[ustack] = count() }}", lambda: run(whole(), "plain", 4))
    expect(text, PLAIN_CALLS, 4)


def at_returns_of_functions(acu):
    text, _ = trace(acu, f"uretprobe:{whole()}:leaf {{ @[ustack] = count() }}", lambda: run(whole(), "plain", 4))
    expect(text, PLAIN_CALLS[1:], 4)


def where_returns_are_probed(acu):
    """The kernel keeps the return addresses of these functions elsewhere; the first walks are made outside of it."""
    probes = " ".join(f"uretprobe:{whole()}:{f} {{ @left[func] = count() }}" for f in ("work", "inner", "outer"))
    for options in ([], ["--no-feature", "loop"]):
        text, _ = trace(acu, f"uprobe:{whole()}:leaf {{ @[ustack] = count() }} {probes}", lambda: run(whole(), "plain", 200), options)
        expect(text, PLAIN_CALLS, 200)
        text, _ = trace(acu, f"{GETPGID} {probes}", lambda: run(whole(), "signal", 200), options)
        expect(text, ["leaf", "work", "inner", "handler", "raise_signal", "main"], 200)


def where_recursion_is_probed(acu):
    """More calls than the kernel probes returns of."""
    text, _ = trace(acu, f"{GETPGID} uretprobe:{whole()}:recurse {{ @left = count() }}", lambda: run(whole(), "deep", 20, 100))
    expect(text, ["leaf", "work"] + ["recurse"] * 101 + ["main"], 20)


def samples_while_returns_are_probed(acu):
    """Also those that interrupt what the kernel puts in the way of a return."""
    found = spinning(acu, f'profile:hz:999 /comm == "whole"/ {{ @[ustack] = count() }} uretprobe:{whole()}:leaf,uretprobe:{whole()}:work {{ @left = count() }}')
    all_of = sum(n for _, n in found)
    good = sum(n for frames, n in found if is_whole(frames))
    need(all_of >= 20 and good >= 0.97 * all_of, f"{good} of {all_of} are whole: {found}")


def at_marks(acu):
    text, _ = trace(acu, f"usdt:{whole()}:whole:leaf {{ @[ustack] = count() }}", lambda: run(whole(), "plain", 4))
    expect(text, PLAIN_CALLS, 4)


def without_bpf_loop(acu):
    """As on kernels before 5.17."""
    for way, calls in (("plain", PLAIN_CALLS), ("deep", ["leaf", "work"] + ["recurse"] * 101 + ["main"])):
        text, _ = trace(acu, GETPGID, lambda: run(whole(), way, 20, 100), options=["--no-feature", "loop"])
        expect(text, calls, 20)


def without_registers_of_tasks(acu):
    """As on kernels before 5.15."""
    text, _ = trace(acu, GETPGID, lambda: run(whole(), "plain", 20), options=["--no-feature", "loop", "--no-feature", "task_registers"])
    expect(text, PLAIN_CALLS, 20)


def as_it_is_printed(acu):
    """Not only in keys: what is printed at once, and values of maps."""
    script = 'tracepoint:syscalls:sys_enter_getpgid /comm == "whole"/ { printf("@[%s]: 1\\n", ustack); @last[pid] = ustack; }'
    text, _ = trace(acu, script, lambda: run(whole(), "plain", 3))
    expect(text, PLAIN_CALLS, 3)
    last = re.search(r"^@last\[\d+\]: *\n((?: .+\n)+)", text, re.M)
    need(last and own([line.strip().split("+")[0] for line in last[1].strip().split("\n")]) == PLAIN_CALLS, text)


# ------------------------------------------------------------------------------------------ beside eu-stack


def waiting_programs():
    """Programs that wait for something, each as (name, words)."""
    python = sys.executable
    fifo = path("fifo")
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    open(path("text"), "w").write("a line\n")
    candidates = [
        ("sleep", ["sleep", "600"]), ("cat", ["cat"]), ("bash", ["bash", "-c", "read x"]),
        ("bash_waits", ["bash", "-c", "sleep 600; true"]), ("sh", ["sh", "-c", "read x"]), ("tail", ["tail", "-f", path("text")]),
        ("sort", ["sort"]), ("xz", ["xz", "-c"]), ("gzip", ["gzip", "-c"]), ("grep", ["grep", "x"]), ("sed", ["sed", "s/a/b/"]),
        ("awk", ["awk", "{ print }"]), ("tee", ["tee"]), ("wc", ["wc"]), ("md5sum", ["md5sum"]), ("dd", ["dd"]),
        ("perl", ["perl", "-e", "sub a { b(@_) } sub b { sleep 600 } a(1)"]),
        ("python", [python, "-c", "import time\ndef f(n):\n  f(n - 1) if n else time.sleep(600)\nf(5)"]),
        ("python_select", [python, "-c", "import select\nselect.select([], [], [])"]),
        ("python_thread", [python, "-c", "import threading\nt = threading.Thread(target=threading.Event().wait)\nt.start()\nt.join()"]),
        ("timeout", ["timeout", "600", "sleep", "600"]), ("openssl", ["openssl", "dgst"]),
        ("node", ["node", "-e", "setTimeout(() => 0, 600000)"]), ("gdb", ["gdb", "-q", "-nx"]),
        ("tr", ["tr", "a", "b"]), ("cut", ["cut", "-c1"]), ("uniq", ["uniq"]), ("nl", ["nl"]), ("od", ["od"]), ("fold", ["fold"]),
        ("base64", ["base64"]), ("whole", [whole(), "wait"]),
    ]
    return [(name, words) for name, words in candidates if shutil.which(words[0])]


def stack_by_eu_stack(pid):
    """The addresses of the first thread's stack."""
    text = subprocess.run(["eu-stack", "-q", "-p", str(pid), "-n", "512"], capture_output=True, text=True, timeout=LIMIT).stdout
    first = re.search(rf"TID {pid}:\n((?:#.*\n?)+)", text)
    return [int(a, 16) for a in re.findall(r"^#\d+\s+(0x[0-9a-f]+)", first[1], re.M)] if first else []


def beside_eu_stack(acu):
    programs, wrong, theirs = {}, [], {}

    def end():
        for p in programs.values():
            p.kill()
            p.wait()

    def drive():
        end()  # those of the try before
        for name, words in waiting_programs():
            programs[name] = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + LIMIT
        for name, p in programs.items():  # until it waits, and has done so for a while
            calm = 0
            while calm < 5 and time.time() < deadline:
                time.sleep(0.1)
                state = open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()[0]
                calm = calm + 1 if state == "S" else 0
        for name, p in programs.items():
            theirs[name] = stack_by_eu_stack(p.pid)

    try:
        # The system call in which it waits is the last one that it entered.
        text, _ = trace(acu, f"rawtracepoint:sys_enter /pid == tid && curtask->real_parent->tgid == {os.getpid()}/ {{ @last[pid] = ustack(raw) }}", drive)
    finally:
        end()
    compared = 0
    for name, p in programs.items():
        mine = re.search(rf"^@last\[{p.pid}\]: *\n((?:[0-9a-f]+\n|\[.*\]\n)+)", text, re.M)
        mine = mine[1].split("\n")[:-1] if mine else []
        if len(theirs[name]) < 2:
            continue
        compared += 1
        if [int(a, 16) if a[0] != "[" else a for a in mine] != theirs[name]:
            wrong.append(f"{name}:\n  acu      {' '.join(mine)}\n  eu-stack {' '.join('%x' % a for a in theirs[name])}")
    need(not wrong, f"{len(wrong)} of {compared} differ:\n" + "\n".join(wrong))
    need(compared >= 20, f"only {compared} programs to compare")


TESTS = [plain_calls, many_runs, frame_pointers_on_demand, in_a_signal_handler, on_a_signal_stack, on_an_own_stack,
         recursion_of_300, recursion_of_10000, depth_that_is_asked_for, damaged_stack, code_without_tables, code_that_was_made,
         program_that_executes_itself, file_that_was_replaced, ran_before, other_code_at_the_same_address,
         many_children, many_short_programs,
         in_samples, results_begin_with_what_is_missing, in_raw_tracepoints, in_the_scheduler, at_functions, at_returns_of_functions,
         where_returns_are_probed, where_recursion_is_probed, samples_while_returns_are_probed, at_marks,
         without_bpf_loop, without_registers_of_tasks, as_it_is_printed, beside_eu_stack]


sys.exit(run_suite(TESTS, TMP))
