#!/usr/bin/env python3
"""Containers from outside and from inside: run.py ACU [--filter TEXT]

Containers are made of control groups as runtimes name them, `unshare` (pid, mount, uts and net namespaces), overlays of one image, and
chroot. In each a program of the image calls work() and getppid(), and prints the number that it has there.
Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-containers-")
DOCKER = "/var/lib/docker/containers"
SLICE = f"acu{os.getpid()}.slice"


def groups():
    """Where control groups of version 2 are mounted."""
    found = [line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"]
    if not found:
        raise Skipped("no control groups of version 2 are mounted")
    return found[0]


def make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Skipped(f"{folder} cannot be made: {error.strerror}") from error


def remove_group(folder):
    """It and those below, when their processes are gone; then the slice, if it is empty."""
    for _ in range(200):
        for path, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        if not os.path.exists(folder):
            break
        time.sleep(0.02)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(folder))


def build():
    """The image: a folder with the program, linked statically."""
    image = os.path.join(TMP, "image")
    if not os.path.exists(image + "/app/worker"):
        os.makedirs(image + "/app")
        os.makedirs(image + "/proc")
        subprocess.run(["gcc", "-g", "-O1", "-static", "-o", image + "/app/worker", os.path.join(HERE, "worker.c")], check=True)
    return image


class Container:
    """`kind`: docker (with a file that has its name) or lxc. `copies`: its root is a copy of the image, not an overlay."""

    def __init__(self, name, kind="docker", copies=False, below=""):
        self.name, self.kind, self.pid, self.process, self.made = name, kind, 0, None, []
        self.id = os.urandom(32).hex()
        group = f"docker-{self.id}.scope" if kind == "docker" else f"lxc.payload.{name}"
        self.group = os.path.join(groups(), SLICE, group)
        make_folder(self.group)
        if kind == "docker":
            folder = f"{DOCKER}/{self.id}"
            for part in (os.path.dirname(os.path.dirname(DOCKER)), os.path.dirname(DOCKER), DOCKER, folder):
                if not os.path.exists(part):
                    os.mkdir(part)
                    self.made.append(part)
            with open(folder + "/config.v2.json", "w") as file:
                json.dump({"State": {"Running": True}, "Config": {"Image": "acu-test"}, "ID": self.id, "Name": "/" + name}, file)
        self.start(copies, below)

    def start(self, copies, below):
        image, self.folder = build(), tempfile.mkdtemp(dir=TMP)
        root = self.folder + "/root"
        os.mkdir(root)
        if copies:
            shutil.copytree(image, root, dirs_exist_ok=True)
            mount = "true"
        else:
            mount = (f"mount -t tmpfs none {self.folder} && mkdir {self.folder}/up {self.folder}/work {root} && "
                     f"mount -t overlay overlay -o lowerdir={image},upperdir={self.folder}/up,workdir={self.folder}/work {root}")
        inside = os.path.join(self.group, below)
        make_folder(inside)

        def enter():
            with open(inside + "/cgroup.procs", "w") as file:
                file.write("0")
        command = f"{mount} && mount -t proc proc {root}/proc && exec chroot {root} /app/worker"
        self.process = subprocess.Popen(["unshare", "--pid", "--mount", "--net", "--uts", "--fork", "sh", "-c", command],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=enter)
        line = self.process.stdout.readline()
        if not line:
            error = self.process.stderr.read()
            self.remove()
            raise Skipped("no container can be made: " + error.strip())
        self.inner = int(line)
        children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()
        self.pid = int(children[0])

    def remove(self):
        if self.process:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            try:
                self.process.wait(10 * SLOWNESS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
        remove_group(self.group)
        if self.kind == "docker":
            with contextlib.suppress(OSError):
                os.unlink(f"{DOCKER}/{self.id}/config.v2.json")
        for folder in reversed(self.made):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


@contextlib.contextmanager
def container(name, **how):
    made = Container(name, **how)
    try:
        yield made
    finally:
        made.remove()


def acu(program, *words, limit=40, status=0, text=None):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=limit * SLOWNESS, cwd=TMP, input=text)
    need(status is None or done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout[:600]}{done.stderr[:2000]}")
    return done


def script(program, text, *words, ms=400, status=0):
    """What a script prints in some time."""
    return acu(program, "run", "-q", *words, "-e", text + f" interval:ms:{patient(ms):.0f} {{ exit(); }}", status=status).stdout


@contextlib.contextmanager
def running(program, *words):
    """acu while it traces; sent SIGINT at the end, its output is in `text`."""
    class Run:
        text = err = ""
    run = Run()
    process = subprocess.Popen([program, "run", "--notify-attached", "READY", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin = ""
    while "READY" not in begin:
        line = process.stdout.readline()
        if not line:
            need(False, f"{words}: {process.stderr.read()}")
        begin += line
    try:
        yield run
    finally:
        process.send_signal(signal.SIGINT)
        run.text, run.err = process.communicate(timeout=30 * SLOWNESS)


def value_of(text, key):
    found = re.search(r"^@\w*\[" + re.escape(key) + r"\]: (\d+)", text, re.M)
    return int(found.group(1)) if found else 0


CALLS = "tracepoint:syscalls:sys_enter_getppid"


def ids_outside(program):
    """The number on the host, the one in the container, the namespace, the name and the group."""
    with container("web") as web, container("db", kind="lxc") as db:
        text = script(program, CALLS + ' /comm == "worker"/ { @[container, pid, nspid, nstid, pid_ns, cgroup_path] = count(); }')
        for c in (web, db):
            space = os.readlink(f"/proc/{c.pid}/ns/pid")[5:-1]
            key = f"{c.name}, {c.pid}, {c.inner}, {c.inner}, {space}, unified:{c.group[len(groups()):]}"
            need(c.inner == 1 and value_of(text, key) > 5, f"{key} is not in\n{text}")


def one_liners_outside(program):
    with container("web") as web, container("db", kind="lxc") as db:
        worker = ' /comm == "worker"/ '
        both = {"web", "db"}
        cases = [
            (CALLS + worker + "{ @[container] = count(); }", both),
            (CALLS + ' /container == "web"/ { @[container] = count(); }', {"web"}),
            (CALLS + worker[:-2] + ' && container != "web"/ { @[container] = count(); }', {"db"}),
            (CALLS + f' /container == "{web.id[:12]}"/ {{ @[container] = count(); }}', {"web"}),
            (CALLS + ' /container == "w?b" || container == "d*"/ { @[container] = count(); }', both),
            (CALLS + worker + '{ if (container == "db") { @["is db"] = count(); } else { @["is not"] = count(); } }', {"is db", "is not"}),
            (CALLS + worker + "{ @[cgroup_path] = count(); }", {f"unified:{c.group[len(groups()):]}" for c in (web, db)}),
            (CALLS + f' /in_cgroup("/{SLICE}")/ {{ @[container] = count(); }}', both),
            (CALLS + f' /in_cgroup("{web.group[len(groups()):]}")/ {{ @[container] = count(); }}', {"web"}),
            (CALLS + f' /cgroup_path == "/{SLICE}/lxc*"/ {{ @[container] = count(); }}', {"db"}),
            (CALLS + worker + "{ @[container(cgroup), nspid] = count(); }", {"web, 1", "db, 1"}),
            (CALLS + worker + "{ @[container, nspid == pid] = count(); }", {"web, false", "db, false"}),
            (CALLS + worker + "{ $c = container; @[$c] = count(); }", both),
            ("rawtracepoint:sys_enter" + worker + "{ @[container] = count(); }", both),
            ("profile:hz:500" + worker + "{ @[container] = count(); }", both),
            ("uprobe:container=web:/app/worker:work /container == \"web\"/ { @[container, comm] = count(); }", {"web, worker"}),
            ("uretprobe:container=db:/app/worker:work /pid == " + str(db.pid) + "/ { @[container] = count(); }", {"db"}),
            ("tracepoint:sched:sched_switch" + worker + "{ @[container] = count(); }", both),
            (CALLS + worker + "{ @[str(container == \"web\" ? \"web\" : \"other\")] = count(); }", {"web", "other"}),
            (CALLS + worker + '{ printf("@[%s]: 7\\n", container); }', both),
        ]
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            outputs = list(pool.map(lambda case: script(program, case[0]), cases))
        for (text, wanted), out in zip(cases, outputs):
            found = set(re.findall(r"^@\[(.*)\]: \d+", out, re.M))
            need(found == wanted, f"{text}\n{found}, not {wanted}")


def filters(program):
    """--container in each command: what happens in this container, and nothing else."""
    with container("web") as web, container("db", kind="lxc") as db:
        duration = f"{patient(500):.0f}ms"
        out = script(program, CALLS + " { @[pid] = count(); }", "--container", "web")
        need(set(re.findall(r"^@\[(\d+)\]", out, re.M)) == {str(web.pid)}, out)
        out = script(program, "profile:hz:500 { @[pid] = count(); }", "--container", "db")
        need(set(re.findall(r"^@\[(\d+)\]", out, re.M)) == {str(db.pid)}, out)
        out = script(program, CALLS + " { @[pid] = count(); }", "--cgroup", f"/{SLICE}")
        need(set(re.findall(r"^@\[(\d+)\]", out, re.M)) == {str(web.pid), str(db.pid)}, out)
        err = acu(program, "trace", "-e", "getppid", "--container", "web", "--duration", duration).stderr
        need(set(re.findall(r"^\[\S+ (\d+)\] getppid", err, re.M)) == {str(web.pid)}, err[:400])
        acu(program, "flame", "-q", "--container", "web", "-F", "999", "--duration", duration, "-o", "web.folded")
        text = open(TMP + "/web.folded").read()
        need("worker" in text and all(line.startswith("worker") for line in text.splitlines()), text[:400])
        need("work" in text and "[unknown]" not in text, text[:400])
        acu(program, "record", "-q", "--container", "web", "-F", "999", "--duration", duration, "-o", "web.acu")
        need("work" in acu(program, "report", "web.acu").stdout, "record")
        err = acu(program, "stat", "--container", "web", "-e", "context-switches", "--duration", duration)
        need(re.search(r"^ *[1-9][\d,]* +context-switches", err.stdout + err.stderr, re.M), err.stdout + err.stderr)
        done = acu(program, "graph", "--container", "web", "--duration", duration, "/app/worker:work")
        need("work" in done.stdout + done.stderr, done.stdout[:500] + done.stderr[:900])
        done = acu(program, "slow", "--container", "web", "--min-duration", "100us", "--duration", duration, "-n", "2", "syscall:poll")
        need("poll" in done.stdout + done.stderr, done.stdout + done.stderr)
        done = acu(program, "waits", "--container", "web", "--duration", duration)
        need("worker" in done.stdout, done.stdout + done.stderr)
        done = acu(program, "snap", "--container", "web")
        need("worker" in done.stdout and f"process {web.pid} " in done.stdout + done.stderr, done.stdout[:500] + done.stderr[:500])
        done = acu(program, "why", "-q", "--container", "web", "--duration", "2s", limit=60)
        need(f"process {web.pid} " in done.stdout, done.stdout[:300] + done.stderr[:300])
        done = acu(program, "list", "--container", "web", "uprobe:/app/worker:work")
        need(done.stdout == "uprobe:/app/worker:work\n", done.stdout + done.stderr)


def tables(program):
    with container("web") as web, container("db", kind="lxc") as db:
        out = acu(program, "sql", "-f", "csv", "select container, pid, nspid from processes where name = 'worker' order by container").stdout
        wanted = [f"db,{db.pid},1", f"web,{web.pid},1"]
        need([line for line in out.splitlines() if line in wanted] == wanted, out)
        out = acu(program, "sql", "-f", "csv", "select path from cgroups where container = 'web'").stdout
        need(web.group[len(groups()):] in out.splitlines(), out)


def later_ones(program):
    """A control group that a container makes later, and another container of the name."""
    def count(text, key):
        return value_of(text, key)
    with container("other") as _, container("web") as first:
        with running(program, "-q", "--container", "web", "-e", CALLS + " { @[pid, container] = count(); }") as run:
            sub = first.group + "/sub"
            os.mkdir(sub)
            time.sleep(0.2)
            with open(sub + "/cgroup.procs", "w") as file:
                file.write(str(first.pid))
            time.sleep(patient(0.3))
            with container("web") as second, container("nobody", kind="lxc") as nobody:
                time.sleep(patient(0.5))
            first.process.stdin.close()
            first.process.wait()
        need(count(run.text, f"{second.pid}, web") > 5, f"{second.pid}\n{run.text}{run.err}")
        need(not re.search(rf"\[{nobody.pid}, ", run.text) and "other" not in run.text, run.text)
        both = sum(int(n) for n in re.findall(rf"^@\[{first.pid}, web\]: (\d+)", run.text, re.M))
        need(both > 50, run.text)


def names_after_the_end(program):
    """Names of containers that are gone when they are printed."""
    with running(program, "-q", "-e", CALLS + ' /comm == "worker"/ { @[container, nspid] = count(); }') as run:
        time.sleep(0.2)
        with container("gone"):
            time.sleep(patient(0.3))
    need(value_of(run.text, "gone, 1") > 5, run.text + run.err)


def probes_of_an_image(program):
    """Containers of one image share its file: a probe by the name of one sees all of them, each call once, also in later ones."""
    text = "uprobe:container=web:/app/worker:work { @[container] = count(); if (@last[tid] == arg0 + 1) { @twice[container] = count(); } @last[tid] = arg0 + 1; } end { clear(@last); }"
    with container("web"), container("web2"):
        with running(program, "-q", "-e", text) as run:
            time.sleep(patient(0.3))
            with container("web3"):
                time.sleep(patient(0.4))
    for name in ("web", "web2", "web3"):
        need(value_of(run.text, name) > 5 and "@twice" not in run.text, f"{name}\n{run.text}{run.err}")
    with container("web"), container("web2"):
        out = script(program, text.replace("web:", "web*:"))
        need(value_of(out, "web2") > 5 and "@twice" not in out, out)


def probes_of_another_file(program):
    """A container of the name that starts later with a file of its own."""
    with container("web", copies=True) as first:
        with running(program, "-e", "uprobe:container=web:/app/worker:work { @[pid] = count(); }") as run:
            time.sleep(patient(0.2))
            with container("web", copies=True) as second:
                time.sleep(patient(0.6))
    need(value_of(run.text, str(first.pid)) > 5 and value_of(run.text, str(second.pid)) > 5, f"{first.pid} {second.pid}\n{run.text}{run.err}")
    need("a container with another file started: 1 probe attached to it" in run.err, run.err)


def stacks_of_containers(program):
    """Names come from the container's files, also after its end."""
    with running(program, "-q", "-e", "profile:hz:999 /comm == \"worker\"/ { @[ustack(2)] = count(); }") as run:
        with container("web"):
            time.sleep(patient(0.5))
    need(re.search(r"^\s+work\+\d+", run.text, re.M), run.text[:600] + run.err)


