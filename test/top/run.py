#!/usr/bin/env python3
"""The live view: run.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from hosts import one_word
from tally import Skipped as Skip, Wrong, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-top-")
ACU = one_word(os.path.abspath(sys.argv[1]))  # typed into a shell
LAST = re.compile(r"^\d+ samples?, \d+ lost.*; acu takes [\d.]+% of a CPU, its probes [\d.]+%, \d+ MiB$")


def path(*names):
    return os.path.join(TMP, *names)


def build(source, *options):
    out = path(source.split(".")[0])
    if not os.path.exists(out):
        subprocess.run(["g++", "-O2", "-g", *options, "-o", out, os.path.join(HERE, "..", "flame", source)], check=True, timeout=120)
    return out


def hot():
    return build("hot.cc", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")


def top(*words, status=0, **more):
    done = subprocess.run([ACU, "top", *[str(w) for w in words]], capture_output=True, text=True, timeout=patient(120), cwd=TMP, **more)
    need(status is None or done.returncode == status, f"status {done.returncode} of acu top {words}: {done.stderr.strip()[:500]}")
    return done


# ------------------------------------------------------------------------------------------------ not a terminal


def tables_for_scripts():
    done = top("-n", 3, "-I", "400ms", "-F", 499, "--top", 4, "--", hot(), 60000)
    need("\033" not in done.stdout, "escape sequences in a file")
    tables = done.stdout.strip().split("\n\n")
    need(len(tables) == 3, done.stdout)
    for table in tables:
        lines = table.split("\n")
        need(re.match(r"\d\d:\d\d:\d\d  CPU of command .*, 0\.[3-9]\d s: .* ms, 0 lost$", lines[0]), table)
        need("self" in lines[1] and "function" in lines[1] and len(lines) <= 7, table)
    shares = re.findall(r"([\d.]+)%\s+[\d.]+ \S+\s+([\d.]+)%\s+[\d.]+ \S+\s+stir \(inlined\)", done.stdout)
    need(len(shares) == 3 and all(float(s) > 60 for s, _ in shares), done.stdout)
    need(LAST.match(done.stderr.strip().split("\n")[-1]), done.stderr)


def intervals_add_up():
    """Each event is in one interval: of 500 calls over a second none is missing, none twice."""
    calls = "import os, time\nfor i in range(500): os.getpgid(0); time.sleep(0.002)"
    done = top("tracepoint:syscalls:sys_enter_getpgid", "-I", "200ms", "--json", "--", sys.executable, "-c", calls)
    rounds = [json.loads(line) for line in done.stdout.strip().split("\n")]
    need(len(rounds) >= 4, done.stdout[:500])
    need(sum(r["total"] for r in rounds) == 500, str([r["total"] for r in rounds]))
    need(sum(r["samples"] for r in rounds) == 500, str([r["samples"] for r in rounds]))
    need(max(r["total"] for r in rounds) < 300, "not told as it happens")


def other_kinds():
    """What waits, live; and the command's status is acu's."""
    done = top("offcpu", "-I", "300ms", "--json", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; exit 3", status=3)
    rounds = [json.loads(line) for line in done.stdout.strip().split("\n")]
    need(rounds[0]["unit"] == "ns" and sum(r["total"] for r in rounds) > 900_000_000, str([r["total"] for r in rounds]))


def memory_not_freed():
    """Of leaks each interval tells what there is, not what was added."""
    grow = "import time\nkept = []\nwhile True: kept.append(bytes(100_000)); time.sleep(0.01)"
    program = subprocess.Popen([sys.executable, "-c", grow])
    try:
        time.sleep(0.3)
        done = top("leaks", "-p", program.pid, "-n", 4, "-I", "300ms", "--json", "--max-cost", 10000)
        sizes = [json.loads(line)["total"] for line in done.stdout.strip().split("\n")]
        need(len(sizes) == 4 and sizes == sorted(sizes) and sizes[3] > 2 * sizes[0] > 0 and sizes[3] < 30_000_000, str(sizes))
    finally:
        program.kill()
        program.wait()


def tables_do_not_fill():
    """More stacks than the kernel's tables hold, one after the other: all are told, each with its frames."""
    program = path("branchy")
    subprocess.run(["g++", "-O1", "-g", "-o", program, os.path.join(HERE, "branchy.cc")], check=True, timeout=120)
    done = top("tracepoint:syscalls:sys_enter_getpgid", "-I", "300ms", "--json", "--top", 100, "--", program, 40000)
    rounds = [json.loads(line) for line in done.stdout.strip().split("\n")]
    sums = {name: sum(f["total"] for r in rounds for f in r["functions"] if f["name"] == name) for name in ("main", "right(unsigned int, int)")}
    need(sum(r["total"] for r in rounds) == 40000, str([r["total"] for r in rounds]))
    need(all(n == 40000 for n in sums.values()), str(sums))
    need(" 0 lost; " in done.stderr, done.stderr)


