"""What the page of flame graphs and the picture do, in a browser without a screen. run.py gives the tools and runs the cases.

Recordings are written as a test needs them (recording_file.py); scripts that click in the page are in page/.
"""
import json
import os
import re
import xml.dom.minidom

from recording_file import Recording
from tally import need

KERNEL = "[kernel]"
tools = None  # run.py: acu(), path(), report(), look_into()


def use(given):
    global tools
    tools = given
    return CASES


def page_of(recording, name, ending="html"):
    file, out = recording.write(tools.path(name + ".acu")), tools.path(name + "." + ending)
    tools.acu("report", file, "-o", out)
    return out


def look(page, script, **more):
    return tools.look_into(page, os.path.join("page", script), **more)


def frames(*names, module="/usr/bin/server"):
    return [(name, module, "user") for name in names]


def server():
    """Two processes, ten slices of a second; the kernel's code below read()."""
    out = Recording(slice_ns=1_000_000_000)
    for number in range(10):
        for pid, process, weight in ((10, "worker", 5), (20, "keeper", 2)):
            for tid in range(pid, pid + 3):
                thread = (pid, tid, process, process)
                out.add(thread, frames("main", "parse", "read") + [("do_read", KERNEL, "kernel")], weight, number)
                out.add(thread, frames("main", "parse"), 2, number)
                out.add(thread, frames("main", "other"), number, number)
    return out


def choices_are_in_the_address():
    """Back and forward take choices back; the address of one page opens another as it was, also from a file."""
    page = page_of(server(), "address")
    seen = look(page, "address_test.js")
    need(seen["zoomed"] == ["parse", True], str(seen))
    need(seen["zoomAfterKind"] == "all", str(seen))
    need(seen["back"][0] == ["all", "read", "parse"] and seen["back"][1][1:] == ["", "parse"] and seen["back"][2][2] == "all", str(seen["back"]))
    need(seen["forward"] == "parse", str(seen))
    shown = look(page, "shown_test.js", fragment=seen["hash"])
    need(shown["focus"] == "parse" and shown["search"] == "read" and shown["kind"] == "user" and shown["who"].startswith("worker"), f"{shown} of {seen['hash']}")
    need(shown["told"].startswith("From 2 s until 4 s") and shown["found"].startswith("matched "), str(shown))
    want = 2 * 3 * (5 + 2) + 3 * (2 + 3)  # of three threads in two slices
    need(shown["total"] == seen["total"] == want, f"{shown['total']}, {seen['total']} and not {want}")


def damaged_addresses_show_the_page():
    page = page_of(server(), "address")
    whole = look(page, "shown_test.js")
    for fragment in ("#%%%", "#zoom=zz.zz.-1.NaN&time=9-2&kind=&view=none&group=x", "#time=900-901&search=%5B(&who=nobody%20here&function=none"):
        seen = look(page, "shown_test.js", fragment=fragment)
        need(seen["focus"] == "all" and (seen["nodes"] == whole["nodes"] or "who" in fragment), f"{fragment}: {seen}")


def recursive():
    """eval and apply call each other; only one of two stacks begins at main."""
    out = Recording()
    thread = (1, 1, "lisp", "lisp")
    out.add(thread, frames("main", "eval", "apply", "eval", "apply", "leaf"), 60)
    out.add(thread, frames("main", "eval", "leaf"), 20)
    out.add(thread, frames("start", "apply", "eval"), 10)
    out.add(thread, frames("main", "idle"), 10)
    return out


