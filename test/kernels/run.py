#!/usr/bin/env python3
"""acu on stock kernels: run.py ACU [--all] [--kernels LIST] [--parts LIST] [--keep FILE] [--again] [--write FILE]

Without --all: a sample of the scripts, of the questions and of the random programs on 6.1, in less than four minutes. With it: all
parts on all kernels, and on this one (`here`). The same programs that test acu elsewhere run in the machine (vm.py); a
table shows what came out, what was left out, and why. --write puts the table into a document (docs/kernels.md).

With --all each part has a machine of its own, so that one that hangs takes nothing else with it; what its cases had told
until then counts. --keep writes each part's result to a file (JSON) as it comes, and the table is made of all that is in the
file: so a part can be run again by itself, on one kernel. The table says of which commit the results are, each where they differ.
All that the parts print is in kernels/ beside ACU. With --again only
those scripts are run that failed in the result that is kept, and are counted into it. `--parts none` runs nothing, and writes the table of what is kept.

Last line: `N passed, N failed, N skipped`. The unit-test programs are those beside ACU.
"""
import argparse
import collections
import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
import time

import stock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
DONE = re.compile(r"^\[(passed|skipped|wrong|failed) (.*) [\d.]+\]$")
FAILURE = re.compile(r"^FAILED (\w+) \(")
LEFT_OUT = re.compile(r"^skipped (\d+): (.*)$")
RANDOM = re.compile(r"^(\d+) scripts compared, (\d+) refused by the kernel, (\d+) disagreements")
MARK = "#part# "
MINUTES = 60
SAMPLE_LIMIT = 12 * MINUTES

# What looks like a kernel that has no types of its own.
NO_TYPES = ("unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && "
            "python3 test/runtime/run.py $ACU --engine kernel --filter no_types_'")
# What runs: title, command, and the command of the sample; none: the part is not in it. $ACU and $TESTS are set.
# LIMITS: minutes on an emulated processor beside other work, where it is not 40.
PARTS = {
    "random": ("random programs, compared with the evaluator", "ACU_DIFFERENTIAL=1:2000 $TESTS/test_session --gtest_filter=Differential.*",
               "ACU_DIFFERENTIAL=1:150 $TESTS/test_session --gtest_filter=Differential.*"),
    "scripts": ("scripts with expected output", "python3 test/runtime/run.py $ACU --engine kernel $ONLY",
                "python3 test/runtime/run.py $ACU --engine kernel --every 12"),
    "functions": ("kernel functions", None,
                  "python3 test/runtime/run.py $ACU --engine kernel --filter kprobe_; "
                  "python3 test/runtime/run.py $ACU --engine kernel --filter fentry_"),
    "questions": ("one-liners", "python3 test/tools/one_liners.py $ACU",
                  "python3 test/tools/one_liners.py $ACU --filter system"),
    "tools": ("tools", "python3 test/tools/run.py $ACU", None),
    "user": ("user probes", "python3 test/user/run.py $ACU", None),
    "stacks": ("stacks of programs without frame pointers", "python3 test/stacks/run.py $ACU", None),
    "graph": ("function calls (`acu graph`)", "python3 test/graph/run.py $ACU", None),
    "bpftrace": ("the tools of Debian's bpftrace package", "python3 test/dropin/run.py $ACU --filter .bt", None),
    "life": ("short-lived processes", "python3 test/life/run.py $ACU", None),
    "no_types": ("without kernel BTF", NO_TYPES, NO_TYPES),
}
LIMITS = {"scripts": 100}


