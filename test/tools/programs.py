"""Tools that look into programs: functions, marked probes, and what well-known programs do."""
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import time

import nginx_source
from common import HERE, SLOWNESS, TMP, histogram_total, lines, need, shell, trace, value

PYTHON = "/usr/bin/python3.11"


def sample():
    """The program of functions.c."""
    path = os.path.join(TMP, "acu_functions")
    if not os.path.exists(path):
        subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-o", path, os.path.join(HERE, "functions.c"), "-lpthread"], check=True)
    return path


def run(*words):
    return lambda: subprocess.run(list(map(str, words)), timeout=60 * SLOWNESS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def probes_of(path, provider):
    return provider.encode() in open(path, "rb").read() if os.path.exists(path) else False


def wait_until(ready, what, seconds=20):
    end = time.time() + seconds
    while not ready():
        need(time.time() < end, f"{what} did not start")
        time.sleep(0.02)


def bashreadline(acu):
    def type_lines():
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        for text in ("echo a needle", "true", "exit"):
            if select.select([terminal], [], [], 5)[0]:  # the prompt, or what the line before printed
                time.sleep(0.05)
                os.read(terminal, 4096)
            os.write(terminal, text.encode() + b"\n")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(terminal)

    text = trace(acu, "bashreadline.bt", type_lines)
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +(\S.*)")
    for typed in ("echo a needle", "true", "exit"):
        need(typed in [f[1] for f in found], text)
    need(len({f[0] for f in found if f[1] in ("echo a needle", "exit")}) >= 1, text)


def gethostlatency(acu):
    text = trace(acu, "gethostlatency.bt", shell("getent ahosts localhost; getent hosts localhost"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +getent +(\d+)\.\d\d\d localhost")
    need(len(found) >= 2 and all(int(ms) < 5000 for ms in found[0]), text)


def sslsnoop(acu):
    for program in ("openssl", "curl"):
        if not shutil.which(program):
            return f"no {program} here"
    key = os.path.join(TMP, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", key,
                    "-days", "2"], check=True, stderr=subprocess.DEVNULL)
    port = free_port()
    server = subprocess.Popen(["openssl", "s_server", "-quiet", "-www", "-key", key, "-cert", key, "-accept", str(port)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "openssl s_server")
        load = shell(f"curl -sk --http1.1 https://localhost:{port}/needle")
        text = trace(acu, "sslsnoop.bt", load, ["--unsafe", "--", "--name=curl"])
        some = trace(acu, "sslsnoop.bt", load, ["--", "--name=curl", "--contains=/needle"])
    finally:
        server.kill()
        server.wait()
    stamp = r"\d\d:\d\d:\d\d\.\d{6} \d+ +curl +"
    need(len(lines(text, stamp + r"HANDSHAKE +- +\d+ *")) == 1, text)
    need(lines(text, stamp + r"WRITE +\d+ +\d+ GET /needle HTTP/1\.1\s*"), text)
    need(lines(text, stamp + r"READ +\d+ +\d+ HTTP/1\.0 200 ok\s*"), text)
    need(all(re.match(stamp, line) for line in text.strip().split("\n")[1:]), "more than the first line of data:\n" + text)
    rows = some.strip().split("\n")[1:]
    need(len(rows) == 1 and "WRITE" in rows[0] and "GET /needle" in rows[0], "more than what has the text:\n" + some)


def mallocstacks(acu):
    text = trace(acu, "mallocstacks.bt", run(sample(), 25), ["--", "--name=acu_functions"])
    stacks = re.findall(r"^@bytes\[\n((?:\s+\S+\n)+)\]: (\d+)$", text, re.M)
    ours = [int(n) for frames, n in stacks if re.search(r"^\s+take\+\d+\n\s+main\+\d+", frames, re.M)]
    need(ours == [25000], text)
    need(value(text, "@calls[acu_functions]") >= 25, text)


def threadsnoop(acu):
    def both():
        run(sys.executable, "-c", "import threading\nfor _ in range(3):\n t = threading.Thread(target=print)\n t.start(); t.join()")()
        run(sample(), 1)()

    text = trace(acu, "threadsnoop.bt", both)
    found = lines(text, r"(\d+) +(\d+) +python\S* +(\d+) +\S+ *")
    new = [{f[2] for f in found if f[1] == pid} for pid in {f[1] for f in found}]
    need(any(len(threads) == 3 for threads in new), text)
    need(re.search(r"^\d+ +\d+ +acu_functions +\d+ +in_thread\n        \S*pthread_create\+\d+\n        main\+\d+$", text, re.M), text)


def funccount(acu):
    path = sample()
    text = trace(acu, "funccount.bt", run(path, 30), [f"uprobe:{path}:work*"])
    need(value(text, f"@[uprobe:{path}:work]") == 30 and value(text, f"@[uprobe:{path}:work_more]") == 30, text)
    text = trace(acu, "funccount.bt", run(path, 30), ["uprobe:libc:str*", "--", "--name=no_such_name"])
    need("@[" not in text, text)
    text = trace(acu, "funccount.bt", run(path, 2), ["tracepoint:syscalls:sys_enter_clock_nanosleep", "--", "--name=acu_functions"])
    need(value(text, "@[tracepoint:syscalls:sys_enter_clock_nanosleep]") == 6, text)


def funclatency(acu):
    path = sample()
    text = trace(acu, "funclatency.bt", run(path, 20, 60000), [path, "work", "--", "--us"])
    need(histogram_total(text, "@us[work]") == 20, text)
    need(re.search(r"^\[(32|64)K, ", text, re.M) and re.search(r"^\[2K, 4K\) +\d+ ", text, re.M), text)
    found = re.search(r"@average\[work\]: \{ \.count = 20, \.average = (\d+),", text)
    need(found and 4900 <= int(found.group(1)) <= 20000, text)
    # The outer of four calls inside each other takes four times as long as the innermost.
    text = trace(acu, "funclatency.bt", run(path, 1), [path, "deeper", "--", "--us"])
    found = re.search(r"@average\[deeper\]: \{ \.count = 4, \.average = (\d+),", text)
    need(found and 2500 <= int(found.group(1)) <= 15000, text)


def funcslower(acu):
    path = sample()
    text = trace(acu, "funcslower.bt", run(path, 12, 50000), [path, "work", "--", "--us=40000", "--stack"])
    found = lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +acu_functions +(\d+) 0x(\w+) +work\(0x(\w+), 0x(\w+), 0x\w+, 0x\w+\)")
    need(len(found) == 1 and 50000 <= int(found[0][0]) <= 200000, text)
    # 1 … 12 were added and all but the last taken off.
    need(int(found[0][1], 16) == 12 and int(found[0][2], 16) == 12 and int(found[0][3], 16) == 50000, text)
    need(re.search(r"^        main\+\d+$", text, re.M), text)


def cpp_programs(acu):
    """Templates, lambdas, virtual calls and overloads of C++, against what the program itself counted."""
    path = os.path.join(TMP, "shapes")
    subprocess.run(["g++", "-std=c++20", "-O1", "-g", "-o", path, os.path.join(HERE, "shapes.cc")], check=True, timeout=60 * SLOWNESS)
    said = []
    load = lambda: said.append(subprocess.run([path], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout)
    text = trace(acu, "funccount.bt", load, [f"uprobe:{path}:cpp:*"])
    own = {name: (int(calls), int(given)) for name, calls, given in (line.split("\t") for line in said[0].strip().split("\n"))}
    need(len(own) == 7 and own["shapes::Square::area(int) const"][0] == 100, said[0])
    for name, (calls, _) in own.items():
        need(value(text, f'@[uprobe:{path}:cpp:"{name}"]') == calls, text)
    script = ('uprobe:$1:cpp:shapes::Square::area, uprobe:$1:cpp:shapes::Box::area { @scale[func] = sum(args.scale); }\n'
              'uretprobe:$1:cpp:shapes::Square::area, uretprobe:$1:cpp:shapes::Box::area { @area = sum(retval); }\n'
              'uprobe:$1:cpp:shapes::Square::area { @side = max(args.this->side); }\n'
              'uprobe:$1:cpp:"shapes::Bag<long>::put" { @put = sum(args.value); }\n'
              'uprobe:$1:cpp:"shapes::Bag<char>::put" { @letters = sum(args.value); }\n'
              'uprobe:$1:cpp:"shapes::weigh(long)" { @grams = sum(args.grams); @least = min(args.grams); }\n'
              'uprobe:$1:cpp:"shapes::weigh(char const*)" { @name[str(args.name)] = count(); }\n'
              'uprobe:$1:cpp:"main::{lambda(int)#1}::operator()(int) const" { @lambda = sum(args.n); }\n')
    text = trace_text(acu, script, load, path)
    given = lambda name: own[name][1]
    need(value(text, "@area") == value(text, "@put") == given("shapes::Bag<long>::put(long)"), text)
    need(value(text, "@letters") == given("shapes::Bag<char>::put(char)"), text)
    need(value(text, "@scale[shapes::Square::area(int) const]") == given("shapes::Square::area(int) const"), text)
    need(value(text, "@scale[shapes::Box::area(int) const]") == given("shapes::Box::area(int) const"), text)
    need(value(text, "@grams") == given("shapes::weigh(long)") and "@least: -1\n" in text, text)
    need(value(text, "@side") == 29 and value(text, "@name[needle]") == 1, text)
    need(value(text, "@lambda") == given("main::{lambda(int)#1}::operator()(int) const"), text)


cpp_programs.__name__ = "cpp-programs"


def argdist(acu):
    path = sample()
    text = trace(acu, "argdist.bt", run(path, 20, 60000), [f"uprobe:{path}:work", "--", "--arg=1"])
    need(histogram_total(text, f"@[uprobe:{path}:work]") == 20, text)
    need(re.search(r"^\[1K, 2K\) +19 ", text, re.M) and re.search(r"^\[32K, 64K\) +1 ", text, re.M), text)
    text = trace(acu, "argdist.bt", run(path, 3), [f"uretprobe:{path}:work_more", "--", "--result", "--count"])
    need(value(text, f"@number[uretprobe:{path}:work_more, 0]") == 3, text)
    text = trace(acu, "argdist.bt", shell("getent hosts localhost"), ["uprobe:libc:gethostbyname2", "--", "--text"])
    need(re.search(r"^@text\[uprobe:\S+:gethostbyname2, localhost\]: [12]$", text, re.M), text)


def python_calls(acu):
    if not probes_of(PYTHON, "function__entry"):
        return "no python with marked probes here"
    script = os.path.join(TMP, "acu_calls.py")
    with open(os.path.join(TMP, "acu_needle.py"), "w") as out:
        out.write("import time\ntime.sleep(0.02)\n")
    with open(script, "w") as out:
        out.write("import gc, acu_needle\ndef inner(n):\n  return n + 1\ndef outer(n):\n  return inner(n) + inner(n)\n"
                  "for i in range(200):\n  outer(i)\nfor i in range(3):\n  gc.collect()\n")
    text = trace(acu, "python-calls.bt", run(PYTHON, "-S", script), [PYTHON, "--", "--top=200"])
    need(value(text, f"@calls[{script}, inner]") == 400 and value(text, f"@calls[{script}, outer]") == 200, text)
    need(20000 <= value(text, "@import_us[acu_needle]") <= 200000, text)
    found = re.search(r"^@gc_us\[2\]: \{ \.count = (\d+),", text, re.M)
    need(found and int(found.group(1)) >= 3, text)


python_calls.__name__ = "python-calls"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def redis_commands(acu):
    if not shutil.which("redis-server") or not shutil.which("redis-cli"):
        return "no redis-server here"
    port = free_port()
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--enable-debug-command", "yes",
                               "--dir", TMP], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cli = f"redis-cli -p {port} "
    try:
        wait_until(lambda: answers(port), "redis-server")
        text = trace(acu, "redis-commands.bt", shell(cli + "set needle thread; " + cli + "get needle; " + cli + "-r 20 incr counter; "
                                                     + cli + "debug sleep 0.02"))
        stats = subprocess.run(["redis-cli", "-p", str(port), "info", "commandstats"], capture_output=True, text=True, timeout=20 * SLOWNESS).stdout
    finally:
        server.terminate()
        server.wait(timeout=20 * SLOWNESS)
    stamp = r"\d\d:\d\d:\d\d\.\d{6} " + f"{server.pid} +" + r"(\d+) "
    need(len(lines(text, stamp + "(?i:set) needle thread")) == 1 and len(lines(text, stamp + "(?i:get) needle")) == 1, text)
    need(len(lines(text, stamp + "(?i:incr) counter")) == 20 and histogram_total(text, "@us[incr]") == 20, text)
    slept = lines(text, stamp + "(?i:debug) sleep 0.02")
    need(len(slept) == 1 and 20000 <= int(slept[0][0]) <= 200000, text)
    theirs = {name: (int(calls), int(us)) for name, calls, us in re.findall(r"^cmdstat_(\w+)\S*:calls=(\d+),usec=(\d+)", stats, re.M)}
    need(theirs["incr"][0] == 20 and theirs["debug"][0] == 1, "the server counted otherwise:\n" + stats)
    need(theirs["debug"][1] <= int(slept[0][0]) <= 1.05 * theirs["debug"][1], "the server measured otherwise:\n" + stats + text)


redis_commands.__name__ = "redis-commands"


class Nginx:
    """A server of our own on a free port, with the configuration of `locations` and a log of its requests."""

    def __init__(self, path, locations, before="", http="", listen=""):
        self.folder = os.path.join(TMP, f"nginx{free_port()}")
        self.port = free_port()
        self.log = os.path.join(self.folder, "access.log")
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "page.txt"), "w") as out:
            out.write("needle\n" * 100)
        paths = " ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(self.folder, "conf"), "w") as out:
            out.write(f"{before} daemon off; worker_processes 2; user root; pid {self.folder}/pid; error_log {self.folder}/error.log;\n"
                      f"events {{ worker_connections 64; }} http {{ {paths} {http} log_format told "
                      f"'$pid $status $bytes_sent $request_method $request_uri'; access_log {self.log} told;\n"
                      f"server {{ listen 127.0.0.1:{self.port}{listen}; root {self.folder}; {locations} }} }}\n")
        self.process = subprocess.Popen([path, "-c", os.path.join(self.folder, "conf"), "-e", os.path.join(self.folder, "error.log")],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: answers(self.port), "nginx")
        except BaseException:
            self.stop()
            raise

    def get(self, path, *options):
        return subprocess.run(["curl", "-s", "-o", "/dev/null", *options, f"http://127.0.0.1:{self.port}{path}"], timeout=20 * SLOWNESS)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20 * SLOWNESS)


