#!/usr/bin/env python3
"""A server that speaks the API of `acu serve` (docs/serve-api.md) with planted data, for tests and for work on the console:
test/console/mock.py ACU PAGE [--port N] [--read-only], where PAGE is the console, build/PRESET/console/dist/index.html.

Planted: a service with a name that is HTML, a function that grows from 10 % to 30 % a quarter of an hour ago, findings, jobs that take
a second. Flame graphs are real pages, written by acu from folded stacks.
"""
import base64
import hashlib
import http.server
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

EVIL = "<img src=x onerror=window.evil=1>"
SERVICES = [("shop.service", "unit", 1.2), ("nginx.service", "unit", 0.6), ("postgres", "container", 0.4), (EVIL, "process", 0.2), ("kernel", "kernel", 0.05)]
STACKS = """shop;main;serve;handle;render {render}
shop;main;serve;handle;parse_request {parse}
shop;main;serve;handle;app.py:checkout;app.py:total 200
shop;main;serve;{evil} 50
shop;main;serve;read;vfs_read_[k];ext4_read_[k] 150
"""
KINDS = [("cpu", "CPU", "ns", True), ("offcpu", "Off-CPU", "ns", True), ("faults", "Page faults", "faults", True), ("alloc", "Allocations", "bytes", False), ("lock", "Locks", "ns", False)]
TOOLS = [("execsnoop", "programs", "programs as they start, with their arguments"), ("biolatency", "disks", "latency of disk requests"), ("evil", "programs", EVIL)]
WHY = {"cause": "run-queue-delay", "subject": "process 4711", "verdict": "confirmed", "size": "72.3% of its time", "title": "shop waits for a CPU 72.3% of its time",
       "advice": "give it more CPUs", "check": "its waits are below 5%", "refutation": "other processes are idle",
       "evidence": [{"supports": True, "decisive": True, "measurement": "run-queues", "text": "waits for a CPU take 5.3 ms on average", "command": "acu why --measure run-queues -p 4711"}], "effects": []}
SCRIPT_ROWS = [{"type": "attached_probes", "data": {"probes": 1}}, {"type": "printf", "data": "hello " + EVIL + "\n"}, {"type": "map", "data": {"@calls": {"nginx": 7, EVIL: 3, "shop": 42}}},
               {"type": "map", "data": {"@calls": {"nginx": 8, EVIL: 3, "shop": 60}}}, {"type": "map", "data": {"@calls": {"nginx": 9, EVIL: 4, "shop": 77}}},
               {"type": "hist", "data": {"@us": [{"min": 4, "max": 7, "count": 10}, {"min": 8, "max": 15, "count": 40}, {"min": 16, "max": 31, "count": 5}]}},
               {"type": "map", "data": {"@stacks": {"\n        read+12\n        main+3\n": 5}}},
               {"type": "stats", "data": {"@size": {"shop": {"count": 3, "average": 4, "total": 12}}}}]
OPTIONS = [{"name": "seconds", "type": "int", "default": 10, "help": "For how long."}, {"name": "verbose", "type": "bool", "help": "More lines."}]
SHARED = {"pid": {"type": "integer", "description": "Only this process.", "minimum": 1, "maximum": 4194304}, "duration": {"type": "number", "description": "Measure for so many seconds.", "minimum": 0.1, "maximum": 300}}
VERBS = [("flame", "Sample stacks", {"kind": {"type": "string", "description": "What to sample."}, **SHARED}, []), ("why", "Find out why", {"question": {"type": "string", "enum": ["slow", "growing"]}, **SHARED}, []),
         ("slow", "Find slow calls", {"what": {"type": "string", "description": "A function."}, **SHARED}, ["what"]), ("run_script", "Run a script", {}, []), ("sql", "Query", {}, []), ("tool", "Tool", {}, [])]
TABLES = {"processes": (["pid", "name", "resident"], [[1, "systemd", 12 << 20], [4711, "shop", 300 << 20], [4712, EVIL, 5], [4713, "=cmd()", None]])}
BEGIN = time.time()
GROWTH = BEGIN - 900  # since when parse_request takes 30 %