def reader_that_goes():
    done = subprocess.run(f"{ACU} top -a -I 200ms | head -2", shell=True, capture_output=True, text=True, timeout=60)
    need(len(done.stdout.split("\n")) == 3, done.stdout)


def full_disk():
    with open("/dev/full", "w") as full:
        done = subprocess.run([ACU, "top", "-a", "-n", "3", "-I", "200ms"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=patient(60))
    need(done.returncode == 1 and "cannot write to standard output: No space left on device" in done.stderr, f"{done.returncode}: {done.stderr}")


def signals_end_it():
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([ACU, "top", "-a", "-I", "200ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(number)
        told = process.communicate(timeout=60)[1]
        need(process.returncode == 0 and LAST.match(told.strip().split("\n")[-1]), f"{process.returncode}: {told}")


def mistakes():
    for words, part in ((["-n", "0"], "from 1 to"), (["-I", "1ms"], "at least 100ms"), (["-I", "soon"], "takes a time"), (["cpux"], "there is no kind"),
                        (["leaks"], "needs one process"), (["-p", "1", "-a"], "cannot be combined"), (["--sort", "slef"], "did you mean `self`"),
                        (["sleep", "1"], "after `--`")):
        done = top(*words, status=2)
        need(part in done.stderr and done.stderr.startswith("ERROR: ") and not done.stdout, f"{words}: {done.stderr}")
    need("no process" in top("-p", "4194304", status=3).stderr, "a process that is not there")


# ------------------------------------------------------------------------------------------------ a terminal


class Terminal:
    """A shell in a terminal of so many columns and rows, which nobody looks at."""
    count = 0

    def __init__(self, columns=80, rows=24, environment=""):
        if not shutil.which("tmux"):
            raise Skip("no tmux here")
        Terminal.count += 1
        self.base = ["tmux", "-L", f"acu-test-{os.getpid()}-{Terminal.count}", "-f", "/dev/null"]
        clean = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "ACU_COLOR")}
        subprocess.run([*self.base, "new-session", "-d", "-x", str(columns), "-y", str(rows), f"{environment} sh"], check=True, timeout=30, env=clean, cwd=TMP)
        self.tmux("set-option", "-g", "escape-time", "0")
        self.run("PS1='$ '")
        self.wait(lambda text: text.rstrip().endswith("$"), "prompt")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        socket = self.tmux("display-message", "-p", "#{socket_path}").strip()
        subprocess.run([*self.base, "kill-server"], capture_output=True, timeout=30)
        if socket and os.path.exists(socket):
            os.unlink(socket)

    def tmux(self, *words):
        return subprocess.run([*self.base, *words], capture_output=True, text=True, timeout=30).stdout

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, line):
        self.type(line)
        self.press("Enter")

    def full_screen(self):
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def wait(self, holds, what, limit=20):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if holds(self.text()):
                return self.text()
            time.sleep(0.05)
        raise Wrong(f"no {what} in:\n{self.text()}")

    def start(self, *words):
        self.run(" ".join([ACU, "top", "-I", "300ms", "-F", "499", *map(str, words)]))
        return self.wait(lambda text: "% " in text and "acu takes" in text or "; acu " in text, "first interval")


