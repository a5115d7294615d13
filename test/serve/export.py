#!/usr/bin/env python3
"""acu export over real HTTP, of a program whose calls are counted: export.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import prometheus
from tally import Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-export-")
NAME = 'a"b\\c'  # of the counted program, with all that a label escapes
# For each line of its input "TIMES PID" so many getpgid(PID); it answers each line.
CALLER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, %r)
print("ready", flush=True)
for line in sys.stdin:
    times, pid = map(int, line.split())
    for _ in range(times):
        try:
            os.getpgid(pid)
        except OSError:
            pass
    print("done", flush=True)
""" % NAME.encode()
GETPGID = "tracepoint:syscalls:sys_enter_getpgid"


class Caller:
    def __init__(self):
        self.child = subprocess.Popen(["/usr/bin/python3", "-c", CALLER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.child.stdout.readline()
        self.condition = f"/pid == {self.child.pid}/"

    def call(self, times, pid):
        self.child.stdin.write(f"{times} {pid}\n")
        self.child.stdin.flush()
        need(self.child.stdout.readline() == "done\n", "the program that calls has ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


class Export:
    """A running `acu export` on a free port, whose probes are attached."""

    def __init__(self, acu, *arguments, where="127.0.0.1:0", scheme="http", headers={}):
        self.errors = tempfile.NamedTemporaryFile("w+", dir=TMP, delete=False)
        self.output = tempfile.NamedTemporaryFile("w+", dir=TMP, delete=False)
        self.headers = headers
        self.child = subprocess.Popen([acu, "export", "--listen", where, *arguments], stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.errors)
        until = time.monotonic() + patient(30)
        while "Attached" not in self.said():
            need(self.child.poll() is None, f"acu export ended: {self.said()}")
            need(time.monotonic() < until, f"not ready: {self.said()}")
            time.sleep(0.05)
        self.origin = re.search(scheme + r"://\S+:\d+", self.said())[0]

    def said(self):
        return open(self.errors.name).read()

    def ask(self, where="/metrics", headers=None, method="GET"):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(self.origin + where, headers=self.headers if headers is None else headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=patient(20), context=context) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers["Content-Type"], refused.read().decode()

    def series(self):
        status, kind, body = self.ask()
        need(status == 200 and kind == "application/openmetrics-text; version=1.0.0; charset=utf-8" and body.endswith("# EOF\n"), f"{status} {kind} {body[-300:]}")
        return prometheus.series_of(body)

    def end(self, by=signal.SIGTERM):
        self.child.send_signal(by)
        return self.child.wait(patient(20))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


def of(series, name, **labels):
    return series.get((name, frozenset((k, str(v)) for k, v in labels.items())))


def counts_are_those_of_the_calls(acu):
    with Caller() as caller:
        script = f"{GETPGID} {caller.condition} {{ @calls[comm, args.pid] = count(); @sum = sum(args.pid); @ = max(args.pid); @bytes_seen[tid] = stats(args.pid); @size = lhist(args.pid, 0, 20, 10); }}"
        with Export(acu, "-e", script) as export:
            for round in (1, 2):
                caller.call(1000, 0)
                caller.call(500, 15)
                series = export.series()
                seen = {"0": of(series, "acu_calls_total", comm=NAME, pid=0), "15": of(series, "acu_calls_total", comm=NAME, pid=15)}
                need(seen == {"0": 1000 * round, "15": 500 * round}, f"round {round}: {seen}: {series}")
                need(of(series, "acu_map") == 15, str(series))
                need(of(series, "acu_sum") == 7500 * round or of(series, "acu_sum_total") == 7500 * round, str(series))
                need(of(series, "acu_bytes_seen_count", tid=caller.child.pid) == 1500 * round and of(series, "acu_bytes_seen_sum", tid=caller.child.pid) == 7500 * round, str(series))
                buckets = {le: of(series, "acu_size_bucket", le=le) for le in ("-1", "9", "19", "+Inf")}
                need(buckets == {"-1": 0, "9": 1000 * round, "19": 1500 * round, "+Inf": 1500 * round}, str(buckets))
                need(of(series, "acu_export_lost_events_total") == 0 and of(series, "acu_export_omitted_keys", map="@calls") == 0, str(series))
            need(export.end() == 0, export.said())
            need(open(export.output.name).read() == "", "maps were printed at the end")


def promtool_accepts_it(acu):
    if not prometheus.is_installed():
        raise Skipped("prometheus is not installed (scripts/setup.sh test)")
    with Caller() as caller:
        script = f"{GETPGID} {caller.condition} {{ @calls[comm, args.pid] = count(); @size[comm] = hist(args.pid); @mean = avg(args.pid); @last = args.pid; }}"
        with Export(acu, "-e", script) as export:
            caller.call(3, 5)
            body = export.ask()[2]
    checked = subprocess.run(["promtool", "check", "metrics"], input=prometheus.older_format(body), text=True, capture_output=True, timeout=patient(60))
    need(checked.returncode == 0, checked.stdout + checked.stderr + body)


def prometheus_has_the_same_numbers(acu):
    if not prometheus.is_installed():
        raise Skipped("prometheus is not installed (scripts/setup.sh test)")
    token = os.path.join(TMP, "scrape.token")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("x" * 40)
    with Caller() as caller, Export(acu, "--token-file", token, "-e", f"{GETPGID} {caller.condition} {{ @calls[comm] = count(); @size = hist(args.pid); }}", headers={"Authorization": "Bearer " + "x" * 40}) as export:
        caller.call(70, 9)
        scraper = prometheus.Prometheus(os.path.join(TMP, "prometheus")).start(export.origin.split("://")[1], token)
        try:
            until = time.monotonic() + patient(60)
            while True:
                need(time.monotonic() < until, "Prometheus has no sample: " + scraper.said()[-1000:])
                time.sleep(0.5)
                scraped = scraper.scraped(30) if scraper.is_ready() else {}
                calls = scraped.get(("acu_calls_total", frozenset({("comm", NAME)})))
                if calls:
                    break
            need(calls[-1][1] == 70, str(calls))
            buckets = {dict(labels)["le"]: rows[-1][1] for (name, labels), rows in scraped.items() if name == "acu_size_bucket"}
            need(buckets.get("7.0", buckets.get("7")) == 0 and buckets.get("15.0", buckets.get("15")) == 70 and buckets["+Inf"] == 70, str(buckets))
        finally:
            scraper.stop()


def maps_that_are_no_metrics_are_named(acu):
    with Export(acu, "-e", f'{GETPGID} {{ @stacks[kstack] = count(); @series = tseries(1, 1s, 4); @n = count(); }}') as export:
        said = export.said()
        for sentence in ("@stacks is not exported: its keys are stacks", "@series is not exported: its values are time series"):
            need(sentence in said, said)
        need({name for name, _ in export.series() if not name.startswith("acu_export_")} <= {"acu_n_total"}, str(export.series()))


def values_of_several_parts(acu):
    with Caller() as caller:
        script = f"{GETPGID} {caller.condition} {{ @last[args.pid] = (pid = pid, name = comm, odd = args.pid % 2 == 1); @text = comm; @pair[args.pid] = (args.pid + 1, -5); }}"
        with Export(acu, "-e", script) as export:
            caller.call(3, 7)
            series = export.series()
            expected = {("acu_last_pid", (("pid", "7"),)): caller.child.pid, ("acu_last_odd", (("pid", "7"),)): 1, ("acu_last_info", (("name", NAME), ("pid", "7"))): 1,
                        ("acu_text_info", (("value", NAME),)): 1, ("acu_pair_value0", (("pid", "7"),)): 8, ("acu_pair_value1", (("pid", "7"),)): -5}
            found = {(name, tuple(sorted(labels))): n for (name, labels), n in series.items() if not name.startswith("acu_export_")}
            need(found == expected, f"{found}")
            need("is not exported" not in export.said(), export.said())


def only_the_largest_keys(acu):
    with Caller() as caller, Export(acu, "--top", "2", "-e", f"{GETPGID} {caller.condition} {{ @[args.pid] = count(); }}") as export:
        for times, pid in ((5, 11), (7, 12), (9, 13)):
            caller.call(times, pid)
        series = export.series()
        need(of(series, "acu_map_total", pid=11) is None and of(series, "acu_map_total", pid=12) == 7 and of(series, "acu_map_total", pid=13) == 9, str(series))
        need(of(series, "acu_export_omitted_keys", map="@") == 1, str(series))


def full_maps_are_counted(acu):
    with Caller() as caller, Export(acu, "-e", f"config = {{ max_map_keys = 2 }} {GETPGID} {caller.condition} {{ @[args.pid] = count(); }}") as export:
        for pid in (11, 12, 13):
            caller.call(4, pid)
        series = export.series()
        need(of(series, "acu_export_refused_updates_total", map="@") == 4, str(series))


def a_tool_by_its_name(acu):
    with Export(acu, "syscount") as export:
        names = {name for name, _ in export.series()}
        need(any(name.startswith("acu_syscount_") for name in names), str(names))


def other_requests_are_refused(acu):
    with Export(acu, "-e", f"{GETPGID} {{ @ = count(); }}") as export:
        need([export.ask("/")[0], export.ask("/metrics/x")[0], export.ask(method="POST")[0], export.ask(method="HEAD")[0]] == [404, 404, 405, 200], export.said())


def a_token_and_tls(acu):
    token, key, certificate = (os.path.join(TMP, name) for name in ("token", "key.pem", "cert.pem"))
    with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("t" * 40 + "\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=patient(60))
    os.chmod(key, 0o600)
    with Export(acu, "--tls-cert", certificate, "--tls-key", key, "--token-file", token, "-e", f"{GETPGID} {{ @ = count(); }}", scheme="https", headers={"Authorization": "Bearer " + "t" * 40}) as export:
        need(export.series() is not None, "")
        for headers in ({}, {"Authorization": "Bearer " + "t" * 39}, {"Authorization": "t" * 40}):
            status, _, body = export.ask(headers=headers)
            need(status == 401 and "acu_" not in body, f"{headers}: {status} {body}")


def refused(acu, *arguments):
    done = subprocess.run([acu, "export", *arguments, "-e", f"{GETPGID} {{ @ = count(); }}"], capture_output=True, text=True, timeout=patient(30))
    return done.returncode, done.stderr


def what_cannot_be_listened_on(acu):
    status, said = refused(acu, "--listen", "0.0.0.0:0")
    need(status == 2 and "must be encrypted and have a token" in said, f"{status} {said}")
    status, said = refused(acu, "--listen", "nonsense")
    need(status == 2 and "takes an address and a port" in said, f"{status} {said}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, said = refused(acu, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        need(status == 1 and "the port is in use" in said, f"{status} {said}")


def the_end_of_the_script_ends_it(acu):
    with Export(acu, "-e", f"{GETPGID} {{ @ = count(); }} interval:s:1 {{ exit(); }}") as export:
        need(export.child.wait(patient(20)) == 0, export.said())
    with Export(acu, "-e", f"{GETPGID} {{ @ = count(); }}") as export:
        need(export.end(signal.SIGINT) == 0, export.said())


TESTS = [counts_are_those_of_the_calls, promtool_accepts_it, prometheus_has_the_same_numbers, maps_that_are_no_metrics_are_named, values_of_several_parts, only_the_largest_keys, full_maps_are_counted, a_tool_by_its_name,
         other_requests_are_refused, a_token_and_tls, what_cannot_be_listened_on, the_end_of_the_script_ends_it]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
