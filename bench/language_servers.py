"""Servers in interpreted and compiled languages, for languages.py: each is started, answers requests, and is asked for its processes.

The work of a request is a few milliseconds or less in several functions, with strings, tables and a regular expression. Everything is on loopback, in a
temporary folder.
"""
import atexit
import contextlib
import functools
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
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
RUBY = r"""
ITEMS = (1..300).map { |i| { name: "item #{i} of the catalog", price: i * 1.19 } }
def matches(item, pattern) = item[:name].match?(pattern)
def search(pattern) = ITEMS.select { |item| matches(item, pattern) }
def rank(found) = found.sort { |a, b| b[:price] <=> a[:price] }
def page(found) = found.map { |item| format("<li>%s %.2f</li>", item[:name], item[:price]) }.join
def handle = page(rank(search(/[1-4]\d* of/)))
$stdout.sync = true
while $stdin.gets do 5.times { handle }; puts end
"""
NODE = r"""
const items = Array.from({ length: 300 }, (_, i) => ({ name: `item ${i + 1} of the catalog`, price: (i + 1) * 1.19 }));
function matches(item, pattern) { return pattern.test(item.name); }
function search(pattern) { return items.filter((item) => matches(item, pattern)); }
function rank(found) { return found.sort((a, b) => b.price - a.price); }
function page(found) { return found.map((item) => `<li>${item.name} ${item.price.toFixed(2)}</li>`).join(""); }
function handle() { return page(rank(search(/[1-4]\d* of/))); }
process.stdin.on("data", () => { for (let i = 0; i < 10; i++) handle(); process.stdout.write("\n"); });
"""
JAVA = r"""
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
public class Server {
  record Item(String name, double price) {}
  static final List<Item> items = IntStream.rangeClosed(1, 300).mapToObj(i -> new Item("item " + i + " of the catalog", i * 1.19)).toList();
  static boolean matches(Item item, Pattern pattern) { return pattern.matcher(item.name()).find(); }
  static List<Item> search(Pattern pattern) {
    List<Item> found = new ArrayList<>();
    for (Item item : items) if (matches(item, pattern)) found.add(item);
    return found;
  }
  static List<Item> rank(List<Item> found) { found.sort(Comparator.comparingDouble(Item::price).reversed()); return found; }
  static String page(List<Item> found) {
    StringBuilder out = new StringBuilder();
    for (Item item : found) out.append("<li>").append(item.name()).append(' ').append(Math.round(item.price() * 100) / 100.0).append("</li>");
    return out.toString();
  }
  static String handle() { return page(rank(search(Pattern.compile("[1-4]\\d* of")))); }
  public static void main(String[] words) throws Exception {
    while (System.in.read() >= 0) {
      int length = 0;
      for (int i = 0; i < 20; i++) length += handle().length();
      System.out.write(length > 0 ? '\n' : '!');
      System.out.flush();
    }
  }
}
"""
GO = r"""
package main

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
)

type item struct {
	name  string
	price float64
}

var items []item
var pattern = regexp.MustCompile(`[1-4]\d* of`)

func matches(i item) bool { return pattern.MatchString(i.name) }

func search() (found []item) {
	for _, i := range items {
		if matches(i) {
			found = append(found, i)
		}
	}
	return found
}

func rank(found []item) []item {
	sort.Slice(found, func(a, b int) bool { return found[a].price > found[b].price })
	return found
}

func page(found []item) string {
	var out strings.Builder
	for _, i := range found {
		fmt.Fprintf(&out, "<li>%s %.2f</li>", i.name, i.price)
	}
	return out.String()
}

func main() {
	for i := 1; i <= 300; i++ {
		items = append(items, item{fmt.Sprintf("item %d of the catalog", i), float64(i) * 1.19})
	}
	for line := make([]byte, 1); ; {
		if n, _ := os.Stdin.Read(line); n == 0 {
			return
		}
		for i := 0; i < 5; i++ {
			page(rank(search()))
		}
		os.Stdout.Write([]byte("\n"))
	}
}
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


def ruby(folder):
    return by_pipe(["ruby", "--disable=gems", put(folder, "server.rb", RUBY)])


def node(folder):
    return by_pipe(["node", put(folder, "server.js", NODE)])


@functools.cache
def compiled(name, text, command, *words):
    """A folder with the program; `command` is run in it."""
    folder = tempfile.mkdtemp(prefix="acu-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    put(folder, name, text)
    subprocess.run([command, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, GO111MODULE="off", GOCACHE=os.path.join(folder, "cache"), CGO_ENABLED="0"))
    return folder


def java(_):
    return by_pipe(["java", "-cp", compiled("Server.java", JAVA, "javac", "Server.java"), "Server"])


def go(_):
    return by_pipe([os.path.join(compiled("server.go", GO, "go", "build", "server.go"), "server")])


# With the program that each needs, and seconds until compilers have done most of their work.
SERVERS = {"Python": (python, "/usr/bin/python3", 0.3), "nginx with Lua": (nginx_lua, "/usr/sbin/nginx", 0.3), "Perl": (perl, "perl", 0.3),
           "php-fpm": (php_fpm, "/usr/sbin/php-fpm8.2", 0.3), "Ruby": (ruby, "ruby", 0.3), "Node.js": (node, "node", 1.5), "Java": (java, "javac", 3),
           "Go": (go, "go", 0.3)}
