#!/usr/bin/env python3
"""Addresses to names, lines and inlined calls: acu sym beside addr2line, eu-addr2line, llvm-symbolizer and perf script.

  bench/symbols.py [--acu build/release/acu] [--addresses 100000] [--runs 7] [--check 10000] [--out bench/results.md]

One process (bench/load/templates.cc, compiled here with -O2 -g) has libLLVM loaded (package libllvm14, stripped); of
libc the debug file is installed (package libc6-dbg). A quarter of the addresses each lies in the code of the program,
of libc, of libLLVM and of the kernel. Each tool gets them on standard input in one order that is random. acu answers
all of them by one command; the other symbolizers are run for each of the three files, without the kernel; perf script gets
samples of all, in a file as perf writes it, and gives names only.
Cold: acu's cache is empty; files are in the page cache for everybody.

The check asks acu and eu-addr2line for the same random addresses of the program, libc and libLLVM, compares every
frame, and puts each difference into a class whose condition is tested; what fits none is printed and makes it fail.
"""
import argparse
import collections
import functools
import json
import os
import posixpath
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "bench")
HEADING = "## Addresses to names"
SHARE = 20  # the slow ones are asked for one address in so many
LLVM = "llvm-symbolizer-14"
SLOW = 100  # eu-addr2line takes some 40 ms for an address in deeply inlined code: of each file it gets count / SLOW


def say(text):
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------- program and addresses