def mistakes(program):
    with container("web"):
        for words, wanted in [
                (["run", "--container", "no-such", "-e", "begin { exit(); }"], "there is no container `no-such`; there are "),
                (["run", "--container", "web", "-p", "1", "-e", "begin { exit(); }"], "cannot be combined"),
                (["run", "--cgroup", "/no/such", "-e", "begin { exit(); }"], "there is no control group `/no/such`"),
                (["snap", "--container", "web", "-p", "1"], "cannot be combined"),
                (["run", "-e", "uprobe:container=web:f { }"], "must name a program or library and a function"),
                (["run", "-e", "uprobe:container=:/bin/sh:main { }"], "must name a container and a file"),
        ]:
            done = acu(program, *words, status=2)
            need(wanted in done.stderr, f"{words}\n{done.stderr}")
        for words, wanted in [
                (["run", "-e", "uprobe:container=no-such:/bin/sh:main { }"], "there is no container `no-such`"),
                (["run", "-e", "uprobe:container=web:/no/such:main { }"], "container web: "),
        ]:
            done = acu(program, *words, status=3)
            need(wanted in done.stderr, f"{words}\n{done.stderr}")


def podman(program):
    """A container of Podman, from a folder instead of an image."""
    if not shutil.which("podman"):
        raise Skipped("podman is not installed")
    name, image = f"acu-test-{os.getpid()}", build()
    runtime = ["--runtime", "runc"] if shutil.which("runc") else []  # crun refuses hosts with groups of both versions
    limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
    process = subprocess.Popen(["podman", *runtime, "--cgroup-manager=cgroupfs", "run", "-i", "--rm", "--name", name, *limits, "--network", "none",
                                "--rootfs", image, "/app/worker"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if not process.stdout.readline():
            raise Skipped("podman cannot start a container here: " + process.stderr.read().strip()[-200:])
        out = script(program, CALLS + ' /comm == "worker"/ { @[container, nspid] = count(); }')
        if value_of(out, "host, 1"):
            raise Skipped("podman makes no control groups of version 2 here")
        need(value_of(out, f"{name}, 1") > 5, out)
        out = script(program, f"uprobe:container={name}:/app/worker:work {{ @[container] = count(); }}", "--container", name)
        need(value_of(out, name) > 5, out)
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait(30 * SLOWNESS)
        process.stdout.close()
        process.stderr.close()


# -------------------------------------------------------------------------------------------------------- inside


def inside(*command, more=()):
    """In a pid, mount, uts and net namespace, with its own /proc; a program `worker` runs beside, its number in $W."""
    worker = build() + "/app/worker"
    text = f"sleep 1000 | {worker} > {TMP}/number & while ! [ -s {TMP}/number ]; do :; done; W=$(cat {TMP}/number); export W; " + " ".join(command)
    if os.path.exists(TMP + "/number"):
        os.unlink(TMP + "/number")
    return subprocess.run(["unshare", "--pid", "--mount", "--net", "--uts", "--fork", "--mount-proc", "--kill-child", *more, "sh", "-c", text],
                          capture_output=True, text=True, timeout=60 * SLOWNESS, cwd=TMP)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def one_liners_inside(program):
    """Numbers are those of the container; what is outside of it has the number 0."""
    ends = f" interval:ms:{patient(300):.0f} {{ exit(); }}"
    cases = [
        (CALLS + ' /comm == "worker"/ { @[pid == W && tid == W] = count(); }', r"@\[true\]"),
        (CALLS + ' /pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        (CALLS + ' /comm == "worker"/ { @[nspid == pid, nstid == tid] = count(); }', r"@\[true, true\]"),
        (CALLS + ' /comm == "worker"/ { @[pid(init) != pid] = count(); }', r"@\[true\]"),
        (CALLS + ' /pid == W/ { @[username] = count(); }', r"@\[root\]"),
        ('profile:hz:500 /pid == W/ { @[ustack(1)] = count(); }', r"\s+work\+"),
        ('profile:hz:500 /comm == "worker"/ { @[pid == W] = count(); }', r"@\[true\]"),
        ('uprobe:WORKER:work { @[pid == W] = count(); }', r"@\[true\]"),
        ('uprobe:WORKER:work { @[usym(reg("ip"))] = count(); }', r"@\[work.*\]"),
        ('uretprobe:WORKER:work { @[retval > 0, pid == W] = count(); }', r"@\[true, true\]"),
        ('uprobe:WORKER:work { @[ustack(2)] = count(); }', r"\s+main\+"),
        ('rawtracepoint:sys_enter /pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        ('tracepoint:sched:sched_switch /pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        ('tracepoint:raw_syscalls:sys_exit /pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        ('begin { printf("%d\\n", pid); }', r"\d+"),
        (CALLS + ' /container != "no-such" && pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        (CALLS + ' /pid == W/ { @[pid_ns] = count(); }', r"@\[\d+\]"),
        ('tracepoint:raw_syscalls:sys_enter /pid == 0/ { @["outside"] = count(); } ' + CALLS + ' /pid == W/ { @[comm] = count(); }', r"@\[worker\]"),
        (CALLS + ' /pid == W/ { @[kstack(1)] = count(); }', r"@\["),
        ('uprobe:WORKER:work /pid == W/ { printf("%d %s\\n", arg0 >= 0, func); }', r"^1 work$"),
    ]
    lines = []
    for i, (text, _) in enumerate(cases):
        text = quoted(text + ends).replace("WORKER", build() + "/app/worker").replace("W)", "'$W')").replace("== W", "== '$W'")
        lines.append(f"{program} run -q -e {text} > {TMP}/case{i} 2>&1 & P=\"$P $!\"; " + ("wait $P; P=; " if i % 5 == 4 else ""))
    lines += [f"echo CASE{i}; cat {TMP}/case{i};" for i in range(len(cases))]
    done = inside(*lines)
    parts = re.split(r"^CASE\d+\n", done.stdout, flags=re.M)[1:]
    need(len(parts) == len(cases), done.stdout[-500:] + done.stderr)
    wrong = [f"{text}\n{part[:500]}" for (text, wanted), part in zip(cases, parts) if not re.search(wanted, part, re.M) or "@[false" in part]
    need(not wrong, "\n".join(wrong))


def commands_inside(program):
    """-p, -c, names and columns in the view of the container."""
    duration = f"{patient(400):.0f}ms"
    # command, wanted in its output; $W is the worker's number
    cases = [
        (f"run -q -p $W -e '{CALLS} {{ @[pid] = count(); }} interval:ms:300 {{ exit(); }}'", r"@\[W\]: \d+"),
        (f"run -q -c 'sh -c \"echo $$\"' -e 'begin {{ print(cpid > 0 && cpid < 1000); }}'", r"true"),
        (f"trace -p $W -e getppid --duration {duration}", r"getppid\(\)"),
        (f"trace -e getppid --duration {duration} -a", r"\[worker W\] getppid"),
        (f"flame -q -p $W -F 999 --duration {duration} -o inside.folded && cat inside.folded", r"worker.*;work \d+"),
        (f"flame -q -a -F 999 --duration {duration} -o inside.folded && cat inside.folded", r"worker.*;work \d+"),
        (f"flame offcpu -q -p $W --duration {duration} -o inside.folded && cat inside.folded", r"worker.*poll"),
        (f"stat -p $W -e context-switches --duration {duration}", r"[1-9][\d,]* +context-switches"),
        (f"graph -p $W --duration {duration} work", r"work"),
        (f"slow -p $W --min-duration 1us -n 1 --duration {duration} work", r"work"),
        (f"waits -p $W --duration {duration}", r"worker"),
        ("snap -p $W", r"worker"),
        ("sym -p $W 0x0", r""),
        ("modules -p $W", r"app/worker"),
        ("sql -f csv \"select pid, name from processes where name = 'worker'\"", r"W,worker"),
        (f"record -q -p $W -F 999 --duration {duration} -o inside.acu && PROGRAM report inside.acu", r"work"),
        ("why -q -p $W --duration 2s", r"process W "),
        ("list 'tracepoint:sched:sched_switch'", r"sched_switch"),
        ("info", r"pid"),
    ]
    done = inside(*[f"echo CASE{i}; {program} {words.replace('PROGRAM', program)} 2>&1; echo;" for i, (words, _) in enumerate(cases)], "echo CASE99; echo $W")
    parts = re.split(r"^CASE\d+\n", done.stdout, flags=re.M)[1:]
    need(len(parts) == len(cases) + 1, done.stdout[-500:] + done.stderr)
    number = parts[-1].strip()
    wrong = [f"{words}\n{part[:700]}" for (words, wanted), part in zip(cases, parts)
             if not re.search(re.sub(r"\bW\b", number, wanted), part, re.M) or re.search(r"^ERROR", part, re.M)]
    need(not wrong, "\n".join(wrong))


def without_privileges(program):
    """A container whose root is nobody on the host: the message says what is missing."""
    trials = [
        (["--user", "--map-root-user"], []),
        ([], ["setpriv", "--bounding-set=-bpf,-sys_admin,-perfmon", "--inh-caps=-bpf,-sys_admin,-perfmon"]),
    ]
    for more, before in trials:
        done = subprocess.run(["unshare", "--pid", "--mount", "--fork", "--mount-proc", *more, *before, program, "run", "-e",
                               CALLS + " { @ = count(); } interval:ms:100 { exit(); }"], capture_output=True, text=True, timeout=30 * SLOWNESS)
        if "unshare failed" in done.stderr:
            raise Skipped(done.stderr.strip())
        need(done.returncode == 4, f"status {done.returncode}: {done.stderr}")
        need(re.search(r"CAP_BPF|user namespace|/sys/kernel/tracing", done.stderr), done.stderr)
        need(re.search(r"in a container|--cap-add|-v /sys/kernel/tracing", done.stderr), done.stderr)


def without_tracefs(program):
    done = subprocess.run(["unshare", "--pid", "--mount", "--fork", "--mount-proc", "sh", "-c",
                           f"umount -R /sys/kernel/debug/tracing 2>/dev/null; umount -R /sys/kernel/debug 2>/dev/null; umount -R /sys/kernel/tracing; "
                           f"mount -t tmpfs -o ro none /sys/kernel && {program} run -e 'tracepoint:sched:sched_switch {{ exit(); }}'"],
                          capture_output=True, text=True, timeout=30 * SLOWNESS)
    need(done.returncode in (3, 4, 5) and "tracefs" in done.stderr, f"status {done.returncode}: {done.stderr}{done.stdout}")


def main():
    tests = [ids_outside, one_liners_outside, filters, tables, later_ones, names_after_the_end, probes_of_an_image, probes_of_another_file,
             stacks_of_containers, podman, mistakes, one_liners_inside, commands_inside, without_privileges, without_tracefs]
    return run_suite(tests, TMP)


if __name__ == "__main__":
    sys.exit(main())
