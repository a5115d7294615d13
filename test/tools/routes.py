"""http-requests: number and latency of requests by route, of real servers with and without TLS, against what wrk measured as their client; and the limit of routes."""
import http.client
import os
import re
import shutil
import subprocess
import sys

from common import ROOT, SLOWNESS, TMP, lines, need, trace
from programs import Nginx, free_port
from tally import Skipped

sys.path.append(os.path.join(ROOT, "test", "environment"))
import saved_host
from web import certificate, serve, stop

NGINX, ECHO = "/usr/sbin/nginx", "/usr/lib/nginx/modules/ngx_http_echo_module.so"
PYTHON, NODE = "/usr/bin/python3", "/usr/bin/node"

# Each server answers /a/… after 100 ms, /b/… after 150 ms, and /none with 404 after 200 ms, but each tenth request after 500 ms: long enough
# that a thread that wakes up late changes neither percentile by 5%.
IN_PYTHON = """\
import http.server, itertools, ssl, sys, time
number = itertools.count(1)
class Handler(http.server.BaseHTTPRequestHandler):
  protocol_version = "HTTP/1.1"
  disable_nagle_algorithm = True
  wbufsize = -1
  def do_GET(self):
    time.sleep(0.5 if next(number) % 10 == 0 else {"a": 0.1, "b": 0.15, "n": 0.2}[self.path[1]])
    self.send_response(404 if self.path == "/none" else 200)
    self.send_header("Content-Length", "6")
    self.end_headers()
    self.wfile.write(b"needle")
    self.wfile.flush()
  def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
  daemon_threads = True
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
if len(sys.argv) > 2:
  context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
  context.load_cert_chain(sys.argv[2])
  server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
"""

IN_NODE = """\
const fs = require("fs"), [port, pem] = process.argv.slice(1);
let number = 0;
function answer(request, response) {
  const ms = ++number % 10 == 0 ? 500 : {a: 100, b: 150, n: 200}[request.url[1]];
  setTimeout(() => { response.writeHead(request.url == "/none" ? 404 : 200, {"Content-Length": 6}); response.end("needle"); }, ms);
}
const key = pem && fs.readFileSync(pem);
(pem ? require("https").createServer({key, cert: key}, answer) : require("http").createServer(answer)).listen(Number(port), "127.0.0.1");
"""


class OfProcess:
    """A server with its command, whose words end with the port and, for TLS, the certificate."""

    def __init__(self, name, command, is_tls):
        self.name, self.port = name, free_port()
        self.process = serve([*command, str(self.port), *([certificate()] if is_tls else [])], self.port, name)

    def stop(self):
        stop(self.process)


class OfNginx(Nginx):
    def __init__(self, is_tls):
        self.name = "nginx"
        # `split_clients` spreads evenly by what it hashes: here by the number of the request.
        locations = " ".join(f"location {path} {{ {status} echo_sleep $of_{name}; echo_duplicate 1 needle; }}"
                             for name, path, status in (("a", "/a/", ""), ("b", "/b/", ""), ("none", "= /none", "echo_status 404;")))
        pauses = " ".join(f"split_clients $request_id $of_{name} {{ 10% 0.5; * {pause}; }}" for name, pause in (("a", 0.1), ("b", 0.15), ("none", 0.2)))
        if is_tls:
            locations = f"ssl_certificate {certificate()}; ssl_certificate_key {certificate()}; " + locations
        super().__init__(NGINX, locations, f"load_module {ECHO};", http=pauses, listen=" ssl" if is_tls else "")


def wrk(port, is_tls, path):
    """Number of requests, and their median and 99th percentile in ms, as the client sees them."""
    url = f"{'https' if is_tls else 'http'}://127.0.0.1:{port}{path}"
    said = subprocess.run(["wrk", "-t1", "-c8", "-d4s", "--latency", url], capture_output=True, text=True, timeout=60 * SLOWNESS, check=True).stdout
    factor = {"us": 0.001, "ms": 1, "s": 1000}
    middle, high = (float(number) * factor[unit] for number, unit in re.findall(r"^ +(?:50|99)% +([\d.]+)(us|ms|s)$", said, re.M))
    return int(re.search(r"(\d+) requests in", said)[1]), middle, high


ROUTES = {"GET /a/*": "/a/7?x=1", "GET /b/*": "/b/8/c", "GET /none": "/none"}


