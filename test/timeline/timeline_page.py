"""The page of `acu timeline` in headless Chromium: opened, asked by expressions of JavaScript, and used by mouse and keys."""
import json
import os
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "flame"))
import browser
from tally import Skipped, need


class Page(browser.Browser):
    def __init__(self, page, hash="", width=1400, height=900):
        if not browser.find():
            raise Skipped("no Chromium")
        self.folder = tempfile.mkdtemp(prefix="acu-browser-")
        super().__init__(self.folder)
        self.first = ("file://" + page + hash, width, height)

    def __enter__(self):
        super().__enter__()
        self.ask("Page.enable"), self.ask("Runtime.enable")
        self.open(*self.first)
        self.wait("window.acu && acu.timing.first_paint > 0")
        return self

    def __exit__(self, *reason):
        super().__exit__(*reason)
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, expression):
        done = self.ask("Runtime.evaluate", expression=f"(async () => ({expression}))()", returnByValue=True, awaitPromise=True, limit=300)
        need("exceptionDetails" not in done, f"{expression}: {json.dumps(done.get('exceptionDetails'))[:2000]}")
        return done["result"].get("value")

    def wait(self, condition, limit=120):
        self.say(f"new Promise((done, fail) => {{ const begin = Date.now(), look = () => {condition} ? done(1) : Date.now() - begin > {limit * 1000} ? fail(new Error('never')) : setTimeout(look, 20); look(); }})")

    def key(self, key, **more):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}), **more)

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1, modifiers=modifiers)
        for part in (0.3, 1):
            self.mouse("mouseMoved", x0 + part * (x1 - x0), y0 + part * (y1 - y0), button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1, modifiers=modifiers)
