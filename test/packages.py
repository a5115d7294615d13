"""Packages of Debian that tests only look into: fetched with apt into a cache outside of the repository, never installed.

They come from the mirror that this machine's own apt reads, by a configuration of our own: the machine's sources and
package lists are not touched. The cache is $ACU_TEST_CACHE, by default ~/.cache/acu-test.
"""
import glob
import os
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Missing(Exception):
    """What cannot be had, and why."""


def cache(part):
    base = os.environ.get("ACU_TEST_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "acu-test")
    return os.path.join(base, part)


def ask(*words, where=None, limit=None):
    """What a command prints; Missing where it fails or takes more than `limit` seconds."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=where, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise Missing(f"{words[0]}: {wrong}") from None
    if done.returncode:
        raise Missing(f"{words[0]}: " + (done.stderr.strip().split("\n") or [""])[-1])
    return done.stdout


def suite():
    """Of this machine, "bookworm"."""
    for line in open("/etc/os-release"):
        if line.startswith("VERSION_CODENAME="):
            return line.split("=")[1].strip().strip('"')
    raise Missing("/etc/os-release names no suite")


def mirror():
    targets = ask("apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages", "Component: main")
    for line in targets.splitlines():
        release, _, uri = line.partition(" ")
        if release == suite():
            return uri
    raise Missing(f"the sources of apt have no mirror of {suite()}")


def apt(folder, of, kind="deb"):
    """Options that make apt read the suite `of` only (kind: "deb" or "deb-src"), with lists and state in this folder."""
    for part in ("lists/partial", "archives/partial", "none"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    status, sources = os.path.join(folder, "status"), os.path.join(folder, "sources.list")
    open(status, "a").close()
    with open(sources, "w") as file:
        file.write(f"{kind} [signed-by={KEYS}] {mirror()} {of} main\n")
    settings = {"Dir::Etc::SourceList": sources, "Dir::Etc::SourceParts": os.path.join(folder, "none"), "Dir::State": folder,
                "Dir::State::Lists": os.path.join(folder, "lists"), "Dir::State::status": status, "Dir::Cache": folder,
                "Acquire::Languages": "none", "Acquire::Check-Valid-Until": "false", "Acquire::http::Timeout": "15",
                "APT::Sandbox::User": "root", "APT::Architecture": "amd64"}
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def unpack_source(package, work, limit):
    """The folder with the sources of a package, below `work`."""
    options = apt(os.path.join(work, "apt"), suite(), "deb-src")
    ask("apt-get", *options, "-qq", "update", limit=60)
    ask("apt-get", *options, "-qq", "--download-only", "source", package, where=work, limit=60)
    sources = glob.glob(os.path.join(work, package + "_*.orig.tar.*"))
    if not sources:
        raise Missing("the source package has no archive of sources")
    folder = os.path.join(work, "sources")
    os.mkdir(folder)
    ask("tar", "-xf", sources[0], where=folder, limit=limit)
    inside = os.listdir(folder)  # most archives have a folder that all is in
    return os.path.join(folder, inside[0]) if len(inside) == 1 else folder
