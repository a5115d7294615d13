"""nginx with debug information, built from the distribution's source package into a cache outside of the repository.

  $ACU_TEST_CACHE/nginx/nginx     (default: ~/.cache/acu-test)

The sources are read with a configuration of apt of our own: the machine's lists are not touched, nothing is installed.
"""
import glob
import os
import shutil
import subprocess
import tempfile

ARCHIVE = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
OPTIONS = ("--without-http_gzip_module", "--without-http_rewrite_module", "--with-cc-opt=-O2 -g -fno-strict-aliasing")
LONGEST = 160  # seconds for all of it


class Missing(Exception):
    """No such nginx, and why."""


def cache():
    base = os.environ.get("ACU_TEST_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "acu-test")
    return os.path.join(base, "nginx")


def ask(*words, where=None, limit=LONGEST):
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=where, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise Missing(f"{words[0]}: {wrong}") from None
    if done.returncode:
        raise Missing(f"{words[0]}: " + (done.stderr.strip().split("\n") or [""])[-1])
    return done.stdout


def suite():
    for line in open("/etc/os-release"):
        if line.startswith("VERSION_CODENAME="):
            return line.split("=")[1].strip().strip('"')
    raise Missing("/etc/os-release names no suite")


def apt(folder):
    for part in ("lists/partial", "archives/partial", "none"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    status, sources = os.path.join(folder, "status"), os.path.join(folder, "sources.list")
    open(status, "a").close()
    with open(sources, "w") as file:
        file.write(f"deb-src [signed-by={KEYS}] {ARCHIVE} {suite()} main\n")
    settings = {"Dir::Etc::SourceList": sources, "Dir::Etc::SourceParts": os.path.join(folder, "none"), "Dir::State": folder,
                "Dir::State::Lists": os.path.join(folder, "lists"), "Dir::State::status": status, "Dir::Cache": folder,
                "Acquire::Languages": "none", "APT::Sandbox::User": "root", "Acquire::http::Timeout": "15"}
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def nginx():
    """The path of the program. Missing: no network, no compiler, …"""
    path = os.path.join(cache(), "nginx")
    if os.path.exists(path):
        return path
    if not shutil.which("apt-get") or not shutil.which("gcc") or not shutil.which("make"):
        raise Missing("no apt-get, gcc or make here")
    os.makedirs(cache(), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as work:
        options = apt(os.path.join(work, "apt"))
        ask("apt-get", *options, "-qq", "update", limit=60)
        ask("apt-get", *options, "-qq", "--download-only", "source", "nginx", where=work, limit=60)
        sources = glob.glob(os.path.join(work, "nginx_*.orig.tar.*"))
        if not sources:
            raise Missing("the source package has no archive of sources")
        ask("tar", "-xf", sources[0], where=work)
        folder = os.path.dirname(glob.glob(os.path.join(work, "*", "configure"))[0])
        ask("./configure", *OPTIONS, where=folder)
        ask("make", f"-j{os.cpu_count() or 1}", where=folder)
        os.rename(os.path.join(folder, "objs", "nginx"), path)
    return path
