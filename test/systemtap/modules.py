"""Modules that Debian's SystemTap makes for Debian's kernel 6.1, which run in the virtual machine of that kernel.

The kernel's headers are fetched with apt and never installed. What is made lies in $ACU_TEST_CACHE/systemtap:

  headers/VERSION/   headers, with the paths in them changed, and the kernel's symbols as the running kernel tells them
  runtime/           SystemTap's own runtime, with the name that the kernel's function has today
  modules/HASH.ko    by the script's text
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kernels"))
import stock
from packages import Missing, ask, cache

KERNEL = "6.1"
RUNTIME = "/usr/share/systemtap/runtime"
LIMIT = 600  # seconds for a script; the first that names a tracepoint makes SystemTap read all of the kernel's


def headers():
    """The folder that `stap -r` takes."""
    if not shutil.which("stap"):
        raise Missing("SystemTap is not installed")
    stock.fetch(KERNEL)
    version = stock.version(KERNEL)
    to = os.path.join(cache("systemtap"), "headers", version)
    build = os.path.join(to, "usr/src/linux-headers-" + version)
    if os.path.exists(build):
        return build
    common = "linux-headers-" + version.replace("-amd64", "-common")
    options = stock.options_of_apt(stock.SUITES[KERNEL])
    ask("apt-get", *options, "-qq", "update")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(to)) as at:
        root = os.path.join(at, "root")
        ask("apt-get", *options, "-qq", "download", "linux-headers-" + version, common, "linux-kbuild-" + KERNEL, where=at)
        for deb in sorted(name for name in os.listdir(at) if name.endswith(".deb")):
            ask("dpkg-deb", "-x", os.path.join(at, deb), root)
        made = os.path.join(root, "usr/src/linux-headers-" + version)
        with open(made + "/Makefile", "w") as file:
            file.write(f"include {to}/usr/src/{common}/Makefile\n")
        # Where SystemTap looks for tracepoints.
        for part in ("trace", "ras"):
            os.symlink(f"{to}/usr/src/{common}/include/{part}", f"{made}/include/{part}")
        with open(made + "/System.map", "w") as file:
            file.writelines(line + "\n" for line in symbols() if "[" not in line)
        os.rename(root, to)
    return build


def symbols():
    """Lines of /proc/kallsyms in the machine."""
    return ask(sys.executable, os.path.join(HERE, "../kernels/vm.py"), KERNEL, "--", "cat", "/proc/kallsyms").splitlines()


def runtime(build):
    """SystemTap 4.8 is older than a change of the kernel's interface that Debian's 6.1 has got since."""
    common = re.sub(r"-amd64$", "-common", build)
    if "task_work_cancel_func" not in open(common + "/include/linux/task_work.h").read():
        return RUNTIME
    to = os.path.join(cache("systemtap"), "runtime")
    if not os.path.exists(to):
        with tempfile.TemporaryDirectory(dir=cache("systemtap")) as at:
            made = shutil.copytree(RUNTIME, os.path.join(at, "runtime"))
            for name in ("stp_task_work.c", "linux/runtime.h"):
                with open(os.path.join(made, name)) as file:
                    text = re.sub(r"\b(kallsyms_)?task_work_cancel\b", r"\1task_work_cancel_func", file.read())
                with open(os.path.join(made, name), "w") as file:
                    file.write(text)
            os.rename(made, to)
    return to


def call(script, folder, *words):
    """What `stap` does with a script."""
    build = headers()
    with open(os.path.join(folder, "script.stp"), "w") as file:
        file.write(script)
    return subprocess.run(["stap", "-g", "-R", runtime(build), "-r", build, *words, "script.stp"], cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                          env=dict(os.environ, SYSTEMTAP_DIR=os.path.join(cache("systemtap"), "stap"), LC_ALL="C"))


def mistakes(script):
    """What SystemTap finds wrong with a script for this kernel, without making a module. Raises Missing."""
    with tempfile.TemporaryDirectory() as folder:
        done = call(script, folder, "-p2")
    return "" if done.returncode == 0 else done.stderr


def module(script):
    """The path of the module of a script, and what SystemTap said where there is none. Raises Missing."""
    name = "stap_" + hashlib.sha256((headers() + script).encode()).hexdigest()[:16]
    folder = os.path.join(cache("systemtap"), "modules")
    path = os.path.join(folder, name + ".ko")
    if os.path.exists(path):
        return path, ""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as at:
        done = call(script, at, "-p4", "-m", name)
        made = os.path.join(at, name + ".ko")
        if done.returncode or not os.path.exists(made):
            return None, done.stdout + done.stderr
        os.rename(made, path)
    return path, ""