def keys_do_what_they_say():
    with Terminal() as t:
        screen = t.start("--", hot(), 60000)
        need("CPU of command" in screen and "self  total" in screen and "stir (inlined)" in screen, screen)
        need(LAST.match(screen.rstrip("\n").split("\n")[-1]), screen)
        t.press("s")
        t.wait(lambda text: "by total" in text, "other order")
        t.press("s", "s")
        t.wait(lambda text: "by self" in text, "order by self")
        t.type("/cold")
        t.wait(lambda text: "search: cold_" in text and "stir" not in text and re.search(r"%\s.* cold\s", text), "search")
        t.press("Enter", "Enter")  # the search is kept; then callers and callees
        t.wait(lambda text: "> cold" in text and re.search(r"called by\n.* main\s", text) and re.search(r"calls\n.* stir ", text), "callers")
        t.press("Enter")
        t.wait(lambda text: "> main" in text, "callers of the caller")
        t.press("Left", "Escape")
        t.wait(lambda text: "called by" not in text and "self  total" in text, "way back")
        t.press("t")
        t.wait(lambda text: "by thread" in text and re.search(r"100\.0%.* hot \d+ ", text), "threads")
        t.press("Right")
        t.wait(lambda text: re.search(r"> hot \d+", text) and "stir" in text, "functions of the thread")
        t.press("a")
        t.wait(lambda text: "since the start" in text, "sum")
        t.press("h")
        t.wait(lambda text: "pause, or resume" in text, "help")
        t.press("x", "Space")
        held = t.wait(lambda text: "[held]" in text, "stillness")
        time.sleep(1)
        shares = lambda text: re.findall(r"^.*%.*$", text, re.M)[:-1]  # the last line goes on counting
        need(shares(t.text()) == shares(held), f"it moves:\n{held}\n{t.text()}")
        t.press("Space")
        t.wait(lambda text: "[held]" not in text, "going on")
        t.press("q")
        screen = t.wait(lambda text: "samples, " in text and text.rstrip().endswith("$"), "prompt")
        need(not t.full_screen() and "self  total" not in screen, screen)


def chosen_rows_are_followed():
    with Terminal() as t:
        t.start("--", build("spiky.cc"), 60, 2, 60)
        t.press("a")  # since the start no row goes
        t.wait(lambda text: "since the start" in text, "sum")
        t.press("Down", "Down", "Enter")
        screen = t.wait(lambda text: "called by" in text or "calls" in text, "callers")
        function = re.search(r"> (\S+)", screen)[1]
        t.press("Escape")
        t.wait(lambda text: "self  total" in text, "way back")
        time.sleep(3)
        t.press("Enter")
        screen = t.wait(lambda text: "> " in text, "callers")
        need(f"> {function}" in screen, screen)


def forty_columns():
    with Terminal() as t:
        t.start("--", hot(), 60000)
        t.tmux("resize-window", "-x", "40", "-y", "10")
        screen = t.wait(lambda text: all(len(line) <= 40 for line in text.split("\n")) and re.search(r"^\d+ samples?, .*; acu [\d.]+%, \d+ MiB$", text, re.M), "narrow screen")
        need(re.search(r"^ *[\d.]+% +[\d.]+%  stir$", screen, re.M), screen)
        need(len(screen.rstrip("\n").split("\n")) == 10, screen)
        t.tmux("resize-window", "-x", "10", "-y", "3")
        time.sleep(0.5)
        t.tmux("resize-window", "-x", "120", "-y", "30")
        t.wait(lambda text: "stir (inlined)" in text and "acu takes" in text, "wide screen")
        t.press("q")
        t.wait(lambda text: text.rstrip().endswith("$"), "prompt")


