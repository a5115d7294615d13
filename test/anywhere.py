#!/usr/bin/env python3
"""The tests on other hosts, as far as this one can be them: anywhere.py [PRESET] [--conditions NAME,…] [--only SUITE,…]

`test/run_all.py` is run once under each of CONDITIONS, one after the other, which takes hours (`make test-anywhere`); NAME+NAME means
several in one run. No expected line may depend on the CPU's features or speed, the number of CPUs, the name of the host, the path of the clone, or what else runs.
Without --only all suites are run but those of virtual machines (kernels) and of the source alone (include_order).

`avx2` and `sse2` let libc choose its functions as on CPUs without AVX-512VL, and with nothing beyond SSE2 (glibc's tunables;
before glibc 2.33 its names end in _Usable). `other_path` clones the last commit to a folder with blanks in its path and builds it.
Last line: `N passed, N failed, N skipped`, of all runs.
"""
import contextlib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE_ONLY = ("kernels", "include_order")
HWCAPS = {"avx2": "-AVX512VL", "sse2": "-AVX512VL,-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS"}
# Where libc's functions are: of those that a CPU chooses, another implementation is at another place.
PLACES = """import ctypes, re
base = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if "/libc." in line or "/libc-" in line)
libc = ctypes.CDLL(None)
print([ctypes.cast(getattr(libc, f), ctypes.c_void_p).value - base for f in ("strrchr", "strlen", "memcpy", "memset", "memchr")])"""


class Skipped(Exception):
    """Why a condition cannot be made here."""


def places(environment):
    return subprocess.run([sys.executable, "-c", PLACES], env=environment, capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def libc_of(name):
    environment = dict(os.environ, GLIBC_TUNABLES="glibc.cpu.hwcaps=" + HWCAPS[name])
    if places(environment) == places(dict(os.environ)):
        raise Skipped("libc chooses the same functions")
    yield {"env": environment}


@contextlib.contextmanager
def one_cpu():
    yield {"before": ["taskset", "-c", str(min(os.sched_getaffinity(0)))]}


@contextlib.contextmanager
def busy():
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        yield {}
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextlib.contextmanager
def other_host():
    yield {"before": ["unshare", "--uts", "sh", "-c", 'hostname host-7.example.org; exec "$@"', "sh"]}


@contextlib.contextmanager
def other_path():
    with tempfile.TemporaryDirectory(prefix="acu-anywhere-") as folder:
        clone = os.path.join(folder, "a clone", "of acu")
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        for words in (["cmake", "--preset", PRESET], ["cmake", "--build", "--preset", PRESET]):
            subprocess.run(words, cwd=clone, check=True, stdout=subprocess.DEVNULL)
        yield {"root": clone}


CONDITIONS = {"avx2": lambda: libc_of("avx2"), "sse2": lambda: libc_of("sse2"), "one_cpu": one_cpu, "busy": busy, "other_host": other_host,
              "other_path": other_path}


def suites(root):
    text = open(os.path.join(root, "test", "run_all.py")).read()
    return [name for name in re.findall(r'^    "(\w+)": ', text, re.M) if name not in HERE_ONLY]


def run(name, only):
    """(passed, failed, skipped), and the lines about what was unsteady."""
    with contextlib.ExitStack() as conditions:
        about = {"before": []}
        for one in name.split("+"):
            here = conditions.enter_context(CONDITIONS[one]())
            about |= {**here, "before": about["before"] + here.get("before", [])}
        root = about.get("root", ROOT)
        words = [*about["before"], sys.executable, os.path.join(root, "test", "run_all.py"), PRESET, "--only", only or ",".join(suites(root))]
        process = subprocess.Popen(words, env=about.get("env"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        last, unsteady = "", ""
        for line in process.stdout:
            print(f"{name}: {line}", end="", flush=True)
            last = line
            unsteady = line if line.startswith("unsteady, counted") else unsteady
        status = process.wait()
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped\n", last)
    counts = [int(n) for n in found.groups()] if found else [0, 1, 0]
    return [counts[0], counts[1] or int(status != 0), counts[2]], unsteady


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def main():
    chosen = option("--conditions").split(",") if option("--conditions") else list(CONDITIONS)
    if unknown := [name for several in chosen for name in several.split("+") if name not in CONDITIONS]:
        raise SystemExit(f"there is no condition {unknown[0]}; there are {', '.join(CONDITIONS)}")
    total, lines = [0, 0, 0], []
    for name in chosen:
        try:
            counts, unsteady = run(name, option("--only"))
            lines.append("%-12s %5d passed %4d failed %4d skipped  %s" % (name, *counts, unsteady.strip()))
        except Skipped as why:
            counts = [0, 0, 1]
            lines.append(f"{name:12} skipped: {why}")
        total = [a + b for a, b in zip(total, counts)]
    print("==\n" + "\n".join(lines))
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


PRESET = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("--") else "release"
sys.exit(main())
