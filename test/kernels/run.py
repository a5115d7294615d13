#!/usr/bin/env python3
"""acu on stock kernels: run.py ACU [--all] [--kernels LIST] [--parts LIST] [--write FILE]

Without --all: a sample of the scripts, of the questions and of the random programs on 6.1, in less than four minutes. With it: all
parts on all kernels, and on this one (`here`). The same programs that test acu elsewhere run in the machine (vm.py); a
table shows what came out, what was left out, and why. --write puts the table into a document (docs/kernels.md).

Last line: `N passed, N failed, N skipped`. The unit-test programs are those beside ACU.
"""
import argparse
import collections
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
LEFT_OUT = re.compile(r"^skipped (\d+|[a-z_]+): (.*)$")
RANDOM = re.compile(r"^(\d+) scripts compared, (\d+) refused by the kernel, (\d+) disagreements")
MARK = "#part# "
MINUTES = 60

# What looks like a kernel that has no types of its own.
NO_TYPES = ("unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && "
            "python3 test/runtime/run.py $ACU --engine kernel --filter no_types_'")
# What runs: title, command, and the command of the sample; none: the part is not in it. $ACU and $TESTS are set.
PARTS = {
    "random": ("random programs, against the evaluator", "$TESTS/test_session --gtest_filter=Differential.*",
               "ACU_DIFFERENTIAL=1:150 $TESTS/test_session --gtest_filter=Differential.*"),
    "scripts": ("scripts with their expected lines", "python3 test/runtime/run.py $ACU --engine kernel",
                "python3 test/runtime/run.py $ACU --engine kernel --every 12"),
    "functions": ("functions of the kernel", None,
                  "python3 test/runtime/run.py $ACU --engine kernel --filter kprobe_; "
                  "python3 test/runtime/run.py $ACU --engine kernel --filter fentry_"),
    "questions": ("one-line questions", "python3 test/tools/one_liners.py $ACU",
                  "python3 test/tools/one_liners.py $ACU --filter system"),
    "tools": ("tools", "python3 test/tools/run.py $ACU", None),
    "user": ("probes in programs", "python3 test/user/run.py $ACU", None),
    "no_types": ("without types of the kernel", NO_TYPES, NO_TYPES),
}


class Result:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.reasons = collections.Counter()

    def text(self):
        if not self.passed + self.failed + self.skipped:
            return "did not run"
        return f"{self.passed} passed" + (f", **{self.failed} failed**" if self.failed else "") + (
            f", {self.skipped} left out" if self.skipped else "")


def command_for(parts, acu, is_sample):
    """One shell command for all parts, each announced by its name."""
    lines = [f"export ACU={shlex.quote(acu)} TESTS={shlex.quote(os.path.join(os.path.dirname(acu), 'test'))}",
             f"cd {shlex.quote(ROOT)}"]
    for part in parts:
        _, whole, sample = PARTS[part]
        command = sample if is_sample else whole
        lines.append(f"echo '{MARK}{part}'; {command}; echo")
    return "\n".join(lines)


def read(lines, parts):
    """Results by part, of what the parts printed; their failures are printed on."""
    results = {part: Result() for part in parts}
    part = None
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith(MARK):
            part = line[len(MARK):]
            continue
        if part not in results:
            print(line, flush=True)
            continue
        now = results[part]
        summary, random, left_out = SUMMARY.match(line), RANDOM.match(line), LEFT_OUT.match(line)
        if summary:
            now.passed += int(summary.group(1))
            now.failed += int(summary.group(2))
            now.skipped += int(summary.group(3))
        elif random:
            now.passed = int(random.group(1)) - int(random.group(3))
            now.failed = int(random.group(2)) + int(random.group(3))
        elif left_out:
            count = left_out.group(1)
            now.reasons[left_out.group(2)] += int(count) if count.isdigit() else 1
        elif line and not line.startswith("["):
            print(f"{part}: {line}", flush=True)
    for now in results.values():
        now.skipped = now.skipped or sum(now.reasons.values())
    return results


def run_on(kernel, parts, acu, options):
    """Results by part on a kernel; raises stock.Missing."""
    command = command_for(parts, acu, not options.all)
    if kernel == "here":
        words = ["/bin/sh", "-c", command]
    else:
        stock.fetch(kernel)
        limit = 120 * MINUTES if options.all else 8 * MINUTES
        words = [sys.executable, os.path.join(HERE, "vm.py"), "--timeout", str(limit), "--disk", "256", kernel, "--",
                 "/bin/sh", "-c", command]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=ROOT)
    results = read(process.stdout, parts)
    if process.wait() == 125 and not any(r.passed for r in results.values()):
        raise stock.Missing("no virtual machine here (see above)")
    for result in results.values():
        if not result.passed + result.failed + result.skipped:
            result.failed = 1  # the machine died, or its time was up
    return results


def table(results, versions):
    """Markdown: parts by kernels, then why cases were left out."""
    kernels = list(results)
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
        rows += ["", "Left out, and why:", "", "| | " + " | ".join(kernels) + " |", "|---" * (len(kernels) + 1) + "|"]
        for reason in sorted(left_out, key=lambda r: -sum(left_out[r].values())):
            rows.append(f"| {reason} | " + " | ".join(str(left_out[reason].get(k, "")) for k in kernels) + " |")
    return "\n".join(rows) + "\n"


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
    parser.add_argument("--write")
    options = parser.parse_args()
    kernels = (options.kernels or ("5.10,6.1,6.12,here" if options.all else "6.1")).split(",")
    parts = options.parts.split(",") if options.parts else [p for p, row in PARTS.items() if row[1 if options.all else 2]]
    results, versions, skipped = {}, {}, 0
    for kernel in kernels:
        begin = time.monotonic()
        try:
            results[kernel] = run_on(kernel, parts, options.acu, options)
            versions[kernel] = stock.version(kernel) if kernel != "here" else os.uname().release + " (here)"
            print(f"{versions[kernel]}: {time.monotonic() - begin:.0f} s", flush=True)
        except stock.Missing as problem:
            skipped += 1
            print(f"skipped {kernel}: {problem}")
    text = ("" if options.all else "A sample of the tests (`test/kernels/run.py`):\n\n") + table(results, versions)
    print(text)
    if options.write:
        write(options.write, text)
    all_results = [r for by_part in results.values() for r in by_part.values()]
    failed = sum(r.failed for r in all_results)
    print(f"{sum(r.passed for r in all_results)} passed, {failed} failed, {skipped + sum(r.skipped for r in all_results)} skipped")
    return 1 if failed else 0


sys.exit(main())
