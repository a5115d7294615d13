#!/usr/bin/env python3
"""acu serve --push, with servers of every kind on loopback that write down what they get: push.py ACU [--filter TEXT]

One server runs for a whole minute with a busy program beside it; what arrives is read by protocol buffers' own library and compared with the store. Last line:
`N passed, N failed, N skipped`.
"""
import collections
import functools
import gzip
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "exports")]
import readers

if __name__ == "__main__":
    readers.use_python_with_protobuf()  # starts this file anew, before server.py makes a folder
from server import BURNER, TMP, Server, path
from tally import need, patient, run_suite, untimed

OTLP, PYROSCOPE, PARCA = "/otel/v1development/profiles", "/push.v1.PusherService/Push", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
# A cause that a busy host hides from nobody: it has no descriptors left, and each open fails.
FULL = """
import os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
while True:
    try:
        os.open("/dev/null", os.O_RDONLY)
    except OSError:
        time.sleep(0.002)
"""
Request = collections.namedtuple("Request", "path headers body")


class Recorder:
    """A server on loopback that keeps all requests. `answer`: of (number of the request, request): (status, headers, body)."""

    def __init__(self, answer=lambda n, request: (200, {}, b"")):
        self.requests = []
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                request = Request(self.path, dict(self.headers), self.rfile.read(int(self.headers.get("Content-Length", 0))))
                recorder.requests.append(request)
                status, headers, body = answer(len(recorder.requests), request)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def of(self, where):
        return [r for r in self.requests if r.path == where]


def trailers(text):
    return b"\x80" + len(text).to_bytes(4, "big") + text