class Mock:
    def __init__(self, acu, page, folder, is_read_only=False):
        self.acu, self.page, self.is_read_only, self.jobs, self.lock = acu, page, is_read_only, [], threading.Lock()
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        for name, parse, render in (("before", 100, 500), ("after", 300, 300)):
            with open(self.path(name + ".folded"), "w") as out:
                out.write(STACKS.format(parse=parse, render=render, evil=EVIL))
            for ending in ("html", "svg", "pb.gz", "json"):
                subprocess.run([acu, "report", self.path(name + ".folded"), "-o", self.path(name + "." + ending)], check=True, capture_output=True)
        subprocess.run([acu, "diff", self.path("before.folded"), self.path("after.folded"), "-o", self.path("diff.html")], check=True, capture_output=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    # ---- what is asked for: words -> an object, or (status, object)
    def me(self, _):
        return {"now": time.time(), "host": "web1", "version": "0.1.0", "kernel": "6.12.0", "read_only": self.is_read_only, "cpus": 2, "slot_seconds": 10,
                "kinds": [{"name": n, "title": t, "unit": u, "stored": s} for n, t, u, s in KINDS], "store": {"path": "/var/lib/acu/store.db", "bytes": 12 << 20, "from": BEGIN - 7200, "to": time.time(), "keep_seconds": 604800, "max_bytes": 1 << 30},
                "formats": ["json", "html", "svg", "folded", "pprof"]}

    def service(self, name, kind, cpu):
        return {"service": name, "type": kind, "cpu": cpu, "offcpu": 3.2, "run_queue": 0.05, "memory": 123456789, "read": 0, "written": 4096, "faults": 12.5, "processes": 4}

    def services(self, _):
        return {"services": [self.service(*s) for s in SERVICES]}

    def findings(self, words):
        both = [{"id": 7, "time": BEGIN - 60, "service": "shop.service", "verdict": "confirmed", "cause": "run-queue-delay", "summary": "shop waits for a CPU 72.3% of its time", "job": 3, "detail": WHY},
                {"id": 6, "time": BEGIN - 120, "service": "", "verdict": "open", "cause": "page-cache-growth", "summary": "the page cache grows; " + EVIL, "job": None, "detail": {"findings": []}}]
        return {"findings": [f for f in both if words.get("service", f["service"]) == f["service"] and float(words.get("from", 0)) <= f["time"]]}

    def overview(self, _):
        return {"now": time.time(), "host": "web1", "version": "0.1.0", "read_only": self.is_read_only, "busy": 0.42, "cpus": [0.40, 0.44], "load": [1.2, 0.9, 0.7],
                "pressure": {"cpu": {"some": 0.12, "full": 0.0}, "memory": {"some": 0, "full": 0}, "io": {"some": 0.01, "full": 0.0}}, "run_queue": 0.8, "memory": {"total": 16e9, "available": 8e9},
                **self.services({}), **self.findings({}), "own": {"cpu": 0.004, "kernel_cpu": 0.001, "memory": 90000000, "lost": 0, "samples": 38.2, "flushed": time.time() - 5}}

    def series(self, words):
        begin, end = float(words["from"]), float(words["to"])
        step = max(10, math.ceil((end - begin) / 300 / 10) * 10)
        times = [begin + i * step for i in range(int((end - begin) / step))]
        units = {"memory": "bytes", "read": "bytes/s", "written": "bytes/s", "faults": "1/s", "cpu": "cores"}
        scale = {"memory": 2e8, "read": 3e6, "written": 1e6, "faults": 300}
        values = {name: [None if i == 3 else scale.get(name, 1) * (0.3 + 0.2 * math.sin(t / 50 + len(name))) for i, t in enumerate(times)] for name in words["names"].split(",")}
        return {"from": begin, "to": end, "step": step, "times": times, "series": [{"name": n, "unit": units.get(n, "threads"), "values": v} for n, v in values.items()]}

    def compare(self, words):
        def parse(side):
            return 300 if float(words[side + "_from"]) >= GROWTH - 60 else 100
        a, b = parse("a"), parse("b")
        functions = [("parse_request", a, b), ("render", 600 - a, 600 - b), (EVIL, 50, 51)]
        return {"kind": words["kind"], "unit": "ns", "a": {"from": 1, "to": 2, "total": 1000e6}, "b": {"from": 3, "to": 4, "total": 1000e6}, "scale": 1.0,
                "functions": [{"name": n, "module": "/usr/bin/shop", "self_a": x * 1e6, "self_b": y * 1e6, "total_a": x * 1e6, "total_b": y * 1e6, "change": (y - x) * 1e6} for n, x, y in functions]}

    def top(self, _):
        names = [("render", "user", 300, 300), ("parse_request", "user", 300 + int(time.time()) % 7, 320), (EVIL, "user", 50, 50), ("vfs_read", "kernel", 150, 150)]
        return {"from": time.time() - 60, "to": time.time(), "unit": "ns", "total": 1000e6, "functions": [{"name": n, "module": "/usr/bin/shop", "kind": k, "self": s * 1e6, "total": t * 1e6} for n, k, s, t in names],
                "threads": [{"name": "worker", "process": "shop", "pid": 4711, "value": 900e6}]}

    def verbs(self, _):
        return {"verbs": [{"name": n, "title": t, "description": t + " of the host.", "inputSchema": {"type": "object", "properties": p, "required": r}} for n, t, p, r in VERBS]}

    def tools(self, _):
        return {"tools": [{"name": n, "group": g, "title": t} for n, g, t in TOOLS]}

    def tool(self, name):
        for n, group, title in TOOLS:
            if n == name:
                return {"name": n, "group": group, "title": title, "help": f"{n}: {title}", "options": OPTIONS if n == "biolatency" else []}
        return 404, {"error": f"there is no tool {name}"}

    def audit(self, _):
        return {"lines": [{"time": job["started"], "client": "session 1", "action": "POST /api/jobs", "arguments": json.dumps(job["arguments"]), "outcome": "202"} for job in self.jobs]}

    def complete(self, words):
        every = ["kprobe:vfs_read", "kprobe:vfs_readlink", "kprobe:vfs_readv", "kprobe:vfs_write", "tracepoint:raw_syscalls:sys_enter", "count", "comm"]
        return {"words": [w for w in every if w.startswith(words.get("text", ""))]}

    def check(self, body):
        at = body["script"].find("foo")
        if at < 0:
            return {"valid": True, "messages": [], "marks": []}
        line = body["script"][:at].count("\n") + 1
        column = at - body["script"].rfind("\n", 0, at)
        return {"valid": False, "messages": [f"script:{line}:{column}: error: unknown function `foo`"], "marks": [{"line": line, "column": column, "message": "unknown function `foo`"}]}

    def sql(self, body):
        query = body["query"]
        if "pragma_module_list" in query:
            return {"columns": ["name"], "rows": [[name] for name in TABLES], "truncated": False, "seconds": 0.001, "notes": []}
        if "sleep" in query:
            time.sleep(3)
        if "from processes" not in query:
            return 400, {"error": "no such table: " + query.split()[-1], "hint": "`select name from sqlite_master` lists the tables"}
        columns, rows = TABLES["processes"]
        return {"columns": columns, "rows": rows, "truncated": False, "seconds": 0.02, "notes": []}

    # ---- jobs
    def start(self, body):
        if self.is_read_only:
            return 403, {"error": "this server is read-only"}
        if body["verb"] == "slow" and not body["arguments"].get("what"):
            return 400, {"error": "`what` is missing"}
        with self.lock:
            job = {"id": len(self.jobs) + 1, "verb": body["verb"], "arguments": body["arguments"], "page": body.get("page", False), "started": time.time(), "ended": None}
            self.jobs.append(job)
        return 202, {"id": job["id"], "state": "running"}

    def shown(self, job, with_result=True):
        expected = min(float(job["arguments"].get("duration", 1)), 300)
        takes = expected if expected > 100 else 1.0  # a long one is there to be stopped
        seconds = (job["ended"] or time.time()) - job["started"]
        state = "cancelled" if job["ended"] else "done" if seconds >= takes else "running"
        text = "killed" in json.dumps(job["arguments"])
        result = {"outcome": state, "exit_status": 0, "truncated": False, "notes": [], "lost": 0}
        if job["verb"] == "run_script":
            result["rows"] = SCRIPT_ROWS
        elif job["verb"] == "why":
            result["data"] = {"type": "why", "result": "found", "findings": [WHY], "notes": []}
        else:
            result["text"] = "output of " + json.dumps(job["arguments"]) + "\n" + EVIL + "\n"
        failed = state == "done" and text
        return {"id": job["id"], "verb": job["verb"], "command": "acu " + job["verb"].replace("_", " "), "state": "failed" if failed else state, "started": job["started"], "seconds": min(seconds, takes), "expected_seconds": expected,
                "has_page": job["page"], "result": result if with_result and state != "running" and not failed else None, "error": "the probe was refused" if failed else None}

    def job_of(self, number):
        with self.lock:
            return self.jobs[number - 1] if 0 < number <= len(self.jobs) else None


GETS = {"me", "overview", "services", "series", "compare", "top", "findings", "verbs", "tools", "complete", "audit"}
POSTS = {"check", "sql"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mock = None

    def log_message(self, *_):
        pass

    def answer(self, status, content, kind="application/json", more=()):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", len(content)), ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"), *more]:
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def answer_value(self, value):
        self.answer(*(value if isinstance(value, tuple) else (200, value)))

    def answer_page(self, page, sources="img-src data: blob:; frame-ancestors 'self'"):
        def hashes(tag):
            blocks = re.findall(rb"<" + tag + rb"(?: type=\"module\")?>(.*?)</" + tag + rb">", page, re.S)
            return " ".join("'sha256-" + base64.b64encode(hashlib.sha256(b).digest()).decode() + "'" for b in blocks)
        policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; script-src {hashes(b'script')}; style-src {hashes(b'style')}; {sources}"
        self.answer(200, page, "text/html; charset=utf-8", [("Content-Security-Policy", policy)])

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        words, parts, mock = dict(urllib.parse.parse_qsl(url.query)), url.path.strip("/").split("/"), self.mock
        if url.path == "/":
            with open(mock.page, "rb") as page:
                return self.answer_page(page.read(), "connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; frame-ancestors 'none'")
        if parts[0] != "api":
            return self.answer(404, {"error": "there is no such page"})
        if parts[1] == "compare" and words.get("format") == "html":
            return self.answer_page(mock.read("diff.html"))
        if parts[1] == "flame":
            name = "after" if float(words.get("to", 0)) > GROWTH else "before"
            if words.get("format") == "html":
                return self.answer_page(mock.read(name + ".html"))
            ending = {"svg": "svg", "pprof": "pb.gz", "speedscope": "json", "folded": "folded"}.get(words.get("format"))
            return self.answer(200, mock.read(name + "." + ending), "application/octet-stream", [("Content-Disposition", "attachment")]) if ending else self.answer(400, {"error": "no such format"})
        if parts[1] == "export":
            return self.answer(200, b"time,cpu\r\n1,0.5\r\n", "text/csv", [("Content-Disposition", "attachment")])
        if parts[1] == "tools" and len(parts) == 3:
            return self.answer_value(mock.tool(urllib.parse.unquote(parts[2])))
        if parts[1] == "jobs":
            if len(parts) == 2:
                return self.answer(200, {"jobs": [mock.shown(job, False) for job in mock.jobs]})
            job = mock.job_of(int(parts[2])) if parts[2].isdigit() else None
            if not job:
                return self.answer(404, {"error": f"there is no job {parts[2]}", "hint": "`GET /api/jobs` lists them"})
            if len(parts) == 3:
                return self.answer(200, mock.shown(job))
            return self.answer_page(mock.read("after.html")) if parts[3] == "page" else self.answer(200, mock.read("after.folded"), "application/octet-stream")
        if parts[1] in GETS:
            return self.answer_value(getattr(mock, parts[1])(words))
        self.answer(404, {"error": "there is no such page"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("X-Acu") != "1":
            return self.answer(403, {"error": "the header X-Acu is missing"})
        name = urllib.parse.urlsplit(self.path).path.strip("/").split("/")[-1]
        if name == "jobs":
            return self.answer_value(self.mock.start(json.loads(body)))
        if name in POSTS:
            return self.answer_value(getattr(self.mock, name)(json.loads(body)))
        self.answer(404, {"error": "there is no such page"})

    def do_DELETE(self):
        job = self.mock.job_of(int(self.path.rsplit("/", 1)[1]))
        if not job or self.headers.get("X-Acu") != "1":
            return self.answer(403, {"error": "refused"})
        job["ended"] = job["ended"] or time.time()
        self.answer(200, {"id": job["id"], "state": "cancelled"})


def serve(acu, page, folder, port=0, is_read_only=False):
    """A server in threads of this process, and its address."""
    handler = type("BoundHandler", (Handler,), {"mock": Mock(acu, page, folder, is_read_only)})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.handle_error = lambda *_: None  # a browser that has left
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


if __name__ == "__main__":
    words = sys.argv[1:]
    at = int(words[words.index("--port") + 1]) if "--port" in words else 7070
    print(serve(words[0], words[1], tempfile.mkdtemp(prefix="acu-mock-"), at, "--read-only" in words)[1], flush=True)
    threading.Event().wait()
