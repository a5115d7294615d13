#!/usr/bin/env python3
"""The console of `acu serve` in a browser without a screen: test/console/run.py ACU [--filter PART] [--keep] [--url URL [--page FILE]]

Each story of stories.mjs is a test. It runs against the mock server (mock.py), which plants what a real host has by chance only. With --url, the
stories that need nothing planted run against that server: the URL that `acu serve` printed, with its token; --page has them use another page than the server's. Playwright and axe-core come from npm, as
web/package-lock.json pins them; without Chromium, node or npm's packages the tests are skipped.
"""
import atexit
import http.cookies
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.append(os.path.join(os.path.dirname(HERE), "serve"))
import busy_servers
import mock
from tally import Skipped, need, patient, run_suite, untimed

WEB = os.path.join(ROOT, "web")
FOLDER = tempfile.mkdtemp(prefix="acu-console-")
STEP = 20  # seconds for what one step of a story waits for
STORIES = re.findall(r'^(?:story|checkAccess)\("(\w+)"', open(os.path.join(HERE, "stories.mjs")).read(), re.M)


class Suite:
    """What all stories share, made before the first: servers, npm's packages. Stories that need nothing of each other run together, once."""

    def __init__(self, acu, url, page):
        self.acu, self.url, self.page, self.results, self.settings, self.missing, self.has_run, self.left_out = acu, url, page, {}, None, "", False, set()
        self.build = os.path.dirname(acu)
        self.folder = os.path.join(self.build, "console_test")

    def prepare(self):
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        page = os.path.join(self.build, "console", "dist", "index.html")
        self.settings = {"browser": browser, "page": os.path.abspath(self.page) if self.page else "", "isMock": not self.url, "limit": patient(STEP) * 1000}
        if not browser or not shutil.which("node") or not shutil.which("npm"):
            self.missing = "Chromium, node or npm is not installed"
        elif not self.url and not os.path.exists(page):
            self.missing = "the console is not built: cmake --build --preset release --target console_page"
        elif not self.fetch():
            self.missing = "npm could not fetch Playwright and axe-core"
        elif self.url:
            self.sign_in()
        else:
            for name, is_read_only in (("url", False), ("readOnlyUrl", True)):
                self.settings[name] = mock.serve(self.acu, page, folder=os.path.join(FOLDER, name), is_read_only=is_read_only)[1]
            self.settings["login"] = self.serve_with_users()

    def serve_with_users(self):
        """The login page is the real server's: with it, the console has the mock's data no more."""
        users, login = os.path.join(FOLDER, "users"), {"name": "vera", "password": "view and see"}
        subprocess.run([self.acu, "serve", "--users", users, "--add-user", login["name"], "--role", "view"], input=login["password"] + "\n", text=True, check=True, capture_output=True)
        return {**login, "url": re.search(r"ready at (\S+)", self.serve("users", "--users", users))[1] + "/"}

    def serve(self, name, *options):
        """Starts acu serve with a store of its own; what it said until it was ready."""
        errors = os.path.join(FOLDER, name + ".err")
        with open(errors, "w") as file:
            server = subprocess.Popen([self.acu, "serve", "--listen", "127.0.0.1:0", "--store", os.path.join(FOLDER, name + ".db"), *options], stdout=file, stderr=file)
        atexit.register(lambda: (server.terminate(), server.wait()))
        until = time.monotonic() + patient(30)
        while "ready at" not in (said := open(errors).read()) and "?token=" not in said:
            need(server.poll() is None and time.monotonic() < until, f"acu serve is not ready: {said}")
            time.sleep(0.05)
        return said

    def fetch(self):
        """npm's packages, also those that only tests need. They are kept in the build folder for the next time."""
        lock, have = os.path.join(WEB, "package-lock.json"), os.path.join(self.folder, "done")
        if not os.path.exists(have) or open(lock).read() != open(have).read():
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(os.path.join(WEB, name), self.folder)
            try:
                done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=self.folder, capture_output=True, text=True, timeout=90)
            except subprocess.TimeoutExpired:
                return False
            if done.returncode:
                return False
            shutil.copy(lock, have)
        shutil.rmtree(os.path.join(self.folder, "src"), ignore_errors=True)
        shutil.copytree(os.path.join(WEB, "src"), os.path.join(self.folder, "src"))
        for source in (os.path.join(WEB, "tsconfig.json"), os.path.join(HERE, "stories.mjs")):
            shutil.copy(source, self.folder)
        return True

    def sign_in(self):
        """Changes the token of the address for a cookie, which all stories use."""
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None
        place = urllib.parse.urlsplit(self.url)
        self.settings["url"] = f"{place.scheme}://{place.netloc}/"
        try:
            answer = urllib.request.build_opener(Stay).open(self.url, timeout=30)
        except urllib.error.HTTPError as redirect:
            answer = redirect
        for name, value in http.cookies.SimpleCookie(answer.headers.get("Set-Cookie", "")).items():
            self.settings["cookie"] = {"name": name, "value": value.value, "domain": place.hostname, "path": "/", "httpOnly": True, "sameSite": "Strict"}

    def run(self, **more):
        done = subprocess.run(["node", "stories.mjs", json.dumps({**self.settings, **more})], cwd=self.folder, capture_output=True, text=True, timeout=patient(300))
        results = {result["name"]: result for result in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines()))}
        need(done.returncode == 0, f"the stories ended early: {done.stderr[-1500:]}")
        return results

    def require(self):
        with untimed():
            if self.settings is None:
                self.prepare()
        if self.missing:
            raise Skipped(self.missing)

    def story(self, name, only):
        def run_story():
            self.require()
            if not self.has_run:
                with untimed():
                    self.results, self.has_run = self.run(part=only), True
                self.left_out = set(STORIES) - set(self.results)
            if name in self.left_out:
                raise Skipped("needs what only the mock server plants")
            # A second try runs alone.
            result = self.results.pop(name) if name in self.results else self.run(part=name)[name]
            need(not result["wrong"], result["wrong"])
        run_story.__name__ = name
        return run_story

    def types(self):
        """What the build drops, the compiler of TypeScript checks."""
        def types_are_right():
            self.require()
            done = subprocess.run(["node", os.path.join(self.folder, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "-p", self.folder], capture_output=True, text=True, timeout=patient(120))
            need(done.returncode == 0, done.stdout[-2000:])
        return types_are_right


    def new_host(self):
        """30 s after acu serve has begun, the browser shows functions of an nginx with Lua and of a server in Python, which are busy."""
        def functions_of_a_new_host():
            self.require()
            if self.url:
                raise Skipped("needs a server that has just begun")
            if not os.path.exists("/usr/lib/nginx/modules/ngx_http_lua_module.so"):
                raise Skipped("nginx has no module for Lua (scripts/setup.sh test)")
            with tempfile.TemporaryDirectory(prefix="acu-console-") as folder, busy_servers.nginx_with_lua(folder) as (_, of_lua), busy_servers.python(folder) as (_, of_python):
                here = Suite(self.acu, re.search(r"http\S+\?token=\w+", self.serve("new_host"))[0], "")
                here.settings, here.folder = {**self.settings, "isMock": False}, self.folder
                here.sign_in()
                services = [{"service": "nginx", "functions": sorted(of_lua)}, {"service": "python3", "functions": sorted(of_python)}]
                result = here.run(part="functions_of_a_new_host", services=services, limit=patient(30) * 1000)["functions_of_a_new_host"]
            need(not result["wrong"], result["wrong"])
        return functions_of_a_new_host


def lock_names_no_host():
    """The lock file pins versions and checksums; where packages come from is each user's setting."""
    for name in ("package-lock.json", ".npmrc", "package.json"):
        text = open(os.path.join(WEB, name)).read()
        need('"resolved"' not in text and "registry=" not in text, f"{name} names a registry")


def main():
    def word(name):
        return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""
    only = word("--filter")
    suite = Suite(os.path.abspath(sys.argv[1]), word("--url"), word("--page"))
    return run_suite([lock_names_no_host, suite.types(), suite.new_host(), *(suite.story(name, only) for name in STORIES)], FOLDER)


if __name__ == "__main__":
    sys.exit(main())
