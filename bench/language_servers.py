"""Servers in interpreted languages, for languages.py: each is started, answers requests, and is asked for its processes.

The work of a request is a few milliseconds or less in several functions, with strings, tables and a regular expression. Everything is on loopback, in a
temporary folder.
"""
import contextlib
import os
import re
import socket
import struct
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = os.path.join(HERE, "..", "docs", "cookbook", "requests.py")

PYTHON = r"""
import sys
source = open(sys.argv[1]).read().rsplit("\n\n\n", 2)[0]  # without what serves
exec(compile(source, sys.argv[1], "exec"))
catalog = Catalog()
for line in sys.stdin:
    handle(catalog)
    print(flush=True)
"""
PERL = r"""
use strict; use warnings;
my @items = map { { name => "item $_ of the catalog", price => $_ * 1.19 } } 1 .. 300;
sub matches { my ($item, $pattern) = @_; return $item->{name} =~ $pattern }
sub search { my $pattern = shift; return grep { matches($_, $pattern) } @items }
sub rank { return sort { $b->{price} <=> $a->{price} } @_ }
sub page { return join "", map { sprintf "<li>%s %.2f</li>", $_->{name}, $_->{price} } @_ }
sub handle { return page(rank(search(qr/[1-4]\d* of/))) }
$| = 1;
while (<STDIN>) { handle() for 1 .. 5; print "\n" }
"""
LUA = r"""
local items = {}
for i = 1, 300 do items[i] = { name = "item " .. i .. " of the catalog", price = i * 1.19 } end
local function matches(item) return item.name:find("[1-4]%d* of") end
local function search()
  local out = {}
  for _, item in ipairs(items) do if matches(item) then out[#out + 1] = item end end
  return out
end
local function rank(found) table.sort(found, function(a, b) return a.price > b.price end) return found end
local function page(found)
  local out = {}
  for _, item in ipairs(found) do out[#out + 1] = string.format("<li>%s %.2f</li>", item.name, item.price) end
  return table.concat(out)
end
local function handle() return page(rank(search())) end
return function() local n for _ = 1, 5 do n = #handle() end ngx.say(n) end
"""
PHP = r"""<?php
function items() { $out = []; for ($i = 1; $i <= 300; $i++) $out[] = ["name" => "item $i of the catalog", "price" => $i * 1.19]; return $out; }
function matches($item) { return preg_match('/[1-4]\d* of/', $item["name"]); }
function search($items) { return array_filter($items, 'matches'); }
function rank($found) { usort($found, fn($a, $b) => $b["price"] <=> $a["price"]); return $found; }
function page($found) { return implode("", array_map(fn($i) => sprintf("<li>%s %.2f</li>", $i["name"], $i["price"]), $found)); }
for ($i = 0; $i < 5; $i++) $text = page(rank(search(items())));
echo strlen($text);
"""
NGINX = """
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off; worker_processes 1; error_log stderr crit; pid FOLDER/nginx.pid;
events {}
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/body; fastcgi_temp_path FOLDER/body; scgi_temp_path FOLDER/body; uwsgi_temp_path FOLDER/body;
  lua_package_path "FOLDER/?.lua;;";
  server { listen 127.0.0.1:PORT; location / { content_by_lua_block { require("work")() } } }
}
"""
FPM = """
[global]
error_log = FOLDER/fpm.log
daemonize = no
[bench]
listen = FOLDER/fpm.sock
pm = static
pm.max_children = 1
"""


def put(folder, name, text, **values):
    path = os.path.join(folder, name)
    for key, value in {"FOLDER": folder, **values}.items():
        text = text.replace(key, str(value))
    with open(path, "w") as out:
        out.write(text)
    return path


@contextlib.contextmanager
def running(words, **more):
    program = subprocess.Popen(words, stderr=subprocess.DEVNULL, **more)
    try:
        yield program
    finally:
        program.terminate()
        program.wait()


def children_of(pid):
    return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def until_there(look):
    for _ in range(200):
        with contextlib.suppress(OSError):
            if found := look():
                return found
        time.sleep(0.05)
    raise RuntimeError("the server has not begun")


@contextlib.contextmanager
def by_pipe(words):
    """A program that answers each line with a line."""
    with running(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        def ask():
            program.stdin.write(b"\n")
            program.stdin.flush()
            program.stdout.readline()
        yield program.pid, ask


def python(folder):
    return by_pipe(["/usr/bin/python3", put(folder, "server.py", PYTHON), REQUESTS])


def perl(folder):
    return by_pipe(["perl", put(folder, "server.pl", PERL)])


@contextlib.contextmanager
def nginx_lua(folder):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    os.chmod(folder, 0o755)  # the worker is another user
    put(folder, "work.lua", LUA)
    with running(["/usr/sbin/nginx", "-e", "stderr", "-p", folder, "-c", put(folder, "nginx.conf", NGINX, PORT=port)]) as server:
        client = until_there(lambda: socket.create_connection(("127.0.0.1", port)))

        def ask():
            client.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            got = b""
            while not got.endswith(b"0\r\n\r\n"):
                part = client.recv(65536)
                got += part
                if not part or not got.startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(f"nginx answered {got[:300]}")
        with client:
            yield until_there(lambda: children_of(server.pid))[0], ask


def record(kind, content):
    return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content


@contextlib.contextmanager
def php_fpm(folder):
    """Asked by FastCGI, one connection for each request."""
    page = put(folder, "page.php", PHP)
    variables = {"REQUEST_METHOD": "GET", "SCRIPT_FILENAME": page, "QUERY_STRING": ""}
    packed = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode() for name, value in variables.items())
    request = record(1, struct.pack("!HB5x", 1, 0)) + record(4, packed) + record(4, b"") + record(5, b"")
    with running(["/usr/sbin/php-fpm8.2", "-R", "-y", put(folder, "fpm.conf", FPM + "user = root\n"), "-p", folder]) as server:
        def ask():
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(os.path.join(folder, "fpm.sock"))
                s.sendall(request)
                got = b""
                while part := s.recv(65536):
                    got += part
            if not re.search(rb"\r\n\r\n\d+", got):
                raise RuntimeError(f"php-fpm answered {got[:300]}")
        until_there(lambda: children_of(server.pid) and (ask() or True))
        yield children_of(server.pid)[0], ask


SERVERS = {"Python": python, "nginx with Lua": nginx_lua, "Perl": perl, "php-fpm": php_fpm}
