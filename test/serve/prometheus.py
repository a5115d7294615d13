"""A Prometheus of one's own: a child process with its folder and port on loopback; and series as a scraper reads them."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.parse
import urllib.request

SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)')
ESCAPES = {"n": "\n"}


def is_installed():
    return bool(shutil.which("prometheus") and shutil.which("promtool"))


def series_of(text):
    """Numbers by (name, labels) of an exposition; a series that is there twice, or a line that is none, raises ValueError."""
    out = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = SAMPLE.fullmatch(line)
        if not found:
            raise ValueError(f"no sample: {line}")
        labels = {name: re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), value) for name, value in LABEL.findall(found[2] or "")}
        key = (found[1], frozenset(labels.items()))
        if key in out:
            raise ValueError(f"a series that is there twice: {line}")
        out[key] = float(found[3])
    return out


def older_format(text):
    """OpenMetrics as the text format 0.0.4: `# UNIT` and `# EOF` are comments in it, and families of counters have the names of their samples."""
    counters = re.findall(r"^# TYPE (\S+) counter$", text, re.M)
    return re.sub(r"^(# (?:TYPE|HELP) )(\S+)", lambda m: m[1] + m[2] + ("_total" if m[2] in counters else ""), text, flags=re.M)


class Prometheus:
    def __init__(self, folder):
        self.folder, self.child = folder, None
        os.makedirs(folder)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]

    def start(self, target, token_file):
        """Scrapes `target` (host:port) each second."""
        config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                  "scrape_configs": [{"job_name": "acu", "authorization": {"credentials_file": token_file}, "static_configs": [{"targets": [target]}]}]}
        with open(os.path.join(self.folder, "prometheus.yml"), "w") as file:
            json.dump(config, file)  # JSON is YAML
        with open(os.path.join(self.folder, "log"), "w") as log:
            self.child = subprocess.Popen(["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
                                          cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def said(self):
        return open(os.path.join(self.folder, "log")).read()

    def is_ready(self):
        if self.child.poll() is not None:
            raise RuntimeError("Prometheus ended: " + self.said()[-2000:])
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=10).status == 200
        except OSError:
            return False

    def ask(self, where, **parameters):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        answer = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{where}{query}", timeout=60).read())
        if answer["status"] != "success":
            raise RuntimeError(str(answer)[:500])
        return answer["data"]

    def scraped(self, seconds):
        """Of each series of the last seconds its scrapes: pairs of a time and a number."""
        out = {}
        for row in self.ask("query", query=f'{{job="acu",__name__=~"acu_.*"}}[{seconds}s]')["result"]:
            labels = {name: value for name, value in row["metric"].items() if name not in ("__name__", "job", "instance")}
            out[row["metric"]["__name__"], frozenset(labels.items())] = [(when, float(value)) for when, value in row["values"]]
        return out

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
