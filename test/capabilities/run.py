#!/usr/bin/env python3
"""What each command does with which capabilities: run.py ACU [--write] [--filter TEXT]

Last line: `N passed, N failed, N skipped`."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, patient, run_suite

WRITE = "--write" in sys.argv
DOCUMENT = os.path.join(ROOT, "docs", "security.md")
BEGIN, END = "<!-- capabilities: begin -->\n", "<!-- capabilities: end -->\n"
TMP = tempfile.mkdtemp(prefix="acu-capabilities-")
NOBODY = 65534
SETS = {
    "none": [],
    "BPF": ["bpf"],
    "PERFMON": ["perfmon"],
    "BPF PERFMON": ["bpf", "perfmon"],
    "+ DAC_READ_SEARCH": ["bpf", "perfmon", "dac_read_search"],
    "+ SYS_PTRACE": ["bpf", "perfmon", "dac_read_search", "sys_ptrace"],
    "+ SYSLOG": ["bpf", "perfmon", "dac_read_search", "sys_ptrace", "syslog"],
    "SYS_ADMIN": ["sys_admin"],
}
state = {}


def prepare(acu):
    if state:
        return state["acu"]
    os.chmod(TMP, 0o755)
    copy, target = os.path.join(TMP, "acu"), os.path.join(TMP, "target")
    shutil.copy(acu, copy)
    os.chmod(copy, 0o755)
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", target, os.path.join(HERE, "target.c")], check=True)
    private = os.path.join(TMP, "private")
    subprocess.run(["cp", target, private], check=True)
    os.chmod(private, 0o700)  # only root reads this file
    results = os.path.join(TMP, "results")
    os.mkdir(results)
    os.chmod(results, 0o777)
    state["roots"] = subprocess.Popen([private, "on"])
    symbols = subprocess.run(["nm", target], capture_output=True, text=True, check=True).stdout
    state["step"] = re.search(r"^(\w+) T step$", symbols, re.M).group(1)
    subprocess.run([acu, "record", "-q", "-o", os.path.join(TMP, "given.acu"), "--", "/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"], check=True)
    os.chmod(os.path.join(TMP, "given.acu"), 0o644)
    state["acu"] = copy
    return copy


def found(text):
    return lambda done: "" if text in done.stdout + done.stderr else f"no `{text}`"


def no_kernel_names(done):
    return "no names of the kernel" if re.search(r"0xffffffff", done.stdout) else ""


def no_names(done):
    return "" if re.search(r"\b(step|main)\b", done.stdout) else "no names"


def nothing_of_files(done):
    return "" if re.search(r"^ *[1-9]", done.stdout, re.M) else "not files of others"


# Name, words, what a result must have, and what is missing in one that has less. TARGET, ROOTS (a process of root), STEP (an address in it) and OUT are filled in.
COMMANDS = [
    ("`acu -e 'begin …'`", ["-q", "-e", "begin { printf(\"hi\\n\"); exit() }"], found("hi"), None),
    ("user functions: `acu -e 'uprobe:…'`", ["-q", "-e", "uprobe:TARGET:step /pid == cpid/ { @n = count() }", "-c", "TARGET"], found("@n: 200"), None),
    ("tracepoints: `acu -e 'tracepoint:…'`", ["-q", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @n = count() }", "-c", "TARGET"], found("@n: 200"), None),
    ("`acu -e 'profile:… { @[kstack] … }'`", ["-q", "-e", "software:page-faults:1 /pid == cpid/ { @[kstack(1)] = count() }", "-c", "TARGET"], found("@["), no_kernel_names),
    ("`acu list`", ["list", "tracepoint:sched:sched_switch"], found("sched_switch"), None),
    ("`acu trace -- CMD`", ["trace", "-c", "--", "TARGET"], found("getppid"), None),
    ("`acu flame -- CMD`", ["flame", "-q", "-o", "OUT.folded", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"], None, None),
    ("`acu top -p`", ["top", "-n", "1", "-I", "0.2", "-p", "ROOTS"], found("CPU"), None),
    ("`acu record --flight -- CMD`", ["record", "--flight", "-q", "--memory", "1M", "-o", "OUT.acu", "--", "TARGET"], None, None),
    ("`acu slow FUNCTION -- CMD`", ["slow", "TARGET:step", "--", "TARGET"], found("of 200 calls"), None),
    ("`acu graph FUNCTION -- CMD`", ["graph", "step", "--", "TARGET"], found("step"), None),
    ("`acu waits -p`", ["waits", "-p", "ROOTS", "--duration", "0.3s"], found("waits"), None),
    ("`acu stat -- CMD`", ["stat", "-e", "page-faults", "--", "TARGET"], found("page-faults"), None),
    ("`acu snap -p`, of another user", ["snap", "-p", "ROOTS"], found("thread"), no_names),
    ("`acu sym -p`, of another user", ["sym", "-p", "ROOTS", "STEP"], found("0x"), no_names),
    ("`acu modules -p`, of another user", ["modules", "-p", "ROOTS"], found("private"), lambda done: "no symbols" if re.search(r"private\n(?:.*\n)??.*symbols +none", done.stdout) else ""),
    ("`acu sql`, files of another user", ["sql", "select count(*) from files where pid = ROOTS"], found("count"), nothing_of_files),
    ("`acu report`, `diff`, `timeline`, `core`", ["report", "GIVEN"], found("samples"), None),
    ("`acu info`, `help`, `policy`", ["info"], found("capabilities"), None),
]


def run(acu, words, capabilities):
    folder = tempfile.mkdtemp(dir=os.path.join(TMP, "results"))
    os.chmod(folder, 0o777)
    filled = {"TARGET": os.path.join(TMP, "target"), "ROOTS": str(state["roots"].pid), "STEP": "0x" + state["step"], "OUT": os.path.join(folder, "out"), "GIVEN": os.path.join(TMP, "given.acu")}
    for name, value in filled.items():
        words = [w.replace(name, value) for w in words]
    sets = "-all" + "".join(",+" + c for c in capabilities)
    return subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", f"--inh-caps={sets}", f"--ambient-caps={sets}", f"--bounding-set={sets}",
                           acu, *words], capture_output=True, text=True, errors="replace", timeout=patient(30), cwd=folder, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


def cell(acu, command, capabilities):
    """What happened, and what is wrong with it; both as text."""
    name, words, has, less = command
    done = run(acu, words, capabilities)
    if done.returncode == 0:
        wrong = has(done) if has else ""
        return ("works" + (f", {text}" if (text := less(done) if less else "") else "")), f"{name}: {wrong}\n{done.stdout[:300]}{done.stderr[:300]}" if wrong else ""
    if done.returncode < 0 or not done.stderr.strip():
        return "?", f"{name} with {capabilities}: status {done.returncode}\n{done.stderr[:500]}"
    named = re.findall(r"CAP_(\w+)", " ".join(re.findall(r"(CAP_\w+(?: and CAP_\w+)*) (?:is|are) missing", done.stderr)))
    missing = [c for c in dict.fromkeys(named) if c.lower() not in capabilities]
    wrong = "" if missing and len(missing) == len(set(named)) else f"{name} with {capabilities}: the message names no capability that is missing\n{done.stderr[:500]}"
    return "needs " + ", ".join(missing), wrong


def table_of(acu):
    """Rows of cells, and what is wrong."""
    if "table" not in state:
        prepare(acu)
        jobs = [(command, names) for command in COMMANDS for names in SETS.values()]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cells = list(pool.map(lambda job: cell(state["acu"], *job), jobs))
        width = len(SETS)
        state["table"] = [[text for text, _ in cells[i:i + width]] for i in range(0, len(cells), width)]
        state["wrong"] = [wrong for _, wrong in cells if wrong]
    return state["table"], state["wrong"]


def settings():
    """What the table depends on."""
    def read(name):
        try:
            return open("/proc/sys/kernel/" + name).read().strip()
        except OSError:
            return "none"
    return (f"Linux {'.'.join(os.uname().release.split('.')[:2])}, perf_event_paranoid {read('perf_event_paranoid')}, kptr_restrict {read('kptr_restrict')}, "
            f"unprivileged_bpf_disabled {read('unprivileged_bpf_disabled')}")


def as_text(table):
    lines = [f"Measured as user `nobody` on {settings()}.", "", "| command | " + " | ".join(SETS) + " |", "|---" * (len(SETS) + 1) + "|"]
    lines += [f"| {command[0]} | " + " | ".join(row) + " |" for command, row in zip(COMMANDS, table)]
    return "\n".join(lines) + "\n"


def each_cell_works_or_names_what_is_missing(acu):
    _, wrong = table_of(acu)
    need(not wrong, f"{len(wrong)} cells\n" + "\n".join(wrong[:8]))


def all_work_with_all_of_them(acu):
    table, _ = table_of(acu)
    column = list(SETS).index("+ SYSLOG")
    wrong = [f"{command[0]}: {row[column]}" for command, row in zip(COMMANDS, table) if row[column] != "works"]
    need(not wrong, "\n".join(wrong))


def the_document_has_this_table(acu):
    text = open(DOCUMENT).read()
    before, rest = text.split(BEGIN)
    there, after = rest.split(END)
    now = as_text(table_of(acu)[0])
    if WRITE:
        with open(DOCUMENT, "w") as file:
            file.write(before + BEGIN + now + END + after)
        return
    if settings() not in there:
        raise Skipped(f"the table of {os.path.basename(DOCUMENT)} is of a host with other settings than {settings()}")
    different = [f"there: {a}\nhere:  {b}" for a, b in zip(there.splitlines(), now.splitlines()) if a != b]
    need(there == now, "\n".join(different[:6]) or "another number of lines")


def refusals_show_no_script_of_acus_own(acu):
    """One sentence and what helps; and who could not measure has not found nothing."""
    prepare(acu)

    def as_nobody(*words):
        return subprocess.run(["setpriv", "--reuid", str(NOBODY), "--clear-groups", state["acu"], *words], capture_output=True, text=True, timeout=60 * SLOWNESS, cwd="/")
    for words in (["trace"], ["slow", "syscalls"], ["record", "offcpu", "-o", os.path.join(TMP, "results", "refused.acu")]):
        done = as_nobody(*words, "--", "/bin/true")
        need(done.returncode == 4 and done.stderr.count("ERROR") == 1 and "~~~" not in done.stderr and "CAP_DAC_READ_SEARCH is missing" in done.stderr, f"{words}: {done.returncode} {done.stderr}")
    done = as_nobody("why", "-q", "--duration", "4s")
    need(re.search(r"^this host: nothing found in .* s, without \d measurements that could not be taken$", done.stdout, re.M), done.stdout + done.stderr)


def session_gives_up_what_it_needs_no_more(acu):
    """CapEff of acu while it runs, as root and as nobody with a capability that it never needs."""
    prepare(acu)
    kept = {0, 1, 2, 3, 5, 6, 7, 12, 14, 18, 19, 21, 23, 24, 34, 38, 39, 40}
    sets = "-all,+bpf,+perfmon,+net_raw,+sys_module"
    for command, wanted in ([[], None], [["setpriv", "--reuid", str(NOBODY), "--clear-groups", f"--inh-caps={sets}", f"--ambient-caps={sets}"], {38, 39}]):
        process = subprocess.Popen([*command, state["acu"], "-e", "begin { printf(\"runs\\n\") } interval:s:60 { exit() }"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            while "runs" not in (line := process.stdout.readline()):
                need(line, "it ended")
            end = time.monotonic() + patient(5)
            while True:
                status = open(f"/proc/{process.pid}/status").read()
                have = {name: {bit for bit in range(64) if int(value, 16) >> bit & 1} for name, value in re.findall(r"^(Cap(?:Eff|Prm|Inh|Amb)):\s*(\w+)", status, re.M)}
                wrong = {name: bits - kept for name, bits in have.items() if bits - kept}
                if not wrong or time.monotonic() > end:
                    break
                time.sleep(0.02)
            need(not wrong, f"still there: {wrong}")
            need(wanted is None or have["CapEff"] == wanted, f"effective: {have['CapEff']}, not {wanted}")
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    if WRITE:
        sys.argv.remove("--write")
    try:
        status = run_suite([each_cell_works_or_names_what_is_missing, all_work_with_all_of_them, the_document_has_this_table, refusals_show_no_script_of_acus_own, session_gives_up_what_it_needs_no_more], TMP)
    finally:
        if "roots" in state:
            state["roots"].kill()
            state["roots"].wait()
    sys.exit(status)
