#!/usr/bin/env python3
"""Agents, collector, ClickHouse and console together: run.py ACU [--filter TEXT]

Each test has a ClickHouse and a collector of its own. Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import batches
import clickhouse
import grafana
from tally import Skipped, need, patient, run_suite

sys.setrecursionlimit(50000)  # call trees are as deep as stacks
TMP = tempfile.mkdtemp(prefix="acu-fleet-")
TOKENS = {name: (name + "-") * 8 for name in ("web1", "web2", "db1")}
TABLES = ["samples", "samples_minute", "samples_hour", "samples_fleet", "series", "series_minute", "series_hour"]
BURNER = """
import time
def busy_function():
    n = 0
    for i in range(20000): n += i * i
    return n
while True:
    for _ in range(10): busy_function()
    time.sleep(0.02)
"""
counter = 0


def new_folder(name):
    global counter
    counter += 1
    out = os.path.join(TMP, f"{name}{counter}")
    os.mkdir(out)
    return out


def until(condition, seconds, what):
    end = time.monotonic() + patient(seconds)
    while True:
        found = condition()
        if found:
            return found
        need(time.monotonic() < end, what() if callable(what) else what)
        time.sleep(0.2)


def write_private(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    return path


class Process:
    """A command of acu whose messages are kept."""

    def __init__(self, folder, name, command, **more):
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "a") as log:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **more)

    def said(self):
        return open(self.log).read()

    def wait_for(self, text, seconds=60):
        until(lambda: text in self.said() or self.child.poll() is not None, seconds, lambda: f"no `{text}`: {self.said()}")
        need(text in self.said(), f"ended: {self.said()}")
        return self

    def end(self, how=signal.SIGTERM, seconds=60):
        if self.child.poll() is None:
            self.child.send_signal(how)
            try:
                self.child.wait(patient(seconds))
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Fleet:
    def __init__(self, acu):
        if not clickhouse.command():
            raise Skipped("clickhouse-server is not installed (scripts/setup.sh test)")
        self.acu, self.folder = acu, new_folder("fleet")
        self.store = clickhouse.ClickHouse(os.path.join(self.folder, "clickhouse"))
        self.environment = {**os.environ, "CLICKHOUSE_PASSWORD": clickhouse.PASSWORD}
        self.agents_file = write_private(os.path.join(self.folder, "agents"), "# name token\n" + "".join(f"{n} {t}\n" for n, t in TOKENS.items()))
        self.processes, self.port = [], None

    def __enter__(self):
        self.store.start(patient(60))
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.end()
        self.store.stop()

    def add(self, process):
        self.processes.append(process)
        return process

    def collect(self, *more):
        self.collector = self.add(Process(self.folder, f"collect{len(self.processes)}", [self.acu, "collect", "--listen", f"127.0.0.1:{self.port or 0}", "--store", self.store.url, "--agents", self.agents_file, *more], env=self.environment))
        self.collector.wait_for("ready at")
        self.port = int(re.search(r"ready at http://127.0.0.1:(\d+)", self.collector.said()).group(1))
        return self.collector

    def agent(self, name, spool=None, *more):
        token = write_private(os.path.join(self.folder, name + ".token"), TOKENS.get(name, "unknown-" * 8) + "\n")
        return self.add(Process(self.folder, f"agent{len(self.processes)}", [self.acu, "agent", "--to", f"http://localhost:{self.port}", "--token-file", token, "--spool", spool or self.spool(name), *more]))

    def spool(self, name):
        return os.path.join(self.folder, name + ".spool")

    def console(self):
        token_file = os.path.join(self.folder, "console.token")
        self.server = self.add(Process(self.folder, "serve", [self.acu, "serve", "--listen", "127.0.0.1:0", "--store", self.store.url, "--token-file", token_file, "--audit", os.path.join(self.folder, "audit")], env=self.environment))
        self.server.wait_for("ready at")
        self.url = re.search(r"ready at (http://[\d.:]+)", self.server.said()).group(1)
        self.token = open(token_file).read().strip()

    def ask(self, path, **parameters):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        try:
            answer = urllib.request.urlopen(urllib.request.Request(self.url + path + query, headers={"Authorization": "Bearer " + self.token}), timeout=120)
            return json.loads(answer.read())
        except urllib.error.HTTPError as failed:
            return {"status": failed.code, **json.loads(failed.read())}

    def post(self, host, pairs, spool=7, **more):
        return batches.post(self.port, batches.body_of(pairs), batches.headers_of(TOKENS.get(host, host), spool, more.pop("now", time.time()), **more))

    def stored(self, host="web1"):
        """For each table how many batches it has; none may be there twice."""
        out = {}
        hosts = {name: number for number, name in self.store.rows("SELECT DISTINCT host, name FROM hosts")}
        for table in TABLES:
            if table.startswith("series"):
                condition = f"metric = '#' AND host = {hosts.get(host, 0)}"
                found = self.store.rows(f"SELECT uniqExact(service), sum(value) FROM {table} WHERE {condition}")
            else:
                condition = f"kind = '#' AND service = {hosts.get(host, 0)}"
                found = self.store.rows(f"SELECT uniqExact(stack), sum(count) FROM {table} WHERE {condition}")
            different, rows = int(found[0][0]), int(float(found[0][1]))
            need(different == rows, f"{table}: {rows} batches stored, {different} of them different")
            out[table] = different
        return out


def recorded(acu, number=1):
    """Batches of the sampler of the host, which needs no BPF."""
    spool = new_folder("made")
    os.rmdir(spool)
    files, tries = [], 0
    while len(files) < number:  # a host that is slow needs longer than that for its first reading, and then writes nothing
        tries += 1
        need(tries < 20 + number, "the sampler writes nothing")
        done = subprocess.run([acu, "serve", "--sample", "host", "--store", "spool:" + spool, "--max-duration", f"{100 * tries}ms"], capture_output=True, text=True, timeout=patient(60))
        need(done.returncode == 0, done.stderr)
        files = sorted(glob.glob(spool + "/*.batch"))
    files = files[:number]
    return [open(f, "rb").read() for f in files]


def state_of(spool):
    words = open(os.path.join(spool, "state")).read().split()
    return {"last": int(words[1]), "stored": int(words[2]), "dropped": int(words[3]), "dropped_samples": int(words[4])}


def names_in(tree):
    todo, out = [tree], set()
    while todo:
        node = todo.pop()
        out.add(node["name"])
        todo += node["children"]
    return out


def from_sampler_to_console(acu):
    """A busy Python program on this host: agent, collector, ClickHouse, and the flame graph in the console's API has its function."""
    with Fleet(acu) as fleet:
        burner = fleet.add(Process(fleet.folder, "burner", ["/usr/bin/python3", "-c", BURNER]))
        fleet.collect()
        fleet.agent("web1")
        fleet.console()
        begin = int(time.time()) - 10

        def found():
            flame = fleet.ask("/api/flame", kind="cpu", host="web1", pid=burner.child.pid, **{"from": begin})
            return "busy_function" in names_in(flame["tree"]) and flame
        flame = until(found, 90, lambda: f"no busy_function: {fleet.collector.said()} {fleet.processes[2].said()}")
        need(flame["unit"] == "ns" and flame["total"] > 0 and flame["recorded_seconds"] >= 1, str(flame)[:500])
        need(any(p["pid"] == burner.child.pid for p in flame["processes"]), str(flame["processes"]))

        # The fleet as a whole, and services by name.
        service = next(s for s in until(lambda: [s for s in fleet.ask("/api/services", **{"from": begin})["services"] if s["cpu"] > 0], 60, "no services"))
        need(service["processes"] > 0, str(service))
        whole = fleet.ask("/api/flame", kind="cpu", **{"from": begin})
        need("busy_function" in names_in(whole["tree"]) and whole["total"] >= flame["total"], "the flame graph of all hosts")
        # Roll-ups have the same weight: a day instead of some minutes reads other tables.
        until(lambda: fleet.store.number("SELECT sum(weight) FROM samples WHERE kind = 'cpu'") == fleet.store.number("SELECT sum(weight) FROM samples_fleet WHERE kind = 'cpu'") > 0, 30, "the fleet's roll-up differs")
        day = fleet.ask("/api/flame", kind="cpu", **{"from": begin - 86400})
        need("busy_function" in names_in(day["tree"]) and day["total"] >= whole["total"], f"a day: {day['total']} of {whole['total']}")
        day = fleet.ask("/api/flame", kind="cpu", host="web1", **{"from": begin - 2 * 86400})
        need("busy_function" in names_in(day["tree"]), "hours of a host")
        hosts = fleet.ask("/api/hosts")["hosts"]
        need([h["host"] for h in hosts] == ["web1"] and abs(hosts[0]["clock_offset"]) <= 60 and hosts[0]["lost_batches"] == 0, str(hosts))
        me = fleet.ask("/api/me", host="web1")
        need(me["fleet"] and me["read_only"] and me["host"] == "web1" and me["store"]["bytes"] > 0, str(me)[:500])
        series = until(lambda: (lambda s: any(v for v in s["series"][0]["values"] if v) and s)(fleet.ask("/api/series", names="busy", host="web1", **{"from": begin})), 30, "no series")
        values = [v for v in series["series"][0]["values"] if v is not None]
        need(all(0 <= v <= 1 for v in values), str(values))
        overview = until(lambda: (lambda o: o["services"] and o)(fleet.ask("/api/overview", host="web1")), 30, "no overview")
        need(0 < overview["busy"] <= 1 and len(overview["cpus"]) >= 1 and overview["own"]["samples"] >= 0, str(overview)[:800])
        compared = fleet.ask("/api/compare", kind="cpu", a_from=begin, b_from=begin, host="web1")
        need(compared["a"]["total"] == compared["b"]["total"] > 0, str(compared)[:300])
        need(fleet.ask("/api/services", host="nobody", **{"from": begin})["services"] == [], "a host that is not there")
        # Names of numbers in the dashboard are those that a real agent sends: what nothing loses or drops has no rows.
        dashboard = grafana.Dashboard(fleet.store, begin, int(time.time()) + 1).choose()
        need("web1" in dashboard.texts["host"].values() and service["service"] in dashboard.texts["service"].values(), str(dashboard.texts)[:500])
        for panel in dashboard.panels:
            if not panel["title"].startswith(("Agents that have not", "Dropped")):
                until(lambda: dashboard.ask(panel["title"])[2], 30, f"no rows: {panel['title']}")
        for title, column in (("CPUs busy", "mean_busy"), ("Memory of acu", "mean_of_hosts"), ("CPU time of acu", "processes_cpu"), ("CPU time of acu", "kernel_cpu"), ("Samples stored and lost", "stored")):
            need(any(row[column] > 0 for row in dashboard.ask(title)[2]), f"{title}: {column} is 0")
        need("busy_function" in {row["function_name"] for row in dashboard.ask("Hottest functions")[2]}, "the hottest functions have no busy_function")


