#!/usr/bin/env python3
"""What the documents say is so: docs.py ACU [--filter TEXT]

- docs/reference.md is what `acu help reference` prints.
- Every builtin that is built has an example there, or is named in WITHOUT_EXAMPLE with the reason.
- Every ```bt block (reference.md, tutorial.md) is a script that runs: attached, stopped after a moment if it does not
  end by itself, status 0, no error.
- Every ```console block (tutorial.md, trace.md) shows commands after `$ ` and what they print: `...` in a line stands for any
  text, a line `[...]` for any lines; order counts. Commands run in one empty folder for the whole document, with acu
  in the PATH. A block that opens with ```console 3s is interrupted after so many seconds (Ctrl-C).

Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BLOCK = re.compile(r"^```(bt|console)(?: (\d+)s)?\n(.*?)^```$", re.M | re.S)
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
    "next_chunk": "needs a program that stands still: see docs/static.md",
    "chunk": "needs a program that stands still: see docs/static.md",
    "chunk_size": "needs a program that stands still: see docs/static.md",
    "next_area": "needs a program that stands still: see docs/static.md",
    "area_end": "needs a program that stands still: see docs/static.md",
    "uaddr": "needs a probe in a program",
}


def title(path, text, at):
    heading = re.findall(r"^#+ (.*)$", text[:at], re.M)
    return f"{os.path.basename(path)}: {heading[-1] if heading else ''}"


def run_script(acu, script):
    """A mistake as text, or None."""
    process = subprocess.Popen([acu, "run", "--unsafe", "--notify-attached", "#attached#", "-e", script],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    time.sleep(0.05)
    try:
        out, err = process.communicate(timeout=0.7)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "does not end after Ctrl-C"
    if process.returncode != 0 or "ERROR" in err:
        return f"status {process.returncode}: {err.strip()[:400]}"
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


def pattern_of(lines):
    parts = []
    for line in lines:
        if line.strip() == "[...]":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*".join(re.escape(p) for p in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def run_command(acu, command, expected, seconds, folder):
    environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(acu)) + ":" + os.environ["PATH"])
    process = subprocess.Popen(["bash", "-c", "trap : INT; " + command], stdout=subprocess.PIPE, cwd=folder,
                               env=environment, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        out, _ = process.communicate(timeout=seconds or LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT if seconds else signal.SIGKILL)
        out, _ = process.communicate(timeout=LONGEST)
        if not seconds:
            return f"does not end:\n{out[:600]}"
    shown = "".join(line + "\n" for line in out.split("\n") if line.strip())
    wanted = [line for line in expected if line.strip()]
    if not pattern_of(wanted).fullmatch(shown):
        return "expected\n  " + "\n  ".join(wanted) + "\nbut it printed\n  " + "\n  ".join(shown.split("\n")[:40])
    return None


def check_reference(acu):
    made = subprocess.run([acu, "help", "reference"], stdout=subprocess.PIPE, text=True).stdout
    kept = open(os.path.join(ROOT, "docs", "reference.md")).read()
    if made != kept:
        return "docs/reference.md is not what `acu help reference` prints: run `make docs`"
    return None


def check_examples(acu):
    made = subprocess.run([acu, "help", "reference"], stdout=subprocess.PIPE, text=True).stdout
    chapter = made.split("\n# Builtins\n")[1].split("\n# Probes\n")[0]
    missing = []
    for entry in re.split(r"^### ", chapter, flags=re.M)[1:]:
        name = entry.split("\n")[0]
        if "```bt" not in entry and "not built yet" not in entry and name not in WITHOUT_EXAMPLE:
            missing.append(name)
    return "no example: " + ", ".join(missing) if missing else None


def main():
    acu = os.path.abspath(sys.argv[1])
    wanted = sys.argv[sys.argv.index("--filter") + 1] if "--filter" in sys.argv else ""
    passed = failed = 0

    def judge(name, mistake):
        nonlocal passed, failed
        if mistake:
            failed += 1
            print(f"FAILED {name}\n{mistake}", flush=True)
        else:
            passed += 1

    if not wanted:
        judge("reference is fresh", check_reference(acu))
        judge("every builtin has an example", check_examples(acu))
    for document in ("reference.md", "tutorial.md", "trace.md"):
        path = os.path.join(ROOT, "docs", document)
        text = open(path).read()
        with tempfile.TemporaryDirectory(prefix="acu-docs-") as folder:
            for block in BLOCK.finditer(text):
                name = title(path, text, block.start())
                if wanted not in name:
                    continue
                kind, seconds, body = block.groups()
                if kind == "bt":
                    judge(name, run_script(acu, body))
                    continue
                for command, expected in commands_of(body):
                    judge(f"{name}: {command}", run_command(acu, command, expected, int(seconds or 0), folder))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if os.geteuid() != 0:
    print("skipped: the documents' examples need root\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.exit(main())
