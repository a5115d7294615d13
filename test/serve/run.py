#!/usr/bin/env python3
"""acu serve over real HTTP: run.py ACU [--filter TEXT]

One server runs for most of the tests, with a busy Python program and a waiting one beside it. Last line: `N passed, N failed, N skipped`.
"""
import atexit
import concurrent.futures
import contextlib
import csv
import gzip
import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import busy_servers
import prometheus
from server import BURNER, CHANGE, TMP, Server, path
from tally import Skipped, need, patient, run_suite

state = {}


def shared(acu):
    """The server of most tests, and its burner."""
    if "server" not in state or state["server"].child.poll() is not None or state["burner"].poll() is not None:  # a test that fails ends all children
        if state:
            end_shared()
        open(path("burner.py"), "w").write(BURNER)
        state["name"] = f"burner-{os.getpid() % 100000}"
        state["burner"] = subprocess.Popen(["/usr/bin/python3", path("burner.py"), state["name"][7:]])
        state["server"] = Server(acu, "shared")
    return state["server"]


@atexit.register
def end_shared():
    if not state:
        return
    state["burner"].kill()
    state["burner"].wait()
    state["server"].stop()


def walk(node):
    yield node
    for child in node["children"]:
        yield from walk(child)


def eventually(ask, what, seconds=30, every=0.3):
    until = time.monotonic() + patient(seconds)
    while not (found := ask()):
        need(time.monotonic() < until, what() if callable(what) else what)
        time.sleep(every)
    return found


def recorded(acu):
    """The burner is in the store."""
    server = shared(acu)
    return eventually(lambda: (tree := server.get(f"/api/flame?service={state['name']}&from=-120"))["total"] and tree, "the burner is in no flame graph after 30 s")


# ------------------------------------------------------------------------------------------------ what is recorded


def flame_graph_within_30_seconds(acu):
    tree = recorded(acu)
    nodes = {n["name"]: n for n in walk(tree["tree"])}
    need("busy_function" in nodes, f"no busy_function in {sorted(nodes)[:40]}")
    need(nodes["busy_function"]["kind"] == "python" and nodes["busy_function"]["value"] > 0.5 * tree["total"], str(nodes["busy_function"])[:200])
    for node in walk(tree["tree"]):
        need(node["value"] == node["self"] + sum(c["value"] for c in node["children"]), f"sums of {node['name']}")
    need(tree["unit"] == "ns" and sum(p["value"] for p in tree["processes"]) == tree["total"], str(tree["processes"])[:200])


def servers_in_interpreted_languages(acu):
    """nginx with Lua and an HTTP server in Python, under load: 30 s after the start of acu serve their functions are in the flame graphs of their services."""
    if not os.path.exists("/usr/lib/nginx/modules/ngx_http_lua_module.so"):
        raise Skipped("nginx has no module for Lua (scripts/setup.sh test)")
    with contextlib.ExitStack() as at_end:
        folder = at_end.enter_context(tempfile.TemporaryDirectory(prefix="acu-serve-"))  # nginx's worker may read nothing in TMP
        nginx, of_lua = at_end.enter_context(busy_servers.nginx_with_lua(folder))
        python, of_python = at_end.enter_context(busy_servers.python(folder))
        until = time.monotonic() + patient(30)
        server = Server(acu, "languages")
        at_end.callback(server.stop)
        for service, pid, functions, kind in (("nginx", nginx, of_lua, "lua"), ("python3", python, of_python, "python")):
            def found():
                tree = server.get(f"/api/flame?service={service}&pid={pid}&from=-120")["tree"]
                return functions & {node["name"] for node in walk(tree) if node.get("kind") == kind}
            eventually(found, lambda: f"none of {functions} is in the flame graph of {service} after 30 s: {server.get(f'/api/flame?service={service}&from=-120')['tree']}"[:3000], (until - time.monotonic()) / patient(1))


def filters(acu):
    recorded(acu)
    server = shared(acu)
    name, pid = state["name"], state["burner"].pid
    whole = server.get("/api/flame?from=-120")
    of_pid = server.get(f"/api/flame?from=-120&pid={pid}")
    need(of_pid["total"] > 0 and whole["total"] >= of_pid["total"], "by process")
    need(server.get("/api/flame?from=-120&service=no-such-service")["total"] == 0, "of a service that is not there")
    need(server.get(f"/api/flame?from=-120&thread={name}")["total"] > 0, "by thread")
    need(server.get("/api/flame?from=1000&to=2000")["total"] == 0, "of a time long ago")


def formats(acu):
    recorded(acu)
    server = shared(acu)
    where = f"/api/flame?from=-120&service={state['name']}&format="
    folded = server.ask(where + "folded")
    need(folded.status == 200 and re.search(r"busy_function\S*(;\S+)* \d+\n", folded.body), folded.body[:300])
    need("attachment" in folded.headers["Content-Disposition"], str(folded.headers))
    page = server.ask(where + "html")
    need("busy_function" in page.body and page.headers["Content-Type"].startswith("text/html"), page.body[:200])
    policy = page.headers["Content-Security-Policy"]
    need("default-src 'none'" in policy and "script-src 'sha256-" in policy and "unsafe" not in policy, policy)
    need(server.ask(where + "svg").body.startswith("<"), "svg")
    need(server.ask(where + "nonsense").status == 400, "a format that is none")
    need(server.ask("/api/flame?kind=alloc").status == 400, "a kind that is not recorded all the time")


