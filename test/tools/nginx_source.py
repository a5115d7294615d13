"""nginx with debug information, built from the distribution's source package into a cache outside of the repository.

  $ACU_TEST_CACHE/nginx/nginx     (default: ~/.cache/acu-test)
"""
import glob
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from packages import Missing, apt, ask, cache, suite

OPTIONS = ("--without-http_gzip_module", "--without-http_rewrite_module", "--with-cc-opt=-O2 -g -fno-strict-aliasing")
LONGEST = 160  # seconds for all of it


def nginx():
    """The path of the program. Missing: no network, no compiler, …"""
    path = os.path.join(cache("nginx"), "nginx")
    if os.path.exists(path):
        return path
    if not shutil.which("apt-get") or not shutil.which("gcc") or not shutil.which("make"):
        raise Missing("no apt-get, gcc or make here")
    os.makedirs(cache("nginx"), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache("nginx")) as work:
        options = apt(os.path.join(work, "apt"), suite(), "deb-src")
        ask("apt-get", *options, "-qq", "update", limit=60)
        ask("apt-get", *options, "-qq", "--download-only", "source", "nginx", where=work, limit=60)
        sources = glob.glob(os.path.join(work, "nginx_*.orig.tar.*"))
        if not sources:
            raise Missing("the source package has no archive of sources")
        ask("tar", "-xf", sources[0], where=work, limit=LONGEST)
        folder = os.path.dirname(glob.glob(os.path.join(work, "*", "configure"))[0])
        ask("./configure", *OPTIONS, where=folder, limit=LONGEST)
        ask("make", f"-j{os.cpu_count() or 1}", where=folder, limit=LONGEST)
        os.rename(os.path.join(folder, "objs", "nginx"), path)
    return path
