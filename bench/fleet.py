#!/usr/bin/env python3
"""A fleet of simulated agents, and questions over a day of 1,000 hosts: bench/fleet.py --acu ACU [--agents N] [--seconds S] [--out FILE]

Batches of this host's samplers are recorded first, with busy programs beside them. Then one process sends them as N agents do: each host once in 10 s, over the real
protocol, to a real collector and ClickHouse; and then as fast as they take them. Last, the roll-ups of a day are made from what was stored, and queried through the
console's API.
"""
import argparse
import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "test", "fleet")]
import batches
import clickhouse
from section import write_section

BUSY = "import hashlib, json, random, re\nwhile True:\n    d = [random.random() for _ in range(500)]\n    sorted(d); json.loads(json.dumps(d)); hashlib.sha256(repr(d).encode()); re.findall('[0-9]+', repr(d))\n"
VARIANTS = 20  # of stacks in the fleet's day: hosts do not all run the same


def record(acu, folder, seconds):
    """Batches of each sampler, each of one slot: lists of (kind, bytes)."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    found = {}
    try:
        running = {what: subprocess.Popen([acu, "serve", "--sample", what, "--store", f"spool:{folder}/{what}", "--max-duration", f"{seconds}s"], stderr=subprocess.DEVNULL) for what in ("host", "cpu", "offcpu")}
        for process in running.values():
            process.wait()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    for what in running:
        files = [open(f, "rb").read() for f in sorted(glob.glob(f"{folder}/{what}/*.batch"))]
        found[what] = files[1:-1] or files  # whole slots
    return found


def cpu_seconds(pid):
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    def __init__(self, port, tokens, recorded):
        self.port, self.tokens, self.recorded = port, tokens, recorded
        self.lock, self.bytes, self.requests, self.refused, self.delays = threading.Lock(), 0, 0, 0, []
        self.numbers = [0] * len(tokens)

    def send(self, agent, slot):
        pairs = []
        for what, files in self.recorded.items():
            self.numbers[agent] += 1
            pairs.append((self.numbers[agent], batches.of_slot(files[(agent + slot // 10) % len(files)], slot)))
        body = batches.body_of(pairs)
        begin, retry = time.monotonic(), False
        while True:
            status, answer = batches.post(self.port, body, batches.headers_of(self.tokens[agent], agent + 1, time.time(), retry=retry))
            if status == 200:
                break
            if status not in (503,):
                raise RuntimeError(f"{status} {answer}")
            retry = True
            with self.lock:
                self.refused += 1
            time.sleep(random.uniform(0.5, 1.5))
        with self.lock:
            self.bytes += len(body)
            self.requests += 1
            self.delays.append(time.monotonic() - begin)


def paced(load, seconds):
    """Each agent once in 10 s, at a time of its own."""
    agents = len(load.tokens)
    start = time.monotonic()
    with ThreadPoolExecutor(max_workers=200) as pool:
        jobs = []
        for n in range(int(agents * seconds / 10)):
            due = start + n * 10 / agents
            time.sleep(max(0, due - time.monotonic()))
            jobs.append(pool.submit(load.send, n % agents, int(time.time()) // 10 * 10))
        for job in jobs:
            job.result()
    return time.monotonic() - start


def flood(load, seconds):
    """As fast as they are taken; slots go back in time."""
    start, base = time.monotonic(), int(time.time()) // 10 * 10 - 7200
    stop, agents = start + seconds, len(load.tokens)

    # An agent has one request at a time: workers do not share agents.
    def own(worker, workers):
        n = 0
        mine = list(range(worker, agents, workers))
        while time.monotonic() < stop:
            load.send(mine[n % len(mine)], base + 10 * (n // len(mine)))
            n += 1
    with ThreadPoolExecutor(max_workers=96) as pool:
        for job in [pool.submit(own, w, 96) for w in range(96)]:
            job.result()
    return time.monotonic() - start


def rows_of(store):
    return {t: int(n) for t, n in store.rows("SELECT table, sum(rows) FROM system.parts WHERE active AND database = 'acu' GROUP BY table")}


def inserted(store):
    """Rows as they were sent, whatever merges have made of them: by the markers and averages of a batch."""
    return store.number("SELECT count() FROM samples") + store.number("SELECT count() FROM series")


def bytes_apart(store):
    """Bytes a row if no two hosts had anything in common: the simulated ones all send the same, which compresses better than a fleet does."""
    out = {}
    for table in ("samples", "samples_minute", "samples_hour", "series", "series_minute", "series_hour"):
        columns = "metric, service, slot, host, value" if table.startswith("series") else "kind, service, slot, host, thread, stack, weight, count" if table == "samples" else "kind, service, slot, host, stack, weight, count"
        selected = columns
        for name in ("service", "thread", "stack"):
            selected = selected.replace(name, f"cityHash64(host, {name})")
        store.query(f"CREATE TABLE apart_{table} AS {table}")
        store.query(f"INSERT INTO apart_{table} ({columns}) SELECT {selected} FROM {table}")
        store.query(f"OPTIMIZE TABLE apart_{table}")
        rows, size = store.rows(f"SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'acu' AND table = 'apart_{table}'")[0]
        out[table] = int(size) / max(1, int(rows))
        store.query(f"DROP TABLE apart_{table}")
    return out


def make_day(store, hosts):
    """The roll-ups of a day: each row of an hour again for 24 hours, stacks in variants for the fleet, series for each host."""
    now = int(time.time()) // 86400 * 86400 - 86400
    store.query(f"INSERT INTO stacks SELECT bitXor(id, v + 1) AS stack, list AS frames FROM (SELECT stack AS id, any(frames) AS list FROM stacks GROUP BY stack) CROSS JOIN (SELECT number AS v FROM numbers({VARIANTS}))")
    store.query(f"INSERT INTO samples_fleet SELECT kind, service, toUInt32({now} + intDiv(n, {VARIANTS}) * 600) AS slot, bitXor(id, modulo(n, {VARIANTS}) + 1) AS stack, w AS weight, c AS count FROM (SELECT kind, service, "
                f"stack AS id, sum(weight) AS w, sum(count) AS c FROM samples_fleet WHERE kind != '#' GROUP BY kind, service, stack) CROSS JOIN (SELECT number AS n FROM numbers({144 * VARIANTS}))")
    store.query(f"INSERT INTO series_hour SELECT metric, service, toUInt32({now} + intDiv(n, {hosts}) * 3600) AS slot, modulo(n, {hosts}) + 1 AS host, v AS value FROM (SELECT metric, service, sum(value) AS v FROM series_hour "
                f"WHERE metric != '#' AND host = (SELECT any(host) FROM hosts) GROUP BY metric, service) CROSS JOIN (SELECT number AS n FROM numbers({24 * hosts}))")
    return now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acu", required=True)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--out")
    options = parser.parse_args()
    if not clickhouse.command():
        sys.exit("clickhouse-server is not installed")
    folder = tempfile.mkdtemp(prefix="acu-bench-fleet-")
    store, children = clickhouse.ClickHouse(os.path.join(folder, "clickhouse")).start(), []
    environment = {**os.environ, "CLICKHOUSE_PASSWORD": clickhouse.PASSWORD}
    try:
        recorded = record(options.acu, folder, 42)
        tokens = [f"{n:08x}" * 5 for n in range(options.agents)]
        agents = os.path.join(folder, "agents")
        with open(os.open(agents, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write("".join(f"host{n} {t}\n" for n, t in enumerate(tokens)))

        def start(name, words, pattern):
            log = open(os.path.join(folder, name), "w")
            children.append(subprocess.Popen([options.acu, *words], stdout=log, stderr=log, env=environment))
            for _ in range(600):
                found = re.search(pattern, open(log.name).read())
                if found:
                    return children[-1], found.group(1)
                time.sleep(0.1)
            sys.exit(open(log.name).read())
        collector, port = start("collect", ["collect", "--listen", "127.0.0.1:0", "--store", store.url, "--agents", agents], r"ready at http://127.0.0.1:(\d+)")
        token_file = os.path.join(folder, "console.token")
        console, url = start("serve", ["serve", "--listen", "127.0.0.1:0", "--store", store.url, "--token-file", token_file, "--audit", os.path.join(folder, "audit")], r"ready at (http://[\d.:]+)")

        lines = ["| | paced: each agent once in 10 s | as fast as they are taken |", "|---|---|---|"]
        results = []
        for way in (paced, flood):
            load = Load(int(port), tokens, recorded)
            if way is flood:
                load.numbers = [10**6] * options.agents
            before, cpu = inserted(store), (cpu_seconds(collector.pid), cpu_seconds(store.child.pid))
            seconds = way(load, options.seconds if way is paced else options.seconds / 2)
            rows = inserted(store) - before
            results.append([f"{load.requests:,} ({3 * load.requests:,} batches)", f"{rows / seconds:,.0f} rows/s", f"{load.bytes / seconds / 1e3:,.0f} kB/s ({load.bytes / load.requests:,.0f} bytes a request)",
                            f"{1000 * statistics.median(load.delays):.0f} ms, {1000 * statistics.quantiles(load.delays, n=100)[98]:.0f} ms", f"{(cpu_seconds(collector.pid) - cpu[0]) / seconds:.2f} CPUs",
                            f"{(cpu_seconds(store.child.pid) - cpu[1]) / seconds:.2f} CPUs", str(load.refused)])
            print(way.__name__, results[-1], flush=True)
        for name, values in zip(("requests", "rows in slots of 10 s", "sent", "until stored, median and 99%", "collector", "ClickHouse", "refused at first"), zip(*results)):
            lines.append(f"| {name} | {' | '.join(values)} |")

        for table in ("samples", "samples_minute", "samples_hour", "samples_fleet", "series", "series_minute", "series_hour", "stacks", "frames", "threads", "services"):
            store.query(f"OPTIMIZE TABLE {table}")
        sizes = store.rows("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'acu' GROUP BY table ORDER BY table")
        apart = bytes_apart(store)
        lines += ["", "| table | rows | bytes on disk | bytes a row | with nothing in common |", "|---|---|---|---|---|"]
        lines += [f"| {t} | {int(n):,} | {int(b):,} | {int(b) / max(1, int(n)):.1f} | {apart[t]:.1f} |" if t in apart else f"| {t} | {int(n):,} | {int(b):,} | {int(b) / max(1, int(n)):.1f} | |" for t, n, b in sizes]
        per_host = {what: (sum(map(len, files)) / len(files)) for what, files in recorded.items()}
        lines += ["", "A batch of this host: " + ", ".join(f"{what} {size:,.0f} bytes" for what, size in per_host.items()) + "."]

        day = make_day(store, options.agents)
        counts = rows_of(store)
        token = open(token_file).read().strip()
        lines += ["", f"A day of {options.agents:,} hosts: {counts['samples_fleet']:,} rows of samples_fleet, {counts['series_hour']:,} of series_hour, {counts['stacks']:,} stacks.", "", "| question over the day | seconds (median of 5) | CPU seconds, console and ClickHouse |", "|---|---|---|"]
        busiest = store.rows("SELECT any(name) FROM services WHERE service IN (SELECT service FROM samples_fleet WHERE kind = 'cpu' GROUP BY service ORDER BY sum(weight) DESC LIMIT 1)")[0][0]
        for title, path in (("services of all hosts", "/api/services"), ("flame graph of all hosts", "/api/flame?kind=cpu"), ("flame graph of a service", "/api/flame?kind=cpu&service=" + urllib.parse.quote(busiest)),
                            ("series of a service", "/api/series?names=cpu,memory&service=" + urllib.parse.quote(busiest)), ("services of one host", "/api/services?host=host1"), ("comparison of two halves", f"/api/compare?kind=cpu&a_from={day}&a_to={day + 43200}&b_from={day + 43200}&b_to={day + 86400}")):
            if "a_from" not in path:
                path += ("&" if "?" in path else "?") + f"from={day}&to={day + 86400}"
            taken, cpu = [], cpu_seconds(console.pid) + cpu_seconds(store.child.pid)
            for _ in range(5):
                begin = time.monotonic()
                urllib.request.urlopen(urllib.request.Request(url + path, headers={"Authorization": "Bearer " + token}), timeout=300).read()
                taken.append(time.monotonic() - begin)
            cpu = (cpu_seconds(console.pid) + cpu_seconds(store.child.pid) - cpu) / len(taken)
            lines.append(f"| {title} | {statistics.median(taken):.2f} | {cpu:.2f} |")
            print(lines[-1], flush=True)
        text = "\n".join(lines)
        print(text)
        if options.out:
            write_section(options.out, "fleet", f"## A fleet\n\n`bench/fleet.py --agents {options.agents} --seconds {options.seconds}`: {options.agents:,} simulated agents, ClickHouse {store.query('SELECT version()', 'default').strip()}.\n\n{text}")
    finally:
        for child in reversed(children):
            child.terminate()
            child.wait()
        store.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