class Feeder(threading.Thread):
    """Writes batches of the host's sampler into a spool, some each second, until it is told to stop."""

    def __init__(self, acu, spool):
        super().__init__(daemon=True)
        self.acu, self.spool, self.goes_on = acu, spool, True

    def run(self):
        while self.goes_on:
            subprocess.run([self.acu, "serve", "--sample", "host", "--store", "spool:" + self.spool, "--max-duration", "500ms"], capture_output=True, timeout=300)

    def stop(self):
        self.goes_on = False
        self.join()


def nothing_is_lost_or_doubled(acu):
    """ClickHouse is killed twice, the collector and the agent once each, all with kill -9: sent = stored + spooled + dropped."""
    with Fleet(acu) as fleet:
        fleet.collect()
        spool = fleet.spool("web1")
        agent = fleet.agent("web1").wait_for("recording")
        feeder = Feeder(acu, spool)
        feeder.start()
        stored = lambda: fleet.store.number("SELECT uniqExact(service) FROM series WHERE metric = '#'")
        until(lambda: stored() > 3, 60, "nothing is stored")

        fleet.store.kill()
        time.sleep(patient(3))
        agent.end(signal.SIGKILL)
        fleet.store.start(patient(60))
        agent = fleet.agent("web1")
        before = stored()
        until(lambda: stored() > before + 3, 90, lambda: f"nothing is stored after the first kill: {agent.said()} {fleet.collector.said()}")

        fleet.collector.end(signal.SIGKILL)
        fleet.collect()
        fleet.store.kill()
        time.sleep(patient(2))
        fleet.store.start(patient(60))
        before = stored()
        until(lambda: stored() > before + 3, 90, lambda: f"nothing is stored after the second kill: {agent.said()} {fleet.collector.said()}")

        feeder.stop()
        until(lambda: not glob.glob(spool + "/*.batch"), 120, lambda: f"the spool is not emptied: {agent.said()} {fleet.collector.said()}")
        agent.end()
        state, spooled = state_of(spool), len(glob.glob(spool + "/*.batch"))
        found = fleet.stored()
        for table, number in found.items():
            need(number + spooled + state["dropped"] == state["last"], f"{table}: {number} stored, {spooled} in the spool, dropped {state['dropped']}, written {state['last']}")
        need(state["last"] > 6, f"{state}")


