#!/usr/bin/env python3
"""What the documents say is so: docs.py ACU [--filter TEXT]

- docs/reference.md is what `acu help reference` prints, docs/causes.md what `acu why --causes` prints.
- Every builtin has an example there, or is named in WITHOUT_EXAMPLE with the reason.
- Every document and page of docs is in the list of docs/README.md, every tool has its page in docs/tools (tools/pages.py) with
  the usage that it tells, and links lead to files that are there.
- Every ```bt block (reference.md, tutorial.md) is a script that runs: attached, stopped after a moment if it does not
  end by itself, status 0, no error.
- Every ```console block shows commands after `$ ` and what they print: `...` in a line stands for any text, a line `[...]` for
  any lines; order counts. Commands run in one folder for the whole document, with acu in the PATH and the files of docs/cookbook.
  One that opens with ```console 3s is interrupted after so many seconds (Ctrl-C). In ```console example numbers may be others,
  and the spaces with them; the folder is /srv, the host vm; a histogram is any histogram (hosts.py). Everywhere a function of
  libc may be the version of it that this CPU gets.
- A block ```sh load is a program that runs until the next heading; $PID is its process.
- Every command of acu in a ```sh block of README.md, in a sentence of cookbook.md, or in a table of coming-from.md, static.md or dscript.md
  runs: it ends by itself or when it is interrupted after a moment, with status 0 and no error, or says which ability this kernel
  lacks. For this 4711 is a process of docs/cookbook/spikes.c, `./server`, durations are cut to half a second (and what depends
  on them), and SETUP makes what the commands ask for.

What fails is tried once more: a console command after all those before it under the same heading, whose files it may read, and
with `--duration`s four times as long. Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import hosts
from tally import SLOWNESS, why_refused

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "tools"))
import pages

BLOCK = re.compile(r"^```(bt|console|console example|sh load)(?: (\d+)s)?\n(.*?)^```$", re.M | re.S)
HEADING = re.compile(r"^#+ ", re.M)
SETUP = """gcc -g -O1 -pthread -o server spikes.c && gcc -g -O1 -o crash crash.c && seq 300000 -1 1 > big.txt
acu record -q --duration 500ms -o recording.acu -- sleep 0.5
cp recording.acu before.acu; cp recording.acu after.acu; printf 'all:\\n\\t@echo made\\n' > Makefile
gdb -nx -batch -ex run -ex 'generate-core-file core.4711' ./crash; cp core.4711 crash.core
echo 'interval:ms:100 { print(pid); exit(); }' > script.bt; echo 'sum(range(1000000))' > app.py"""
EXAMPLE_PID = "4711"
NO_KPROBES = "this kernel is built without kprobes"
SHOWN_FOLDER, SHOWN_HOST = "/srv/", "vm"
AT_ONCE = 4
LONGEST = 60  # seconds for any one command

# Builtins whose use needs a probe, a program or a machine that a self-contained example can't bring along.
WITHOUT_EXAMPLE = {
    "percpu_kaddr": "kernels whose list of symbols has functions only refuse it",
    "write_user": "kernels in lockdown refuse it",
    "override": "needs a kprobe, and a kernel with error injection",
    "path": "needs a probe on a function of the kernel",
    "func": "needs a probe on a function",
    "retval": "needs a probe on the return of a function",
    "locals": "needs a program with debug information: see the tutorial",
    "target": "needs a program with debug information: see the tutorial",
    "entry": "needs a probe on the return of a function: see the tutorial",
    "next_chunk": "needs a stopped program: see docs/static.md",
    "chunk": "needs a stopped program: see docs/static.md",
    "chunk_size": "needs a stopped program: see docs/static.md",
    "next_area": "needs a stopped program: see docs/static.md",
    "area_end": "needs a stopped program: see docs/static.md",
    "uaddr": "needs a probe in a program",
}


def title(path, text, at):
    heading = re.findall(r"^#+ (.*)$", text[:at], re.M)
    return f"{os.path.basename(path)}: {heading[-1] if heading else ''}"


def run_script(acu, script):
    """A mistake as text, or None."""
    attached = threading.Event()

    def read(lines):
        for line in lines:
            if "#attached#" in line:
                attached.set()
        attached.set()  # or it has ended

    with tempfile.TemporaryFile("w+", errors="replace") as error:
        process = subprocess.Popen([acu, "run", "--unsafe", "--notify-attached", "#attached#", "-e", script], stdout=subprocess.PIPE, stderr=error,
                                   text=True, errors="replace")
        reader = threading.Thread(target=read, args=(process.stdout,))
        reader.start()
        try:
            attached.wait(LONGEST)
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "does not end after Ctrl-C"
        finally:
            reader.join()
            process.stdout.close()
        error.seek(0)
        told = error.read()
    if process.returncode != 0 or "ERROR" in told:
        return f"status {process.returncode}: {told.strip()[:400]}"
    return None


def commands_of(block):
    """[(command, expected lines)]"""
    out = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif line.startswith(">") and out and not out[-1][1]:
            out[-1] = (out[-1][0] + "\n" + line[2:], [])
        elif out:
            out[-1][1].append(line)
    return out


UNIT = r"(?: ?(?:[kKMG]?B(?:/s)?|[µumn]?s)\b(?!/))"


def loosely(text):
    """A text with any other numbers, in any of their units, and the spaces that go with them."""
    out = ""
    for part in re.split(rf"(0x[0-9a-f]+|\d[\d.,:]*{UNIT}?| +)", text):
        if part.startswith("0x"):
            out += "0x[0-9a-f]+"
        elif part[:1].isdigit():
            out += r"\d[\d.,:]*" + (UNIT if re.search(UNIT, part) else "")
        elif part.startswith(" "):
            out += " +"
        else:
            out += re.escape(part)
    return out


ANY_LINES, HISTOGRAM = r"(?:.*\n)*?", r"((?:[\[(].*\|\n)+)"


def pattern_of(lines, is_example=False):
    """Its groups are histograms: of an example's rows, with `[...]` between two of them, any number and kind will do."""
    parts, is_row = [], False
    for line in lines:
        was_row, is_row = is_row, is_example and hosts.ROW.fullmatch(line.strip()) is not None
        if line.strip() == "[...]":
            parts.append(ANY_LINES)
        elif is_row and (was_row or parts[-2:] == [HISTOGRAM, ANY_LINES]):
            del parts[parts.index(HISTOGRAM, -2) + 1:]
        elif is_row:
            parts.append(HISTOGRAM)
        else:
            parts.append(r"[^\n]*".join((loosely if is_example else re.escape)(p) for p in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def differs(expected, out, is_example):
    """What is wrong with an output; None when it is as expected. Lines without text do not count."""
    shown = hosts.without_delays("".join(line + "\n" for line in out.split("\n") if line.strip()))
    wanted = [line for line in expected if line.strip()]
    found = pattern_of([hosts.public_names(line) for line in wanted], is_example).fullmatch(hosts.public_names(shown))
    problems = filter(None, (hosts.histogram_problem(rows.splitlines()) for rows in found.groups())) if found else ["other lines"]
    if why := next(iter(problems), None):
        return "\n  ".join(["expected", *wanted]) + f"\nbut it printed ({why})\n  " + "\n  ".join(shown.split("\n")[:40])
    return None


def environment_of(acu, pid=0):
    return dict(os.environ, PATH=os.path.dirname(os.path.abspath(acu)) + ":" + os.environ["PATH"], PID=str(pid))


def run_command(acu, command, expected, seconds, folder, pid=0, is_example=False):
    process = subprocess.Popen(["bash", "-c", "trap : INT; " + patient(command)], stdout=subprocess.PIPE, cwd=folder,
                               env=environment_of(acu, pid), stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        out, _ = process.communicate(timeout=seconds or LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT if seconds else signal.SIGKILL)
        out, _ = process.communicate(timeout=LONGEST)
        if not seconds:
            return f"does not end:\n{out[:600]}"
    if is_example:
        out = hosts.shown_host(out.replace(folder + "/", SHOWN_FOLDER), SHOWN_HOST)
    return differs(expected, out, is_example)


def run_again(acu, commands):
    """The last of these commands, which may read what those before it wrote, with more time for each."""
    for command, *more in commands:
        wrong = run_command(acu, re.sub(r"--duration (\d+)", lambda m: f"--duration {4 * int(m[1])}", command), *more)
    return wrong


def patient(command):
    """A process may stand still for longer than ten milliseconds where the machine is busy."""
    return re.sub(r"\bacu (snap|locks|cpp-containers) (?=-p)", r"acu \1 --max-pause 10s ", command)


class Load:
    """A program that runs beside the commands: a script of the shell whose last command is it (`exec`)."""

    def __init__(self, acu, script, folder):
        self.process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment_of(acu), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.process.pid
        end = time.monotonic() + LONGEST
        shell = os.path.realpath(shutil.which("bash"))
        try:
            while os.path.realpath(f"/proc/{self.pid}/exe") == shell and time.monotonic() < end:
                time.sleep(0.05)
        except OSError:
            pass
        time.sleep(0.5 * SLOWNESS)

    def end(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Skip(Exception):
    pass


def does_run(acu, command, folder, pid):
    """A mistake as text, or None. Raises Skip where the kernel lacks an ability."""
    command = re.sub(r"--duration \w+", "--duration 500ms", command.replace(EXAMPLE_PID, str(pid)))
    command = command.replace("--split 1s", "--split 100ms").replace("--from 41 --until 43", "--from 0.1 --until 0.3")
    command = command.replace(f"core.{pid}", "core." + EXAMPLE_PID)
    process = subprocess.Popen(["bash", "-c", "trap : INT; " + patient(command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=folder,
                               env=environment_of(acu, pid), stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    out, limit = "", time.monotonic() + LONGEST
    try:
        out, _ = process.communicate(timeout=1.5 * SLOWNESS)
    except subprocess.TimeoutExpired:
        while time.monotonic() < limit:  # a shell starts its next command only when the one before has ended
            os.killpg(process.pid, signal.SIGINT)
            try:
                out, _ = process.communicate(timeout=10 * SLOWNESS)
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            os.killpg(process.pid, signal.SIGKILL)
            return "does not end after Ctrl-C"
    if lacks := why_refused(acu, out) or (NO_KPROBES if NO_KPROBES in out else ""):
        raise Skip(lacks)
    nothing_happened = process.returncode == 1 and "nothing was recorded" in out  # in half a second, with many others on the CPUs
    if process.returncode not in (0, 130) and not nothing_happened or re.search(r"\bERROR\b", out):  # ERRORS is a column
        return f"status {process.returncode}: {out.strip()[:600]}"
    return None


def shell_commands(text):
    """Commands in the sh blocks of a document: lines that begin with acu, with those behind that are indented."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        in_block = []
        for line in block.split("\n"):
            if line.startswith("acu "):
                in_block.append(line)
            elif line.startswith(" ") and in_block:
                in_block[-1] += "\n" + line
        found.append(in_block)
    return found


def table_commands(text):
    """Commands of acu in the second column of the tables of a document, each alone."""
    found = []
    for line in text.split("\n"):
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) > 3 and line.startswith("|"):
            found += [[c.replace("\\|", "|")] for c in re.findall(r"`(acu [^`]+)`", cells[2])]
    return found


def prose_commands(text):
    """Commands of acu within sentences, those of a paragraph one after the other; not those with a word for something else in
    them (FILE, NAME), nor tools for certain programs."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    groups = [[c.replace("$PID", EXAMPLE_PID).replace("-p PID", "-p " + EXAMPLE_PID) for c in re.findall(r"`(acu [^`]+)`", part)]
              for part in re.split(r"\n\n|\n- ", text) if not part.startswith("|")]
    return [[c for c in g if not re.search(r"\b[A-Z]{4,}\b|acu (py|pg|lj|nginx|core)", c)] for g in groups]


def check_index(_):
    """Lists and links of the documents."""
    wrong = []
    docs = os.path.join(ROOT, "docs")
    index = open(os.path.join(docs, "README.md")).read()
    for path in sorted(glob.glob(os.path.join(docs, "*.md"))) + [os.path.join(docs, "tools", "README.md"), os.path.join(docs, "examples", "README.md")]:
        name = os.path.relpath(path, docs)
        if name != "README.md" and f"]({name})" not in index:
            wrong.append(f"docs/README.md does not lead to {name}")
    tools = open(os.path.join(docs, "tools", "README.md")).read()
    wrong += [f"docs/tools/README.md does not lead to {n}.md" for n in pages.names() if f"]({n}.md)" not in tools]
    for path in [os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(docs, "**", "*.md"), recursive=True)]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub(r"^```.*?^```$|`[^`\n]*`", "", open(path).read(), flags=re.M | re.S)):
            if not os.path.exists(os.path.join(os.path.dirname(path), link)):
                wrong.append(f"{os.path.relpath(path, ROOT)} leads to {link}, which is not there")
    return "\n".join(wrong) or None


def check_pages(acu):
    """Each tool has a page, with the usage of today and an output of its own maps."""
    wrong = []
    for name in pages.names():
        if not os.path.exists(pages.path_of(name)) or pages.read(name) is None:
            wrong.append(f"docs/tools/{name}.md is not there, or has another form than test/tools/pages.py says")
            continue
        page = pages.read(name)
        usage = subprocess.run([acu, name, "--help"], capture_output=True, text=True).stdout
        if page["usage"] != usage:
            wrong.append(f"docs/tools/{name}.md has another usage than `acu {name} --help`: run docs/tools/make.py ACU {name}")
        text = open(pages.script_of(name)).read()
        foreign = [m for m in pages.maps(page["output"]) if not re.search(re.escape(m) + r"(?!\w)", text)]
        if foreign or not page["output"].strip() or not page["command"].startswith("acu " + name):
            wrong.append(f"docs/tools/{name}.md: the example is not of this tool {foreign}")
    of_cores = open(os.path.join(HERE, "core", "static_tools.py")).read()
    wrong += [f"tools/static/{n}.bt has no test" for n in pages.names() if "static" in pages.script_of(n) and f'"{n}"' not in of_cores]
    for name in os.listdir(pages.FOLDER):
        if name.endswith(".md") and name != "README.md" and name[:-3] not in pages.names():
            wrong.append(f"docs/tools/{name} is of no tool")
    listed = len(re.findall(r"^  \S", subprocess.run([acu, "tools"], capture_output=True, text=True).stdout, re.M))
    said = re.search(r"`acu tools` lists (\d+) such tools", open(os.path.join(ROOT, "README.md")).read())
    if not said or int(said[1]) != listed:
        wrong.append(f"README.md says how many tools there are: {listed}")
    return "\n".join(wrong) or None


def check_reference(acu):
    for document, words in (("reference.md", ["help", "reference"]), ("causes.md", ["why", "--causes"])):
        made = subprocess.run([acu, *words], stdout=subprocess.PIPE, text=True).stdout
        if made != open(os.path.join(ROOT, "docs", document)).read():
            return f"docs/{document} is not what `acu {' '.join(words)}` prints: run `make docs`"
    return None


def check_examples(acu):
    made = subprocess.run([acu, "help", "reference"], stdout=subprocess.PIPE, text=True).stdout
    chapter = made.split("\n# Builtins\n")[1].split("\n# Probes\n")[0]
    missing = []
    for entry in re.split(r"^### ", chapter, flags=re.M)[1:]:
        name = entry.split("\n")[0]
        if "```bt" not in entry and name not in WITHOUT_EXAMPLE:
            missing.append(name)
    return "no example: " + ", ".join(missing) if missing else None


BUCKETS = ["[256, 512)       5752 |" + "@" * 52 + "|", "[...]", "[32K, 64K)          3 |" + " " * 52 + "|"]
ONE_ROW = "[2]             7 |" + "@" * 52 + "|\n"
COMPARED = [  # expected lines, what is printed, whether it is the same; of examples
    (["0  __strrchr_evex+0x18 at ./string/../sysdeps/x86_64/multiarch/strrchr-evex.S:87"],
     "3  __strrchr_sse2+0x2 at ../sysdeps/x86_64/multiarch/../strrchr.S:9\n", True),
    (["__strrchr_evex+0x18"], "__strchr_evex+0x18\n", False), (["__strrchr_evex+0x18"], "strrchr_of_mine+0x18\n", False),
    (["0  f at ./string/../sysdeps/x86_64/multiarch/strrchr-evex.S:87"], "0  f at ./string/../sysdeps/x86_64/multiarch/strchr-evex.S:87\n", False),
    (["runnable 50 us (0.1%), 1.7 MB/s", "[...]"], "runnable 12.30 ms (7.1%), 900.0 kB/s\n", True),
    (["runnable 50 us (0.1%)"], "runnable 50 (0.1%)\n", False), (["runnable 50 us (0.1%)"], "runnable 50 kg (0.1%)\n", False),
    (["@us:", *BUCKETS], "@us:\n" + ONE_ROW, True),
    (["@us:", *BUCKETS, "[...]", "@n: 3"], "@us:\n" + ONE_ROW + ONE_ROW.replace("[2]", "[3]") + "more\n@n: 12\n", True),
    (["@us:", *BUCKETS], "@us:\n" + ONE_ROW + ONE_ROW, False), (["@us:", *BUCKETS], "@us:\n" + ONE_ROW.replace("7", "0"), False),
    (["@us:", *BUCKETS], "@us:\n" + ONE_ROW.replace("@@", "@ "), False), (["@us:", *BUCKETS], "@us:\n", False),
    (["@us:", *BUCKETS], "@us:\n" + ONE_ROW.replace("[2]", "[4, 2)"), False), (["@us:", *BUCKETS], "@us:\n" + ONE_ROW + "more\n", False),
]


def check_comparison(_):
    """Outputs of other hosts are the same, wrong ones are not."""
    wrong = [(wanted, out) for wanted, out, is_same in COMPARED if (differs(wanted, out, True) is None) != is_same]
    return "\n".join(f"{wanted} and {out!r} are compared wrongly" for wanted, out in wrong) or None


class Judge:
    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.reasons = {}
        self.lock = threading.Lock()

    def __call__(self, name, test, again=None):
        """Tries once more what fails, in the same way or as `again`."""
        try:
            first = wrong = test()
            if first:
                wrong = (again or test)()
        except Skip as why:
            with self.lock:
                self.counts["skipped"] += 1
                self.reasons.setdefault(str(why), []).append(name)
            return
        with self.lock:
            self.counts["failed" if wrong else "passed"] += 1
            if wrong:
                print(f"FAILED {name} (twice)\n{wrong}", flush=True)
            elif first:
                print(f"unsteady {name}: passed when tried again; at first\n{first}", flush=True)

    def end(self):
        for why, names in self.reasons.items():
            print(f"skipped {len(names)}: {why}\n    " + "\n    ".join(names))
        print("{passed} passed, {failed} failed, {skipped} skipped".format(**self.counts))
        return 1 if self.counts["failed"] else 0


def judge_blocks(acu, path, wanted, judge):
    """Scripts and commands of a document, in their order."""
    text = open(path).read()
    with tempfile.TemporaryDirectory(prefix="acu-docs-") as folder:
        shutil.copytree(os.path.join(ROOT, "docs", "cookbook"), folder, dirs_exist_ok=True)
        load, section, before = None, None, []
        try:
            for block in BLOCK.finditer(text):
                name = title(path, text, block.start())
                if wanted not in name:
                    continue
                kind, seconds, body = block.groups()
                now = sum(1 for _ in HEADING.finditer(text, 0, block.start()))
                if load and (now != section or kind == "sh load"):
                    load.end()
                    load = None
                if now != section:
                    section, before = now, []
                if kind == "sh load":
                    load = Load(acu, body, folder)
                elif kind == "bt":
                    judge(name, lambda: run_script(acu, body))
                else:
                    for command, expected in commands_of(body):
                        before.append((command, expected, int(seconds or 0), folder, load.pid if load else 0, kind == "console example"))
                        judge(f"{name}: {command}", lambda: run_command(acu, *before[-1]), lambda: run_again(acu, before))
        finally:
            if load:
                load.end()


def judge_commands(acu, name, groups, judge):
    """Commands that run: several at once, those of a group one after the other."""
    with tempfile.TemporaryDirectory(prefix="acu-docs-") as folder:
        shutil.copytree(os.path.join(ROOT, "docs", "cookbook"), folder, dirs_exist_ok=True)
        subprocess.run(["bash", "-c", SETUP], cwd=folder, env=environment_of(acu), capture_output=True, timeout=LONGEST)
        server = Load(acu, "exec ./server", folder)
        stopping = threading.Lock()  # one may stop the server at a time
        try:
            def run_group(group):
                for command in group:
                    with stopping if command != patient(command) else contextlib.nullcontext():
                        judge(f"{name}: {command}", lambda: does_run(acu, command, folder, server.pid))

            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(run_group, groups))
        finally:
            server.end()


def main():
    acu = os.path.abspath(sys.argv[1])
    wanted = sys.argv[sys.argv.index("--filter") + 1] if "--filter" in sys.argv else ""
    judge = Judge()
    if not wanted:
        judge("reference is fresh", lambda: check_reference(acu))
        judge("every builtin has an example", lambda: check_examples(acu))
        judge("outputs of other hosts are the same", lambda: check_comparison(acu))
        judge("lists and links", lambda: check_index(acu))
        judge("each tool has its page", lambda: check_pages(acu))
    for document in ("reference.md", "tutorial.md", "trace.md", "graph.md", "cookbook.md", "languages.md", "recording.md", "timeline.md", "sql.md", "exports.md", "mcp.md", "own-tools.md", "dscript.md", "emit.md", "containers.md", "policy.md"):
        judge_blocks(acu, os.path.join(ROOT, "docs", document), wanted, judge)
    readme = open(os.path.join(ROOT, "README.md")).read()
    cookbook = open(os.path.join(ROOT, "docs", "cookbook.md")).read()
    coming = open(os.path.join(ROOT, "docs", "coming-from.md")).read()
    static = open(os.path.join(ROOT, "docs", "static.md")).read()
    dscript = open(os.path.join(ROOT, "docs", "dscript.md")).read()
    for name, groups in (("README.md", shell_commands(readme)), ("static.md", table_commands(static)), ("cookbook.md", prose_commands(cookbook)), ("coming-from.md", table_commands(coming)), ("dscript.md", table_commands(dscript))):
        chosen = [[c for c in g if wanted in f"{name}: {c}"] for g in groups]
        if any(chosen):
            judge_commands(acu, name, chosen, judge)
    return judge.end()


if os.geteuid() != 0:
    print("skipped: the documents' examples need root\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.exit(main())
