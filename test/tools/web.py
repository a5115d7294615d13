"""Tools for requests: HTTP, TLS, DNS and PHP, with servers and clients of our own that count."""
import glob
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time

from common import SLOWNESS, TMP, histogram_total, keeps, lines, need, shell, trace
from programs import Nginx, answers, free_port, wait_until
from tally import Skipped

MS = r" *(\d+\.\d\d\d)"
STAMP = r"\d\d:\d\d:\d\d\.\d{6} "

HTTP_SERVER = """\
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
  protocol_version = "HTTP/1.1"
  def do_GET(self):
    if self.path == "/slow":
      time.sleep(0.1)
    self.send_response(404 if "missing" in self.path else 200)
    self.send_header("Content-Length", "6")
    self.end_headers()
    self.wfile.write(b"needle")
  def do_POST(self):
    self.rfile.read(int(self.headers["Content-Length"]))
    self.do_GET()
  def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


# One connection after the other, so that each has the descriptor of the last one, in a thread with a name of its own.
ODD_SERVER = """\
import ctypes, http.server, ssl, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
  protocol_version = "HTTP/1.1"
  def do_GET(self):
    self.close_connection = True
    if self.path != "/unanswered":
      self.send_response(101 if self.path == "/switch" else 200)
      self.end_headers()
  def do_POST(self):
    self.rfile.read(1)
    self.do_GET()
  def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
if len(sys.argv) > 2:
  context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
  context.load_cert_chain(sys.argv[2])
  server.socket = context.wrap_socket(server.socket, server_side=True)
def work():
  ctypes.CDLL(None).prctl(15, b"worker-1", 0, 0, 0)
  server.serve_forever()
threading.Thread(target=work).start()
"""

# The tools do not know PROPFIND: its answer is not that of the request before.
ODD_REQUESTS = [f"{request} HTTP/1.1\r\nHost: needle\r\n{header}\r\n" for request, header in (
    *(("GET /unanswered", ""), ("PROPFIND /dav", "")) * 3, ("POST /expected", "Content-Length: 1\r\nExpect: 100-continue\r\n"), ("GET /switch", "Upgrade: websocket\r\n"), ("GET /plain", ""))]
ODD_ANSWERS = [("200", "POST /expected"), ("101", "GET /switch"), ("200", "GET /plain")]

ODD_CLIENT = """\
import ctypes, socket, sys, threading
def work():
  ctypes.CDLL(None).prctl(15, b"worker-1", 0, 0, 0)
  for text in sys.argv[2:]:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
      connection.sendall(text.encode())
      if text[:4] == "POST": connection.recv(4096), connection.sendall(b"x")
      while connection.recv(4096): pass
