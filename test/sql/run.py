#!/usr/bin/env python3
"""Tables of SQL: run.py ACU [--filter TEXT]

Each question of docs/sql.md is asked and its answer compared with an independent source: ps, ss, lsof, bpftool, /proc, /sys. Then what docs cannot
show: mistakes, ends, names with quotes, joins while processes come and go, many sockets. Last line: `N passed, N failed, N skipped`.
"""
import csv
import glob
import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-sql-")
QUESTION = re.compile(r'^\*\*\d+\. (.*?)\*\*\n\n```console example\n\$ acu sql "(.*)"$', re.M)
SHOP, PID = None, 0


def with_shop(test):
    """The process of docs/sql.md runs during the test."""
    def during(acu):
        global SHOP, PID
        if not SHOP or SHOP.poll() is not None:
            SHOP = subprocess.Popen(["/usr/bin/python3", os.path.join(ROOT, "docs", "cookbook", "shop.py")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # a deleted file may be the output of the test
            PID = SHOP.pid
        for _ in range(600):
            if len(tasks()) == 4:
                break
            need(SHOP.poll() is None, "docs/cookbook/shop.py ended: are its ports, 7070 and 7071, in use?")
            time.sleep(0.1 * SLOWNESS)
        test(acu)
    during.__name__ = test.__name__
    return during


def run(acu, *words, status=0, limit=60, **more):
    done = subprocess.run([acu, "sql", *words], capture_output=True, text=True, timeout=limit * SLOWNESS, **more)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr}")
    return done


def rows(acu, query, *words):
    return [json.loads(line) for line in run(acu, "-f", "json", *words, query).stdout.splitlines()]


def values(acu, query, *words):
    """The first column."""
    return [next(iter(row.values())) for row in rows(acu, query, *words)]


def output(*words):
    if not shutil.which(words[0]):
        raise Skipped(f"{words[0]} is not installed")
    return subprocess.run(words, capture_output=True, text=True, timeout=60 * SLOWNESS).stdout


def text_of(path):
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def eventually(check):
    """Two looks at a host that changes may differ: they agree once."""
    for attempt in range(int(patient(5)) + 1):
        told = check()
        if told is None:
            return
        time.sleep(0.2)
    need(False, told)


def same(ask, expect):
    """None if both are equal, else both."""
    def check():
        before, asked, after = expect(), ask(), expect()
        return None if asked in (before, after) else f"{asked}, not {after}"
    eventually(check)


def tasks():
    return glob.glob(f"/proc/{PID}/task/*")


def links(pid):
    out = {}
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            out[int(os.path.basename(path))] = os.readlink(path)
        except OSError:
            pass
    return out


def descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def ps(*columns):
    return [line.split(None, len(columns) - 1) for line in output("ps", "-e", *[word for c in columns for word in ("-o", c + "=")]).splitlines()]


def ss(*words):
    return [line.split() for line in output("ss", "-Hn", *words).splitlines()]


def about_process(ask):
    state, threads = text_of(f"/proc/{PID}/status"), len(tasks())
    told = ask()[0]
    need(told["name"] == re.search(r"Name:\s+(.*)", state).group(1), str(told))
    need(told["threads"] == threads == 4 and told["user"] == output("ps", "-o", "user=", "-p", str(PID)).strip() and told["language"] == "python", str(told))


def command(ask):
    need(ask()[0]["command"] == text_of(f"/proc/{PID}/cmdline").rstrip("\0").replace("\0", " "), str(ask()))


def since(ask):
    told = time.mktime(time.strptime(ask()[0]["since"], "%Y-%m-%d %H:%M:%S"))
    expected = time.mktime(time.strptime(output("ps", "-o", "lstart=", "-p", str(PID)).strip()))
    need(abs(told - expected) <= 1, f"{told}, not {expected}")


def largest(ask):
    def check():
        told, resident = ask(), {int(pid): int(kib) >> 10 for pid, kib in ps("pid", "rss")}
        wrong = [r for r in told if abs(resident.get(r["pid"], r["mib"]) - r["mib"]) > max(32, r["mib"] / 4)]
        return f"{wrong}: {resident}" if wrong or len(told) != 3 else None
    eventually(check)


def users(ask):
    # ps counts itself.
    counted = lambda: {user: sum(row[0] == user for row in ps("user:64", "pid")) for user in {row[0] for row in ps("user:64", "pid")}}

    def check():
        told, expected = {r["user"]: r["processes"] for r in ask()}, counted()
        wrong = {u: (told.get(u), n) for u, n in expected.items() if abs(told.get(u, 0) - n) > 8}
        return str(wrong) if wrong or set(told) != set(expected) else None
    eventually(check)


def children(ask):
    def check():
        told, by_parent = ask(), {}
        for parent, _ in ps("ppid", "pid"):
            by_parent[parent] = by_parent.get(parent, 0) + 1
        largest_counts = sorted(by_parent.values())[-3:]
        return None if abs(told[0]["children"] - largest_counts[-1]) < 8 and len(told) == 3 else f"{told}, {largest_counts}"
    eventually(check)


def zombies(ask):
    told = ask()
    zombie = [row for row in ps("ppid", "stat") if row[0] == str(PID) and row[1].startswith("Z")]
    need(len(told) == len(zombie) == 1 and told[0]["parent"] == PID, f"{told} {zombie}")


def kernel_threads(ask):
    def check():
        told = {r["kernel_thread"]: r["processes"] for r in ask()}
        kernel = sum(int(pid) == 2 or int(parent) == 2 for pid, parent in ps("pid", "ppid"))
        return None if abs(told[1] - kernel) <= 2 else f"{told}, {kernel} with the parent 2"
    eventually(check)


def calls_of_threads(ask):
    told = {(r["state"], r["system_call"]): r["threads"] for r in ask()}
    sleeping = sum(text_of(task + "/syscall").startswith("230 ") for task in tasks())
    need(told.get(("sleeping", "clock_nanosleep")) == sleeping == 3, f"{told}, {sleeping}")


def wait_channels(ask):
    told = ask()
    seen = {}
    for path in glob.glob("/proc/[0-9]*/task/*/wchan"):
        channel = text_of(path)
        seen[channel] = seen.get(channel, 0) + 1
    need(len(told) == 3 and all(abs(seen.get(r["wait_channel"], 0) - r["threads"]) <= 20 for r in told), f"{told} {seen}")


def switches(ask):
    status = text_of(f"/proc/{PID}/status")
    voluntary, involuntary = (int(re.search(rf"^{name}:\s+(\d+)", status, re.M).group(1)) for name in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))
    told = ask()[0]
    need((told["waits"], told["is_preempted"]) == (int(voluntary > 0), int(involuntary > 0)), f"{told}: {voluntary} {involuntary}")