def table_and_sandwich():
    """Sorted by each column; callers and callees of a function count each stack once, however often it calls itself."""
    seen = look(page_of(recursive(), "recursive"), "table_test.js")
    need(seen["beside"], "the table is not beside the graph")
    need(seen["self"][:3] == ["leaf", "eval", "idle"] and seen["total"][:2] == ["eval", "main"], str(seen))
    need(seen["name"] == sorted(seen["name"]) and len(seen["name"]) == 6, str(seen["name"]))
    need([seen[c + "Sort"] for c in ("self", "total", "name")] == ["self", "total", "name"], str(seen))
    need(seen["figures"]["eval"] == ["10.0%", "90.0%"] and seen["figures"]["apply"] == ["–", "70.0%"], str(seen["figures"]))
    need(seen["narrowed"] == ["eval"], str(seen["narrowed"]))
    need("total 90.00%" in seen["chosen"] and "self 10.00%" in seen["chosen"], seen["chosen"])
    need(seen["callers"] == [[["eval", 90]], [["apply", 10], ["main", 80]], [["start", 10]]], str(seen["callers"]))
    need(seen["callees"] == [[["eval", 90]], [["apply", 60], ["leaf", 20]], [["eval", 60]], [["apply", 60]], [["leaf", 60]]], str(seen["callees"]))
    need(seen["above"] and seen["below"] and seen["isGraphGone"] and seen["next"] == "apply" and seen["back"] == "eval", str(seen))


def many_looks():
    out = Recording(lost=50, notes=["7 samples were taken on Mars"])
    for i in range(40):
        thread = (5, 100 + i, "server", "pool")
        out.add(thread, [("app::run()", "/bin/app", "user")] + frames(*[f"chain{n}" for n in range(1, 6)], module="/bin/app"), 10)
        out.add(thread, [("app::run()", "/bin/app", "user"), ("main.serve", "/bin/go", "user"), ("core::iter::next", "/bin/rust", "user"),
                         ("do_read", KERNEL, "kernel")], 15)
    out.add(thread, [("[code without unwind tables]", "", "note"), ("app::deep()", "/bin/app", "user")], 250)
    return out


def page_opens_with_what_is_missing():
    """Title and warnings are in sight; chains fold and unfold; colours by kind, module and language; threads merged."""
    seen = look(page_of(many_looks(), "looks"), "look_test.js")
    need(seen["scrolled"] == 0 and seen["titleInSight"], str(seen))
    need(len(seen["warnings"]) == 2 and "80.0% of stacks are complete" in seen["warnings"][0] and seen["warnings"][1].startswith("50 samples lost"), str(seen["warnings"]))
    need(seen["notes"] == ["7 samples were taken on Mars"], str(seen["notes"]))
    need(seen["folded"] == ["chain5", 4, False], str(seen["folded"]))
    need(seen["unfolded"] == [f"chain{n}" for n in range(1, 6)] and seen["noneFolded"] == 0 and seen["foldedAgain"] == 1, str(seen))
    by_kind, by_module, by_language = seen["hues"]
    need(max(by_kind) - min(by_kind) < 25, f"one kind has hues {by_kind}")
    for hues in (by_module, by_language):
        need(min(abs(a - b) for a, b in zip(sorted(hues), sorted(hues)[1:])) > 25, str(seen["hues"]))
    need("kernel" in seen["language"]["legend"] and "app" in seen["module"]["legend"], str(seen))
    need(seen["contrast"] >= 4.5, f"contrast {seen['contrast']:.2f}")
    need(not seen["unnamed"], str(seen["unnamed"]))
    need(sorted((seen["apart"], seen["merged"])) == [1, 40] and seen["apart"] == 1, f"merged at first {seen['apart']}, then {seen['merged']}")


def thousand_lanes():
    """Pages of lanes and a search; what was read late is hatched over its real time, and chosen as a whole."""
    out = Recording(slice_ns=1_000_000_000, duration_ns=10_000_000_000)
    for i in range(1000):
        for number, weight in ((1, 1), (3, 3), (7, 1)):
            out.add((7, 1000 + i, "server", f"worker-{i:04}"), frames("main"), weight, number)
    out.spans[3] = 3
    seen = look(page_of(out, "lanes"), "lanes_test.js")
    need(len(seen["first"]) == 11 and seen["page"] == "1–10 of 1,000" and not set(seen["first"][1:]) & set(seen["second"]), str(seen)[:600])
    need(len(seen["found"]) == 2 and seen["found"][1].startswith("worker-0777") and seen["foundPage"] == "1–1 of 1", str(seen["found"]))
    need(seen["none"] == [["all"], "none match"], str(seen["none"]))
    need(seen["hatched"] == [False, True, True, True, False], str(seen["hatched"]))
    need(abs(seen["even"][0] - seen["even"][1]) <= 40 and "1 slice read late, together over 3.00 s" in seen["late"], str(seen)[-600:])
    need(seen["told"].startswith("From 3 s until 6 s: 3,000 samples"), seen["told"])
    need(tools.report(tools.path("lanes.acu"), "--from", "4", "--until", "5")["total"] == 3000, "`acu report` of that time has other samples")


