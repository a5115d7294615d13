#!/usr/bin/env python3
"""Probes in running programs: run.py ACU [--filter TEXT]

Programs that go on while their functions are probed: which processes are seen, that results stay what they are, how long
thousands of functions take, and what is left when acu is killed. Only processes of these tests are probed (-p, or a
program of their own). Last line: `N passed, N failed, N skipped`.
"""
import fnmatch
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, lacking, need, require, run_suite

TMP = tempfile.mkdtemp(prefix="acu-user-")
DEFINITIONS = "/sys/kernel/tracing/uprobe_events"
FUNCTIONS = 5000


def checked():
    path = os.path.join(TMP, "checked")
    if not os.path.exists(path):
        subprocess.run(["g++", "-O2", "-pthread", "-o", path, os.path.join(HERE, "checked.cc")], check=True, timeout=60 * SLOWNESS)
    return path


def many():
    """A program of thousands of functions, each called once a round; it waits for a line before it ends."""
    path = os.path.join(TMP, "many")
    if not os.path.exists(path):
        lines = ["#include <stdio.h>"]
        lines += [f'__attribute__((noinline)) int f_{i}(int x) {{ asm volatile("" : "+r"(x)); return x + {i}; }}'
                  for i in range(FUNCTIONS)]
        lines += ["int main(void) { int s = 0;"] + [f"s += f_{i}(0);" for i in range(FUNCTIONS)]
        lines += ['printf("%d\\n", s); fflush(stdout); if (getchar() == EOF) return 1; return 0; }']
        with open(path + ".c", "w") as file:
            file.write("\n".join(lines))
        subprocess.run(["gcc", "-O0", "-w", "-o", path, path + ".c"], check=True, timeout=60 * SLOWNESS)
    return path


def start(*words):
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.first = process.stdout.readline()
    return process


def run(acu, *words, limit=30):
    done = subprocess.run([acu, "run", *words], capture_output=True, text=True, timeout=limit * SLOWNESS)
    return done.stdout, done.stderr, done.returncode