threading.Thread(target=work).start()
"""


def certificate():
    path = os.path.join(TMP, "server.pem")
    if not os.path.exists(path):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-keyout", path, "-out",
                        path, "-days", "2"], check=True, stderr=subprocess.DEVNULL)
    return path


def serve(command, port, what):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), what)
    except BaseException:
        stop(process)
        raise
    return process


def stop(process):
    process.kill()
    process.wait(timeout=20 * SLOWNESS)


def http_requests(acu):
    if not shutil.which("curl"):
        return "no curl here"
    port = free_port()
    server = serve(["/usr/bin/python3", "-c", HTTP_SERVER, str(port)], port, "a server in Python")
    at = f"http://127.0.0.1:{port}"
    # Several requests on one connection; a header before its body; methods with and without a body.
    load = shell(f"curl -s '{at}/orders/1?x=1' '{at}/orders/2' '{at}/orders/missing'; curl -s '{at}/slow'; curl -s -d a=1 '{at}/orders/3/items'")
    try:
        text = trace(acu, "http-requests.bt", load, ["--", "--name=python3"], may_warn=False)
        totals = trace(acu, "http-requests.bt", load, ["--", "--name=python3", "--quiet", "--depth=2"])
        others = trace(acu, "http-requests.bt", load, ["--", "--name=curl"])
    finally:
        stop(server)
    found = lines(text, rf"{STAMP}{server.pid} +python3 +{MS} (\d+) +(\w+ \S*)")
    need([f[1:] for f in found] == [("200", "GET /orders/1"), ("200", "GET /orders/2"), ("404", "GET /orders/missing"), ("200", "GET /slow"),
                                    ("200", "POST /orders/3/items")], text)
    need(100 <= float(found[3][0]) <= 2000 and all(float(f[0]) < 100 for f in found[:3]), text)
    counts = re.findall(r"^@us\[(.*)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M)
    need({key: count for key, count, _ in counts} == {"GET /orders/*, 200": "2", "GET /orders/*, 404": "1", "GET /slow, 200": "1", "POST /orders/*, 200": "1"}, text)
    need(not lines(totals, STAMP + ".*") and "@us[POST /orders/3/*, 200]: { .count = 1" in totals and "@us[GET /orders/2, 200]: { .count = 1" in totals, totals)
    need("@us[" not in others, "a client is no server:\n" + others)


def http_requests_log(acu):
    """Of nginx, whose workers write from several places in memory at once; its log has the same requests."""
    if not os.path.exists("/usr/sbin/nginx"):
        raise Skipped("no nginx here")
    server = Nginx("/usr/sbin/nginx", "")

    def load():
        for n in range(20):
            server.get(f"/page.txt?n={n}")
        server.get("/missing/7", "-X", "DELETE")
        time.sleep(0.1)

    try:
        text = trace(acu, "http-requests.bt", load, ["--", "--name=nginx"], may_warn=False)
    finally:
        server.stop()
    found = lines(text, rf"{STAMP}(\d+) +nginx +{MS} (\d+) +(\w+) (\S+)")
    with open(server.log) as log:
        logged = [line.split() for line in log]
    need(len(logged) == 21 and sorted((f[0], *f[2:]) for f in found) == sorted((pid, status, method, uri.partition("?")[0]) for pid, status, _, method, uri in logged),
         f"{text}{logged}")
    need("@us[GET /page.txt, 200]: { .count = 20," in text, text)


def odd_requests(acu, is_tls):
    """Connections that end without an answer, and answers below 200, by a thread that is not called like its process."""
    if is_tls and not shutil.which("openssl"):
        raise Skipped("no openssl here")
    port = free_port()
    server = serve(["/usr/bin/python3", "-c", ODD_SERVER, str(port), *([certificate()] if is_tls else [])], port, "a server in Python")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def load():
        for request in ODD_REQUESTS:
            with socket.create_connection(("127.0.0.1", port), timeout=20 * SLOWNESS) as connection:
                with context.wrap_socket(connection) if is_tls else connection as stream:
                    stream.sendall(request.encode())
                    if request.startswith("POST"):
                        stream.recv(4096)  # 100 Continue
                        stream.sendall(b"x")
                    while stream.recv(4096):
                        pass
        time.sleep(0.1)  # the server closes the last connection after its answer

    try:
        text = trace(acu, keeps("http-requests.bt", "@since", "@text"), load, options=["-p", str(server.pid)], may_warn=False)
        named = trace(acu, "http-requests.bt", load, ["--", "--name=python3"])
        others = trace(acu, "http-requests.bt", load, ["--", "--name=worker-1"])
    finally:
        stop(server)
    pattern = rf"{STAMP}{server.pid} +python3 +{MS} (\d+) +(\w+ \S*)"
    need([f[1:] for f in lines(text, pattern)] == ODD_ANSWERS, text)
    need(not re.search(r"^@(since|text)\[", text, re.M), "requests that are over are kept:\n" + text)
    need([f[1:] for f in lines(named, pattern)] == ODD_ANSWERS and "@us[" not in others, f"{named}\n{others}")


def http_requests_odd(acu):
    odd_requests(acu, False)


def http_requests_odd_tls(acu):
    odd_requests(acu, True)


def http_calls_odd(acu):
    """The same from the client's side."""
    port = free_port()
    server = serve(["/usr/bin/python3", "-c", ODD_SERVER, str(port)], port, "a server in Python")
    clients = []

    def load():
        clients.append(subprocess.Popen(["/usr/bin/python3", "-c", ODD_CLIENT, str(port), *ODD_REQUESTS]))
        clients[-1].wait(timeout=20 * SLOWNESS)

    try:
        text = trace(acu, keeps("http-calls.bt", "@since", "@text", "@host"), load, may_warn=False)
        named = trace(acu, "http-calls.bt", load, ["--", "--name=python3"])
        others = trace(acu, "http-calls.bt", load, ["--", "--name=worker-1"])
    finally:
        stop(server)
    for said, client in zip((text, named), clients):
        need([f[1:] for f in lines(said, rf"{STAMP}{client.pid} +python3 +{MS} (\d+) +needle +(\w+ \S*)")] == ODD_ANSWERS, said)
        need("@us[python3, needle, GET /plain, 200]: { .count = 1," in said, said)
    need(not re.search(rf"^@(since|text|host)\[{clients[0].pid},", text, re.M), "calls that are over are kept:\n" + text)
    need("@us[" not in others, others)