def page_on_a_phone():
    seen = look(page_of(server(), "phone"), "phone_test.js", width=420)
    need(seen["width"] == 420, str(seen["width"]))
    need(all(seen["fits"].values()), str(seen["fits"]))
    need(seen["isRootOnTop"] and seen["row"] >= 24 and seen["zoomed"] == seen["chosen"] == "parse" and seen["tip"], str(seen))
    need([seen["table"], seen["sandwich"], seen["graph"]] == [["tablePane"], ["sandwich"], ["graphPane"]], str(seen))
    need(not seen["small"], str(seen["small"]))


def large_recordings_are_drawn_as_seen():
    """100,000 different stacks: a few thousand boxes, and the sums of all."""
    out = Recording(period_ns=1_001_001)
    for i in range(100_000):
        out.add((1, 1 + i % 8, "server", f"worker{i % 8}"), frames("main", f"a{i % 7}", f"b{i % 101}", f"c{i % 1009}", f"d{i % 9973}", f"e{i}"), 1)
    seen = look(page_of(out, "large"), "large_test.js")
    need(seen["total"] == 100_000 and seen["nodes"] > 300_000, str(seen))
    need(seen["boxes"] < 20_000 and seen["rows"] <= 150 and seen["functions"] > 100_000 and seen["painted"], str(seen))


def picture_zooms():
    """In a browser the picture has zoom and search; without a script it is the whole picture."""
    out = server()
    out.add((10, 10, "worker", "worker"), frames("größe_" * 30 + "\x07"), 3)
    picture = page_of(out, "zoom", "svg")
    parsed = xml.dom.minidom.parse(picture)
    texts = [t.firstChild.data for t in parsed.getElementsByTagName("text")]
    need("parse" in texts and not parsed.getElementsByTagName("foreignObject"), "the static picture has controls that do nothing")
    need(any(t.startswith("größe_") and t.endswith("..") for t in texts) or any("größe" in t.firstChild.data for t in parsed.getElementsByTagName("title")), "no name that is not ASCII")
    seen = look(picture, "picture_test.js")
    need(seen["before"] < 0.6 and seen["zoomed"] > 0.99 and seen["hidden"] == "none" and seen["text"] == "parse", str(seen))
    need(seen["isResetSeen"] and abs(seen["reset"] - seen["before"]) < 0.001, str(seen))
    need(re.fullmatch(r"matched \d+\.\d%", seen["found"]) and seen["isMarked"] and seen["cleared"] == ["", True], str(seen))


def interpreted():
    """A recursive function of a language, on an interpreter whose functions are also called without it."""
    out = Recording()
    thread = (1, 1, "app", "app")
    main, evaluate, call = ("main", "/usr/bin/app", "user"), ("eval", "/usr/bin/app", "interpreter"), ("call", "/usr/bin/app", "interpreter")
    walk, own = ("walk", "/srv/page.py", "python"), ("call", "/usr/bin/app", "user")
    out.add(thread, [main, evaluate, walk, call, evaluate, walk, own], 60)
    out.add(thread, [main, evaluate, walk], 30)
    out.add(thread, [main], 10)
    return out


