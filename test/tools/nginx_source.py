"""Servers with debug information, built from the distribution's source packages into a cache outside of the repository.

  $ACU_TEST_CACHE/nginx/nginx, $ACU_TEST_CACHE/redis/redis-server, $ACU_TEST_CACHE/luajit/luajit     (default: ~/.cache/acu-test)
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from packages import Missing, ask, cache, unpack_source
from tally import untimed

OPTIONS = ("--without-http_gzip_module", "--without-http_rewrite_module", "--with-cc-opt=-O2 -g -fno-strict-aliasing")
LONGEST = 1200  # seconds for each step


def built(package, program, make):
    """The path of the program, which `make(folder)` makes in the folder of the sources. Missing: no network, no compiler, …"""
    path = os.path.join(cache(package), os.path.basename(program))
    if os.path.exists(path):
        return path
    if not shutil.which("apt-get") or not shutil.which("gcc") or not shutil.which("make"):
        raise Missing("no apt-get, gcc or make here")
    os.makedirs(cache(package), exist_ok=True)
    with untimed(), tempfile.TemporaryDirectory(dir=cache(package)) as work:
        folder = unpack_source(package, work, LONGEST)
        make(folder)
        os.rename(os.path.join(folder, program), path)
    return path


def nginx():
    def make(folder):
        ask("./configure", *OPTIONS, where=folder, limit=LONGEST)
        ask("make", f"-j{os.cpu_count() or 1}", where=folder, limit=LONGEST)

    return built("nginx", "objs/nginx", make)


def redis():
    def make(folder):
        several = f"-j{os.cpu_count() or 1}"
        ask("make", "-C", "deps", several, "hiredis", "linenoise", "lua", "hdr_histogram", where=folder, limit=LONGEST)
        ask("make", "-C", "src", several, "MALLOC=libc", "OPTIMIZATION=-O1", "REDIS_CFLAGS=-g", "redis-server", where=folder, limit=LONGEST)

    return built("redis", "src/redis-server", make)


def luajit():
    def make(folder):
        ask("make", "-C", "src", f"-j{os.cpu_count() or 1}", "CCDEBUG=-g", "BUILDMODE=static", where=folder, limit=LONGEST)

    return built("luajit", "src/luajit", make)
