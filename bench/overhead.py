#!/usr/bin/env python3
"""What recording costs servers that are saturated: overhead.py --acu PATH [--seconds 3] [--pairs 10] [--servers a,b] [--kinds a,b] [--out FILE]

Servers: PostgreSQL under `pgbench -S`, Redis under redis-benchmark, nginx, a Python and a Java HTTP server under wrk, and a C++ program that
does little but allocate. Both CPUs are busy, so that what a recorder takes on the CPU of its own also shows in the throughput; an idle or single-threaded target would hide it.
In each round every recorder of the whole host has a pair: the same load without and with it, in alternating order, once it is attached;
so all of them see the same hours of a machine whose other guests disturb for seconds and minutes. Of all seconds with a recorder and
of those without the quarter that went best is compared, as disturbances only add. The table shows the ratio of these quartiles, and
between which such ratios half of 1,000 samples of the pairs are. The row "nothing" has no recorder: it shows how far chance goes.
Peers (perf, libbpf-tools) stand in the same table where they are installed.
"""
import argparse
import contextlib
import glob
import json
import os
import queue
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from section import write_section

TICK = os.sysconf("SC_CLK_TCK")
PYTHON_SERVER = r"""
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet a response, which nobody waits with
    def do_GET(self):
        body = ",".join(str(i * i) for i in range(200)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
JAVA_SERVER = r"""
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
public class Server {
  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/", exchange -> {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 200; i++) text.append(i * i).append(',');
      byte[] body = text.toString().getBytes();
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }
}
"""
ALLOCATOR = r"""
#include <chrono>
#include <cstdio>
#include <list>
#include <map>
#include <string>
#include <thread>
static void run(long* rounds) {
  for (unsigned n = 1;; ++*rounds) {
    std::map<std::string, std::list<std::string>> words;
    for (int i = 0; i < 500; i++) {
      n = n * 1664525 + 1013904223;
      words[std::to_string(n >> 24) + " is a longer word"].push_back(std::to_string(n) + " is one of its meanings");
    }
  }
}
int main() {
  static long rounds[2];
  std::thread(run, rounds).detach();
  std::thread(run, rounds + 1).detach();
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::printf("%ld\n", *(volatile long*)rounds + *(volatile long*)(rounds + 1));
    std::fflush(stdout);
  }
}
"""
# The interrupts of a clock alone, which nobody reads: what all that sample at that rate cost at least (perf_event_open(2), cpu-clock).
CLOCK = r"""
import ctypes, os, signal, struct, sys
attributes = struct.pack("IIQQQQQ", 1, 112, 0, int(sys.argv[1]), 0, 0, 1 << 10) + bytes(64)
for cpu in range(os.cpu_count()):
    if ctypes.CDLL(None).syscall(298, attributes, -1, cpu, -1, 0) < 0: sys.exit("no event")
