"""What tools print with `-f json` has the form that `acu NAME --schema` states, judged by another program's validator."""
import copy
import json
import os
import subprocess

from common import ROOT, SLOWNESS, TMP, need
from tally import Skipped

# Files, processes, threads, signals, sockets, locks and memory; twice, for tools that print each second.
LOAD = """\
import mmap, os, signal, socket, subprocess, sys, threading, time
def once(folder):
  path = os.path.join(folder, "file")
  with open(path, "w") as out:
    out.write("needle" * 1000)
    out.flush()
    os.fsync(out.fileno())
  os.chmod(path, 0o600)
  os.stat(path)
  os.listdir(folder)
  try: open("/no/such/file")
  except OSError: pass
  os.unlink(path)
  subprocess.run(["/bin/true"])
  with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    other, _ = server.accept()
    client.sendall(b"GET /needle HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    other.recv(100)
    other.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
    client.recv(100)
    other.close()
  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.sendto(b"needle", ("127.0.0.1", 9))
  signal.signal(signal.SIGUSR1, lambda *_: None)
  os.kill(os.getpid(), signal.SIGUSR1)
  lock = threading.Lock()
  def hold():
    with lock: time.sleep(0.02)
  threads = [threading.Thread(target=hold) for _ in range(3)]
  for t in threads: t.start()
  for t in threads: t.join()
  memory = mmap.mmap(-1, 1 << 20)
  memory[:] = bytes(1 << 20)
end = time.monotonic() + 1.2
while time.monotonic() < end:
  once(sys.argv[1])
"""

# Tools that this load is for, with their arguments; each prints a map, or more than the headings.
CASES = [(name, []) for name in (
    "syscount", "errinfo", "syslat", "rwsizes", "opensnoop", "execsnoop", "exitsnoop", "pidpersec", "statsnoop", "vfsstat", "filetop", "filegone", "filelife", "rwbytype", "pagefaults",
    "cpudist", "runqlat", "offcputime", "wakeuptime", "futexlat", "softirqs", "tcpconnect", "tcplife", "tcptop", "http-requests", "http-calls", "signals", "threadsnoop",
    "shortlived", "outbound")] + [("funccount", ["uprobe:libc:mem*"])]


def validators():
    try:
        import jsonschema
    except ImportError:
        raise Skipped("no jsonschema of Python here (package python3-jsonschema)") from None
    return jsonschema.Draft202012Validator


def schema(acu, name):
    done = subprocess.run([acu, name, "--schema"], capture_output=True, text=True, timeout=30 * SLOWNESS)
    need(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def run(acu, name, arguments):
    folder = os.path.join(TMP, "schemas")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(TMP, "schemas.py")
    with open(script, "w") as out:
        out.write(LOAD)
    done = subprocess.run([acu, name, "-q", "-f", "json", "-c", f"/usr/bin/python3 {script} {folder}", *arguments], capture_output=True, text=True, errors="replace",
                          timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"{name}: status {done.returncode}: {done.stderr[:500]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def mistakes(validator, name, records):
    """What is wrong with them, or too little to judge: no map, and no line but the headings."""
    out = [f"{name}: {json.dumps(r)[:300]}: {[e.message[:200] for e in validator.iter_errors(r)]}" for r in records if not validator.is_valid(r)][:1]
    return out or ([f"{name}: nothing but the headings"] if len(records) < 2 and all(r["type"] == "printf" for r in records) else [])


def broken(record):
    """Forms of a record that no schema may accept."""
    if record["type"] == "printf":
        yield {"type": "printf", "data": 7}
        yield {"type": "printf"}
        yield {**record, "type": "nothing"}
    if record["type"] in ("map", "stats", "hist"):
        (name, value), = record["data"].items()
        yield {"type": record["type"], "data": {name + "_x": value}}
        yield {"type": record["type"], "data": {name: [[]]}}
        if isinstance(value, dict) and value:
            other = copy.deepcopy(record)
            other["data"][name][next(iter(value))] = {"needle": 1}
            yield other


def tool_schemas(acu):
    make = validators()
    wrong, accepted, kinds = [], [], set()
    for name, arguments in CASES:
        validator = make(schema(acu, name))
        records = run(acu, name, arguments)
        kinds |= {r["type"] for r in records}
        wrong += mistakes(validator, name, records)
        accepted += [f"{name}: {json.dumps(bad)[:200]}" for r in records for bad in broken(r) if validator.is_valid(bad)][:1]
    need(not wrong, "\n".join(wrong))
    need(not accepted, "accepted:\n" + "\n".join(accepted))
    need(kinds >= {"printf", "map", "hist", "stats"}, str(kinds))


def all_schemas(acu):
    """Each is a valid schema, with a type for each map."""
    make = validators()
    names = [n[:-3] for folder in ("tools", "tools/static") for n in os.listdir(os.path.join(ROOT, folder)) if n.endswith(".bt") and n != "libstdcxx.bt"]
    for name in names:
        found = schema(acu, name)
        make.check_schema(found)
        for line in found["oneOf"]:
            for of_map, value in line["properties"]["data"].get("properties", {}).items() if isinstance(line["properties"]["data"], dict) else ():
                need(value is not True and value.get("additionalProperties") is not True, f"{name}: the header's sample shows no value of {of_map}")


TESTS = [tool_schemas, all_schemas]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
