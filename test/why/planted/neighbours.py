"""What a host does to a program, for planted.py: control groups and neighbours. As in servers.py, each function is a context manager for a variant."""
import contextlib
import os
import time

from servers import PYTHON, running
from tally import Skipped

CGROUPS = "/sys/fs/cgroup"
NUMBER = [0]


@contextlib.contextmanager
def group(controller, **settings):
    """A control group with this controller, of version 2, or of version 1, where it is one of the same name with each, as containers have: its folders. Settings
    have the names of version 1."""
    version_2 = os.path.exists(f"{CGROUPS}/cgroup.subtree_control") and controller in open(f"{CGROUPS}/cgroup.controllers").read().split()
    places = {controller: CGROUPS} if version_2 else {name: f"{CGROUPS}/{name}" for name in ("cpu", "memory")}
    if not all(map(os.path.isdir, places.values())):
        raise Skipped(f"there is no controller {controller} here")
    NUMBER[0] += 1
    paths = {name: f"{place}/acu-why-{os.getpid()}-{NUMBER[0]}" for name, place in places.items()}
    if version_2:
        write(f"{CGROUPS}/cgroup.subtree_control", f"+{controller}")
    try:
        for path in paths.values():
            os.mkdir(path)
        for name, value in settings.items():
            path = paths[controller]
            if not version_2:
                write(f"{path}/{controller}.{name}", value)
            elif name == "cfs_quota_us":
                write(f"{path}/cpu.max", f"{value} 100000")
            else:
                write(f"{path}/memory.max", value)
        yield list(paths.values())
    finally:
        for path in paths.values():
            for _ in range(50):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
                    break
                time.sleep(0.1)


def write(path, text):
    with open(path, "w") as file:
        file.write(str(text))


@contextlib.contextmanager
def running_in(paths, *words):
    """A program that is in the group from its first instruction on."""
    enter = "".join(f"echo $$ > {path}/cgroup.procs && " for path in paths)
    with running("/bin/sh", "-c", enter + 'exec "$@"', "sh", *words) as pid:
        time.sleep(1)
        yield pid


OTHERS = {"has": "import os\nfor _ in range(3): os.fork()\nwhile True: pass", "twin": "import time\ntime.sleep(1000)",
          "decoy": "import os, time\nfor _ in range(4): os.fork()\nwhile True: time.sleep(0.5)"}


@contextlib.contextmanager
def neighbour(variant, programs, loops):
    """Processes of another group take the CPUs; the decoy's are many, and sleep."""
    with group("cpu") as own, group("cpu") as other, running_in(other, PYTHON, "-c", OTHERS[variant]), running_in(own, programs, "threads", loops, "twin") as pid:
        yield pid


@contextlib.contextmanager
def crowd(variant, programs, loops):
    """Processes of the same group take the CPUs."""
    with group("cpu") as own, running_in(own, PYTHON, "-c", OTHERS[variant]), running_in(own, programs, "threads", loops, "twin") as pid:
        yield pid


@contextlib.contextmanager
def throttled(variant, programs, loops):
    """It needs two CPUs, and may use a half; the twin may use all."""
    with group("cpu", cfs_quota_us=50000 if variant == "has" else 400000) as paths, running_in(paths, programs, "threads", loops, "twin") as pid:
        yield pid


GROWS = """
import os, time
while True:
    if os.fork() == 0:
        x = bytearray(SIZE)
        time.sleep(0.2)
        os._exit(0)
    os.wait()
    time.sleep(0.3)
"""


@contextlib.contextmanager
def killed(variant):
    """A worker needs more memory than its group may have, and is killed."""
    with group("memory", limit_in_bytes=64 << 20) as paths, running_in(paths, PYTHON, "-c", GROWS.replace("SIZE", str(256 << 20 if variant == "has" else 8 << 20))) as pid:
        time.sleep(2)
        yield pid