def open_files(ask):
    kinds = [("socket" if link.startswith("socket:") else "file") for fd, link in links(PID).items() if fd > 2]
    need({r["type"]: r["files"] for r in ask()} == {k: kinds.count(k) for k in set(kinds)} == {"file": 1, "socket": 5}, f"{ask()} {kinds}")


def deleted_files(ask):
    told = [row for row in (line.split() for line in output("lsof", "-nP", "+L1", "-p", str(PID), "-a").splitlines()[1:]) if row[3][0].isdigit() and row[4] == "REG"]
    need([(r["fd"], r["size"]) for r in ask()] == [(int(row[3].rstrip("rwu")), int(row[6])) for row in told] == [(3, 100_000)], f"{ask()} {told}")


def holders(ask):
    with open("/dev/null") as mine:
        told = ask()
        need(len(told) == 3 and all(r["access"] in ("r", "w", "rw") for r in told), str(told))
        mine.fileno()


def most_files(ask):
    def check():
        for row in ask():
            counted = [descriptors(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if text_of(f"/proc/{pid}/comm").strip() == row["name"]]
            if not any(abs(n - row["descriptors"]) <= max(8, n // 4) for n in counted):
                return f"{row}: {counted}"
    eventually(check)


def listener(ask):
    found = [row for row in ss("-ltp") if row[3] == "127.0.0.1:7070"]
    need(ask() == [{"process": "python3", "local_address": "127.0.0.1", "local_port": 7070}] and f"pid={PID}," in found[0][5], f"{ask()} {found}")


def tcp_states(ask):
    names = {"ESTAB": "established", "LISTEN": "listen", "TIME-WAIT": "time-wait", "CLOSE-WAIT": "close-wait", "FIN-WAIT-1": "fin-wait-1", "FIN-WAIT-2": "fin-wait-2",
             "SYN-SENT": "syn-sent", "SYN-RECV": "syn-recv", "LAST-ACK": "last-ack", "CLOSING": "closing", "UNCONN": "closed"}

    def expected():
        out = {}
        for row in ss("-ta"):
            out[names[row[0]]] = out.get(names[row[0]], 0) + 1
        return out
    same(lambda: {r["state"]: r["sockets"] for r in ask()}, expected)


def unread(ask):
    found = [int(row[1]) for row in ss("-t") if row[3] == "127.0.0.1:7070" and int(row[1])]
    need([r["receive_queue"] for r in ask()] == found == [500], f"{ask()} {found}")


def backlog(ask):
    found = [(int(row[1]), int(row[2])) for row in ss("-lt") if row[3] == "127.0.0.1:7070"]
    need([(r["backlog"], r["backlog_limit"]) for r in ask()] == found == [(1, 16)], f"{ask()} {found}")


def udp(ask):
    found = [row for row in ss("-ulp") if row[3].endswith(":7071")]
    need(ask() == [{"process": "python3", "local_port": 7071}] and f"pid={PID}," in found[0][5], f"{ask()} {found}")


def unix_sockets(ask):
    same(lambda: sum(r["sockets"] for r in ask()), lambda: len(text_of("/proc/net/unix").splitlines()) - 1)


def conversations(ask):
    found = [row for row in ss("-tp") if row[4] == "127.0.0.1:7070" and f"pid={PID}," in row[5]]
    accepted = [row for row in ss("-tp") if row[3] == "127.0.0.1:7070" and len(row) > 5]
    need(ask() == [{"client": "python3", "server": "python3", "connections": len(accepted)}] and len(found) == 2, f"{ask()} {found} {accepted}")


def libc(ask):
    lines = [line for line in text_of(f"/proc/{PID}/maps").splitlines() if line.endswith("/libc.so.6")]
    need([r["mappings"] for r in ask()] == [len(lines)], f"{ask()} {lines}")


def memory(ask):
    need(ask() == [{"has_memory": 1, "shares_some": 1}], str(ask()))


def cgroup_memory(ask):
    folder = next((line.split()[1] for line in text_of("/proc/mounts").splitlines() if line.split()[2] in ("cgroup2", "cgroup") and ("memory" in line or "cgroup2" in line)), None)
    if not folder:
        raise Skipped("no control groups are mounted")

    def current(path):
        return next((int(text) for name in ("memory.current", "memory.usage_in_bytes") if (text := text_of(folder + path + "/" + name))), 0)

    def check():
        told = ask()
        wrong = [r for r in told if r["path"] != "/" and abs(current(r["path"]) - r["memory"]) > max(r["memory"] / 4, 64 << 20)]
        return str(wrong) if wrong else None
    eventually(check)


def sockets_of_group(ask):
    mine = sum(link.startswith("socket:") for link in links(PID).values())
    told = ask()
    need(len(told) == 1 and told[0]["sockets"] == mine == 5 and f":{told[0]['path']}\n" in text_of(f"/proc/{PID}/cgroup"), str(told))


def disks(ask):
    names = [line.split()[2] for line in text_of("/proc/diskstats").splitlines() if int(line.split()[3])]
    need([r["name"] for r in ask()] == names, f"{ask()} {names}")


def modules(ask):
    lines = [line.split() for line in text_of("/proc/modules").splitlines()]
    largest = sorted((int(words[1]) for words in lines), reverse=True)[:3]
    need([r["size"] for r in ask()] == largest, f"{ask()} {largest}")


def bpf_programs(ask):
    def expected():
        out = {}
        for program in json.loads(output("bpftool", "-j", "prog", "show")):
            out[program["type"]] = out.get(program["type"], 0) + 1
        return out
    same(lambda: {r["type"]: r["programs"] for r in ask()}, expected)


def tracepoints(ask):
    listed = len(text_of("/sys/kernel/tracing/available_events").splitlines())
    own = [line for line in subprocess.run([ACU, "list", "tracepoint:*"], capture_output=True, text=True).stdout.splitlines()]
    need(ask() == [{"kind": "tracepoint", "probes": len(own)}] and abs(listed - len(own)) < 50, f"{ask()} {len(own)} {listed}")


def cpu_time():
    words = text_of(f"/proc/{PID}/stat").rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def cpu_samples(ask):
    need([r["process"] for r in ask()] == ["python3"], str(ask()))


def calls(ask):
    need(ask() == [{"call": "getppid", "often": 1, "errors": 0}], str(ask()))


def waits(ask):
    sleeper = subprocess.Popen(["/usr/bin/python3", "-c", "import time\nwhile True: time.sleep(0.01)"])
    try:
        time.sleep(patient(0.3))
        need(ask() == [{"process": "python3", "waits": 1}], str(ask()))
    finally:
        sleeper.kill()
        sleeper.wait()


# By the beginning of the question.
COMPARED = {
    "What is process": about_process, "How was it started": command, "Since when": since, "Which processes use the most memory": largest, "Which users": users,
    "Who has the most children": children, "Are there zombies": zombies, "How many of all processes": kernel_threads, "What do the threads": calls_of_threads,
    "Where in the kernel": wait_channels, "Which threads": switches, "What does a process have open": open_files, "Which deleted files": deleted_files,
    "Who has a file open": holders, "Which processes have the most files": most_files, "Who listens": listener, "How many TCP": tcp_states, "Which programs do not": unread,
    "Which listeners": backlog, "Which UDP": udp, "How many Unix": unix_sockets, "Who talks": conversations, "Which files take up": libc, "How much of a process": memory,
    "Which control groups": cgroup_memory, "Which sockets belong": sockets_of_group, "What do the disks": disks, "Which modules": modules, "Which BPF": bpf_programs,
    "What can be traced": tracepoints, "Which functions": cpu_samples, "Which system calls": calls, "What do threads wait": waits,
}


def comparison(title, query, compare):
    def test(acu):
        compare(lambda: rows(acu, query.replace("$PID", str(PID))))
    test.__name__ = "test_" + re.sub(r"\W+", "_", title.lower()).strip("_")
    return test


def test_cpu_time_is_that_of_the_process(acu):
    before = cpu_time()
    told = rows(acu, f"select sum(cpu_time) as s from cpu_samples(2) where pid = {PID}")[0]["s"]
    spent = cpu_time() - before
    need(0.5 * 2 * min(spent, 2) / 2 <= told <= spent * 1.1 + 0.1, f"{told} s of samples, {spent} s in /proc")


def test_location_of_mistakes(acu):
    for query, line, hint in (("select nam from processes", "query:1:8-11: ERROR: no such column: nam", "did you mean `name`?"),
                              ("select 1;\nselect * fro x", 'query:2:10-13: ERROR: near "fro": syntax error', ""),
                              ("select * from proces", "ERROR: no such table: proces", "did you mean `processes`?"),
                              ("select 'a", "ERROR: unrecognized token: \"'a\"", "")):
        told = run(acu, query, status=2).stderr
        need(line in told and hint in told, told)


def test_nothing_is_written(acu):
    path = os.path.join(TMP, "not written")
    for query in (f"attach '{path}' as other", f"vacuum into '{path}'"):
        told = subprocess.run([acu, "sql", query], capture_output=True, text=True)
        need(told.returncode != 0 and not os.path.exists(path) and "queries only read" in told.stderr, told.stderr)


def test_expressions_write_nothing(acu):
    """The text of an expression is one value: neither the rest of a script nor statements, files or directives."""
    path, secret = os.path.join(TMP, "not written.folded"), os.path.join(TMP, "secret.h")
    with open(secret, "w") as file:
        file.write("these are words\n")
    flame = f'flame(@x, "{path}")'
    for expression, message in ((f'"a"); @x[ustack] = count(); {flame}; print("b"', "expected an operator or the end"),
                                ("1); exit(", "expected an operator or the end"),
                                ("1) } oneshot { print(2", "an expression has no statements"),
                                (f"{{ @x[ustack] = count(); {flame}; 1 }}", "an expression has no statements"),
                                ("{ while (true) { } 1 }", "an expression has no statements"),
                                (flame, "flame"),
                                (f'1\n#include "{secret}"', "there are no directives in an expression"),
                                (f"list({flame}, next)", "flame"),
                                ("list(1, next)) { print(1) } } oneshot { if (1", "an expression has no statements"),
                                ("list(first)", "a list is written `list(FIRST, NEXT)`")):
        told = run(acu, f"select value from var({os.getpid()}, '{expression}')", status=2)
        need(message in told.stderr and not told.stdout and "these are words" not in told.stderr, f"{expression}: {told.stdout} {told.stderr}")
        need(not os.path.exists(path), f"{expression} writes")
    need(values(acu, f"select value from var({os.getpid()}, '\"a\"')") == ["a"], "an expression")


def test_zero_bytes(acu):
    told = run(acu, "--duration", "100ms", status=2, limit=10, input="select 1;\0")
    need("ERROR: the query is not text: byte 9 is zero\n" == told.stderr and not told.stdout, told.stderr)


def test_notes_before_white_space(acu):
    path = os.path.join(TMP, "notes.folded")
    with open(path, "w") as file:
        file.write("main;work 3\n")
    for query in ("select count(*) from slices", "select count(*) from slices;\n", "select count(*) from slices; select 1"):
        told = run(acu, "-i", path, input=query).stderr
        need(told.startswith("note: the recording has no slices") and told.count("\n") == 1, f"{query!r}: {told}")


def test_wrong_arguments(acu):
    for call, message, status in (("sockets('nginx')", "`namespace_of` takes a whole number, not 'nginx'", 2), ("sockets(1.5)", "`namespace_of` takes a whole number, not 1.5", 2),
                                  ("sockets(4294967297)", "there is no process `4294967297`", 3), ("sockets(0)", "there is no process `0`", 3),
                                  ("symbols('4294967297')", "there is no process `4294967297`", 3), ("cpu_samples('5s')", "`seconds` takes a number, not '5s'", 2),
                                  ("offcpu(-1)", "`seconds` is from 0.001 to 3600, not -1", 2), ("syscalls(1e9)", "`seconds` is from 0.001 to 3600, not 1e+09", 2)):
        told = run(acu, f"select count(*) from {call}", status=status)
        need(message in told.stderr and not told.stdout, f"{call}: {told.stdout} {told.stderr}")


def test_time_limit(acu):
    begin = time.monotonic()
    told = run(acu, "--duration", "300ms", "select count(*) from threads a, threads b, threads c, threads d, threads e", status=1).stderr
    need("stopped after 300.00 ms: the result is not complete" in told and time.monotonic() - begin < 5 * SLOWNESS, told)


def test_time_limit_of_measuring(acu):
    told = run(acu, "--duration", "300ms", "select count(*) from cpu_samples(600)", status=1, limit=10).stderr
    need("the result is not complete" in told, told)


def test_interrupted(acu):
    process = subprocess.Popen([acu, "sql", "select count(*) from threads a, threads b, threads c, threads d, threads e"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=10 * SLOWNESS)
    need(process.returncode == 1 and "interrupted: the result is not complete" in told, f"{process.returncode} {told}")


def test_interrupted_after_reading_variables(acu):
    """What reads variables is a script, which has an end of its own."""
    process = subprocess.Popen([acu, "sql", f"select count(*) from var({os.getpid()}, '-1') v, threads a, threads b, threads c, threads d, threads e"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(patient(0.5))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=10 * SLOWNESS)
        need(process.returncode == 1 and "interrupted: the result is not complete" in told, f"{process.returncode} {told}")
    finally:
        process.kill()
        process.wait()


def test_names_with_quotes(acu):
    name = "o'n\"e\nl,in"
    path = os.path.join(TMP, "it's \"one\"\nfile")
    with open(path, "w") as file:
        child = subprocess.Popen([sys.executable, "-c", f"import ctypes, time; ctypes.CDLL(None).prctl(15, {name.encode()!r}); print(1, flush=True); time.sleep(100)"],
                                 stdout=subprocess.PIPE, stdin=file, text=True)
        try:
            child.stdout.readline()
            query = f"select p.name, f.path from processes p join files f on f.pid = p.pid where p.pid = {child.pid} and fd = 0"
            need(rows(acu, query) == [{"name": name, "path": path}], str(rows(acu, query)))
            table = list(csv.reader(io.StringIO(run(acu, "-f", "csv", query).stdout, newline="")))
            need(table == [["name", "path"], [name, path]], str(table))
            need(len(run(acu, query).stdout.splitlines()) == 2, "a newline in a name ends the line of a table")
            need(values(acu, "select pid from processes where name = '" + name.replace("'", "''") + "'") == [child.pid], "not found by its name")
        finally:
            child.kill()
            child.wait()


def test_pushed_conditions_and_others_agree(acu):
    for table in ("processes", "threads", "files", "mappings"):
        counts = values(acu, f"select (select count(*) from {table} where pid = {PID}) union all select count(*) from {table} where pid + 0 = {PID} "
                             f"union all select count(*) from {table} where pid = (select {PID})")
        need(len(set(counts)) == 1 and counts[0] > 0, f"{table}: {counts}")
    thread = next(int(os.path.basename(t)) for t in tasks() if not t.endswith(f"/{PID}"))
    need(values(acu, f"select count(*) from processes where pid = {thread}") == [0], "a thread is no process")
    need(values(acu, f"select count(*) from processes where pid = '{PID}'") == [1] and values(acu, "select count(*) from processes where pid = null") == [0], "types of constants")


def test_joins_while_processes_come_and_go(acu):
    load = subprocess.Popen(["bash", "-c", "while :; do /bin/true; done"])
    try:
        for _ in range(5):
            told = rows(acu, "select p.pid, p.name, s.process, g.path, p.cgroup from processes p join sockets s on s.pid = p.pid join cgroups g on g.path = p.cgroup")
            need(told and all(r["path"] == r["cgroup"] for r in told), "a row of different groups")
            mine = [r for r in told if r["pid"] == PID]
            need(len(mine) == 5 and all(r["name"] == r["process"] == "python3" for r in mine), str(mine))
            need(values(acu, "select count(*) from processes a join processes b using (pid) where a.name is not b.name") == [0], "a table differs from itself")
    finally:
        load.kill()
        load.wait()


def test_sockets_of_another_network(acu):
    program = "import socket, sys, time\ns = socket.socket(); s.bind(('0.0.0.0', 7272)); s.listen(3); print(1, flush=True); time.sleep(100)"
    inside = subprocess.Popen(["unshare", "-n", sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        need(inside.stdout.readline() == b"1\n", "unshare is refused")
        query = "select pid, local_port, backlog_limit from sockets{} where protocol = 'tcp'"
        need(rows(acu, query.format(f"({inside.pid})")) == [{"pid": inside.pid, "local_port": 7272, "backlog_limit": 3}], "its listener")
        need(7272 not in [r["local_port"] for r in rows(acu, query.format(""))], "it is not of this network")
        told = run(acu, "select count(*) from sockets(999999999)", status=1).stderr
        need("cannot open the network namespace of process 999999999" in told, told)
    finally:
        inside.kill()
        inside.wait()


def test_database_for_other_tools(acu):
    path = os.path.join(TMP, "host.db")
    run(acu, "-o", path)
    with sqlite3.connect(path) as database:
        need(database.execute("select name from processes where pid = ?", (PID,)).fetchall() == [("python3",)], "the process is missing")
        need(database.execute("select local_port from sockets where state = 'listen' and pid = ?", (PID,)).fetchall() == [(7070,)], "its socket is missing")
        need(database.execute("pragma integrity_check").fetchone() == ("ok",), "damaged")
    one = os.path.join(TMP, "one.db")
    run(acu, "-o", one, "select 1 as a, 'x' as b; select null as c")
    with sqlite3.connect(one) as database:
        need(database.execute("select a, b from result").fetchall() == [(1, "x")] and database.execute("select c from result_2").fetchall() == [(None,)], "results")
    names = lambda database, query: [row[0] for row in database.execute(query)]
    run(acu, "-o", one, "select 1 as a; select 2 as a; select 3 as a")
    with sqlite3.connect(one) as database:
        need(names(database, "select name from sqlite_master order by 1") == ["result", "result_2", "result_3"], "a table for each statement")
        need(names(database, "select a from result union all select a from result_2 union all select a from result_3") == [1, 2, 3], "three results")
    query = f"select a.pid, b.pid, a.name as PID from processes a join processes b on a.pid = b.pid where a.pid = {PID}"
    run(acu, "-o", one, query)
    with sqlite3.connect(one) as database:
        need(names(database, "select name from pragma_table_info('result')") == ["pid", "pid:1", "PID:2"], "columns of one name")
        need(database.execute("select * from result").fetchall() == [(PID, PID, "python3")], "their values")
    need(rows(acu, query) == [{"pid": PID, "pid:1": PID, "PID:2": "python3"}], "no JSON object has two members of one name")


def test_core_dump(acu):
    source, program, core = (os.path.join(TMP, name) for name in ("heap.c", "heap", "core"))
    with open(source, "w") as file:
        file.write("#include <stdlib.h>\n#include <unistd.h>\nvoid *kept[1000];\n__attribute__((noipa)) void leaf(void) { abort(); }\n"
                   "int main(void) { for (int i = 0; i < 1000; i++) kept[i] = malloc(5000); leaf(); }\n")
    subprocess.run(["gcc", "-g", "-O1", "-o", program, source], check=True)
    output("gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", program)
    need(values(acu, "select count(*) from heap_blocks where state = 'used' and size between 5000 and 5100", "-i", core) == [1000], "blocks")
    stack = values(acu, "select stack from threads", "-i", core)
    need(len(stack) == 1 and ";main;leaf;" in ";" + stack[0] + ";", str(stack))
    need(values(acu, f"select state from modules where path = '{program}'", "-i", core) == ["found"], "modules")


def test_variables_of_programs(acu):
    source, program = os.path.join(TMP, "pool.c"), os.path.join(TMP, "pool")
    with open(source, "w") as file:
        file.write("#include <stdlib.h>\n#include <unistd.h>\nstruct node { int id; const char *name; struct node *next; };\n"
                   "struct { int used; struct node *first; int sizes[3]; } pool = {.used = 7, .sizes = {1, 2, 3}};\ndouble load = 1.5;\nlong big = -5;\n"
                   "int main(void) { for (int i = 0; i < 3; i++) { struct node *n = calloc(1, 3000); n->id = i; n->name = \"it's\"; n->next = pool.first; pool.first = n; }\n"
                   "write(1, \"\\n\", 1); pause(); }\n")
    subprocess.run(["gcc", "-g", "-O1", "-o", program, source], check=True)
    processes = [subprocess.Popen([program], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in processes:
            process.stdout.readline()
        one = processes[0].pid
        need(values(acu, f"select value from var({one}, 'pool.used') union all select value from var({one}, 'big') union all select value from var({one}, 'load')") == [7, -5, 1.5],
             "numbers")
        need(values(acu, f"select value ->> '$.sizes[2]' from var({one}, 'pool')") == [3], "a structure")
        need(rows(acu, f"select value ->> 'id' as id from var({one}, 'list(pool.first, next)') where value ->> 'id' > 0") == [{"id": 2}, {"id": 1}], "a list")
        need(values(acu, f"select value from var({one}, 'str(target.pool.first->name)')") == ["it's"], "a string")
        need(sorted(values(acu, "select pid from var('pool', 'pool.used')")) == sorted(p.pid for p in processes), "all with the name")
        need(values(acu, f"select v.value from processes p, var(p.pid, 'pool.used') v where p.pid = {one}") == [7], "an argument from another table")
        told = run(acu, f"select * from var({one}, 'nothing')", status=2)
        need("has no global or static variable `nothing`" in told.stderr and not told.stdout, told.stderr)
        need("an argument is missing: expression" in run(acu, f"select * from var({one})", status=2).stderr, "an argument")
        run(acu, "select * from var('no such program', 'x')", status=3)
        told = run(acu, f"select * from var({one}, 'list(pool.first, nxt)')", status=2).stderr
        need("nxt" in told, told)
        need(values(acu, f"select count(*) from heap_blocks({one}) where state = 'used' and size between 3000 and 3100") == [3], "blocks")
        need(text_of(f"/proc/{one}/stat").rsplit(")", 1)[1].split()[0] == "S", "the process does not continue")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    listed = {line.split()[-1] for line in output("nm", program).splitlines() if line.split()[-2] in "Tt"}
    need(set(values(acu, f"select name from symbols('{program}')")) <= listed and "main" in listed, "symbols of a file")
    need(abs(values(acu, "select count(*) from symbols('kernel')")[0] - len(text_of("/proc/kallsyms").splitlines())) < 200, "symbols of the kernel")


def test_prompt(acu):
    """Completion, several lines, Ctrl-C that ends a query and not the prompt, and the history."""
    if not shutil.which("tmux"):
        raise Skipped("tmux is not installed")
    tmux = lambda *words: subprocess.run(["tmux", "-L", "acu-sql-test", *words], capture_output=True, text=True).stdout
    state = os.path.join(TMP, "state")
    tmux("new-session", "-d", "-s", "p", "-x", "120", "-y", "50", f"XDG_STATE_HOME={state} {acu} sql; echo ended; sleep 100")

    def shown(text):
        for _ in range(100):
            if text in tmux("capture-pane", "-p", "-t", "p"):
                return
            time.sleep(0.1 * SLOWNESS)
        need(False, f"{text} is missing:\n" + tmux("capture-pane", "-p", "-t", "p"))
    try:
        shown("sql>")
        tmux("send-keys", "-t", "p", "select swapp", "Tab")
        shown("select swapped")
        tmux("send-keys", "-t", "p", "as x", "Enter", "from processes where pid = 1\\;", "Enter")
        shown("...> from processes")
        tmux("send-keys", "-t", "p", "select count(*) from threads a, threads b, threads c, threads d, threads e\\;", "Enter")
        time.sleep(patient(0.5))
        tmux("send-keys", "-t", "p", "C-c")
        shown("interrupted: the result is not complete")
        time.sleep(0.6)
        tmux("send-keys", "-t", "p", "select nothing", "C-c")
        time.sleep(0.6)
        tmux("send-keys", "-t", "p", "select 40 + 2 as answer\\;", "Enter")
        shown("    42")
        tmux("send-keys", "-t", "p", ".schema disks", "Enter")
        shown("busy_time")
        tmux("send-keys", "-t", "p", "C-d")
        shown("ended")
        need("answer" in text_of(os.path.join(state, "acu", "sql_history")), "the history")
    finally:
        tmux("kill-server")


def test_many_sockets(acu):
    """50,000 of them, from processes that open as many as they may."""
    count, most = 50_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    opener = ("import resource, socket, sys, time\nresource.setrlimit(resource.RLIMIT_NOFILE, (%d, %d))\nl = socket.create_server(('127.0.0.' + sys.argv[1], 0), backlog=4096)\nkept = []\n"
              "for _ in range(int(sys.argv[2]) // 2): kept.append(socket.create_connection(l.getsockname())); kept.append(l.accept()[0])\nprint(1, flush=True)\ntime.sleep(1000)\n" % (most, most))
    each = min(most - 100, 20_000) // 2 * 2
    openers = []
    before = values(acu, "select count(*) from sockets where protocol = 'tcp' and local_address like '127.%' and state = 'established'")[0]
    try:
        while count > 0:
            openers.append(subprocess.Popen([sys.executable, "-c", opener, str(20 + len(openers)), str(min(each, count))], stdout=subprocess.PIPE, text=True))
            count -= each
        for process in openers:
            process.stdout.readline()
        now = values(acu, "select count(*) from sockets where protocol = 'tcp' and local_address like '127.%' and state = 'established'")[0]
        need(abs(now - before - 50_000) <= 20, f"{now - before} sockets")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = used.ru_utime + used.ru_stime
        run(acu, "select count(*) from sockets")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Looking for each among all the others would take minutes.
        need(used.ru_utime + used.ru_stime - begin <= 5 * SLOWNESS, f"{used.ru_utime + used.ru_stime - begin:.3f} s of CPU time")
        owners = {r["pid"]: r["n"] for r in rows(acu, "select pid, count(*) as n from sockets where process like 'python%' group by pid")}
        need(all(abs(owners.get(p.pid, 0) - each) <= each and owners.get(p.pid, 0) > 1000 for p in openers), str(owners))
    finally:
        for process in openers:
            process.kill()
            process.wait()


def main():
    global ACU
    ACU = sys.argv[1] = os.path.abspath(sys.argv[1])
    tests = [with_shop(test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    with open(os.path.join(ROOT, "docs", "sql.md")) as file:
        questions = QUESTION.findall(file.read())
    for title, query in questions:
        found = [compare for start, compare in COMPARED.items() if title.startswith(start)]
        if len(found) != 1:
            sys.exit(f"docs/sql.md: {title}: nothing to compare it with")
        tests.append(with_shop(comparison(title, query, found[0])))
    if len(questions) < 30:
        sys.exit(f"docs/sql.md: {len(questions)} questions")
    try:
        return run_suite(tests, TMP)
    finally:
        if SHOP:
            SHOP.kill()


if os.geteuid() != 0:
    print("skipped: sockets and files of all processes need root\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.exit(main())