def output(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def library(name):
    return re.search(r"=> (/\S+)", next(l for l in output("ldconfig", "-p").splitlines() if name + " " in l))[1]


def code_of(path):
    """Address and size of a file's .text, as the file counts."""
    found = re.search(r"\s\.text\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", output("readelf", "-SW", path))
    return int(found[1], 16), int(found[2], 16)


def moved_by(pid, path):
    """What the loader added to a file's addresses in the process."""
    real = os.path.realpath(path)
    for line in open(f"/proc/{pid}/maps"):
        words = line.split()
        if len(words) < 6 or words[5] != real or "x" not in words[1]:
            continue
        begin, offset = int(words[0].split("-")[0], 16), int(words[2], 16)
        for place, address, size in re.findall(r"LOAD\s+(\w+)\s+(\w+)\s+\w+\s+(\w+)\s+\w+\s+R E", output("readelf", "-lW", real)):
            if int(place, 16) <= offset < int(place, 16) + int(size, 16):
                return begin - offset - (int(address, 16) - int(place, 16))
    raise SystemExit(f"{path} is not mapped in process {pid}")


class Program:
    """The running program, its files, and random addresses in their code."""

    def __init__(self):
        os.makedirs(BUILD, exist_ok=True)
        self.path = os.path.join(BUILD, "templates")
        source = os.path.join(ROOT, "bench", "load", "templates.cc")
        if not os.path.exists(self.path) or os.path.getmtime(self.path) < os.path.getmtime(source):
            subprocess.run(["g++", "-std=c++17", "-O2", "-g", source, "-o", self.path, "-ldl"], check=True)
        llvm = library("libLLVM-14.so.1")
        self.process = subprocess.Popen([self.path, llvm], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.pid = self.process.pid
        self.files = [self.path, library("libc.so.6"), llvm]

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def in_files(self, count):
        """Of each file the same number, as the file counts."""
        each = count // len(self.files)
        found = []
        for path in self.files:
            begin, size = code_of(path)
            found.append([begin + random.randrange(size) for _ in range(each)])
        return found

    def in_process(self, count):
        """[(file or None for the kernel, address in it, address in the process)]"""
        found = []
        for path, addresses in zip(self.files, self.in_files(count // 4 * 3)):
            base = moved_by(self.pid, path)
            found += [(path, a, base + a) for a in addresses]
        symbols = {l.split()[2]: int(l.split()[0], 16) for l in open("/proc/kallsyms") if " _stext\n" in l or " _etext\n" in l}
        found += [(None, a, a) for a in (random.randrange(symbols["_stext"], symbols["_etext"]) for _ in range(count // 4))]
        random.shuffle(found)
        return found


# ------------------------------------------------------------------------------------- time and memory


class Run:
    def __init__(self, seconds, cpu, megabytes):
        self.seconds, self.cpu, self.megabytes = seconds, cpu, megabytes

    def __add__(self, other):
        return Run(self.seconds + other.seconds, self.cpu + other.cpu, max(self.megabytes, other.megabytes))


def run(command, text_file, environment=None):
    with open(text_file) as stdin, open(os.devnull, "w") as null:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=stdin, stdout=null, stderr=null, env=dict(os.environ, **(environment or {})))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode and command[0] != "eu-addr2line":  # which gives 1 for a file without debug information
        raise SystemExit(f"{' '.join(command)}: exit status {child.returncode}")
    return Run(time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(runs):
    pick = lambda f: statistics.median(f(r) for r in runs)
    return Run(pick(lambda r: r.seconds), pick(lambda r: r.cpu), pick(lambda r: r.megabytes))


def write_addresses(folder, name, addresses):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write("".join("0x%x\n" % a for a in addresses))
    return path


def perf_file(folder, pid, addresses):
    """perf's own recording of the process, with a sample for each address behind it."""
    data = subprocess.run(["perf", "record", "-o", "-", "-e", "cpu-clock", "-p", str(pid), "sleep", "0.1"],
                          capture_output=True, check=True).stdout
    at, sample_type, identity = 16, None, 0
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 64:  # attributes of the event, then its ids
            length = struct.unpack_from("<I", data, at + 12)[0]
            sample_type = struct.unpack_from("<Q", data, at + 8 + 24)[0]
            identity = struct.unpack_from("<Q", data, at + 8 + length)[0]
        at += size
    if sample_type & ~0x147:
        raise SystemExit(f"perf records samples of a form that is not known here: {sample_type:#x}")
    samples = bytearray()
    for i, address in enumerate(addresses):
        body = struct.pack("<QIIQ", address, pid, pid, (1 << 62) + i)
        body += struct.pack("<Q", identity) if sample_type & 0x40 else b""
        body += struct.pack("<Q", 1) if sample_type & 0x100 else b""
        samples += struct.pack("<IHH", 9, 1 if address >> 63 else 2, 8 + len(body)) + body
    path = os.path.join(folder, "perf.data")
    with open(path, "wb") as out:
        out.write(data + samples)
    return path


def measure(acu, program, count, runs):
    """{(tool, answers): Run}"""
    rows = {}
    asked = program.in_process(count)
    with tempfile.TemporaryDirectory() as folder:
        everything = write_addresses(folder, "all", [a for _, _, a in asked])
        # Those that need milliseconds for an address get a share, and their times are those of as many as acu's.
        some = asked[:max(1, count // SHARE)]
        user = write_addresses(folder, "user", [a for path, _, a in some if path])
        by_file = [(path, write_addresses(folder, str(i), [a for f, a, _ in some if f == path]))
                   for i, path in enumerate(program.files)]
        whole = lambda r: Run(r.seconds * SHARE, r.cpu * SHARE, r.megabytes)
        cache = os.path.join(folder, "cache")
        pid = str(program.pid)
        for name, options in (("names", ["--names"]), ("names, lines, inlined calls", [])):
            command = [acu, "sym", "-p", pid, "--stdin"] + options
            cold = []
            for _ in range(runs):
                shutil.rmtree(cache, ignore_errors=True)
                cold.append(run(command, everything, {"ACU_CACHE": cache}))
            rows["acu, cold", name] = median(cold)
            rows["acu, warm", name] = median([run(command, everything, {"ACU_CACHE": cache}) for _ in range(runs)])
        few = max(1, runs // 3)
        per_file = lambda command, texts: functools.reduce(Run.__add__, [run(command + ["-e", p], t) for p, t in texts])
        for tool, command in (("llvm-symbolizer", [LLVM, "--inlines", "--functions=linkage"]),
                              ("addr2line", ["addr2line", "-f", "-i", "-C"])):
            say(tool)
            rows[tool, "names, lines, inlined calls"] = median([per_file(command, by_file) for _ in range(few)])
        say("eu-addr2line")
        short = [(path, write_addresses(folder, f"few{i}", [a for f, a, _ in asked if f == path][:count // SLOW]))
                 for i, path in enumerate(program.files)]
        rows["eu-addr2line", "names, lines, inlined calls"] = per_file(["eu-addr2line", "-f", "-i", "-C"], short)
        if shutil.which("perf"):
            say("perf script")
            data = perf_file(folder, program.pid, [a for _, _, a in asked])
            rows["perf script", "names"] = median(
                [run(["perf", "script", "-i", data, "-F", "ip,sym,symoff,dso", "--no-inline"], os.devnull) for _ in range(few)])
    return rows


# ------------------------------------------------------------------------------------- agreement


Frame = collections.namedtuple("Frame", "name file line column")
NOTHING = Frame("??", "??", 0, 0)


def acu_frames(acu, path, addresses):
    out = []
    text = output(acu, "sym", "--json", "-e", path, "--stdin", input="".join("0x%x\n" % a for a in addresses))
    for line in text.splitlines():
        place = json.loads(line)
        frames = [Frame(f.get("function", "??"), posixpath.normpath(f.get("file", "??")), f.get("line", 0), f.get("column", 0))
                  for f in place.get("frames", [])]
        out.append(frames or [NOTHING._replace(name=place.get("function", "??"))])
    return out


def place_of(text):
    found = re.fullmatch(r"(.*?):(\d+)(?::(\d+))?(?: \(discriminator \d+\))?", text)
    if not found:
        return "??", 0, 0
    return posixpath.normpath(found[1]), int(found[2]), int(found[3] or 0)


def llvm_frames(path, addresses):
    """Two lines for each frame, and an empty one behind those of an address."""
    told = output(LLVM, "-e", path, "--inlines", "--functions=linkage", "--output-style=LLVM",
                  input="".join("0x%x\n" % a for a in addresses))
    out = []
    for part in told.rstrip("\n").split("\n\n"):
        lines = part.split("\n")
        out.append([Frame(lines[i], *place_of(lines[i + 1])) for i in range(0, len(lines) - 1, 2)])
    return out


def eu_frames(path, addresses):
    """For each address a line with it, then two for each frame."""
    command = ["eu-addr2line", "-f", "-i", "-a", "-C"]
    told = subprocess.run([*command, "-e", path], input="".join("0x%x\n" % a for a in addresses), capture_output=True, text=True)
    out, lines = [], None
    for line in told.stdout.splitlines():  # eu-addr2line gives 1 for a file without debug information
        if re.fullmatch(r"0x[0-9a-f]{16}", line):
            lines = []
            out.append(lines)
        else:
            lines.append(line)
    return [[Frame(re.sub(r" inlined at .*", "", l[i]), *place_of(l[i + 1])) for i in range(0, len(l) - 1, 2)] for l in out]


class Symbols:
    """The symbol table of a file and its debug file, for what can be said of a name."""

    def __init__(self, acu, path):
        self.path = path
        self.by_name = collections.defaultdict(set)
        self.ranges = []
        found = json.loads(output(acu, "modules", "--json", path))
        for table in {path} | {f.split(" (")[0] for f in [found.get("debug_info", "")] if f.startswith("/")}:
            for options in (["-sW"], ["-sW", "-C"]):
                for line in output("readelf", *options, table).splitlines():
                    words = line.split(None, 7)
                    if len(words) == 8 and words[3] in ("FUNC", "IFUNC", "NOTYPE") and words[6].isdigit():
                        name = re.split(r"@| \[", words[7])[0] if "-C" not in options else words[7]
                        self.by_name[name].add(int(words[1], 16))
                        self.ranges.append((int(words[1], 16), int(words[2], 0)))

    def is_same_function(self, one, other):
        return bool(self.by_name[one] & self.by_name[other])

    def is_padding(self, address):
        return not any(begin <= address < begin + size for begin, size in self.ranges)


    @functools.cached_property
    def unwind_ranges(self):
        """{begin: end} of .eh_frame"""
        text = output("readelf", "--debug-dump=frames", self.path)
        return {int(m[1], 16): int(m[2], 16) for m in re.finditer(r" pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)}

    def is_in_function(self, address, name):
        begin = int(name.removeprefix("func_"), 16)
        return begin <= address < self.unwind_ranges.get(begin, 0)


def short_name(name):
    """What DW_AT_name would be: "void A<int>::f<char>(int) [clone .cold]" -> "f"."""
    name = re.sub(r" \[clone [^\]]*\]|(\.(constprop|isra|part|cold|lto_priv|localalias)(\.\d+)?)+$", "", name)
    name = name.replace("(anonymous namespace)", "_anon_").replace("operator()", "operator_call_")
    name = re.sub(r"\b(operator)(<<=|>>=|<=>|<<|>>|<=|>=|->\*|->|<|>)", lambda m: m[1] + str([hex(ord(c)) for c in m[2]]), name)
    depth, kept = 0, ""
    for c in name:
        depth -= c in ")>}"
        if depth == 0 and c not in "<({)>}":
            kept += c
        depth += c in "(<{"
    return re.sub(r"( const)?( &+)?$", "", kept.strip()).split("::")[-1].split(" ")[-1]


# Name, explanation.
CLASSES = [
    ("same", "all frames, names, files, lines and columns"),
    ("symbol name", "acu names the outermost frame by its symbol, as stacks do, with scope, parameters and clone "
     "suffix; eu-addr2line prints DW_AT_name if the function has no linkage name (local functions)"),
    ("another name for the function", "two symbols at one address: acu takes the one with fewer underscores, eu-addr2line the "
     "linkage name of the debug information (`getaddrinfo`, `__GI_getaddrinfo`)"),
    ("duplicated directory", "eu-addr2line prepends a relative DW_AT_comp_dir to a path that already has it (`stdlib/stdlib/x.c`)"),
    ("between functions", "padding that no symbol covers: acu names no function"),
    ("function without a symbol", "acu gives it the name `func_0x…` by its range in the unwind tables; the others have none"),
    ("code without lines", "code of the C library's start files; llvm-symbolizer finds no lines either, eu-addr2line takes the nearest "
     "preceding line, which is from another file"),
    ("llvm-symbolizer agrees with acu", "on the number of frames, files, lines and columns; eu-addr2line takes calls next to the "
     "address for enclosing calls"),
]


def classify(acu, eu, third, symbols, address):
    if acu == eu:
        return "same"
    trim = lambda frames: [f._replace(name="") for f in frames]
    inner = lambda frames: [f.name for f in frames[:-1]]
    doubled = False
    places_agree = len(acu) == len(eu)
    if places_agree:
        for a, e in zip(trim(acu), trim(eu)):
            twice = a.file != e.file and e.file.endswith("/" + a.file) and e.file.split("/")[0] == a.file.split("/")[0]
            doubled |= twice
            places_agree &= (a._replace(file="") == e._replace(file="")) and (a.file == e.file or twice)
    if places_agree and inner(acu) == inner(eu):
        if acu[-1].name == eu[-1].name:
            return "duplicated directory" if doubled else "same"
        if symbols.is_same_function(acu[-1].name, eu[-1].name):
            return "another name for the function"
        if acu[-1].name != "??" and short_name(acu[-1].name) == short_name(eu[-1].name):
            return "symbol name"
    if acu[-1].name == "??" and symbols.is_padding(address):
        return "between functions"
    if eu[-1].name == third[-1].name == "??" and acu[-1].name.startswith("func_") and symbols.is_in_function(address, acu[-1].name):
        return "function without a symbol"
    if acu[-1].name == eu[-1].name and not acu[-1].line and not third[-1].line:
        return "code without lines"
    places = lambda frames: [(posixpath.basename(f.file), f.line, f.column) for f in frames]
    if places(acu) == places(third) and places(acu) != places(eu):
        return "llvm-symbolizer agrees with acu"
    return "unexplained"


def check(acu, program, count):
    """({class: {file: count}}, unexplained differences)"""
    counts, unexplained = collections.defaultdict(collections.Counter), []
    for path, addresses in zip(program.files, program.in_files(count)):
        symbols = Symbols(acu, path)
        ours = acu_frames(acu, path, addresses)
        eu = eu_frames(path, addresses)
        third = dict(zip(addresses, llvm_frames(path, addresses)))
        for address, a, e in zip(addresses, ours, eu):
            kind = classify(a, e, third[address], symbols, address)
            counts[kind][os.path.basename(path)] += 1
            if kind == "unexplained":
                unexplained.append((path, address, a, e, third[address]))
    return counts, unexplained


# ------------------------------------------------------------------------------------- report


def report(program, rows, counts, count, asked):
    user = asked // 4 * 3
    numbers = {"eu-addr2line": asked // SLOW * len(program.files), "llvm-symbolizer": user, "addr2line": user}
    lines = [HEADING, "", f"{asked:,} addresses, a quarter each in a C++ program with templates (-O2 -g), libc with libc6-dbg, "
             "libLLVM-14 (stripped) and the kernel, in random order; medians. `acu sym -p PID --stdin` and `perf script` resolve "
             "all of them, the others only those of the three files, with one run for each file. The ratios compare the time for one address.", "",
             "| tool | answers | addresses | wall | CPU | peak RSS | wall/acu cold | wall/acu warm |",
             "|---|---|---|---|---|---|---|---|"]
    for (tool, name), r in rows.items():
        number = numbers.get(tool, asked)
        each = lambda run, of: run.seconds / of
        cold, warm = (each(rows[f"acu, {state}", name], asked) for state in ("cold", "warm"))
        lines.append(f"| {tool} | {name} | {number:,} | {r.seconds * 1000:,.0f} ms | {r.cpu * 1000:,.0f} ms | {r.megabytes:.0f} MB | "
                     f"{each(r, number) / cold:.2f} | {each(r, number) / warm:.2f} |")
    if counts:
        names = [os.path.basename(p) for p in program.files]
        lines += ["", f"Agreement with `eu-addr2line -f -i` on {count:,} random addresses, by frames:", "",
                  "| class | " + " | ".join(names) + " | meaning |", "|---|" + "---|" * (len(names) + 1)]
        for kind, why in CLASSES + [("unexplained", "an error")]:
            lines.append(f"| {kind} | " + " | ".join(f"{counts[kind][n]:,}" for n in names) + f" | {why} |")
    return "\n".join(lines) + "\n"


def write_report(path, text):
    """In place of the section with our heading, or at the end."""
    old = open(path).read() if os.path.exists(path) else ""
    begin = old.find(HEADING)
    end = old.find("\n## ", begin + 1) if begin >= 0 else -1
    if begin < 0:
        new = old.rstrip("\n") + "\n\n" + text
    else:
        new = old[:begin] + text + (old[end:] if end >= 0 else "")
    with open(path, "w") as out:
        out.write(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"))
    parser.add_argument("--addresses", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    parser.add_argument("--quick", action="store_true", help="few runs, and no check")
    options, _ = parser.parse_known_args()  # `make bench` gives bench/run.py's arguments to both
    if options.quick:
        options.runs, options.check = 3, 0
    random.seed(options.seed)
    program = Program()
    try:
        rows = measure(options.acu, program, options.addresses, options.runs) if options.runs else {}
        counts, unexplained = check(options.acu, program, options.check) if options.check else ({}, [])
    finally:
        program.end()
    if rows:
        text = report(program, rows, counts, options.check, options.addresses)
        print(text)
        if options.out:
            write_report(options.out, text)
    else:
        print({k: dict(v) for k, v in counts.items()})
    for path, address, a, e, t in unexplained[:20]:
        say(f"{path} {address:#x}\n  acu {a}\n  eu  {e}\n  llvm {t}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