def http_calls(acu):
    if not shutil.which("curl"):
        return "no curl here"
    port = free_port()
    server = serve(["/usr/bin/python3", "-c", HTTP_SERVER, str(port)], port, "a server in Python")
    at = f"http://localhost:{port}"
    load = shell(f"curl -s4 '{at}/orders/1?x=1' '{at}/orders/2' '{at}/orders/missing'; curl -s4 '{at}/slow'; curl -s4 -d a=1 '{at}/orders/3/items'")
    try:
        text = trace(acu, "http-calls.bt", load, may_warn=False)
    finally:
        stop(server)
    found = lines(text, rf"{STAMP}\d+ +curl +{MS} (\d+) +localhost:{port} +(\w+ \S*)")
    need([f[1:] for f in found] == [("200", "GET /orders/1"), ("200", "GET /orders/2"), ("404", "GET /orders/missing"), ("200", "GET /slow"),
                                    ("200", "POST /orders/3/items")], text)
    need(100 <= float(found[3][0]) <= 2000, text)
    counts = re.findall(rf"^@us\[curl, localhost:{port}, (.*)\]: \{{ \.count = (\d+), ", text, re.M)
    need(dict(counts) == {"GET /orders/*, 200": "2", "GET /orders/*, 404": "1", "GET /slow, 200": "1", "POST /orders/*, 200": "1"}, text)
    need("python3, " not in text, "a server is no client:\n" + text)


# Connects by TLS with two libraries, asks for a row of SQLite, sends a command as to Redis, and uses more memory, all by a thread with a name of its own.
OF_A_THREAD = """\
import ctypes, socket, sqlite3, ssl, sys, threading, time
def work():
  ctypes.CDLL(None).prctl(15, b"worker-1", 0, 0, 0)
  tls, plain = map(int, sys.argv[1:3])
  context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
  context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
  with socket.create_connection(("127.0.0.1", tls)) as connection, context.wrap_socket(connection): pass
  try:
    library = ctypes.CDLL("libgnutls.so.30")
  except OSError:
    library = None
  if library:
    session, store = ctypes.c_void_p(), ctypes.c_void_p()
    library.gnutls_init(ctypes.byref(session), 2)
    library.gnutls_set_default_priority(session)
    library.gnutls_certificate_allocate_credentials(ctypes.byref(store))
    library.gnutls_credentials_set(session, 1, store)
    with socket.create_connection(("127.0.0.1", tls)) as connection:
      library.gnutls_transport_set_int2(session, connection.fileno(), connection.fileno())
      library.gnutls_handshake(session)
  sqlite3.connect(":memory:").execute("select 'needle'").fetchall()
  with socket.create_connection(("127.0.0.1", plain)) as connection:
    connection.sendall(b"*2\\r\\n$3\\r\\nGET\\r\\n$6\\r\\nneedle\\r\\n")
    connection.recv(100)
  kept = bytearray(b"x") * (16 << 20)
  time.sleep(int(sys.argv[3]))
threading.Thread(target=work).start()
"""


