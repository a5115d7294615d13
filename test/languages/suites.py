#!/usr/bin/env python3
"""The suites of languages with the interpreters of other Debian releases: suites.py ACU [--releases bullseye,trixie] [--all]

Each release is unpacked once by debootstrap into the cache (packages.py); its interpreters run there by chroot(8), with the programs of
this folder and /tmp mounted into it. The mounts are of a mount namespace of our own. Arguments behind are those of the suites.
Last line: `N passed, N failed, N skipped`, of all suites.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from packages import KEYS, Missing, apt, ask, cache, mirror

PACKAGES = "perl,php-cli,python3,luajit,lua5.1,lua5.2,lua5.3,lua5.4"
JAVA = {"bullseye": ["openjdk-11-jre-headless"], "trixie": ["openjdk-21-jre-headless", "openjdk-25-jre-headless"]}
RELEASES = "bullseye,trixie"
OF_OWN_MOUNTS = "--mounted"


def root(release):
    """The folder with the release, made when it is not in the cache. Raises Missing."""
    to = cache(os.path.join("roots", release))
    if os.path.exists(os.path.join(to, "made")):
        return to
    if not shutil.which("debootstrap"):
        raise Missing("debootstrap is not installed")
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    ask("debootstrap", "--variant=minbase", f"--keyring={KEYS}", f"--include={PACKAGES}", release, to, mirror(), limit=1200)
    open(os.path.join(to, "made"), "w").close()
    return to


def jvms(root):
    """Programs in it, as chroot(8) sees them."""
    return sorted(path.removeprefix(root) for path in glob.glob(root + "/usr/lib/jvm/java-*-openjdk-*/bin/java") if "/java-1." not in path)


def add_java(release, root):
    """Unpacks the JVMs of a release into its folder, if they are not there. They are not installed: what they need is in every root."""
    names = [name for name in JAVA.get(release, []) if not any(f"java-{name.split('-')[1]}-" in path for path in jvms(root))]
    with tempfile.TemporaryDirectory() as folder:
        options = apt(folder, release)
        for name in names:
            if not os.path.exists(os.path.join(folder, "updated")):
                ask("apt-get", *options, "-qq", "update", limit=300)
                open(os.path.join(folder, "updated"), "w").close()
            ask("apt-get", *options, "-qq", "download", name, where=folder, limit=600)
            package, = glob.glob(os.path.join(folder, name + "_*.deb"))
            ask("dpkg", "-x", package, root)


def mount_into(root):
    for folder in ("/proc", "/tmp", HERE):
        inside = root + folder
        os.makedirs(inside, exist_ok=True)
        ask("mount", "--bind", folder, inside)


def wrapper(folder, root, name):
    """A program that is `name` of that root, by the same process."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec chroot {root} /usr/bin/{name} "$@"\n')
    os.chmod(path, 0o755)
    return path


def suites(folder, root):
    """Command lines without acu, by the name of the language."""
    python, = [name for name in os.listdir(root + "/usr/bin") if re.fullmatch(r"python3\.\d+", name)]
    perl, php = wrapper(folder, root, "perl"), f"chroot {root} /usr/bin/php"
    yield "python", ["python.py", "--python", f"{python.removeprefix('python')}={wrapper(folder, root, python)}"]
    yield "perl", ["perl.py", "--perl", perl, "--filter", perl]
    yield "php", ["php.py", "--php", php, "--filter", php]
    for name in ("luajit", "lua5.1", "lua5.2", "lua5.3", "lua5.4"):
        wrapper(folder, root, name)
    yield "lua", ["lua.py"]  # finds its programs by PATH
    for path in jvms(root):
        yield "java", ["java.py", "--java", f"chroot {root} {path}", "--filter", f"{root} {path}"]


def run(acu, release, more):
    """Counts of passed, failed and skipped."""
    counts = [0, 0, 0]
    at = root(release)
    add_java(release, at)
    mount_into(at)
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, *words) in suites(folder, at):
            print(f"== {release}: {name}", flush=True)
            done = subprocess.run(["/usr/bin/python3", os.path.join(HERE, program), acu, *words, *more], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            print(done.stdout, end="", flush=True)
            last = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*$", done.stdout)
            counts = [a + int(b) for a, b in zip(counts, last.groups())] if last else [counts[0], counts[1] + 1, counts[2]]
    return counts


def main():
    if OF_OWN_MOUNTS not in sys.argv:
        return subprocess.run(["unshare", "-m", sys.executable, *sys.argv, OF_OWN_MOUNTS]).returncode
    sys.argv.remove(OF_OWN_MOUNTS)
    releases = RELEASES
    if "--releases" in sys.argv:
        at = sys.argv.index("--releases")
        releases = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    total = [0, 0, 0]
    for release in releases.split(","):
        try:
            found = run(os.path.abspath(sys.argv[1]), release, sys.argv[2:])
        except Missing as missing:
            print(f"skipped {release}: {missing}")
            found = [0, 0, 1]
        total = [a + b for a, b in zip(total, found)]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return total[1] > 0


if __name__ == "__main__":
    sys.exit(main())