@dataclasses.dataclass
class Result:
    """Of one part on one kernel."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: dict = dataclasses.field(default_factory=dict)  # why cases were left out -> how many
    unsteady: int = 0  # of those that passed
    commit: str = ""
    seconds: int = 0
    failures: list = dataclasses.field(default_factory=list)  # scripts
    later: dict = dataclasses.field(default_factory=dict)     # commit -> how many cases were run again there

    def add(self, again):
        """Puts the cases that failed, and were run again, in place of what they were."""
        self.passed, self.failed = self.passed + again.passed, self.failed - len(self.failures) + again.failed
        self.skipped += again.skipped
        for why, count in again.reasons.items():
            self.leave_out(why, count)
        self.later[again.commit] = self.later.get(again.commit, 0) + len(self.failures)
        self.failures = again.failures

    def leave_out(self, why, count):
        self.reasons[why] = self.reasons.get(why, 0) + count

    def text(self):
        if not self.passed + self.failed + self.skipped:
            return "did not run"
        return f"{self.passed} passed" + (f", **{self.failed} failed**" if self.failed else "") + (
            f", {self.skipped} skipped" if self.skipped else "")


class Reader:
    """Reads what the parts print: their results; failures are printed on."""

    def __init__(self, parts):
        self.results = {part: Result() for part in parts}
        self.done = {part: collections.Counter() for part in parts}  # what the cases told one by one
        self.ended = set()                                           # parts that told their sum
        self.part, self.last = None, ""

    def read(self, line):
        if line.startswith(MARK):
            self.part = line[len(MARK):]
            return
        if self.part not in self.results:
            print(line, flush=True)
            return
        now = self.results[self.part]
        summary, random, left_out, done = SUMMARY.match(line), RANDOM.match(line), LEFT_OUT.match(line), DONE.match(line)
        if summary:
            self.ended.add(self.part)
            now.passed += int(summary.group(1))
            now.failed += int(summary.group(2))
            now.skipped += int(summary.group(3))
        elif random:
            self.ended.add(self.part)
            now.passed = int(random.group(1)) - int(random.group(3))
            now.failed = int(random.group(2)) + int(random.group(3))
        elif left_out:
            now.leave_out(left_out.group(2), int(left_out.group(1)))
        elif done:
            self.done[self.part][done.group(1)] += 1
            self.last = done.group(2)
        elif line and not line.startswith(("[", "    ")):
            now.unsteady += line.startswith("unsteady ")
            failure = FAILURE.match(line)
            if failure:
                now.failures.append(failure.group(1))
            print(f"{self.part}: {line}", flush=True)

    def end(self, may_be_late):
        """The results; parts that were cut count with what their cases told, and as failed unless `may_be_late`."""
        for part, now in self.results.items():
            if part in self.ended:
                continue
            done = self.done[part]
            now.passed, now.failed, now.skipped = done["passed"], done["failed"] + (0 if may_be_late else 1), done["skipped"]
            why = "the machine was too slow for the rest" if may_be_late else "the machine was ended"
            if may_be_late:
                now.leave_out(why, 1)
                now.skipped += 1
            print(f"{part}: {why}; {sum(done.values())} cases were done, the last {self.last or '-'}", flush=True)
        return self.results


def command_for(parts, acu, is_sample, only):
    """One shell command for all parts, each announced by its name."""
    lines = [f"export ACU={shlex.quote(acu)} TESTS={shlex.quote(os.path.join(os.path.dirname(acu), 'test'))} ACU_TEST_PROGRESS=1",
             f"export ONLY={shlex.quote('--only ' + ','.join(only) if only else '')}",
             f"cd {shlex.quote(ROOT)}"]
    for part in parts:
        _, whole, sample = PARTS[part]
        lines.append(f"echo '{MARK}{part}'; {sample if is_sample else whole}; echo")
    return "\n".join(lines)


def run_on(kernel, parts, acu, is_sample, only=()):
    """Results by part on a kernel, all parts in one machine; raises stock.Missing."""
    command = command_for(parts, acu, is_sample, only)
    limit = SAMPLE_LIMIT if is_sample else MINUTES * sum(LIMITS.get(part, 40) for part in parts)
    if kernel == "here":
        words = ["timeout", str(limit), "/bin/sh", "-c", command]
    else:
        stock.fetch(kernel)
        words = [sys.executable, os.path.join(HERE, "vm.py"), "--timeout", str(limit), "--disk", "256", kernel, "--",
                 "/bin/sh", "-c", command]
    logs = os.path.join(os.path.dirname(acu), "kernels")
    os.makedirs(logs, exist_ok=True)
    log = os.path.join(logs, f"{kernel}-{parts[0] if len(parts) == 1 else 'sample'}")
    status, reader = read_machine(words, parts, log + ".log")
    if status == 125 and not reader.ended:
        raise stock.Missing("no virtual machine here, or it did not start: its last words are above")
    if status == 125 and is_sample:  # emulated processors hang now and then; twice is no chance
        print(f"unsteady the machine died after {reader.last or 'nothing'}: all of it once more", flush=True)
        status, reader = read_machine(words, parts, log + "-again.log")
    return reader.end(may_be_late=is_sample and status == 124)


def read_machine(words, parts, path):
    """The exit status of a machine, and what its parts told; the whole of it is written to the file."""
    reader = Reader(parts)
    with open(path, "w") as log:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=ROOT)
        for line in process.stdout:
            log.write(line)
            log.flush()
            reader.read(line.rstrip("\n"))
    return process.wait(), reader


def commit():
    """Of the sources, `+` where they were changed since."""
    told = [subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "src", "test", "tools"))]
    return told[0] + ("+" if told[1] else "")


class Kept:
    """Results by kernel and part, and versions by kernel; in a file where one is named."""

    def __init__(self, path):
        self.path, self.results, self.versions = path, {}, {}
        if path and os.path.exists(path):
            read = json.load(open(path))
            self.versions = read["versions"]
            self.results = {kernel: {part: Result(**fields) for part, fields in parts.items()}
                            for kernel, parts in read["results"].items()}

    def add(self, kernel, version, results):
        self.versions[kernel] = version
        self.results.setdefault(kernel, {}).update(results)
        if self.path:
            plain = {k: {p: dataclasses.asdict(r) for p, r in parts.items()} for k, parts in self.results.items()}
            with open(self.path + ".new", "w") as file:
                json.dump({"versions": self.versions, "results": plain}, file, indent=1)
            os.replace(self.path + ".new", self.path)


def table(results, versions):
    """Markdown: parts by kernels, then why cases were left out."""
    kernels = sorted(results, key=lambda k: [int(n) for n in k.split(".")] if k != "here" else [99])
    rows = ["| | " + " | ".join(versions[k] for k in kernels) + " |", "|---" * (len(kernels) + 1) + "|"]
    for part, (title, _, _) in PARTS.items():
        if any(part in results[k] for k in kernels):
            rows.append(f"| {title} | " + " | ".join(results[k][part].text() if part in results[k] else "–" for k in kernels) + " |")
    left_out = collections.defaultdict(dict)
    for kernel in kernels:
        for result in results[kernel].values():
            for reason, count in result.reasons.items():
                left_out[reason][kernel] = left_out[reason].get(kernel, 0) + count
    if left_out:
        rows += ["", "Skipped, by reason:", "", "| | " + " | ".join(kernels) + " |", "|---" * (len(kernels) + 1) + "|"]
        for reason in sorted(left_out, key=lambda r: -sum(left_out[r].values())):
            rows.append(f"| {reason} | " + " | ".join(str(left_out[reason].get(k, "")) for k in kernels) + " |")
    return "\n".join(rows + ["", sources(results, kernels)]) + "\n"


def sources(results, kernels):
    """The commits that the results are from."""
    by_commit = collections.defaultdict(list)
    for kernel in kernels:
        for part, result in results[kernel].items():
            by_commit[result.commit].append(f"{part} on {kernel}")
    most = max(by_commit, key=lambda c: len(by_commit[c]), default="")
    later = [f"{count} cases of {part} on {kernel} at `{commit}`" for kernel in kernels
             for part, result in results[kernel].items() for commit, count in result.later.items()]
    others = [f"`{commit}`: {', '.join(names)}" for commit, names in by_commit.items() if commit != most]
    return f"Results are from commit `{most}`" + ("; others from " + "; ".join(others) if others else "") + (
        "; run again: " + ", ".join(later) if later else "") + "."


def write(path, text):
    """Puts the table between the marks of a document."""
    document = open(path).read()
    begin, end = "<!-- results -->\n", "<!-- end of results -->\n"
    head, rest = document.split(begin)
    with open(path, "w") as file:
        file.write(head + begin + text + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("acu", type=os.path.abspath)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kernels")
    parser.add_argument("--parts")
    parser.add_argument("--keep")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--write")
    options = parser.parse_args()
    kernels = (options.kernels or ("5.10,6.1,6.12,here" if options.all else "6.1")).split(",")
    parts = options.parts.split(",") if options.parts else [p for p, row in PARTS.items() if row[1 if options.all else 2]]
    groups = [] if parts == ["none"] else [[p] for p in parts] if options.all else [parts]
    kept, ran, skipped, source = Kept(options.keep), [], 0, commit()
    for kernel in kernels:
        for group in groups:
            begin = time.monotonic()
            before = kept.results.get(kernel, {}).get("scripts") if options.again and group == ["scripts"] else None
            if before and not before.failures:
                continue
            try:
                results = run_on(kernel, group, options.acu, not options.all, before.failures if before else ())
            except stock.Missing as problem:
                skipped += 1
                print(f"skipped {kernel}: {problem}", flush=True)
                break
            seconds = round(time.monotonic() - begin)
            for result in results.values():
                result.commit, result.seconds = source, seconds
            if before:
                before.add(results["scripts"])
                results = {"scripts": before}
            kept.add(kernel, stock.version(kernel) if kernel != "here" else os.uname().release + " (here)", results)
            ran += results.values()
            print(f"{kept.versions[kernel]} {', '.join(group)}: {seconds} s", flush=True)
    text = ("" if options.all else "A sample of the tests (`test/kernels/run.py`):\n\n") + table(kept.results, kept.versions)
    print(text)
    if options.write:
        write(options.write, text)
    failed = sum(r.failed for r in ran)
    print(f"{sum(r.passed for r in ran)} passed, {failed} failed, {skipped + sum(r.skipped for r in ran)} skipped")
    return 1 if failed else 0


sys.exit(main())