def described_nginx(acu):
    """One with debug information: that of ACU_TEST_NGINX, the installed one, or one that is built for the tests."""
    if not shutil.which("curl"):
        raise nginx_source.Missing("no curl here")
    for path in (os.environ.get("ACU_TEST_NGINX"), "/usr/sbin/nginx"):
        if not path:
            continue
        shown = subprocess.run([acu, "list", "-v", f"uprobe:{path}:ngx_http_log_request"], capture_output=True, text=True).stdout
        if "ngx_http_request_t *r" in shown:
            return path
    return nginx_source.nginx()


def or_reason(test):
    """A test that is skipped where there is no such nginx."""
    def run(acu):
        try:
            return test(acu)
        except nginx_source.Missing as why:
            return f"no nginx with debug information: {why}"
    return run


def trace_text(acu, script, during, *arguments):
    path = os.path.join(TMP, "script.bt")
    with open(path, "w") as file:
        file.write(script)
    return trace(acu, path, during, arguments)


@or_reason
def nginx_values(acu):
    """Arguments, locals and globals of nginx, without a header or a cast."""
    path = described_nginx(acu)
    question = f"uprobe:{path}:ngx_http_finalize_request {{ print(locals.c) }}"
    said = subprocess.run([acu, "run", "--dry-run", "-e", question], capture_output=True, text=True).stderr
    found = re.search(r"is there from ngx_http_finalize_request\+(\d+)", said)
    need(found or not said, said)
    place = "ngx_http_finalize_request" + (f"+{found.group(1)}" if found else "")
    script = ('uprobe:$1:ngx_http_process_request { printf("asked %s %s\\n", str(args.r->uri.data, args.r->uri.len + 1), comm); }\n'
              f'uprobe:$1:{place} {{ printf("from %s %d %d\\n", str(locals.c->addr_text.data, locals.c->addr_text.len + 1), '
              'target.ngx_cycle->connection_n, *(uint64 *)uaddr("ngx_pagesize")); }\n')
    server = Nginx(path, "")
    try:
        text = trace_text(acu, script, lambda: [server.get(f"/needle{n}.txt?x=1") for n in range(10)], path)
    finally:
        server.stop()
    asked = lines(text, r"asked (\S+) (\S+)")
    need(asked == [(f"/needle{n}.txt", "nginx") for n in range(10)], text)
    need(lines(text, r"from (.*)") == [(f"127.0.0.1 64 {os.sysconf('SC_PAGESIZE')}",)] * 10, text)


