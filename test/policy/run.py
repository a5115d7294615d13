#!/usr/bin/env python3
"""Policies: run.py ACU [--filter TEXT]. The last line is `N passed, N failed, N skipped`."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-policy-")
os.chmod(TMP, 0o755)
NOBODY = 65534
REFUSED = 4
TRACER = "bpf,perfmon,sys_ptrace,dac_read_search"


def prepare(acu):
    """A copy of acu that anybody may run."""
    copy = os.path.join(TMP, "acu")
    if not os.path.exists(copy):
        shutil.copy(acu, copy)
        os.chmod(copy, 0o755)
        open_folder = os.path.join(TMP, "open")
        os.mkdir(open_folder)
        os.chmod(open_folder, 0o1777)
    return copy


def run(acu, policy, words, how="sudo", user=NOBODY, mode=0o644, before=""):
    """Runs acu with this text as /etc/acu/policy; None: there is no such file. `how`: sudo, capabilities, or root."""
    acu = prepare(acu)
    folder = tempfile.mkdtemp(dir=TMP)
    os.chmod(folder, 0o755)
    up = os.path.join(folder, "up")
    os.makedirs(os.path.join(up, "etc"))
    os.mkdir(os.path.join(up, "work"))
    if policy is not None:
        os.mkdir(os.path.join(up, "etc", "acu"))
        path = os.path.join(up, "etc", "acu", "policy")
        with open(path, "w") as file:
            file.write(policy)
        os.chmod(path, mode)
    mount = f"mount -t tmpfs none {up}.d && cp -a {up}/. {up}.d && mount -t overlay overlay -o lowerdir=/etc,upperdir={up}.d/etc,workdir={up}.d/work /etc"
    os.mkdir(up + ".d")
    command = [acu, *map(str, words)]
    if how == "sudo":
        command = ["env", f"SUDO_UID={user}", f"SUDO_GID={user}", *command]
    if how == "capabilities":
        sets = "-all," + ",".join("+" + c for c in TRACER.split(","))
        command = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", f"--inh-caps={sets}", f"--ambient-caps={sets}", *command]
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"{mount} || exit 99; {before or 'true'}; exec \"$@\"", "sh", *command],
                          capture_output=True, text=True, timeout=60 * SLOWNESS, cwd=os.path.join(TMP, "open"), stdin=subprocess.DEVNULL)
    if done.returncode == 99:
        raise Skipped("no overlay can be mounted here: " + done.stderr.strip())
    return done


def refused(done, *texts):
    need(done.returncode == REFUSED, f"status {done.returncode}\n{done.stdout[:400]}{done.stderr[:800]}")
    for text in texts:
        need(text in done.stderr, f"no `{text}` in\n{done.stderr[:800]}")


def permitted(done):
    need(done.returncode == 0, f"status {done.returncode}\n{done.stdout[:400]}{done.stderr[:800]}")
    return done


class Process:
    """One of a user, which sleeps."""

    def __init__(self, user=0, command=("sleep", "60")):
        self.user, self.command = user, command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, user=self.user)
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


SNAP = ["snap", "--max-pause", "5s", "-p"]  # how long a busy host takes is not asked here
OWN = "user nobody\n  commands *\n  targets own\n"


def without_policy_nothing_changes(acu):
    permitted(run(acu, None, ["stat", "-e", "page-faults", "--", "/bin/true"]))
    permitted(run(acu, None, ["stat", "-e", "page-faults", "--", "/bin/true"], how="capabilities"))


def root_is_not_bound(acu):
    permitted(run(acu, "user nobody\n  commands none\n", ["stat", "-e", "page-faults", "--", "/bin/true"], how="root"))


def commands_are_limited(acu):
    policy = "# teams\nuser nobody\n  commands stat report\n  targets *\n"
    for how in ("sudo", "capabilities"):
        permitted(run(acu, policy, ["stat", "-e", "page-faults", "--", "/bin/true"], how=how))
        refused(run(acu, policy, ["flame", "-a", "--duration", "1s"], how=how), "/etc/acu/policy:2", "acu flame", "acu policy show")
        refused(run(acu, policy, ["-e", "begin { exit() }"], how=how), "acu run")


def who_has_no_rule_is_refused(acu):
    refused(run(acu, "user root\n  commands *\n  targets *\n", ["stat", "-a", "--duration", "100ms"]), "no rule for nobody")


def groups_have_rules(acu):
    policy = "group nogroup\n  commands stat\n  targets *\n"
    permitted(run(acu, policy, ["stat", "-e", "page-faults", "-a", "--duration", "100ms"]))
    permitted(run(acu, policy, ["stat", "-e", "page-faults", "-a", "--duration", "100ms"], how="capabilities"))


def own_processes_only(acu):
    with Process(NOBODY) as own, Process(0) as other:
        for how in ("sudo", "capabilities"):
            permitted(run(acu, OWN, [*SNAP, own], how=how))
            refused(run(acu, OWN, [*SNAP, other], how=how), f"process {other}", "only these: own")
            refused(run(acu, OWN, ["stat", "-e", "page-faults", "-p", f"{own},{other}", "--duration", "100ms"], how=how), f"process {other}")
            refused(run(acu, OWN, ["stat", "-e", "page-faults", "--tid", other, "--duration", "100ms"], how=how), f"thread {other}")
        refused(run(acu, OWN, ["top", "-u", "root", "--duration", "1s"]), "user root")
        refused(run(acu, OWN, ["sym", "-p", other, "0x1"]), f"process {other}")
        refused(run(acu, OWN, ["modules", "-p", other]), f"process {other}")


def whole_host_is_refused(acu):
    for words in (["top", "-a"], ["trace", "-a"], ["waits"], ["why"], ["sql", "select 1"], ["stat", "-a", "--", "/bin/true"], ["dump"]):
        refused(run(acu, OWN, words), "the whole host")


def processes_of_a_setuid_program_are_not_own(acu):
    """Its real user is the caller, its rights are root's."""
    program = os.path.join(TMP, "sleep")
    if not os.path.exists(program):
        shutil.copy("/bin/sleep", program)
        os.chmod(program, 0o4755)
    process = subprocess.Popen([program, "60"], user=NOBODY)
    try:
        refused(run(acu, OWN, [*SNAP, process.pid]), f"process {process.pid}")
    finally:
        process.kill()
        process.wait()


