"""Debian's stock kernels for the virtual machines: fetched with apt into a cache, never installed.

Each kernel is the one that a suite's meta package names today; its files lie in

  $ACU_TEST_CACHE/kernels/NAME/{vmlinuz, version, modules/*.ko, modules.dep}     (default: ~/.cache/acu-test)
"""
import glob
import lzma
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from packages import Missing, apt, ask, cache

SUITES = {"5.10": "bullseye", "6.1": "bookworm", "6.12": "bookworm-backports"}
# Modules that tests may want to load; most of the rest are drivers for hardware that the machines do not have.
MODULES = ("arch", "crypto", "fs", "lib", "mm", "net", "drivers/block", "drivers/virtio", "drivers/char", "drivers/net/dummy",
           "drivers/net/veth", "drivers/net/tun", "drivers/scsi/scsi_mod", "drivers/scsi/scsi_common", "drivers/scsi/sd_mod")


def folder(name):
    return os.path.join(cache("kernels"), name)


def options_of_apt(suite):
    return apt(os.path.join(cache("apt"), suite), suite)


def package(name):
    """The package of the kernel itself, which the meta package depends upon."""
    options = options_of_apt(SUITES[name])
    ask("apt-get", *options, "-qq", "update")
    shown = ask("apt-cache", *options, "show", "linux-image-amd64")
    found = re.findall(rf"^Depends:.*?(linux-image-{re.escape(name)}\.[^ ,]*-amd64)", shown, re.M)
    if not found:
        raise Missing(f"{SUITES[name]} has no kernel {name} now")
    return found[0]


def dependencies(path):
    """Names of the modules that one needs, from its .modinfo."""
    found = re.search(rb"\0depends=([^\0]*)\0", open(path, "rb").read())
    return found.group(1).decode().replace("-", "_").split(",") if found and found.group(1) else []


def unpack(deb, into):
    """From the package to the files of the header above."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(into)) as root:
        ask("dpkg-deb", "-x", deb, root)
        image, = glob.glob(root + "/boot/vmlinuz-*")
        kernel, = glob.glob(root + "/lib/modules/*/kernel") or glob.glob(root + "/usr/lib/modules/*/kernel")
        made = os.path.join(root, "made")
        os.makedirs(made + "/modules")
        paths = [p for part in MODULES for p in glob.glob(f"{kernel}/{part}**", recursive=True)
                 + glob.glob(f"{kernel}/{part}/**", recursive=True) if ".ko" in os.path.basename(p)]
        for path in set(paths):
            to = os.path.join(made, "modules", os.path.basename(path).split(".ko")[0].replace("-", "_") + ".ko")
            data = open(path, "rb").read()
            with open(to, "wb") as file:
                file.write(lzma.decompress(data) if path.endswith(".xz") else data)
        with open(made + "/modules.dep", "w") as file:
            for path in sorted(glob.glob(made + "/modules/*.ko")):
                file.write(f"{os.path.basename(path)[:-3]}: {' '.join(dependencies(path))}\n")
        shutil.copy(image, made + "/vmlinuz")
        with open(made + "/version", "w") as file:
            file.write(os.path.basename(image)[len("vmlinuz-"):] + "\n")
        shutil.rmtree(into, ignore_errors=True)
        os.rename(made, into)


def fetch(name):
    """The folder of a kernel, fetched when it is not in the cache. Raises Missing."""
    if name not in SUITES:
        raise Missing(f"no kernel {name} here; there are {', '.join(SUITES)}")
    to = folder(name)
    if os.path.exists(to + "/version"):
        return to
    if not shutil.which("apt-get"):
        raise Missing("kernels are fetched with apt-get, which is not here")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    image = package(name)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(to)) as at:
        ask("apt-get", *options_of_apt(SUITES[name]), "-qq", "download", image, where=at)
        deb, = glob.glob(at + "/*.deb")
        unpack(deb, to)
    return to


def version(name):
    return open(folder(name) + "/version").read().strip()


def modules_in_order(name, wanted):
    """Files of these modules and what they need, each behind those it needs; modules that are built in are left out."""
    needs = {}
    for line in open(folder(name) + "/modules.dep"):
        module, _, others = line.partition(":")
        needs[module] = others.split()
    done = []

    def add(module):
        if module not in needs or module in done:
            return
        for other in needs[module]:
            add(other)
        done.append(module)

    for module in wanted:
        add(module)
    return [os.path.join(folder(name), "modules", module + ".ko") for module in done]
