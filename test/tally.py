"""What came out of the cases of a suite, and the second chance of those that failed.

A test of a tracer looks at the whole machine, and a busy machine is late at times. So a case that fails is run once more,
alone, when all others are done, and looks longer then (patient()): if it passes it counts as passed and is listed as unsteady,
with what was wrong at first; if it fails again, it has failed. Where many fail (more than AGAIN_AT_MOST) it is not chance, and nothing is tried twice.

With $ACU_TEST_PROGRESS set each case prints `[result name seconds]` when it is done, so that what is known is not lost
when a machine dies (test/kernels/run.py reads it). The last line of a suite is `N passed, N failed, N skipped`.
"""
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time

AGAIN_AT_MOST = 20
LIMIT = 150  # seconds for a test, where a suite says nothing else
SLOWNESS = float(os.environ.get("ACU_TEST_SLOWNESS", "1"))  # of an emulated processor; limits of time are multiplied by it
REFUSED = re.compile(r"this kernel lacks `(\w+)`")
PROGRESS = "ACU_TEST_PROGRESS" in os.environ
PATIENCE = 5
tries_again = False


class Wrong(Exception):
    """What a test found to be wrong."""


class Skipped(Exception):
    """Why a test cannot run here."""


def patient(duration):
    """For how long to look at programs that shall get a CPU meanwhile, or to wait: others may have all of them for a while."""
    return duration * SLOWNESS * (PATIENCE if tries_again else 1)


def take_filter(arguments):
    """Takes `--filter TEXT` out of a command line; the text, or an empty one."""
    if "--filter" not in arguments:
        return ""
    at = arguments.index("--filter")
    text = arguments[at + 1]
    del arguments[at:at + 2]
    return text


def need(condition, text):
    if not condition:
        raise Wrong(text)


