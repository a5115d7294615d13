#!/usr/bin/env python3
"""The interface for assistants and programs: run.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import functools
import json
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from client import Api, Mcp
from tally import SLOWNESS, Skipped, Wrong, need, patient, run_suite, untimed

TMP = tempfile.mkdtemp(prefix="acu-mcp-")
VERBS = ["host", "list_probes", "check_script", "run_script", "flame", "slow", "why", "snap", "core", "sql", "tool"]
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
BUSY = "def spin():\n  n = 0\n  for i in range(100000): n += i * i\n  return n\nimport time\nwhile True:\n  spin(); time.sleep(0.03)"


def path(*names):
    return os.path.join(TMP, *names)


@contextlib.contextmanager
def process(*words):
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3 * SLOWNESS)
        yield child.pid
    finally:
        child.kill()
        child.wait()


def children_of(pid):
    return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def wait_until(condition, what, seconds=20):
    until = time.monotonic() + patient(seconds)
    while not condition():
        need(time.monotonic() < until, what)
        time.sleep(0.02)


def check_schema(value, schema, where):
    """As far as our schemas go."""
    if "type" in schema:
        need(isinstance(value, TYPES[schema["type"]]) and (schema["type"] == "boolean") == isinstance(value, bool), f"{where}: {value!r:.80} is no {schema['type']}")
    for name in schema.get("required", []):
        need(name in value, f"{where}: no {name}")
    for name, part in schema.get("properties", {}).items():
        if name in value:
            check_schema(value[name], part, f"{where}.{name}")


# ------------------------------------------------------------------------------------------------ the protocol


def revisions(acu):
    for asked, answered in (("2024-11-05",) * 2, ("2025-03-26",) * 2, ("2025-06-18",) * 2, ("2025-11-25",) * 2, ("1999-01-01", "2025-11-25")):
        with Mcp(acu, revision=asked) as client:
            hello = client.hello
            need(hello["protocolVersion"] == answered, f"{asked}: {hello}")
            need(hello["serverInfo"]["name"] == "acu" and "tools" in hello["capabilities"] and hello["instructions"], str(hello))
            need(client.request("ping")["result"] == {}, "ping")
            status, _ = client.close()
            need(status == 0, f"exit status {status}")


def schemas(acu):
    with Mcp(acu) as client:
        tools = client.request("tools/list")["result"]["tools"]
        need([t["name"] for t in tools] == VERBS, str([t["name"] for t in tools]))
        for tool in tools:
            for key in ("title", "description", "inputSchema", "outputSchema"):
                need(tool[key], f"{tool['name']} has no {key}")
            need(tool["annotations"]["readOnlyHint"] is True, tool["name"])
            schema = tool["inputSchema"]
            need(schema["type"] == "object" and schema["additionalProperties"] is False and set(schema["required"]) <= set(schema["properties"]), str(schema))
        need("error" in client.request("tools/list", {"cursor": "next"}), "an unknown cursor")
    text = subprocess.run([acu, "mcp", "--list"], capture_output=True, text=True).stdout
    document = open(os.path.join(ROOT, "docs", "mcp.md")).read()
    need(text.strip() in document, "docs/mcp.md lacks what `acu mcp --list` prints: copy it there")


def malformed(acu):
    deep = "[" * 100000 + "]" * 100000
    with Mcp(acu) as client:
        for text, code in ((b"nonsense", -32700), (b"{\"jsonrpc\": \"2.0\"", -32700), (b"\xff\xfe{}", -32700), (deep.encode(), -32600), (b"[]", -32600), (b"17", -32600), (b"{}", -32600),
                           (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600), (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
                           (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600), (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', -32601), (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32602),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}', -32602), (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run"}}', -32602),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}', -32602), (b'{"x": "' + b"y" * (2 << 20) + b'"}', -32600)):
            client.send_bytes(text + b"\n")
            answer = client.receive()
            need(answer and answer.get("error", {}).get("code") == code and answer["error"]["message"], f"{text[:60]}: {answer}")
        for silent in (b"\n", b"  \n", b'{"jsonrpc": "2.0", "method": "notifications/no_such"}\n', b'{"jsonrpc": "2.0", "id": 9, "result": {}}\n',
                       b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4711}}\n', b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}\n'):
            client.send_bytes(silent)
        need(client.request("ping")["result"] == {} and not client.seen, f"answers to what needs none: {client.seen}")


def batches(acu):
    with Mcp(acu, revision="2025-03-26") as client:
        client.send([{"jsonrpc": "2.0", "id": 71, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"},
                     {"jsonrpc": "2.0", "id": 72, "method": "tools/call", "params": {"name": "sql", "arguments": {"query": "select 1 as one"}}}])
        answer = client.receive()
        need(isinstance(answer, list) and sorted(a["id"] for a in answer) == [71, 72], str(answer)[:500])
        client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        need(client.request("ping")["result"] == {} and not client.seen, "an answer to a batch of notifications")
        client.send([])
        need(client.receive()["error"]["code"] == -32600, "an empty batch")


# ------------------------------------------------------------------------------------------------ the verbs


def every_verb(acu):
    core = path("core.1")
    with Mcp(acu, "--audit", path("audit")) as client, process("/usr/bin/python3", "-c", BUSY) as busy:
        if shutil.which("gcore"):
            subprocess.run(["gcore", "-o", path("core"), str(busy)], capture_output=True, timeout=60)
            core = path(f"core.{busy}")
        calls = {
            "host": {}, "list_probes": {"pattern": "tracepoint:sched:sched_s*", "arguments": True}, "check_script": {"script": "begin { exit(); }"},
            "run_script": {"script": "tracepoint:raw_syscalls:sys_enter /pid == %d/ { @calls = count(); }" % busy, "duration": 1},
            "flame": {"pid": busy, "duration": 1, "top": 20}, "slow": {"what": "syscalls", "pid": busy, "min_duration_ms": 20, "count": 2, "duration": 5},
            "why": {"pid": busy, "duration": 4}, "snap": {"pid": busy}, "core": {"file": core}, "sql": {"query": f"select pid, name from processes where pid = {busy}"},
            "tool": {"name": "syscount", "duration": 1},
        }
        need(list(calls) == VERBS, "every verb is called")
        schema = {t["name"]: t["outputSchema"] for t in client.request("tools/list")["result"]["tools"]}
        got = {}
        for name, arguments in calls.items():
            if name == "core" and not os.path.exists(core):
                continue
            got[name] = client.data(name, **arguments)
            check_schema(got[name], schema[name], name)
            need(got[name]["outcome"] == "complete" and got[name]["exit_status"] == 0 and re.search(r"\bacu\b", got[name]["command"]), f"{name}: {json.dumps(got[name])[:600]}")
            need(got[name]["cost"]["wall_ms"] > 0 and got[name]["lost"] >= 0, str(got[name]["cost"]))
        need("kernel" in json.dumps(got["host"]["data"]), str(got["host"])[:300])
        need("sched_switch" in got["list_probes"]["text"] and "prev_pid" in got["list_probes"]["text"], got["list_probes"]["text"][:300])
        need(got["check_script"]["data"] == {"valid": True}, str(got["check_script"]))
        maps = [r["data"]["@calls"] for r in got["run_script"]["rows"] if r["type"] == "map"]
        need(len(maps) == 1 and maps[0] > 0, str(got["run_script"]))
        need("spin" in got["flame"]["text"] and "%" in got["flame"]["text"], got["flame"]["text"])
        calls = [row for row in got["slow"]["rows"] if row["type"] == "slow"]
        need(len(calls) == 2 and all(row["duration_ns"] >= 20_000_000 for row in calls), str(got["slow"])[:500])
        need(got["why"]["data"]["result"] in ("found", "nothing found"), str(got["why"])[:500])
        need("stacks" in got["snap"]["data"], str(got["snap"])[:300])
        need(got["sql"]["rows"] == [{"pid": busy, "name": "python3"}], str(got["sql"]))
        need(got["tool"]["rows"], str(got["tool"]))
        need("execsnoop" in client.data("tool")["text"], "the list of tools")
        need("programs as they start" in client.data("tool", name="execsnoop", help=True)["text"], "help of a tool")
        rows = client.data("snap", pid=busy, script="oneshot { print(1 + 1); }")["rows"]
        need(any(r.get("data") == 2 for r in rows), str(rows))
    lines = [json.loads(line) for line in open(path("audit"))]
    need([line["verb"] for line in lines][:3] == VERBS[:3] and all(line["client"] == "test 1" and line["time"] and line["outcome"] for line in lines), str(lines)[:500])
    need(stat.S_IMODE(os.stat(path("audit")).st_mode) == 0o600, "others can read the audit file")
    if not os.path.exists(core):
        return "gcore is not installed: no core dump was read"


def audit_that_cannot_be_written(acu):
    """The disk is full: that is printed once, and calls are answered."""
    with Mcp(acu, "--audit", "/dev/full") as client:
        for _ in range(3):
            client.data("check_script", script="begin { exit(); }")
        status, said = client.close()
    need(status == 0 and said.count("acu mcp: cannot write the audit file `/dev/full`: No space left on device") == 1, f"{status}: {said}")


def wrong_arguments(acu):
    with Mcp(acu) as client:
        for name, arguments, why in (
                ("run_script", {}, "needs the argument `script`"), ("run_script", {"script": 5}, "text expected, not a number"), ("run_script", {"script": ""}, "empty"),
                ("run_script", {"script": "begin {}" + " " * (70 << 10)}, "at most 65536"), ("run_script", {"script": "begin {}", "duration": -1}, "from 0.1"),
                ("run_script", {"script": "begin {}", "duration": 1e9}, "from 0.1 to 300"), ("run_script", {"script": "begin {}", "pid": 1.5}, "an integer"),
                ("run_script", {"script": "begin {}", "duratoin": 1}, "did you mean `duration`"), ("run_script", {"script": "begin {}", "arguments": "x"}, "a list"),
                ("run_script", {"script": "begin {}", "arguments": ["--unsafe"]}, "begins with `-`"), ("run_script", {"script": "begin {}\0"}, "zero byte"),
                ("list_probes", {"pattern": "--for=/etc/passwd"}, "begins with `-`"), ("sql", {"query": "-o x.db"}, "begins with `-`"), ("flame", {"kind": "cpus"}, "did you mean `cpu`"),
                ("why", {"question": "fast"}, "one of slow|growing|stuck|failing"), ("tool", {"name": "record"}, "there is no tool"), ("tool", {"name": "../../etc/x"}, "there is no tool"),
                ("tool", {"name": "py-stacks"}, "needs `core` or `pid`"), ("snap", {"pid": 0}, "from 1"), ("snap", {"pid": 1, "view": "heap", "script": "oneshot {}"}, "exclude each other"),
                ("host", {"max_output": 1}, "from 1024"), ("core", {"file": "/no/such"}, "/no/such"), ("sql", {"query": "select nothing"}, "nothing"), ("sql", {"query": "drop table files"}, ""),
                ("sql", {"query": f"attach '{path('written.db')}' as x"}, "")):
            result = client.call(name, **arguments)
            need(result["isError"] and why in result["content"][0]["text"], f"{name} {str(arguments)[:80]}: {json.dumps(result)[:500]}")
        answer = client.request("tools/call", {"name": "sql", "arguments": [1]})
        need(answer["result"]["isError"] and "an object" in answer["result"]["content"][0]["text"], str(answer))
        need(not os.path.exists(path("written.db")), "a file was written")


def refused_scripts(acu):
    folder = path("refused")
    os.makedirs(folder)
    with Mcp(acu, cwd=folder) as client:
        for script, why in (('begin { system("touch harm"); }', "--unsafe"), ('tracepoint:syscalls:sys_enter_getpid { signal("KILL"); }', "--unsafe"),
                            ("profile:hz:99 { @[kstack] = count(); } interval:ms:200 { flame(@, \"CPU\"); exit(); }", "--read-only"),
                            ('rawtracepoint:net_dev_queue { @ = skboutput("harm.pcap", args.skb, 64, 14); }', "--read-only"), ('begin { debugf("harm"); }', "--read-only"),
                            ("begin { no_such(); }", "no_such"), ("tracepoint:no:such {}", "no"), ("}{", "1:1")):
            for verb in ("check_script", "run_script"):
                result = client.call(verb, script=script)
                text = json.dumps(result)
                need(why in text, f"{verb} {script}: {text[:500]}")
                if verb == "run_script":
                    need(result["isError"] and result["structuredContent"]["exit_status"] != 0, text[:300])
                else:
                    need(result["structuredContent"].get("data") == {"valid": False}, text[:300])
        rows = client.call("snap", pid=os.getpid(), script='oneshot { system("touch harm"); }')
        need(rows["isError"] and "--unsafe" in json.dumps(rows), str(rows)[:300])
    need(os.listdir(folder) == [], f"files were written: {os.listdir(folder)}")


# ------------------------------------------------------------------------------------------------ limits


def limits(acu):
    with Mcp(acu) as client:
        begin = time.monotonic()
        out = client.data("run_script", script='interval:us:100 { printf("%s\\n", "' + "x" * 200 + '"); }', duration=30, max_output=20000, max_cost=50)
        need(out["outcome"] == "output limit" and out["truncated"] and len(json.dumps(out)) < 60000, f"{out['outcome']} {len(json.dumps(out))}")
        need(time.monotonic() - begin < patient(15), "the measurement went on after its output was full")
        out = client.data("run_script", script="interval:ms:10 { @ = count(); }", duration=60, time_limit=1.5)
        need(out["outcome"] == "time limit" and 1400 < out["cost"]["wall_ms"] < 10000 * SLOWNESS, str(out))
        need(any(r["type"] == "map" for r in out["rows"]), f"what there was is not returned: {out}")
        with process("dd", "if=/dev/zero", "of=/dev/null", "bs=1"):
            out = client.data("run_script", script="rawtracepoint:sys_enter { @[nsecs % 1000000, kstack] = count(); }", duration=60, max_cost=0.5)
        need(out["outcome"] == "cost limit" and out["cost"]["wall_ms"] < 30000 * SLOWNESS, str(out)[:500])
        out = client.call("sql", query="with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", time_limit=1)["structuredContent"]
        need(out["outcome"] == "time limit" or "stopped after" in " ".join(out["notes"]), str(out))
        need(children_of(client.process.pid) == [], "children are left")
    with Mcp(acu, "--max-duration", "1s", "--max-cost", "3", "--verbs", "host,run_script") as client:
        need([t["name"] for t in client.request("tools/list")["result"]["tools"]] == ["host", "run_script"], "--verbs")
        need("error" in client.request("tools/call", {"name": "sql", "arguments": {"query": "select 1"}}), "a verb that is not offered")
        need("from 0.1 to 1" in client.call("run_script", script="begin {}", duration=2)["content"][0]["text"], "--max-duration")
        need("from 0.1 to 3" in client.call("run_script", script="begin {}", max_cost=4)["content"][0]["text"], "--max-cost")


def cancelled(acu):
    with Mcp(acu) as client:
        identity = client.start("tools/call", {"name": "run_script", "arguments": {"script": "interval:ms:10 { @ = count(); }", "duration": 200}, "_meta": {"progressToken": "p"}})
        progress = client.receive()
        need(progress["method"] == "notifications/progress" and progress["params"]["progressToken"] == "p" and progress["params"]["total"] == 200, str(progress))
        (child,) = children_of(client.process.pid)
        status = open(f"/proc/{child}/status").read()
        need(re.search(r"^NoNewPrivs:\s+1$", status, re.M), "the child could gain privileges")
        need(os.getpgid(child) == child, "the child is in the group of the server")
        double = client.start("tools/call", {"name": "host"})
        need(double in (client.wait_for(double)["id"],), "another call meanwhile")
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identity, "reason": "test"}})
        wait_until(lambda: not children_of(client.process.pid), "the measurement goes on")
        need(client.request("ping")["result"] == {}, "ping")
        need(all(m.get("id") != identity for m in client.seen), f"a cancelled call was answered: {client.seen}")


def disconnected(acu):
    """A measurement ends with its client, and with the server."""
    with Mcp(acu) as client:
        client.start("tools/call", {"name": "run_script", "arguments": {"script": "interval:s:1 { @ = count(); }", "duration": 200}})
        wait_until(lambda: children_of(client.process.pid), "no child")
        client.process.stdout.close()
        client.process.stdin.close()
        client.process.wait(patient(20))
    with Mcp(acu) as client:
        client.start("tools/call", {"name": "run_script", "arguments": {"script": "interval:s:1 { @ = count(); }", "duration": 200}})
        wait_until(lambda: children_of(client.process.pid), "no child")
        (child,) = children_of(client.process.pid)
        client.process.kill()
        client.process.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{child}") or open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()[0] == "Z", "a child outlives the server")
    done = subprocess.run([acu, "mcp"], input='{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql", "arguments": {"query": "select 6 * 7 as n"}}}', capture_output=True, text=True, timeout=patient(30))
    need(done.returncode == 0 and '"rows": [{"n": 42}]' in done.stdout, f"the input of a pipe: {done}")


def without_privileges(acu):
    copy = path("acu")
    shutil.copy(acu, copy)
    os.chmod(TMP, 0o755)
    with Mcp(copy, user=65534, group=65534, extra_groups=[], cwd="/") as client:
        result = client.call("run_script", script="tracepoint:raw_syscalls:sys_enter { @ = count(); }", duration=1)
        need(result["isError"] and result["structuredContent"]["exit_status"] == 4, json.dumps(result)[:500])
        need(client.data("sql", query="select 1 as one")["rows"] == [{"one": 1}], "what needs no privileges")


# ------------------------------------------------------------------------------------------------ random calls


def some_value(dice):
    return dice.choice([None, True, False, 0, -1, 1, 1.5, 1e300, "", "x", "-x", "--unsafe", "é\u0000", "x" * dice.choice([10, 5000]), [], ["-a"], ["a", 1], {}, {"a": [1]}, [[[]]]])


def some_call(dice):
    """A valid one that is cheap, one with arguments that are mixed up, or a message that is none."""
    kind = dice.random()
    if kind < 0.35:
        return "tools/call", dice.choice([{"name": "sql", "arguments": {"query": f"select {dice.randrange(99)} as n"}}, {"name": "tool", "arguments": {"name": "execsnoop", "help": True}}, {"name": "tool"},
                                          {"name": "list_probes", "arguments": {"pattern": "tracepoint:sched:sched_w*"}}, {"name": "check_script", "arguments": {"script": dice.choice(["begin { }", "{", "begin { x }"])}},
                                          {"name": "core", "arguments": {"file": "/proc/self/exe"}}])
    if kind < 0.85:
        names = ["script", "pid", "duration", "what", "query", "name", "arguments", "options", "file", "view", "kind", "top", "time_limit", "max_cost", "max_output", "pattern", "bogus"]
        arguments = {name: some_value(dice) for name in dice.sample(names, dice.randrange(4))}
        if "script" in arguments or "what" in arguments:
            arguments["duration"] = 0.1  # what is valid by chance is short
        verb = dice.choice([v for v in VERBS if v not in ("why", "flame", "slow")])
        return "tools/call", {"name": dice.choice([verb] * 9 + [some_value(dice)]), "arguments": dice.choice([arguments] * 9 + [some_value(dice)])}
    return dice.choice(["ping", "tools/list", "tools/call", "initialize", "resources/list", "", "x" * 300]), dice.choice([{}, None, {"name": 1}, {"protocolVersion": 5}])


def a_thousand_calls(acu):
    """Each has exactly one answer; the server lives, holds its limits, and leaves nothing behind."""
    dice = random.Random(4711)
    with Mcp(acu, "--audit", path("random-audit"), "--max-duration", "1s", cwd=path()) as client:
        uid = re.search(r"^Uid:.*$", open(f"/proc/{client.process.pid}/status").read(), re.M).group()
        open_requests, answered = set(), 0
        for number in range(1000):
            method, params = some_call(dice)
            if isinstance(params, dict) and params.get("name") in ("snap", "tool", "host") and isinstance(params.get("arguments"), dict):
                params["arguments"].pop("pid", None)
            open_requests.add(client.start(method, params))
            while len(open_requests) > 40 or (number == 999 and open_requests):
                answer = client.receive(60)
                need(answer is not None, f"no answer; {len(open_requests)} requests are open")
                need("id" in answer and answer["id"] in open_requests and ("result" in answer) != ("error" in answer), f"{json.dumps(answer)[:300]}")
                need(len(json.dumps(answer)) < 2 << 20, "a result beyond the limit")
                open_requests.remove(answer["id"])
                answered += 1
        need(answered == 1000, f"{answered} answers")
        need(re.search(r"^Uid:.*$", open(f"/proc/{client.process.pid}/status").read(), re.M).group() == uid, "another user ID")
        wait_until(lambda: children_of(client.process.pid) == [], "children are left")
        need(client.close()[0] == 0, "the exit status")
    need([name for name in os.listdir(TMP) if name.startswith("acu-")] == [], "temporary folders are left")
    for line in open(path("random-audit")):
        json.loads(line)


# ------------------------------------------------------------------------------------------------ the socket


@contextlib.contextmanager
def api(acu, name, *options, **more):
    server = subprocess.Popen([acu, "api", *options, path(name)], stderr=subprocess.PIPE, text=True, **more)
    try:
        need("serving" in server.stderr.readline(), "does not serve")
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(patient(20))
        server.stderr.close()


def socket_clients(acu):
    with api(acu, "api.sock", "--audit", path("api-audit")) as server:
        mode = os.stat(path("api.sock")).st_mode
        need(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode))
        one, two = Api(path("api.sock")), Api(path("api.sock"))
        need([v["name"] for v in one.request("verbs")["result"]] == VERBS, "verbs")
        slow = one.start("run_script", {"script": "interval:ms:10 { @ = count(); }", "duration": 100})
        need(two.request("sql", {"query": "select 1 as one"})["result"]["rows"] == [{"one": 1}], "the second client")
        need(one.request("cancel", {"id": slow})["result"]["cancelled"], "cancel")
        need(one.wait_for(slow)["error"]["code"] == -32800, "the answer to a cancelled call")
        need(not two.request("cancel", {"id": slow})["result"]["cancelled"], "a client cancels another's call")
        need(two.request("no_such", {})["error"]["code"] == -32601 and two.request("sql", {})["error"]["code"] == -32602, "mistakes")
        one.start("run_script", {"script": "interval:s:1 { @ = count(); }", "duration": 100})
        wait_until(lambda: children_of(server.pid), "no child")
        one.close()
        wait_until(lambda: not children_of(server.pid), "the call of a client that has gone goes on")
        os.chmod(TMP, 0o755)
        denied = subprocess.run(["/usr/bin/python3", "-c", f"import socket; socket.socket(socket.AF_UNIX).connect({path('api.sock')!r})"], user=65534, group=65534, capture_output=True, text=True)
        need("PermissionError" in denied.stderr, "another user can connect")
        second = subprocess.run([acu, "api", path("api.sock")], capture_output=True, text=True, timeout=patient(20))
        need(second.returncode == 1 and "is served by another process" in second.stderr, str(second))
        for _ in range(40):  # more than are served at once
            Api(path("api.sock")).close()
        need(two.request("ping")["result"] == {}, "ping")
    need(not os.path.exists(path("api.sock")), "the socket is left")
    need(any(f"pid {os.getpid()}" in json.loads(line)["client"] for line in open(path("api-audit"))), "the audit does not name the client")
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path("stale.sock"))
    stale.close()
    with api(acu, "stale.sock"):
        Api(path("stale.sock")).request("ping")
    open(path("file"), "w").close()
    done = subprocess.run([acu, "api", path("file")], capture_output=True, text=True, timeout=patient(20))
    need(done.returncode == 2 and "is no socket" in done.stderr, str(done))


# ------------------------------------------------------------------------------------------------ other people's clients


@functools.cache
def fetched():
    """The folder with the protocol's clients for Node, and why it is not there. The Inspector's command line is of its first version: the second needs Node 22."""
    folder = path("clients")
    os.makedirs(folder)
    if not shutil.which("npm") or not shutil.which("node"):
        return folder, "npm is not installed"
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "@modelcontextprotocol/sdk@1", "@modelcontextprotocol/inspector-cli@1.0.3"]
    try:
        with untimed():
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=patient(180))
    except subprocess.TimeoutExpired:
        return folder, "the protocol's clients could not be fetched with npm within 180 s"
    return folder, "the protocol's clients could not be fetched with npm" if done.returncode else ""


def clients_folder():
    folder, lacks = fetched()
    if lacks:
        raise Skipped(lacks)
    return folder


def official_sdk(acu):
    """The protocol's own client lists and calls every verb, and checks results by their schemas."""
    folder = clients_folder()
    shutil.copy(os.path.join(HERE, "sdk.mjs"), folder)
    with process("/usr/bin/python3", "-c", BUSY) as busy:
        core = path(f"sdk-core.{busy}")
        if shutil.which("gcore"):
            subprocess.run(["gcore", "-o", path("sdk-core"), str(busy)], capture_output=True, timeout=60)
        done = subprocess.run(["node", "sdk.mjs", acu, str(busy), core if os.path.exists(core) else ""], cwd=folder, capture_output=True, text=True, timeout=patient(100))
    need(done.returncode == 0 and f"{len(VERBS)} tools" in done.stdout, f"{done.stdout[-800:]}{done.stderr[-1500:]}")


