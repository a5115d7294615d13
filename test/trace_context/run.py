#!/usr/bin/env python3
"""Traces and spans of threads, as programs publish them by OpenTelemetry's convention: run.py ACU [--filter TEXT]

publisher.c publishes what its threads work on in all ways that the convention has, and prints how much it did in each span; what acu shows is compared with that.
Last line: `N passed, N failed, N skipped`.
"""
import collections
import functools
import gzip
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "exports"))
from readers import fields, messages_of, needs_protobuf, read_whole, use_python_with_protobuf
from tally import SLOWNESS, Skipped, need, run_suite
import tracing

TMP = tempfile.mkdtemp(prefix="acu-trace-context-")
os.chmod(TMP, 0o755)
LIMIT = 60 * SLOWNESS
CALLS = 'tracepoint:syscalls:sys_enter_getpgid /comm == "publisher"/ { @[trace_id, span_id] = count(); }'

# How the variable is reached: options for the file that has it, and for the program. `own`: it is the program's; `linked`: a library's that the program is
# linked to; `loaded`: one that it loads later.
MODELS = {
    "own": ("own", [], ["-rdynamic"]),
    "own, one symbol exported": ("own", [], ["-Wl,--export-dynamic-symbol=otel_thread_ctx_v1"]),
    "own, not position-independent": ("own", [], ["-no-pie", "-rdynamic"]),
    "own, static": ("own", [], ["-static-pie", "-Wl,--export-dynamic-symbol=otel_thread_ctx_v1"]),
    "linked, descriptors": ("linked", ["-mtls-dialect=gnu2"], []),
    "linked, general dynamic": ("linked", ["-mtls-dialect=gnu"], []),
    "linked, initial exec": ("linked", ["-ftls-model=initial-exec"], []),
    "linked, symbols bound within": ("linked", ["-mtls-dialect=gnu2", "-Wl,-Bsymbolic"], []),
    "loaded, descriptors": ("loaded", ["-mtls-dialect=gnu2"], []),
    "loaded, general dynamic": ("loaded", ["-mtls-dialect=gnu"], []),
    "loaded, symbols bound within": ("loaded", ["-mtls-dialect=gnu", "-Wl,-Bsymbolic"], []),
}


def path(*names):
    return os.path.join(TMP, *names)


def compile_with(*words):
    done = subprocess.run(["gcc", "-O1", "-pthread", *words], cwd=HERE, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise Skipped("gcc cannot build this: " + done.stderr.strip().split("\n")[-1][:200])


@functools.cache
def publisher(model):
    """The words that run it: the program, and the library that it is to load as the last one, if it is to."""
    kind, options, program_options = MODELS[model]
    folder = path(re.sub(r"\W+", "-", model))
    os.makedirs(folder, exist_ok=True)
    program, library = os.path.join(folder, "publisher"), os.path.join(folder, "libcontext.so")
    if kind == "own":
        compile_with("-DLINKED", *program_options, "-o", program, "publisher.c", "context.c")
        return program, ()
    compile_with("-shared", "-fPIC", *options, "-o", library, "context.c")
    if kind == "linked":
        compile_with("-DLINKED", "-o", program, "publisher.c", library, "-Wl,-rpath," + folder)
        return program, ()
    compile_with("-o", program, "publisher.c", "-ldl")
    return program, (library,)


def own_counts(text):
    """What the program says it did: {(trace, span): number}, without a span {("", ""): number}."""
    sums = collections.Counter()
    for trace, span, number in re.findall(r"^(\S+) (\S+) (\d+)$", text, re.M):
        sums[("", "") if trace == "-" else (trace, span)] += int(number)
    return sums


def shown_counts(text):
    return {(trace, span): int(n) for trace, span, n in re.findall(r"^@\[(\w*), (\w*)\]: (\d+)$", text, re.M)}


def counts_of(acu, words, script=CALLS, options=(), starts_first=False):
    """What acu counts of a program that starts while it runs, or before; and what the program says."""
    said = []
    first = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) if starts_first else None

    def go():
        process = first or subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said.append(process.communicate("\n", timeout=LIMIT)[0])
        need(process.returncode == 0, f"{words}: status {process.returncode}")

    if first:
        options = (*options, "-p", str(first.pid))
    text, err = tracing.trace([acu, "run", "--notify-attached", tracing.ATTACHED, *options, "-e", script], path("cache"), go, 2 * LIMIT)
    return shown_counts(text), own_counts(said[0]), text + err