def scripts_need_a_grant(acu):
    with Process(NOBODY) as own:
        for words in (["-p", own, "-e", "begin { exit() }"], ["run", "x.bt"], ["execsnoop"], ["dscript", "-n", "BEGIN { exit(0); }"], 
                      ["trace", "-p", own, "--filter", "pid > 1"], [*SNAP, own, "-e", "oneshot { print(1) }"], ["flame", "-p", own, "interval:s:1 { exit() } begin"],
                      ["flame", "-p", own, "tracepoint:syscalls:sys_exit_read", "--weight", "args.ret"], ["why", "-p", own, "--rules", "x.clp"], ["emit", "--to", "d", "/etc/shadow"],
                      ["run", "--help", "/etc/shadow"], ["list", "-v", "begin { }"]):
            refused(run(acu, OWN, words), "may scripts")
        need("may scripts" in run(acu, OWN, ["bpftrace", "-e", "BEGIN { exit(); }"]).stderr, "bpftrace, whose statuses are others")
        permitted(run(acu, OWN + "  may scripts\n", ["-q", "-p", own, "-e", "begin { exit() }"]))


def what_acts_needs_a_grant(acu):
    scripts = OWN + "  may scripts\n"
    with Process(NOBODY) as own:
        refused(run(acu, scripts, ["--unsafe", "-p", own, "-e", "begin { system(\"id\"); exit() }"]), "--unsafe", "may unsafe")
        refused(run(acu, scripts, ["dscript", "-w", "-p", own, "-n", "BEGIN { system(\"id\"); exit(0); }"]), "may unsafe")
        refused(run(acu, scripts, ["dscript", "-p", own, "-n", "#pragma D option destructive\nBEGIN { system(\"id\"); exit(0); }"]), "may unsafe")
        refused(run(acu, scripts, ["learn", "1"]), "may unsafe")
        permitted(run(acu, OWN + "  may scripts unsafe\n", ["--unsafe", "-q", "-p", own, "-e", "begin { exit() }"]))