def terminal_is_as_it_was():
    """After q, Ctrl-C, signals, an end of the command, and being stopped in between."""
    with Terminal() as t:
        state = path("state")
        t.run(f"stty -g > {state}; echo said")
        t.wait(lambda text: "\nsaid" in text, "state")
        was = open(state).read()

        def check(how, ends):
            t.run("clear")
            t.start("--", hot(), 60000 if how != "end of the command" else 1500)
            need(t.full_screen() or how == "end of the command", "the screen is not taken")  # which may have come
            child = lambda of: int(subprocess.run(["pgrep", "-P", str(of)], capture_output=True, text=True).stdout.split()[0])
            pid = child(t.tmux("display-message", "-p", "#{pane_pid}").strip())
            command = os.pidfd_open(child(pid))
            ends(pid)
            t.wait(lambda text: re.search(r"\$\s*$", text) and "self  total" not in text, f"prompt after {how}")
            need(not t.full_screen(), f"still full after {how}")
            try:
                signal.pidfd_send_signal(command, signal.SIGKILL)  # nobody ended it when acu was killed
            except ProcessLookupError:
                pass
            os.close(command)
            os.unlink(state)
            t.run(f"stty -g > {state}; echo told")
            t.wait(lambda text: "\ntold" in text, f"state after {how}")
            need(open(state).read() == was, f"{how}: {open(state).read()} and not {was}")

        check("q", lambda _: t.press("q"))
        check("Ctrl-C", lambda _: t.press("C-c"))
        check("end of the command", lambda _: None)
        for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGABRT, signal.SIGHUP):
            check(number.name, lambda pid, n=number: os.kill(pid, n))

        def stop(_):
            t.press("C-z")
            t.wait(lambda text: "topped" in text and "self  total" not in text, "stop")
            need(not t.full_screen(), "stopped, and the screen is still taken")
            t.run("fg")
            t.wait(lambda text: "self  total" in text, "view again")
            t.press("q")

        check("a stop", stop)


def colors_if_they_are_wanted():
    for environment, has in (("TERM=screen-256color", True), ("TERM=screen-256color NO_COLOR=1", False)):
        with Terminal(environment=environment) as t:
            t.start("--", hot(), 60000)
            found = re.search(r"\033\[3[1-6]m", t.text("-e"))
            need(bool(found) == has, f"{environment}: {t.text('-e')[:300]!r}")


def strange_terminals():
    for kind in ("nonsense", "dumb"):
        with Terminal(environment=f"TERM={kind}") as t:
            t.run(f"{ACU} top -n 1 -I 200ms --top 3 -a")
            screen = t.wait(lambda text: "acu takes" in text, "tables")
            need("NOTE: unknown terminal type" in screen and "function" in screen and not t.full_screen(), screen)


def terminal_that_goes():
    """Who is not told by a signal (nohup) sees it all the same, and ends."""
    master, slave = pty.openpty()
    process = subprocess.Popen([ACU, "top", "-a", "-I", "300ms"], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, "TERM": "xterm"}, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    os.close(slave)
    seen = b""
    while b"self" not in seen:
        seen += os.read(master, 4096)
    os.close(master)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Wrong("it goes on")


def errors_leave_the_terminal_alone():
    with Terminal() as t:
        t.run(f"{ACU} top tracepoint:no:such")
        screen = t.wait(lambda text: "ERROR" in text, "error")
        need(not t.full_screen(), screen)


def commands_keep_off():
    """What the command writes does not get between the lines."""
    with Terminal() as t:
        t.start("--", "sh", "-c", "'while :; do echo NOISE; done'")
        time.sleep(1)
        need("NOISE\n" not in t.text(), t.text())
        t.press("q")
        t.wait(lambda text: text.rstrip().endswith("$"), "prompt")
        need("NOISE\n" not in t.text(), t.text())


TESTS = [tables_for_scripts, intervals_add_up, other_kinds, memory_not_freed, tables_do_not_fill, reader_that_goes, signals_end_it, mistakes, keys_do_what_they_say,
         chosen_rows_are_followed, forty_columns, terminal_is_as_it_was, colors_if_they_are_wanted, strange_terminals, terminal_that_goes, errors_leave_the_terminal_alone, commands_keep_off]


sys.exit(run_suite(TESTS, TMP, tells_reason=False, limit=400))