def overview_and_services(acu):
    recorded(acu)
    server, name = shared(acu), state["name"]
    found = eventually(lambda: [s for s in server.get("/api/services?from=-60")["services"] if s["service"] == name and s["cpu"] > 0], "the burner is no service")
    need(found[0]["type"] in ("process", "unit", "container") and found[0]["processes"] > 0 and found[0]["memory"] > 1 << 20, str(found))
    overview = server.get("/api/overview")
    need(len(overview["cpus"]) >= 1 and 0 < overview["busy"] <= 1 and abs(overview["now"] - time.time()) < 60, str(overview)[:300])
    me = server.get("/api/me")
    need({"cpu", "offcpu"} <= {k["name"] for k in me["kinds"] if k["stored"]} and me["read_only"] is False, str(me)[:300])
    series = server.get(f"/api/series?service={name}&names=cpu,memory&from=-60")
    need([s["name"] for s in series["series"]] == ["cpu", "memory"] and all(len(s["values"]) == len(series["times"]) for s in series["series"]), str(series)[:300])
    need(any(v for v in series["series"][0]["values"]), str(series)[:300])
    top = server.get(f"/api/top?service={name}&seconds=120")
    need("busy_function" in [f["name"] for f in top["functions"]], str(top)[:300])
    own = server.get("/api/series?names=own_samples,own_cpu,own_lost&from=-60")
    need(any(v for v in own["series"][0]["values"]), "own samples are no series")


def waits_are_recorded(acu):
    server = shared(acu)
    found = eventually(lambda: (t := server.get("/api/flame?kind=offcpu&from=-120"))["total"] and t, "no waits after 30 s")
    need(found["unit"] == "ns", str(found)[:200])
    # Of both kinds a store has ns: waits are charged to functions of the program, CPU time to the innermost ones (profile/page/tree.js).
    ranked = ['"ranks":[' in server.ask(f"/api/flame?kind={kind}&from=-120&format=html").body for kind in ("offcpu", "cpu")]
    need(ranked == [True, False], str(ranked))


def comparison(acu):
    recorded(acu)
    server, name = shared(acu), state["name"]
    same = server.get(f"/api/compare?service={name}&a_from=-120&b_from=-120")
    need(same["a"]["total"] == same["b"]["total"] > 0 and same["tree"]["a"] == same["tree"]["b"], str(same)[:300])
    none = server.get(f"/api/compare?a_service=none&b_service={name}&a_from=-120&b_from=-120")
    rows = {f["name"]: f for f in none["functions"]}
    need(rows["busy_function"]["total_a"] == 0 and rows["busy_function"]["total_b"] > 0, str(rows)[:300])
    need("<html" in server.ask(f"/api/compare?service={name}&a_from=-120&b_from=-120&format=html").body, "the page")


def exports_are_csv(acu):
    recorded(acu)
    server = shared(acu)
    table = list(csv.reader(io.StringIO(server.ask("/api/export?what=services&from=-60").body)))
    need(table[0][:3] == ["service", "type", "cpu"] and len({len(row) for row in table}) == 1, str(table)[:300])
    table = list(csv.reader(io.StringIO(server.ask("/api/export?what=series&from=-60").body)))
    need(table[0][0] == "time" and len(table) > 2, str(table)[:300])
    need(server.ask("/api/export?what=secrets").status == 400, "what is not there")