def every_call(acu, model, starts_first):
    program, library = publisher(model)
    threads, spans = 5, 4
    shown, own, text = counts_of(acu, [program, "calls", str(threads), str(spans), *library], starts_first=starts_first)
    need(len(own) == threads * spans + 1, f"the program itself: {own}")
    need(shown == dict(own), f"{model}: acu counts\n{text}\nthe program\n{own}")


def model_cases():
    out = []
    for model in MODELS:
        for starts_first in (False, True):
            def case(acu, model=model, starts_first=starts_first):
                every_call(acu, model, starts_first)
            case.__name__ = re.sub(r"\W+", "_", f"{model}, {'before' if starts_first else 'while'} acu runs")
            out.append(case)
    return out


def hostile_records_are_none(acu):
    program, _ = publisher("own")
    shown, own, text = counts_of(acu, [program, "hostile"])
    need(own[("", "")] == 90 and len(own) == 2, str(own))
    need(shown == dict(own), text)
    need("WARNING" not in text, "reads that fail are nobody's mistake:\n" + text)


def programs_without_it_have_none(acu):
    text, _ = tracing.trace([acu, "run", "--notify-attached", tracing.ATTACHED, "-e", 'tracepoint:syscalls:sys_enter_getpgid /comm == "python3"/ { @[trace_id, span_id] = count(); }'],
                            path("cache"), lambda: subprocess.run(["python3", "-c", "import os, ctypes; ctypes.CDLL(None).prctl(15, b'python3')\nfor _ in range(9): os.getpgid(0)"], check=True), LIMIT)
    need(shown_counts(text) == {("", ""): 9}, text)


def one_span_is_selected(acu):
    program, _ = publisher("own")
    span = next(iter(s for t, s in own_counts(subprocess.run([program, "calls", "1", "1"], input="\n", capture_output=True, text=True, check=True).stdout) if s))
    script = 'tracepoint:syscalls:sys_enter_getpgid /span_id == "%s"/ { @[comm, strlen(trace_id), strlen(span_id)] = count(); }' % span
    text, _ = tracing.trace([acu, "run", "--notify-attached", tracing.ATTACHED, "-e", script], path("cache"),
                            lambda: subprocess.run([program, "calls", "3", "2"], input="\n", capture_output=True, text=True, check=True), LIMIT)
    need("@[publisher, 32, 16]: 10\n" in text and text.count("@[") == 1, text)


def children_have_their_parents_variable(acu):
    """A child of fork() runs the same code: it publishes before anything is known of it by itself."""
    source = path("forks.c")
    with open(source, "w") as file:
        file.write('#include "context.h"\n#include <sys/prctl.h>\n#include <sys/wait.h>\n#include <unistd.h>\n'
                   "int main(void) {\n  struct record r = {.trace_id = {1}, .span_id = {2}, .valid = 1};\n  getpgid(0);\n  usleep(200000);\n"
                   "  for (int i = 0; i < 5; i++) {\n    if (!fork()) {\n      usleep(100000);\n      publish(&r);\n      getpgid(0);\n      _exit(0);\n    }\n    wait(0);\n  }\n}\n")
    program = path("publisher")
    compile_with("-I", HERE, "-rdynamic", "-o", program, source, os.path.join(HERE, "context.c"))
    text, _ = tracing.trace([acu, "run", "--notify-attached", tracing.ATTACHED, "-e", CALLS], path("cache"), lambda: subprocess.run([program], check=True, timeout=LIMIT), LIMIT)
    need(shown_counts(text) == {("", ""): 1, ("01" + 30 * "0", "02" + 14 * "0"): 5}, text)