def commands_run_as_the_caller(acu):
    """sudo acu … -- CMD is no way to root."""
    done = permitted(run(acu, OWN, ["stat", "-e", "page-faults", "--", "/bin/sh", "-c", "id -u; grep -E 'CapEff|NoNewPrivs|Groups' /proc/self/status"]))
    need(done.stdout.split("\n")[0] == str(NOBODY), done.stdout)
    need("CapEff:\t0000000000000000" in done.stdout and "NoNewPrivs:\t1" in done.stdout, done.stdout)
    need("Groups:\t65534" in done.stdout, done.stdout)


def results_are_written_as_the_caller(acu):
    private = os.path.join(TMP, "private")
    os.makedirs(private, exist_ok=True)
    words = ["stat", "-e", "page-faults", "-o"]
    for mode in (0o755, 0o775): # root's groups are not the caller's
        os.chmod(private, mode)
        done = run(acu, OWN, [*words, os.path.join(private, "x"), "--", "/bin/true"])
        need(done.returncode not in (0, 99) and not os.listdir(private), f"mode {mode:o}, status {done.returncode}, {os.listdir(private)}\n{done.stderr}")
    target = os.path.join(TMP, "open", "x")
    permitted(run(acu, OWN, [*words, target, "--", "/bin/true"]))
    about = os.stat(target)
    need(about.st_uid == NOBODY and about.st_mode & 0o777 == 0o600, f"user {about.st_uid}, mode {about.st_mode:o}")
    folded = os.path.join(private, "x.folded")
    done = run(acu, OWN, ["flame", "-q", "-o", folded, "--", "/bin/true"])
    need(done.returncode not in (0, 99) and not os.path.exists(folded), done.stderr)


def files_are_read_as_the_caller(acu):
    secret = os.path.join(TMP, "secret")
    with open(secret, "w") as file:
        file.write("main;step 3\n")
    os.chmod(secret, 0o600)
    for how in ("sudo", "capabilities"):
        done = run(acu, OWN, ["report", secret], how=how)
        need(done.returncode not in (0, 99) and "ermission denied" in done.stderr and "step" not in done.stdout, done.stdout + done.stderr)
    os.chmod(secret, 0o644)
    permitted(run(acu, OWN, ["report", secret]))


def servers_ask_for_each_call(acu):
    sql = {"jsonrpc": "2.0", "id": 1, "method": "sql", "params": {"query": "select 1"}}
    flame = {"jsonrpc": "2.0", "id": 1, "method": "flame", "params": {"duration": 0.2}}
    acu = prepare(acu)
    for commands, call, is_fine in (("api sql", sql, True), ("api", sql, False), ("api flame", flame, True)):
        policy = f"user nobody\n  commands {commands}\n  targets *\n"
        folder = os.path.join(TMP, "open")
        path = os.path.join(folder, "s.sock")
        client = os.path.join(TMP, "client.py")
        with open(client, "w") as file:
            file.write(f"""
import json, os, socket, subprocess, sys, time
server = subprocess.Popen({[acu, 'api', path]!r}, env={{**os.environ, 'SUDO_UID': '65534'}}, stderr=subprocess.PIPE, text=True)
for _ in range({int(200 * SLOWNESS)}):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect({path!r}); break
    except OSError:
        time.sleep(0.05)
s.sendall((json.dumps({call!r}) + '\\n').encode())
print(s.makefile().readline().strip()); print(os.stat({path!r}).st_uid); server.terminate(); server.wait()
""")
        with Process(command=("/bin/sh", "-c", "while :; do :; done")):  # an idle host has no samples
            done = run(acu, policy, [], how="root", before=f"exec /usr/bin/python3 {client}")
        need(done.stdout.strip(), f"no answer\n{done.stderr}")
        answer, owner = done.stdout.splitlines()
        need(int(owner) == NOBODY, f"the socket belongs to {owner}")
        answer = json.loads(answer)
        text = json.dumps(answer)
        need(not is_fine or answer["result"]["exit_status"] == 0, text[:800])
        need(("/etc/acu/policy" in text) != is_fine, f"{'permitted' if is_fine else 'refused'} was expected\n{text[:800]}")