def metrics(acu):
    recorded(acu)
    server = shared(acu)
    answer = server.ask("/metrics")
    need(answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0") and answer.body.endswith("# EOF\n"), answer.body[-200:])
    types, names = {}, set()  # of families; of samples
    for line in answer.body.splitlines()[:-1]:
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split()
            need(family not in types, f"twice: {line}")
            types[family] = kind
            names.add(family + "_total" if kind == "counter" else family)
        elif not line.startswith("#"):
            need(re.fullmatch(r'[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? -?[0-9.e+-]+', line) and re.split(r"[{ ]", line)[0] in names, line)
    need(any(state["name"] in line and line.startswith("acu_service_cpu_cores") for line in answer.body.splitlines()), "the burner's CPU time")
    prometheus.series_of(answer.body)  # none is there twice
    need(types["acu_sampler_restarts"] == "counter" and not any(name.endswith("_total") for name in types), str(types))  # what only grows has the name of a counter


def needs_prometheus():
    if not prometheus.is_installed():
        raise Skipped("prometheus is not installed (scripts/setup.sh test)")


@contextlib.contextmanager
def odd_service(server):
    """A busy process whose name has all that a label escapes; its name, when /metrics has it."""
    name, shown = '"q"\n\\b {x}=1,', '"q"\\n\\b {x}=1,'
    child = subprocess.Popen(["/usr/bin/python3", "-c", f"import ctypes; ctypes.CDLL(None).prctl(15, {name.encode()})\nwhile True: sum(range(1000))"])
    try:
        key = ("acu_service_cpu_cores", frozenset({"service": shown, "type": "process"}.items()))
        eventually(lambda: prometheus.series_of(server.ask("/metrics").body).get(key), "the process with the odd name is in no series", 60)
        yield key
    finally:
        child.kill()
        child.wait()


def promtool_accepts_metrics(acu):
    """In the older text format, which promtool reads. It also lints names, units and help texts."""
    needs_prometheus()
    recorded(acu)
    server = shared(acu)
    with odd_service(server):
        for accept in ("application/openmetrics-text;version=1.0.0", "text/plain;version=0.0.4", "*/*"):
            answer = server.ask("/metrics", headers={"Accept": accept})
            need(answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0"), f"{accept}: {answer.headers['Content-Type']}")
            need("acu_service_cpu_cores{" in answer.body, answer.body[:300])
            checked = subprocess.run(["promtool", "check", "metrics"], input=prometheus.older_format(answer.body), text=True, capture_output=True, timeout=patient(60))
            need(checked.returncode == 0 and not checked.stdout + checked.stderr, f"{checked.returncode} {checked.stdout}{checked.stderr}")
    broken = subprocess.run(["promtool", "check", "metrics"], input=answer.body.replace("# HELP acu_findings", "# TYPE acu_findings gauge\n# HELP acu_findings"), text=True, capture_output=True, timeout=patient(60))
    need(broken.returncode != 0 and "acu_findings" in broken.stderr, f"promtool finds nothing: {broken.stdout}{broken.stderr}")


def prometheus_scrapes_metrics(acu):
    """Numbers change once in a slot of 10 s. Where /metrics shows the same before and after a scrape, that scrape has the same."""
    needs_prometheus()
    recorded(acu)
    server = shared(acu)
    scraper = prometheus.Prometheus(path("prometheus"))
    try:
        with odd_service(server) as odd:
            scraper.start(server.origin.removeprefix("http://"), server.token_file)
            eventually(scraper.is_ready, lambda: f"Prometheus is not ready: {scraper.said()[-2000:]}", 60)
            eventually(lambda: [t for t in scraper.ask("targets")["activeTargets"] if t["health"] == "up"], lambda: f"not scraped: {scraper.ask('targets')['activeTargets']}", 30)

            def compared():
                begin, first, first_end = time.time(), prometheus.series_of(server.ask("/metrics").body), time.time()
                time.sleep(4)
                second_begin, second, end = time.time(), prometheus.series_of(server.ask("/metrics").body), time.time()
                same = {key: value for key, value in first.items() if second.get(key) == value}
                if end - begin > 9 or not same.get(odd):
                    return None  # more than one slot may have ended meanwhile
                scraped = scraper.scraped(60)
                # The last one may have been answered after the second look. Prometheus moves times by up to 2 ms.
                times = [when for when, _ in scraped.get(odd, []) if first_end + 0.005 < when < second_begin][:-1]
                if not times:
                    return None
                for key, value in same.items():
                    found = dict(scraped.get(key, []))
                    for when in times:
                        need(found.get(when) == value, f"{key}: /metrics shows {value}, Prometheus {found.get(when)}")
                return same
            same = eventually(compared, lambda: f"no scrape within a slot: {scraper.said()[-2000:]}", 60)
            for name in ("acu_own_cpu_cores", "acu_own_memory_bytes", "acu_own_samples_per_second"):
                need(same.get((name, frozenset())), f"{name} is not among those that were compared")
            burner = ("acu_service_cpu_cores", frozenset({"service": state["name"], "type": "process"}.items()))
            need(same.get(burner), "the burner is not among those that were compared")
        # Units are in the OpenMetrics format only.
        about = {d["metric"]: (d["type"], d["unit"], d["help"]) for d in scraper.ask("targets/metadata")}
        need(about.get("acu_own_cpu_cores") == ("gauge", "cores", "CPU time of acu serve and its processes."), str(about))
        wrong = [line for line in scraper.said().splitlines() if re.search(r"level=(warn|error)", line) and "scrape" in line]
        need(not wrong, "\n".join(wrong[:5]))
    finally:
        scraper.stop()


# ------------------------------------------------------------------------------------------------ what is run


def scripts(acu):
    server = shared(acu)
    need(server.post("/api/check", {"script": "interval:s:1 { exit(); }"})["valid"] is True, "a good script")
    bad = server.post("/api/check", {"script": "interval:s:1 { nothing(); }"})
    need(bad["valid"] is False and bad["marks"][0]["line"] == 1 and bad["marks"][0]["column"] > 1, str(bad))
    job = server.job({"verb": "run_script", "arguments": {"script": "interval:ms:100 { @ticks = count(); }", "duration": 1}})
    need(job["state"] == "done" and any(row["type"] == "map" for row in job["result"]["rows"]), str(job)[:400])
    failed = server.job({"verb": "run_script", "arguments": {"script": "tracepoint:no:such { }", "duration": 1}})
    need(failed["state"] == "failed" and "no tracepoint" in failed["error"], str(failed)[:400])
    need(server.job({"verb": "run_script", "arguments": {"script": "begin { system(\"id\"); }", "duration": 1}})["state"] == "failed", "a script that changes the system")


def jobs_can_be_cancelled(acu):
    server = shared(acu)
    started = server.post("/api/jobs", {"verb": "run_script", "arguments": {"script": "interval:ms:100 { @n = count(); }", "duration": 60}}, 202)
    need(server.ask(f"/api/jobs/{started['id']}", "DELETE", headers={"X-Acu": "1"}).status == 200, "DELETE")
    eventually(lambda: server.get(f"/api/jobs/{started['id']}")["state"] == "cancelled", "it was not cancelled", 20)
    need(server.ask("/api/jobs/999999").status == 404, "a job that is not there")
    # At once: the child may still be a copy of the server, with the server's handlers of signals.
    for _ in range(60):
        started = server.post("/api/jobs", {"verb": "check_script", "arguments": {"script": "BEGIN {}"}}, 202)
        need(server.ask(f"/api/jobs/{started['id']}", "DELETE", headers={"X-Acu": "1"}).status == 200, "DELETE")
        eventually(lambda: server.get(f"/api/jobs/{started['id']}")["state"] != "running", "it was not cancelled", 20, every=0.01)
    need(server.child.poll() is None, "the server has ended")


def measure_now(acu):
    server = shared(acu)
    job = server.job({"verb": "flame", "arguments": {"pid": state["burner"].pid, "duration": 1}})
    need(job["state"] == "done" and job["has_page"] and "busy_function" in job["result"]["text"], str(job)[:400])
    need("busy_function" in server.ask(f"/api/jobs/{job['id']}/page").body, "the page of a job")
    need("busy_function" in server.ask(f"/api/jobs/{job['id']}/file?format=folded").body, "the file of a job")


def lists(acu):
    server = shared(acu)
    need({"why", "flame", "run_script", "tool"} <= {v["name"] for v in server.get("/api/verbs")["verbs"]}, "verbs")
    tools = server.get("/api/tools")["tools"]
    need(len(tools) > 150 and all(t["group"] and t["title"] for t in tools), str(tools)[:200])
    need("kprobe:vfs_read" in server.get("/api/complete?text=kprobe:vfs_rea")["words"], "probes")
    need("count" in server.get("/api/complete?text=cou")["words"], "builtins")


def sql(acu):
    recorded(acu)
    server = shared(acu)
    rows = server.post("/api/sql", {"query": f"select pid, name from processes where pid = {state['burner'].pid}"})
    need(rows["columns"] == ["pid", "name"] and rows["rows"] == [[state["burner"].pid, state["name"]]], str(rows))
    stored = server.post("/api/sql", {"query": "select count(*) as n from samples", "of": "store"})
    need(stored["columns"] == ["n"] and stored["rows"][0][0] > 0, str(stored))
    for query, of in (("select missing", "host"), ("select missing", "store"), ("delete from samples", "store"), ("attach '/etc/passwd' as x", "host")):
        answer = server.ask("/api/sql", "POST", {"query": query, "of": of}, CHANGE)
        need(answer.status == 400 and answer.json()["error"], f"{query}: {answer.status} {answer.body}")
    # A query is never an option of acu.
    written = os.path.join(TMP, "written.db")
    server.ask("/api/sql", "POST", {"query": f"--output={written}"}, CHANGE)
    need(not os.path.exists(written), "a query was taken for an option")


# ------------------------------------------------------------------------------------------------ who may ask


def nothing_without_a_token(acu):
    server = shared(acu)
    for where in ("/", "/api/me", "/api/flame", "/metrics", "/api/jobs", "/api/audit", "/no/such/thing", "/?token=" + "0" * 64, "/?token="):
        answer = server.ask(where, with_token=False)
        need(answer.status == 401 and "burner" not in answer.body, f"{where}: {answer.status}")
    need(server.ask("/api/jobs", "POST", {"verb": "host"}, CHANGE, with_token=False).status == 401, "POST")
    need(server.ask("/api/me", headers={"Authorization": "Bearer " + "0" * 64}).status == 401, "a wrong token")
    need(server.ask("/api/me", headers={"Cookie": "acu=" + "0" * 64}, with_token=False).status == 401, "a wrong cookie")
    need(server.ask("/healthz", with_token=False).body == "ok\n", "/healthz")
    # The header alone is refused: the body never comes.
    answer = raw(server, f"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Acu: 1\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n".encode())
    need(answer.startswith("HTTP/1.1 401"), f"a header without its body: {answer[:100]}")


def one_token_one_session(acu):
    server = shared(acu)
    token = server.login_token()
    answer = server.ask("/?token=" + token, with_token=False)
    need(answer.status == 303 and answer.headers["Location"] == "/", str(answer.status))
    cookie = answer.headers["Set-Cookie"]
    need("HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
    need(server.ask("/?token=" + token, with_token=False).status == 401, "the token again")
    page = server.ask("/", headers={"Cookie": cookie.split(";")[0]}, with_token=False)
    need(page.status == 200 and "default-src 'none'" in page.headers["Content-Security-Policy"] and "Access-Control-Allow-Origin" not in page.headers, str(page.headers))
    eventually(lambda: server.login_token() != token, "no new token is printed", 5)


def other_sites(acu):
    server = shared(acu)
    body = {"verb": "host", "arguments": {}}
    need(server.ask("/api/jobs", "POST", body, {"Content-Type": "application/json"}).status == 403, "without the header")
    need(server.ask("/api/jobs", "POST", body, {**CHANGE, "Origin": "http://evil.example"}).status == 403, "another origin")
    need(server.ask("/api/jobs", "POST", b"verb=host", {"X-Acu": "1", "Content-Type": "application/x-www-form-urlencoded"}).status == 400, "a form")
    need(server.ask("/api/me", headers={"Host": "evil.example"}).status == 403, "another host")
    need(server.ask("/api/me", "OPTIONS").status in (403, 405), "OPTIONS")


def raw(server, data, seconds=10):
    with socket.create_connection(("127.0.0.1", server.port), timeout=patient(seconds)) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        out = b""
        with contextlib.suppress(ConnectionError):
            while piece := s.recv(65536):
                out += piece
        return out.decode("latin-1")


def paths_lead_nowhere(acu):
    server = shared(acu)
    secret = f"Authorization: Bearer {server.token}\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    for where in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/../../etc/passwd", "//etc/passwd", "/api/jobs/../../etc/passwd", "/etc/passwd", "/api/flame%00.html", "/%zz"):
        answer = raw(server, f"GET {where} HTTP/1.1\r\n{secret}".encode())
        need(re.match(r"HTTP/1.1 (400|404)", answer) and "root:" not in answer, f"{where}: {answer[:100]}")


def large_and_broken_requests(acu):
    server = shared(acu)
    host = f"Host: 127.0.0.1:{server.port}\r\n"
    need("HTTP/1.1 431" in raw(server, f"GET / HTTP/1.1\r\n{host}X: {'a' * 100000}\r\n\r\n".encode()), "a huge header")
    need("HTTP/1.1 413" in raw(server, f"POST /api/sql HTTP/1.1\r\n{host}Content-Length: 999999999\r\n\r\n".encode()), "a huge body")
    for text in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00"):
        answer = raw(server, text)
        need(answer == "" or answer.startswith("HTTP/1.1 400"), f"{text}: {answer[:100]}")
    for body in (b"", b"{", b"[]", b"\xff\xfe", b'{"verb": 7}', b'{"verb": "host", "arguments": {"x": 1}}', b"[" * 100000, b'{"verb": "run_script"}'):
        answer = server.ask("/api/jobs", "POST", body, CHANGE)
        need(answer.status == 400 and answer.json()["error"], f"{body[:20]}: {answer.status}")
    for query in ("from=x", "from=5&to=4", "from=1e400", "pid=-1", "pid=99999999999", "kind=%3Cscript%3E", "from=1796000000000"):
        answer = server.ask("/api/flame?" + query)
        need(answer.status == 400 and "<script" not in answer.headers.get("Content-Type", ""), f"{query}: {answer.status}")
    need(server.get("/api/me")["host"], "it still answers")


def slow_and_idle_connections(acu):
    server = shared(acu)
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(400)]
    try:
        for s in idle[:50]:
            with contextlib.suppress(OSError):
                s.sendall(b"GET / HTTP/1.1\r\n")
        need(server.get("/api/me")["host"], "it answers others")
    finally:
        for s in idle:
            s.close()
    with socket.create_connection(("127.0.0.1", server.port), timeout=patient(30)) as slow:
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < begin + patient(25):
                slow.sendall(b"G" if time.monotonic() == begin else b"")
                slow.settimeout(0.5)
                try:
                    need(slow.recv(100) == b"", "an answer to half a request")
                    break
                except TimeoutError:
                    pass
            else:
                need(False, "a request that never ends is not closed")


def audit(acu):
    server = shared(acu)
    server.post("/api/jobs", {"verb": "host", "arguments": {}}, 202)
    line = next(l for l in server.get("/api/audit")["lines"] if l["action"] == "POST /api/jobs" and "host" in l["arguments"])
    need(line["client"] == "token file" and line["outcome"] == "202", str(line))
    kept = [json.loads(text) for text in open(server.store + ".audit")]
    need(any(k["verb"] == "POST /api/jobs" for k in kept) and os.stat(server.store + ".audit").st_mode & 0o77 == 0, str(kept)[:300])
    need(os.stat(server.store).st_mode & 0o77 == 0, "others can read the store")


# ------------------------------------------------------------------------------------------------ the store


def refused(acu, *options, status=1):
    done = subprocess.run([acu, "serve", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=patient(30))
    need(done.returncode == status, f"{options}: exit status {done.returncode}: {done.stderr}")
    need(done.stderr.count("ERROR: ") == 1, done.stderr)
    return done.stderr


def bad_stores(acu):
    server = shared(acu)
    two = refused(acu, "--store", server.store)
    need("another acu serve uses the store" in two and f"process {server.child.pid} (acu" in two, two)
    open(path("text.db"), "w").write("no database " * 1000)
    need("is not a store" in refused(acu, "--store", path("text.db")), "a text")
    with contextlib.closing(sqlite3.connect(path("other.db"))) as other:
        other.execute("create table t(a)")
    need("another program's database" in refused(acu, "--store", path("other.db"), status=2), "another program's")
    shutil.copy(server.store, path("newer.db"))
    with contextlib.closing(sqlite3.connect(path("newer.db"))) as newer:
        newer.execute("pragma user_version = 99")
    need("has version 99" in refused(acu, "--store", path("newer.db"), status=5), "a newer one")
    with contextlib.closing(sqlite3.connect(path("newer.db"))) as older:
        older.execute("pragma user_version = 1")
    need("has version 1 of the schema" in refused(acu, "--store", path("newer.db"), status=5), "an older one")
    refused(acu, "--store", "/no/such/folder/store.db")
    for listen in ("0.0.0.0:7070", "127.0.0.1", "127.0.0.1:99999", "localhost:1"):
        refused(acu, "--store", path("x.db"), "--listen", listen, status=2)
    need("port is in use" in refused(acu, "--store", path("x.db"), "--listen", f"127.0.0.1:{server.port}"), "the port")


def one_sampler_for_a_source(acu):
    server = shared(acu)
    for what in ("host", "cpu"):
        pid = eventually(lambda: next((p for p in server.samplers() if f"--sample={what}" in open(f"/proc/{p}/cmdline").read()), None), f"no sampler of {what}")
        done = subprocess.run([acu, "serve", "--sample", what, "--store", server.store, "--max-duration", "1s"], capture_output=True, text=True, timeout=patient(60))
        need(done.returncode == 1 and f"another sampler records `{what}` into the store" in done.stderr and f"process {pid} (acu" in done.stderr, f"{done.returncode}: {done.stderr}")


def samplers_give_mapped_files_back(acu):
    """Files whose names were read are in the page cache, not in the samplers' memory."""
    recorded(acu)
    server = shared(acu)
    pid = next(p for p in server.samplers() if "--sample=cpu" in open(f"/proc/{p}/cmdline").read())

    def mapped():
        sizes, is_file = [0, 0], False
        for line in open(f"/proc/{pid}/smaps"):
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                is_file = " r--s " in line and "/" in line
            elif is_file and line.startswith(("Size:", "Rss:")):
                sizes[line.startswith("Rss:")] += int(line.split()[1])
        return sizes

    eventually(lambda: (sizes := mapped())[0] > 1000 and 20 * sizes[1] < sizes[0], "mapped files stay in memory", 40)


def messages_of_samplers_come_at_once(acu):
    """A full disk is reported while the sampler runs, not at its end."""
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    folder = path("filled")
    os.makedirs(folder, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder], capture_output=True).returncode:
        raise Skipped("tmpfs cannot be mounted here")
    server = None
    try:
        server = Server(acu, "messages", store=os.path.join(folder, "s.db"))
        eventually(lambda: server.get("/api/me")["store"]["to"], "nothing is recorded after 30 s")
        samplers = server.samplers()
        filler = os.open(os.path.join(folder, "filler"), os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while True:
                os.write(filler, b"x" * 4096)
        os.close(filler)
        eventually(lambda: re.search(r"acu serve: sampler \w+: cannot write the store .*disk is full", server.said()), f"no message: {server.said()}", 40)
        need(set(server.samplers()) & set(samplers), "the samplers have ended")
    finally:
        if server:
            server.stop()
        subprocess.run(["umount", folder])


def slow_queries_keep_nobody_waiting(acu):
    server = shared(acu)
    endless = {"query": "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", "of": "store", "seconds": 10}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(server.ask, "/api/sql", "POST", endless, CHANGE) for _ in range(6)]
        time.sleep(0.5)
        begin = time.monotonic()
        need(server.get("/api/me")["host"] and server.get("/api/overview")["host"] and server.get("/api/series?names=busy&from=-60")["series"], "no answer")
        took = time.monotonic() - begin
        pending = [a for a in answers if not a.done()]
        need(pending, f"the queries were over before the other answers, which took {took:.1f} s")
        statuses = sorted(a.result().status for a in answers)
        need(statuses[:2] == [400, 400] and statuses[2:] == [503] * 4, str(statuses))
        need(all("took longer" in a.result().body or "2 queries are running" in a.result().body for a in answers), answers[0].result().body)


def killed_and_started_again(acu):
    server = Server(acu, "killed")
    try:
        eventually(lambda: server.get("/api/flame?from=-120")["total"], "nothing is recorded after 30 s")
        samplers = server.samplers()
        need(len(samplers) == 3, f"samplers: {samplers}")
        before = server.get("/api/flame?from=-120")["total"]
        server.child.kill()
        server.child.wait()
        eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in samplers), "samplers outlive the server", 15)
        done = subprocess.run([acu, "store", server.store, "check"], capture_output=True, text=True)
        need(done.returncode == 0 and "no damage" in done.stdout, done.stdout + done.stderr)
        again = Server(acu, "killed")
        try:
            need(again.get("/api/flame?from=-240")["total"] >= before, "what was recorded is gone")
            os.kill(again.samplers()[1], signal.SIGKILL)
            eventually(lambda: again.get("/api/overview")["own"]["restarts"] >= 1 and len(again.samplers()) == 3, "a sampler that was killed is not started again")
            need(prometheus.series_of(again.ask("/metrics").body)["acu_sampler_restarts_total", frozenset()] >= 1, "it is not counted")
        finally:
            need(again.stop() == 0, "exit status")
    finally:
        server.stop()