def a_retry_adds_what_is_missing(acu):
    """A batch that is in some tables only, as after a crash between two of them."""
    with Fleet(acu) as fleet:
        fleet.collect()
        batch = recorded(acu)[0]
        status, answer = fleet.post("web1", [(1, batch)])
        need(status == 200 and answer == {"stored": 1}, f"{status} {answer}")
        sums = {t: fleet.store.query(f"SELECT sum({'value' if t.startswith('series') else 'weight'}) FROM {t}") for t in TABLES}
        need(set(fleet.stored().values()) == {1}, str(fleet.stored()))
        for table in ("samples_minute", "series_hour", "samples_fleet"):
            fleet.store.query(f"TRUNCATE TABLE {table}")
        for _ in range(2):
            status, answer = fleet.post("web1", [(1, batch)], retry=True)
            need(status == 200, f"{status} {answer}")
            need(set(fleet.stored().values()) == {1}, str(fleet.stored()))
            again = {t: fleet.store.query(f"SELECT sum({'value' if t.startswith('series') else 'weight'}) FROM {t}") for t in TABLES}
            need(sums == again, f"{sums} {again}")
        # Another number, spool or host is another batch.
        for host, number, spool in (("web1", 2, 7), ("web1", 1, 8), ("web2", 1, 7)):
            need(fleet.post(host, [(number, batch)], spool, retry=True)[0] == 200, "another batch")
        need(set(fleet.stored().values()) == {3} and set(fleet.stored("web2").values()) == {1}, f"{fleet.stored()} {fleet.stored('web2')}")
        # One that is in a request twice is stored once.
        need(fleet.post("web2", [(9, batch), (9, batch)])[0] == 200, "twice in a request")
        need(set(fleet.stored("web2").values()) == {2}, str(fleet.stored("web2")))


def tokens(acu):
    with Fleet(acu) as fleet:
        fleet.collect()
        batch = recorded(acu)[0]
        status, answer = fleet.post("nobody" * 8, [(1, batch)])
        need(status == 401 and "token" in answer["error"], f"{status} {answer}")
        agent = fleet.agent("web9").wait_for("refuses the token")
        agent.end()
        need(re.search(r"the collector refuses the token: no agent has this token; \d+ batch(es)? in the spool\nhint: a line `NAME TOKEN` in the file", agent.said()) and "{" not in agent.said(), agent.said())
        need(state_of(fleet.spool("web9"))["stored"] == 0, "a batch of an unknown agent counts as stored")
        # A line more, and the agent is known; a mistake in the file changes nothing.
        write_private(fleet.agents_file, open(fleet.agents_file).read() + "web9 " + "unknown-" * 8 + "\n")
        need(fleet.post("unknown-" * 8, [(1, batch)])[0] == 200, "a new token")
        known = open(fleet.agents_file).read()
        write_private(fleet.agents_file, "web9\n")
        need(fleet.post("unknown-" * 8, [(2, batch)])[0] == 200, "a damaged file of tokens")
        fleet.collector.wait_for("line 1: not NAME TOKEN\nkeeping the previous 4 tokens", 10)
        os.chmod(fleet.agents_file, 0o644)  # is noticed although nobody asks
        fleet.collector.wait_for("can be read or written by others", 10)
        write_private(fleet.agents_file, known)
        os.chmod(fleet.agents_file, 0o600)
        fleet.collector.wait_for("again: 4 tokens", 10)
        need(set(fleet.stored("web9").values()) == {2}, str(fleet.stored("web9")))


def clock_that_is_off(acu):
    """Batches of a host whose clock is hours ahead are stored under its time, and the host is flagged."""
    with Fleet(acu) as fleet:
        fleet.collect()
        fleet.console()
        batch = recorded(acu)[0]
        ahead = 5 * 3600
        slot = batches.read_head(batch)[0] + ahead
        need(fleet.post("db1", [(1, batches.of_slot(batch, slot))], now=time.time() + ahead)[0] == 200, "not stored")
        host = fleet.ask("/api/hosts")["hosts"][0]
        need(host["host"] == "db1" and abs(host["clock_offset"] - ahead) <= 60 and host["slot"] == slot, str(host))
        series = fleet.ask("/api/series", names="memory", host="db1", to=slot + 60, **{"from": slot - 60})
        values = {t: v for t, v in zip(series["times"], series["series"][0]["values"]) if v is not None}
        need(list(values) == [slot] and values[slot] > 0, str(values))
        for wrong in (slot + 5, 2**40):
            need(fleet.post("db1", [(2, batches.of_slot(batch, wrong))])[0] == 400, f"slot {wrong}")


