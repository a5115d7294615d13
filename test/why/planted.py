#!/usr/bin/env python3
"""Causes that are planted: planted.py ACU [--all | --once] [--filter TEXT]

`acu why` over programs and servers (planted/) that have a cause of slowness, each with a twin that looks alike and does not have it, and a decoy: the twin with
another oddity, which is harmless. The cause must come first where it is, and nothing may be confirmed where it is not. At the end: how many were right, and how
many the answer would be that always names the most frequent cause. A few causes with their twins are for each run of the tests; --once: all of them, and
what is said of them is measured again; --all: all of them with their decoys, three times. Last line: `N passed, N failed, N skipped`.
"""
import collections
import contextlib
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(HERE, "planted")]
import neighbours
import servers
from servers import running as started
from tally import SLOWNESS, Wrong, need, require_real_time, run_tests, take_filter, untimed

ALL, ONCE = "--all" in sys.argv, "--once" in sys.argv
TMP = tempfile.mkdtemp(prefix="acu-why-")
PROGRAMS = os.path.join(TMP, "programs")
PYTHON = "/usr/bin/python3"
answers = collections.Counter()  # by plant, the cause that came first, and whether that is right
again = collections.Counter()    # causes whose evidence was measured again, and whether it has a share
healthy = collections.Counter()  # twins and decoys without a confirmed cause


@functools.cache
def loops():
    with untimed():
        subprocess.run(["g++", "-O2", "-g", "-std=c++20", "-o", PROGRAMS, os.path.join(HERE, "planted", "programs.cc"), "-pthread"], check=True, timeout=100 * SLOWNESS)
        return str(statistics.median(int(subprocess.run([PROGRAMS], capture_output=True, text=True, check=True).stdout) for _ in range(9)))


@contextlib.contextmanager
def running(*words):
    with started(*words) as pid:
        time.sleep(1)
        yield pid


def native(mode):
    return lambda variant: running(PROGRAMS, mode, loops(), variant)


def few_descriptors(variant):
    return running("/bin/sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", PROGRAMS, "descriptors", loops(), variant)


def python(mode, program="programs.py"):
    return lambda variant: running(PYTHON, os.path.join(HERE, "planted", program), mode, variant)


def on_host(start):
    return lambda variant: start(variant, PROGRAMS, loops())


class Plant(NamedTuple):
    name: str
    cause: str
    place: str  # a part of what is said of where it is
    start: Callable
    kind: str = "slow"
    is_brief: bool = False  # also where time is short (without --all)
    patience: int = 0       # seconds until it can be seen


PLANTS = [
    Plant("hot function", "hot-function", "encode", native("hot"), is_brief=True),
    Plant("hot function in Python", "hot-function", "score", python("slow")),
    Plant("hot function in Lua, in nginx", "hot-function", "work.lua", servers.nginx_lua),
    Plant("Redis goes through all keys", "hot-function", "redis", servers.redis_keys),
    Plant("regular expression", "regex-hot", "is_valid", python("regex"), is_brief=True),
    Plant("messages in JSON", "serialization-hot", "reply", python("json")),
    Plant("spin lock", "lock-spin", "take_ticket", native("spin")),
    Plant("polls in vain", "empty-poll-spin", "look_for_events", native("poll")),
    Plant("short-lived programs", "exec-storm", "true", native("births"), is_brief=True),
    Plant("more threads than CPUs", "thread-oversubscription", "24", native("threads")),
    Plant("page faults", "page-fault-storm", "fill_buffer", native("faults")),
    Plant("timers", "timer-storm", "pause_us", native("timers")),
    Plant("sleep under a lock", "lock-across-sleep", "g_table_lock", native("asleep"), is_brief=True),
    Plant("flush under a lock", "lock-across-io", "g_table_lock", native("flush")),
    Plant("convoy", "lock-convoy", "g_shards", native("convoy")),
    Plant("pool too small", "pool-exhausted", "query", native("pool"), is_brief=True),
    Plant("signal after a report", "late-signal", "enqueue", native("late"), is_brief=True),
    Plant("interpreter's lock", "interpreter-lock", "compute", python("interpreter"), is_brief=True),
    Plant("log", "log-storm", "report_failure", native("log")),
    Plant("Redis flushes each change", "fsync-bound", "appendonly", servers.redis_flush),
    Plant("PostgreSQL commits each row", "fsync-bound", "pg_wal", servers.postgres_commits),
    Plant("nginx waits for its upstream", "slow-upstream", "127.0.0.1", servers.nginx_upstream),
    Plant("missing file", "missing-file-storm", "settings.conf", native("missing"), is_brief=True),
    Plant("nginx looks for pages in many places", "missing-file-storm", "theme", servers.nginx_missing),
    Plant("descriptors", "descriptor-limit", "EMFILE", few_descriptors),
    Plant("descriptors of nginx", "descriptor-limit", "EMFILE", servers.nginx_descriptors),
    Plant("listen queue", "accept-queue-full", "port", servers.accept_queue),
    Plant("nobody listens", "refused-peer", "127.0.0.1", python("refused", "peers.py"), "failing", is_brief=True),
    Plant("a peer does not answer", "connect-timeouts", "127.0.0.1", python("silent", "peers.py"), patience=4),
    Plant("requests in pieces", "nagle-delay", "send_request", python("pieces", "peers.py")),
    Plant("local ports", "port-exhaustion", "127.0.0.1", python("ports", "peers.py"), "failing", patience=2),
    Plant("exceptions", "error-storm", "find_user", native("throw")),
    Plant("collections", "collection-pauses", "handle", python("collections"), patience=2),
    Plant("leak", "leak", "parse_header", native("leak"), "growing", patience=62),
    Plant("growth in Python", "leak", "remember", python("growth"), "growing", patience=62),
    Plant("deadlock", "deadlock", "transfer", native("circle"), "stuck", patience=1),
    Plant("waits in the kernel", "uninterruptible-sleep", "vfork", native("uninterruptible"), "stuck", patience=6),
    Plant("crash", "crash", "close_session", native("crash"), "failing"),
    Plant("neighbour in another group", "noisy-neighbour", "acu-why", on_host(neighbours.neighbour)),
    Plant("neighbour in the same group", "run-queue-delay", "python", on_host(neighbours.crowd)),
    Plant("quota of the group", "cgroup-throttled", "cpu.max", on_host(neighbours.throttled)),
    Plant("memory of the group", "oom-kill", "memory.max", neighbours.killed, "failing"),
]