nginx_values.__name__ = "nginx-values"


@or_reason
def nginx_requests(acu):
    path = described_nginx(acu)
    server = Nginx(path, "")

    def load():
        for n in range(20):
            server.get(f"/page.txt?n={n}")
        server.get("/no%20such", "-X", "POST")
        server.get("/page.txt", "-H", "Host: a b")
        time.sleep(0.1)

    try:
        text = trace(acu, "nginx-requests.bt", load, [path])
    finally:
        server.stop()
    number = r" *(\d+\.\d\d\d)"
    found = lines(text, rf"\d\d:\d\d:\d\d (\d+) +{number}{number}{number}{number} +(\d+) +(\d+) (\w+) (\S+)")
    logged = [tuple(line.split()) for line in open(server.log)]
    need(len(logged) == 22 and sorted((f[0], *f[5:]) for f in found) == sorted(logged), text + str(logged))
    for f in found:
        total, *phases = map(float, f[1:5])
        need(abs(sum(phases) - total) <= 0.005 and total < 2000, str(f))


nginx_requests.__name__ = "nginx-requests"


def nginx_epoll_blocking(acu):
    path, module = "/usr/sbin/nginx", "/usr/lib/nginx/modules/ngx_http_echo_module.so"
    for needed in (path, module):
        if not os.path.exists(needed):
            return f"{needed} is not there"
    server = Nginx(path, "location /slow { echo_blocking_sleep 0.08; echo done; } location /fast { echo done; }", f"load_module {module};")

    def load():
        server.get("/fast")
        server.get("/slow")
        server.get("/fast")
        server.get("/slow")

    try:
        text = trace(acu, "nginx-epoll-blocking.bt", load, ["--", "--ms=40"])
    finally:
        server.stop()
    found = lines(text, r"\d\d:\d\d:\d\d (\d+) +(\d+) +(\d+) (\w+)")
    need(len(found) == 2 and all(80 <= int(f[1]) <= 300 and int(f[2]) >= 79 and "nanosleep" in f[3] for f in found), text)
    need(len(re.findall(r"^        \S*nanosleep\+\d+$", text, re.M)) >= 2, text)
    need(histogram_total(text, "@us") >= 4, text)


nginx_epoll_blocking.__name__ = "nginx-epoll-blocking"


TESTS = [bashreadline, gethostlatency, sslsnoop, mallocstacks, threadsnoop, funccount, funclatency, funcslower, cpp_programs, argdist, python_calls,
         redis_commands, nginx_values, nginx_requests, nginx_epoll_blocking]