def full_spool(acu):
    """What has no room is dropped, the oldest first, and counted up to the console."""
    with Fleet(acu) as fleet:
        fleet.collect()
        fleet.console()
        fleet.collector.end()
        spool, batch = fleet.spool("web1"), recorded(acu)[0]
        feeder = fleet.agent("web1").wait_for("recording")
        feeder.end()  # it has made the folder
        kept = len(glob.glob(spool + "/*.batch"))
        last = state_of(spool)["last"]
        for i in range(20):  # of 100 kB: a head, then anything
            with open(os.path.join(spool, f"{last + i + 1:020}.batch"), "wb") as file:
                file.write(batches.MAGIC + batches.put(1796000000) + batches.put(5) + batches.put(100) + b"x" * 100_000)
        text = open(spool + "/state").read().split()
        text[1] = f"{last + 20:020}"
        with open(spool + "/state", "w") as file:
            file.write(" ".join(text) + "\n")
        agent = fleet.agent("web1", None, "--max-size", "1M")
        until(lambda: state_of(spool)["dropped"] >= kept + 9, 60, lambda: f"nothing is dropped: {state_of(spool)} {agent.said()}")
        need(sum(os.path.getsize(f) for f in glob.glob(spool + "/*.batch")) < 1.2e6, "the spool is larger than its limit")
        need(state_of(spool)["dropped_samples"] >= 45, str(state_of(spool)))
        # The others are damaged: the collector refuses them, one by one.
        fleet.collect()
        until(lambda: not [f for f in glob.glob(spool + "/*.batch") if os.path.getsize(f) > 90_000], 180, lambda: f"{agent.said()} {fleet.collector.said()}")
        until(lambda: (lambda h: h and h[0]["lost_batches"] >= 20)(fleet.ask("/api/hosts")["hosts"]), 60, lambda: str(fleet.ask("/api/hosts")))
        need(fleet.post("web2", [(1, batch)])[0] == 200, "the collector answers no more")


def damaged_requests(acu):
    with Fleet(acu) as fleet:
        fleet.collect()
        batch = recorded(acu)[0]
        good = batches.headers_of(TOKENS["web1"], 7, time.time())
        body = batches.body_of([(1, batch)])
        slot, samples, size, at = batches.read_head(batch)
        head = lambda size: batches.MAGIC + batches.put(slot) + batches.put(samples) + batches.put(size)
        wrong = [b"", b"x", body[:-1], body[:20], batches.body_of([(1, b"acb2" + batch[4:])]), batches.body_of([(1, batch[:-3])]), batches.body_of([(1, batch[:at] + batch[at:][::-1])]),
                 batches.body_of([(1, head(size + 1) + batch[at:])]), batches.body_of([(1, head(2**62) + batch[at:])]), batches.put(1) + batches.put(2**63) + b"acb1", b"\xff" * 100]
        for text in wrong:
            status, answer = batches.post(fleet.port, text, good)
            need(status == 400 and answer["error"], f"{text[:20]}: {status} {answer}")
        for name, value in (("acu-spool", "many"), ("acu-time", "many"), ("acu-dropped", "many"), ("acu-time", str(2**63)), ("acu-time", "4000000001")):
            need(batches.post(fleet.port, body, {**good, name: value})[0] == 400, f"{name}: {value}")
        need(fleet.store.number("SELECT count() FROM samples") == 0 and fleet.store.number("SELECT count() FROM series") == 0, "something of them is stored")
        need(batches.post(fleet.port, body, good)[0] == 200, "a good one after them")


def without_clickhouse(acu):
    """The collector begins before ClickHouse, and the console says what is wrong."""
    with Fleet(acu) as fleet:
        batch = recorded(acu)[0]
        fleet.store.stop()
        fleet.collect()
        status, answer = fleet.post("web1", [(1, batch)])
        need(status == 503 and "ClickHouse" in answer["error"], f"{status} {answer}")
        served = subprocess.run([acu, "serve", "--listen", "127.0.0.1:0", "--store", fleet.store.url, "--audit", os.path.join(fleet.folder, "a")], capture_output=True, text=True, timeout=patient(60), env=fleet.environment)
        need(served.returncode == 1 and "ClickHouse" in served.stderr, f"{served.returncode} {served.stderr}")
        fleet.store.start(patient(60))
        need(fleet.post("web1", [(1, batch)], retry=True)[0] == 200, "stored later")
        need(set(fleet.stored().values()) == {1}, str(fleet.stored()))
        wrong = subprocess.run([acu, "collect", "--listen", "127.0.0.1:0", "--store", fleet.store.url, "--agents", fleet.agents_file], capture_output=True, text=True, timeout=patient(60), env={**os.environ, "CLICKHOUSE_PASSWORD": "wrong"})
        need(wrong.returncode == 4 and "CLICKHOUSE_PASSWORD" in wrong.stderr, f"{wrong.returncode} {wrong.stderr}")


def old_partitions_go(acu):
    """Days beyond the limits are deleted whole; what is within them stays."""
    with Fleet(acu) as fleet:
        batch = recorded(acu)[0]
        slot = batches.read_head(batch)[0]
        fleet.collect()
        for number, days in enumerate((0, 3, 30, 500)):
            need(fleet.post("web1", [(number + 1, batches.of_slot(batch, slot - days * 86400))])[0] == 200, f"{days} days ago")
        need(set(fleet.stored().values()) == {4}, str(fleet.stored()))
        fleet.collector.end()
        fleet.collect("--keep-fine", "2d")  # deletes at once
        until(lambda: fleet.stored()["series"] == 1, 60, lambda: f"{fleet.stored()} {fleet.collector.said()}")
        found = fleet.stored()
        need(found == {"samples": 1, "samples_minute": 2, "samples_hour": 3, "samples_fleet": 3, "series": 1, "series_minute": 2, "series_hour": 3}, str(found))