def ask(acu, pid, *words):
    done = subprocess.run([acu, "why", *words, "-p", str(pid), "--json", "-q"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def found(answer, *verdicts):
    return [f for f in answer["findings"] if f["verdict"] in verdicts]


def shown(answer):
    return json.dumps([{k: f.get(k) for k in ("cause", "subject", "verdict", "share", "evidence")} for f in answer["findings"]], indent=1)


# Of the machine, not of the program: others may run beside the test.
OF_THE_HOST = ("run-queue-delay", "noisy-neighbour")


def of_the_program(findings, plant):
    return [f for f in findings if f["cause"] == plant.cause or f["cause"] not in OF_THE_HOST]


def is_named(plant):
    def test(acu):
        """The cause comes first where it is, at its place; its twin and decoy have nothing that is confirmed."""
        require_real_time("rates are compared")
        loops()
        for _ in range(3 if ALL else 1):
            check(acu, plant)
    return test


def is_repeated(acu, finding):
    """What its evidence says can be measured again: a decisive command gives a part whose interval meets that of the finding."""
    decisive = [e for e in finding["evidence"] if e["supports"] and e["decisive"]]
    seen = []
    for e in decisive:
        done = subprocess.run([acu, *e["command"].split()[1:], "--json"], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode == 0 and done.stdout, f"{e['command']}: {done.stdout}{done.stderr}")
        seen += [json.loads(line) for line in done.stdout.splitlines()]
    # A share with its interval; or another part of 1, such as that of calls that fail, which has none.
    parts = [(f["low"], f["high"]) for f in seen if f.get("share")]
    parts += [(v - 0.1, v + 0.1) for f in seen if not f.get("share") for v in f.values() if isinstance(v, (int, float)) and 0 < v <= 1]
    need(not parts or any(low <= finding["high"] and finding["low"] <= high for low, high in parts),
         f"{finding['cause']} is said to explain {finding['low']} to {finding['high']}; again: {json.dumps(seen, indent=1)}")
    again[finding["cause"], bool(parts)] += 1


def check(acu, plant):
    with plant.start("has") as pid:
        time.sleep(plant.patience)
        answer = ask(acu, pid, plant.kind)
        first = next(iter(of_the_program(found(answer, "confirmed", "likely"), plant)), None)
        if (ALL or ONCE) and first and first["cause"] == plant.cause:
            is_repeated(acu, first)
    answers[plant.name, first["cause"] if first else "nothing", bool(first) and first["cause"] == plant.cause] += 1
    need(first and first["cause"] == plant.cause, f"not {plant.cause}: {shown(answer)}")
    need(plant.place in json.dumps(first), f"{plant.place} is not named: {json.dumps(first, indent=1)}")
    need(answer["duration_ns"] < 16e9 * SLOWNESS, f"it took {answer['duration_ns'] / 1e9:.1f} s")
    for variant in ("twin", "decoy") if ALL else ("twin",):
        with plant.start(variant) as pid:
            time.sleep(plant.patience)
            answer = ask(acu, pid, plant.kind)
        wrong = of_the_program(found(answer, "confirmed"), plant)
        need(not wrong, f"{variant}: {shown(answer)}")
        healthy[plant.name, variant] += 1


def documented_rule():
    """The rule file that docs/why.md shows."""
    text = open(os.path.join(HERE, "../../docs/why.md")).read()
    text = text[text.index("$ cat > rules/huge-folder.clp"):]
    return "".join(line[2:] + "\n" for line in text[:text.index("> END\n")].split("\n")[1:] if line)


def rule_of_a_user(acu):
    """The documented rule finds a cause that acu's own do not know."""
    folder, rules = os.path.join(TMP, "spool"), os.path.join(TMP, "rules")
    for path in (folder, rules):
        os.makedirs(path, exist_ok=True)
    rule = documented_rule()
    need(len(rule.splitlines()) <= 50, f"it has {len(rule.splitlines())} lines")
    open(os.path.join(rules, "huge-folder.clp"), "w").write(rule)
    for i in range(20000):
        open(os.path.join(folder, str(i)), "w").close()
    with running(PYTHON, "-c", f"import os\nwhile True: sum(1 for _ in os.scandir({folder!r}))") as pid:
        without = ask(acu, pid)
        need(not [f for f in found(without, "confirmed") if f["cause"] not in OF_THE_HOST], shown(without))
        answer = ask(acu, pid, "--rules", rules)
        need("huge-folder" in [f["cause"] for f in found(answer, "confirmed")], shown(answer))


def kept_blocks(acu, variant, *words):
    with native("leak")(variant) as pid:
        time.sleep(3)
        done = subprocess.run([acu, "why", "--measure", "heap", "-p", str(pid), "--json", *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def blocks_that_are_kept(acu):
    """Blocks that nothing frees are told from those that take the place of older ones, by function and number."""
    require_real_time("rates are compared")
    loops()
    is_right = lambda f: 300 < f["blocks"] < 1100 and 240 < f["kept"] / f["blocks"] < 260 and f["kept"] > 0.95 * f["rate"]
    for last in (False, False, True):  # on a busy host the looks at blocks and at bytes may lie apart
        done, facts = kept_blocks(acu, "has", "--max-cost", "1000")
        need(done.returncode == 0 and len(facts) == 1, f"{done.stderr}{facts}")
        fact = facts[0]
        if last or is_right(fact):
            break
    need("parse_header" in fact["function"] and fact["file"] == "programs.cc" and fact["share"] == 1, str(fact))
    need(is_right(fact), f"a block of 200 to 299 bytes each millisecond: {fact}")
    done, facts = kept_blocks(acu, "twin", "--max-cost", "1000")
    need(done.returncode == 0 and facts and all(f["kept"] < 0.1 * f["rate"] for f in facts), f"it frees as many: {done.stderr}{facts}")


def too_many_blocks(acu):
    done, _ = kept_blocks(acu, "has", "--max-cost", "0.01")
    need(done.returncode and "following it would take" in done.stderr, f"{done.returncode}: {done.stderr}")


def mistake_in_a_rule(acu):
    rules = os.path.join(TMP, "broken")
    os.makedirs(rules, exist_ok=True)
    open(os.path.join(rules, "bad.clp"), "w").write("(defrule bad\n  (syscall (colour 1))\n  =>)\n")
    done = subprocess.run([acu, "why", "-q", "--rules", rules], capture_output=True, text=True, timeout=60)
    need(done.returncode and "bad.clp:" in done.stderr and "colour" in done.stderr, f"{done.returncode}: {done.stdout}{done.stderr}")


def all_right(_):
    """How often the cause came first, beside the answer that names the most frequent cause each time."""
    if not answers:
        raise Wrong("nothing was asked")
    total, right = sum(answers.values()), sum(n for (_, _, is_right), n in answers.items() if is_right)
    causes = collections.Counter({plant.cause: 0 for plant in PLANTS})
    for (name, _, _), n in answers.items():
        causes[next(p.cause for p in PLANTS if p.name == name)] += n
    need(right >= 0.9 * total, f"{right} of {total} causes came first")
    return f"{right} of {total} causes came first; always naming the most frequent one: {max(causes.values())} of {total}; {sum(healthy.values())} healthy runs; evidence measured again {sum(again.values())} times"


def tests():
    for plant in PLANTS:
        if ALL or ONCE or plant.is_brief:
            yield plant.name, is_named(plant)
    yield "rule of a user", rule_of_a_user
    yield "mistake in a rule", mistake_in_a_rule
    yield "blocks that are kept", blocks_that_are_kept
    yield "too many blocks", too_many_blocks
    yield "all right", all_right


if __name__ == "__main__":
    only = take_filter(sys.argv)
    try:
        sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False, limit=400))
    finally:
        shutil.rmtree(TMP, ignore_errors=True)
