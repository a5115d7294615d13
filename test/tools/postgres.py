"""Tools for PostgreSQL, with a server of our own whose statistics and log count the same."""
import os
import pwd
import re
import shutil
import signal
import subprocess
import threading
import time

from common import SLOWNESS, TMP, histogram_total, lines, need, trace, value
from programs import probes_of, wait_until
from tally import Skipped

BIN = "/usr/lib/postgresql/15/bin"
SERVER = os.path.join(BIN, "postgres")
MS = r" *(\d+\.\d\d\d)"
STAMP = r"\d\d:\d\d:\d\d "


class Postgres:
    """A server with an empty database, in a folder of its own; `log` is what it logged since it was ready."""

    def __init__(self, *settings):
        if not probes_of(SERVER, "query__start"):
            raise Skipped("no PostgreSQL 15 with marked probes here")
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            raise Skipped("no user postgres here") from None
        self.folder = os.path.join(TMP, "pg")
        self.sessions = []
        os.chmod(TMP, 0o711)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        become = dict(user=user.pw_uid, group=user.pw_gid, cwd=self.folder, stdout=subprocess.DEVNULL)
        data, template = os.path.join(self.folder, "data"), os.path.join(TMP, "pg-data")
        if not os.path.exists(template):
            subprocess.run([os.path.join(BIN, "initdb"), "-D", data, "-A", "trust", "--no-sync", "--locale=C"], check=True, timeout=60 * SLOWNESS,
                           stderr=subprocess.DEVNULL, **become)
            subprocess.run(["cp", "-a", data, template], check=True)
        else:
            subprocess.run(["cp", "-a", template, data], check=True)
        self.log_path = os.path.join(self.folder, "log")
        options = [word for setting in ("logging_collector=off", "autovacuum=off", "max_parallel_workers_per_gather=0", *settings) for word in ("-c", setting)]
        self.command = [SERVER, "-D", data, "-k", self.folder, "-h", "", *options]
        self.become = become
        self.psql = [os.path.join(BIN, "psql"), "-h", self.folder, "-U", "postgres", "-d", "postgres", "-q", "-X", "-A", "-t"]
        self.start()

    def start(self):
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(self.command, stderr=log, **self.become)
        try:
            wait_until(lambda: self.run("select 1").returncode == 0, "PostgreSQL")
        except BaseException:
            self.stop()
            raise
        self.logged = os.path.getsize(self.log_path)

    def run(self, *queries):
        return subprocess.run(self.psql + [word for query in queries for word in ("-c", query)], timeout=30 * SLOWNESS, capture_output=True, text=True,
                              cwd=self.folder)

    def ask(self, *queries):
        done = self.run(*queries)
        need(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def session(self):
        """A connection that stays open: a function that sends a query and waits for its end."""
        process = subprocess.Popen(self.psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder)
        self.sessions.append(process)

        def send(query):
            process.stdin.write(query + "\n\\echo done\n")
            process.stdin.flush()
            while process.stdout.readline() not in ("done\n", ""):
                pass
        return send

    def log(self):
        with open(self.log_path) as file:
            return file.read()[self.logged:]

    def stop(self):
        for session in self.sessions:
            session.stdin.close()
            session.wait(timeout=20 * SLOWNESS)
        self.sessions.clear()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=20 * SLOWNESS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def pg_queries(acu):
    with Postgres("fsync=off", "log_min_duration_statement=0", "log_line_prefix=%p ") as server:
        def load():
            server.ask("create table needles (n int)")
            server.ask("insert into needles select generate_series(1, 1000)")
            server.ask("select (select pg_sleep(0.05))::text, count(*) from needles")

        text = trace(acu, "pg-queries.bt", load, [SERVER])
        said = server.log()
    found = lines(text, rf"{STAMP}(\d+) {MS}{MS}{MS}{MS}  (.*)")
    logged = re.findall(r"^(\d+) LOG:  duration: ([\d.]+) ms  statement: (.*)$", said, re.M)
    need(len(logged) == 3 and [(f[0], f[5]) for f in found] == [(l[0], l[2]) for l in logged], text + said)
    for ours, theirs in zip(found, logged):  # the server's own log, but for what it does besides
        need(abs(float(ours[1]) - float(theirs[1])) <= 5 + 0.1 * float(theirs[1]), f"{ours} but the log has {theirs}")
        need(sum(map(float, ours[2:5])) <= float(ours[1]) + 0.01, str(ours))
    need(float(found[2][4]) >= 50 and float(found[2][3]) < 50, text)


def accounts(server):
    server.ask("create table accounts (id int primary key, balance int)", "insert into accounts select generate_series(1, 9), 0")


def blocked(server, query, release, seconds=0.2):
    """Runs a query that must wait; `release` ends its wait after some time."""
    waiting = threading.Thread(target=lambda: server.run(query))
    waiting.start()
    wait_until(lambda: server.ask("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == "1", "the wait for a lock")
    time.sleep(seconds)
    release()
    waiting.join()


def pg_lockwaits(acu):
    with Postgres("fsync=off") as server:
        accounts(server)

        def load():
            holder = server.session()
            holder("begin; select pg_backend_pid() \\g " + server.folder + "/holder")
            holder("update accounts set balance = 1 where id = 7;")
            blocked(server, "update accounts set balance = 2 where id = 7", lambda: holder("commit;"))
            holder("begin; lock table accounts in share mode;")
            server.run("set lock_timeout = 100; begin; insert into accounts values (10, 0)")
            holder("commit;")
            other = server.session()
            holder("begin; update accounts set balance = 1 where id = 1;")
            other("begin; update accounts set balance = 1 where id = 2;")
            waiting = threading.Thread(target=holder, args=("update accounts set balance = 1 where id = 2;",))
            waiting.start()
            wait_until(lambda: server.ask("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == "1", "the wait for a lock")
            other("update accounts set balance = 1 where id = 1; commit;")
            waiting.join()
            holder("commit;")

        text = trace(acu, "pg-lockwaits.bt", load, [SERVER])
        with open(os.path.join(server.folder, "holder")) as file:
            holder = file.read().strip()
        said = server.log()
    found = re.findall(rf"^{STAMP}(\d+) {MS} (\w+) +(\w+) +(\d+) +(\w+) +(\d+) ([a-z ]+)\n  waits: (.*)\n  holds: (.*)$", text, re.M)
    row = [f for f in found if f[8].startswith("update accounts set balance = 2")]
    need(len(row) == 1 and row[0][2:4] == ("granted", "transaction") and row[0][5:8] == ("Share", holder, "idle in transaction"), text)
    need(200 <= float(row[0][1]) <= 5000 and row[0][9] == "update accounts set balance = 1 where id = 7;", text)
    table = [f for f in found if f[2] == "canceled"]
    need(len(table) == 1 and table[0][3] == "relation" and table[0][5:7] == ("RowExclusive", holder), text)
    need(100 <= float(table[0][1]) <= 2000 and table[0][9] == "begin; lock table accounts in share mode;"[7:], text)
    circle = [f for f in found if "id = 1;" in f[8] or "id = 2;" in f[8]]
    need(sorted(f[2] for f in circle) == ["deadlock", "granted"] and said.count("deadlock detected") == 1, text + said)
    need({f[0] for f in circle} == {f[6] for f in circle} and len(found) == 4, text)


def stats(text, key):
    """Count and total of an entry that has statistics."""
    found = re.search(rf"^{re.escape(key)}: \{{ \.count = (\d+), \.average = -?\d+, \.total = (-?\d+) \}}$", text, re.M)
    need(found, f"no line {key}: …; printed:\n{text[:1500]}")
    return int(found.group(1)), int(found.group(2))


def pg_waits(acu):
    with Postgres() as server:
        accounts(server)

        def load():
            holder = server.session()
            holder("begin; update accounts set balance = 1 where id = 7;")
            blocked(server, "update accounts set balance = 2 where id = 7", lambda: holder("commit;"), 0.3)
            server.ask("select pg_sleep(0.2)")
            before = int(server.ask("select wal_sync from pg_stat_wal"))
            for n in range(20):
                holder(f"update accounts set balance = {n} where id = 1;")
            server.ask("select pg_stat_force_next_flush()")
            holder("select pg_stat_force_next_flush();")
            synced.append(int(server.ask("select wal_sync from pg_stat_wal")) - before)

        synced = []
        text = trace(acu, "pg-waits.bt", load, [SERVER])
    waits, us = stats(text, "@us[Lock]")
    need(waits >= 1 and 300000 <= us <= 3000000, text)  # a wait may be interrupted, and goes on
    # While the other one waited, the session was idle in its transaction.
    waits, us = stats(text, "@us[Client idle in transaction]")
    need(waits >= 1 and us >= 300000, text)
    waits, us = stats(text, "@us[Timeout]")
    need(waits >= 1 and 190000 <= us <= 2000000, text)
    need(stats(text, "@us[WAL sync]")[0] >= 20 and synced[0] >= 20, f"{synced} syncs:\n" + text)
    need("Activity" not in text, text)


def pg_buffers(acu):
    counts = "select heap_blks_hit || ' ' || heap_blks_read || ' ' || idx_blks_hit from pg_statio_user_tables where relname = 'needles'"
    with Postgres("fsync=off") as server:
        server.ask("create table needles (n int primary key, filler text)", "insert into needles select n, repeat('x', 500) from generate_series(1, 2000) n",
                   "vacuum needles", "checkpoint")
        server.ask("select 1")
        base, heap, index = server.ask("select oid || ' ' || pg_relation_filenode('needles') || ' ' || pg_relation_filenode('needles_pkey') "
                                       "from pg_database where datname = 'postgres'").split()
        pages = int(server.ask("select pg_relation_size('needles') / 8192"))
        server.stop()
        server.start()  # with an empty buffer cache
        before = list(map(int, server.ask(counts).split()))

        def load():
            for _ in range(3):
                server.ask("select count(filler) from needles")
            server.ask("set enable_seqscan = off", "select n from needles where n = 77")

        text = trace(acu, "pg-buffers.bt", load, [SERVER, "--", "--top=8"])
        after = list(map(int, server.ask(counts).split()))
    hits, read, index_hits = (a - b for a, b in zip(after, before))
    need(value(text, f"@reads[{base}, {heap}]") == read >= pages and value(text, f"@read_us[{base}, {heap}]") >= read, f"{read} read of {pages}:\n" + text)
    need(value(text, f"@hits[{base}, {heap}]") == hits >= 2 * pages, f"{hits} hits:\n" + text)
    found = re.search(r"^blocks (\d+), hits (\d+) \((\d+\.\d\d)%\)$", text, re.M)
    need(found and int(found[1]) >= 3 * pages and abs(100 * int(found[2]) / int(found[1]) - float(found[3])) < 0.02, text)


def pg_checkpoints(acu):
    with Postgres("log_checkpoints=on") as server:
        accounts(server)
        text = trace(acu, "pg-checkpoints.bt", lambda: (server.ask("checkpoint"), server.ask("update accounts set balance = 3"), server.ask("checkpoint")), [SERVER])
        said = server.log()
    found = lines(text, rf"{STAMP}\d+ {MS} {MS} {MS} +(\d+) +(\d+) request, immediate")
    logged = re.findall(r"wrote (\d+) buffers .*; (\d+) WAL file.* added, .*write=([\d.]+) s, sync=([\d.]+) s, total=([\d.]+) s", said)[:2]
    need(len(found) == len(logged) == 2, text + said)
    for (total, write, sync, buffers, files), theirs in zip(found, logged):
        need((buffers, files) == theirs[:2], text + said)
        for ours, seconds in ((write, theirs[2]), (sync, theirs[3]), (total, theirs[4])):
            need(abs(float(ours) - 1000 * float(seconds)) <= 5 + 0.2 * float(ours), f"{ours} ms, the server's log has {seconds} s")


def pg_wal(acu):
    counts = "select wal_records || ' ' || wal_fpi || ' ' || wal_bytes from pg_stat_wal"
    with Postgres() as server:
        server.ask("create table needles (n int, filler text)", "checkpoint")
        before, after = [], []

        def load():
            before.extend(map(int, server.ask(counts).split()))
            server.ask("insert into needles select n, repeat('x', 500) from generate_series(1, 500) n", "select pg_stat_force_next_flush()")
            server.ask("delete from needles where n = 7", "select pg_stat_force_next_flush()")
            after.extend(map(int, server.ask(counts).split()))

        text = trace(acu, "pg-wal.bt", load, [SERVER, "--", "--queries"])
    records, images, size = (a - b for a, b in zip(after, before))
    kinds = re.findall(r"^@records\[(\w+)\]: (\d+)$", text, re.M)
    ours = sum(int(n) for _, n in kinds), value(text, "@images"), sum(map(int, re.findall(r"^@bytes\[\w+\]: (\d+)$", text, re.M)))
    # Background processes write a few records of 50 bytes, which they count later.
    need(records >= 501 and 0 <= ours[0] - records <= 5, f"{ours}, the server counted {records} {images} {size}:\n" + text)
    need(ours[1] == images and 0 <= ours[2] - size <= 500, f"{ours}, the server counted {records} {images} {size}:\n" + text)
    need(value(text, "@records[Heap]") == 501, text)
    inserted = value(text, "@query_bytes[insert into needles select n, repeat('x', 500) from generate_series(1, 500) n]")
    need(500 * 500 <= inserted <= size, text)


def pg_transactions(acu):
    with Postgres("fsync=off") as server:
        accounts(server)

        def load():
            session = server.session()
            session("begin; update accounts set balance = 1 where id = 7;")
            time.sleep(0.3)
            session("select 1; commit;")
            session("begin; select pg_sleep(0.2); rollback;")
            for n in range(10):
                session(f"update accounts set balance = {n} where id = 1;")
            session("begin; select 1;")
            time.sleep(0.15)

        text = trace(acu, "pg-transactions.bt", load, [SERVER])
    found = lines(text, rf"{STAMP}(\d+) {MS} {MS} +(\d+) (\w+) +(.*)")
    need([f[4] for f in found] == ["commit", "abort", "open"] and len({f[0] for f in found}) == 1, text)
    idle, busy, still = ((float(f[1]), float(f[2])) for f in found)
    need(300 <= idle[1] <= idle[0] <= 3000 and found[0][3] == "4" and found[0][5] == "commit;", text)
    need(200 <= busy[0] <= 3000 and busy[1] <= busy[0] - 200, text)
    need(150 <= still[0] and still[1] >= 150, text)
    need(histogram_total(text, "@us[commit]") >= 11 and histogram_total(text, "@us[abort]") == 1, text)


def pg_sorts(acu):
    with Postgres("fsync=off") as server:
        server.ask("create table needles (n int, filler text)", "insert into needles select n, repeat('x', 500) from generate_series(1, 5000) n")
        plans = []

        def load():
            plans.append(server.ask("set work_mem = '64kB'", "explain analyze select * from needles order by filler, n"))
            plans.append(server.ask("explain analyze select * from needles where n < 50 order by n desc"))

        text = trace(acu, "pg-sorts.bt", load, [SERVER, "--", "--all"])
    found = lines(text, rf"{STAMP}\d+ +(disk|memory) +(\d+) +(\d+) (.*)")
    disk = re.search(r"external merge  Disk: (\d+)kB", plans[0])
    memory = re.search(r"quicksort  Memory: (\d+)kB", plans[1])
    need(disk and memory, "\n".join(plans))
    need(("disk", disk[1], "64", "explain analyze select * from needles order by filler, n") in found, text + plans[0])
    need(("memory", memory[1], "4096", "explain analyze select * from needles where n < 50 order by n desc") in found, text + plans[1])


def pg_statements(acu):
    slow = "select pg_sleep(0.1)"
    with Postgres("fsync=off", "shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on", "pg_stat_statements.track_utility=off") as server:
        accounts(server)
        server.ask("create table needles (n int)", "insert into needles select generate_series(1, 20000)", "create extension pg_stat_statements")
        server.stop()
        server.start()

        def load():
            server.ask("select pg_stat_statements_reset()")
            session = server.session()
            for n in range(30):
                session("update accounts set balance = 3 where id = 7;")
            session("begin; select pg_sleep(0.2); commit;")
            server.ask(slow, slow, "select count(*) from needles")
            # The extended protocol: ten executions of a statement with a parameter
            subprocess.run([os.path.join(BIN, "pgbench"), "-h", server.folder, "-U", "postgres", "-n", "-M", "extended", "-t", "10", "-f", script, "postgres"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30 * SLOWNESS)

        script = os.path.join(server.folder, "script")
        with open(script, "w") as out:
            out.write("\\set id 5\nselect balance from accounts where id = :id;\n")
        text = trace(acu, "pg-statements.bt", load, [SERVER, "--", "--min-ms=90"])
        pages = int(server.ask("select pg_relation_size('needles') / 8192"))
        # Of the server itself: calls, ms and blocks of each statement, with $1 for its constants
        theirs = dict(row.split("|", 1) for row in server.ask("select query, calls, total_plan_time + total_exec_time, shared_blks_read from pg_stat_statements").split("\n"))
    for query, normalised in (("update accounts set balance = 3 where id = 7;", "update accounts set balance = $1 where id = $2"), ("select pg_sleep(0.2);", "select pg_sleep($1)"),
                              ("select balance from accounts where id = $1;", "select balance from accounts where id = $1"), ("select count(*) from needles",) * 2):
        calls, ms, blocks = theirs[normalised].split("|")
        ours = [value(text, f"@{name}[{q}]") for name in ("calls", "total_us") for q in ([query, slow] if "sleep" in query else [query])]
        half = len(ours) // 2
        need(sum(ours[:half]) == int(calls), f"{query}: pg_stat_statements has {calls} calls\n{text}")
        # It does not count parsing, which takes longest for the first statements of a session.
        need(float(ms) <= sum(ours[half:]) / 1000 <= 1.05 * float(ms) + ("sleep" not in query) * 5 * int(calls), f"{query}: pg_stat_statements has {ms} ms\n{text}")
        need(query != "select count(*) from needles" or int(blocks) <= value(text, f"@read_blocks[{query}]") <= int(blocks) + 20, f"pg_stat_statements has {blocks} blocks\n{text}")
    need(value(text, "@calls[update accounts set balance = 3 where id = 7;]") == 30, text)
    need(value(text, f"@calls[{slow}]") == 2 and 200000 <= value(text, f"@total_us[{slow}]") <= 2000000, text)
    need(value(text, f"@total_us[{slow}]") / 2 <= value(text, f"@slowest_us[{slow}]") <= value(text, f"@total_us[{slow}]") - 100000, text)
    need(value(text, "@calls[select balance from accounts where id = $1;]") == 10, text)
    printed = [f[1] for f in lines(text, rf"{STAMP}\d+ +{MS} (.*)")]
    need(printed.count(slow) == 2 and printed.count("select pg_sleep(0.2);") == 1, text)
    need(value(text, "@read_blocks[select count(*) from needles]") >= pages, f"{pages} pages:\n" + text)


def pg_tempfiles(acu):
    counts = "select temp_files || ' ' || temp_bytes from pg_stat_database where datname = 'postgres'"
    spills = "select count(*) from (select * from needles order by filler, n) s"
    with Postgres("fsync=off", "work_mem=64kB") as server:
        server.ask("create table needles (n int, filler text)", "insert into needles select n, repeat('x', 500) from generate_series(1, 5000) n")
        before = list(map(int, server.ask(counts).split()))
        text = trace(acu, "pg-tempfiles.bt", lambda: (server.ask(spills), server.ask(spills), server.ask("select count(*) from needles")), [SERVER])
        files, size = (a - b for a, b in zip(map(int, server.ask(counts).split()), before))
    found = [(int(f[0]), f[1]) for f in lines(text, rf"{STAMP}\d+ +(\d+) (.*)")]
    need(len(found) == files >= 2 and {f[1] for f in found} == {spills}, f"the server counted {files} files:\n" + text)
    need(value(text, f"@bytes[{spills}]") == size and abs(sum(f[0] for f in found) - size / 1024) <= files, f"the server counted {size} bytes:\n" + text)


def pg_connections(acu):
    with Postgres("fsync=off", "log_connections=on", "log_disconnections=on", "log_line_prefix=%p ") as server:
        def load():
            server.ask("create role needle login", "select 1", "select 2")
            server.psql[server.psql.index("postgres")] = "needle"
            session = server.session()
            session("select 3;")
            time.sleep(0.2)
            server.sessions.pop().stdin.close()
            server.ask("select 4")
            time.sleep(0.1)

        text = trace(acu, "pg-connections.bt", load, [SERVER])
        said = server.log()
    found = [f for f in lines(text, rf"{STAMP}(\d+) {MS} {MS} +(\d+) (\w+) +(\w+)")]
    logged = re.findall(r"^(\d+) LOG:  disconnection: session time: 0:00:([\d.]+) user=(\w+) database=(\w+)", said, re.M)
    logged = {pid: (1000 * float(seconds), user, base) for pid, seconds, user, base in logged}
    need(len(found) == 3 and {f[0] for f in found} <= set(logged), text + said)  # the log has also the one before the load
    need([f[3:] for f in found] == [("3", "postgres", "postgres"), ("1", "postgres", "needle"), ("1", "postgres", "needle")], text)
    for pid, start, lasted, *_ in found:
        need(abs(float(lasted) - logged[pid][0]) <= 20 + 0.2 * float(lasted) and float(start) < float(lasted), text + said)
    need(float(found[1][2]) >= 200 and value(text, "@connections[postgres, needle]") == 2 and histogram_total(text, "@start_us") == 3, text)


def pg_vacuums(acu):
    with Postgres("fsync=off") as server:
        server.ask("create table needles (n int, filler text)", "insert into needles select n, repeat('x', 500) from generate_series(1, 5000) n",
                   "delete from needles where n % 3 = 0")
        file = server.ask("select pg_relation_filenode('needles')")
        said = []
        text = trace(acu, "pg-vacuums.bt", lambda: said.append(server.run("set vacuum_cost_delay = 10", "vacuum verbose needles").stderr), [SERVER])
    found = [f for f in lines(text, rf"{STAMP}\d+ +(\w+) +{MS} {MS} +(\d+) +(\d+) +(\d+) \d+ +(\d+)") if f[6] == file]
    told = said[0].split("finished vacuuming")[1]
    hits, misses = map(int, re.search(r"buffer usage: (\d+) hits, (\d+) misses", told).groups())
    wal, seconds = int(re.search(r"images, (\d+) bytes", told)[1]), float(re.search(r"elapsed: ([\d.]+) s", told)[1])
    need(len(found) == 1 and found[0][0] == "command", text)
    _, total, slept, looked_up, read, kilobytes, _ = found[0]
    need((int(looked_up), int(read), int(kilobytes)) == (hits + misses, misses, (wal + 1023) // 1024), text + told)
    need(abs(float(total) - 1000 * seconds) <= 15 + 0.1 * float(total) and 10 <= float(slept) <= float(total), text + told)


TESTS = [pg_tempfiles, pg_connections, pg_vacuums, pg_statements, pg_queries, pg_lockwaits, pg_waits, pg_buffers, pg_checkpoints, pg_wal, pg_transactions, pg_sorts]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
