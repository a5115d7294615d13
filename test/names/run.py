#!/usr/bin/env python3
"""Names of stripped programs: run.py ACU [--filter TEXT]

The programs are built here, as files with symbols and without, and what acu says of the latter is compared with `nm` of the
former. Cases of Go need `go`. Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite
import tracing

TMP = tempfile.mkdtemp(prefix="acu-names-")
os.chmod(TMP, 0o755)
LIMIT = 120 * SLOWNESS
GETPGID = 'tracepoint:syscalls:sys_enter_getpgid /comm == "%s"/ { @[ustack] = count() }'


def path(*names):
    return os.path.join(TMP, *names)


def shell(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=LIMIT, cwd=TMP, **more)
    need(done.returncode == 0, f"status {done.returncode} of {' '.join(map(str, words))[:200]}: {done.stderr.strip()[:800]}")
    return done


def acu(program, *words):
    return shell(program, *words, env=dict(os.environ, ACU_CACHE=path("cache")))


def plain(*options, without_sections=False):
    """A program in C with its symbols, and the path of the same without; by its options."""
    name = path("plain" + "".join(options).replace("/", "_").replace(",", "_"))
    stripped = name + (".cut" if without_sections else ".stripped")
    if not os.path.exists(stripped):
        shell("gcc", "-O2", "-fno-ipa-icf", *options, "-o", name, os.path.join(HERE, "plain.c"))
        shell("strip", "-o", stripped, name)
        if without_sections:
            shell("python3", "-c", "import sys; f = open(sys.argv[1], 'r+b'); f.seek(40); f.write(bytes(8)); f.seek(60); f.write(bytes(4))",
                  stripped)
    return name, stripped


def go(*options, strip=True):
    if not shutil.which("go"):
        raise Skipped("go is not installed")
    name = path("work" + "".join(options).replace("/", "_"))
    if not os.path.exists(name + ".stripped"):
        settings = dict(os.environ, GO111MODULE="off", GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="1", GOCACHE=path("go-cache"), HOME=TMP)
        source = path("work.go")
        shutil.copy(os.path.join(HERE, "work.go"), source)
        shell("go", "build", *options, "-o", name, source, env=settings)
        shell("strip", "-o", name + ".stripped", name)
    return name, name + ".stripped"


def symbols(program):
    """Address and size by name."""
    rows = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (\S+)$", shell("nm", "-S", program).stdout, re.M)
    return {name: (int(address, 16), int(size, 16)) for address, size, name in rows}


def unnamed(program, *names):
    found = symbols(program)
    return [f"func_0x{found[n][0]:x}" for n in names]


def stacks_in(text):
    found = re.findall(r"^@\[\n((?: .+\n)*)\]: (\d+)$", text, re.M)
    return [([line.strip().rsplit("+", 1)[0] for line in frames.strip().split("\n")], int(count)) for frames, count in found]


# ------------------------------------------------------------------------------------- functions without a name


def sym_names_by_address(program):
    for options, cut in ((["-no-pie"], False), (["-pie", "-fPIE"], False), (["-no-pie"], True)):
        full, stripped = plain(*options, without_sections=cut)
        for name in ("leaf", "work", "main"):
            begin, size = symbols(full)[name]
            for at in (begin, begin + size - 1):
                out = acu(program, "sym", "-e", stripped, f"0x{at:x}").stdout
                need(f"func_0x{begin:x}" in out.split("\n")[0].split("+")[0], f"{name} at {at:x} of {options}: {out}")
            out = acu(program, "sym", "-e", stripped, "--names", f"0x{begin:x}").stdout
            need(out == f"0x{begin:x}: func_0x{begin:x}\n", out)


def stacks_in_scripts(program):
    full, stripped = plain()
    text, _ = tracing.trace([program, "run", "--notify-attached", tracing.ATTACHED, "-e", GETPGID % os.path.basename(stripped)[:15]],
                            path("cache"), lambda: shell(stripped, 0, 20), LIMIT)
    leaf, work, main = unnamed(full, "leaf", "work", "main")
    found = stacks_in(text)
    need(sum(count for _, count in found) == 20, text)
    for frames, _ in found:
        own = [f for f in frames if f in (leaf, work, main)]
        need(own in ([leaf, work, main], [leaf, main]), f"{own} of {leaf} {work} {main}:\n{text}")
        need(not any(f.startswith(os.path.basename(stripped)) for f in frames), text)


def one_box_a_function(program):
    full, stripped = plain()
    done = acu(program, "flame", "-F", "499", "-o", path("plain.folded"), "--", stripped, 2)
    leaf = unnamed(full, "leaf")[0]
    lines = [line.rsplit(" ", 1) for line in open(path("plain.folded")).read().strip().split("\n")]
    total = sum(int(n) for _, n in lines)
    inside = sum(int(n) for stack, n in lines if leaf in stack.split(";"))
    need(inside > 0.9 * total, f"{inside} of {total} are in {leaf}: {lines[:3]}")
    bare = sum(int(n) for stack, n in lines if re.search(r"plain[^;]*\+0x", stack))  # the jumps to other files have no function
    need(bare < 0.02 * total, str(lines[:3]))
    told = re.search(r"^([\d,]+) of ([\d,]+) frames are in functions without a name", done.stderr + done.stdout, re.M)
    need(told and int(told[1].replace(",", "")) >= inside, done.stderr)
    share = float(re.search(r"frames named ([\d.]+)%", done.stderr + done.stdout)[1])
    need(share < 100, "functions without a name are counted as named: " + done.stderr)


def the_same_in_each_run(program):
    full, stripped = plain("-pie", "-fPIE")
    for i in (1, 2):
        acu(program, "record", "-F", "499", "-o", path(f"{i}.acu"), "--", stripped, 2)
    out = acu(program, "diff", path("1.acu"), path("2.acu")).stdout
    leaf = unnamed(full, "leaf")[0]
    for i in (1, 2):
        need(leaf in acu(program, "report", path(f"{i}.acu")).stdout, f"no {leaf} in run {i}")
    rows = [line for line in out.split("\n") if leaf in line]
    need(len(rows) <= 2, "not one function for the comparison:\n" + out[:2000])


def waiting_process(program):
    full, stripped = plain()
    process = subprocess.Popen([stripped, "wait"])
    try:
        end = time.monotonic() + LIMIT
        while open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()[0] != "S" and time.monotonic() < end:
            time.sleep(0.05)
        waits, main = unnamed(full, "waits", "main")
        text = acu(program, "snap", "-p", process.pid).stdout
        core = path("core")
        need(waits in text or main in text, text)
        if shutil.which("gcore"):
            shell("gcore", "-o", core, process.pid)
            text = acu(program, "core", f"{core}.{process.pid}").stdout
            need(waits in text or main in text, text)
    finally:
        process.kill()
        process.wait()


def probes_by_address(program):
    full, stripped = plain()
    leaf, work = unnamed(full, "leaf", "work")
    script = f"uprobe:{stripped}:{leaf} {{ @[func] = count(); }} uretprobe:{stripped}:{work} {{ @returned = count(); }}"
    text, _ = tracing.trace([program, "run", "--notify-attached", tracing.ATTACHED, "-e", script], path("cache"),
                            lambda: shell(stripped, 0, 1), LIMIT)
    need(re.search(rf"^@\[{leaf}\]: 2$", text, re.M) and "@returned: 1" in text, text)
    listed = acu(program, "list", f"uprobe:{stripped}:{leaf}").stdout
    need(listed.strip().endswith(":" + leaf), listed)
    wrong = subprocess.run([program, "run", "-e", f"uprobe:{stripped}:{leaf}1 {{ exit() }}"], capture_output=True, text=True, timeout=LIMIT)
    need(wrong.returncode == 3, f"status {wrong.returncode} of a function that is not there: {wrong.stderr}")


def modules_tell_both(program):
    _, stripped = plain()
    out = acu(program, "modules", stripped).stdout
    need(re.search(r"^    unnamed     \d+ functions, from \.eh_frame$", out, re.M), out)


# ------------------------------------------------------------------------------------- Go


GO_KINDS = [[], ["-ldflags=-s -w"], ["-buildmode=pie"], ["-ldflags=-linkmode=external"], ["-buildmode=pie", "-ldflags=-linkmode=external"]]


def go_names(program):
    for kind in GO_KINDS:
        full, stripped = go(*kind)
        if "-s" in " ".join(kind):
            continue  # nothing to compare with, but the next case
        rows = [(n, a) for n, (a, s) in symbols(full).items() if s and n.startswith(("main.", "runtime.", "os."))]
        code = set(re.findall(r"^[0-9a-f]+ [tT] (\S+)$", shell("nm", full).stdout, re.M))
        rows = [(n, a) for n, a in rows if n in code]
        need(len(rows) > 100, f"only {len(rows)} functions of {kind}")
        out = acu(program, "sym", "-e", stripped, "--names", *[f"0x{a:x}" for _, a in rows]).stdout.strip().split("\n")
        wrong = [(n, line) for (n, _), line in zip(rows, out) if not line.endswith(": " + n.removesuffix(".abi0"))]
        need(len(wrong) * 100 < len(rows), f"{len(wrong)} of {len(rows)} of {kind}: {wrong[:5]}")


def go_lines_and_inlined_calls(program):
    for kind in GO_KINDS:
        full, stripped = go(*kind)
        listed = acu(program, "list", f"uprobe:{stripped}:main.*handler").stdout
        need(listed.strip().endswith("main.(*table).handler"), listed)
        found = re.search(r"^([0-9a-f]+) T main.\(\*table\).handler$", shell("nm", full).stdout, re.M) if "-s" not in " ".join(kind) else None
        if not found:
            continue
        begin = int(found[1], 16)
        out = acu(program, "sym", "-e", stripped, *[f"0x{begin + i:x}" for i in range(0, 160)]).stdout
        # Lines of work.go: where small and middle are, and the loop in handler.
        chain = r"main\.small at \S*/work\.go:12\n \(inlined by\) main\.middle at \S*/work\.go:13\n" \
                r" \(inlined by\) main\.\(\*table\)\.handler\+0x[0-9a-f]+ at \S*/work\.go:19\n"
        need(re.search(chain, out), f"{kind}: {out[:1500]}")


def go_flame_graph(program):
    _, stripped = go()
    done = acu(program, "flame", "-F", "499", "-o", path("work.folded"), "--", stripped, 1, 2)
    text = open(path("work.folded")).read()
    need(re.search(r"runtime\.main;main\.main;main\.work;main\.\(\*table\)\.handler;main\.middle_\[i\];main\.small_\[i\] \d+", text), text[:1000])
    need("without a name" not in done.stderr, done.stderr)
    need(float(re.search(r"frames named ([\d.]+)%", done.stderr + done.stdout)[1]) > 95, done.stderr)


def go_probes_and_stacks(program):
    _, stripped = go()
    script = f"uprobe:{stripped}:main*handler {{ @[ustack] = count(); }}"
    text, _ = tracing.trace([program, "run", "--notify-attached", tracing.ATTACHED, "-e", script], path("cache"),
                            lambda: shell(stripped), LIMIT)
    found = stacks_in(text)
    need(len(found) == 1 and found[0][1] == 1, text)
    frames = found[0][0]
    need(frames[0] == "main.(*table).handler" and "main.main" in frames and frames[-1] == "runtime.goexit", text)


TESTS = [sym_names_by_address, stacks_in_scripts, one_box_a_function, the_same_in_each_run, waiting_process, probes_by_address,
         modules_tell_both, go_names, go_lines_and_inlined_calls, go_flame_graph, go_probes_and_stacks]


sys.exit(run_suite(TESTS, TMP))
