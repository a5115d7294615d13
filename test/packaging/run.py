#!/usr/bin/env python3
"""What `make package` made, where people would install it: run.py PACKAGES [--filter TEXT]

Two builds are equal; lintian has no objection; and in folders of Debian 11, 12 and 13 (debootstrap, in the cache), and in one with busybox alone, the first three
scripts of the README run. Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from packages import KEYS, Missing, ask, cache, mirror
from tally import Skipped, need, run_suite, untimed

TMP = tempfile.mkdtemp(prefix="acu-packaging-")
RELEASES = {"bullseye": False, "bookworm": True, "trixie": True}  # whether the Debian package is for it
MOST_BYTES = 6 << 20
PACKAGES = os.path.abspath(sys.argv[1])
SCRIPTS = (
    (["-e", "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); } interval:s:1 { exit(); }"], r"(?m)^@\[.+\]: \d+$"),
    (["-e", 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); } interval:s:2 { exit(); }', "-c", "/bin/cat /etc/passwd"], r"(?m)^cat .*/etc/passwd$"),
    (["-e", "tracepoint:syscalls:sys_enter_read { @t[tid] = nsecs; } tracepoint:syscalls:sys_exit_read /@t[tid]/ { @ns[comm] = hist(nsecs - @t[tid]); delete(@t, tid); } interval:s:1 { exit(); }",
      "-c", "/bin/sh -c 'read line </etc/passwd'"], r"@ns\[sh\]:"),
)


def only(pattern):
    found = glob.glob(os.path.join(PACKAGES, pattern))
    need(len(found) == 1, f"{len(found)} files {pattern} in {PACKAGES}: `make package` makes one")
    return found[0]


def base_root(release):
    """A minimal Debian, made when it is not in the cache."""
    to = cache(os.path.join("roots", "minimal-" + release))
    if not os.path.exists(os.path.join(to, "made")):
        if not shutil.which("debootstrap"):
            raise Skipped("debootstrap is not installed")
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        try:
            with untimed():
                ask("debootstrap", "--variant=minbase", f"--keyring={KEYS}", release, to, mirror(), limit=1200)
        except Missing as missing:
            raise Skipped(str(missing)) from None
        open(os.path.join(to, "made"), "w").close()
    return to


@contextlib.contextmanager
def root(release):
    """A copy of it that may be changed, as an overlay; with /proc, /sys and tracefs."""
    under, work = base_root(release), tempfile.mkdtemp(dir=TMP)
    folders = {name: os.path.join(work, name) for name in ("upper", "work", "root")}
    mounted = []
    try:
        subprocess.run(["mount", "-t", "tmpfs", "none", work], check=True)
        mounted.append(work)
        for folder in folders.values():
            os.makedirs(folder)
        subprocess.run(["mount", "-t", "overlay", "none", "-o", f"lowerdir={under},upperdir={folders['upper']},workdir={folders['work']}", folders["root"]], check=True)
        mounted.append(folders["root"])
        with mounts(folders["root"]):
            yield folders["root"]
    finally:
        for folder in reversed(mounted):
            subprocess.run(["umount", "-l", folder], check=True)


@contextlib.contextmanager
def mounts(at):
    mounted = []
    try:
        for folder in ("/proc", "/sys", "/dev"):
            os.makedirs(at + folder, exist_ok=True)
            subprocess.run(["mount", "--rbind", folder, at + folder], check=True)
            subprocess.run(["mount", "--make-rslave", at + folder], check=True)
            mounted.append(at + folder)
        yield
    finally:
        for folder in reversed(mounted):
            subprocess.run(["umount", "-R", "-l", folder], check=True)


def works(at, acu):
    def run(*words):
        done = subprocess.run(["chroot", at, acu, *words], capture_output=True, text=True, errors="replace", timeout=60)
        need(done.returncode == 0, f"{words}: status {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr}")
        return done.stdout

    version = run("--version")
    need(re.fullmatch(r"acu \d+\.\d+\.\d+ \(build [0-9a-f]{40}\)\n", version), version)
    for words, expected in SCRIPTS:
        text = run("run", *words)
        need(re.search(expected, text), f"{words}: not {expected}\n{text[-2000:]}")
    need("tcpconnect" in run("tools"), "`acu tools` lists none")
    run("flame", "-q", "-o", "/tmp/packaging.folded", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
    folded = os.path.join(at, "tmp/packaging.folded")
    need(os.path.getsize(folded) > 0, "the flame graph is empty")
    os.unlink(folded)


def unpack_archive(at):
    subprocess.run(["tar", "-C", os.path.join(at, "opt"), "-xf", only("acu-*-x86_64.tar.xz")], check=True)
    folder, = os.listdir(os.path.join(at, "opt"))
    return f"/opt/{folder}/bin/acu"


def of_release(release, is_package):
    def test(_):
        with root(release) as at:
            if is_package:
                shutil.copy(only("acu_*_amd64.deb"), os.path.join(at, "acu.deb"))
                done = subprocess.run(["chroot", at, "dpkg", "-i", "/acu.deb"], capture_output=True, text=True, timeout=60)
                need(done.returncode == 0, done.stdout + done.stderr)
                works(at, "/usr/bin/acu")
                done = subprocess.run(["chroot", at, "dpkg", "--purge", "acu"], capture_output=True, text=True, timeout=60)
                need(done.returncode == 0 and not os.path.exists(os.path.join(at, "usr/share/acu")), done.stdout + done.stderr)
            else:
                works(at, unpack_archive(at))
    return test


def without_a_libc(_):
    """Only busybox, which is linked statically: as on hosts whose C library is another one."""
    busybox = shutil.which("busybox")
    if not busybox or "statically" not in subprocess.run(["file", busybox], capture_output=True, text=True).stdout:
        raise Skipped("no static busybox here (busybox-static)")
    at = tempfile.mkdtemp(dir=TMP)
    for folder in ("bin", "etc", "opt", "tmp"):
        os.mkdir(os.path.join(at, folder))
    shutil.copy(busybox, os.path.join(at, "bin/busybox"))
    for name in ("sh", "cat"):
        os.symlink("busybox", os.path.join(at, "bin", name))
    open(os.path.join(at, "etc/passwd"), "w").write("root:x:0:0:root:/root:/bin/sh\n")
    with mounts(at):
        works(at, unpack_archive(at))


def sizes(_):
    for pattern in ("acu_*_amd64.deb", "acu-*-x86_64.tar.xz"):
        size = os.path.getsize(only(pattern))
        print(f"{os.path.basename(only(pattern))}: {size / 1e6:.2f} MB")
        need(size <= MOST_BYTES, f"{pattern}: {size} bytes")


def no_objection_of_lintian(_):
    if not shutil.which("lintian"):
        raise Skipped("lintian is not installed")
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", only("acu_*_amd64.deb")], capture_output=True, text=True, timeout=300)
    need(done.returncode == 0, done.stdout + done.stderr)


def two_builds_are_equal(_):
    """The same commit, from a clone in a folder of another name."""
    again = os.path.join(TMP, "another-folder", "acu")
    epoch = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True).stdout.strip()
    with untimed():
        subprocess.run(["git", "clone", "-q", ROOT, again], check=True)
        done = subprocess.run(["make", "-C", again, "package"], capture_output=True, text=True, env={**os.environ, "SOURCE_DATE_EPOCH": epoch, "CCACHE_DISABLE": "1"})
    need(done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])
    for pattern in ("acu_*_amd64.deb", "acu-*-x86_64.tar.xz", "acu.spdx.json"):
        other, = glob.glob(os.path.join(again, "build", "packages", pattern))
        ours = only(pattern)
        hashes = [hashlib.sha256(open(path, "rb").read()).hexdigest() for path in (ours, other)]
        need(hashes[0] == hashes[1], f"{os.path.basename(ours)}: {hashes[0]} and, built again, {hashes[1]}")


def named(name, test):
    test.__name__ = name
    return test


if __name__ == "__main__":
    tests = [sizes, no_objection_of_lintian, *(named(release, of_release(release, False)) for release in RELEASES),
             *(named("package_on_" + release, of_release(release, True)) for release, is_for in RELEASES.items() if is_for), without_a_libc, two_builds_are_equal]
    sys.exit(run_suite(tests, TMP))