def process_names(tool, row, library=None, options=()):
    """--name and COMM are those of the process, whatever its threads are called."""
    def test(acu):
        if not shutil.which("openssl"):
            raise Skipped("no openssl here")
        if library and not glob.glob(f"/usr/lib/*/{library}"):
            raise Skipped(f"no {library} here")
        port = free_port()
        server = serve(["/usr/bin/python3", "-c", ODD_SERVER, str(port), certificate()], port, "a server in Python")
        with socket.create_server(("127.0.0.1", 0)) as plain:
            def reply():
                connection = plain.accept()[0]
                with connection:
                    connection.recv(100)
                    connection.sendall(b"$6\r\nneedle\r\n")

            def load():
                serving = threading.Thread(target=reply)
                serving.start()
                process = subprocess.Popen(["/usr/bin/python3", "-c", OF_A_THREAD, str(port), str(plain.getsockname()[1]), "2" if tool == "rssgrowth" else "0"])  # which prints each second
                pids.append(process.pid)
                need(process.wait(timeout=20 * SLOWNESS) == 0, "the load failed")
                serving.join()

            pids = []
            try:
                text = trace(acu, tool + ".bt", load, ["--", "--name=python3"], options)
                others = trace(acu, tool + ".bt", load, ["--", "--name=worker-1"], options)
            finally:
                stop(server)
        need(re.search("^" + row.format(STAMP=STAMP, pid=pids[0]), text, re.M), text)
        need("worker-1" not in text and str(pids[1]) not in others, f"{text}\n{others}")

    test.__name__ = tool + "-names"
    return test


NAMES = [process_names("sslsnoop", "{STAMP}{pid} +python3 +HANDSHAKE ", options=["--unsafe"]), process_names("gnutlssnoop", "{STAMP}{pid} +python3 +HANDSHAKE ", "libgnutls.so.30", ["--unsafe"]),
         process_names("sqlite-statements", "{STAMP}{pid} +python3 .* select 'needle'", "libsqlite3.so.0"), process_names("rssgrowth", r"@grown\[python3, {pid}, anonymous\]: \d{{8}}"),
         process_names("db-calls", "{STAMP}{pid} +python3 .* redis +127.0.0.1 +\\d+ +GET")]


DNS_CODES = {"missing": 3, "broken": 2}


def dns_server(where, ready):
    """Answers by the first label of the name, with one address, until it is asked for `last`."""
    def label(data):
        name, at = [], 12
        while data[at]:
            name.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        return name, at

    ready.set()
    while True:
        asked, client = where.recvfrom(512)
        name, end = label(asked)
        if name[0] == "last":
            return
        if name[0] == "silent":
            continue
        code = DNS_CODES.get(name[0], 0)
        if name[0] == "slow":
            time.sleep(0.1)
        answer = b"" if code else b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + b"\x7f\0\0\x09"
        where.sendto(asked[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, 0 if code else 1, 0, 0) + asked[12:end + 5] + answer, client)


def dns_question(number, name, kind):
    return struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + struct.pack(">BHH", 0, kind, 1)


