"""Real servers for planted.py: nginx, Redis and PostgreSQL, each with a load that never ends. All are on loopback, in a temporary folder.

Each function is a context manager: it starts the server that `variant` asks for, "has" (what is planted), "twin" or "decoy", and gives the process that is asked
about.
"""
import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from tally import SLOWNESS, Skipped, need

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
DISK = os.environ.get("ACU_TEST_DISK", "/var/tmp")  # a flush of a tmpfs takes no time
POSTGRES = "/usr/lib/postgresql/15/bin"


@contextlib.contextmanager
def running(*words, **more):
    """A program in a session of its own, all of which ends with it."""
    if not shutil.which(words[0]):
        raise Skipped(f"there is no {words[0]} here")
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more}
    program = subprocess.Popen(words, start_new_session=True, **options)
    try:
        yield program.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


@contextlib.contextmanager
def folder_of(user=None, below=None):
    path = tempfile.mkdtemp(prefix="acu-why-", dir=below)
    try:
        if user:
            os.chown(path, user.pw_uid, user.pw_gid)
        else:
            os.chmod(path, 0o755)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def wait_for(look, what):
    for _ in range(int(100 * SLOWNESS)):
        with contextlib.suppress(OSError):
            if found := look():
                return found
        time.sleep(0.1)
    need(False, f"{what} does not start")