def words(acu):
    folder = new_folder("words")
    token, open_token = write_private(folder + "/token", "t" * 40 + "\n"), os.path.join(folder, "open")
    with open(open_token, "w") as file:
        file.write("t" * 40)
    os.chmod(open_token, 0o644)
    short = write_private(folder + "/short", "web1 short\n")
    twice = write_private(folder + "/twice", f"web1 {'t' * 40}\nweb2 {'t' * 40}\n")
    good = ["--to", "http://127.0.0.1:1", "--token-file", token, "--spool", folder + "/spool"]
    cases = [(["agent"], 2, "--to"), (["agent", "--to", "http://x", "--tls-ca", token, "--token-file", token], 2, "https://"), (["agent", "--to", "ftp://x", "--token-file", token], 2, "http://"),
             (["agent", "--to", "http://127.0.0.1:99999", "--token-file", token], 2, "http://"), (["agent", "--to", "http://x", "--token-file", open_token], 4, "can be read or written by others"),
             (["agent", "--to", "http://x", "--token-file", folder + "/none"], 1, "cannot read"), (["agent", *good, "--max-size", "1"], 2, "--max-size"), (["agent", *good, "more"], 2, "usage"),
             (["agent", *good[:-1], folder + "/none/spool"], 1, "cannot make the folder"),
             (["collect"], 2, "--store"), (["collect", "--store", "mysql://x/y", "--agents", token], 2, "clickhouse://"), (["collect", "--store", "clickhouse://x", "--agents", token], 2, "DATABASE"),
             (["collect", "--store", "clickhouse://x/a;b", "--agents", token], 2, "letters, digits"), (["collect", "--store", "clickhouse://127.0.0.1:1/a", "--agents", short], 2, "fewer than 32"),
             (["collect", "--store", "clickhouse://127.0.0.1:1/a", "--agents", twice], 2, "same token"), (["collect", "--store", "clickhouse://127.0.0.1:1/a", "--agents", open_token], 4, "chmod 600"),
             (["serve", "--store", "clickhouse://x"], 2, "DATABASE")]
    # Whoever made or can replace a file of secrets knows them; a pipe keeps nobody waiting.
    pipe, large, foreign = folder + "/pipe", write_private(folder + "/large", "t" * 513), write_private(folder + "/foreign", f"web1 {'t' * 40}\n")
    os.mkfifo(pipe, 0o600)
    os.chown(foreign, 65534, -1)
    for option in (["agent", "--to", "http://x", "--token-file"], ["collect", "--store", "clickhouse://127.0.0.1:1/a", "--agents"]):
        cases += [([*option, pipe], 2, "is not a regular file"), ([*option, folder], 2, "is not a regular file"), ([*option, foreign], 4, "belongs to another user (uid 65534)")]
    cases += [(["agent", "--to", "http://x", "--token-file", large], 2, "larger than 512 bytes"), (["agent", "--to", "http://x", "--token-file", twice], 2, "exactly one token")]
    for command, status, text in cases:
        done = subprocess.run([acu, *command], capture_output=True, text=True, timeout=patient(30))
        need(done.returncode == status and text in done.stderr, f"{command}: {done.returncode} {done.stderr}")


class Listener:
    """A server on loopback that takes each connection to a function."""

    def __init__(self, answer):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.connections = self.socket.getsockname()[1], 0
        self.answer = answer
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()


