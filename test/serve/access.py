#!/usr/bin/env python3
"""Users, roles and TLS of acu serve, over real connections: access.py ACU [--filter TEXT]

Each server runs on a free port with a store of its own; certificates are made by openssl. Last line: `N passed, N failed, N skipped`.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
warnings.simplefilter("ignore", DeprecationWarning)  # of TLS 1.1, which is to be refused
sys.path[:0] = [os.path.dirname(HERE)]
from tally import Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-access-")
CHANGE = {"X-Acu": "1", "Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PASSWORDS = {"vera": "view and see", "mia": "measure twice", "ada": "administer it"}
ROLES = {"vera": "view", "mia": "measure", "ada": "admin"}
state = {"servers": [], "n": 0}


def path(*names):
    return os.path.join(TMP, *names)


def acu_says(acu, *words, stdin="", status=0, env=None):
    done = subprocess.run([acu, *words], input=stdin, capture_output=True, text=True, timeout=patient(60), env=env)
    need(done.returncode == status, f"{words}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def users_file(acu):
    if "users" not in state:
        for name, role in ROLES.items():
            acu_says(acu, "serve", "--users", path("users"), "--add-user", name, "--role", role, stdin=PASSWORDS[name] + "\n")
        state["users"] = path("users")
    return state["users"]


class Answer:
    def __init__(self, answer):
        self.status, self.headers, self.body = answer.status, answer.headers, answer.read().decode()

    def cookie(self, name):
        for text in self.headers.get_all("Set-Cookie") or []:
            if text.startswith(name + "="):
                return text
        return None


class Server:
    def __init__(self, acu, *options, tls=None):
        state["n"] += 1
        name = f"s{state['n']}"
        self.store, self.tls, self.prefix = path(name + ".db"), tls, "__Host-" if tls else ""
        self.errors = open(path(name + ".err"), "w+")
        words = ["--tls-cert", tls[0], "--tls-key", tls[1]] if tls else []
        self.child = subprocess.Popen([acu, "serve", "--listen", "127.0.0.1:0", "--store", self.store, *words, *options], stdout=subprocess.DEVNULL, stderr=self.errors)
        state["servers"].append(self)
        until = time.monotonic() + patient(30)
        while not (found := re.search(r"(?:ready at|open) https?://[^:/]+:(\d+)", self.said())):
            need(self.child.poll() is None and time.monotonic() < until, f"not ready: {self.said()}")
            time.sleep(0.05)
        self.port = int(found[1])

    def said(self):
        return open(self.errors.name).read()

    def wait_for(self, text):
        until = time.monotonic() + patient(15)
        while text not in self.said():
            need(time.monotonic() < until, f"no `{text}` in: {self.said()}")
            time.sleep(0.05)

    def ask(self, where, method="GET", body=None, headers=None, session="", name="localhost"):
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body.encode() if isinstance(body, str) else body
        all_headers = {"Host": f"{name}:{self.port}", **({"Cookie": session} if session else {}), **(headers or {})}
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls[0])
            connection = http.client.HTTPSConnection(name, self.port, timeout=patient(30), context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patient(30))
        try:
            connection.request(method, where, data, all_headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def try_login(self, name, password, headers=None):
        page = self.ask("/login")
        token = page.cookie(self.prefix + "acu-form").split(";")[0]
        fields = urllib.parse.urlencode({"name": name, "password": password, "form": re.search(r'name="form" value="(\w+)"', page.body)[1]})
        return self.ask("/login", "POST", fields, {**FORM, **(headers or {})}, token)

    def login(self, name, password=None):
        answer = self.try_login(name, password or PASSWORDS[name])
        need(answer.status == 303 and answer.headers["Location"] == "/", f"{name}: {answer.status} {answer.body}")
        self.last = answer.cookie(self.prefix + "acu")
        return self.last.split(";")[0]

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(patient(20))
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        state["servers"].remove(self)


def with_users(acu):
    shared = state.get("shared")
    if shared is None or shared.child.poll() is not None:  # a test that fails ends all children
        state["shared"] = Server(acu, "--users", users_file(acu), "--token-file", path("token"))
    return state["shared"]


def raw(port, data, wrap=None):
    with socket.create_connection(("127.0.0.1", port), timeout=patient(30)) as s:
        with (wrap.wrap_socket(s, server_hostname="localhost") if wrap else s) as c:
            c.sendall(data)
            out = b""
            try:
                while piece := c.recv(65536):
                    out += piece
            except (ConnectionError, ssl.SSLError):
                pass
            return out.decode("latin-1")


def certificate(name, names="DNS:localhost,DNS:web.example,IP:127.0.0.1"):
    if not shutil.which("openssl"):
        raise Skipped("openssl is not installed")
    cert, key = path(name + ".crt"), path(name + ".key")
    if not os.path.exists(cert):
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert, "-subj", f"/CN={name}", "-days", "30",
                               "-addext", "subjectAltName=" + names], capture_output=True, text=True)
        need(done.returncode == 0, done.stderr)
        os.chmod(key, 0o600)
    return cert, key


# ------------------------------------------------------------------------------------------------ who may do what

# Request, body, and the status for: nobody, view, measure, admin. 4xx other than 401 and 403: let in, and wrong in itself.
SQL_STORE, SQL_HOST = {"query": "select 1", "of": "store"}, {"query": "select 1", "of": "host"}
TABLE = [
    ("GET", "/", None, (303, 200, 200, 200)),
    ("HEAD", "/", None, (303, 200, 200, 200)),
    ("GET", "/healthz", None, (200, 200, 200, 200)),
    ("GET", "/login", None, (200, 200, 200, 200)),
    ("GET", "/metrics", None, (401, 200, 200, 200)),
    ("GET", "/api/me", None, (401, 200, 200, 200)),
    ("GET", "/api/overview", None, (401, 200, 200, 200)),
    ("GET", "/api/services", None, (401, 200, 200, 200)),
    ("GET", "/api/series", None, (401, 200, 200, 200)),
    ("GET", "/api/flame", None, (401, 200, 200, 200)),
    ("GET", "/api/top", None, (401, 200, 200, 200)),
    ("GET", "/api/findings", None, (401, 200, 200, 200)),
    ("GET", "/api/export?what=findings", None, (401, 200, 200, 200)),
    ("GET", "/api/compare?a_from=-60&b_from=-60", None, (401, 200, 200, 200)),
    ("GET", "/api/hosts", None, (401, 200, 200, 200)),
    ("GET", "/api/verbs", None, (401, 200, 200, 200)),
    ("GET", "/api/tools", None, (401, 200, 200, 200)),
    ("GET", "/api/jobs", None, (401, 403, 200, 200)),
    ("GET", "/api/jobs/9999", None, (401, 403, 404, 404)),
    ("POST", "/api/jobs", {"verb": "none"}, (401, 403, 400, 400)),
    ("DELETE", "/api/jobs/9999", None, (401, 403, 404, 404)),
    ("POST", "/api/check", {"script": 7}, (401, 403, 400, 400)),
    ("GET", "/api/complete?text=cou", None, (401, 403, 200, 200)),
    ("POST", "/api/sql", SQL_STORE, (401, 200, 200, 200)),
    ("POST", "/api/sql", SQL_HOST, (401, 403, 200, 200)),
    ("GET", "/api/audit", None, (401, 403, 403, 200)),
    ("GET", "/logout", None, (401, 405, 405, 405)),
    ("POST", "/logout", None, (401, None, None, None)),
    ("GET", "/no/such/thing", None, (401, 404, 404, 404)),
    ("PUT", "/api/jobs", None, (405, 405, 405, 405)),
]


def roles(acu):
    server = with_users(acu)
    sessions = ["", *(server.login(name) for name in ROLES)]
    names = {"get": "GET", "post": "POST", "erase": "DELETE"}
    routes = {(names[method], where.replace("*", "9999")) for method, where in re.findall(r'\{Method::(\w+), "([^"]+)"', open(os.path.join(HERE, "..", "..", "src", "web", "routes.cc")).read())}
    need(len(routes) > 20 and routes <= {(method, where.split("?")[0]) for method, where, _, _ in TABLE}, f"not in the table: {routes - {(method, where.split('?')[0]) for method, where, _, _ in TABLE}}")
    for method, where, body, expected in TABLE:
        for session, who, status in zip(sessions, ("nobody", *ROLES), expected):
            if status is None:
                continue
            answer = server.ask(where, method, body, CHANGE if method not in ("GET", "HEAD") else None, session)
            need(answer.status == status, f"{method} {where} {body or ''} as {who}: {answer.status} instead of {status}: {answer.body[:200]}")
    refused = json.loads(server.ask("/api/audit", session=sessions[1]).body)
    need(refused["error"] == "`vera` has the role view; this needs the role admin" and "--role admin" in refused["hint"], str(refused))
    me = json.loads(server.ask("/api/me", session=sessions[2]).body)
    need((me["user"], me["role"], me["login"]) == ("mia", "measure", True), str(me))
    # The token of programs only looks.
    bearer = {"Authorization": "Bearer " + open(path("token")).read().strip()}
    need(server.ask("/metrics", headers=bearer).status == 200 and server.ask("/api/jobs", "POST", {"verb": "host"}, {**CHANGE, **bearer}).status == 403, "the token file")
    need("?token=" not in server.said(), "a token is printed that lets anybody in")


def jobs_of_others(acu):
    server = with_users(acu)
    acu_says(acu, "serve", "--users", users_file(acu), "--add-user", "max", "--role", "measure", stdin="measure also\n")
    server.child.send_signal(signal.SIGHUP)
    server.wait_for("again: 4 users")
    mia, max_, ada = server.login("mia"), server.login("max", "measure also"), server.login("ada")
    started = server.ask("/api/jobs", "POST", {"verb": "run_script", "arguments": {"script": "interval:s:1 { @n = count(); }", "duration": 60}}, CHANGE, mia)
    need(started.status == 202, started.body)
    job = f"/api/jobs/{json.loads(started.body)['id']}"
    need(server.ask(job, "DELETE", None, CHANGE, max_).status == 403, "another user stops it")
    need(server.ask(job, "DELETE", None, CHANGE, ada).status == 200, "an administrator")


def audit_names_users(acu):
    server = with_users(acu)
    server.try_login("mia", "wrong password")
    server.ask("/api/jobs", "POST", {"verb": "none"}, CHANGE, server.login("mia"))
    lines = [json.loads(line) for line in open(server.store + ".audit")]
    did = [line for line in lines if line["verb"] == "POST /api/jobs" and line["client"] == "mia"]
    need(did and did[-1]["address"] == "127.0.0.1" and did[-1]["outcome"] == "400", str(lines[-3:]))
    logins = [line for line in lines if line["verb"] == "login" and line["arguments"]["user"] == "mia"]
    need([line["outcome"] for line in logins[-2:]] == ["401", "303"] and logins[-2]["client"] == "", str(logins[-2:]))
    need("wrong password" not in open(server.store + ".audit").read() and PASSWORDS["mia"] not in open(server.store + ".audit").read(), "a password is in the audit")


# ------------------------------------------------------------------------------------------------ logins


def wrong_passwords_wait(acu):
    server = Server(acu, "--users", users_file(acu))
    unknown = server.try_login("nobody", "12345678")
    need(unknown.status == 401 and "User or password is wrong" in unknown.body, f"{unknown.status}")
    for password in ("", "x" * 1024, PASSWORDS["ada"], "viewandsee", PASSWORDS["vera"] + "\n"):
        need(server.try_login("vera", password).status == 401, password[:20])
    for seconds in (1, 2):  # the wait is twice as long each time: 4 s are enough for three attempts on a busy host
        time.sleep(seconds + 0.2)
        need(server.try_login("vera", "wrong once more").status == 401, f"a wrong password after {seconds} s")
    answers = [server.try_login("vera", PASSWORDS["vera"]) for _ in range(3)]
    need([a.status for a in answers] == [429] * 3 and int(answers[0].headers["Retry-After"]) in (3, 4), str([(a.status, a.headers["Retry-After"]) for a in answers]))
    time.sleep(int(answers[0].headers["Retry-After"]) + 0.2)
    server.login("vera")

    def too_early():
        return [json.loads(line) for line in open(server.store + ".audit")][-1]["arguments"]["too_early"]

    need(too_early() == 3, f"early attempts of an address: {too_early()}")
    # Now both the address and the user have to wait: each attempt is one, all the same.
    need(server.try_login("vera", "wrong again").status == 401, "a wrong password")
    answers = [server.try_login("vera", PASSWORDS["vera"]) for _ in range(3)]
    need([a.status for a in answers] == [429] * 3, str([a.status for a in answers]))
    time.sleep(int(answers[0].headers["Retry-After"]) + 0.2)
    server.login("vera")
    need(too_early() == 3, f"early attempts of an address and a user: {too_early()}")
    server.stop()


def audit_that_cannot_be_written(acu):
    """The disk is full: that is printed once, and the server goes on."""
    server = Server(acu, "--users", users_file(acu), "--audit", "/dev/full")
    for _ in range(3):
        server.login("vera")
    server.wait_for("acu serve: cannot write the audit file `/dev/full`: No space left on device")
    need(server.said().count("cannot write the audit file") == 1, server.said())
    server.stop()


def sessions_end(acu):
    server = Server(acu, "--users", users_file(acu), "--login-time", "10s")
    session = server.login("vera")
    need("HttpOnly" in server.last and "SameSite=Strict" in server.last and "Secure" not in server.last and len(session) == len("acu=") + 64, server.last)
    need(server.ask("/api/me", session=session).status == 200, "a session")
    for wrong in ("acu=" + "0" * 64, session[:-1], session + "0", "acu=", session.upper(), "__Host-" + session):
        need(server.ask("/api/me", session=wrong).status == 401, wrong)
    time.sleep(10.2)
    need(server.ask("/api/me", session=session).status == 401, "it does not end")
    # Ways out: of the console, and of the page without a script.
    session = server.login("vera")
    need(server.ask("/logout", "POST", "", {"X-Acu": "1"}, session).status == 200 and server.ask("/api/me", session=session).status == 401, "log out by the console")
    session = server.login("vera")
    page = server.ask("/login", session=session)
    need("Logged in as vera (view)" in page.body, page.body)
    token = page.cookie("acu-form").split(";")[0]
    done = server.ask("/logout", "POST", "form=" + token.split("=")[1], FORM, session + "; " + token)
    need(done.status == 303 and done.headers["Location"] == "/login" and server.ask("/api/me", session=session).status == 401, f"log out: {done.status}")
    server.stop()


def other_sites(acu):
    server = with_users(acu)
    session = server.login("mia")
    job = {"verb": "none"}
    need(server.ask("/api/jobs", "POST", job, {"Content-Type": "application/json"}, session).status == 403, "without the header")
    need(server.ask("/api/jobs", "POST", job, {**CHANGE, "Origin": "https://evil.example"}, session).status == 403, "another origin")
    need(server.ask("/api/me", headers={"Host": "evil.example"}, session=session).status == 403, "another host")
    need(server.try_login("mia", PASSWORDS["mia"], {"Origin": "https://evil.example"}).status == 403, "a login from another site")
    need(server.try_login("mia", PASSWORDS["mia"], {"Origin": "null"}).status == 403, "a login from nowhere")
    need(server.try_login("mia", PASSWORDS["mia"], {"Origin": f"http://localhost:{server.port}"}).status == 303, "a login from the page")
    fields = urllib.parse.urlencode({"name": "mia", "password": PASSWORDS["mia"], "form": "0" * 64})
    for cookie in ("", "acu-form=", "acu-form=" + "1" * 64):
        answer = server.ask("/login", "POST", fields, FORM, cookie)
        need(answer.status == 403 and not answer.cookie("acu"), f"a form of another page: {answer.status}")
    need(server.ask("/logout", "POST", "form=" + "0" * 64, FORM, session).status == 403 and server.ask("/api/me", session=session).status == 200, "a logout by another page")
    policy = server.ask("/login").headers["Content-Security-Policy"]
    need("default-src 'none'" in policy and "script-src 'none'" in policy and "form-action 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy)


def large_and_slow_logins(acu):
    server = with_users(acu)
    host = f"Host: localhost:{server.port}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    need("HTTP/1.1 413" in raw(server.port, f"POST /login HTTP/1.1\r\n{host}Content-Length: 5000\r\n\r\n".encode()), "a large form, by its header alone")
    need("HTTP/1.1 4" in raw(server.port, f"POST /login HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n".encode()), "a huge one")
    need("HTTP/1.1 411" in raw(server.port, f"POST /login HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n".encode()), "of unknown size")
    for body in (b"", b"%", b"name=%zz&form=1", b"\xff\xfe", b"name=" + b"a" * 4000, b"{}"):
        answer = server.ask("/login", "POST", body, FORM)
        need(answer.status in (400, 403), f"{body[:20]}: {answer.status}")
    need(server.ask("/login", "POST", {"name": "mia"}, CHANGE).status == 400, "JSON")
    answer = server.try_login("<b>&\"\x1b[31m", "<script>")
    need(answer.status == 401 and "<b>" not in answer.body and "<script>" not in answer.body, answer.body)
    begin = time.monotonic()
    answer = raw(server.port, f"POST /login HTTP/1.1\r\n{host}Content-Length: 100\r\n\r\nname=".encode())
    seconds = time.monotonic() - begin
    need(answer == "" and 10 < seconds < patient(25), f"a form that never ends: {answer[:100]}, closed after {seconds:.1f} s")


def changed_users(acu):
    for name, role in (("eve", "admin"), ("bob", "view")):
        acu_says(acu, "serve", "--users", path("changing"), "--add-user", name, "--role", role, stdin="first password\n")
    need(os.stat(path("changing")).st_mode & 0o777 == 0o600, "others can read the file")
    need("first password" not in open(path("changing")).read() and open(path("changing")).read().count("$argon2id$v=19$m=65536,t=2,p=1$") == 2, "no hashes")
    server = Server(acu, "--users", path("changing"))
    eve, bob = server.login("eve", "first password"), server.login("bob", "first password")
    acu_says(acu, "serve", "--users", path("changing"), "--add-user", "bob", "--role", "view", stdin="second password\n")
    text = open(path("changing")).read()
    open(path("changing"), "w").write(text.replace("eve admin", "eve view"))
    need(server.ask("/api/audit", session=eve).status == 200, "before SIGHUP")
    server.child.send_signal(signal.SIGHUP)
    server.wait_for("again: 2 users")
    need(server.ask("/api/audit", session=eve).status == 403 and server.ask("/api/me", session=eve).status == 200, "another role")
    need(server.ask("/api/me", session=bob).status == 401, "another password")
    open(path("changing"), "a").write("broken\n")
    server.child.send_signal(signal.SIGHUP)
    server.wait_for("keeping the previous users")
    need("line 4: not NAME ROLE HASH" in server.said() and server.ask("/api/me", session=eve).status == 200, server.said())
    server.stop()


def wrong_user_files(acu):
    good = open(users_file(acu)).read().splitlines()[1].split()[2]
    salt = good.split("$")
    cases = [
        ("a view\n", "line 1: not NAME ROLE HASH"), ("# x\n\na root " + good, "line 3: `root` is not a role"), (f"a view {good}\na admin {good}", "line 2: the user `a` is also in line 1"),
        ("a view secret", "line 1: the hash is not one of argon2id"), ("a view " + good[:-4] + "!!", "line 1: the hash is damaged"), ("a view " + good.replace("m=65536", "m=4294967295"), "line 1: the hash needs 4294967295 KiB"),
        ("a view " + good.replace("m=65536", "m=x"), "line 1: the hash is damaged"), ("a view $argon2id$v=19$m=65536,t=2,p=1$" + salt[4], "line 1: the hash is not"), (f"a/b view {good}", "line 1: `a/b` is not a valid user name"),
        (f"{'n' * 65} view {good}", "is not a valid user name"), (f"a view {good} more", "not NAME ROLE HASH"), ("", "has no users"), ("# nobody\n", "has no users"), ("\0\0\0", "line 1"), ("a\x1b[31m view " + good, "\\x1b"),
    ]
    for text, message in cases:
        open(path("wrong"), "w").write(text)
        os.chmod(path("wrong"), 0o600)
        said = acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("wrong.db"), "--users", path("wrong"), status=2)
        need(message in said and "hint: " in said.replace("HINT", "hint"), f"{text[:60]!r}: {said}")
    shutil.copy(users_file(acu), path("readable"))
    os.chmod(path("readable"), 0o640)
    said = acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("wrong.db"), "--users", path("readable"), status=4)
    need("can be read or written by others" in said and "chmod 600" in said, said)
    acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("wrong.db"), "--users", path("not-there"), status=1)
    acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("wrong.db"), "--users", TMP, status=2)
    for words, stdin in ((("--add-user", "x", "--role", "view"), "long enough\n"), (("--users", path("n"), "--add-user", "x"), "long enough\n"), (("--users", path("n"), "--add-user", "x", "--role", "root"), "long enough\n"),
                         (("--users", path("n"), "--add-user", "x y", "--role", "view"), "long enough\n"), (("--users", path("n"), "--add-user", "x", "--role", "view"), "short\n"), (("--users", path("n"), "--add-user", "x", "--role", "view"), ""),
                         (("--users", path("n"), "--add-user", "x", "--role", "view"), "a" * 1025 + "\n"), (("--users", path("n"), "--role", "view"), ""), (("--login-time", "1h"), "")):
        acu_says(acu, "serve", *words, stdin=stdin, status=2)
        need(not os.path.exists(path("n")), f"{words} wrote a file")


def token_files(acu):
    """Whoever made the file of the token, or can replace it, knows the token."""
    words = ["serve", "--listen", "127.0.0.1:0", "--store", path("wrong.db"), "--token-file"]
    made, pipe = path("made.token"), path("pipe.token")
    open(made, "w").write("t" * 64)
    if not os.path.exists(pipe):
        os.mkfifo(pipe, 0o600)
    os.chmod(made, 0o640)
    need("can be read or written by others" in (said := acu_says(acu, *words, made, status=4)) and "chmod 600" in said, said)
    os.chmod(made, 0o600)
    if os.geteuid() == 0:
        os.chown(made, 65534, -1)
        need("belongs to another user (uid 65534)" in (said := acu_says(acu, *words, made, status=4)), said)
    for other in (pipe, TMP):
        need("is not a regular file" in (said := acu_says(acu, *words, other, status=2)), said)
    open(path("short.token"), "w").write("t" * 31)
    os.chmod(path("short.token"), 0o600)
    need("fewer than 32 characters" in (said := acu_says(acu, *words, path("short.token"), status=2)), said)


# ------------------------------------------------------------------------------------------------ TLS


def encrypted(acu):
    server = Server(acu, "--users", users_file(acu), tls=certificate("one"))
    session = server.login("mia")
    need("; Secure" in server.last and session.startswith("__Host-acu="), server.last)
    need(server.ask("/api/me", session=session).status == 200 and server.ask("/api/me").status == 401, "over TLS")
    need(server.ask("/api/me", session=session, headers={"Host": "evil.example"}).status == 403 and server.ask("/api/me", session=session, headers={"Host": f"web.example:{server.port}"}).status == 200, "names of the certificate")
    need(server.try_login("mia", PASSWORDS["mia"], {"Origin": f"http://localhost:{server.port}"}).status == 403 and server.try_login("mia", PASSWORDS["mia"], {"Origin": f"https://localhost:{server.port}"}).status == 303, "the origin")
    answer = raw(server.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    need(answer.startswith("HTTP/1.1 400") and "https://" in answer, f"plain HTTP: {answer[:200]}")
    for data in (b"\x16\x03\x01\x02\x00\x01\x00", b"\x16\x03\x01\xff\xff" + b"\x00" * 1000, b"\x80\x2e\x01"):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(data)
    if shutil.which("curl"):
        done = subprocess.run(["curl", "-s", "--cacert", server.tls[0], f"https://localhost:{server.port}/healthz"], capture_output=True, text=True)
        need(done.stdout == "ok\n", f"curl: {done}")
    big = b"GET /healthz HTTP/1.1\r\nHost: localhost:%d\r\nX: %s\r\n\r\n" % (server.port, b"a" * 100000)
    need("HTTP/1.1 431" in raw(server.port, big, ssl.create_default_context(cafile=server.tls[0])), "a huge header over TLS")
    need(server.ask("/healthz").status == 200, "it still answers")
    server.stop()


def versions_of_tls(acu):
    server = Server(acu, tls=certificate("one"))
    for version, is_taken in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
        context = ssl.create_default_context(cafile=server.tls[0])
        context.set_ciphers("ALL:@SECLEVEL=0")  # Python's OpenSSL would refuse 1.1 itself
        context.minimum_version = context.maximum_version = version
        try:
            answer = raw(server.port, f"GET /healthz HTTP/1.1\r\nHost: localhost:{server.port}\r\nConnection: close\r\n\r\n".encode(), context)
        except (ssl.SSLError, ConnectionError) as error:
            answer = str(error)
        need(answer.startswith("HTTP/1.1 200") == is_taken, f"{version.name}: {answer[:200]}")
    need("?token=" in server.said() and "https://127.0.0.1" in server.said(), server.said())
    server.stop()


def wrong_tls_files(acu):
    (cert, key), (other, other_key) = certificate("one"), certificate("two")
    open(path("text"), "w").write("no certificate\n")
    os.chmod(path("text"), 0o600)
    shutil.copy(key, path("open.key"))
    os.chmod(path("open.key"), 0o644)
    subprocess.run(["openssl", "ec", "-in", key, "-aes256", "-passout", "pass:x", "-out", path("locked.key")], capture_output=True, check=True)
    os.chmod(path("locked.key"), 0o600)
    open(path("cut.crt"), "w").write(open(cert).read() + open(other).read()[:200])
    shutil.copy(key, path("foreign.key"))
    os.chmod(path("foreign.key"), 0o600)
    cases = [((cert, other_key), 2, "is not the key of the certificate"), ((path("text"), key), 2, "has no certificate"), ((cert, path("text")), 2, "has no key"), ((cert, path("open.key")), 4, "can be read or written by others"),
             ((cert, path("locked.key")), 2, "with a passphrase"), ((cert, path("none")), 1, "cannot read"), ((path("none"), key), 1, "cannot open"), ((path("cut.crt"), key), 2, "behind the first"), ((key, key), 2, "has no certificate")]
    if os.geteuid() == 0:
        os.chown(path("foreign.key"), 65534, -1)
        cases.append(((cert, path("foreign.key")), 4, "belongs to another user"))
    for (one, two), status, message in cases:
        said = acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("w.db"), "--tls-cert", one, "--tls-key", two, status=status)
        need(message in said, f"{one} {two}: {said}")
    expired = path("expired.crt")
    subprocess.run(["openssl", "req", "-new", "-key", key, "-subj", "/CN=old", "-out", path("old.csr")], capture_output=True, check=True)
    done = subprocess.run(["openssl", "x509", "-req", "-in", path("old.csr"), "-signkey", key, "-days", "-1", "-out", expired], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr)
    said = acu_says(acu, "serve", "--listen", "127.0.0.1:0", "--store", path("w.db"), "--tls-cert", expired, "--tls-key", key, status=2)
    need("expired on" in said, said)
    need("belong together" in acu_says(acu, "serve", "--tls-cert", cert, status=2), "a certificate without its key")
    need("must be encrypted" in acu_says(acu, "serve", "--listen", "0.0.0.0:0", status=2), "another address without TLS")


def certificate_is_read_again(acu):
    for kind in ("crt", "key"):
        shutil.copy(certificate("one")[kind == "key"], path("live." + kind))
    os.chmod(path("live.key"), 0o600)
    server = Server(acu, tls=(path("live.crt"), path("live.key")))

    def shown():
        return ssl.get_server_certificate(("127.0.0.1", server.port))

    before = shown()
    for kind in ("crt", "key"):
        shutil.copy(certificate("two")[kind == "key"], path("live." + kind))
    need(shown() == before, "before SIGHUP")
    server.child.send_signal(signal.SIGHUP)
    until = time.monotonic() + patient(10)
    while server.said().count("valid until") < 2:
        need(time.monotonic() < until, server.said())
        time.sleep(0.05)
    need(shown() != before, "the certificate is the old one")
    need(server.ask("/healthz").status == 200, "with the new one")
    shutil.copy(certificate("one")[1], path("live.key"))
    server.child.send_signal(signal.SIGHUP)
    server.wait_for("keeping the previous certificate")
    need("is not the key of" in server.said() and server.ask("/healthz").status == 200, server.said())
    server.stop()


def other_addresses(acu):
    server = Server(acu, "--users", users_file(acu), "--listen", "0.0.0.0:0", tls=certificate("one"))
    need(f"ready at https://localhost:{server.port}" in server.said() and server.ask("/healthz").status == 200, server.said())
    server.stop()
    # A wildcard is no address.
    here = os.uname().nodename.split(".")[0]
    for name, names, shown in (("wild", "DNS:*.example.com", here + ".example.com"), ("wild-and-name", "DNS:*.example.com,DNS:acu.example.com", "acu.example.com")):
        server = Server(acu, "--listen", "0.0.0.0:0", tls=certificate(name, names))
        need(f"open https://{shown}:{server.port}/?token=" in server.said(), server.said())
        server.stop()


def agents_and_their_collector(acu):
    """An agent sends to a collector that it trusts, which has no store here: it says so, over TLS."""
    cert, key = certificate("one")
    other, other_key = certificate("elsewhere", "DNS:elsewhere.example")
    token = "t" * 40
    for name, text in (("agents", f"web1 {token}\n"), ("agent.token", token)):
        open(path(name), "w").write(text)
        os.chmod(path(name), 0o600)
    acu_says(acu, "serve", "--sample", "host", "--store", "spool:" + path("spool"), "--max-duration", "1s")

    def sends(collector, port, *more, host="localhost"):
        with open(path("agent.err"), "w+") as errors:
            child = subprocess.Popen([acu, "agent", "--to", f"{collector}://{host}:{port}", "--token-file", path("agent.token"), "--spool", path("spool"), *more], stdout=subprocess.DEVNULL, stderr=errors)
            try:
                until = time.monotonic() + patient(20)
                while len(said := [line for line in open(errors.name).read().splitlines() if "recording, and" not in line and "hint: " not in line]) < 1:
                    need(child.poll() is None and time.monotonic() < until, f"it reports nothing: {open(errors.name).read()}")
                    time.sleep(0.1)
                return open(errors.name).read()
            finally:
                child.terminate()
                child.wait(patient(30))

    def collector(name, certificate_file, key_file):
        errors = open(path(name + ".collect"), "w+")
        child = subprocess.Popen([acu, "collect", "--listen", "127.0.0.1:0", "--store", "clickhouse://127.0.0.1:1/a", "--agents", path("agents"), "--tls-cert", certificate_file, "--tls-key", key_file], stdout=subprocess.DEVNULL, stderr=errors)
        until = time.monotonic() + patient(20)
        while not (found := re.search(r"ready at https://127.0.0.1:(\d+)", open(errors.name).read())):
            need(child.poll() is None and time.monotonic() < until, open(errors.name).read())
            time.sleep(0.05)
        return child, int(found[1])

    children = []
    try:
        child, port = collector("right", cert, key)
        children.append(child)
        for host in ("localhost", "127.0.0.1"):
            said = sends("https", port, "--tls-ca", cert, host=host)
            need("127.0.0.1:1" in said and "trusted" not in said, f"the collector's own answer does not come: {said}")
        need("the certificate is not trusted" in (said := sends("https", port)) and "--tls-ca" in said, f"a collector of unknown issuer: {said}")
        need("the certificate is not trusted" in (said := sends("https", port, "--tls-ca", other)), f"another issuer: {said}")
        need("is not a collector: status 400" in (said := sends("http", port)), f"without TLS: {said}")
        child, port = collector("elsewhere", other, other_key)
        children.append(child)
        need("certificate" in (said := sends("https", port, "--tls-ca", other)) and "127.0.0.1:1" not in said, f"of another name: {said}")
    finally:
        for child in children:
            child.terminate()
            child.wait(patient(20))


def libraries_on_request(acu):
    """OpenSSL and libsodium are loaded when they are used; what is wrong with them is reported with their package."""
    if not shutil.which("gcc"):
        raise Skipped("gcc is not installed")
    needed = subprocess.run(["readelf", "-d", acu], capture_output=True, text=True).stdout
    need("NEEDED" in needed and not re.search("ssl|crypto|sodium", needed), needed)
    cert, key = certificate("one")
    tls = ("serve", "--listen", "127.0.0.1:0", "--store", path("l.db"), "--tls-cert", cert, "--tls-key", key)
    open(path("agent.token"), "w").write("t" * 40)
    os.chmod(path("agent.token"), 0o600)
    agent = ("agent", "--to", "https://localhost:1", "--token-file", path("agent.token"), "--spool", path("no-spool"))
    add = ("serve", "--users", path("l.users"), "--add-user", "x", "--role", "view")
    users = ("serve", "--listen", "127.0.0.1:0", "--store", path("l.db"), "--users", users_file(acu))
    kinds = [("damaged", None, "cannot use TLS: ", "install libssl3", "cannot use passwords: ", "install libsodium23"),
             ("empty", "", "libcrypto.so.3 is not of OpenSSL 3", "install libssl3", "has no function crypto_pwhash_str", "update it"),
             ("newer", "unsigned long OpenSSL_version_num(void) { return 0x40000000; }", "libcrypto.so.3 is of OpenSSL 4, not 3", "install libssl3", "", ""),
             ("older", "unsigned long OpenSSL_version_num(void) { return 0x30000000; }", "has no function ASN1_STRING_get0_data", "update it", "", "")]
    for kind, source, why, hint, sodium_why, sodium_hint in kinds:
        folder = path("lib-" + kind)
        os.makedirs(folder, exist_ok=True)
        for name in ("libcrypto.so.3", "libssl.so.3", "libsodium.so.23"):
            if source is None:
                open(os.path.join(folder, name), "w").write("no library\n")
            else:
                subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(folder, name)], input=source, text=True, check=True)
        environment = {**os.environ, "LD_LIBRARY_PATH": folder}
        need("usage" in acu_says(acu, "help", "serve", env=environment), f"{kind}: a run that needs none of them")
        for words in (tls, agent):
            said = acu_says(acu, *words, status=5, env=environment)
            need(why in said and hint in said, f"{kind}: {said}")
        for words in (add, users) if sodium_why else ():
            said = acu_says(acu, *words, stdin="long enough\n", status=5, env=environment)
            need(sodium_why in said and sodium_hint in said and not os.path.exists(path("l.users")), f"{kind}: {said}")


def policy_of_the_system(acu):
    """What openssl.cnf demands holds where it is stricter than acu."""
    open(path("openssl.cnf"), "w").write("openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\nMinProtocol = TLSv1.3\n")
    os.environ["OPENSSL_CONF"] = path("openssl.cnf")
    try:
        server = Server(acu, tls=certificate("one"))
    finally:
        del os.environ["OPENSSL_CONF"]
    for version, is_taken in ((ssl.TLSVersion.TLSv1_2, False), (ssl.TLSVersion.TLSv1_3, True)):
        context = ssl.create_default_context(cafile=server.tls[0])
        context.minimum_version = context.maximum_version = version
        try:
            answer = raw(server.port, f"GET /healthz HTTP/1.1\r\nHost: localhost:{server.port}\r\nConnection: close\r\n\r\n".encode(), context)
        except (ssl.SSLError, ConnectionError) as error:
            answer = str(error)
        need(answer.startswith("HTTP/1.1 200") == is_taken, f"{version.name}: {answer[:200]}")
    server.stop()


TESTS = [roles, jobs_of_others, audit_names_users, wrong_passwords_wait, audit_that_cannot_be_written, sessions_end, other_sites, large_and_slow_logins, changed_users, wrong_user_files, token_files, encrypted, versions_of_tls, wrong_tls_files,
         certificate_is_read_again, other_addresses, agents_and_their_collector, libraries_on_request, policy_of_the_system]

if __name__ == "__main__":
    try:
        status = run_suite(TESTS, TMP)
    finally:
        for left in list(state["servers"]):
            left.stop()
    sys.exit(status)
