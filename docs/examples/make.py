#!/usr/bin/env python3
"""Regenerates the examples in this directory: make.py ACU [NAME...]

Runs each program, records it as README.md shows, checks that the cause is on top, and writes screenshots of the flame
graphs (with headless Chromium). The tests do the same without screenshots (test/flame). Prints the result of each example.
"""
import contextlib
import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """A program that the example needs is not installed."""


class Example:
    """One run of an example: acu, a temporary directory, how long to record; and the mistakes found."""

    def __init__(self, acu, seconds, screenshots):
        self.acu, self.seconds, self.screenshots = os.path.abspath(acu), seconds, screenshots
        self.folder = tempfile.mkdtemp(prefix="acu-example-")
        os.chmod(self.folder, 0o755)  # servers read it as another user
        self.mistakes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        done = subprocess.run([self.acu, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120)
        if done.returncode:
            raise RuntimeError(f"acu {' '.join(map(str, words))}: {done.stderr}")
        return done

    def record(self, name, words, on_top, search):
        """Records with these arguments and checks that each function of `on_top` has at least the given share of the total."""
        recording = self.path(name + ".acu")
        messages = self.run("record", *words, "--duration", f"{self.seconds}s", "-o", recording).stderr
        about = json.loads(self.run("report", recording, "--json", "--top", "100000").stdout)
        for function, min_share in on_top.items():
            share = sum(f["total"] for f in about["functions"] if re.search(function, f["name"])) / max(1, about["total"])
            if share < min_share:
                self.mistakes.append(f"{name}: {function} has {100 * share:.1f}%, expected at least {100 * min_share:.0f}%: {messages}")
        if self.screenshots:
            take_screenshot(self, recording, name, search)
        return about


def take_screenshot(example, recording, name, search):
    """A screenshot of the page, with search matches highlighted. Loads it twice: for its height, then for the screenshot."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        raise Missing("Chromium is not installed")
    page = example.path("page.html")
    example.run("report", recording, "-o", page)
    look = "const f = document.getElementById('search'); f.value = " + json.dumps(search) + "; f.dispatchEvent(new Event('input'));" \
           "const h = document.createElement('pre'); h.id = 'height'; h.hidden = true; h.textContent = Math.ceil(acu.graph.sheet.getBoundingClientRect().top + acu.graph.layout.rows.length * 20 + 16);" \
           "document.body.append(h);"
    text = open(page).read().replace("</body>", f"<script>{look}</script></body>")
    with open(page, "w") as out:
        out.write(text)
    height = 500
    for more in (["--dump-dom"], ["--screenshot=" + os.path.join(HERE, name + ".png")]):
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                               "--force-prefers-reduced-motion", f"--window-size=1100,{height}", f"--user-data-dir={example.path('browser')}",
                               "--virtual-time-budget=5000", *more, "file://" + page], capture_output=True, text=True, timeout=300)
        found = re.search(r'<pre id="height".*?>(\d+)</pre>', html.unescape(done.stdout))
        height = int(found[1]) if found else height


# ------------------------------------------------------------------------------------------------ programs


@contextlib.contextmanager
def running(*words, **more):
    process = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def children_of(pid):
    return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]


@contextlib.contextmanager
def nginx(example, configuration, *loads):
    """nginx under load; each of `loads` is the arguments of load.py after the port. Yields the PIDs of its workers."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    modules = re.findall(r"^load_module (.*);$", open(os.path.join(HERE, configuration)).read(), re.M)
    if not os.path.exists(program):
        raise Missing("nginx is not installed")
    for module in modules:
        if not os.path.exists(module):
            raise Missing(f"{module} is not installed")
    port = free_port()
    with open(example.path("nginx.conf"), "w") as out:
        out.write(open(os.path.join(HERE, configuration)).read().replace("PORT", str(port)).replace("HERE", HERE))
    for folder in ("body", "www", "logs"):
        os.makedirs(example.path(folder), exist_ok=True)
    for i in range(100):
        with open(example.path(f"www/{i}.html"), "w") as out:
            out.write("x" * 1000)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running(program, "-p", example.folder, "-c", example.path("nginx.conf"), cwd=example.folder))
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.05)
        for load in loads:
            stack.enter_context(running(sys.executable, os.path.join(HERE, "load.py"), port, *load))
        time.sleep(0.5)
        yield children_of(server.pid)


# ------------------------------------------------------------------------------------------------ examples


