"""The questions about heaps with each of their verbs: who holds the memory, what is lost, what is overwritten (heap.cc)."""
import json
import os
import re
import signal
import subprocess

from common import HERE, LIMIT, acu_core, call, end, gcore, need, path, program, start
from static_tools import wait_for_sleep


def core_of(case):
    """The core of heap.cc after it did `case`."""
    out, built = path(f"heap-{case}.core"), path("heap")
    if not os.path.exists(built):
        subprocess.run(["g++", "-g", "-O0", "-w", "-o", built, os.path.join(HERE, "heap.cc"), "-pthread"], check=True, timeout=LIMIT)
    if not os.path.exists(out):
        process = start(built, case)
        try:
            wait_for_sleep(process.pid)
            os.rename(gcore(process.pid, "heap"), out)
        finally:
            end(process)
    return out


def rows(text):
    """{what: (chunks, bytes)} of lines such as "  50 chunks  6000 B  sessions in heap"."""
    return {what: (int(n), size) for n, size, what in re.findall(r"^ +(\d+) blocks? +(\S+ \S+)  (.*)$", text, re.M)}


def holders(acu):
    """Each chunk by the variable, stack or thread that leads to it; as text, JSON and flame graph the same."""
    core = core_of("none")
    told = rows(acu_core(acu, core, "heap", "explain"))
    known = {re.sub(r"thread \d+ \(?\w*\)?|thread \d+", "thread", what).split(" in /")[0]: value for what, value in told.items()}
    need(known["sessions"] == (50, "6000 B"), str(told))
    need(known["unreachable"] == (17, "1784 B"), str(told))
    need(known["stack of thread, wait_with(char*)"] == (1, "40 B"), str(told))
    need(sorted(size for what, (_, size) in told.items() if what.startswith("thread-local variables")) == ["5312 B", "7000 B"], str(told))
    as_json = json.loads(acu_core(acu, core, "heap", "explain", "--json"))["holders"]
    need({h["by"]: h["bytes"] for h in as_json}["sessions"] == 6000, str(as_json))
    acu_core(acu, core, "heap", "--flame", path("holders.folded"))
    stacks = dict(line.rsplit(" ", 1) for line in open(path("holders.folded")).read().splitlines())
    need(stacks["heap;sessions;Session"] == "6000" and stacks["heap;unreachable;Order"] == "272", str(stacks))
    used = json.loads(acu_core(acu, core, "heap", "--json"))["used"]["bytes"]
    need(sum(map(int, stacks.values())) == used == sum(h["bytes"] for h in as_json), str(stacks))
    need("is only for `heap`" in acu_core(acu, core, "leaks", "--flame", path("x.html"), status=2), "a flame graph of leaks")


def holders_of_a_long_list(acu):
    """600,000 chunks in lists: the graph does not become as high as they are long."""
    process = start(program("leaky"))
    try:
        core = gcore(process.pid, "long")
    finally:
        end(process)
    acu_core(acu, core, "heap", "--flame", path("long.folded"))
    text = open(path("long.folded")).read()
    need(text.count("\n") < 10000 and sum(int(n) for n in re.findall(r"^leaky;kept.* (\d+)$", text, re.M)) > 40 << 20, text[:1000])
    address = json.loads(acu_core(acu, core, "heap", "list", "--json"))["chunks"][50]["address"]
    need(re.search(r"^  kept\+\d+ in .*\n(?:.*\n)*  … \d+ more …$", acu_core(acu, core, "refs", address, "explain"), re.M), "no way to a chunk of the list")
    os.unlink(core)



def summary(acu):
    """Sizes, types by virtual tables, fragments; the totals in the summary of the core."""
    core = core_of("none")
    text = acu_core(acu, core, "heap")
    need("2 arenas" in text and re.search(r"^\[64, 128\) +62 \|@+ *\|$", text, re.M), text)
    need(rows(text)["Session"] == (62, "7440 B") and rows(text)["Order"] == (2, "272 B"), text)
    need(re.search(r"^fragmented \d+\.\d% of allocated memory is free, in \d+ blocks?, the largest of \d+ B$", text, re.M), text)
    used = json.loads(acu_core(acu, core, "heap", "--json"))["used"]["chunks"]
    need(f": {used} blocks used (" in acu_core(acu, core), "the summary has no totals")
    need(json.loads(acu_core(acu, core, "--json"))["heap"]["used_chunks"] == used, "nor has its JSON")
    need(acu_core(acu, core, "heap", "count").startswith(f"{used} used blocks, "), "count")
    listed = json.loads(acu_core(acu, core, "heap", "list", "--json"))["chunks"]
    need(sum(c["state"] == "used" for c in listed) == used and sum(c.get("type") == "Order" for c in listed) == 2, str(listed))
    need("DAMAGED" not in text, text)


