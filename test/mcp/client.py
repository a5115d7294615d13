"""Clients of `acu mcp` and `acu api`: a message a line, answers by their ID."""
import json
import os
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tally import Wrong, need, patient


class Lines:
    """Messages over two descriptors."""

    def __init__(self, reads, writes):
        self.reads, self.writes, self.left, self.seen, self.next_id = reads, writes, b"", [], 0

    def send_bytes(self, data):
        while data:
            _, ready, _ = select.select([], [self.writes], [], patient(30))
            need(ready, "the server takes no more input")
            data = data[os.write(self.writes, data[:65536]):]

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def receive(self, timeout=60):
        """The next message; None: there is none within the time, or the other end is closed."""
        if self.seen:
            return self.seen.pop(0)
        until = time.monotonic() + patient(timeout)
        while b"\n" not in self.left:
            ready, _, _ = select.select([self.reads], [], [], max(0, until - time.monotonic()))
            data = os.read(self.reads, 1 << 20) if ready else b""
            if not data:
                return None
            self.left += data
        line, self.left = self.left.split(b"\n", 1)
        return json.loads(line)

    def start(self, method, params=None, **more):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, **({} if params is None else {"params": params}), **more})
        return self.next_id

    def wait_for(self, identity, timeout=60):
        """The answer to a request; other messages are kept."""
        kept = []
        while True:
            message = self.receive(timeout)
            if message is None:
                raise Wrong(f"no answer to request {identity} within {timeout} s")
            if message.get("id") == identity and "method" not in message:
                self.seen = kept + self.seen
                return message
            kept.append(message)

    def request(self, method, params=None, timeout=60):
        return self.wait_for(self.start(method, params), timeout)


class Mcp(Lines):
    def __init__(self, acu, *options, revision="2025-06-18", **more):
        self.process = subprocess.Popen([acu, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno())
        if revision:
            self.hello = self.request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name, /, timeout=120, **arguments):
        """The result of a tool."""
        answer = self.request("tools/call", {"name": name, "arguments": arguments}, timeout)
        need("result" in answer, f"{name}: {answer}")
        return answer["result"]

    def data(self, name, /, timeout=120, **arguments):
        """What a call that succeeds gives."""
        result = self.call(name, timeout, **arguments)
        need(not result["isError"], f"{name} {arguments}: {json.dumps(result)[:800]}")
        return result["structuredContent"]

    def close(self):
        """Its exit status, and what it wrote to standard error."""
        self.process.stdin.close()
        try:
            self.process.wait(patient(20))
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Wrong("the server does not end when its input does")
        return self.process.returncode, self.process.stderr.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass


class Api(Lines):
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        super().__init__(self.socket.fileno(), self.socket.fileno())

    def close(self):
        self.socket.close()