def agree(acu, server, is_tls):
    said = {}
    try:
        text = trace(acu, "http-requests.bt", lambda: said.update({route: wrk(server.port, is_tls, path) for route, path in ROUTES.items()}),
                     ["--", "--quiet", "--name=" + server.name], ["-p", str(server.process.pid)] if isinstance(server, OfProcess) else [])
    finally:
        server.stop()
    found = {f[4]: (int(f[0]), int(f[1]), float(f[2]), float(f[3])) for f in lines(text, r" +(\d+) +(\d+) +(\d+\.\d{3}) +(\d+\.\d{3}) (.*)")}
    need(set(found) == set(ROUTES), f"{said}\n{text}")
    for route, (count, errors, *ours) in found.items():
        theirs = said[route]
        # The requests of eight connections were under way when wrk stopped.
        need(theirs[0] <= count <= theirs[0] + 8 and theirs[0] >= 50, f"{route}: wrk has {said}\n{text}")
        need(errors == (count if route == "GET /none" else 0), text)
        for mine, other in zip(ours, theirs[1:]):
            need(abs(mine - other) <= 0.05 * other, f"{route}: wrk has {said}\n{text}")
    need(all(f[2] < 250 and f[3] >= 480 for f in found.values()), text)


def test_of(name, needed, make, is_tls):
    def test(acu):
        for program in ("wrk", "openssl", *needed):
            if not shutil.which(program) and not os.path.exists(program):
                raise Skipped(f"no {program} here")
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, -10)  # of servers and clients: others keep the CPUs busy
        try:
            agree(acu, make(), is_tls)
        finally:
            os.setpriority(os.PRIO_PROCESS, 0, usual)
    test.__name__ = f"http-requests-{name}{'-tls' if is_tls else ''}"
    return test


def many_routes(tool, most, arguments, chosen=()):
    """Those beyond a number are one, so that paths which clients make up do not fill the memory, of which each CPU takes its part."""
    def test(acu):
        if not os.path.exists(NGINX):
            raise Skipped("no nginx here")
        here, saved = os.path.join(TMP, "this.host"), os.path.join(TMP, "large.host")
        subprocess.run([acu, "info", "--save", here], stdout=subprocess.DEVNULL, check=True, timeout=60 * SLOWNESS)
        with open(here, "rb") as file:
            entries = saved_host.read(file.read())
        cpus = int(re.search(rb"^possible_cpus (\d+)$", entries["answers"], re.M)[1])
        entries["answers"] = re.sub(rb"^possible_cpus \d+$", b"possible_cpus 50", entries["answers"], flags=re.M)
        with open(saved, "wb") as file:
            file.write(saved_host.write(entries))
        of_large = subprocess.run([acu, "run", "--for", saved, "--dump", "bpf", os.path.join(ROOT, "tools", tool + ".bt"), *arguments], capture_output=True, text=True,
                                  timeout=60 * SLOWNESS).stdout
        compared = re.findall(r"\bif .* s?[<>]=? (\d+) goto", of_large)
        need(str(16 * most // 50) in compared and str(most) not in compared, f"with 50 CPUs: {sorted(set(compared), key=int)}")

        limit = min(most, 16 * most // cpus)
        server = Nginx(NGINX, "location / { return 200; }")

        def load():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20 * SLOWNESS)
            for n in range(limit + 50):
                connection.request("GET", f"/route{n}")
                connection.getresponse().read()
            connection.close()

        try:
            text = trace(acu, tool + ".bt", load, [*arguments, "--", "--quiet", "--top=3", *chosen])
        finally:
            server.stop()
        found = {f[1]: int(f[0]) for f in lines(text, r" +(\d+) +0 +\d+\.\d{3} +\d+\.\d{3} (?: +\d+\.\d{3} +\d+\.\d{3} )?(.*)")}
        need(len(found) == 3 and found.get("(other)") == 50, text[:1500])

    test.__name__ = tool + "-many-routes"
    return test


TESTS = [many_routes("http-requests", 2000, [], ["--name=nginx"]), many_routes("nginx-latency", 1000, [NGINX])]
TESTS += [test_of(name, needed, make, is_tls) for is_tls in (False, True) for name, needed, make in (
    ("nginx", [NGINX, ECHO], lambda is_tls=is_tls: OfNginx(is_tls)),
    ("python", [PYTHON], lambda is_tls=is_tls: OfProcess("python3", [PYTHON, "-c", IN_PYTHON], is_tls)),
    ("node", [NODE], lambda is_tls=is_tls: OfProcess("node", [NODE, "-e", IN_NODE], is_tls)))]