def inspect(server, method, tool=None, options=(), **arguments):
    """What the Inspector prints of a request to a server that it starts: (what is answered, nothing) or (None, its message)."""
    # It looks for its own package.json in the folder above the current one.
    folder = os.path.join(clients_folder(), "node_modules")
    words = [os.path.join(folder, ".bin", "mcp-inspector-cli"), "--cli", *server, "--method", method, *options, *(["--tool-name", tool] if tool else [])]
    for name, value in arguments.items():
        words += ["--tool-arg", f"{name}={value}"]
    child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, said = child.communicate(timeout=patient(40))
    except subprocess.TimeoutExpired:
        raise Wrong(f"the Inspector waits for an answer to {method} {tool or ''}")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)  # also the second Node that it starts; the server ends with its input
            child.wait()
    need(child.returncode in (0, 1), f"{words}: status {child.returncode}: {said[-600:]}")
    return (json.loads(out), "") if child.returncode == 0 else (None, said)


def inspector(acu):
    """The Inspector's command line: each request has a server of its own, and is preceded by `initialize` and, if it is a call, by `tools/list`. It compares
    what is answered with the protocol's schemas, and structured results with the verb's."""
    server = [acu, "mcp", "--audit", path("inspector-audit")]
    with Mcp(acu) as client:
        tools = client.request("tools/list")["result"]
        need(set(client.hello["capabilities"]) == {"tools"}, f"what is offered, and has no test here: {client.hello['capabilities']}")
    found, said = inspect(server, "tools/list")
    need(found == tools, f"the list that the Inspector understood differs from the one that is sent: {json.dumps(found)[:600]} {said}")
    for tool, arguments, is_right in (
            ("sql", {"query": f"select pid from processes where pid = {os.getpid()}"}, lambda out: out["rows"] == [{"pid": os.getpid()}]),
            ("run_script", {"script": "interval:ms:20 { @ticks = count(); }", "duration": 0.5}, lambda out: any(row["type"] == "map" and row["data"]["@ticks"] > 0 for row in out["rows"])),
            ("list_probes", {"pattern": "tracepoint:sched:sched_s*", "arguments": "true"}, lambda out: "prev_pid" in out["text"])):
        found, said = inspect(server, "tools/call", tool, **arguments)
        need(found and not found["isError"] and is_right(found["structuredContent"]), f"{tool}: {json.dumps(found)[:600]} {said}")
        if "text" not in found["structuredContent"]:
            need(json.loads(found["content"][0]["text"]) == found["structuredContent"], f"{tool}: the text differs from the structured result")
    for tool, arguments, why in (("sql", {}, "needs the argument `query`"), ("sql", {"quer": "select 1"}, "did you mean `query`"), ("run_script", {"script": 5}, "text expected, not a number"),
                                 ("sql", {"query": "select nothing"}, "nothing")):
        found, said = inspect(server, "tools/call", tool, **arguments)
        need(found and found["isError"] and why in found["content"][0]["text"], f"{tool} {arguments}: {json.dumps(found)[:600]} {said}")
    for method, options, code in (("tools/call", ["--tool-name", "no_such"], -32602), ("resources/list", [], -32601), ("prompts/list", [], -32601)):
        found, said = inspect(server, method, options=options)
        need(found is None and f"MCP error {code}: " in said, f"{method}: {found} {said}")
    clients = {json.loads(line)["client"] for line in open(path("inspector-audit"))}
    need(clients == {"inspector-cli 1.0.3"}, f"the client that `initialize` named: {clients}")


TESTS = [revisions, schemas, malformed, batches, every_verb, audit_that_cannot_be_written, wrong_arguments, refused_scripts, limits, cancelled, disconnected, without_privileges, a_thousand_calls, socket_clients, official_sdk, inspector]

sys.exit(run_suite(TESTS, TMP, limit=300))  # a request of the Inspector starts Node twice
