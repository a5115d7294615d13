"""Servers in interpreted languages under load, on free ports of loopback: each is a context that yields (process to look at, names of functions that its requests run)."""
import contextlib
import http.client
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench")]
import language_servers
from tally import need

PYTHON = """
import http.server, re, sys
ITEMS = ["item %d of the catalog" % n for n in range(1000)]
def search_catalog(pattern):
    return [item for item in ITEMS if re.search(pattern, item)]
def render_page(items):
    return "".join("<li>%s</li>" % item for item in items).encode()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        page = render_page(search_catalog("[1-4]+ of"))
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextlib.contextmanager
def asked_all_the_time(ask):
    """By one client, on a thread."""
    ends, wrong = threading.Event(), []

    def run():
        try:
            while not ends.is_set():
                ask()
        except Exception as problem:
            wrong.append(problem)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()
    need(not wrong, f"a request failed: {wrong}")


@contextlib.contextmanager
def nginx_with_lua(folder):
    """Its worker is no root's. LuaJIT keeps no names of functions: acu shows the line where one begins."""
    with language_servers.nginx_lua(folder) as (worker, ask), asked_all_the_time(ask):
        uid = re.search(r"^Uid:\s+(\d+)", open(f"/proc/{worker}/status").read(), re.M)[1]
        need(uid != "0", "the worker of nginx is root's")
        lines = language_servers.LUA.split("\n")
        yield worker, {f"work.lua:{n}" for n, line in enumerate(lines, 1) if re.match(r"local function (search|matches|rank|page)\b", line)}


@contextlib.contextmanager
def python(folder):
    program = subprocess.Popen(["/usr/bin/python3", language_servers.put(folder, "server.py", PYTHON)], stdout=subprocess.PIPE, text=True)
    try:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(program.stdout.readline()), timeout=60)) as client:
            def ask():
                client.request("GET", "/")
                answer = client.getresponse()
                if answer.status != 200 or not answer.read():
                    raise RuntimeError(f"status {answer.status}")
            with asked_all_the_time(ask):
                yield program.pid, {"search_catalog", "render_page"}
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