def children_of(pid):
    return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def put(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    return path


def connects(port):
    return lambda: socket.create_connection(("127.0.0.1", port), 1).close() or True


# ---- Redis

@contextlib.contextmanager
def redis(options, load):
    """`load`: arguments of redis-benchmark."""
    with folder_of(below=DISK) as folder:
        port = str(free_port())
        with running("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder, *options) as pid:
            wait_for(connects(int(port)), "redis-server")
            subprocess.run(["redis-benchmark", "-p", port, "-r", "100000", "-n", "200000", "-P", "32", "-q", "-t", "set"], stdout=subprocess.DEVNULL, check=True,
                           timeout=60 * SLOWNESS)
            with running("redis-benchmark", "-p", port, "-n", "1000000000", "-q", *load):
                time.sleep(1)
                yield pid


def redis_flush(variant):
    """Each change is made durable by itself."""
    return redis(["--appendonly", "yes", "--appendfsync", "always" if variant == "has" else "everysec"], ["-c", "1", "-t", "set"])


def redis_keys(variant):
    """Requests go through all keys."""
    return redis([], ["-c", "2", "keys", "nothing:*"] if variant == "has" else ["-c", "8", "-t", "get"])


# ---- PostgreSQL

@contextlib.contextmanager
def postgres(settings):
    """Its folder, for pgbench, and the process."""
    if not os.path.exists(POSTGRES):
        raise Skipped(f"there is no {POSTGRES} here")
    user = pwd.getpwnam("postgres")
    become = {"user": user.pw_uid, "group": user.pw_gid}
    with folder_of(user, DISK) as folder:
        data = os.path.join(folder, "data")
        subprocess.run([f"{POSTGRES}/initdb", "-D", data, "-A", "trust", "--no-sync", "--locale=C"], check=True, timeout=60 * SLOWNESS, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **become)
        with running(f"{POSTGRES}/postgres", "-D", data, "-k", folder, "-h", "", *(word for s in settings for word in ("-c", s)), cwd=folder, **become) as pid:
            ask = lambda query: subprocess.run([f"{POSTGRES}/psql", "-h", folder, "-U", "postgres", "-q", "-X", "-c", query], capture_output=True, timeout=30 * SLOWNESS)
            wait_for(lambda: ask("create table rows (n int)").returncode == 0, "PostgreSQL")
            yield folder, pid


def client_words(folder, query):
    return [f"{POSTGRES}/pgbench", "-h", folder, "-U", "postgres", "-n", "-T", "1000000", "-c", "1", "-f", put(folder, "query.sql", query), "postgres"]


@contextlib.contextmanager
def postgres_commits(variant):
    """Each row is a transaction of its own, and waits for the disk."""
    with postgres(["synchronous_commit=" + ("on" if variant == "has" else "off")]) as (folder, server), running(*client_words(folder, "insert into rows values (1);")) as client:
        time.sleep(1)
        is_backend = lambda pid: b"INSERT" in (text := open(f"/proc/{pid}/cmdline", "rb").read()) or b"[local]" in text
        yield wait_for(lambda: next(filter(is_backend, children_of(server)), None), "a backend")


# ---- servers that are asked over TCP

@contextlib.contextmanager
def upstream(delay):
    """A server in Python that answers after so many seconds; its port."""
    code = ("import socketserver, time\n"
            "class H(socketserver.BaseRequestHandler):\n"
            "  def handle(self):\n"
            "    while self.request.recv(4096):\n"
            f"      time.sleep({delay})\n"
            "      self.request.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')\n"
            "class S(socketserver.ThreadingTCPServer):\n"
            "  allow_reuse_address = daemon_threads = True\n"
            "S(('127.0.0.1', PORT), H).serve_forever()\n")
    port = free_port()
    with running(PYTHON, "-c", code.replace("PORT", str(port))):
        wait_for(connects(port), "the server")
        yield port


ASKS = """
import socket, sys
port, path = int(sys.argv[1]), sys.argv[2]
s = socket.create_connection(("127.0.0.1", port))
while True:
    s.sendall(b"GET %s HTTP/1.1\\r\\nHost: here\\r\\n\\r\\n" % path.encode())
    got = s.recv(65536)
    if not got or b"Connection: close" in got: s = socket.create_connection(("127.0.0.1", port))
"""
NGINX = """
MODULES
daemon off; worker_processes 1; error_log stderr crit; pid FOLDER/nginx.pid; LIMITS
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/body; fastcgi_temp_path FOLDER/body; scgi_temp_path FOLDER/body; uwsgi_temp_path FOLDER/body;
  lua_package_path "FOLDER/?.lua;;";
  UPSTREAM
  server { listen 127.0.0.1:PORT; root FOLDER; LOCATION }
}
"""
LUA = "load_module /usr/lib/nginx/modules/ndk_http_module.so; load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;"


@contextlib.contextmanager
def nginx(location, path="/", clients=1, upstream="", limits="", modules=""):
    """Its worker, with clients that ask one after the other."""
    with folder_of() as folder:
        port = free_port()
        text = NGINX if modules else NGINX.replace('lua_package_path "FOLDER/?.lua;;";', "")
        for name, value in {"MODULES": modules, "LIMITS": limits, "UPSTREAM": upstream, "LOCATION": location, "FOLDER": folder, "PORT": str(port)}.items():
            text = text.replace(name, value)
        put(folder, "index.html", "here\n" * 20)
        put(folder, "work.lua", WORK)
        with contextlib.ExitStack() as all_of_it:
            server = all_of_it.enter_context(running("/usr/sbin/nginx", "-e", "stderr", "-p", folder, "-c", put(folder, "nginx.conf", text)))
            wait_for(connects(port), "nginx")
            for _ in range(clients):
                all_of_it.enter_context(running(PYTHON, "-c", ASKS, str(port), path))
            time.sleep(1)
            yield wait_for(lambda: children_of(server), "a worker of nginx")[0], port


@contextlib.contextmanager
def nginx_upstream(variant):
    """It waits for the server behind it."""
    with upstream(0.03 if variant == "has" else 0) as port:
        behind = f"upstream behind {{ server 127.0.0.1:{port}; keepalive 4; }}"
        with nginx('location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; }', upstream=behind) as (pid, _):
            yield pid


@contextlib.contextmanager
def nginx_missing(variant):
    """For each request it looks for a page in many places where it is not; the decoy in two."""
    tries = " ".join(f"/theme{i}/pages$uri" for i in range({"has": 60, "twin": 0, "decoy": 2}[variant]))
    with nginx(f"location / {{ try_files {tries} /index.html; }}" if tries else "", "/page.html" if tries else "/index.html", clients=2) as (pid, _):
        yield pid


@contextlib.contextmanager
def nginx_descriptors(variant):
    """All descriptors are taken by connections that do nothing."""
    with nginx("", limits=f"worker_rlimit_nofile {60 if variant == 'has' else 4000};") as (pid, port), contextlib.ExitStack() as idle:
        for _ in range(100):
            with contextlib.suppress(OSError):
                idle.enter_context(socket.create_connection(("127.0.0.1", port), 1))
        yield pid


WORK = """
local function part(n) local out = {} for i = 1, n do out[i] = tostring(i) end return #table.concat(out) end
local function parts() return part(100) + part(101) + part(102) end
local function rank(n) local sum = 0 for i = 1, n do sum = (sum * 31 + i) % 1000003 end return sum end
return function(has) local n = parts() if has then n = n + rank(200000) end ngx.say(n) end
"""


@contextlib.contextmanager
def nginx_lua(variant):
    """One function in Lua has most of the time."""
    if not os.path.exists("/usr/lib/nginx/modules/ngx_http_lua_module.so"):
        raise Skipped("nginx has no module for Lua here")
    code = f'content_by_lua_block {{ require("work")({"true" if variant == "has" else "false"}) }}'
    with nginx(f"location / {{ {code} }}", modules=LUA, clients=2) as (pid, _):
        yield pid


ACCEPTS = """
import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=int(sys.argv[2]))
while True:
    c, _ = s.accept()
    time.sleep(float(sys.argv[3]))
    c.close()
"""
KNOCKS = """
import socket, sys, threading
def knock():
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).recv(1)
        except OSError:
            pass
for _ in range(40): threading.Thread(target=knock, daemon=True).start()
threading.Event().wait()
"""


@contextlib.contextmanager
def accept_queue(variant):
    """Connections come faster than they are accepted, and the queue is short; the twin has a long one, the decoy is quick."""
    port, backlog, delay = free_port(), {"has": 4, "twin": 200, "decoy": 4}[variant], 0 if variant == "decoy" else 0.02
    with running(PYTHON, "-c", ACCEPTS, str(port), str(backlog), str(delay)) as pid:
        time.sleep(0.5)
        with running(PYTHON, "-c", KNOCKS, str(port)):
            time.sleep(1)
            yield pid
