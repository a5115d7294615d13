#!/usr/bin/env python3
"""What `acu trace` costs a web server: trace_nginx.py --acu ACU [--pairs N] [--seconds S] [--tracers a,b] [--out FILE]

nginx with one worker under wrk, both on all CPUs: requests per second bare, and while the worker's calls are shown (to a file), counted, and under
strace. Each tracer has pairs of short runs of its own, bare and traced in alternating order, so that a host that is busy with other
things disturbs both alike. The table shows the medians of the pairs' ratios, and between which half of them are. The floor are two programs by hand that time each
call of all processes, and show nothing (bench/floor).
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import run
from section import write_section

NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{ access_log {log}; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


@contextlib.contextmanager
def serving(port):
    """nginx with /page.html: the folder of its files, and the pid of its worker."""
    folder = tempfile.mkdtemp(prefix="acu-bench-nginx-")
    os.chmod(folder, 0o755)
    with open(os.path.join(folder, "page.html"), "w") as page:
        page.write("x" * 600)
    with open(os.path.join(folder, "nginx.conf"), "w") as file:
        file.write(NGINX.format(folder=folder, port=port, log=os.path.join(folder, "access.log")))
    server = subprocess.Popen(["nginx", "-c", os.path.join(folder, "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        with open(f"/proc/{server.pid}/task/{server.pid}/children") as file:
            worker = int(file.read().split()[0])
        yield folder, worker
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)


def load(port, seconds):
    """Requests per second."""
    done = subprocess.run(["wrk", "-t1", "-c16", f"-d{seconds}s", f"http://127.0.0.1:{port}/page.html"], capture_output=True, text=True)
    return float(re.search(r"Requests/sec: +([\d.]+)", done.stdout)[1])


def tracers(acu, folder, worker):
    to = ["-o", os.path.join(folder, "calls"), "-p", str(worker)]
    floor = [os.path.join(run.BUILD, "floor"), os.path.join(run.BUILD, "floors.bpf.o"), "latency_enter", "latency_exit"]
    own = {"nothing": None, "floor": floor, "acu trace -c": [acu, "trace", "-q", "-c", *to], "acu trace": [acu, "trace", "-q", *to]}
    if shutil.which("strace"):
        own |= {"strace -c": ["strace", "-c", *to], "strace": ["strace", *to]}
    return own


def traced(words, port, seconds):
    if not words:
        return load(port, seconds)
    tracer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.7)  # until it is attached
    rate = load(port, seconds)
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    return rate


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument("--seconds", type=int, default=2)
    options.add_argument("--tracers")
    options.add_argument("--out")
    given = options.parse_args()
    run.build()
    port = 20000 + os.getpid() % 10000
    lines = ["| nginx under | throughput/bare | middle half of the pairs | requests/s |", "|---|---|---|---|"]
    with serving(port) as (folder, worker):
        compared = {name: words for name, words in tracers(os.path.abspath(given.acu), folder, worker).items() if not given.tracers or name in given.tracers.split(",")}
        ratios, rates = {name: [] for name in compared}, {name: [] for name in compared}
        for pair in range(given.pairs):
            for name, words in compared.items():
                order = [None, words] if pair % 2 else [words, None]
                found = [traced(each, port, given.seconds) for each in order]
                bare, with_it = found if pair % 2 else found[::-1]
                ratios[name].append(with_it / bare)
                rates[name].append(with_it)
        for name, found in ratios.items():
            low, middle, high = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
            lines.append(f"| {name} | {middle:.0%} | {low:.0%} to {high:.0%} | {statistics.median(rates[name]):,.0f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        section = f"## System calls of nginx\n\nbench/trace_nginx.py, one worker, {given.pairs} pairs of {given.seconds} s each, {time.strftime('%Y-%m-%d')}.\n\n{text}"
        write_section(given.out, "trace_nginx", section)


if __name__ == "__main__":
    main()
