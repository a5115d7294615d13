"""What the tests of tools share: running a tool while a load runs, and reading what it printed."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import pages
from hosts import one_word
from tally import SLOWNESS, Wrong, need

ROOT = os.path.dirname(os.path.dirname(HERE))
DISK = one_word(os.environ.get("ACU_TEST_DISK") or os.path.join(ROOT, "build"))  # on a real disk, not in memory
LOAD = os.path.join(ROOT, "test", "runtime", "load.py")
TMP = tempfile.mkdtemp(prefix="acu-tools-")


def load(*words):
    return lambda: subprocess.run([sys.executable, LOAD, *map(str, words)], env=dict(os.environ, TMP=TMP), timeout=60 * SLOWNESS)


def shell(command, **more):
    """A load of a shell; $TMP is an empty folder, $DISK one on a real file system."""
    environment = dict(os.environ, TMP=TMP, DISK=DISK)
    return lambda: subprocess.run(["/bin/sh", "-c", command], env=environment, timeout=60 * SLOWNESS, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, **more)


def python(text):
    """A load of a script of Python."""
    return lambda: subprocess.run([sys.executable, "-c", text], timeout=60 * SLOWNESS, stderr=subprocess.DEVNULL)


def keeps(tool, *maps):
    """A copy of a tool that prints these maps at its end instead of clearing them: what is left of all that is over."""
    with open(os.path.join(ROOT, "tools", tool)) as file:
        text = file.read()
    for name in maps:
        need(text.count(f"  clear({name});\n") == 1, f"{tool} does not clear {name}")
        text = text.replace(f"  clear({name});\n", "")
    path = os.path.join(TMP, "keeps-" + tool)
    with open(path, "w") as file:
        file.write(text)
    return path


def trace(acu, tool, during, arguments=(), options=(), may_warn=True):
    """Standard output of a tool while `during` runs; then SIGINT unless the tool ends itself, as with --seconds or -c."""
    command = [acu, "run", "--notify-attached", "#attached#", *options, os.path.join(ROOT, "tools", tool), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    out, err, driver = [], [], []

    def drive():
        during()
        if "--seconds" not in " ".join(arguments) and "-c" not in options and process.poll() is None:
            process.send_signal(signal.SIGINT)

    reader = threading.Thread(target=lambda: err.append(process.stderr.read()))
    reader.start()
    killer = threading.Timer(60 * SLOWNESS, process.kill)
    killer.start()
    for line in process.stdout:
        if line == "#attached#\n" and not driver:
            driver.append(threading.Thread(target=drive))
            driver[0].start()
        else:
            out.append(line)
    status = process.wait()
    killer.cancel()
    reader.join()
    for thread in driver:
        thread.join()
    need(driver, f"did not attach: {err[0].strip()[:600]}")
    need(status == 0, f"status {status}: {err[0].strip()[:600]}")
    need(may_warn or "WARNING" not in err[0], err[0].strip()[:600])
    name = os.path.basename(tool)[:-3]
    if name in pages.names() and "json" not in options:
        pages.seen(name, arguments, "".join(out))
    return "".join(out)


def listing(acu, tool, arguments=()):
    """Standard output of a tool that prints a list and ends."""
    done = subprocess.run([acu, "run", "-q", os.path.join(ROOT, "tools", tool), *arguments], capture_output=True, text=True, errors="replace", timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"status {done.returncode}: {done.stderr.strip()[:600]}")
    pages.seen(os.path.basename(tool)[:-3], arguments, done.stdout)
    return done.stdout


def older_than(major, minor):
    """Why a tool cannot run on a kernel before this version, or None."""
    release = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])
    return f"the tool needs Linux {major}.{minor}" if release < (major, minor) else None


def tells(event, field):
    """Whether a tracepoint of this kernel is there, and has a field."""
    path = "/sys/kernel/tracing/events/" + event.replace(":", "/") + "/format"
    return os.path.exists(path) and re.search(rf" {field}(\[.*\])?;", open(path).read()) is not None


def value(text, key):
    found = re.search(r"^" + re.escape(key) + r": (\d+)$", text, re.M)
    need(found, f"no line {key}: …; printed:\n{text[:1500]}")
    return int(found.group(1))


def histogram_total(text, name):
    found = re.search(r"^" + re.escape(name) + r":\s*\n((?:[\[(].*\|\n?)+)", text, re.M)
    need(found, f"no histogram {name}; printed:\n{text[:1500]}")
    return sum(int(re.search(r"\s(\d+) \|", row).group(1)) for row in found.group(1).strip().split("\n"))


def lines(text, pattern):
    """The lines that match as a whole, as groups or the line itself."""
    return [m.groups() or m.group(0) for m in (re.fullmatch(pattern, line) for line in text.split("\n")) if m]


def disk_writes():
    return sum(int(line.split()[7]) for line in open("/proc/diskstats"))