def attached(acu, *words):
    """acu with its probes attached."""
    process = subprocess.Popen([acu, "run", "--notify-attached", "#attached#", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    before = ""
    while not before.endswith("#attached#\n"):
        line = process.stdout.readline()
        if not line:
            raise Wrong(f"did not attach: {before} {process.stderr.read()[:500]}")
        before += line
    return process


def links_of(pid):
    """Ids of the kernel's links that a process holds."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            found |= set(re.findall(r"^link_id:\s*(\d+)$", open(f"/proc/{pid}/fdinfo/{name}").read(), re.M))
        except OSError:
            pass
    return found


def all_links():
    shown = subprocess.run(["bpftool", "link", "show"], capture_output=True, text=True).stdout
    return set(re.findall(r"^(\d+): ", shown, re.M))


def test_one_process_with_all_its_threads(acu):
    for feature in ("kprobe_multi", "uprobe_multi"):
        seconds = str(round(3 * SLOWNESS))
        probed, other = start(checked(), seconds, "3"), start(checked(), seconds, "2")
        out, err, status = run(acu, "--no-feature", feature, "-p", str(probed.pid), "-e",
                               "uprobe:libc:strtoul { @pid[pid] = count(); @tid[tid] = count(); } "
                               f"interval:ms:{round(500 * SLOWNESS)} {{ exit() }}")
        need(status == 0, err)
        need(re.findall(r"@pid\[(\d+)\]", out) == [str(probed.pid)], "seen: " + out)
        need(len(re.findall(r"@tid\[\d+\]", out)) == 3, "threads: " + out)
        for p in (probed, other):
            rest, _ = p.communicate(timeout=20 * SLOWNESS)
            need(p.returncode == 0 and " 0 wrong" in rest, rest)


def test_results_stay_what_they_are(acu):
    script = ("uprobe:libc:str*, uprobe:libc:mem*, uprobe:libc:*alloc*, uprobe:libc:free, uprobe:libc:*sort*, uprobe:libc:*printf* "
              "{ @entered = count(); @by[func] = count(); } "
              "uretprobe:libc:str*, uretprobe:libc:mem*, uretprobe:libc:*alloc, uretprobe:libc:*sort* { @left = count(); } "
              "uprobe:libstdc++:*basic_string*, uprobe:libstdc++:*ostream* { @cxx = count(); @st[ustack(4)] = count(); } "
              "end { clear(@st); clear(@by); }")
    program = start(checked(), str(round(4 * SLOWNESS)), "2")
    out, err, status = run(acu, "-p", str(program.pid), "-e", "config = { max_probes = 20000; max_bpf_progs = 4096 } " + script)
    rest, _ = program.communicate(timeout=30 * SLOWNESS)
    need(status == 0, err[-800:])
    need(program.returncode == 0 and " 0 wrong" in rest, rest)
    probes = int(re.search(r"Attached (\d+) probes", err).group(1))
    need(probes >= 100, f"only {probes} probes")
    for name in ("entered", "left", "cxx"):
        count = re.search(rf"@{name}: (\d+)", out)
        need(count and int(count.group(1)) > 1000, f"@{name}: " + out[:300])


def test_all_that_can_be_probed(acu):
    """Every function of three libraries, then returns: in this process only, for whatever is wrong with a probe of libc
    is wrong in all processes."""
    path = os.path.join(TMP, "results")
    subprocess.run(["g++", "-std=c++20", "-O2", "-o", path, os.path.join(HERE, "results.cc"), "-lm"], check=True, timeout=120 * SLOWNESS)
    for probes in ("uprobe:libc:*, uprobe:libm:*, uprobe:libstdc++:*",
                   "uretprobe:libc:mem*, uretprobe:libc:str*, uretprobe:libc:*alloc*, uretprobe:libc:*printf*, uretprobe:libc:*time*"):
        program = start(path, "300")
        tracer = attached(acu, "-p", str(program.pid), "-e",
                          f"config = {{ max_probes = 100000 }} {probes} {{ @hits = count(); }}")
        rest, _ = program.communicate("\n", timeout=60 * SLOWNESS)
        out, err = tracer.communicate(timeout=30 * SLOWNESS)
        need(program.returncode == 0 and "right" in rest, rest)
        need(re.search(r"@hits: \d{4}", out), out + err[-500:])


def test_thousands_of_functions_come_and_go(acu):
    least = None
    for _ in range(3):
        begin = time.monotonic()
        out, err, status = run(acu, "-e", f"config = {{ max_probes = 20000 }} uprobe:{many()}:f_* {{ @ = count(); }} "
                                          "interval:ms:1 { exit() }")
        taken = time.monotonic() - begin
        need(status == 0 and f"Attached {FUNCTIONS + 1} probes" in err, err[-500:])
        least = taken if least is None else min(least, taken)
    if "uprobe_multi" not in lacking(acu):  # 0.2 s on a quiet machine; this one may be busy with other tests
        need(least < 0.9 * SLOWNESS, f"{least:.2f} s")
    return f"{FUNCTIONS} functions in {least * 1000:.0f} ms"


def test_each_function_counts_once(acu):
    require(acu, "attach_cookie")  # without it each function has a program of its own
    script = f"config = {{ max_probes = 20000; max_map_keys = 10000 }} uprobe:{many()}:f_* {{ @[func] = count(); }}"
    tracer = attached(acu, "-e", script)
    program = start(many())
    tracer.send_signal(signal.SIGINT)
    out, err = tracer.communicate(timeout=30 * SLOWNESS)
    program.communicate("\n", timeout=30 * SLOWNESS)
    need(program.returncode == 0, "the program failed")
    counts = re.findall(r"^@\[(f_\d+)\]: (\d+)$", out, re.M)
    need(len(counts) == FUNCTIONS and {n for _, n in counts} == {"1"}, f"{len(counts)} functions: " + err[-300:])


def test_killed_and_gone(acu):
    require(acu, "uprobe_multi")
    program, least = start(many()), None
    for _ in range(3):
        tracer = attached(acu, "-e", f"config = {{ max_probes = 20000 }} uprobe:{many()}:f_* {{ @ = count(); }}")
        held = links_of(tracer.pid)
        need(held and held <= all_links(), f"links while it runs: {held}")
        begin = time.monotonic()
        tracer.kill()
        tracer.communicate(timeout=30 * SLOWNESS)
        taken = time.monotonic() - begin
        least = taken if least is None else min(least, taken)
        need(not held & all_links(), "links are left")
    out, _ = program.communicate("\n", timeout=30 * SLOWNESS)
    need(program.returncode == 0, "the program failed")
    need(least < 0.6 * SLOWNESS, f"{least:.2f} s")
    return f"gone in {least * 1000:.0f} ms"


def test_definitions_of_who_was_killed_are_removed(acu):
    if not os.access(DEFINITIONS, os.W_OK):
        raise Skipped(f"{DEFINITIONS} can't be written")
    own = lambda: [line for line in open(DEFINITIONS).read().split("\n") if ":acu_" in line]
    tracer = attached(acu, "--no-feature", "uprobe_multi", "-e", f"uprobe:{many()}:f_12* {{ @ = count(); }}")
    name = re.search(rf":(acu_{tracer.pid}_\d+/\w+) ", open(DEFINITIONS).read())
    need(name, "no definition while it runs")
    tracer.kill()
    tracer.communicate(timeout=30 * SLOWNESS)
    need(any(name.group(1) in line for line in own()), "the kernel removed it by itself")
    out, err, status = run(acu, "--no-feature", "uprobe_multi", "-e",
                           f"uprobe:{many()}:f_13* {{ @ = count(); }} interval:ms:1 {{ exit() }}")
    need(status == 0, err)
    end = time.monotonic() + 10
    while own() and time.monotonic() < end:
        time.sleep(0.05)
    need(not any(name.group(1) in line for line in own()), "still there: " + name.group(1))


def build_id_of_the_kernel():
    notes = open("/sys/kernel/notes", "rb").read()
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        begin = at + 12 + (name + 3 & ~3)
        if kind == 3 and notes[at + 12:at + 16] == b"GNU\0":
            return notes[begin:begin + size].hex()
        at = begin + (size + 3 & ~3)
    raise Skipped("the kernel has no build-id")


def test_functions_of_the_kernel_without_code(acu):
    """Debug information tells of a function that there is only in its callers: it is written here with the kernel's build-id."""
    build_id = build_id_of_the_kernel()
    folder = f"/usr/lib/debug/.build-id/{build_id[:2]}"
    path = f"{folder}/{build_id[2:]}.debug"
    if os.path.exists(path):
        raise Skipped("this kernel's own debug information is installed")
    source = os.path.join(TMP, "inlined.c")
    with open(source, "w") as file:
        file.write("static inline __attribute__((always_inline)) int acu_inlined(int x) { return x * x; }\n"
                   "int main(int n, char **v) { (void)v; return acu_inlined(n); }\n")
    try:
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["gcc", "-g", "-O2", "-o", path, source, f"-Wl,--build-id=0x{build_id}"], check=True, timeout=60 * SLOWNESS)
    except OSError as problem:
        raise Skipped(f"{folder} can't be written: {problem.strerror}")
    try:
        told = run(acu, "--dry-run", "-e", "kprobe:acu_inlined { @ = count(); }")[1]
        need("ERROR: `acu_inlined` has no code of its own: the compiler put it into its callers" in told, told)
        told = run(acu, "--dry-run", "-e", "kprobe:acu_inlinde { @ = count(); }")[1]
        need("ERROR: the kernel has no function `acu_inlinde`" in told, told)
    finally:
        os.remove(path)
        if not os.listdir(folder):
            os.rmdir(folder)


def test_process_that_ends(acu):
    program = start(many())
    tracer = attached(acu, "-p", str(program.pid), "-e", f"uprobe:{many()}:f_1 {{ @ = count(); }} end {{ print(1); }}")
    program.communicate("\n", timeout=30 * SLOWNESS)
    out, err = tracer.communicate(timeout=10 * SLOWNESS)
    need(tracer.returncode == 0 and "1\n" in out, f"status {tracer.returncode}: {out} {err}")
    out, err, status = run(acu, "-p", str(program.pid), "-e", f"uprobe:{many()}:f_1 {{ @ = count(); }}")
    need(status == 3 and "there is no process" in err, f"status {status}: {err}")



def test_calls_that_go_on_hold_nobody_up(acu):
    """Of two functions whose returns are probed one never returns and calls the other all the time: the probes go all the same."""
    source, program = os.path.join(TMP, "goes_on.c"), os.path.join(TMP, "goes_on")
    with open(source, "w") as file:
        file.write("#include <unistd.h>\nvolatile int n;\n__attribute__((noipa)) void inner(void) { n++; }\n"
                   "__attribute__((noipa)) void outer(void) { for (;;) inner(), usleep(1000); }\n"
                   "int main(void) { alarm(40); if (read(0, (char[1]){0}, 1) == 1) outer(); return 0; }\n")
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True, timeout=60 * SLOWNESS)
    running = subprocess.Popen([program], stdin=subprocess.PIPE)
    try:
        script = f"uretprobe:{program}:outer {{ @outer = count() }} uretprobe:{program}:inner {{ @inner = count() }} interval:ms:300 {{ exit() }}"
        tracer = attached(acu, "-e", script, "-p", str(running.pid))
        running.stdin.write(b"x")
        running.stdin.flush()
        out = tracer.communicate(timeout=20 * SLOWNESS)[0]
        need(running.poll() is None and "@inner" in out and "@outer" not in out, out)
    finally:
        running.kill()
        running.communicate()

