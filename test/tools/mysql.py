"""Tools for MariaDB and SQLite, against what the server counts or logs, or the program itself."""
import os
import re
import subprocess
import threading
import time

from common import SLOWNESS, TMP, lines, need, trace, value
from programs import wait_until
from tally import Skipped

SERVER = "/usr/sbin/mariadbd"
MS = r" *(\d+\.\d\d\d)"
STAMP = r"\d\d:\d\d:\d\d "


class MariaDB:
    """A server with an empty database `test`, in a folder of its own, without a network."""

    def __init__(self):
        for needed in (SERVER, "/usr/bin/mariadb-install-db", "/usr/bin/mariadb"):
            if not os.path.exists(needed):
                raise Skipped("no MariaDB here")
        self.folder = os.path.join(TMP, "mariadb")
        self.sessions = []
        data = os.path.join(self.folder, "data")
        if not os.path.exists(self.folder):
            os.mkdir(self.folder)
            subprocess.run(["mariadb-install-db", "--no-defaults", "--datadir=" + data, "--user=root", "--auth-root-authentication-method=normal",
                            "--skip-test-db"], check=True, timeout=90 * SLOWNESS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = os.path.join(self.folder, "socket")
        self.log = os.path.join(self.folder, f"slow{time.monotonic_ns()}")
        self.process = subprocess.Popen([SERVER, "--no-defaults", "--datadir=" + data, "--user=root", "--skip-networking", "--socket=" + self.socket,
                                         "--pid-file=" + os.path.join(self.folder, "pid"), "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin",
                                         "--slow-query-log", "--slow-query-log-file=" + self.log, "--long-query-time=0.1"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = ["mariadb", "--no-defaults", "-u", "root", "-S", self.socket, "-N", "-B"]
        try:
            wait_until(lambda: self.run("select 1").returncode == 0, "MariaDB", 60)
            self.ask("create or replace database test")
            self.client.append("test")
        except BaseException:
            self.stop()
            raise

    def run(self, query):
        return subprocess.run(self.client + ["-e", query], timeout=30 * SLOWNESS, capture_output=True, text=True)

    def ask(self, query):
        done = self.run(query)
        need(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def session(self):
        """A connection that stays open: a function that sends a query and waits for its end."""
        process = subprocess.Popen(self.client + ["--unbuffered"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sessions.append(process)

        def send(query):
            process.stdin.write(query + "\n\\! echo done\n")
            process.stdin.flush()
            while process.stdout.readline() not in ("done\n", ""):
                pass
        return send

    def waits(self, state):
        return self.ask(f"select count(*) from information_schema.processlist where {state}") != "0"

    def stop(self):
        for session in self.sessions:
            session.stdin.close()
            session.wait(timeout=20 * SLOWNESS)
        self.process.terminate()
        self.process.wait(timeout=60 * SLOWNESS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def slow_log(server):
    """(query, ms) of all that took 0.1 s and more, as the server logs them."""
    with open(server.log) as file:
        found = re.findall(r"^# Query_time: ([\d.]+) .*\n(?:#.*\n)*(?:use `test`;\n)?(?:SET timestamp=\d+;\n)?(.*);$", file.read(), re.M)
    return [(query, 1000 * float(seconds)) for seconds, query in found]


def mysql_queries(acu):
    with MariaDB() as server:
        server.ask("create table needles (id int primary key, n int); insert into needles select seq, 0 from seq_1_to_9")

        def load():
            holder = server.session()
            holder("begin; update needles set n = 1 where id = 7;")
            waiting = threading.Thread(target=server.run, args=("update needles set n = 2 where id = 7",))
            waiting.start()
            wait_until(lambda: server.waits("info like 'update%' and time_ms > 0"), "the wait for a row")
            time.sleep(0.3)
            holder("commit;")
            waiting.join()
            server.ask("select sleep(0.2)")
            server.ask("prepare s from 'select n from needles where id = ?'; set @a = 5; execute s using @a")

        text = trace(acu, "mysql-queries.bt", load, [SERVER])
        logged = dict(slow_log(server))
    found = {f[3]: list(map(float, f[:3])) for f in lines(text, rf"{STAMP}\d+ +{MS}{MS}{MS}  (.*)")}
    for query in ("update needles set n = 2 where id = 7", "select sleep(0.2)"):
        need(query in found and query in logged, f"{text}{logged}")
        need(abs(found[query][0] - logged[query]) <= 10 + 0.1 * logged[query], f"{found[query]}, the server's log has {logged[query]} ms")
    total, lock, disk = found["update needles set n = 2 where id = 7"]
    need(300 <= lock <= total and disk <= total - lock, text)
    need(found["select sleep(0.2)"][0] >= 200 and found["select sleep(0.2)"][1] == 0, text)
    need("select n from needles where id = 5" in found, text)


def mysql_lockwaits(acu):
    with MariaDB() as server:
        server.ask("create table needles (id int primary key, n int); insert into needles select seq, 0 from seq_1_to_9")

        def load():
            holder = server.session()
            for query, state in (("update needles set n = 2 where id = 7", "info like 'update%' and time_ms > 0"),
                                 ("alter table needles add column m int", "state like '%metadata lock%'")):
                holder("begin; update needles set n = n + 1 where id = 7;")
                waiting = threading.Thread(target=server.run, args=(query,))
                waiting.start()
                wait_until(lambda: server.waits(state), "the wait")
                time.sleep(0.2)
                holder("commit;")
                waiting.join()
            holder("begin; update needles set n = 5 where id = 7;")
            server.run("set innodb_lock_wait_timeout = 1; update needles set n = 6 where id = 7")
            holder("rollback;")

        text = trace(acu, "mysql-lockwaits.bt", load, [SERVER, "--", "--min-ms=100"])
    found = re.findall(rf"^{STAMP}(\d+) +{MS} (\w+) +(\d+|-)\n  waits: (.*)\n(?:  holds: (.*)\n)?", text, re.M)
    need([f[2] for f in found] == ["row", "metadata", "row"], text)
    row, alter, late = found
    need(row[4] == "update needles set n = 2 where id = 7" and row[5] == "update needles set n = n + 1 where id = 7", text)
    need(alter[4] == "alter table needles add column m int" and alter[5] == row[5] and alter[3] == row[3] != "-", text)
    need(all(200 <= float(f[1]) <= 5000 for f in (row, alter)) and 1000 <= float(late[1]) <= 4000, text)
    need(late[3] == "-" and late[4] == "update needles set n = 6 where id = 7" and not late[5], text)


def mysql_statements(acu):
    blocked = "update needles set n = 2 where id = 7"
    with MariaDB() as server:
        server.ask("create table needles (id int primary key, n int); insert into needles select seq, 0 from seq_1_to_9")

        def load():
            holder = server.session()
            for _ in range(20):
                holder("select n from needles where id = 5;")
            holder("begin; update needles set n = 1 where id = 7;")
            waiting = threading.Thread(target=server.run, args=(blocked,))
            waiting.start()
            wait_until(lambda: server.waits("info like 'update%' and time_ms > 0"), "the wait for a row")
            time.sleep(0.2)
            holder("commit;")
            waiting.join()
            server.ask("select sleep(0.1); select sleep(0.1)")

        text = trace(acu, "mysql-statements.bt", load, [SERVER])
        logged = slow_log(server)
    slept = value(text, "@total_us[select sleep(0.1)]")
    need(value(text, "@calls[select n from needles where id = 5]") == 20 and value(text, "@calls[select sleep(0.1)]") == 2, text)
    need(200000 <= slept <= 2000000 and slept / 2 <= value(text, "@slowest_us[select sleep(0.1)]") <= slept - 100000, text)
    for query in ("select sleep(0.1)", blocked):
        theirs = sum(ms for text_of, ms in logged if text_of == query)
        need(abs(value(text, f"@total_us[{query}]") / 1000 - theirs) <= 0.05 * theirs, f"{query}: the server's log has {theirs} ms\n{text}")
    waited = re.findall(r"^@lock_us\[(.*)\]: (\d+)$", text, re.M)
    need([query for query, _ in waited] == [blocked] and 200000 <= int(waited[0][1]) <= value(text, f"@total_us[{blocked}]"), text)


def mysql_waits(acu):
    counts = "select variable_value from information_schema.global_status where variable_name = '%s'"
    with MariaDB() as server:
        server.ask("create table needles (id int primary key, n int); insert into needles select seq, 0 from seq_1_to_9")
        said = []

        def load():
            waits = int(server.ask(counts % "INNODB_ROW_LOCK_WAITS")), int(server.ask(counts % "INNODB_ROW_LOCK_TIME"))
            for _ in range(2):
                holder = server.session()
                holder("begin; update needles set n = 1 where id = 7;")
                waiting = threading.Thread(target=server.run, args=("update needles set n = 2 where id = 7",))
                waiting.start()
                wait_until(lambda: server.waits("info like 'update%' and time_ms > 0"), "the wait for a row")
                time.sleep(0.15)
                holder("commit;")
                waiting.join()
            server.ask("select sleep(0.2)")
            said.extend((int(server.ask(counts % "INNODB_ROW_LOCK_WAITS")) - waits[0], int(server.ask(counts % "INNODB_ROW_LOCK_TIME")) - waits[1]))

        text = trace(acu, "mysql-waits.bt", load, [SERVER])
    found = {kind: (int(count), int(us)) for kind, count, us in re.findall(r"^@us\[(\w+)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M)}
    need(found["row_lock"][0] == said[0] == 2 and abs(found["row_lock"][1] / 1000 - said[1]) <= 10 + 0.1 * said[1], f"the server has {said}:\n" + text)
    need(found["sleep"][0] == 1 and 200000 <= found["sleep"][1] <= 2000000 and found["network"][0] >= 4, text)


def mysql_handlers(acu):
    queries = ["select count(*) from needles where n = 5", "select * from needles where id = 7", "delete from needles where id < 10",
               "update needles set n = 3 where id = 20", "select max(id) from needles", "insert into needles values (2000, 1)"]
    said = []
    with MariaDB() as server:
        server.ask("create table needles (id int primary key, n int); insert into needles select seq, seq from seq_1_to_1000")

        def load():
            told = server.ask("flush status; " + "; ".join(queries) + "; show session status like 'Handler\\_%'")
            said.append(dict(re.findall(r"^(Handler_\w+)\t(\d+)$", told, re.M)))

        text = trace(acu, "mysql-handlers.bt", load, [SERVER])
    ours = dict(re.findall(r"^@rows\[(\w+)\]: (\d+)$", text, re.M))
    by_query = {query: int(rows) for query, rows in re.findall(r"^@query_rows\[(.*)\]: (\d+)$", text, re.M)}
    # SHOW reads its own rows, after those that it shows.
    ours["Handler_read_rnd_next"] = str(int(ours["Handler_read_rnd_next"]) - by_query["show session status like 'Handler\\_%'"])
    for kind in ("read_rnd_next", "read_next", "read_key", "read_first", "read_last", "update", "delete", "write"):
        need(ours.get("Handler_" + kind, "0") == said[0]["Handler_" + kind], f"{kind}: the server has {said[0]}\n" + text)
    need(by_query[queries[0]] == 1001 and by_query[queries[1]] == 1, text)


STATEMENTS = """\
import sqlite3
base = sqlite3.connect(":memory:", isolation_level=None)
base.execute("create table needles (n int)")
for n in range(50):
  base.execute("insert into needles values (?)", (n,))
print(len(base.execute("select * from needles where n < ?", (10,)).fetchall()))
first = base.execute("select n from needles").fetchone()
base.execute("with recursive r(n) as (select 1 union all select n + 1 from r where n < 300000) select count(*) from r").fetchall()
"""


def sqlite_statements(acu):
    program = os.path.join(TMP, "acu_sqlite.py")
    with open(program, "w") as out:
        out.write(STATEMENTS)
    text = trace(acu, "sqlite-statements.bt", lambda: subprocess.run(["/usr/bin/python3", program], timeout=60 * SLOWNESS, check=True, stdout=subprocess.DEVNULL),
                 ["--", "--name=python3"])
    found = lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +python3 +(\d+) +(\d+) +(\d+) (.*)")
    inserts = [f for f in found if f[3] == "insert into needles values (?)"]
    need(len(inserts) == 50 and all(f[2] == "0" for f in inserts), text)
    need([f[2] for f in found if f[3] == "select * from needles where n < ?"] == ["10"], text)
    need([int(f[2]) <= 2 for f in found if f[3] == "select n from needles"] == [True], text)
    slow = [int(f[0]) for f in found if f[3].startswith("with recursive")]
    need(len(slow) == 1 and slow[0] >= 5000, text)
    counted = re.search(r"^@total_us\[insert into needles values \(\?\)\]: \{ \.count = (\d+),", text, re.M)
    need(counted and counted[1] == "50", text)


TESTS = [mysql_queries, mysql_statements, mysql_waits, mysql_lockwaits, mysql_handlers, sqlite_statements]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
