"""A server for tests: acu serve on a free port of loopback, asked over HTTP."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]
from tally import need, patient

sys.setrecursionlimit(50000)  # call trees are as deep as stacks
TMP = tempfile.mkdtemp(prefix="acu-serve-")
BURNER = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, b"burner-" + sys.argv[1].encode())
def busy_function():
    n = 0
    for i in range(20000): n += i * i
    return n
def loop():
    while True:
        for _ in range(10): busy_function()
        time.sleep(0.02)  # others need the CPU, too
loop()
"""
CHANGE = {"X-Acu": "1", "Content-Type": "application/json"}


def path(*names):
    return os.path.join(TMP, *names)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """A running `acu serve` on a free port, with the token of a file."""

    def __init__(self, acu, name, *options, wait=True, store=None):
        self.acu, self.store, self.token_file = acu, store or path(name + ".db"), path(name + ".token")
        self.errors = open(path(name + ".err"), "w+")
        self.child = subprocess.Popen([acu, "serve", "--listen", "127.0.0.1:0", "--store", self.store, "--token-file", self.token_file, *options], stdout=subprocess.DEVNULL, stderr=self.errors)
        if wait:
            self.wait()

    def said(self):
        return open(self.errors.name).read()

    def wait(self):
        until = time.monotonic() + patient(30)
        while "ready at" not in self.said():
            need(self.child.poll() is None, f"acu serve ended: {self.said()}")
            need(time.monotonic() < until, f"not ready: {self.said()}")
            time.sleep(0.05)
        self.origin = re.search(r"ready at (\S+)", self.said())[1]
        self.port = int(self.origin.rsplit(":", 1)[1])
        self.token = open(self.token_file).read().strip()

    def login_token(self):
        return re.findall(r"\?token=(\w+)", self.said())[-1]

    def ask(self, where, method="GET", body=None, headers=None, with_token=True):
        all_headers = {"Authorization": "Bearer " + self.token} if with_token else {}
        all_headers.update(headers or {})
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.origin + where, data=data, method=method, headers=all_headers)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=patient(60)) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read().decode())

    def get(self, where):
        answer = self.ask(where)
        need(answer.status == 200, f"{where}: {answer.status} {answer.body[:300]}")
        return answer.json()

    def post(self, where, body, status=200):
        answer = self.ask(where, "POST", body, CHANGE)
        need(answer.status == status, f"{where}: {answer.status} {answer.body[:300]}")
        return answer.json()

    def job(self, body, seconds=60):
        started = self.post("/api/jobs", body, 202)
        until = time.monotonic() + patient(seconds)
        while (job := self.get(f"/api/jobs/{started['id']}"))["state"] == "running":
            need(time.monotonic() < until, f"still running: {job}")
            time.sleep(0.1)
        return job

    def samplers(self):
        return [int(word) for word in open(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read().split()]

    def stop(self, how=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(patient(20))
        if self.child.poll() is None:
            self.child.kill()
        return self.child.wait()
