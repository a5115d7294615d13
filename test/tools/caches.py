"""Tools for Redis, memcached and clients of databases, against what the servers count themselves."""
import os
import re
import shutil
import socket
import subprocess

from common import SLOWNESS, TMP, histogram_total, lines, need, shell, trace, value
from mysql import MariaDB
from postgres import BIN, Postgres
from programs import answers, free_port, wait_until
from tally import Skipped

MS = r" *(\d+\.\d\d\d)"
STAMP = r"\d\d:\d\d:\d\d "


class Redis:
    """A server without a file, on a free port."""

    def __init__(self, *settings):
        if not shutil.which("redis-server") or not shutil.which("redis-cli"):
            raise Skipped("no redis-server here")
        self.port = free_port()
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                         "--enable-debug-command", "yes", "--dir", TMP, "--dbfilename", f"{self.port}.rdb", *settings],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.cli = f"redis-cli -p {self.port} "
        try:
            wait_until(lambda: answers(self.port), "redis-server")
        except BaseException:
            self.stop()
            raise

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *map(str, words)], capture_output=True, text=True, timeout=30 * SLOWNESS).stdout

    def info(self, section, name):
        return int(re.search(rf"^{name}:(\d+)", self.ask("info", section), re.M)[1])

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=20 * SLOWNESS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def redis_latency(acu):
    with Redis() as server:
        slow = "for i = 1, 20 do redis.call('lrange', 'list', 0, -1) end"
        text = trace(acu, "redis-latency.bt", lambda: (server.ask("debug", "populate", 20000, "key", 100), server.ask("rpush", "list", *range(20000)),
                                                       server.ask("debug", "sleep", 0.05), server.ask("eval", slow, 0), server.ask("ping")), ["--", "--min-ms=5"])
    found = lines(text, rf"{STAMP}(\d+) +{MS} +(\d+) +{MS} +{MS} +{MS} +{MS} +{MS} +{MS} {MS} (\w+)")
    by_command = {f[10]: f for f in found}
    need({f[0] for f in found} == {str(server.process.pid)} and "ping" not in by_command, text)
    slept = [f for f in found if f[10] == "debug" and float(f[1]) >= 50 and float(f[9]) >= 50]
    need(slept and all(float(f[3]) <= float(f[1]) <= float(f[3]) + 20 for f in slept), text)
    # The commands of a script count, and their time is within that of the script.
    script = by_command["eval"]
    need(script[2] == "21" and float(script[9]) == float(script[3]) <= float(script[1]), text)
    need(histogram_total(text, "@round_us") >= 10, text)


def redis_forks(acu):
    with Redis("--rdb-key-save-delay", "50", "--rdbcompression", "no") as server:
        subprocess.run(server.cli + "--pipe", input="".join(f"SET key{n} {'x' * 8000}\r\n" for n in range(2000)), shell=True, text=True, check=True,
                       stdout=subprocess.DEVNULL, timeout=30 * SLOWNESS)

        def load():
            server.ask("bgsave")
            subprocess.run(server.cli + "--pipe", input="".join(f"SETRANGE key{n} 4000 y\r\n" for n in range(300)), shell=True, text=True, check=True,
                           stdout=subprocess.DEVNULL, timeout=30 * SLOWNESS)
            wait_until(lambda: server.info("persistence", "rdb_bgsave_in_progress") == 0, "the end of the snapshot")

        text = trace(acu, "redis-forks.bt", load)
        pause = server.info("stats", "latest_fork_usec") / 1000
    found = lines(text, rf"{STAMP}{server.process.pid} +(\d+) +{MS} +{MS} +(\d+) (-?\d+)")
    need(len(found) == 1 and found[0][4] == "0", text)
    # The server's time is that of fork(2) and of what it does before it looks at its clock; another process may run meanwhile.
    need(float(found[0][1]) <= pause + 0.5 and pause <= 3 * float(found[0][1]) + 5, f"the server measured {pause} ms:\n" + text)
    need(float(found[0][2]) >= 100, text)
    need(300 * 4 <= int(found[0][3]) <= 300 * 16, text)


def redis_keys(acu):
    with Redis() as server:
        server.ask("rpush", "list:big", *range(20000))
        load = shell(server.cli + "-r 30 incr user:7:visits; " + server.cli + "-r 20 get user:8:name; " + server.cli + "lrange list:big 0 -1")
        text = trace(acu, "redis-keys.bt", load)
        together = trace(acu, "redis-keys.bt", load, ["--", "--prefix"])
        calls = re.search(r"cmdstat_lrange:calls=2,usec=(\d+)", server.ask("info", "commandstats"))
    need(value(text, "@calls[user:7:visits]") == 30 and value(text, "@calls[user:8:name]") == 20, text)
    slowest = value(text, "@slowest[lrange, list:big]")
    need(calls and 100 <= slowest <= int(calls[1]) + 1000 and value(text, "@us[list:big]") == slowest, text)
    need(value(together, "@calls[user:*]") == 50 and "user:7" not in together, together)


