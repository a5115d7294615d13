#!/usr/bin/env python3
"""Wrong scripts and what must be said of them: run.py ACU [--filter TEXT]

A case is named TAG_short.bt after the tag in src/spec/diagnostics.h it shows. The leading comment lines:

  // EXPECT: stdin:1:9-13: ERROR: pattern   one for each diagnostic, in order: the place exactly, the sentence as
                                            a pattern. Places count from the first line behind these comments.
                                            Warnings count only in cases that expect one.
  // HINT: pattern         // EXPECT_STDERR: pattern found anywhere
  // STATUS: 2             by default 2, and 0 where only warnings are expected
  // ARGS: / OPTIONS: / ENV:   as in test/runtime
  // BYTES: 7f 45 4c 46    the script is a file of these bytes      // PATH: /tmp   the script is this path
  // $HERE                 in OPTIONS and EXPECT is this folder
  // BUILD: gcc -g -o $TMP/values $PROGRAMS/values.c    before it: the program that the script probes; $TMP, an empty
                                            folder, also in ARGS; $PROGRAMS is test/runtime/programs
  // REPEAT: text          `@@@` in the script is this text 1000 times

Every tag must have a case. Last line: `N passed, N failed, N skipped`.
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
import concurrent.futures

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from hosts import one_word
from tally import take_filter

SHOWN_HERE, PROGRAMS = one_word(HERE), one_word(os.path.join(ROOT, "test", "runtime", "programs"))
HEADER = re.compile(r"^// ?([A-Z_]+):(?: (.*))?$")
SAID = re.compile(r"^(\S+:\d+(?::\d+)?-\d+): (ERROR|WARNING): (.*)$")


def read_case(path):
    headers, expected, body = {}, [], []
    for line in open(path).read().split("\n"):
        found = HEADER.match(line) if not body else None
        if not found:
            body.append(line)
        elif found.group(1) == "EXPECT":
            expected.append(SAID.match((found.group(2) or "").replace("$HERE", SHOWN_HERE)).groups())
        else:
            headers.setdefault(found.group(1), []).append(found.group(2) or "")
    return headers, expected, "\n".join(body).rstrip("\n")


def copy_program(acu, folder):
    """By another process: what is written here may be open in a child that is just being started, and then busy."""
    subprocess.run(["cp", acu, folder], check=True)
    return os.path.join(folder, os.path.basename(acu))


def run(acu, path):
    headers, expected, body = read_case(path)
    one = lambda key, default="": headers.get(key, [default])[-1]
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    for setting in headers.get("ENV", []):
        environment[setting.partition("=")[0]] = setting.partition("=")[2]
    if "REPEAT" in headers:
        body = body.replace("@@@", one("REPEAT") * 1000)
    user = headers.get("USER", [None])[-1]
    with tempfile.NamedTemporaryFile(suffix=".bt") as file, tempfile.TemporaryDirectory() as folder:
        expand = lambda text: text.replace("$HERE", SHOWN_HERE).replace("$TMP", folder).replace("$PROGRAMS", PROGRAMS)
        options, arguments = shlex.split(expand(one("OPTIONS"))), shlex.split(expand(one("ARGS")))
        if "BUILD" in headers:
            built = subprocess.run(["/bin/sh", "-c", expand(one("BUILD"))], capture_output=True, text=True)
            if built.returncode != 0:
                return ["BUILD failed:"] + ["  " + line for line in built.stderr.strip().split("\n")[:20]]
        if user:  # who may not see this folder needs the program elsewhere
            os.chmod(folder, 0o755)
            acu = copy_program(acu, folder)
        if "BYTES" in headers:
            file.write(bytes.fromhex(one("BYTES")))
            file.flush()
            script = [file.name]
        elif "PATH" in headers:
            script = [one("PATH")]
        else:
            script = ["-e", body]
        try:
            done = subprocess.run([acu, "run", *options, *script, *arguments], env=environment, capture_output=True,
                                  text=True, errors="replace", timeout=20, stdin=subprocess.DEVNULL, user=user)
        except subprocess.TimeoutExpired:
            return ["timed out"]
    wrong = []
    with_warnings = any(e[1] == "WARNING" for e in expected)
    said = [m.groups() for m in map(SAID.match, done.stderr.split("\n")) if m]
    said = [s for s in said if s[1] == "ERROR" or with_warnings]
    if "EXPECT_STDERR" in headers and not expected:
        said = []
    if len(said) != len(expected) or not all(
            e[0] == s[0] and e[1] == s[1] and re.search(e[2], s[2]) for e, s in zip(expected, said)):
        wrong += ["expected:"] + ["  %s: %s: %s" % e for e in expected]
    for key in ("HINT", "EXPECT_STDERR"):
        for pattern in headers.get(key, []):
            if not re.search(("^HINT: .*" if key == "HINT" else "") + pattern, done.stderr, re.M):
                wrong.append(f"{key} does not match {pattern!r}")
    default = "0" if expected and all(e[1] == "WARNING" for e in expected) else "2"
    if done.returncode != int(one("STATUS", default)):
        wrong.append(f"status {done.returncode}, expected {one('STATUS', default)}")
    if "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
        wrong.append("sanitizer report")
    return wrong and wrong + ["printed:"] + ["  " + line for line in done.stderr.rstrip().split("\n")[:20]]


def untested_tags():
    text = open(os.path.join(ROOT, "src", "spec", "diagnostics.h")).read()
    names = [os.path.basename(p) for p in glob.glob(os.path.join(HERE, "*.bt"))]
    return [tag for tag in re.findall(r"ACU_TAG\((\w+)\)\n", text)
            if tag != "name" and not any(n.startswith(tag + "_") for n in names)]


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    if not os.access(acu, os.X_OK):
        print(f"diagnostics: no program {acu}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    passed = failed = 0
    paths = [p for p in sorted(glob.glob(os.path.join(HERE, "*.bt"))) if only in os.path.basename(p)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, wrong in zip(paths, pool.map(lambda p: run(acu, p), paths)):
            if wrong:
                failed += 1
                print(f"FAILED {os.path.basename(path)}")
                print("\n".join("  " + line for line in wrong))
            else:
                passed += 1
    for tag in untested_tags():
        failed += 1
        print(f"FAILED no case shows the tag {tag}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