def spin(acu, model, output, milliseconds=400):
    program, library = publisher(model)
    done = subprocess.run([acu, "flame", "-q", "-F", "499", "-o", output, "--", program, "spin", str(milliseconds), *library], capture_output=True, text=True, timeout=2 * LIMIT,
                          env=dict(os.environ, ACU_CACHE=path("cache")))
    need(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    return own_counts(done.stdout)


def compare_times(found, own, what):
    """ns of CPU time by span against us of the program."""
    need(len(own) == 7, f"the program itself: {own}")
    need(set(found) == set(own), f"{what}: spans {sorted(found)}, the program's are {sorted(own)}")
    for span, us in own.items():
        # A clock of 2 ms: some samples more or less; without a span are also the program's start and end.
        slack = 0.06 * us + 30_000 + (150_000 if span == ("", "") else 0)
        need(abs(found[span] / 1000 - us) <= slack, f"{what}: {span} has {found[span] / 1e6:.0f} ms, the program took {us / 1000:.0f} ms")


def numbers(data):
    return [value for _, value in fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", data, re.S)))]


def pprof_times(file):
    """ns by the labels trace_id and span_id."""
    profile = list(fields(gzip.open(file).read()))
    texts = [value.decode() for field, value in profile if field == 6]
    sums = collections.Counter()
    for field, sample in profile:
        if field != 2:
            continue
        labels, values = {}, []
        for inner, value in fields(sample):
            if inner == 3:
                label = dict(fields(value))
                labels[texts[label[1]]] = texts[label.get(2, 0)]
            if inner == 2:
                values = numbers(value)
        sums[labels.get("trace_id", ""), labels.get("span_id", "")] += values[1]
    return sums


def pprof_has_labels(acu):
    own = spin(acu, "own", path("own.pb.gz"))
    compare_times(pprof_times(path("own.pb.gz")), own, "pprof")


def pprof_has_labels_of_a_loaded_library(acu):
    own = spin(acu, "loaded, descriptors", path("loaded.pb.gz"))
    compare_times(pprof_times(path("loaded.pb.gz")), own, "pprof")


def otlp_times(file):
    request = read_whole(messages_of("otlp").Request(), file)
    links = request.dictionary.links
    need(not links[0].ByteSize(), "the first link is not empty")
    need(len({(bytes(l.trace_id), bytes(l.span_id)) for l in links}) == len(links), "links are there twice")
    sums = collections.Counter()
    for resource in request.resource_profiles:
        for profile in (p for s in resource.scope_profiles for p in s.profiles):
            for sample in profile.samples:
                link = links[sample.link]
                need(not sample.link or (len(link.trace_id), len(link.span_id)) == (16, 8), f"a link of {len(link.trace_id)} and {len(link.span_id)} bytes")
                sums[link.trace_id.hex(), link.span_id.hex()] += sample.values[0]
    return sums


def otlp_has_links(acu):
    needs_protobuf()
    own = spin(acu, "linked, descriptors", path("linked.otlp"))
    compare_times(otlp_times(path("linked.otlp")), own, "OTLP")


def recordings_keep_them(acu):
    """A recording becomes each of the formats that have a place for them, and one that has none, with the same sums."""
    own = spin(acu, "own", path("kept.acu"))
    for output in ("kept.pb.gz", "kept.folded", "kept.html"):
        done = subprocess.run([acu, "report", path("kept.acu"), "-o", path(output)], capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    found = pprof_times(path("kept.pb.gz"))
    compare_times(found, own, "pprof of a recording")
    stacks = [line.rsplit(" ", 1) for line in open(path("kept.folded")).read().splitlines()]
    need(len({stack for stack, _ in stacks}) == len(stacks), "a stack is there once for each span")
    need(sum(int(n) for _, n in stacks) * (1_000_000_000 // 499) == sum(found.values()), f"folded: {stacks}")


def other_formats_do_not_ask(acu):
    """Who cannot keep them takes no time and no room for them."""
    program, _ = publisher("own")
    for output, is_asked in (("x.html", False), ("x.folded", False), ("x.pb.gz", True), ("x.acu", True)):
        done = subprocess.run([acu, "flame", "-v", "-o", path(output), "--", program, "spin", "1"], capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode in (0, 1), f"status {done.returncode}: {done.stderr}")
        need(("thread contexts:" in done.stderr) == is_asked, f"{output}:\n{done.stderr}")


if __name__ == "__main__":
    use_python_with_protobuf()
    run_suite(model_cases() + [hostile_records_are_none, programs_without_it_have_none, one_span_is_selected, children_have_their_parents_variable,
                               pprof_has_labels, pprof_has_labels_of_a_loaded_library, otlp_has_links, recordings_keep_them, other_formats_do_not_ask], TMP)