def dns_queries(acu):
    """Of IPv4 and IPv6, from a resolver of its own."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        try:
            server.bind(("::", 53))
        except OSError as why:
            return f"port 53 is not free: {why}"
        ready = threading.Event()
        serving = threading.Thread(target=dns_server, args=(server, ready))
        serving.start()
        ready.wait()

        def load():
            number = 700
            for family, address in ((socket.AF_INET, "127.0.0.9"), (socket.AF_INET6, "::1")):
                with socket.socket(family, socket.SOCK_DGRAM) as client:
                    for name, kind in (("www.needle.example", 1), ("missing.example", 28), ("broken.a.b.c.example", 15), ("slow.example", 1)):
                        number += 1
                        client.sendto(dns_question(number, name, kind), (address, 53))
                        client.recv(512)
                    client.sendto(dns_question(number + 100, "silent.example", 16), (address, 53))
            time.sleep(0.8)

        try:
            text = trace(acu, "dns-queries.bt", load, ["--", "--timeout-ms=300"])
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.sendto(dns_question(1, "last", 1), ("127.0.0.9", 53))
            serving.join()
    found = lines(text, rf"{STAMP}{os.getpid()} +\S+ +(\S+) {MS} (\w+) +(\d+) (\w+) +(\S+)")
    for address in ("127.0.0.9", "::1"):
        ours = {f[5]: f[1:5] for f in found if f[0] == address}
        need({name: values[1:] for name, values in ours.items()} ==
             {"www.needle.example": ("NOERROR", "1", "A"), "missing.example": ("NXDOMAIN", "0", "AAAA"), "broken.a.b.c.example": ("SERVFAIL", "0", "MX"),
              "slow.example": ("NOERROR", "1", "A"), "silent.example": ("TIMEOUT", "0", "TXT")}, f"{address}: {ours}\n{text}")
        need(100 <= float(ours["slow.example"][0]) <= 2000 and float(ours["silent.example"][0]) >= 300, text)
    need(len(found) == 10 and re.search(r"^@answers\[NXDOMAIN\]: 2$", text, re.M) and re.search(r"^@unanswered: 2$", text, re.M), text)
    need(histogram_total(text, "@us") >= 8, text)


def gnutlssnoop(acu):
    for program in ("openssl", "gnutls-cli"):
        if not shutil.which(program):
            return f"no {program} here"
    key = os.path.join(TMP, "gnutls.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", key,
                    "-days", "2"], check=True, stderr=subprocess.DEVNULL)
    port = free_port()
    server = serve(["openssl", "s_server", "-quiet", "-www", "-key", key, "-cert", key, "-accept", str(port)], port, "openssl s_server")
    load = shell(f"(printf 'GET /needle HTTP/1.0\\r\\n\\r\\n'; sleep 0.4) | timeout 5 gnutls-cli --insecure -p {port} 127.0.0.1")
    try:
        text = trace(acu, "gnutlssnoop.bt", load, ["--", "--name=gnutls-cli"], ["--unsafe"])
        some = trace(acu, "gnutlssnoop.bt", load, ["--", "--contains=needle"])
    finally:
        stop(server)
    stamp = STAMP + r"\d+ +gnutls-cli +"
    need(len(lines(text, stamp + r"HANDSHAKE +- +\d+ *")) == 1, text)
    need(len(lines(text, stamp + r"WRITE +24 +\d+ GET /needle HTTP/1\.0")) == 1, text)
    need(lines(text, stamp + r"READ +\d+ +\d+ HTTP/1\.0 200 ok"), text)
    rows = some.strip().split("\n")
    need(len(rows) == 2 and "GET /needle" in rows[1], "more than what has the text:\n" + some)


def fastcgi(port, script, uri):
    """What a FastCGI server answers to a request."""
    record = lambda kind, body: struct.pack(">BBHHBx", 1, kind, 1, len(body), 0) + body
    values = {"SCRIPT_FILENAME": script, "SCRIPT_NAME": "/" + os.path.basename(script), "REQUEST_METHOD": "GET", "REQUEST_URI": uri, "QUERY_STRING": uri.partition("?")[2]}
    pairs = b"".join(bytes([len(name), len(text)]) + name.encode() + text.encode() for name, text in values.items())
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, pairs) + record(4, b"") + record(5, b""))
        answer = b""
        while part := connection.recv(4096):
            answer += part
    return answer


PHP_PAGE = """\
<?php
function used() { $usage = getrusage(); return 1e6 * $usage["ru_utime.tv_sec"] + $usage["ru_utime.tv_usec"]; }
if (isset($_GET["waits"])) { usleep(100000); }
if (isset($_GET["works"])) { $end = used() + 60000; while (used() < $end); }
echo "needle";
"""


def php_requests(acu):
    servers = sorted(glob.glob("/usr/sbin/php-fpm*"))
    if not servers or b"request__startup" not in open(servers[-1], "rb").read():
        return "no php-fpm with marked probes here"
    port, page = free_port(), os.path.join(TMP, "page.php")
    with open(page, "w") as out:
        out.write(PHP_PAGE)
    with open(os.path.join(TMP, "fpm.conf"), "w") as out:
        out.write(f"[global]\nerror_log = {TMP}/fpm.log\n[www]\nuser = root\ngroup = root\nlisten = 127.0.0.1:{port}\npm = static\npm.max_children = 1\n")
    server = subprocess.Popen([servers[-1], "-R", "-n", "-F", "-y", os.path.join(TMP, "fpm.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "php-fpm")
        said = []

        def load():
            said.extend(fastcgi(port, page, "/page.php" + query) for query in ("?waits=1", "?works=1", ""))
            time.sleep(0.2)  # a request ends after its answer

        text = trace(acu, "php-requests.bt", load, [servers[-1]])
        need(len(said) == 3 and all(b"needle" in answer for answer in said), str(said))
    finally:
        server.terminate()
        server.wait(timeout=20 * SLOWNESS)
    found = lines(text, rf"\d\d:\d\d:\d\d (\d+) +{MS} +{MS} GET +(\S+) +(\S+)")
    need([f[3:] for f in found] == [("/page.php", page)] * 3 and histogram_total(text, f"@us[{page}]") == 3, text)
    waits, works, quick = ((float(f[1]), float(f[2])) for f in found)
    need(100 <= waits[0] <= 2000 and waits[1] <= 50, text)
    need(works[0] >= 60 and 40 <= works[1] <= works[0] + 10, text)
    need(quick[0] < 50, text)


def php_errors(acu):
    """Hidden ones, against what an error handler of the program itself counts."""
    php = os.path.realpath(shutil.which("php8.2") or "")
    if not os.path.isfile(php):
        return "no PHP 8.2 here"
    page, fatal = os.path.join(TMP, "errors.php"), os.path.join(TMP, "fatal.php")
    with open(page, "w") as out:
        out.write("<?php\n$counted = 0;\nset_error_handler(function () use (&$counted) { $counted++; return true; });\nerror_reporting(0);\n"
                  "for ($i = 0; $i < 5; $i++) { $x = $missing; }\n@file_get_contents('/no/such/file');\ntrigger_error('needle', E_USER_NOTICE);\n"
                  "echo 'counted ', $counted;\n")
    with open(fatal, "w") as out:
        out.write("<?php\nclass A { abstract function x(); }\n")
    said = []
    load = lambda: said.extend(subprocess.run([php, "-n", file], capture_output=True, text=True, timeout=30 * SLOWNESS).stdout for file in (page, fatal))
    text = trace(acu, "php-errors.bt", load, [php])
    each = trace(acu, "php-errors.bt", load, [php, "--", "--each"])
    found = {(kind, message, file, line): int(count) for kind, message, file, line, count in re.findall(r"^@errors\[(\w+), (.*), (\S+), (\d+)\]: (\d+)$", text, re.M)}
    need(sum(n for key, n in found.items() if key[2] == page) == 7 and "counted 7" in said[0], text + said[0])
    need(found.get(("warning", "Undefined variable $missing", page, "5")) == 5 and found.get(("user_notice", "needle", page, "7")) == 1, text)
    need([key[0] for key in found if key[2] == fatal and key[1].startswith("Class A contains 1 abstract method")] == ["error"], text)
    need(len(lines(each, rf"{STAMP}\d+ +\w+ +{re.escape(page)}:\d+: .*")) == 7, each)


TESTS = [php_errors, http_requests, http_requests_log, http_requests_odd, http_requests_odd_tls, http_calls, http_calls_odd, dns_queries, gnutlssnoop, php_requests, *NAMES]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
