"""The tools of tools/static, each on a running program and on its core: the same numbers, and the right ones."""
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from common import ENVIRONMENT, HERE, LIMIT, SLOWNESS, Skipped, acu_core, call, end, gcore, need, path, program, start

ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "tools"))
import nginx_source
import pages
from packages import Missing

PAUSE = ("--max-pause", f"{int(10 * SLOWNESS)}s")  # a machine may be busy


def tool(name):
    return os.path.join(ROOT, "tools", "static", name + ".bt")


def answer(done):
    """What a tool printed; it was neither warned of nor cut short."""
    need(done.returncode == 0 and "WARNING" not in done.stderr, f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def snap(acu, pid, name, *more):
    text = answer(call(acu, "snap", "-p", pid, *PAUSE, tool(name), *more))
    pages.seen(name, ("-p", str(pid), *more), text)
    return text


def of_core(acu, core, name, *more):
    text = answer(call(acu, "core", core, tool(name), *more))
    pages.seen(name, (os.path.basename(core), *more), text)
    return text


def live_and_dead(acu, pid, name, *more):
    """What a tool says of a stopped process (SIGSTOP), which must be what it says of its core."""
    os.kill(pid, signal.SIGSTOP)
    live = snap(acu, pid, name, *more)
    core = gcore(pid, "tool")
    try:
        dead = of_core(acu, core, name, *more)
    finally:
        os.unlink(core)
    need(live == dead, f"--- live\n{live}--- core\n{dead}")
    return live


# ---------------------------------------------------------------------------------------------- CPython

PYTHON = """
import threading, time
class Needle:
    __slots__ = ("a", "b")
    def __init__(self, a): self.a = a; self.b = [a]
keep = [Needle(i) for i in range(1234)]
sessions = {f"key{i}": i for i in range(54321)}
def inner(n):
    if n:
        return inner(n - 1)
    time.sleep(100000)
class Worker:
    def go(self):
        started.release()
        inner(3)
started = threading.Semaphore(0)
for _ in range(2):
    threading.Thread(target=Worker().go, daemon=True).start()
    started.acquire()
def wait_here():
    print("ready", flush=True)
    time.sleep(100000)
wait_here()
"""


def described_python(acu):
    """CPython 3.11 with debug information, and a script for it."""
    source = path("needles.py")
    with open(source, "w") as out:
        out.write(PYTHON)
    asked = []
    for name in ("/usr/bin/python3.11", shutil.which("python3.11"), shutil.which("python3")):
        if not name or not os.path.exists(name) or name in asked:
            continue
        asked.append(name)
        process = start(name, source)
        known = call(acu, "snap", "-p", process.pid, *PAUSE, "-e",
                     'oneshot { if (has_var("_PyRuntime") && has_field("struct _is", "gc") && has_field("struct _ts", "cframe")) '
                     '{ printf("known\\n"); } }')
        if known.stdout == "known\n":
            return process
        end(process)
    raise Skipped("no CPython 3.11 with debug information here (python3.11-dbg has it)")


def wait_for_sleep(pid):
    """Until all threads of a process sleep."""
    limit = time.monotonic() + LIMIT
    tasks = f"/proc/{pid}/task"
    while any(open(f"{tasks}/{t}/stat").read().rsplit(")")[1].split()[0] != "S" for t in os.listdir(tasks)):
        need(time.monotonic() < limit, "the program does not come to rest")
        time.sleep(0.02)


def of_python(acu, tool):
    """What a tool tells of a waiting Python, and its id."""
    process = described_python(acu)
    try:
        wait_for_sleep(process.pid)
        return live_and_dead(acu, process.pid, tool), process.pid
    finally:
        end(process)


def py_stacks(acu):
    text, pid = of_python(acu, "py-stacks")
    source = re.escape(path("needles.py"))
    need(len(re.findall(r"^thread \d+$", text, re.M)) == 3, text)
    need(len(re.findall(rf"^  inner at {source}:11\n(  inner at {source}:10\n){{3}}  Worker.go at {source}:15\n  Thread.run at \S+threading.py:\d+$",
                        text, re.M)) == 2, text)
    need(re.search(rf"^thread {pid}\n  wait_here at {source}:22\n  <module> at {source}:23$", text, re.M), text)


def py_objects(acu):
    text, _ = of_python(acu, "py-objects")
    need("@objects[Needle]: 1234\n" in text, text)
    need(re.search(r"^@biggest_dicts\[sessions, 0x[0-9a-f]+\]: 54321$", text, re.M), text)
    need(re.search(r"^@lists\[0x[0-9a-f]+\]: 1234$", text, re.M), text)


# ------------------------------------------------------------------------------------------------ locks

def locks(acu):
    """A deadlock: its circle, with the names of both locks and both stacks; who else waits."""
    process = start(program("locks"))
    try:
        limit = time.monotonic() + LIMIT
        while True:  # the three threads get to their locks
            text = snap(acu, process.pid, "locks")
            if re.search(r"^accounts: held by thread \d+ \(locks\), 2 waiting$", text, re.M) and "journal: " in text:
                break
            need(time.monotonic() < limit, text)
        text = live_and_dead(acu, process.pid, "locks")
    finally:
        end(process)
    circle = text[text.index("DEADLOCK\n"):]
    need(text.count("DEADLOCK") == 1 and len(re.findall(r"^  thread \d+ ", circle, re.M)) == 2, text)
    first = re.search(r"thread (\d+) \(locks\) waits for (\w+), held by thread (\d+)\n(?:        .*\n)*", circle)
    second = re.search(r"thread (\d+) \(locks\) waits for (\w+), held by thread (\d+)\n(?:        .*\n)*", circle[first.end():])
    need(first[1] == second[3] and second[1] == first[3], text)
    need({first[2], second[2]} == {"accounts", "journal"}, text)
    for said in (first, second):
        need(re.search(r"^        (pay|audit)\+\d+$", said[0], re.M), text)


# ------------------------------------------------------------------------------------------------ nginx

# A handler with a bug: whoever opens the file dies.
BUG = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
static int crash_at(const char *path, int flags, int mode) {
  if (strstr(path, "crash")) *(volatile int *)0 = 1;
  return openat(AT_FDCWD, path, flags, mode);
}
int open(const char *path, int flags, ...) { va_list a; va_start(a, flags); int m = va_arg(a, int); va_end(a); return crash_at(path, flags, m); }
int open64(const char *path, int flags, ...) { va_list a; va_start(a, flags); int m = va_arg(a, int); va_end(a); return crash_at(path, flags, m); }
"""


class Nginx:
    """A server with one worker, on a free port; /slow.txt takes forever, /crash.txt ends the worker with SIGSEGV."""

    def __init__(self):
        try:
            server = nginx_source.nginx()
        except Missing as why:
            raise Skipped(str(why)) from None
        self.folder = path("nginx")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        for name, size in (("slow.txt", 3000000), ("crash.txt", 1)):
            with open(os.path.join(self.folder, name), "w") as out:
                out.write("x" * size)
        bug = os.path.join(self.folder, "bug")
        with open(bug + ".c", "w") as out:
            out.write(BUG)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", bug + ".so", bug + ".c"], check=True, timeout=LIMIT)
        places = " ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = os.path.join(self.folder, "conf")
        with open(conf, "w") as out:
            out.write(f"user root; worker_processes 1; daemon off; pid {self.folder}/pid; working_directory {self.folder};\n"
                      f"worker_rlimit_core 500m; events {{ worker_connections 64; }}\n"
                      f"http {{ {places} access_log off; limit_req_zone $binary_remote_addr zone=needle:1m rate=1000r/s;\n"
                      f"server {{ listen 127.0.0.1:{self.port}; root {self.folder}; location /slow.txt {{ limit_rate 1k; }} }} }}\n")
        self.process = subprocess.Popen([server, "-p", self.folder, "-c", conf, "-e", os.path.join(self.folder, "error.log")],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(ENVIRONMENT, LD_PRELOAD=bug + ".so"))
        self.sockets = []
        limit = time.monotonic() + LIMIT
        while True:
            try:
                self.connect()
                return
            except OSError:
                if time.monotonic() > limit or self.process.poll() is not None:
                    self.stop()
                    raise Skipped("nginx does not start") from None
                time.sleep(0.05)

    def connect(self):
        self.sockets.append(socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT))
        return self.sockets[-1]

    def ask(self, what):
        """What it answers first; the connection stays."""
        with_answer = self.connect()
        with_answer.sendall(f"GET {what} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        try:
            return with_answer.recv(64)
        except ConnectionError:
            return b""

    def worker(self):
        return int(open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()[0])

    def stop(self):
        for s in self.sockets:
            s.close()
        self.process.terminate()
        self.process.wait(timeout=LIMIT)


def nginx_state(acu):
    server = Nginx()
    worker = 0
    try:
        need(server.ask("/slow.txt?id=7").startswith(b"HTTP/1.1 200"), "no answer")
        need(server.ask("/nothing").startswith(b"HTTP/1.1 404"), "no answer")
        worker = server.worker()
        wait_for_sleep(worker)
        text = live_and_dead(acu, worker, "nginx-state")
    finally:
        if worker:
            os.kill(worker, signal.SIGCONT)
        server.stop()
    need(len(re.findall(r"^  127\.0\.0\.1  GET /slow\.txt\?id=7 HTTP/1\.1  by ngx_http_core_content_phase, then ngx_http_\w+, \d+ ms, pool \d+ B$",
                        text, re.M)) == 1, text)
    for line in ("@connections[in a request]: 1", "@connections[idle]: 1", "@connections[listening]: 1", "@connections[to the master]: 1",
                 "@connections[waiting for a request]: 1", "  needle, 1024 KiB"):
        need(line + "\n" in text, line + "\n" + text)
    need(int(re.search(r"^timers: (\d+)$", text, re.M)[1]) >= 2, text)


def nginx_crash(acu):
    """A worker that died of SIGSEGV while it served: the request and its client."""
    pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    if "/" in pattern or pattern.startswith("|"):
        raise Skipped(f"cores go to {pattern}")
    server = Nginx()
    try:
        need(server.ask("/slow.txt").startswith(b"HTTP/1.1 200"), "no answer")
        worker = server.worker()
        need(server.ask("/crash.txt?who=needle") == b"", "it lives")
        limit = time.monotonic() + LIMIT
        while os.path.exists(f"/proc/{worker}"):
            need(time.monotonic() < limit, "it lives")
            time.sleep(0.05)
        cores = [n for n in os.listdir(server.folder) if n.startswith("core")]
        need(len(cores) == 1, str(os.listdir(server.folder)))
        core = os.path.join(server.folder, cores[0])
        request = of_core(acu, core, "nginx-request")
        text = of_core(acu, core, "nginx-state")
        summary = acu_core(acu, core)
    finally:
        server.stop()
    need(request == "request   GET /crash.txt?who=needle HTTP/1.1, client 127.0.0.1, host here\n", request)
    need("in the innermost call: GET /crash.txt?who=needle HTTP/1.1, client 127.0.0.1\n" in text, text)
    need(re.search(r"^  127\.0\.0\.1  GET /crash\.txt\?who=needle HTTP/1\.1 ", text, re.M) and "GET /slow.txt" in text, text)
    need(summary.endswith("\nrequest   GET /crash.txt?who=needle HTTP/1.1, client 127.0.0.1, host here\n"), summary)
    need(re.search(r"^   0  crash_at", summary, re.M) is not None, summary)
    need("SIGSEGV" in summary and "crash_at" in summary and "ngx_http_core_run_phases" in summary, summary)


# ------------------------------------------------------------------------------------------- any program

def stdio(acu):
    process = start(program("unflushed"), path("unflushed.log"))
    try:
        wait_for_sleep(process.pid)
        text = live_and_dead(acu, process.pid, "stdio")
    finally:
        end(process)
    need(re.search(r'^fd \d+: 9 B not written: "one\\x0a"two""$', text, re.M), text)
    need('fd 1: 15 B not written: "processing 4711"\n' in text and text.count("\n") == 2, text)


# ------------------------------------------------------------------------------------------------ redis

def redis_state(acu):
    try:
        server = nginx_source.redis()
    except Missing as why:
        raise Skipped(str(why)) from None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", path()],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + LIMIT
        while True:
            try:
                client = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
                break
            except OSError:
                need(time.monotonic() < limit and process.poll() is None, "redis does not start")
                time.sleep(0.05)
        with client, client.makefile("rb") as answers:
            def ask(*words):
                client.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in map(str.encode, words)))
                return answers.readline()

            for i in range(500):
                ask("set", f"key:{i}", str(i))
            ask("set", "needle", "x" * 81920)
            ask("expire", "needle", "10000")
            ask("rpush", "jobs", *map(str, range(5000)))
            ask("hset", "small", *map(str, range(20)))
            ask("select", "3")
            ask("sadd", "names", *(f"n{i}" for i in range(700)))
            ask("zadd", "ranks", *(w for i in range(300) for w in (str(i), f"r{i}")))
            need(ask("xadd", "events", "1-1", "a", "b").startswith(b"$"), "redis does not answer")
            answers.readline()
            ask("ping")
            text = live_and_dead(acu, process.pid, "redis-state")
    finally:
        process.kill()
        process.wait()
    for line in ("db 0: 503 keys, 1 expire", "db 3: 3 keys, 0 expire", "@keys[string]: 501", "@elements[0, jobs]: 5000", "@elements[0, small]: 10",
                 "@elements[3, names]: 700", "@elements[3, ranks]: 300", "@elements[3, events]: 1", "@strings[0, needle]: 81920"):
        need(line + "\n" in text, line + "\n" + text)
    need(len(re.findall(r"^client \d+: fd \d+, last command ping, \d+ B asked, \d+ B to send$", text, re.M)) == 1, text)


# ----------------------------------------------------------------------------------------------- LuaJIT

LUA = """
sessions = {}
for i = 1, 5000 do sessions["key" .. i] = { id = i } end
package.loaded.app = { deep = { list = { string.rep("x", 100000) } } }
local function inner(n)
  if n > 0 then return (inner(n - 1)) end
  print("ready") io.stdout:flush()
  io.read()
end
waiting = coroutine.create(function()
  coroutine.yield({ 1, 2, 3 })
end)
coroutine.resume(waiting)
local function serve(...) inner(2) end
serve(1, 2)
"""


def lj_objects(acu):
    """Objects by type, the largest with the way to them, the stacks of all coroutines; also of a state that is named."""
    try:
        lua = nginx_source.luajit()
    except Missing as why:
        raise Skipped(str(why)) from None
    source = path("needle.lua")
    with open(source, "w") as out:
        out.write(LUA)
    process = subprocess.Popen([lua, "needle.lua"], cwd=path(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        need(process.stdout.readline() == "ready\n", "luajit does not start")
        wait_for_sleep(process.pid)
        text = live_and_dead(acu, process.pid, "lj-objects")
        main = re.search(r"^coroutine (0x[0-9a-f]+) \(running, main\)$", text, re.M)[1]
        named = snap(acu, process.pid, "lj-objects", "--", "--state=" + main, "--top=3")
    finally:
        process.kill()
        process.communicate()
    need(re.search(r"^collector: \d+ B in use, next turn at \d+ B, \w+", text), text)
    count, size = (int(re.search(rf"^@{what}\[table\]: (\d+)$", text, re.M)[1]) for what in ("objects", "bytes"))
    need(5003 <= count < 5100 and 700000 < size < 800000, text)
    need(re.search(r"^196672 B  table 0x[0-9a-f]+ at _G\.sessions$", text, re.M), text)
    need(re.search(r"^100025 B  string 0x[0-9a-f]+ at (?:registry\._LOADED|_G\.package\.loaded)\.app\.deep\.list\.\[\]$", text, re.M), text)
    need(re.search(r"^coroutine 0x[0-9a-f]+ \(waits\)\n  lj_ffh_coroutine_yield\n  needle.lua:11 in function <needle.lua:10>$", text, re.M), text)
    need(re.search(r" \(running, main\)\n  lj_cf_io_read\n  needle.lua:8 in function <needle.lua:5>\n(  needle.lua:6 in function <needle.lua:5>\n){2}"
                   r"  needle.lua:14 in function <needle.lua:14>\n  needle.lua:15 in function <needle.lua:0>\n  pmain\n", text), text)
    need(text.split("the largest\n")[1].splitlines()[:3] == named.split("the largest\n")[1].splitlines()[:3], named)


# ------------------------------------------------------------------------------------------- PostgreSQL

class Postgres:
    """A server of the distribution's package, which listens in its own folder only, and a session with it."""

    def __init__(self):
        found = glob.glob("/usr/lib/postgresql/15/bin/initdb")
        if not found or not shutil.which("psql") or os.geteuid():
            raise Skipped("no PostgreSQL 15 here, or not root, who may start it as its user")
        self.folder = tempfile.mkdtemp(prefix="acu-pg-")
        owner = pwd.getpwnam("postgres")
        os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self.as_user = {"user": "postgres", "group": "postgres", "cwd": self.folder}
        programs = os.path.dirname(found[0])
        subprocess.run([found[0], "-D", "data", "-N", "-A", "trust"], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL, **self.as_user)
        self.server = subprocess.Popen([programs + "/postgres", "-D", "data", "-k", self.folder, "-c", "listen_addresses=", "-F"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.as_user)
        self.client = None
        limit = time.monotonic() + LIMIT
        while not os.path.exists(os.path.join(self.folder, ".s.PGSQL.5432")):
            need(time.monotonic() < limit and self.server.poll() is None, "the server does not start")
            time.sleep(0.05)
        while True:
            self.client = subprocess.Popen(["psql", "-h", self.folder, "-U", "postgres", "-qAt", "dbname=postgres application_name=needle"],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **self.as_user)
            try:
                self.pid = int(self.ask("select pg_backend_pid();"))
                return
            except (ValueError, BrokenPipeError):  # it is still starting
                need(time.monotonic() < limit, "the server gives no session")
                self.client.communicate()

    def tell(self, text):
        self.client.stdin.write(text + "\n")
        self.client.stdin.flush()

    def ask(self, text):
        self.tell(text)
        return self.client.stdout.readline().strip()

    def stop(self):
        if self.client:
            self.client.kill()
            self.client.communicate()
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait(timeout=LIMIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def pg_state(acu):
    """A backend that is idle in a transaction, and one that runs a query; its memory contexts as the server counts them."""
    postgres = Postgres()
    try:
        postgres.tell("begin;")
        contexts = dict(line.split("|") for line in postgres.ask("select string_agg(name || '|' || bytes, ';') from (select name, sum(total_bytes) as "
                        "bytes from pg_backend_memory_contexts group by name) as all_of_them;").split(";"))
        wait_for_sleep(postgres.pid)
        idle = snap(acu, postgres.pid, "pg-state", "--", "--top=100")
        postgres.tell("select pg_sleep(1000) /* needle */;")
        limit = time.monotonic() + LIMIT
        while "\nrunning" not in snap(acu, postgres.pid, "pg-state"):
            need(time.monotonic() < limit, "the query does not run")
        text = live_and_dead(acu, postgres.pid, "pg-state")
        os.kill(postgres.pid, signal.SIGCONT)
        master = snap(acu, postgres.server.pid, "pg-state")
        other = call(acu, "snap", "-p", os.getpid(), *PAUSE, tool("pg-state"))
    finally:
        postgres.stop()
    need(f'process {postgres.pid}, client backend, application "needle"\nidle in a transaction; waits for the client (event 0x6000000)\n'
         "last query: select string_agg" in idle, idle)
    for name in ("CacheMemoryContext", "TopMemoryContext", "index info", "TopTransactionContext"):
        need(f"@bytes[{name}]: {contexts[name]}\n" in idle, f"{name}: {contexts[name]}\n{idle}")
    # The server names these by what they are for.
    need(f'{contexts["Timezones"]} B  dynahash "Timezones" at TopMemoryContext\n' in idle, idle)
    need(int(contexts["CacheMemoryContext"]) >= 1 << 18, str(contexts))
    need("\nrunning, in a transaction; waits for a timeout (event 0x9000002)\nquery: select pg_sleep(1000) /* needle */;\n" in text, text)
    need(re.search(r"^\d+ B  CacheMemoryContext at TopMemoryContext$", text, re.M), text)
    need(", postmaster\n" in master and "hba parser context" in master, master)
    need(other.returncode and "TopMemoryContext" in other.stderr, other.stdout + other.stderr)


# -------------------------------------------------------------------------------------------------- C++

CONTAINERS = r'''import "libstdcxx.bt"
oneshot {
  $s = (int64)0;
  for ($i : 0..std_vector_size(target.numbers)) { $s += std_vector_at(target.numbers, $i); }
  printf("vector %d %d\n", std_vector_size(target.numbers), $s);
  printf("orders %d %d %s\n", std_vector_size(target.orders), std_vector_at(target.orders, 5).id, std_string(std_vector_at(target.orders, 5).who));
  printf("string %s %d\n", std_string(target.shortText), std_string_size(target.longText));
  $s = (int64)0;
  for ($n = std_map_first(target.ages); !std_map_is_end(target.ages, $n); $n = std_tree_next($n)) { $s += *(int64 *)std_tree_value($n); }
  printf("map %d %d\n", std_map_size(target.ages), $s);
  $s = (int64)0;
  for ($n : list(std_unordered_first(target.hashed), _M_nxt)) { $s += *(int64 *)std_unordered_value($n); }
  printf("unordered %d %d\n", std_unordered_size(target.hashed), $s);
  $s = (int64)0;
  for ($n = std_list_first(target.queue); !std_list_is_end(target.queue, $n); $n = $n->_M_next) { $s += *(int32 *)std_list_value($n); }
  printf("list %d %d\n", std_list_size(target.queue), $s);
  printf("deque %d %d %d\n", std_deque_size(target.window), std_deque_at(target.window, 0), std_deque_at(target.window, 249));
  printf("shared %d %s %d\n", std_shared_get(target.shared)->id, std_string(std_shared_get(target.shared)->who), std_shared_owners(target.shared));
  for ($n = std_map_first(target.nothing); !std_map_is_end(target.nothing, $n); $n = std_tree_next($n)) { printf("never"); }
}
'''


def containers(acu):
    """The containers of the C++ library, on a process and on its core."""
    built = path("containers")
    subprocess.run(["g++", "-g", "-O0", "-o", built, os.path.join(HERE, "containers.cc")], check=True, timeout=LIMIT)
    process = start(built)
    try:
        wait_for_sleep(process.pid)
        words = ("-I", os.path.join(ROOT, "tools", "static"), "-e", CONTAINERS)
        live = call(acu, "snap", "-p", process.pid, *PAUSE, *words)
        core = gcore(process.pid, "containers")
    finally:
        end(process)
    dead = call(acu, "core", core, *words)
    os.unlink(core)
    need(live.returncode == 0 and dead.returncode == 0 and live.stdout == dead.stdout, live.stdout + live.stderr + dead.stdout + dead.stderr)
    need(live.stdout == "vector 300 44850\norders 300 5 who5\nstring short 100\nmap 300 313950\nunordered 300 44850\nlist 300 44850\n"
         "deque 250 50 299\nshared 7 shared 2\n", live.stdout)


def biggest_containers(acu):
    """Containers found by how they look: each of the program's, by how many elements or bytes it has; none that is empty."""
    built = path("containers-plain")
    subprocess.run(["g++", "-O1", "-o", built, os.path.join(HERE, "containers.cc")], check=True, timeout=LIMIT)
    process = start(built)
    try:
        wait_for_sleep(process.pid)
        text = live_and_dead(acu, process.pid, "cpp-containers")
    finally:
        end(process)
    told = {(kind, where): int(n) for kind, where, n in re.findall(r"^@(?:elements|bytes)\[([\w ]+), (\w+)(?:\[abi:cxx11\])?, 0x[0-9a-f]+\]: (\d+)$", text, re.M)}
    for name, kind, wanted in (("ages", "map or set", 300), ("hashed", "unordered_map or _set", 300), ("queue", "list", 300), ("orders", "vector", 12000),
                               ("numbers", "vector", 2400), ("window", "deque", 2000), ("longText", "string", 100)):
        need(told.get((kind, name)) == wanted, f"{name}\n{text}")
    need("nothing" not in text and "shortText" not in text and len(told) <= 9, text)


def memory_of_others(acu):
    """What looks at all memory is for stopped programs."""
    done = call(acu, "run", "-e", "begin { print(next_chunk(0)); }")
    need(done.returncode == 2 and "of a stopped program" in done.stderr and "acu core FILE" in done.stderr, done.stderr)


TESTS = [biggest_containers, memory_of_others, containers, lj_objects, pg_state, stdio, redis_state, py_stacks, py_objects, locks, nginx_state, nginx_crash]