def losses(acu):
    """Lists that are lost as one loss each, also what only the lists of free chunks lead to."""
    core = core_of("none")
    need(acu_core(acu, core, "leaks", "count") == "17 unreachable blocks, 1784 B\n", "count")
    need(len(re.findall(r"^0x[0-9a-f]+ +\d+ B  used", acu_core(acu, core, "leaks", "list"), re.M)) == 17, "list")
    need("12 blocks       1440 B  120 B each, Session" in acu_core(acu, core, "leaks"), acu_core(acu, core, "leaks"))
    text = acu_core(acu, core, "leaks", "explain")
    need(text.startswith("7 leak roots: unreachable blocks"), text)
    need(re.search(r" 3 blocks +1440 B  120 B, Session, and 3 more reachable only from each, such as 0x", text), text)
    need(re.search(r" 1 block +272 B  136 B, Order, and 1 more reachable only from each", text), text)
    sizes = sorted(l["chunks"] for l in json.loads(acu_core(acu, core, "leaks", "explain", "--json"))["losses"])
    need(sizes == [1, 1, 1, 2, 4, 4, 4], str(sizes))


def ways(acu):
    """From a text or an address to the variable that holds it."""
    core = core_of("none")
    listed = json.loads(acu_core(acu, core, "heap", "list", "--json"))["chunks"]
    sessions = [c["address"] for c in listed if c.get("type") == "Session"]
    # The first that was made is the last of its list.
    text = acu_core(acu, core, "refs", sessions[0], "explain")
    need(re.match(r"0x[0-9a-f]+ is in the block at 0x[0-9a-f]+ \(120 B, Session\), at \+0, which is used, held by\n  sessions\+0 in ", text), text)
    need("… 26 more …" in text and json.loads(acu_core(acu, core, "refs", sessions[0], "explain", "--json"))["length"] == 50, text)
    need(acu_core(acu, core, "refs", sessions[0], "count").startswith("1 location points to the block at " + sessions[0]), "count")
    need("in blocks of 120 B, Session, such as 0x" in acu_core(acu, core, "refs", sessions[0], "summarize"), "summarize")
    need("unreachable" in acu_core(acu, core, "refs", sessions[-1], "explain"), "a lost one")
    need("is not mapped" in acu_core(acu, core, "refs", "0x10", "explain"), "nowhere")
    text = acu_core(acu, core, "find", "\x02" * 16, "explain")
    need(re.search(r"\(5000 B\), at \+\d+, which is used, held by\n  thread-local variables of thread \d+", text), text[:1000])


def damage(acu):
    """The first chunk that is overwritten, and the one whose end was written beyond."""
    text = acu_core(acu, core_of("overflow"), "heap")
    need(re.search(r"^DAMAGED    the block at 0x[0-9a-f]+ says it is \d+ bytes long, of \d+ that are left: it is overwritten\n"
                   r"           16 bytes before it: (?:[0-9a-f]{2} ){16} the forty bytes \n"
                   r"           likely by a write past the end of the block at 0x[0-9a-f]+ \(40 B\)$", text, re.M), text)
    need("          DAMAGED: the block at 0x" in acu_core(acu, core_of("overflow")), "the summary says nothing of it")
    need("damaged" in json.loads(acu_core(acu, core_of("overflow"), "--json"))["heap"], "nor does its JSON")
    text = acu_core(acu, core_of("late"), "heap")
    need(re.search(r"^DAMAGED    the block at \S+ is free, and its links to other free chunks do not fit: it is overwritten\n.*\n"
                   r".*, or by a write to this block after it was freed$", text, re.M), text)


def wrong_verbs(acu):
    core = core_of("none")
    for words in (("heap", "lst"), ("leaks", "list", "list"), ("refs", "0x10", "all"), ("find", "x", "0")):
        need("comes count, list, summarize or explain, not `" in acu_core(acu, core, *words, status=2), str(words))


def without_a_stop(acu):
    process = start(path("heap"), "none") if core_of("none") else None
    try:
        wait_for_sleep(process.pid)
        done = call(acu, "snap", "-p", process.pid, "--no-stop", "heap", "explain", "--json")
        os.kill(process.pid, signal.SIGSTOP)
        stopped = call(acu, "snap", "-p", process.pid, "--max-pause", "10s", "heap", "explain", "--json")
        # Which stack is whose is not known without a stop; what variables hold is.
        for told in (done, stopped):
            need(told.returncode == 0, told.stdout + told.stderr)
            held = {h["by"]: h["bytes"] for h in json.loads(told.stdout)["holders"]}
            need(held["sessions"] == 6000 and held["unreachable"] == 1784, told.stdout)
        flame = call(acu, "snap", "-p", process.pid, "--max-pause", "10s", "heap", "--flame", path("live.folded"))
        need(flame.returncode == 0 and "heap;sessions;Session 6000\n" in open(path("live.folded")).read(), flame.stderr)
    finally:
        end(process)


TESTS = [holders, holders_of_a_long_list, summary, losses, ways, damage, wrong_verbs, without_a_stop]