class Memcached:
    """A server on a free port, and a connection to it."""

    def __init__(self):
        if not shutil.which("memcached"):
            raise Skipped("no memcached here")
        self.port = free_port()
        self.process = subprocess.Popen(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(self.port), "-U", "0"], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: answers(self.port), "memcached")
            self.connection = socket.create_connection(("127.0.0.1", self.port))
            self.replies = self.connection.makefile("r", newline="\r\n")
        except BaseException:
            self.stop()
            raise

    def ask(self, command):
        """Sends a command, and returns the lines of its reply."""
        self.connection.sendall(command.encode() + b"\r\n")
        reply = []
        while not reply or reply[-1].split(" ")[0] not in ("END", "STORED", "DELETED", "NOT_FOUND", "HD", "EN") and not reply[-1].isdigit():
            reply.append(self.replies.readline().rstrip("\r\n"))
        return reply

    def counts(self):
        return {words[1]: words[2] for words in (line.split(" ") for line in self.ask("stats")) if words[0] == "STAT"}

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20 * SLOWNESS)


def memcached_commands(acu):
    server = Memcached()
    said = []

    def load():
        for n in range(20):
            server.ask(f"set key{n} 0 0 5\r\nhello")
        for n in range(50):
            server.ask(f"get key{n}")
        for command in ("delete key3", "get key1 key2 key99", "mg key5", "mg missing", "set n 0 0 1\r\n5", "incr n 5"):
            server.ask(command)
        said.append(server.counts())

    try:
        few = trace(acu, "memcached-commands.bt", lambda: [server.ask(f"get key{n % 4}") for n in range(20)], ["--", "--top=3"])
        need(len(lines(few, r"@keys\[key[0-3]\]: 5")) == 3 and "keys looked up 20, hits 0 (0.00%)" in few, few)
        before = server.counts()
        text = trace(acu, "memcached-commands.bt", load, ["--", "--top=100"])
    finally:
        server.stop()
    counts = said[0]
    asked, hits = (int(counts[name]) - int(before[name]) for name in ("cmd_get", "get_hits"))
    need((asked, hits) == (55, 23), str(counts))
    need(f"keys looked up {asked}, hits {hits} (41.81%)" in text.split("\n"), text)
    for command, times in (("set", int(counts["cmd_set"])), ("get", 51), ("mg", 2), ("delete", 1), ("incr", 1)):
        need(histogram_total(text, f"@us[{command}]") == times, text)
    need(value(text, "@keys[key3]") == 3 and value(text, "@misses[missing]") == 1 and "@misses[key1]" not in text, text)


def db_calls(acu):
    """Of psql, libpq's extended protocol (pgbench), mariadb and redis-cli: each query once, with its time."""
    with Postgres("fsync=off") as postgres, MariaDB() as mariadb, Redis() as redis:
        def load():
            postgres.ask("select 'needle'", "select pg_sleep(0.1)")
            script = os.path.join(postgres.folder, "script")
            with open(script, "w") as out:
                out.write("\\set id 5\nselect 7 + :id;\n")
            subprocess.run([os.path.join(BIN, "pgbench"), "-h", postgres.folder, "-U", "postgres", "-n", "-M", "extended", "-t", "10", "-f", script, "postgres"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30 * SLOWNESS)
            mariadb.ask("select sleep(0.2); select 'needle'")
            redis.ask("set", "needle", "thread")
            redis.ask("debug", "sleep", "0.05")
            redis.ask("lrange", "list", 0, 5)

        text = trace(acu, "db-calls.bt", load)
    found = lines(text, rf"\d\d:\d\d:\d\d\.\d{{6}} \d+ +(\S+) +{MS} (\w+) +(\S+) +(\S+) +(.*)")
    by_query = {(f[0], f[2], f[3], f[4], f[5]): float(f[1]) for f in found}
    for query, ms in ((("psql", "postgres", "local", "-", "select 'needle'"), 0), (("psql", "postgres", "local", "-", "select pg_sleep(0.1)"), 100),
                      (("mariadb", "mysql", "local", "-", "select sleep(0.2)"), 200), (("mariadb", "mysql", "local", "-", "select 'needle'"), 0),
                      (("redis-cli", "redis", "127.0.0.1", str(redis.port), "set"), 0), (("redis-cli", "redis", "127.0.0.1", str(redis.port), "debug"), 50),
                      (("redis-cli", "redis", "127.0.0.1", str(redis.port), "lrange"), 0)):
        need(query in by_query and ms <= by_query[query] <= ms + 2000, f"{query}:\n{text}")
    counts = dict(re.findall(r"^@us\[(.*)\]: \{ \.count = (\d+),", text, re.M))
    need(counts.get("pgbench, postgres, select 7 + $1;") == "10" and counts.get("redis-cli, redis, debug") == "1", text)
    need("redis-server" not in text and not [f for f in found if f[0] in ("postgres", "mariadbd")], "a server is no client:\n" + text)


TESTS = [db_calls, redis_latency, redis_forks, redis_keys, memcached_commands]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
