"""What two hosts print differently though both are right: for suites that compare output with text that is kept.

libc has several implementations of a function, and its loader chooses by the CPU's features (x86-64: memcpy is
__memmove_evex_unaligned_erms here and __memmove_ssse3 there; sysdeps/x86_64/multiarch of glibc has them all). In
public_names() all have the name that programs call them by, and the name of its source file.

How many rows a histogram of times has, and where they begin, is a matter of speed. histogram_problem() says what is wrong
with the rows of any host: buckets that do not follow each other, counts or bars that do not fit.

Where much else runs a traced thread waits for a CPU, and the kernel may still be detaching probes when acu ends; acu says
both. without_delays() drops that.

A clone may lie in a folder with blanks in its path; one_word() is a path to it that scripts of a shell need not quote.
"""
import atexit
import functools
import os
import re
import shutil
import tempfile

FEATURE = r"(?:avx2?|avx512|evex(?:512)?|sse2|sse4_?[12]|ssse3|fma4?|erms|unaligned|rtm|movbe|back|no_vzeroupper)"
VARIANT = re.compile(rf"\b__(\w+?)(?:_{FEATURE})+\b")
VARIANT_SOURCE = re.compile(r"\S*/sysdeps/x86_64/(?:\S*/)?([a-z]+)(?:-[\w-]+)?\.S\b")
BAR_COLUMNS = 52
ROW = re.compile(r"(?:\[(?P<only>\S+)\]|[\[(](?P<low>\S+), (?P<end>\S+)\)) +(?P<count>\d+) \|(?P<bar>@* *)\|")
POWERS = {letter: 1024 ** power for power, letter in enumerate("KMGTPE", 1)}


def public_names(text):
    return VARIANT_SOURCE.sub(r"libc/\1.S", VARIANT.sub(r"\1", text))


def number(text):
    """Of a bound such as 512, -4 or 2K; None of an end that is open."""
    if text == "...":
        return None
    return int(text[:-1]) * POWERS[text[-1]] if text[-1] in POWERS else int(text)


def bounds(row):
    if row["only"]:
        return number(row["only"]), number(row["only"]) + 1
    return number(row["low"]), number(row["end"])


def histogram_problem(lines):
    """What is wrong with the rows of a histogram; None when all is right."""
    rows = [ROW.fullmatch(line) for line in lines]
    if not rows or None in rows:
        return "a line is no row of a histogram"
    ranges, counts = [bounds(r) for r in rows], [int(r["count"]) for r in rows]
    if any(low is not None and end is not None and low >= end for low, end in ranges):
        return "a bucket is empty of numbers"
    if any(before[1] is None or before[1] != after[0] for before, after in zip(ranges, ranges[1:])):
        return "buckets do not follow each other"
    if not counts[0] or not counts[-1]:
        return "the first or last bucket has no count"
    for row, count in zip(rows, counts):
        if row["bar"] != ("@" * (count * BAR_COLUMNS // max(counts))).ljust(BAR_COLUMNS):
            return f"the bar of {count} does not fit"
    return None


def without_delays(text):
    text = re.sub(r"; preempted [\d.]+ us(?= \*/)", "", text)
    return re.sub(r"^WARNING: the kernel is still detaching the probes: .*\n", "", text, flags=re.M)


@functools.cache
def one_word(path):
    if re.fullmatch(r"[\w./+@-]+", path):
        return path
    folder = tempfile.mkdtemp(prefix="acu-path-")
    os.chmod(folder, 0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = os.path.join(folder, re.sub(r"[^\w.+@-]", "_", os.path.basename(path)))
    os.symlink(path, link)
    return link


def shown_host(text, name):
    """What names this host at the end of a line (`…, on HOST`) names another one."""
    return re.sub(rf"\bon {re.escape(os.uname().nodename)}$", "on " + name, text, flags=re.M)