# ---- exceptions that pass through functions whose returns are probed

def thrown(*options):
    path = os.path.join(TMP, "thrown" + "".join(options).replace("/", ""))
    if not os.path.exists(path):
        subprocess.run(["g++", "-O2", *options, "-pthread", "-o", path, os.path.join(HERE, "thrown.cc")], check=True, timeout=60 * SLOWNESS)
    return path


def truth(text):
    found = re.search(r"^returned (\d+) thrown (\d+) cleaned (\d+) cancelled (\d+) followed (\d+) direct (\d+)$", text, re.M)
    need(found, "the program did not come to its end: " + text)
    return dict(zip(("returned", "thrown", "cleaned", "cancelled", "followed", "direct"), map(int, found.groups())))


ROUNDS = "30"


def counted(acu, program, script, *options, status=0):
    out, err, code = run(acu, *options, "-c", f"{program} {ROUNDS}", "-e", script)
    need(code == status, f"status {code}: {out} {err}")
    return {name: int(count) for name, count in re.findall(r"@(\w+): (\d+)", out)}, out, err


def test_exceptions_pass_through_probed_functions(acu):
    """The program does as ever, and each return is seen once: also where a call goes on in another function by a jump."""
    for options in ((), ("-fno-pie", "-no-pie"), ("-fcf-protection", "-fno-omit-frame-pointer"), ("-static",)):
        program = thrown(*options)
        right = truth(subprocess.run([program, ROUNDS], capture_output=True, text=True).stdout)
        need(right["thrown"] == 10 and right["cancelled"] == 3, str(right))
        names = ("passes", "cleans", "jumps", "middle", "last", "leaves", "deep")
        script = " ".join(f"uretprobe:{program}:cpp:{name} {{ @{name} = count() }}" for name in names)
        got, out, err = counted(acu, program, script + f' uretprobe:{program}:cpp:jumps /retval != entry(arg0) + 12/ {{ @wrong = count() }}', "-v")
        need(truth(out) == right, f"{options}: {out}")
        need(got.get("passes") == got.get("cleans") == right["returned"], f"{options}: {out} {err}")
        need(got.get("jumps") == got.get("middle") == right["followed"] and got.get("last") == right["followed"] + right["direct"], f"{options}: {out} {err}")
        need("wrong" not in got and "leaves" not in got and got["deep"] > 400, f"{options}: {out} {err}")
        need("Attached 8 probes" in err or "Attached 9 probes" in err, err)
        need("after the start" not in err, f"places of returns are no places of entries: {err}")


