"""What the tests of cores and of live memory share: programs, cores of them, and acu asked about both."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-core-")
ENVIRONMENT = dict(os.environ, ACU_CACHE=os.path.join(TMP, "cache"), LC_ALL="C", DEBUGINFOD_URLS="")
LIMIT = 60 * SLOWNESS


def path(*names):
    return os.path.join(TMP, *names)


def call(*words, limit=LIMIT, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=limit, env=ENVIRONMENT, **more)


def program(name="crashes"):
    out = path(name)
    if not os.path.exists(out):
        subprocess.run(["gcc", "-g", "-O0", "-o", out, os.path.join(HERE, name + ".c"), "-pthread"], check=True, timeout=60)
    return out


def start(*words):
    """A program that has said that it is ready."""
    process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    if process.stdout.readline().strip() != "ready":
        raise Wrong("the program did not get ready")
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


def gcore(pid, name):
    """A core of a process that goes on."""
    done = call("gcore", "-o", path(name), str(pid))
    out = path(f"{name}.{pid}")
    need(os.path.exists(out), "gcore: " + done.stdout + done.stderr)
    return out


def crashed():
    """A core that the kernel wrote, where it writes them into the folder of the program; else gdb's of the same crash."""
    out = path("crashed.core")
    if os.path.exists(out):
        return out
    folder = path("crash")
    os.makedirs(folder, exist_ok=True)
    pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    if "/" not in pattern and not pattern.startswith("|"):
        subprocess.run([program(), "5"], cwd=folder, stdout=subprocess.DEVNULL, timeout=LIMIT,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
        found = os.listdir(folder)
        if found:
            os.rename(os.path.join(folder, found[0]), out)
            return out
    call("gdb", "-nx", "-batch", "-ex", "run 5 > /dev/null", "-ex", "generate-core-file " + out, program())
    need(os.path.exists(out), "neither the kernel nor gdb wrote a core")
    return out


def acu_core(acu, core, *more, status=0):
    done = call(acu, "core", core, *more)
    need(done.returncode == status, f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def script(acu, core, text, *more):
    done = call(acu, "core", core, "-e", text, *more)
    need(done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def gdb(core, *commands):
    words = ["gdb", "-nx", "-batch", "-ex", "set print frame-arguments scalars"]
    for c in commands:
        words += ["-ex", c]
    return call(*words, program(), core).stdout
