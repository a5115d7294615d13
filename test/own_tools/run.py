#!/usr/bin/env python3
"""Tools of users: run.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from tally import Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-own-tools-")
COMMON = "/usr/local/share/acu/tools"
GOOD = """#!/usr/bin/env -S acu run
// %s: getpid calls, by process.
//
//   acu run %s.bt
//
//   TIME(ms)   COMM
//   12         bash
//   @calls:
//   @calls[bash]: 2
//
begin { printf("%%-10s %%s\\n", "TIME(ms)", "COMM"); @calls["none"] = count(); }
tracepoint:syscalls:sys_enter_getpid { @calls[comm] = count(); }
"""


def path(*names):
    return os.path.join(TMP, *names)


def run(*words, status=0, **more):
    done = subprocess.run([os.path.abspath(sys.argv[1]), *words], capture_output=True, text=True, timeout=patient(60), cwd=TMP, **more)
    need(done.returncode == status, f"acu {' '.join(words)}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1000:]}")
    return done


def write(name, text):
    open(path(name), "w").write(text)
    return path(name)


def user(home):
    """Options of a process of another user, with this home."""
    os.makedirs(path(home), exist_ok=True)
    os.chown(path(home), 65534, 65534)
    os.chmod(TMP, 0o755)
    copy = path("acu")
    if not os.path.exists(copy):
        shutil.copy(sys.argv[1], copy)
    return {"user": 65534, "group": 65534, "extra_groups": [], "env": {**os.environ, "HOME": path(home), "XDG_DATA_HOME": ""}}


def as_user(words, status=0, **more):
    done = subprocess.run([path("acu"), *words], capture_output=True, text=True, timeout=patient(60), cwd=TMP, **more)
    need(done.returncode == status, f"acu {' '.join(words)}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1000:]}")
    return done


def skeleton(_):
    done = run("tool", "new", "slow-reads")
    need("acu tool test ./slow-reads.bt" in done.stdout, done.stdout)
    out = run("tool", "test", "--duration", "1s", "./slow-reads.bt").stdout
    need(re.match(r"slow-reads: ok, \d+ lines? with the columns of its header\n", out), out)
    need("File exists" in run("tool", "new", "slow-reads", status=1).stderr, "an existing file")
    need("already" in run("tool", "new", "execsnoop", status=2).stderr and "already" in run("tool", "new", "flame", status=2).stderr, "names that are taken")
    need("letters" in run("tool", "new", "a/b", status=2).stderr, "a name that is none")


def life_of_a_tool(_):
    """Added, listed, completed, explained, run by its name, replaced, removed."""
    name = f"acu-test-{os.getpid()}"
    file = write(name + ".bt", GOOD % (name, name))
    try:
        need(run("tool", "add", file).stdout == f"added {name}: getpid calls, by process\n", "add")
        need(os.stat(f"{COMMON}/{name}.bt").st_mode & 0o777 == 0o644, "the mode of the file")
        for words in (("tools",), ("tools", "own"), ("tool",)):
            need(re.search(rf"^  {name} .*getpid calls, by process$", run(*words).stdout, re.M), f"{words}")
        need(name in run("help", "complete", "--", "acu-te").stdout, "completion")
        text = run(name, "--help").stdout
        need(text.startswith(f"{name}: getpid") and f"  acu {name}\n" in text, text)
        text = run(name, "--explain").stdout
        need(re.search(r"^columns   TIME, in ms\n          COMM\nmaps      @calls$", text, re.M), text)
        out = run(name, "-c", "sh -c 'kill -0 $$'").stdout
        need(out.startswith("TIME(ms)") and "@calls" in out, out)
        need(run("tool", "test", "--duration", "500ms", name).stdout.startswith(f"{name}: ok"), "test by name")
        need(run("tool", "add", file).stdout.startswith("replaced"), "added again")
        installed = f"{COMMON}/{name}.bt"
        for change, back in ((lambda: os.chmod(installed, 0o666), lambda: os.chmod(installed, 0o644)), (lambda: os.chown(installed, 65534, 65534), lambda: os.chown(installed, 0, 0))):
            change()  # others could put their script there
            need("neither a subcommand nor a tool" in run(name, status=2).stderr, "a tool that others can change")
            back()
        need(run("tool", "remove", name).stdout == f"removed {name}\n", "remove")
        need("neither a subcommand nor a tool" in run(name, status=2).stderr, "a removed tool")
        need("there is no tool" in run("tool", "remove", name, status=3).stderr, "removed twice")
    finally:
        if os.path.exists(f"{COMMON}/{name}.bt"):
            os.unlink(f"{COMMON}/{name}.bt")


def wrong_headers(_):
    good = GOOD % ("w", "w")
    for text, why in (("begin { exit(); }\n", "no header"), ("// just a comment\nbegin { exit(); }\n", "NAME: what it shows"), (good.replace("w:", "v:", 1).replace("w.bt", "v.bt"), "the header is that of `v`"),
                      (good.replace("acu run w.bt", "run it"), "line 4: the example does not run the tool"), (good.split("//   TIME")[0] + "\nbegin { exit(); }\n", "no output"),
                      (good.replace("begin", "begni"), "begni"), ("", "no header"), ("\0\1\2" * 1000, "no header")):
        need(why in run("tool", "add", write("w.bt", text), status=2).stderr, f"{why}: {run('tool', 'add', path('w.bt'), status=2).stderr}")
        need(not os.path.exists(f"{COMMON}/w.bt"), f"added: {why}")
    for name, why in (("flame", "is a command of acu"), ("execsnoop", "is a built-in tool")):
        need(why in run("tool", "add", write(name + ".bt", GOOD % (name, name)), status=2).stderr, why)
    need("called NAME.bt" in run("tool", "add", write("w.txt", good), status=2).stderr, "another extension")
    need("no/such" in run("tool", "add", "no/such.bt", status=1).stderr, "no file")
    for words in (("add",), ("new",), ("test", "a", "b")):
        need("takes one" in run("tool", *words, status=2).stderr, str(words))


def examples_that_differ(_):
    """The test of a tool sees headings and maps that are not those of its header, and an example that fails."""
    good = GOOD % ("w", "w")
    for text, why in ((good.replace('"COMM");', '"NAME");'), "the header shows the columns TIME(ms) COMM"), (good.replace('@calls["none"]', '@others["none"]'), "the map @others"),
                      (good.replace("acu run w.bt", "acu run w.bt -- --no-such=1"), "the example failed")):
        done = subprocess.run([sys.argv[1], "tool", "test", "--duration", "500ms", write("w.bt", text)], capture_output=True, text=True, timeout=patient(60))
        need(done.returncode and why in done.stderr, f"{why}: {done}")


def folders(_):
    """Good ones of a folder are added though others are not; other users have their own, which root does not run."""
    more = user("home")
    os.makedirs(path("many"))
    for name in ("one", "two"):
        write(f"many/acu-own-{name}.bt", GOOD % (f"acu-own-{name}", f"acu-own-{name}"))
    write("many/bad.bt", "begin { exit(); }\n")
    done = as_user(["tool", "add", path("many")], status=2, **more)
    need("added acu-own-one" in done.stdout and "added acu-own-two" in done.stdout and "bad.bt: line 1: no header" in done.stderr and "not all tools" in done.stderr, str(done))
    own = path("home", ".local", "share", "acu", "tools")
    need(sorted(os.listdir(own)) == ["acu-own-one.bt", "acu-own-two.bt"], str(os.listdir(own)))
    need("acu-own-one" in as_user(["tools", "own"], **more).stdout, "the list of the user")
    run("acu-own-one", "--help", status=2)
    os.chmod(os.path.join(own, "acu-own-one.bt"), 0o666)  # others may write to it
    need("acu-own-one" not in as_user(["tools", "own"], **more).stdout and "acu-own-two" in as_user(["tools", "own"], **more).stdout, "a file that others may change")
    os.makedirs(path("empty"))
    need("no files *.bt" in as_user(["tool", "add", path("empty")], status=3, **more).stderr, "an empty folder")
    del more["env"]["HOME"]
    need("neither XDG_DATA_HOME nor HOME" in as_user(["tool", "add", path("many")], status=2, **more).stderr, "no home")


def built_in_headers(_):
    """The headers of all tools are what is documented: --explain reads them."""
    names = [n[:-3] for folder in ("tools", "tools/static") for n in os.listdir(os.path.join(ROOT, folder)) if n.endswith(".bt") and n != "libstdcxx.bt"]
    need(len(names) > 150, str(len(names)))
    wrong = []
    for name in names:
        done = subprocess.run([sys.argv[1], name, "--explain"], capture_output=True, text=True, timeout=patient(30))
        if done.returncode or not re.match(rf"{re.escape(name)}: .*\n\nruns on   .*\nexample   acu {re.escape(name)}", done.stdout):
            wrong.append(f"{name}: {done.stdout[:200]}{done.stderr[:200]}")
    need(not wrong, "\n".join(wrong))


TESTS = [skeleton, life_of_a_tool, wrong_headers, examples_that_differ, folders, built_in_headers]

sys.exit(run_suite(TESTS, TMP))
