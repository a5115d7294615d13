"""What users of any tool see who give it the wrong words: one message with an example, and nothing of the tool's own text."""
import os
import re
import shutil
import subprocess
import sys

from common import ROOT, SLOWNESS, TMP, need

NO_TOOL = "libstdcxx"  # a library of descriptions


def texts(folder):
    path = os.path.join(ROOT, "tools", folder)
    for name in sorted(os.listdir(path)):
        if name.endswith(".bt") and name != NO_TOOL + ".bt":
            with open(os.path.join(path, name)) as file:
                yield name[:-3], "".join(line for line in file if not line.lstrip().startswith("//"))


def parameters(text):
    return max([int(n) for n in re.findall(r"\$(\d+)", text)], default=0)


def ask(acu, name, *words):
    done = subprocess.run([acu, name, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60 * SLOWNESS)
    shown = f"acu {name} {' '.join(words)}: status {done.returncode}\n{done.stderr}"
    need(f"{name}.bt:" not in done.stderr and "~~" not in done.stderr, "its own text: " + shown)
    need("deadly signal" not in done.stderr and done.returncode >= 0, shown)
    return done, shown


def refused(acu, name, words, *expected):
    done, shown = ask(acu, name, *words)
    need(done.returncode in (1, 2, 3), shown)
    need(done.stderr.count("ERROR") == 1 and "WARNING" not in done.stderr, shown)
    need(all(part in done.stderr for part in expected), shown)
    need(f"acu {name} " in done.stderr, "no example: " + shown)


def wrong_words(acu):
    """None, too many, and those that name nothing."""
    stripped = os.path.join(TMP, "stripped")
    shutil.copy("/bin/true", stripped)
    subprocess.run(["strip", stripped], check=True)
    with_words = 0
    for name, text in texts("."):
        needed = parameters(text)
        plural = "" if needed == 1 else "s"
        refused(acu, name, ["one"] * (needed + 1), f"{name} takes {needed or 'no'} argument{plural}, not {needed + 1} (`one`)")
        done, shown = ask(acu, name, "--", "--no-such-option=1")
        need(done.returncode and done.stderr.count("ERROR") == 1, shown)
        if not needed:
            continue
        with_words += 1
        refused(acu, name, [], f"{name} needs {needed} argument{plural}", f"HINT: for example `acu {name} ")
        refused(acu, name, ["no_such_program"] * needed, f"HINT: for example `acu {name} ")
        words = [stripped, "no_such_function"][:needed] if needed > 1 or "$1:" in text else [f"uprobe:{stripped}:no_such_function"]
        refused(acu, name, words, f"ERROR: {name}: ", "HINT: for example")
    need(with_words >= 7, f"only {with_words} tools take words")


def no_program_of_theirs(acu):
    """Tools for stopped programs, on one without debug information."""
    with subprocess.Popen([sys.executable, "-c", "import time; print(flush=True); time.sleep(1000)"], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            for name, _ in texts("static"):
                refused(acu, name, [], f"{name} needs a core dump or a process", f"`acu {name} -p 4711`")
                done, shown = ask(acu, name, "-p", str(process.pid))
                need(done.stderr.count("ERROR") == (done.returncode != 0), shown)
                need(not done.returncode or f"HINT: {name} needs the debug information of the program" in done.stderr, shown)
        finally:
            process.kill()


def no_warnings_of_their_text(acu):
    """Attached on this kernel, whatever that lacks."""
    for name, text in texts("."):
        words = {0: [], 1: ["uprobe:libc:getenv"], 2: ["libc", "getenv"]}[0 if "$1:" in text and parameters(text) == 1 else parameters(text)]
        if parameters(text) and not words:
            continue  # for a program that may not be here
        done, shown = ask(acu, name, "--dry-run", *words)
        need(done.returncode in (0, 3, 4, 5), shown)
        need(done.returncode == 0 or done.stderr.count("ERROR") == 1, shown)
        warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
        need(all(line.startswith(f"WARNING: {name}: ") for line in warnings), shown)


TESTS = [wrong_words, no_program_of_theirs, no_warnings_of_their_text]