def answer_with(status, headers, body):
    def answer(connection):
        with connection, connection.makefile("rb") as request:
            length = 0
            for line in iter(request.readline, b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            request.read(length)
            connection.sendall(f"HTTP/1.1 {status} X\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())
    return answer


def spooled(fleet, name, number=1):
    """A spool with batches that nobody has sent."""
    subprocess.run([fleet.acu, "serve", "--sample", "host", "--store", "spool:" + fleet.spool(name), "--max-duration", "1s"], capture_output=True, timeout=patient(60), check=True)
    need(len(glob.glob(fleet.spool(name) + "/*.batch")) >= number, "the sampler writes nothing")


def strangers_are_refused_before_their_body(acu):
    """The header alone decides: a body of 16 MiB that never comes costs neither memory nor time."""
    with Fleet(acu) as fleet:
        fleet.collect()
        head = "{} HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n{}\r\n"
        known = f"Authorization: Bearer {TOKENS['web1']}\r\n"
        for request, more, status in (("POST /fleet/v1/batches", "Authorization: Bearer wrong\r\n", 401), ("POST /fleet/v1/batches", "", 401), ("POST /other", known, 404), ("POST /healthz", "", 405),
                                      ("POST /fleet/v1/batches", known, 426)):
            with socket.create_connection(("127.0.0.1", fleet.port), patient(10)) as connection:
                connection.sendall(head.format(request, more).encode())
                answer = connection.recv(65536)
                need(answer.startswith(f"HTTP/1.1 {status} ".encode()) and b"acu-protocol: fleet/1" in answer, f"{request} {more}: {answer}")


def versions_that_differ(acu):
    with Fleet(acu) as fleet:
        fleet.collect()
        batch = recorded(acu)[0]
        good = batches.headers_of(TOKENS["web1"], 7, time.time())
        for spoken in ({}, {"acu-protocol": "fleet/2"}, {"acu-protocol": "other/1"}):
            status, answer = batches.post(fleet.port, batches.body_of([(1, batch)]), {**{k: v for k, v in good.items() if k != "acu-protocol"}, **spoken})
            need(status == 426 and "the collector fleet/1" in answer["error"] and "same version" in answer["hint"], f"{spoken}: {status} {answer}")
        # What has no protocol, or another version of it, removes nothing from the spool.
        stored = '{"stored": 1}'
        for name, headers, body, status, text in (("web1", "", stored, 200, "is not a collector: status 200"), ("web2", "", '{"error": "x"}', 400, "is not a collector: status 400: x;"),
                                                  ("db1", "acu-protocol: fleet/2\r\n", stored, 200, "the agent uses protocol fleet/1, the collector fleet/2")):
            spooled(fleet, name)
            fleet.port = Listener(answer_with(status, headers, body)).port
            agent = fleet.agent(name).wait_for(text)
            agent.end()
            state = state_of(fleet.spool(name))
            need(state["stored"] == 0 and state["dropped"] == 0, f"{name}: {state} {agent.said()}")


def answers_that_are_too_large(acu):
    """Whoever answers an agent may not fill its memory."""
    with Fleet(acu) as fleet:
        headers = "acu-protocol: fleet/1\r\n"
        for name, size, text in (("web1", 900_000, "did not confirm"), ("web2", 1_100_000, "body limit exceeded")):
            spooled(fleet, name)
            fleet.port = Listener(answer_with(200, headers, "x" * size)).port
            agent = fleet.agent(name).wait_for(text)
            agent.end()
            need(state_of(fleet.spool(name))["stored"] == 0, agent.said())


def one_bad_delivery(acu):
    """It is refused with its reason; those that come with it are stored."""
    with Fleet(acu) as fleet:
        fleet.collect()
        now = int(time.time()) // 10 * 10
        # More days than an insert may have.
        many = [(n + 1, batches.made(now - n * 86400, "host", 10, [("", "busy", 0.5)])) for n in range(120)]
        status, answer = fleet.post("db1", many)
        need(status == 400 and "more than 50 days" in answer["error"], f"{status} {answer}")
        need(fleet.post("db1", many[:40])[0] == 200, "fewer days")
        # A rule of the database's owner.
        fleet.store.query("CREATE TABLE checked(bad UInt8) ENGINE = Null")
        fleet.store.query("CREATE MATERIALIZED VIEW check_rows TO checked AS SELECT throwIf(metric = 'poison') AS bad FROM series_in")
        good, answers = batches.made(now, "host", 10, [("", "busy", 0.5)]), {}

        def send(number):
            metric = "poison" if number == 3 else "busy"
            answers[number] = fleet.post("web1", [(1, batches.made(now, "host", 10, [("", metric, 0.5)]))], spool=100 + number)
        threads = [threading.Thread(target=send, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        need({n: a[0] for n, a in answers.items()} == {n: 400 if n == 3 else 200 for n in range(8)}, str(answers))
        need(set(fleet.stored().values()) == {7}, str(fleet.stored()))
        need(fleet.store.number("SELECT sum(value) FROM series WHERE metric = 'busy' AND host IN (SELECT host FROM hosts WHERE name = 'web1')") == 35, "the others are stored once")
        fleet.collector.wait_for("refused a request of web1 (1 request of it since the start)", 5)


def an_agent_ends_at_once(acu):
    """Though the collector takes the request and never answers: what is not delivered stays in the spool."""
    with Fleet(acu) as fleet:
        open_ones = []
        listener = Listener(open_ones.append)
        fleet.port = listener.port
        spooled(fleet, "web1")
        before = set(glob.glob(fleet.spool("web1") + "/*.batch"))
        agent = fleet.agent("web1").wait_for("recording")
        until(lambda: listener.connections, 30, "the agent sends nothing")
        begin = time.monotonic()
        agent.end()
        seconds = time.monotonic() - begin
        need(seconds < patient(4), f"ended after {seconds:.1f} s: {agent.said()}")
        need(agent.child.returncode == 0 and before <= set(glob.glob(fleet.spool("web1") + "/*.batch")), f"{agent.child.returncode} {agent.said()}")
        need("in the spool; the next acu agent sends" in agent.said() and state_of(fleet.spool("web1"))["stored"] == 0, agent.said())


def days_that_are_too_large(acu):
    """ClickHouse refuses to drop large partitions: that is printed once, with the next step, and done when it is permitted."""
    with Fleet(acu) as fleet:
        slot = int(time.time()) // 10 * 10
        fleet.store.stop()
        fleet.store.configure("<max_partition_size_to_drop>1</max_partition_size_to_drop>")
        fleet.store.start(patient(60))
        fleet.collect()
        old = [(n + 1, batches.made(slot - days * 86400, "host", 10, [("", "busy", 0.5)])) for n, days in enumerate((4, 5))]
        need(fleet.post("web1", old)[0] == 200, "not stored")
        fleet.collector.end()
        fleet.collect("--keep-fine", "2d").wait_for("max_partition_size_to_drop")
        said = fleet.collector.said()
        need(said.count("cannot delete day") == 1 and "hint:" in said and "flags/force_drop_table" in said, said)
        need(fleet.stored()["series"] == 2, str(fleet.stored()))
        fleet.collector.end()
        fleet.store.stop()
        fleet.store.configure()
        fleet.store.start(patient(60))
        fleet.collect("--keep-fine", "2d")
        until(lambda: fleet.stored()["series"] == 0, 60, lambda: f"{fleet.stored()} {fleet.collector.said()}")


def old_ranges_read_coarse_tables(acu):
    """A short range that is older than slots of 10 s, or minutes, are kept."""
    with Fleet(acu) as fleet:
        fleet.collect("--keep-fine", "2d")
        fleet.console()
        now = int(time.time()) // 3600 * 3600
        begins = {days: now - days * 86400 for days in (3, 30)}
        sent = []
        for begin in begins.values():
            sent.append(batches.made(begin, "cpu", 10, [], [("app", ["main", "work"], 5000, 5)]))
            sent.append(batches.made(begin, "host", 10, [("", "busy", 0.5), ("app", "cpu", 2.0)]))
        need(fleet.post("web1", list(enumerate(sent, 1)))[0] == 200, "not stored")
        fleet.collector.end()
        fleet.collect("--keep-fine", "2d")  # deletes at once
        until(lambda: fleet.stored()["series"] == 0 and fleet.stored()["series_minute"] == 2, 60, lambda: f"{fleet.stored()} {fleet.collector.said()}")
        for days, begin in begins.items():
            for host in ({"host": "web1"}, {}):
                where = {"from": begin, "to": begin + 300, **host}
                flame = fleet.ask("/api/flame", kind="cpu", **where)
                need(flame.get("total") == 5000 and flame["recorded_seconds"] == 10, f"{days} days, {host}: {str(flame)[:400]}")
                used = {s["service"]: s["cpu"] for s in fleet.ask("/api/services", **where)["services"]}
                need(abs(used.get("app", 0) - 2) < 0.01, f"{days} days, {host}: {used}")
                values = fleet.ask("/api/series", names="busy", **where)["series"][0]["values"]
                recorded = [v for v in values if v is not None]
                need(len(recorded) == 1 and abs(recorded[0] - 0.5) < 0.01, f"{days} days, {host}: {values}")
        filtered = fleet.ask("/api/flame", kind="cpu", pid=1, host="web1", **{"from": begins[3], "to": begins[3] + 300})
        need(filtered.get("status") == 404 and "no longer kept (2 days" in filtered["error"], str(filtered)[:300])


def means_and_losses(acu):
    """Each source's numbers over its own seconds, and losses of all hosts."""
    with Fleet(acu) as fleet:
        fleet.collect()
        fleet.console()
        slot = int(time.time()) // 10 * 10 - 60
        where = {"from": slot, "to": slot + 10}

        def series(**parameters):
            return {s["name"]: s["values"] for s in fleet.ask("/api/series", **parameters)["series"]}
        of_host = {"web1": 10, "web2": 5}
        for host, seconds in of_host.items():
            sent = [batches.made(slot, "host", seconds, [("", "busy", 0.5), ("app", "cpu", 2.0)]), batches.made(slot, "offcpu", 2, [("app", "offcpu", 3.0), ("", "own_lost", 2.0)]),
                    batches.made(slot, "cpu", 4, [("", "own_lost", 5.0)], [("app", ["main"], 1000, 1)])]
            need(fleet.post(host, list(enumerate(sent, 1)))[0] == 200, "not stored")
        for host, hosts in (({"host": "web1"}, 1), ({"host": "web2"}, 1), ({}, 2)):
            app = next(s for s in fleet.ask("/api/services", **where, **host)["services"] if s["service"] == "app")
            need(abs(app["cpu"] - 2 * hosts) < 0.01 and abs(app["offcpu"] - 3 * hosts) < 0.01, f"{host}: {app}")
            of_app = series(service="app", names="cpu,offcpu", **where, **host)
            need(of_app == {"cpu": [2 * hosts], "offcpu": [3 * hosts]}, f"{host}: {of_app}")
            own = series(names="busy,own_lost", **where, **host)
            need(own == {"busy": [0.5], "own_lost": [7 * hosts]}, f"{host}: {own}")
            for kind, lost in (("cpu", 20), ("offcpu", 4)):
                flame = fleet.ask("/api/flame", kind=kind, **where, **host)
                need(flame["lost"] == lost * hosts, f"{kind} {host}: lost {flame['lost']}")

        # What a source did not record has no value: then one sampler only, then the host's with an idle host, then nobody.
        for host in of_host:
            sent = [batches.made(slot + 10, "cpu", 4, [("", "own_lost", 5.0)], [("app", ["main"], 1000, 1)]), batches.made(slot + 20, "host", 10, [("", "memory", 1e9)])]
            need(fleet.post(host, list(enumerate(sent, 10)))[0] == 200, "not stored")
        for host, hosts in (({"host": "web1"}, 1), ({}, 2)):
            own = series(names="busy,memory,own_lost", to=slot + 40, **{"from": slot}, **host)
            need(own == {"busy": [0.5, None, 0, None], "memory": [0, None, 1e9 * hosts, None], "own_lost": [7 * hosts, 5 * hosts, None, None]}, f"{host}: {own}")
            of_app = series(service="app", names="cpu,offcpu", to=slot + 40, **{"from": slot}, **host)
            need(of_app == {"cpu": [2 * hosts, None, 0, None], "offcpu": [3 * hosts, None, None, None]}, f"{host}: {of_app}")
            never = series(names="pressure_io", to=slot + 40, **{"from": slot}, **host)
            need(never == {"pressure_io": [0, None, 0, None]}, f"{host}: {never}")


def quick_requests_do_not_wait(acu):
    """ClickHouse is stopped: the console answers what needs no ClickHouse."""
    def ask_and_wait(path):
        with contextlib.suppress(OSError, ValueError):  # what comes of it does not matter
            fleet.ask(path)

    with Fleet(acu) as fleet:
        fleet.collect()
        fleet.console()
        fleet.store.child.send_signal(signal.SIGSTOP)
        try:
            for path in ("/api/overview", "/api/me", "/metrics", "/api/overview", "/api/overview", "/api/me"):
                threading.Thread(target=ask_and_wait, args=(path,), daemon=True).start()
            time.sleep(1)
            begin = time.monotonic()
            need(fleet.ask("/api/verbs")["verbs"], "no verbs")
            seconds = time.monotonic() - begin
            need(seconds < patient(5), f"answered after {seconds:.1f} s")
        finally:
            fleet.store.child.send_signal(signal.SIGCONT)


def send_200_seconds(fleet, last):
    """Two hosts that recorded for 20 slots each, which end at `last`: of one half of the time."""
    for host, seconds in (("web1", 10), ("web2", 5)):
        sent = []
        for i in range(20):
            slot = last - 190 + i * 10
            of_host = [("", "busy", 0.5), ("", "pressure_cpu", 0.25), ("", "pressure_memory", 0.125), ("", "pressure_full_memory", 0.0625), ("", "pressure_io", 0.375), ("", "pressure_full_io", 0.1875), ("", "own_cpu", 0.02),
                       ("", "own_memory", 2e7), ("app", "cpu", 2.0), ("app", "run_queue", 0.5), ("app", "memory", 1e6 * (i + 1)), ("app", "processes", 3.0), ("d'b\\n", "cpu", 1.0), ("d'b\\n", "memory", 5e6),
                       ("d'b\\n", "processes", 1.0)]
            sent.append(batches.made(slot, "host", seconds, of_host))
            sent.append(batches.made(slot, "cpu", 4, [("", "own_samples", 19.0), ("", "own_lost", 2.0), ("", "own_kernel_cpu", 0.01)],
                                     [("app", ["main", "work", "work"], 3 * 10**9, 57), ("app", ["main"], 10**9, 19), ("d'b\\n", ["main", "query"], 2 * 10**9, 38)]))
            sent.append(batches.made(slot, "offcpu", 2, [("", "own_samples", 10.0), ("", "own_lost", 1.0), ("", "own_kernel_cpu", 0.02), ("app", "offcpu", 3.0)], [("app", ["main", "wait"], 6 * 10**9, 20)]))
        need(fleet.post(host, list(enumerate(sent, 1)), dropped=3, dropped_samples=70)[0] == 200, "not stored")


def panels_are_sound(dashboard):
    """What Grafana needs to show them: places that do not overlap, the chosen data source, columns for which units are given."""
    taken = set()
    for panel in dashboard.panels:
        at, target = panel["gridPos"], panel["targets"][0]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        need(not cells & taken and at["x"] + at["w"] <= 24, f"{panel['title']}: its place {at}")
        taken |= cells
        need(len(panel["targets"]) == 1 and panel["datasource"] == target["datasource"] == {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"}, f"{panel['title']}: its data source")
        need(target["editorType"] == "sql" and target["format"] == (0 if panel["type"] == "timeseries" else 1), f"{panel['title']}: {target['format']}")
        names, types, _ = dashboard.ask(panel["title"])
        if panel["type"] == "timeseries":
            need(names[0] == "time" and types[0] == "DateTime", f"{panel['title']}: {names} {types}")
            need(("service_name" in names) == (panel["fieldConfig"]["defaults"].get("displayName") == "${__field.labels.service_name}"), f"{panel['title']}: names of lines")
        for override in panel["fieldConfig"]["overrides"]:
            need(override["matcher"]["options"] in names, f"{panel['title']}: no column {override['matcher']['options']} in {names}")
    for fewer in ("id", "title"):
        need(len({panel[fewer] for panel in dashboard.panels}) == len(dashboard.panels), f"the same {fewer} twice")


def dashboard_of_grafana(acu):
    """Each query of docs/fleet/acu-grafana.json, for ranges that read each table, for all hosts and for some."""
    with Fleet(acu) as fleet:
        fleet.collect()
        fleet.console()
        now = int(time.time())
        last = now // 10 * 10 - 10
        send_200_seconds(fleet, last)
        used = set(re.findall(r"metric = '([^']+)'", open(grafana.FILE).read()))
        stored = {row[0] for row in fleet.store.rows("SELECT DISTINCT metric FROM series")}
        need(len(used) > 15 and used <= stored, f"not sent: {used - stored}")
        fleet.store.query(f"INSERT INTO hosts VALUES (17, 'gone', 1, {now - 7200}, {now - 7210}, 0, 0, 0)")
        ranges = ((600, "series", "samples", "samples"), (3600, "series", "samples_minute", "samples"), (6 * 3600, "series_minute", "samples_fleet", "samples_minute"), (3 * 86400, "series_hour", "samples_fleet", "samples_hour"))
        for length, series, of_all, of_some in ranges:
            for hosts in ((), ("web1",), ("web1", "web2")) if length == 600 else ((), ("web1",)):
                dashboard = grafana.Dashboard(fleet.store, last + 10 - length, last + 10).choose(**({"host": hosts} if hosts else {}))
                tables = dashboard.chosen["series"], dashboard.chosen["samples"]
                need(tables == (series, of_some if hosts else of_all), f"{length} s of {hosts}: {tables}")
                if not hosts:
                    panels_are_sound(dashboard)
                numbers_of_dashboard(dashboard, hosts, 1 if len(hosts) == 1 else 2, length)
        # A range that is older than what fine tables keep, and services that are chosen.
        for fine, wanted in ((None, "series_minute"), ("2d", "series_hour")):
            if fine:
                fleet.collector.end()
                fleet.collect("--keep-fine", fine)
            old = grafana.Dashboard(fleet.store, now - 30 * 86400, now - 30 * 86400 + 600)
            found = old.run(next(v["query"] for v in old.variables if v["name"] == "series"))[2]
            need(found == [{"name_of_table": wanted}], f"a month ago, --keep-fine {fine}: {found}")
        one = grafana.Dashboard(fleet.store, last - 590, last + 10).choose(service=("d'b\\n",))
        need({row["service_name"] for row in one.ask("CPU by service")[2]} == {"d'b\\n"}, "a service that is chosen")
        need({row["function_name"]: row["self_time"] for row in one.ask("Hottest functions")[2]} == {"query": 80.0, "main": 0.0}, str(one.ask("Hottest functions")))


def numbers_of_dashboard(dashboard, hosts, count, length):
    what = f"{length} s of {hosts or 'all'}: "

    def close(a, b):
        return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1)

    def rows_of(title, **wanted):
        """Rows, in each of which these columns have these values."""
        rows = dashboard.ask(title)[2]
        need(rows, what + "no rows: " + title)
        for row in rows:
            for name, value in wanted.items():
                need(close(row[name], value), f"{what}{title}: {name} is not {value}: {row}")
        return rows

    rows_of("CPUs busy", mean_busy=0.5, busiest_host=0.5)
    rows_of("Pressure", cpu_some_share=0.25, memory_some_share=0.125, memory_full_share=0.0625, io_some_share=0.375, io_full_share=0.1875)
    rows_of("CPU time of acu", processes_cpu=0.02 * count, kernel_cpu=0.03 * count)
    rows_of("Memory of acu", mean_of_hosts=2e7, largest_host=2e7)
    rows_of("Samples stored and lost", stored=29 * count, lost=3 * count)
    for title, column, wanted in (("CPU by service", "cpus", {"app": 2, "d'b\\n": 1}), ("Waiting by service", "threads", {"app": 3}), ("Waiting for a CPU by service", "threads", {"app": 0.5})):
        found = rows_of(title)
        need({row["service_name"] for row in found} == set(wanted), f"{what}{title}: {found[:5]}")
        for row in found:
            need(close(row[column], wanted[row["service_name"]] * count), f"{what}{title}: {row}")
    memory = [row["bytes"] for row in rows_of("Memory by service") if row["service_name"] == "app"]
    need(memory == sorted(memory) and 1e6 * count <= memory[0] <= memory[-1] <= 20e6 * count, f"{what}{memory}")
    growth = {row["service_name"]: row for row in rows_of("Memory growth by service")}
    need(close(growth["d'b\\n"]["growth"], 0) and close(growth["d'b\\n"]["memory"], 5e6 * count), what + str(growth))
    if length <= 3600:
        need(close(growth["app"]["growth"], 19e6 * count) and close(growth["app"]["growth_per_hour"], 19e6 * count * 3600 / length), what + str(growth))
    functions = {row["function_name"]: (row["self_time"], row["total_time"]) for row in rows_of("Hottest functions")}
    need(functions == {"work": (60 * count, 60 * count), "query": (40 * count, 40 * count), "main": (20 * count, 120 * count)}, what + str(functions))
    waits = {row["function_name"]: (row["self_time"], row["total_time"]) for row in rows_of("Where threads waited longest")}
    need(waits == {"wait": (120 * count, 120 * count), "main": (0, 120 * count)}, what + str(waits))
    need({row["host_name"]: row["dropped_batches"] for row in rows_of("Dropped batches, and clocks that are off")} == {name: 3 for name in hosts or ("web1", "web2")}, what + "dropped batches")
    silent = {row["host_name"]: row["silent_for"] for row in dashboard.ask("Agents that have not reported for a minute")[2]}
    need("gone" not in silent if hosts else silent["gone"] >= 7200, what + str(silent))
    agents = rows_of("Agents")[0]
    need(agents["reporting"] + agents["silent"] == (len(hosts) or 3), what + str(agents))


TESTS = [from_sampler_to_console, nothing_is_lost_or_doubled, a_retry_adds_what_is_missing, tokens, clock_that_is_off, full_spool, damaged_requests, without_clickhouse, old_partitions_go, words, strangers_are_refused_before_their_body,
         versions_that_differ, answers_that_are_too_large, one_bad_delivery, an_agent_ends_at_once, days_that_are_too_large, old_ranges_read_coarse_tables, means_and_losses, dashboard_of_grafana, quick_requests_do_not_wait]

sys.exit(run_suite(TESTS, TMP, limit=400))