def targets_file(name, text):
    with open(os.open(path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    return path(name)


class Run:
    """One server with targets of all kinds, until each has its requests of a minute."""

    def __init__(self, acu):
        self.acu = acu
        self.good = Recorder(lambda n, request: (200, {}, trailers(b"grpc-status:0\r\n")) if request.path == PARCA else (200, {}, b""))
        self.busy = Recorder(lambda n, request: (503, {}, b"come back") if n <= 2 else (200, {}, b""))
        self.closed = Recorder(lambda n, request: (401, {}, b"who are you?"))
        self.hook = Recorder()
        self.other_hook = Recorder(lambda n, request: (404, {}, b"Cannot POST " + request.path.encode()))
        with socket.socket() as free:  # nobody listens there
            free.bind(("127.0.0.1", 0))
            self.away = free.getsockname()[1]
        self.burner = subprocess.Popen(["/usr/bin/python3", "-c", BURNER, "1"], stdout=subprocess.DEVNULL)
        servers = targets_file("servers", f"# all kinds\notlp {self.good.url}/otel/\n  Authorization: Bearer s3cret\npyroscope {self.good.url}\nparca {self.good.url}\nwebhook {self.hook.url}/hook?key=1\nwebhook {self.other_hook.url}/hooks/s3cret\n"
                               f"pyroscope {self.busy.url}\npyroscope {self.closed.url}\npyroscope http://127.0.0.1:{self.away}\n")
        self.server_start = time.time()
        self.server = Server(acu, "push", "--push", servers)
        until = time.monotonic() + patient(200)
        self.begin = None
        # The whole minute that follows the one in which acu was started.
        while self.begin is None:
            need(self.server.child.poll() is None, f"acu serve ended: {self.server.said()}")
            need(time.monotonic() < until, f"no minute arrived: {len(self.good.requests)} requests, {self.server.said()}")
            time.sleep(0.5)
            for request in self.good.of(OTLP):
                begin = self.profiles(request)[1]
                if begin > self.server_start and self.samples_of(begin):
                    self.begin = begin
        time.sleep(patient(3))  # the others have it, too

    @functools.cached_property
    def proto(self):
        return readers.messages_of("push", HERE)

    def profiles(self, request):
        with tempfile.NamedTemporaryFile(prefix="acu-push-", dir=TMP) as file:
            file.write(request.body)
            file.flush()
            whole = readers.read_whole(readers.messages_of("otlp").Request(), file.name)
            profiles, _ = readers.read_otlp(file.name)
        times = {p.time_unix_nano for r in whole.resource_profiles for s in r.scope_profiles for p in s.profiles}
        need(len(times) == 1, f"profiles of one request begin at {times}")
        return profiles, times.pop() / 1e9

    def samples_of(self, begin):
        """Pyroscope's requests of that minute have arrived."""
        return any(int(p.about_ns // 1e9) == int(begin) for r in self.good.of(PYROSCOPE) for p in self.series(r, self.proto.Pyroscope()))

    def series(self, request, message):
        body = request.body
        if request.path == PARCA:
            need(body[0] == 0 and int.from_bytes(body[1:5], "big") == len(body) - 5, f"the frame of gRPC-Web begins with {body[:5]} and has {len(body)} bytes")
            body = body[5:]
        message.ParseFromString(body)
        size = message.ByteSize()
        message.DiscardUnknownFields()
        need(size == message.ByteSize(), "fields that the messages do not have")
        for one in message.series:
            pairs = one.labels.labels if request.path == PARCA else one.labels
            yield Series({l.name: l.value for l in pairs}, self.acu, [s.profile for s in one.samples])

    def stored(self, kind, begin, **more):
        query = "&".join(f"{k}={v}" for k, v in {"kind": kind, "from": int(begin), "to": int(begin) + 60, **more}.items())
        return self.server.get("/api/flame?" + query)

    def metrics(self):
        return self.server.ask("/metrics").body

    def requests_of(self, url, outcome):
        found = re.search(rf'^acu_push_requests_total{{server="\w+ at {re.escape(url)}",line="\d+",outcome="{outcome}"}} (\d+)$', self.metrics(), re.M)
        need(found, f"no {outcome} requests to {url} in {self.metrics()}")
        return int(found[1])


class Series:
    """The labels of a series, and its one pprof file, as acu's own reader and the file's time say."""

    def __init__(self, labels, acu, files):
        need(len(files) == 1, f"{labels}: {len(files)} profiles")
        self.labels, self.acu, self.bytes = labels, acu, files[0]
        self.about_ns = dict(readers.fields(gzip.decompress(self.bytes))).get(9, 0)  # time_nanos

    @functools.cached_property
    def folded(self):
        """{stack: weight}"""
        with tempfile.TemporaryDirectory(prefix="acu-push-", dir=TMP) as folder:
            given, written = os.path.join(folder, "x.pb.gz"), os.path.join(folder, "x.folded")
            with open(given, "wb") as file:
                file.write(self.bytes)
            done = subprocess.run([self.acu, "report", given, "-o", written], capture_output=True, text=True, timeout=patient(60))
            need(done.returncode == 0, f"acu report: {done.stderr}")
            return {stack: int(n) for stack, _, n in (line.rpartition(" ") for line in open(written).read().splitlines())}


state = {}


def the_run(acu):
    readers.needs_protobuf()
    if "run" not in state or state["run"].server.child.poll() is not None:  # a test that fails ends all children
        with untimed():
            state["run"] = Run(acu)
    return state["run"]


def otlp_has_what_the_store_has(acu):
    run = the_run(acu)
    kinds = collections.defaultdict(int)
    for request in run.good.of(OTLP):
        profiles, begin = run.profiles(request)
        if begin != run.begin:
            continue
        for _, kind, unit, sums in profiles:
            need(unit == "nanoseconds", f"unit {unit}")
            kinds[kind] += sum(sums.values())
        if any(kind == "cpu" for _, kind, _, _ in profiles):
            busy = sum(n for about, _, _, sums in profiles for stack, n in sums.items() if "busy_function" in stack)
            need(busy > 0.5 * 60e9 * 0.2, f"busy_function has {busy / 1e9:.1f} s")
    for kind, name in (("cpu", "cpu"), ("offcpu", "waiting")):
        total = run.stored(kind, run.begin)["total"]
        need(kinds[name] == total > 0, f"{name}: sent {kinds[name]}, stored {total}; all: {dict(kinds)}")


def headers_arrive_and_are_not_shown(acu):
    run = the_run(acu)
    sent = run.good.of(OTLP)[0].headers
    need(sent["Authorization"] == "Bearer s3cret" and sent["Content-Type"] == "application/x-protobuf", f"headers {sent}")
    need("s3cret" not in run.server.said() + run.metrics(), "the secret is shown")
    need(all("Authorization" not in r.headers for r in run.good.of(PYROSCOPE)), "the header of one server went to another")


def services_add_up(acu, where, message):
    run = the_run(acu)
    of_kind = collections.Counter()
    services = collections.defaultdict(dict)
    for request in run.good.of(where):
        for series in run.series(request, message(run.proto)):
            if int(series.about_ns // 1e9) != int(run.begin):
                continue
            name, service = series.labels["__name__"], series.labels["service_name"]
            need(series.labels["hostname"] == os.uname().nodename, f"labels {series.labels}")
            weight = sum(series.folded.values())
            of_kind[name] += weight
            services[name][service] = services[name].get(service, 0) + weight
    for name, kind in (("process_cpu", "cpu"), ("offcpu", "offcpu")):
        total = run.stored(kind, run.begin)["total"]
        need(of_kind[name] == total > 0, f"{name}: sent {of_kind[name]}, stored {total}")
        heaviest = max(services[name], key=services[name].get)
        stored = run.stored(kind, run.begin, service=heaviest)["total"]
        need(services[name][heaviest] == stored, f"{name} of {heaviest}: sent {services[name][heaviest]}, stored {stored}")


def pyroscope_gets_each_service(acu):
    services_add_up(acu, PYROSCOPE, lambda proto: proto.Pyroscope())
    for request in the_run(acu).good.of(PYROSCOPE):  # text labels of samples become labels of series there
        for series in the_run(acu).series(request, the_run(acu).proto.Pyroscope()):
            need(b"\x32\x06thread" not in gzip.decompress(series.bytes), f"threads in {series.labels}")  # the key of a label, among the texts
    headers = the_run(acu).good.of(PYROSCOPE)[0].headers
    need(headers["Content-Type"] == "application/proto" and headers["Connect-Protocol-Version"] == "1", f"headers {headers}")


def parca_gets_each_service(acu):
    services_add_up(acu, PARCA, lambda proto: proto.Parca())
    headers = the_run(acu).good.of(PARCA)[0].headers
    need(headers["Content-Type"] == "application/grpc-web+proto", f"headers {headers}")


def minutes_come_once(acu):
    run = the_run(acu)
    for where, message in ((PYROSCOPE, run.proto.Pyroscope), (PARCA, run.proto.Parca)):
        seen = collections.Counter((s.labels["__name__"], s.labels["service_name"], s.about_ns) for r in run.good.of(where) for s in run.series(r, message()))
        need(seen and max(seen.values()) == 1, f"sent twice: {[k for k, n in seen.items() if n > 1]}")
    need(run.requests_of(run.good.url, "sent") > 0 and run.requests_of(run.good.url, "refused") == 0, run.metrics())


def a_busy_server_is_asked_again(acu):
    run = the_run(acu)
    until = time.monotonic() + patient(60)
    while run.requests_of(run.busy.url, "sent") < 1:
        need(time.monotonic() < until, f"{len(run.busy.requests)} requests: {run.server.said()}")
        time.sleep(0.2)
    first = run.busy.requests[:3]
    need(len({r.body for r in first}) == 1, "another body was sent before the first was taken")
    need(run.server.said().count("503: come back") == 1, f"printed not once: {run.server.said()}")


def a_refusal_is_counted_and_told(acu):
    run = the_run(acu)
    need(0 < run.requests_of(run.closed.url, "refused") <= len(run.closed.requests), run.metrics())
    need(run.server.said().count("status 401: who are you?") == 1, f"printed not once: {run.server.said()}")


def a_server_that_is_away_holds_up_nothing(acu):
    run = the_run(acu)
    where = f"http://127.0.0.1:{run.away}"
    need(run.requests_of(where, "sent") == 0 and run.requests_of(where, "refused") == 0, run.metrics())
    need(re.search(rf'^acu_push_waiting_bytes{{server="pyroscope at {where}",line="\d+"}} [1-9]', run.metrics(), re.M), run.metrics())
    need(f"pyroscope at {where}: cannot connect" in run.server.said(), run.server.said())


def findings_reach_the_webhook(acu):
    run = the_run(acu)
    full = subprocess.Popen(["/usr/bin/python3", "-c", FULL])
    job = run.server.job({"verb": "why", "arguments": {"pid": full.pid, "duration": 3}}, 120)
    full.kill()
    full.wait()
    need(job["state"] == "done", f"{job}")
    until = time.monotonic() + patient(20)
    while not run.hook.requests:
        need(time.monotonic() < until, f"nothing arrived: {job} {run.server.said()}")
        time.sleep(0.1)
    request = run.hook.requests[0]
    need(request.path == "/hook?key=1" and request.headers["Content-Type"] == "application/json", f"{request.path} {request.headers}")
    said = lambda: re.search(r"webhook at \S+: status 404: Cannot POST /\.\.\.", run.server.said())
    while not said():
        need(time.monotonic() < until, run.server.said())
        time.sleep(0.1)
    need("hooks/s3cret" not in run.server.said(), "the path of a webhook is shown")
    sent = json.loads(request.body)
    need(sent["event"] == "finding" and sent["host"] == os.uname().nodename and abs(sent["time"] - time.time()) < patient(120), f"{sent}")
    stored = run.server.get("/api/findings")["findings"]
    need(any(all(f[key] == sent[key] for key in ("verdict", "cause", "summary", "service", "time")) for f in stored), f"{sent} is not in {stored}")


def the_end_is_quick_and_counts_what_waits(acu):
    run = the_run(acu)
    begin = time.monotonic()
    run.server.child.send_signal(signal.SIGTERM)
    run.server.child.wait(patient(30))
    took = time.monotonic() - begin
    run.burner.kill()
    run.burner.wait()
    need(took < patient(5), f"took {took:.1f} s")
    need(re.search(rf"pyroscope at http://127.0.0.1:{run.away}: \d+ requests? not sent before the end", run.server.said()), run.server.said())
    need(run.server.child.returncode == 0, f"exit status {run.server.child.returncode}")


def refused(acu, file, *words):
    done = subprocess.run([acu, "serve", "--listen", "127.0.0.1:0", "--store", path("refused.db"), "--push", file, *words], capture_output=True, text=True, timeout=patient(30))
    need(done.returncode != 0 and not os.path.exists(path("refused.db")), f"exit status {done.returncode}: {done.stderr}")
    return done.stderr


def wrong_files_are_refused(acu):
    need("can be read or written by others" in (os.chmod(targets_file("open", "otlp http://a\n"), 0o644) or refused(acu, path("open"))), "a file that others can read")
    need("cannot read the servers of --push" in refused(acu, path("none")), "a file that is not there")
    said = refused(acu, targets_file("wrong", "otlp http://a\nloki http://b\n"))
    need(f"{path('wrong')}:2: unknown kind of server `loki`" in said, said)
    said = refused(acu, targets_file("fine", "otlp http://a\n"), "--store", "clickhouse://acu@127.0.0.1:1/acu")
    need("--push sends what this host records" in said, said)


if __name__ == "__main__":
    sys.exit(run_suite([wrong_files_are_refused, otlp_has_what_the_store_has, headers_arrive_and_are_not_shown, pyroscope_gets_each_service, parca_gets_each_service, minutes_come_once,
                        a_busy_server_is_asked_again, a_refusal_is_counted_and_told, a_server_that_is_away_holds_up_nothing, findings_reach_the_webhook, the_end_is_quick_and_counts_what_waits], TMP))