def policies_that_others_can_change_are_refused(acu):
    for mode in (0o664, 0o646):
        refused(run(acu, OWN, ["stat", "--", "/bin/true"], mode=mode), "users other than root can change", "chmod go-w")
    refused(run(acu, OWN, ["stat", "--", "/bin/true"], before="chown nobody /etc/acu/policy"), "users other than root can change")
    refused(run(acu, OWN, ["stat", "--", "/bin/true"], before="chmod 777 /etc/acu"), "users other than root can change")
    refused(run(acu, OWN, ["stat", "--", "/bin/true"], how="capabilities", before="rm /etc/acu/policy; mkdir /etc/acu/policy"), "nothing is permitted")


def mistakes_permit_nothing(acu):
    policy = "user nobody\n  comands stat\ncommands\nuser x\n  targets host\n"
    for words in (["policy", "check"], ["stat", "--", "/bin/true"]):
        done = run(acu, policy, words)
        need(done.returncode in (2, REFUSED), f"status {done.returncode}\n{done.stderr}")
        for text in ("/etc/acu/policy:2: `comands`", "did you mean `commands`", "/etc/acu/policy:5: `host` is not a target", "/etc/acu/policy:4: this rule has no line `commands`"):
            need(text in done.stderr, f"no `{text}` in\n{done.stderr}")
    permitted(run(acu, policy, ["help"]))
    permitted(run(acu, policy, ["--version"]))


def show_and_check(acu):
    policy = "user nobody\n  commands stat flame\n  targets unit:web.service container:shop-* own\n"
    done = permitted(run(acu, policy, ["policy", "show"]))
    need(done.stdout == "nobody, by /etc/acu/policy:1\ncommands  stat flame\ntargets   unit:web.service container:shop-* own\nscripts   no\nunsafe    no\n", done.stdout)
    need("1 rule, no mistakes" in permitted(run(acu, policy, ["policy", "check"])).stdout, "check")
    need("no rule for daemon" in permitted(run(acu, policy, ["policy", "show", "-u", "daemon"], how="root")).stdout, "show -u")
    need("nothing is restricted" in permitted(run(acu, None, ["policy", "check"])).stdout, "no file")


def another_file_is_for_root(acu):
    path = os.path.join(TMP, "other.policy")
    with open(path, "w") as file:
        file.write("everyone\n  commands stat\n  targets *\n")
    os.chmod(path, 0o644)
    permitted(run(acu, None, ["--policy", path, "stat", "-e", "page-faults", "--", "/bin/true"], how="root"))
    refused(run(acu, None, ["--policy", path, "flame", "-a"], how="root"), "acu flame")
    for how in ("sudo", "capabilities"):
        refused(run(acu, OWN, ["--policy", path, "stat", "--", "/bin/true"], how=how), "for root alone")


def containers_and_units(acu):
    group = next((line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"), None)
    if not group:
        raise Skipped("no control groups of version 2 are mounted")
    unit = f"acutest{os.getpid()}.service"
    folder = os.path.join(group, unit)
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Skipped(f"{folder} cannot be made: {error.strerror}") from error
    try:
        with Process(0) as process:
            with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                file.write(str(process))
            policy = f"user nobody\n  commands *\n  targets unit:{unit[:9]}*\n"
            permitted(run(acu, policy, [*SNAP, process]))
            permitted(run(acu, policy, ["stat", "-e", "page-faults", "--cgroup", "/" + unit, "--duration", "100ms"]))
            other = "user nobody\n  commands *\n  targets unit:other.service container:*\n"
            refused(run(acu, other, [*SNAP, process]), f"process {process}")
            refused(run(acu, other, ["stat", "-e", "page-faults", "--cgroup", "/" + unit, "--duration", "100ms"]), "control group")
            refused(run(acu, policy, ["stat", "-e", "page-faults", "--container", "*", "--duration", "100ms"]), "containers *")
    finally:
        for _ in range(100):
            try:
                os.rmdir(folder)
                break
            except OSError:
                subprocess.run(["sleep", "0.05"])


TESTS = [without_policy_nothing_changes, root_is_not_bound, commands_are_limited, who_has_no_rule_is_refused, groups_have_rules, own_processes_only, whole_host_is_refused,
         processes_of_a_setuid_program_are_not_own, scripts_need_a_grant, what_acts_needs_a_grant, commands_run_as_the_caller, results_are_written_as_the_caller,
         files_are_read_as_the_caller, servers_ask_for_each_call, policies_that_others_can_change_are_refused, mistakes_permit_nothing, show_and_check, another_file_is_for_root,
         containers_and_units]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