def test_values_and_stacks_at_return_instructions(acu):
    """As behind the return: the first frame is the caller's, and calls are told by where their return address was."""
    program = thrown()
    script = (f"uprobe:{program}:cpp:cleans {{ @at[tid] = reg(\"sp\"); }} "
              f"uretprobe:{program}:cpp:cleans {{ @place[reg(\"sp\") - (uint64)@at[tid]] = count(); @by[ustack(1)] = count(); @in[usym(reg(\"ip\"))] = count(); }}")
    _, out, _ = counted(acu, program, script)
    need(re.search(r"@place\[8\]: 20$", out, re.M) and out.count("@place[") == 1, out)
    need(re.search(r"@by\[\n +main\+\d+\n\]: 20$", out, re.M) and out.count("@by[") == 1, out)
    need(re.search(r"@in\[main\]: 20$", out, re.M), out)


def test_exceptions_in_a_running_process(acu):
    program = thrown()
    process = subprocess.Popen([program, ROUNDS, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    tracer = attached(acu, "-p", str(process.pid), "-e", f"uretprobe:{program}:cpp:deep {{ @ = count(); }} uretprobe:{program}:cpp:jumps {{ @jumps = count() }}")
    out, _ = process.communicate("\n", timeout=30 * SLOWNESS)
    right = truth(out)
    out, err = tracer.communicate(timeout=10 * SLOWNESS)
    need(process.returncode == 0 and f"@jumps: {right['followed']}\n" in out, f"{process.returncode}: {out} {err}")


def test_ends_that_are_not_known(acu):
    """Where a function returns can't be told: it is refused, with what can be done; what a pattern finds besides is probed."""
    program = thrown()
    out, err, status = run(acu, "-c", program, "-e", f"uretprobe:{program}:cpp:by_pointer {{ @ = count(); }}")
    need(status == 3 and "jump through a pointer" in err and "HINT: --unsafe" in err and err.count("ERROR") == 1, f"{status}: {err}")
    got, out, err = counted(acu, program, f"uretprobe:{program}:_Z*p* {{ if (strcontains(func, \"passes\")) {{ @n = count() }} }}")
    need(got["n"] == truth(out)["returned"] and re.search("left out: .*--unsafe", err), out + err)
    # By the kernel's trampoline it is as ever, and an exception ends the program.
    out, err, _ = run(acu, "--unsafe", "-c", f"{program} {ROUNDS}", "-e", f"uretprobe:{program}:cpp:by_pointer {{ @n = count(); }}")
    need("@n: 2" in out and "returned" not in out, out + err)


def test_cancelled_threads(acu):
    """Of C a thread that is cancelled leaves by longjmp(3) where its unwinder knows no way, and cleans up: such functions are probed as ever.
    With handlers of exceptions around it would leave out theirs."""
    source = os.path.join(TMP, "cancelled.c")
    with open(source, "w") as file:
        file.write("""#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int cleaned, went;
static void clean(void* p) { cleaned++; }
__attribute__((noipa)) int inner(int how) { if (how == 1) pthread_exit(0); if (how == 2) sleep(100); return how + 1; }
__attribute__((noipa)) int outer(int how) { int r = inner(how); __asm__ volatile("" ::: "memory"); return r + 1; }
static void* body(void* p) { pthread_cleanup_push(clean, 0); went += outer((int)(long)p); pthread_cleanup_pop(0); return 0; }
int main(void) {
  for (long i = 0; i < 9; i++) {
    pthread_t t;
    pthread_create(&t, 0, body, (void*)(i % 3));
    if (i % 3 == 2) usleep(20000), pthread_cancel(t);
    pthread_join(t, 0);
  }
  printf("cleaned %d went %d\\n", cleaned, went);
}
""")
    for options in ((), ("-fexceptions",), ("-static",)):
        program = os.path.join(TMP, "cancelled" + "".join(options))
        subprocess.run(["gcc", "-w", "-O1", "-pthread", *options, "-o", program, source], check=True, timeout=60 * SLOWNESS)
        out, err, status = run(acu, "-c", program, "-e", f"uretprobe:{program}:outer {{ @ = count(); }} uretprobe:{program}:inner {{ @inner = count(); }}")
        need(status == 0 and "cleaned 6 went 6\n" in out and "@: 3\n" in out and "@inner: 3\n" in out, f"{options}: {out} {err}")


def test_panics_pass_through_probed_functions(acu):
    if not shutil.which("rustc"):
        raise Skipped("no rustc")
    source, program = os.path.join(TMP, "panics.rs"), os.path.join(TMP, "panics")
    with open(source, "w") as file:
        file.write("""use std::panic;
struct Cleaner<'a>(&'a std::cell::Cell<u64>);
impl Drop for Cleaner<'_> { fn drop(&mut self) { self.0.set(self.0.get() + 1); } }
#[no_mangle] #[inline(never)] pub extern "Rust" fn source(n: u64) -> u64 { if n % 3 == 0 { panic!("a third") } std::hint::black_box(n + 1) }
#[no_mangle] #[inline(never)] pub extern "Rust" fn passes(n: u64, c: &std::cell::Cell<u64>) -> u64 { let _c = Cleaner(c); std::hint::black_box(source(n)) + 1 }
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let cell = std::cell::Cell::new(0);
    let mut caught = 0;
    for n in 1..31 { if panic::catch_unwind(panic::AssertUnwindSafe(|| passes(n, &cell))).is_err() { caught += 1 } }
    println!("caught {} cleaned {}", caught, cell.get());
}
""")
    subprocess.run(["rustc", "-O", "-C", "target-cpu=x86-64", "-o", program, source], check=True, timeout=120 * SLOWNESS, capture_output=True)
    out, err, status = run(acu, "-c", program, "-e", f"uretprobe:{program}:passes {{ @[retval - entry(arg0)] = count(); }}")
    need(status == 0 and "caught 10 cleaned 30\n" in out and "@[2]: 20\n" in out, out + err)


def test_errors_of_luajit_pass_through_probed_functions(acu):
    """It throws by the unwinder, but has no table of handlers: an error of a finalizer leaves lua_gc() for the pcall() that catches it."""
    program = os.path.realpath(shutil.which("luajit") or "")
    if not shutil.which("luajit"):
        raise Skipped("no luajit")
    script = os.path.join(TMP, "finalizer.lua")
    with open(script, "w") as file:
        file.write("""for n = 1, 3 do
  local value = newproxy(true)
  getmetatable(value).__gc = function() error("in a finalizer") end
  value = nil
  print(pcall(collectgarbage))
end
print("end")
""")
    library = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    found = re.search(r"libluajit\S* => (\S+)", library)
    out, err, status = run(acu, "-c", f"{program} {script}", "-e", f"uretprobe:{found.group(1) if found else program}:lua_gc {{ @ = count(); }}")
    need(status == 0 and out.count("in a finalizer") == 3 and "end\n" in out and "PANIC" not in err, out + err)


def test_c_library_costs_what_it_did(acu):
    """Functions that no exception passes through are probed by the kernel's trampoline: not at each of their return instructions."""
    out, err, status = run(acu, "--dry-run", "-v", "-e", "uretprobe:libc:malloc { @ = count() } uretprobe:bash:readline { @b = count() }")
    need(status == 0 and "2 events" not in err, out + err)


def test_declarations_of_the_c_library(acu):
    """What the table says of functions is what the C library's own headers declare."""
    table = open(os.path.join(HERE, "../../src/spec/nothrow_functions.h")).read()
    text = re.search(r"nothrow_library_functions =\s*((?:\"[^\"]*\"\s*)+);", table).group(1)
    patterns = "".join(re.findall(r"\"([^\"]*)\"", text)).split()
    headers = ("string strings stdlib stdio wchar wctype ctype pthread semaphore time sys/time unistd sys/socket arpa/inet sys/mman sys/shm sys/stat fcntl "
               "sys/epoll sys/eventfd sys/timerfd sys/inotify signal sys/ioctl locale libintl langinfo dlfcn malloc sched sys/resource poll sys/uio netdb "
               "search ftw glob dirent termios link execinfo").split()
    source = "#define _GNU_SOURCE\n" + "".join(f"#include <{h}.h>\n" for h in headers)
    text = subprocess.run(["gcc", "-E", "-P", "-O2", "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout
    declared = {m.group(1): m.group(0) for m in re.finditer(r"extern\s[^;{}]*?\b(\w+)\s*\([^;{}]*\)\s*[^;{}]*;", text)}
    need(len(declared) > 1000 and "__nothrow__" in declared["malloc"], str(len(declared)))
    wrong = [n for n, d in declared.items() if "__nothrow__" not in d and not n.endswith("_alias") and any(fnmatch.fnmatchcase(n.lstrip("_"), p) for p in patterns)]
    need(not wrong, f"may be passed by exceptions: {wrong}")


if __name__ == "__main__":
    sys.exit(run_suite([f for n, f in globals().items() if n.startswith("test_")], TMP, tells_reason=False))