def read_only(acu):
    server = Server(acu, "readonly", "--read-only")
    try:
        need(server.ask("/api/jobs", "POST", {"verb": "host"}, CHANGE).status == 403, "a job")
        need(server.ask("/api/jobs/1", "DELETE", headers={"X-Acu": "1"}).status == 403, "DELETE")
        need(server.get("/api/me")["read_only"] is True, "/api/me")
    finally:
        need(server.stop() == 0, "exit status")


def full_disk(acu):
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    folder = path("small")
    os.makedirs(folder, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "none", folder], capture_output=True).returncode:
        raise Skipped("tmpfs cannot be mounted here")
    try:
        made = subprocess.run([acu, "serve", "--sample", "host", "--store", os.path.join(folder, "s.db"), "--max-duration", "100ms"], capture_output=True, text=True, timeout=patient(40))
        need(made.returncode == 0, made.stderr)
        filler = os.open(os.path.join(folder, "filler"), os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while True:
                os.write(filler, b"x" * 4096)
        os.close(filler)
        done = subprocess.run([acu, "serve", "--sample", "host", "--store", os.path.join(folder, "s.db"), "--max-duration", "12s"], capture_output=True, text=True, timeout=patient(40))
        need("disk is full" in done.stderr and done.stderr.count("disk is full") == 1, f"{done.returncode}: {done.stderr}")
        need(done.returncode in (0, 1), f"exit status {done.returncode}")
    finally:
        subprocess.run(["umount", folder])


def waits_that_last_are_in_no_slot(acu):
    """A sampler that is replaced does not add what threads have waited so far to its last slot, which is short."""
    name, store = f"napper-{os.getpid() % 10000}", path("naps.db")
    shutil.copy("/bin/sleep", path(name))
    sampler = subprocess.Popen([acu, "serve", "--sample", "offcpu", "--store", store, "--max-duration", f"{patient(8):.0f}s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(patient(2))
    nappers = [subprocess.Popen([path(name), "1000"]) for _ in range(10)]
    try:
        sampler.wait(patient(60))
        done = subprocess.run([acu, "store", store, "export", "--kind", "offcpu", "--service", name, "--from", "-120", "-o", path("naps.folded")], capture_output=True, text=True, timeout=patient(60))
    finally:
        for napper in nappers:
            napper.kill()
            napper.wait()
    waited = sum(int(line.rpartition(" ")[2]) for line in open(path("naps.folded"))) if done.returncode == 0 else 0
    need(done.returncode == 0 or "no samples" in done.stderr, done.stderr)
    need(waited < 5e9, f"{waited / 1e9:.1f} s of naps that go on")


def looking_after_a_store(acu):
    recorded(acu)
    server = shared(acu)

    def store(*words, status=0):
        done = subprocess.run([acu, "store", server.store, *words], capture_output=True, text=True, timeout=patient(60))
        need(done.returncode == status, f"{words}: {done.returncode} {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    sizes = json.loads(store("sizes", "--json"))
    need(sizes["bytes"] > 0 and sizes["rows"]["samples"] > 0 and sizes["to"] > sizes["from"], str(sizes))
    need("no damage" in store("check"), "check")
    store("export", "--service", state["name"], "--from", "-120", "-o", path("out.folded"))
    need("busy_function" in open(path("out.folded")).read(), "export")
    need("no samples" in store("export", "--from", "1000", "--until", "2000", "-o", path("none.folded"), status=3), "an empty range")
    store("compact")
    store("sizes", "more", status=2)
    store("import", status=2)
    store("destroy", status=2)


def a_recording_is_imported_once(acu):
    recorded(acu)
    server = shared(acu)

    def run(*words, status=0):
        done = subprocess.run([acu, *words], capture_output=True, text=True, timeout=patient(60))
        need(done.returncode == status, f"{words}: {done.returncode} {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def total(folded):
        return sum(int(line.rpartition(" ")[2]) for line in open(folded))

    def of_store(store, *words):
        run("store", store, "export", "--from", "1000", "-o", path("of.folded"), *words)
        return total(path("of.folded"))

    for ending, words in (("acu", ()), ("pb.gz", ("--service", "imported"))):
        given, imported = path("given." + ending), path(f"imported-{ending}.db")
        run("store", server.store, "export", "--from", "-3600", "-o", given)
        run("report", given, "-o", path("given.folded"))
        said = run("store", imported, "import", given, "--kind", "cpu", *words)
        need(re.search(r"samples of `cpu` in \d+ slots? of 10 s", said), said)
        need(of_store(imported) == total(path("given.folded")) > 0, f"{ending}: {of_store(imported)} imported, {total(path('given.folded'))} given")
        service = words[1] if words else state["name"]
        of_service = of_store(imported, "--service", service)
        need(of_service == of_store(imported) if words else 0 < of_service < of_store(imported), f"service {service}: {of_service}")
        need("would be counted twice" in run("store", imported, "import", given, "--kind", "cpu", status=2), "imported twice")
    # What other tools write may not tell CPU time from waits; acu's own files do.
    said = run("store", path("new.db"), "import", long_recording("time.pb.gz", stacks=1, of="time"), status=2)
    need("a recording of `time` cannot be stored\nhint: --kind cpu or offcpu" in said, said)
    waits = path("waits.acu")
    run("record", "offcpu", "-q", "-o", waits, "--duration", "1s")
    run("report", waits, "-o", path("waits.pb.gz"))
    for file, kind in ((waits, "offcpu"), (path("waits.pb.gz"), "offcpu"), (path("given.pb.gz"), "cpu")):
        need(f"samples of `{kind}`" in run("store", file + ".db", "import", file), f"{kind} of {file}")
    # Slices are where they were, and stacks keep their names though they are in many slices.
    split = path("split.acu")
    run("record", "-q", "-F", "499", "--split", "20ms", "-o", split, "-p", str(state["burner"].pid), "--duration", "3s")
    run("report", split, "-o", path("split.folded"))
    run("store", path("split.db"), "import", split)
    sampled = sum(int(line.rpartition(" ")[2]) for line in open(path("split.folded")))
    need(abs(of_store(path("split.db")) - sampled * 1e9 / 499) < 0.01 * sampled * 1e9 / 499, f"{of_store(path('split.db'))} of {sampled} samples")
    need("[other stacks]" not in open(path("of.folded")).read(), "stacks of slices were not added up")
    with open(path("timeless.folded"), "w") as file:
        file.write("a;b 1\n")
    need("has no start time or duration" in run("store", path("new.db"), "import", path("timeless.folded"), status=2), "without a time")
    run("store", path("new.db"), "import", path("none"), status=1)
    need(not os.path.exists(path("new.db")), "a store was made for nothing")


def long_recording(name, seconds=21600, stacks=200, depth=12, of="cpu"):
    """A file in the format of pprof (github.com/google/pprof/blob/main/proto/profile.proto): time of the last hours."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(number, value):
        return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value

    texts = ["", of, "nanoseconds", *(f"function_{i}" for i in range(97))]
    out = field(1, field(1, 1) + field(2, 2))
    for s in range(stacks):
        out += field(2, field(1, b"".join(varint(1 + (s * (d + 3) + s // 97 * d) % 97) for d in range(depth))) + field(2, varint((s + 1) * 10**9)))
    for i in range(97):
        out += field(4, field(1, i + 1) + field(4, field(1, i + 1))) + field(5, field(1, i + 1) + field(2, i + 3))
    for text in texts:
        out += field(6, text.encode())
    begin = int(time.time()) // 10 * 10 - seconds
    with open(path(name), "wb") as file:
        file.write(gzip.compress(out + field(9, begin * 10**9) + field(10, seconds * 10**9)))
    return path(name)


def store_run(acu, store, *words, status=0):
    done = subprocess.run([acu, "store", store, *words], capture_output=True, text=True, timeout=patient(100))
    need(done.returncode == status, f"{words}: {done.returncode} {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def content_of(acu, store):
    """What `acu store` shows of it: numbers of rows, and the weights of all stacks."""
    store_run(acu, store, "export", "--from", "1000", "-o", path("content.folded"))
    return json.loads(store_run(acu, store, "sizes", "--json"))["rows"], sorted(open(path("content.folded")))


def a_killed_import_leaves_nothing(acu):
    folder = tempfile.mkdtemp(dir=TMP)
    recording, broken, control = long_recording("long.pb.gz"), os.path.join(folder, "broken.db"), os.path.join(folder, "control.db")
    store_run(acu, control, "import", recording, "--kind", "cpu")
    wanted = content_of(acu, control)
    need(len(wanted[1]) == 200 and wanted[0]["slots"] == 2160, str(wanted[0]))
    child = subprocess.Popen([acu, "store", broken, "import", recording, "--kind", "cpu"], stdout=subprocess.DEVNULL)
    eventually(lambda: child.poll() is not None or os.path.exists(broken + ".import.lock"), "no import", every=0.005)
    with contextlib.closing(sqlite3.connect(broken, timeout=60, isolation_level=None)) as other:
        count = lambda: other.execute("select count(*) from slots").fetchone()[0]
        eventually(lambda: child.poll() is not None or count() > 100, "nothing is imported", every=0.005)
        other.execute("begin immediate")  # it waits
        done = count()
        child.kill()
        child.wait()
        other.execute("rollback")
    need(100 < done < 2160, f"killed after {done} of 2160 slots")
    need("no samples" in store_run(acu, broken, "export", "--from", "1000", "-o", path("none.folded"), status=3), "a part is seen")
    store_run(acu, broken, "import", recording, "--kind", "cpu")
    again = content_of(acu, broken)
    need(again == wanted, f"{again[0]}, not {wanted[0]}")
    need("no damage" in store_run(acu, broken, "check"), "check")
    # A damaged recording is refused before anything is written.
    with open(path("cut.pb.gz"), "wb") as file:
        file.write(open(recording, "rb").read()[:-200])
    store_run(acu, os.path.join(folder, "cut.db"), "import", path("cut.pb.gz"), "--kind", "cpu", status=1)
    need(not os.path.exists(os.path.join(folder, "cut.db")), "a store was made of a damaged recording")


def an_import_fails_on_a_full_disk_and_is_repeated(acu):
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    recording, folder = long_recording("full.pb.gz"), tempfile.mkdtemp(dir=TMP)
    steps = f"""mount -t tmpfs -o size=1m none {folder} || exit 77
        {acu} store {folder}/s.db import {recording} --kind cpu; echo imported $?
        {acu} store {folder}/s.db export --from 1000 -o {path("part.folded")}; echo exported $?
        mount -o remount,size=64m {folder}
        {acu} store {folder}/s.db import {recording} --kind cpu; echo imported $?
        {acu} store {folder}/s.db export --from 1000 -o {path("whole.folded")}
        {acu} store {folder}/s.db check"""
    done = subprocess.run(["unshare", "-m", "sh", "-c", steps], capture_output=True, text=True, timeout=patient(100))
    if done.returncode in (1, 77) and "imported" not in done.stdout:
        raise Skipped("tmpfs cannot be mounted here")
    said = done.stdout + done.stderr
    need(re.search(r"nothing of `\S+full.pb.gz` was imported: cannot write the store .*disk is full", said), said)
    need(re.search(r"imported 1\nexported 3\n.* in 2160 slots of 10 s\nimported 0\n", done.stdout), said)
    need("no damage" in done.stdout and "no samples" in done.stderr, said)
    roomy = os.path.join(folder, "s.db")  # outside of the namespace
    store_run(acu, roomy, "import", recording, "--kind", "cpu")
    need(sorted(open(path("whole.folded"))) == content_of(acu, roomy)[1], "another content")


def others_use_a_store_during_an_import(acu):
    """Who writes gets its turn while slots are arriving, and who reads sees none or all of them."""
    recording, used = long_recording("beside.pb.gz"), os.path.join(tempfile.mkdtemp(dir=TMP), "used.db")
    subprocess.run([acu, "serve", "--sample", "host", "--store", used, "--max-duration", "100ms"], capture_output=True, timeout=patient(40))
    child = subprocess.Popen([acu, "store", used, "import", recording, "--kind", "cpu"], stdout=subprocess.DEVNULL)
    seen, written = set(), 0
    try:
        with contextlib.closing(sqlite3.connect(used, timeout=60, isolation_level=None)) as other:
            while child.poll() is None:
                other.execute("begin immediate")
                seen.add(other.execute("select count(*) from slots where layer = 0 and source = (select id from sources where name = 'cpu')").fetchone()[0])
                written += other.execute("select exists (select 1 from slots where layer = 2)").fetchone()[0]
                other.execute("commit")
                time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    need(child.returncode == 0, f"exit status {child.returncode}")
    need(seen <= {0, 2160}, f"parts of it were seen: {sorted(seen)}")
    need(written > 0, "nobody else wrote during the import")


TESTS = [flame_graph_within_30_seconds, servers_in_interpreted_languages, filters, formats, overview_and_services, waits_are_recorded, comparison, exports_are_csv, metrics, promtool_accepts_metrics, prometheus_scrapes_metrics, scripts, jobs_can_be_cancelled, measure_now, lists, sql,
         nothing_without_a_token, one_token_one_session, other_sites, paths_lead_nowhere, large_and_broken_requests, slow_and_idle_connections, audit, bad_stores, one_sampler_for_a_source, samplers_give_mapped_files_back, messages_of_samplers_come_at_once, slow_queries_keep_nobody_waiting, killed_and_started_again, read_only,
         full_disk, waits_that_last_are_in_no_slot, looking_after_a_store, a_recording_is_imported_once, a_killed_import_leaves_nothing, an_import_fails_on_a_full_disk_and_is_repeated, others_use_a_store_during_an_import]

sys.exit(run_suite(TESTS, TMP))