def files(example):
    paths = ",".join(f"/{i}.html" for i in range(100))
    with nginx(example, "files.conf", *[[paths, 32]] * 3) as workers:
        example.record("files-cpu", ["-F", 999, "-p", workers[0]], {r"^ngx_open_cached_file$": 0.05, r"^open64$": 0.05}, "open|close|stat")
        example.record("files-opens", ["tracepoint:syscalls:sys_enter_openat", "-p", workers[0]], {r"^ngx_open_cached_file$": 0.95}, "open")


def cache(example):
    with nginx(example, "cache.conf", *[["/"]] * 12, ["/count", 1, 0.1]):
        example.record("cache-lock", ["lock", "-u", "www-data"], {r"^ngx_http_lua_ffi_shdict_get$": 0.8, r"^\[waits for ": 0.99}, "shdict|waits")
        example.record("cache-holder", ["holder", "-u", "www-data"], {r"^\[unblocks waiters of ": 0.99, r"^ngx_http_lua_run_thread$": 0.3}, "lua_run|unblocks")


def regex(example):
    with running(sys.executable, os.path.join(HERE, "regex.py")) as program:
        time.sleep(0.5)  # until its modules are imported
        example.record("regex", ["-p", program.pid], {r"^sre_ucs1_match$": 0.5}, "sre_")


def sessions(example):
    with nginx(example, "sessions.conf", *[["/", 16]] * 2) as workers:
        about = example.record("sessions", ["alloc", "-p", workers[0]], {r"^sessions\.lua:11$": 0.8}, "sessions.lua")
    greeted = sum(f["total"] for f in about["functions"] if f["name"] == "sessions.lua:5")
    if greeted > 0.2 * about["total"]:
        example.mistakes.append(f"sessions: greet keeps nothing, but {greeted} of {about['total']} bytes are charged to it")


# Requests to a server that closes each connection, until killed.
ASK = "import sys, urllib.request\nwhile True: urllib.request.urlopen(sys.argv[1]).read()"


def orders(example):
    program = shutil.which("php")
    if not program or "pdo_sqlite" not in subprocess.run([program, "-m"], capture_output=True, text=True).stdout:
        raise Missing("PHP with SQLite is not installed")
    page, port = os.path.join(HERE, "orders.php"), free_port()
    environment = {**os.environ, "ORDERS": example.path("orders.sqlite")}
    subprocess.run([program, page, "fill"], check=True, timeout=120, env=environment)
    with running(program, "-S", f"127.0.0.1:{port}", page, env=environment) as server:
        time.sleep(0.5)  # until it listens
        with running(sys.executable, "-c", ASK, f"http://127.0.0.1:{port}/"):
            example.record("orders", ["-p", server.pid], {r"^PDOStatement->execute$": 0.7, r"^Orders->of$": 0.8}, "execute")


def triangles(example):
    with running("perl", os.path.join(HERE, "triangles.pl")) as program:
        time.sleep(0.5)
        example.record("triangles", ["-p", program.pid], {r"^main::triangles$": 0.9, r"^main::is_joined$": 0.5}, "is_joined")


def leak(example):
    program = example.path("leak")
    subprocess.run(["g++", "-O2", "-g", "-o", program, os.path.join(HERE, "leak.cc")], check=True, timeout=120)
    with running(program) as server:
        time.sleep(0.5)  # until its libraries are loaded
        about = example.record("leak", ["alloc", "--leaks", "-p", server.pid], {r"^remember_session\(int\)$": 0.9}, "remember")
    kept = sum(f["total"] for f in about["functions"] if f["name"] == "parse_request(int)")
    if kept > 0.01 * about["total"]:
        example.mistakes.append(f"leak: parse_request frees everything, but {kept} bytes are charged to it")


EXAMPLES = {"files": files, "cache": cache, "regex": regex, "sessions": sessions, "orders": orders, "triangles": triangles, "leak": leak}


def make(name, acu, seconds=2, screenshots=False):
    """Messages for everything that differs from README.md. Raises Missing if a program it needs is not installed."""
    example = Example(acu, seconds, screenshots)
    try:
        EXAMPLES[name](example)
        return example.mistakes
    finally:
        shutil.rmtree(example.folder, ignore_errors=True)


def main():
    names = sys.argv[2:] or list(EXAMPLES)
    failed = 0
    for name in names:
        try:
            mistakes = make(name, sys.argv[1], 5, True)
        except Missing as what:
            mistakes = [f"not made: {what}"]
        failed += bool(mistakes)
        print(f"{name}: " + ("\n  ".join(mistakes) or "made"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