signal.pause()
"""
NGINX = """daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{ access_log {folder}/access.log; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


def cpu_of(pid):
    """Seconds of CPU time of a process, of those it started, and of those of them that have ended."""
    seconds = 0
    with contextlib.suppress(OSError):
        seconds = time.clock_gettime(~pid << 3 | 2)  # of all its threads: what clock_getcpuclockid(3) gives
        ended = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[13:15]
        seconds += sum(map(int, ended)) / TICK
        for task in os.listdir(f"/proc/{pid}/task"):
            seconds += sum(map(cpu_of, map(int, open(f"/proc/{pid}/task/{task}/children").read().split())))
    return seconds


@contextlib.contextmanager
def running(command, **more):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def one_by_one(server, load, is_one_process=True):
    """Seconds of a load that is begun anew for each: CPU time of the server's processes per request, requests per second. And the
    pid, if the server is a single process."""
    def seconds(number):
        for _ in range(number):
            before = cpu_of(server.pid)
            count, rate = load()
            yield (cpu_of(server.pid) - before) / count, rate
    return seconds, server.pid if is_one_process else None


def tick_by_tick(pid, lines, parse):
    """The same of a load that goes on all the time, and prints a line each second, of which `parse` makes time, requests and rate."""
    ticks = queue.Queue()

    def read():
        for line in lines:
            if found := parse(line):
                ticks.put((*found, cpu_of(pid)))
    threading.Thread(target=read, daemon=True).start()

    def seconds(number):
        while not ticks.empty():
            ticks.get()
        ticks.get()
        before, requests_before, _, cpu_before = ticks.get()
        for _ in range(number):
            now, requests, rate, cpu = ticks.get()
            count = requests - requests_before if requests else rate * (now - before)
            yield (cpu - cpu_before) / count, rate or count / (now - before)
            before, requests_before, cpu_before = now, requests, cpu
    return seconds


def wrk(port, seconds):
    out = subprocess.run(["wrk", "-t1", "-c32", f"-d{seconds}s", f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"(\d+) requests in", out).group(1)), float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


@contextlib.contextmanager
def postgres(folder, port):
    become = {"user": "postgres"} if os.getuid() == 0 else {}
    place = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1])
    data = os.path.join(folder, "data")
    os.chmod(folder, 0o777)
    subprocess.run([f"{place}/initdb", "-D", data, "-A", "trust", "--no-sync", "--locale=C"], check=True, stdout=subprocess.DEVNULL, **become)
    with running([f"{place}/postgres", "-D", data, "-p", str(port), "-k", folder, "-c", "listen_addresses="], **become) as server:
        bench = ["pgbench", "-h", folder, "-p", str(port), "-U", "postgres"]
        while subprocess.run([f"{place}/pg_isready", "-q", "-h", folder, "-p", str(port)]).returncode:
            time.sleep(0.2)
        subprocess.run([*bench, "-i", "-s", "10", "-q", "postgres"], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

        # One load all the time, as its start is not free: each connection has a process of the server.
        with subprocess.Popen([*bench, "-S", "-c", "20", "-j", "2", "-T", "100000", "-P", "1", "postgres"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as load:
            def parse(line):
                found = re.search(r"^progress: ([\d.]+) s, ([\d.]+) tps", line)
                return found and (float(found[1]), 0, float(found[2]))
            try:
                yield tick_by_tick(server.pid, load.stderr, parse), None
            finally:
                load.terminate()


@contextlib.contextmanager
def redis(folder, port):
    with running(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]) as server:
        time.sleep(1)

        def requests(number):
            out = subprocess.run(["redis-benchmark", "-p", str(port), "-q", "-t", "set", "-c", "50", "-r", "100000", "-d", "100", "-n", str(number)],
                                 capture_output=True, text=True, check=True).stdout
            return number, float(re.search(r"([\d.]+) requests per second", out).group(1))
        _, rate = requests(50_000)
        yield one_by_one(server, lambda: requests(int(rate)))


@contextlib.contextmanager
def nginx(folder, port):
    with open(os.path.join(folder, "nginx.conf"), "w") as file:
        file.write(NGINX.format(folder=folder, port=port))
    with open(os.path.join(folder, "index.html"), "w") as file:
        file.write("x" * 2000)
    os.chmod(folder, 0o755)
    program = shutil.which("nginx", path="/usr/sbin:" + os.environ["PATH"])
    with running([program, "-p", folder, "-c", os.path.join(folder, "nginx.conf")]) as server:
        time.sleep(1)
        yield one_by_one(server, lambda: wrk(port, 1), is_one_process=False)


@contextlib.contextmanager
def allocator(folder, _):
    program = os.path.join(folder, "allocator")
    subprocess.run(["g++", "-O2", "-x", "c++", "-", "-o", program, "-pthread"], input=ALLOCATOR, text=True, check=True)
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield tick_by_tick(server.pid, server.stdout, lambda line: (time.monotonic(), int(line), 0)), server.pid
        finally:
            server.terminate()


@contextlib.contextmanager
def python(folder, port):
    with running([sys.executable, "-c", PYTHON_SERVER, str(port)]) as server:
        time.sleep(1)
        yield one_by_one(server, lambda: wrk(port, 1))


@contextlib.contextmanager
def java(folder, port):
    source = os.path.join(folder, "Server.java")
    with open(source, "w") as file:
        file.write(JAVA_SERVER)
    with running(["java", "-Dsun.net.httpserver.nodelay=true", source, str(port)]) as server:
        time.sleep(4)
        wrk(port, 5)  # compiled by now
        yield one_by_one(server, lambda: wrk(port, 1))


SERVERS = {"pgbench -S": postgres, "redis-benchmark": redis, "nginx": nginx, "Python": python, "Java": java, "C++ allocator": allocator}
KINDS = ["cpu 99", "cpu 999", "offcpu", "lock", "faults", "alloc", "allocated", "io", "file", "net", "trace -c", "serve"]
SETTLES = {"acu serve": 15}  # seconds until it runs as it will for days: at first it reads the names of all programs


def commands(acu, kinds, with_peers, pid):
    """By name, a recorder of the whole host, or of the one process that the kind is about; it ends by SIGINT."""
    out = {"nothing": ["sleep", "1000"]}
    for kind in kinds:
        words = kind.split()
        if kind == "allocated":
            if pid:
                out[f"acu {kind} -p PID"] = [acu, "record", kind, "-p", str(pid), "-q", "-o", "out.acu"]
            continue
        if words[0] == "cpu":
            out[f"acu {kind} Hz"] = [acu, "record", "cpu", "-F", words[1], "-a", "-q", "-o", "out.acu"]
        elif words[0] == "serve":
            out["acu serve"] = [acu, "serve", "--listen", "127.0.0.1:0", "--store", "serve.db", "--token-file", "token"]
        elif words[0] == "trace":
            out["acu trace -c"] = [acu, "trace", "-a", "-c", "-o", "out.txt"]
        else:
            out[f"acu {kind}"] = [acu, "record", *words, "-a", "-q", "-o", "out.acu"]
    peers = {"999 Hz clock alone": ("cpu 999", sys.executable, ["-c", CLOCK, "999"]),
             "perf 99 Hz, dwarf": ("cpu 99", "perf", ["record", "-F", "99", "-a", "--call-graph", "dwarf", "-o", "perf.data"]),
             "perf 999 Hz, no stacks": ("cpu 999", "perf", ["record", "-F", "999", "-a", "-o", "perf.data"]),
             "perf 999 Hz, dwarf": ("cpu 999", "perf", ["record", "-F", "999", "-a", "--call-graph", "dwarf", "-o", "perf.data"]),
             "offcputime (libbpf-tools)": ("offcpu", "/usr/sbin/offcputime", [])}
    for name, (kind, program, words) in peers.items():
        if with_peers and kind in kinds and (found := shutil.which(program)):
            out[name] = [found, *words]
    return out


@contextlib.contextmanager
def recorder(command, folder, settles):
    # In the background of a shell SIGINT is ignored.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(settles)  # it is attached
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        error = process.communicate()[1]
        if process.returncode not in (0, -signal.SIGINT) and "nothing was recorded" not in error:
            print(f"{' '.join(command)}: exit status {process.returncode}: {error.strip()[-200:]}", file=sys.stderr)


def pair(load, seconds, command, folder, recorder_first, settles):
    """The seconds of a load: False without the recorder, True with it."""
    found = {}
    for with_it in (True, False) if recorder_first else (False, True):
        with recorder(command, folder, settles) if with_it else contextlib.nullcontext():
            found[with_it] = list(load(seconds))
    return found


def ratio_of_best(pairs, without, at, quarter):
    """Of the seconds of pairs: the first or third quartile with the recorder by that of all without."""
    with_it = [second[at] for found in pairs for second in found[True]]
    return statistics.quantiles(with_it, n=4)[quarter] / statistics.quantiles(without, n=4)[quarter]


def in_percent(pairs, without, at, quarter):
    """The change, and how sure that is."""
    samples = [ratio_of_best(random.Random(n).choices(pairs, k=len(pairs)), without, at, quarter) for n in range(1000)]
    low, _, high = (100 * (q - 1) for q in statistics.quantiles(samples, n=4))
    return f"{100 * (ratio_of_best(pairs, without, at, quarter) - 1):+.1f} ({low:+.1f} to {high:+.1f})"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--seconds", type=int, default=3)
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument("--servers", default=",".join(SERVERS))
    options.add_argument("--kinds", default=",".join(KINDS))
    options.add_argument("--alone", action="store_true", help="no peers")
    options.add_argument("--port", type=int, default=18431)
    options.add_argument("--out")
    options.add_argument("--raw", help="write all seconds to this file: server, recorder, pairs of [without, with], as JSON lines")
    given = options.parse_args()
    lines = ["| server | recorder | CPU per request, % | requests per second, % |", "|---|---|---|---|"]
    for name in given.servers.split(","):
        with contextlib.ExitStack() as cleanup:
            folder = tempfile.mkdtemp(prefix="acu-bench-")
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            load, pid = cleanup.enter_context(SERVERS[name](folder, given.port))
            list(load(2))
            recorders = commands(os.path.abspath(given.acu), given.kinds.split(","), not given.alone, pid)
            pairs = {what: [] for what in recorders}
            for number in range(given.pairs):
                for what, command in recorders.items():
                    pairs[what].append(pair(load, given.seconds, command, folder, number % 2, SETTLES.get(what, 1.5)))
            without = [second for found in pairs.values() for one in found for second in one[False]]
            costs, rates = zip(*without)
            if given.raw:
                with open(given.raw, "a") as file:
                    file.writelines(json.dumps([name, what, [[one[False], one[True]] for one in found]]) + "\n" for what, found in pairs.items())
            for what, found in pairs.items():
                lines.append(f"| {name} | {what} | {in_percent(found, costs, 0, 0)} | {in_percent(found, rates, 1, 2)} |")
                print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if given.out:
        write_section(given.out, "overhead", f"## Overhead of recording saturated servers ({given.pairs} rounds of {given.seconds} s)\n\n"
                      "bench/overhead.py. The change caused by a recorder of the whole host, compared at the best quartile of all seconds, because other "
                      f"guests of the physical host only slow things down; in parentheses the interquartile range of 1,000 bootstrap samples of the pairs.\n\n{text}")


main()