def layers_of_an_interpreter():
    """Functions of the language, of its interpreter, or both, as chosen; figures of the table are those of what is shown."""
    page = page_of(interpreted(), "layers")
    seen = look(page, "layers_test.js")
    need(seen["isThere"], str(seen))
    need(seen["language"] == {"names": ["call", "main", "walk"], "depth": 4, "walk": ["30.0%", "90.0%"], "call": ["60.0%", "60.0%"]}, str(seen["language"]))
    need(seen["both"] == {"names": ["call", "eval", "main", "walk"], "depth": 7, "walk": ["30.0%", "90.0%"], "call": ["60.0%", "60.0%"]}, str(seen["both"]))
    need(seen["native"] == {"names": ["call", "eval", "main"], "depth": 5, "walk": None, "call": ["60.0%", "60.0%"]}, str(seen["native"]))
    need(seen["isThere"] and "frames=native" in seen["hash"] and seen["again"] == "language", str(seen))
    need(look(page_of(recursive(), "no_layers"), "layers_test.js")["isThere"] is False, "a choice of layers where there are none")
    text = tools.acu("report", page)
    need("eval" not in str(text) and "walk" in str(text), str(text))


def waits(serve=60, title="Waiting"):
    """A thread that waits in the C library and the kernel, for a lock with a name, and for nothing of its own."""
    out = Recording(title=title, unit="ns", period_ns=0)
    libc, thread = "/lib/x86_64-linux-gnu/libc.so.6", (1, 1, "server", "server")
    kernel = [("do_poll", KERNEL, "kernel"), ("schedule", KERNEL, "kernel")]
    out.add(thread, frames("main", "serve") + frames("poll", module=libc) + kernel + [("[waiting]", "", "note")], serve)
    out.add(thread, frames("main", "serve") + frames("poll", module=libc) + kernel + [("[run queue]", "", "note")], 5)
    out.add(thread, frames("main", "store") + frames("pthread_mutex_lock", module=libc) + kernel[1:] + [("[waits for big_lock]", "", "note")], 20)
    out.add(thread, frames("start") + frames("read", module=libc) + kernel[1:] + [("[waiting]", "", "note")], 15)
    return out


def waits_are_charged_to_the_program():
    """`self` of the table is what `acu report` and `acu diff` have: that of the lock, or of the program's function, not that of the innermost frame."""
    def own(words, key="self"):
        return {f["name"]: f[key] for f in json.loads(tools.acu(*words, "--json", "--top", 100).stdout)["functions"]}

    seen = look(page_of(waits(), "waits"), "charged_test.js")
    need(seen["self"] == own(["report", tools.path("waits.acu")]), str(seen["self"]))
    need({n: w for n, w in seen["self"].items() if w} == {"serve": 65, "[waits for big_lock]": 20, "start": 15}, str(seen["self"]))
    need(len(seen["serve"]) == 1 and seen["serve"][0].endswith(", 65.00%") and not seen["[waiting]"], str(seen))
    need("self 65.00%" in seen["chosen"]["serve"] and "self 0.00%" in seen["chosen"]["[waiting]"], str(seen["chosen"]))
    need(seen["reversed"] == [seen["self"], []], str(seen["reversed"]))
    need({n: w for n, w in seen["kernel"].items() if w} == {"do_poll": 65, "[waits for big_lock]": 20, "schedule": 15}, str(seen["kernel"]))
    later, page = waits(serve=100).write(tools.path("later.acu")), tools.path("charged.html")
    tools.acu("diff", tools.path("waits.acu"), later, "-o", page)
    changes = own(["diff", tools.path("waits.acu"), later])
    seen = look(page, "charged_test.js")
    need(changes["serve"] == 40 and {n: w for n, w in seen["change"].items() if w} == {n: w for n, w in changes.items() if w}, f"{seen['change']}, {changes}")
    # CPU time of a store is in ns, too: what took it is the innermost function.
    seen = look(page_of(waits(title="CPU"), "time"), "charged_test.js")
    need(seen["self"] == own(["report", tools.path("time.acu")]) and seen["self"]["serve"] == 0 and seen["self"]["[waiting]"] == 75, str(seen["self"]))
    need(seen["[waiting]"] and not seen["serve"], str(seen))


CASES = [layers_of_an_interpreter, waits_are_charged_to_the_program, choices_are_in_the_address, damaged_addresses_show_the_page, table_and_sandwich, page_opens_with_what_is_missing, thousand_lanes, page_on_a_phone,
         large_recordings_are_drawn_as_seen, picture_zooms]