def wait_until_attached(pid, limit=60):
    """Probes in functions hang on links: all are there when no more are added."""
    end, before, since = time.monotonic() + limit, 0, 0
    while time.monotonic() < end:
        try:
            links = sum("bpf_link" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            links = 0
        if links != before:
            before, since = links, time.monotonic()
        if links and time.monotonic() - since > 0.5:
            return
        time.sleep(0.02)
    raise Wrong("acu does not record")


class Tally:
    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.reasons = {}  # why -> names
        self.later = []    # (name, what was wrong, how to run it again)

    def progress(self, result, name, seconds):
        if PROGRESS:
            print(f"[{result} {name} {seconds:.1f}]", flush=True)

    def passed(self, name, seconds=0.0):
        self.counts["passed"] += 1
        self.progress("passed", name, seconds)

    def skipped(self, name, why, seconds=0.0):
        self.counts["skipped"] += 1
        self.reasons.setdefault(why, []).append(name)
        self.progress("skipped", name, seconds)

    def failed(self, name, wrong, again, seconds=0.0):
        """`again` runs the case anew: what is wrong, or an empty text."""
        self.later.append((name, wrong, again))
        self.progress("wrong", name, seconds)
        if PROGRESS:
            print(indented(indented(wrong)), flush=True)

    def end(self):
        """Runs again what failed, prints all, and gives the exit status of the suite."""
        global tries_again
        tries_again = True
        many = len(self.later) > AGAIN_AT_MOST
        for name, first, again in self.later:
            begin = time.monotonic()
            second = first if many else again()
            if second:
                self.counts["failed"] += 1
                print(f"FAILED {name}{'' if many else ' (twice)'}\n{indented(second)}", flush=True)
                self.progress("failed", name, time.monotonic() - begin)
            else:
                print(f"unsteady {name}: passed alone; at first\n{indented(first)}", flush=True)
                self.passed(name, time.monotonic() - begin)
        if many:
            print(f"{len(self.later)} cases failed: none was run a second time")
        for why, names in self.reasons.items():
            print(f"skipped {len(names)}: {why}\n    {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
        print("{passed} passed, {failed} failed, {skipped} skipped".format(**self.counts))
        return 1 if self.counts["failed"] else 0


def indented(text):
    return "\n".join("  " + line for line in text.split("\n"))


def children():
    """Processes that were started here and are still there."""
    found = []
    for name in os.listdir("/proc/self/task"):
        try:
            found += open(f"/proc/self/task/{name}/children").read().split()
        except OSError:
            pass  # a thread that has ended, or a kernel without this file
    return [int(pid) for pid in found]


@functools.cache
def lacking(acu):
    """Names of the abilities that this kernel lacks, or refuses to root."""
    told = subprocess.run([acu, "info"], capture_output=True, text=True, timeout=20 * SLOWNESS).stdout
    return set(re.findall(r"^  (\w+) +(?:no +since |not permitted )", told, re.M))


def why_refused(acu, text, without=()):
    """What this kernel lacks, where acu's message says so and `acu info` too; else empty. `without`: abilities not to be used."""
    found = REFUSED.search(text)
    return "the kernel lacks " + found.group(1) if found and found.group(1) in lacking(acu) | set(without) else ""


def require(acu, ability):
    """Skips a test where the kernel lacks an ability."""
    if ability in lacking(acu):
        raise Skipped("the kernel lacks " + ability)


def require_real_time(why):
    """Skips a test where the processor is emulated."""
    if SLOWNESS > 1:
        raise Skipped("the CPU is emulated: " + why)


def attempt(test, acu, limit):
    """Runs one test within `limit` seconds: ("passed", what it told), ("skipped", why) or ("failed", what is wrong)."""

    def too_late(*_):
        raise Wrong(f"not done after {patient(limit):.0f} s")

    signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, patient(limit))
    try:
        return "passed", test(acu)
    except Skipped as problem:
        return "skipped", str(problem)
    except Exception as problem:  # a mistake of the test is one more thing that is wrong
        signal.setitimer(signal.ITIMER_REAL, 0)
        end_children()
        text = str(problem) if isinstance(problem, Wrong) else repr(problem)
        lacks = why_refused(acu, text)
        return ("skipped", lacks) if lacks else ("failed", text)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def untimed():
    """What is done once, before the first test that needs it: its time is not the test's."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)


def end_children():
    for pid in children():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run_tests(tests, acu, tells_reason=True, limit=LIMIT):
    """All tests (name, function), and the exit status of the suite. What a test returns is why it cannot run here, or with
    `tells_reason` off something to be printed."""
    tally = Tally()
    if os.geteuid() != 0:
        for name, _ in tests:
            tally.skipped(name, "not root")
        return tally.end()

    def once(test):
        result, text = attempt(test, acu, limit)
        if result == "passed" and text and tells_reason:
            return "skipped", text
        return result, text

    def again(test):
        result, text = once(test)
        return text if result == "failed" else ""

    for name, test in tests:
        begin = time.monotonic()
        result, text = once(test)
        seconds = time.monotonic() - begin
        if result == "failed":
            tally.failed(name, text, functools.partial(again, test), seconds)
        elif result == "skipped":
            tally.skipped(name, text, seconds)
        else:
            tally.passed(name, seconds)
            if text:
                print(f"{name}: {text}", flush=True)
    return tally.end()


def run_suite(tests, folder, tells_reason=True, limit=LIMIT):
    """What the program of a suite does: run.py ACU [--filter PART] [--keep]. Runs those of the functions whose names have the
    part, each for `limit` seconds at most, and removes the folder of their files. A test without parameters knows ACU itself."""
    arguments = sys.argv[1:]
    only = arguments[arguments.index("--filter") + 1] if "--filter" in arguments else ""
    try:
        chosen = [(t.__name__, t if t.__code__.co_argcount else lambda _, t=t: t()) for t in tests if only in t.__name__]
        return run_tests(chosen, os.path.abspath(arguments[0]), tells_reason, limit)
    finally:
        if "--keep" not in arguments:
            shutil.rmtree(folder, ignore_errors=True)
