"""Tools for the nginx of distributions, which has no symbols but those it exports, against its access log and stub_status."""
import glob
import http.client
import os
import re
import socket
import subprocess
import threading
import time

from common import SLOWNESS, TMP, histogram_total, keeps, lines, need, trace
from programs import Nginx, answers, free_port, wait_until
from tally import Skipped
from web import HTTP_SERVER, PHP_PAGE, serve, stop

NGINX = "/usr/sbin/nginx"
KIT, LUA = "/usr/lib/nginx/modules/ndk_http_module.so", "/usr/lib/nginx/modules/ngx_http_lua_module.so"
MS = r" *(\d+\.\d\d\d)"
STAMP = r"\d\d:\d\d:\d\d\.\d{6} "


def needs_nginx():
    if not os.path.exists(NGINX):
        raise Skipped("no nginx here")


class Fpm:
    """php-fpm with one page."""

    def __init__(self):
        programs = sorted(glob.glob("/usr/sbin/php-fpm*"))
        if not programs:
            raise Skipped("no php-fpm here")
        port, page, conf = free_port(), os.path.join(TMP, "latency.php"), os.path.join(TMP, "latency.conf")
        with open(page, "w") as out:
            out.write(PHP_PAGE)
        with open(conf, "w") as out:
            out.write(f"[global]\nerror_log = {TMP}/latency.log\n[www]\nuser = root\ngroup = root\nlisten = 127.0.0.1:{port}\npm = static\npm.max_children = 1\n")
        self.process = subprocess.Popen([programs[-1], "-R", "-n", "-F", "-y", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.location = (f"location /php/ {{ fastcgi_pass 127.0.0.1:{port}; fastcgi_param SCRIPT_FILENAME {page}; fastcgi_param REQUEST_METHOD GET; "
                         "fastcgi_param QUERY_STRING $query_string; }")
        try:
            wait_until(lambda: answers(port), "php-fpm")
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20 * SLOWNESS)


def seconds(text):
    """Of a list of tries, as nginx logs them; `-` is a try without an answer."""
    return sum(float(part) for part in re.findall(r"\d+\.\d+", text))


def latency_as_logged(acu, locations, asked):
    """What nginx-latency prints of these requests, which is what the access log has."""
    log = os.path.join(TMP, f"latency{free_port()}.access")  # a second attempt begins with an empty one
    form = "log_format times '$pid|$status|$request_time|$upstream_header_time|$request_method $uri';"
    server = Nginx(NGINX, f"access_log {log} times; {locations}", http=form)
    try:
        text = trace(acu, "nginx-latency.bt", lambda: [server.get(path) for path in asked], [NGINX], may_warn=False)
        wait_until(lambda: len(open(log).readlines()) >= len(asked), "the log")
    finally:
        server.stop()
    logged = [line.rstrip("\n").split("|") for line in open(log)]
    found = lines(text, rf"{STAMP}(\d+) +{MS} +{MS} (\d+) +(\w+ \S+)")
    need([(f[0], *f[3:]) for f in found] == [(entry[0], entry[1], entry[4]) for entry in logged] and len(logged) == len(asked), f"{text}{logged}")
    for (_, total, waited, _, request), (_, _, time_of_log, upstream_of_log, _) in zip(found, logged):
        # nginx counts in steps of a millisecond, by a clock that it reads once for each round of its loop.
        need(abs(float(total) - 1000 * seconds(time_of_log)) <= 3 + 0.05 * float(total), f"{request}: the log has {time_of_log}\n{text}")
        if "-" not in upstream_of_log:
            need(abs(float(waited) - 1000 * seconds(upstream_of_log)) <= 3 + 0.05 * float(waited), f"{request}: the log has {upstream_of_log}\n{text}")
        need(float(waited) <= float(total) and (float(waited) >= 100) == ("slow" in request or "php" in request), text)
    return text


def nginx_latency(acu):
    needs_nginx()
    port, nobody = free_port(), free_port()
    upstream = serve(["/usr/bin/python3", "-c", HTTP_SERVER, str(port)], port, "a server in Python")
    try:
        text = latency_as_logged(acu, f"location /api/ {{ proxy_pass http://127.0.0.1:{port}/; }} location /gone/ {{ proxy_pass http://127.0.0.1:{nobody}/; }}",
                                 ["/page.txt?x=1"] * 5 + ["/api/orders/7", "/api/missing", "/api/slow", "/api/slow", "/gone/x", "/no/such"])
    finally:
        stop(upstream)
    routes = {f[6]: f[:6] for f in lines(text, rf" *(\d+) +(\d+) {MS} {MS} {MS} {MS} (\w+ \S+)")}
    need({route: f[:2] for route, f in routes.items()} ==
         {"GET /page.txt": ("5", "0"), "GET /api/*": ("4", "1"), "GET /gone/*": ("1", "1"), "GET /no/*": ("1", "1")}, text)
    need(routes["GET /page.txt"][4:] == ("0.000", "0.000") and 100 <= float(routes["GET /api/*"][5]) <= float(routes["GET /api/*"][3]), text)


def nginx_latency_php(acu):
    """An upstream server that is asked by FastCGI."""
    needs_nginx()
    fpm = Fpm()
    try:
        latency_as_logged(acu, fpm.location, ["/php/1?waits=1"])
    finally:
        fpm.stop()


def nginx_latency_subrequests(acu):
    """Their upstream servers are in the total only, and nothing of them is kept."""
    needs_nginx()
    if "auth_request" not in subprocess.run([NGINX, "-V"], capture_output=True, text=True).stderr:
        raise Skipped("this nginx has no auth_request")
    port = free_port()
    upstream = serve(["/usr/bin/python3", "-c", HTTP_SERVER, str(port)], port, "a server in Python")
    try:
        server = Nginx(NGINX, f"location /page.txt {{ auth_request /allows; }} location = /allows {{ internal; proxy_pass http://127.0.0.1:{port}/slow; }}")
        try:
            text = trace(acu, keeps("nginx-latency.bt", "@begun", "@text", "@asked", "@answered", "@status"),
                         lambda: [server.get(f"/page.txt?n={n}") for n in range(3)] and time.sleep(0.1), [NGINX], may_warn=False)
        finally:
            server.stop()
    finally:
        stop(upstream)
    found = lines(text, rf"{STAMP}(\d+) +{MS} +{MS} 200 +GET /page.txt")
    need(len(found) == 3 and all(float(f[1]) >= 100 and f[2] == "0.000" for f in found), text)
    need(not re.search(rf"^@\w+\[({'|'.join(f[0] for f in found)}), ", text, re.M), "requests that are over are kept:\n" + text)


def status(port):
    """accepts, requests"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOWNESS)
    connection.request("GET", "/status", headers={"Connection": "close"})
    said = connection.getresponse().read().decode()
    connection.close()
    found = re.search(r"^ (\d+) (\d+) (\d+) $", said, re.M)
    return int(found[1]), int(found[3])


def nginx_connections(acu):
    needs_nginx()
    server = Nginx(NGINX, "location /status { stub_status; } keepalive_requests 20;")
    counts = []

    def client(requests):
        """Keep-alive, as far as the server allows it: http.client connects anew after that."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20 * SLOWNESS)
        for _ in range(requests):
            connection.request("GET", "/page.txt")
            connection.getresponse().read()
        connection.close()

    def load():
        counts.append(status(server.port))
        for requests in (1, 1, 1, 7, 50):
            client(requests)
        held = threading.Barrier(4)

        def hold():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20 * SLOWNESS)
            connection.request("GET", "/page.txt")
            connection.getresponse().read()
            time.sleep(0.3)
            held.wait()
            connection.close()

        threads = [threading.Thread(target=hold) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts.append(status(server.port))
        time.sleep(0.2)  # nginx sees later that the last client went

    try:
        text = trace(acu, "nginx-connections.bt", load, [NGINX])
    finally:
        server.stop()
    accepted, requests = (after - before for before, after in zip(*counts))
    # The first look at the status is one more connection with one request.
    total = re.search(r"^accepted (\d+), closed (\d+), requests (\d+), most open at once (\d+)$", text, re.M)
    need(total and int(total[1]) == int(total[2]) == accepted + 1 and int(total[3]) == requests + 1 and 4 <= int(total[4]) <= 5, f"{counts}\n{text}")
    each = sorted(int(f[1]) for f in lines(text, rf"{STAMP}\d+ +{MS} +(\d+)"))
    need(each == [1] * 9 + [7, 10, 20, 20], text)
    held = [f for f in lines(text, rf"{STAMP}\d+ +{MS} +(\d+)") if float(f[0]) >= 300]
    need(len(held) == 4 and histogram_total(text, "@age_ms") == histogram_total(text, "@requests_each") == accepted + 1, text)


def lua_times(text):
    """{(map, key): (count, total)}"""
    rows = re.findall(r"^@(\w+)\[(.*)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M)
    return {(name, key): (int(count), int(total)) for name, key, count, total in rows}


# Busy for about 40 ms by its own clock, which the answer has; then three waits.
IN_LUA = """\
local function now() ngx.update_time() return ngx.now() end
local began = now()
while now() - began < 0.04 do end
ngx.ctx.busy = (now() - began) * 1000
for _ = 1, 3 do ngx.sleep(0.05) end
ngx.say(ngx.ctx.busy)
"""


def needs_lua():
    needs_nginx()
    for needed in (LUA, KIT):
        if not os.path.exists(needed):
            raise Skipped(f"no {needed} here")


def nginx_lua(acu):
    needs_lua()
    script = os.path.join(TMP, "handler.lua")
    with open(script, "w") as out:
        out.write(IN_LUA)
    locations = (f"location /busy/ {{ content_by_lua_file {script}; }} location /quick/ {{ access_by_lua_block {{ ngx.sleep(0.03) }} content_by_lua_block {{ ngx.say('x') }} "
                 "header_filter_by_lua_block { ngx.header['X'] = 'needle' } body_filter_by_lua_block { local a = 1 } log_by_lua_block { local a = 1 } }")
    server = Nginx(NGINX, locations, f"load_module {KIT}; load_module {LUA};")
    said = []

    def load():
        for n in range(3):
            said.append(float(subprocess.run(["curl", "-s", f"http://127.0.0.1:{server.port}/busy/{n}?x=1"], capture_output=True, text=True, timeout=20 * SLOWNESS).stdout))
        for n in range(5):
            server.get(f"/quick/{n}")
        time.sleep(0.1)  # the log phase comes after the answer

    try:
        text = trace(acu, "nginx-lua.bt", load, [NGINX, LUA], may_warn=False)
    finally:
        server.stop()
    long = [f for f in lines(text, rf"{STAMP}\d+ +{MS} (\w+) +(.*)") if f[2].startswith("GET /busy/")]
    need([f[1:] for f in long] == [("content", f"GET /busy/{n}") for n in range(3)], text)
    for f, theirs in zip(long, said):  # whose clock has steps of a millisecond
        need(theirs - 1 <= float(f[0]) <= 1.05 * theirs + 1, f"Lua measured {theirs} ms\n{text}")
    found = lua_times(text)
    need(found["run_us", "GET /busy/*, content"][0] == 12 and found["wait_us", "GET /busy/*, content"][0] == 9, text)
    need(450000 <= found["wait_us", "GET /busy/*, content"][1] <= 1000000, text)
    need(found["wait_us", "GET /quick/*, access"][0] == 5 and 150000 <= found["wait_us", "GET /quick/*, access"][1] <= 500000, text)
    runs = {key.split(", ")[1]: count for (name, key), (count, _) in found.items() if name == "run_us" and "quick" in key}
    need(runs["access"] == 10 and runs["content"] == runs["header"] == runs["log"] == 5 and runs["body"] >= 5, text)


def nginx_lua_subrequests(acu):
    """One after the other gets the same place in memory; and a request line in two parts."""
    needs_lua()
    server = Nginx(NGINX, "location /outer/ { content_by_lua_block { ngx.location.capture('/inner') ngx.location.capture('/waits') ngx.say('x') } } "
                   "location = /inner { content_by_lua_block { ngx.say('y') } } location = /waits { content_by_lua_block { ngx.sleep(0.05) ngx.say('z') } }",
                   f"load_module {KIT}; load_module {LUA};")

    def load():
        for n in range(6):
            server.get(f"/outer/{n}")
            time.sleep(0.3)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20 * SLOWNESS) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(b"GET /outer/spl")
            time.sleep(0.2)
            connection.sendall(b"it HTTP/1.1\r\nHost: needle\r\nConnection: close\r\n\r\n")
            while connection.recv(4096):
                pass
        time.sleep(0.1)

    try:
        text = trace(acu, keeps("nginx-lua.bt", "@text", "@phase", "@ended"), load, [NGINX, LUA], may_warn=False)
    finally:
        server.stop()
    found = lua_times(text)
    # Of a subrequest there is no line. Outer: two waits each, of which one can end at once.
    need({key for name, key in found if name == "run_us"} == {"GET /outer/*, content", "-, content"}, text)
    need(found["wait_us", "-, content"][0] == 7 and 350000 <= found["wait_us", "-, content"][1] <= 1400000, text)
    need(found["wait_us", "GET /outer/*, content"][0] == 14 and 350000 <= found["wait_us", "GET /outer/*, content"][1] <= 1400000, text)
    need(not re.search(r"^@(text|phase|ended)\[", text, re.M), "requests that are over are kept:\n" + text)


TESTS = [nginx_latency, nginx_latency_php, nginx_latency_subrequests, nginx_connections, nginx_lua, nginx_lua_subrequests]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
