"""Chromium without a screen, driven over its pipe: opens a file at a width, waits until a script has left what it saw.

Messages of the DevTools protocol are JSON, each ended by a zero byte; the browser reads descriptor 3 and writes to 4.
"""
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--force-prefers-reduced-motion", "--remote-debugging-pipe"]
LEFT = "(document.getElementById('seen') || {textContent: ''}).textContent"


def find():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self, profile):
        theirs, self.to = os.pipe()
        self.back, them = os.pipe()
        theirs, them = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (theirs, them))
        self.process = subprocess.Popen([find(), *FLAGS, "--user-data-dir=" + profile, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=lambda: (os.dup2(theirs, 3), os.dup2(them, 4)))
        os.close(theirs), os.close(them)
        self.count, self.unread, self.session = 0, b"", None

    def __enter__(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)
        os.close(self.to), os.close(self.back)

    def message(self, until):
        while b"\0" not in self.unread:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.back, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.unread += part
        line, self.unread = self.unread.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, limit=120, **parameters):
        self.count += 1
        question = {"id": self.count, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(question).encode() + b"\0")
        until = time.monotonic() + limit
        while True:
            answer = self.message(until)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def open(self, url, width=1200, height=800):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Page.navigate", url=url)

    def seen(self, limit=120):
        """What a script left in the element `seen`, as soon as it is there."""
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if text := self.value(LEFT):
                return json.loads(text)
            time.sleep(0.05)
        raise TimeoutError("the page's test did not end")
