"""Tools for Go programs, against what the program's runtime counts and what the program measures."""
import functools
import os
import re
import shutil
import subprocess

from common import SLOWNESS, TMP, histogram_total, lines, need, trace
from tally import Skipped, untimed

# Copies cannot be interrupted: each collection waits for one before it has stopped the program.
COLLECTS = """\
package main
import ("fmt"; "runtime"; "time")
//go:noinline
func copies(to, from []byte) { copy(to, from) }
//go:noinline
func collects() { runtime.GC() }
func main() {
	runtime.GOMAXPROCS(4)
	to, from := make([]byte, 64<<20), make([]byte, 64<<20)
	go func() { for { copies(to, from) } }()
	time.Sleep(100 * time.Millisecond)
	for i := 0; i < 10; i++ { collects() }
	var numbers runtime.MemStats
	runtime.ReadMemStats(&numbers)
	fmt.Println("pauses", numbers.PauseTotalNs, numbers.NumGC)
}
"""

# The main goroutine computes until the runtime takes the only processor from it.
WAITS = """\
package main
import ("fmt"; "net"; "runtime"; "sync/atomic"; "time")
const rounds, readers = 10, 3
var (
	wake = make(chan time.Time)
	done = make(chan bool, rounds)
	begun time.Time
	conns []net.Conn
	woke, started, read, next int64
	atLeast, atMost int64 // waits to start of 2 ms: those that are longer beyond doubt, and those that may be
)
//go:noinline
func woken() { for from := range wake { woke += int64(time.Since(from)); done <- true } }
//go:noinline
func starts() {
	waited := time.Since(begun)
	started += int64(waited)
	if waited >= 2200 * time.Microsecond { atLeast++ }
	if waited >= 1800 * time.Microsecond { atMost++ }
	done <- true
}
//go:noinline
func reads() {
	conn := conns[atomic.AddInt64(&next, 1)-1]
	for part := make([]byte, 1); ; {
		if n, _ := conn.Read(part); n == 0 { return }
		atomic.AddInt64(&read, int64(time.Since(begun)))
	}
}
//go:noinline
func spins() { for end := time.Now().Add(40 * time.Millisecond); time.Now().Before(end); {} }
func main() {
	runtime.GOMAXPROCS(1)
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil { panic(err) }
	var others []net.Conn
	for i := 0; i < readers; i++ {
		other, err := net.Dial("tcp", here.Addr().String())
		if err != nil { panic(err) }
		conn, _ := here.Accept()
		conns, others = append(conns, conn), append(others, other)
	}
	for i := 0; i < readers; i++ { go reads() }
	go woken()
	for i := 0; i < rounds; i++ {
		time.Sleep(5 * time.Millisecond)
		wake <- time.Now()
		spins()
		<-done
		begun = time.Now()
		go starts()
		spins()
		<-done
		time.Sleep(5 * time.Millisecond)
		begun = time.Now()
		for _, other := range others { other.Write([]byte("x")) }
		spins()
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println("waits", woke, started, read, atLeast, atMost)
}
"""


@functools.cache
def built(name, text, *flags):
    if not shutil.which("go"):
        raise Skipped("there is no go here")
    source, out = os.path.join(TMP, name + ".go"), os.path.join(TMP, "-".join([name, *(flag.strip("-").split("=")[0] for flag in flags)]))
    with open(source, "w") as file:
        file.write(text)
    settings = dict(os.environ, GOCACHE=os.path.join(TMP, "go-cache"), GO111MODULE="off", GOTOOLCHAIN="local", CGO_ENABLED="0")
    with untimed():
        done = subprocess.run(["go", "build", *flags, "-o", out, source], env=settings, capture_output=True, text=True, timeout=600)
    need(done.returncode == 0, f"go build: {done.stderr[:600]}")
    return out


def totals(text, name):
    """Of a map of stats: count and total by key."""
    return {key: (int(count), int(total)) for key, count, total in
            re.findall(rf"^{re.escape(name)}\[(.+)\]: \{{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}}$", text, re.M)}


def run_traced(acu, tool, program, word, *options):
    """What the tool printed, and the numbers that the program printed behind `word`."""
    said = []
    text = trace(acu, tool, lambda: said.append(subprocess.run([program], capture_output=True, text=True, timeout=60 * SLOWNESS).stdout), [program, "--", *options])
    found = re.search(rf"^{word} ([\d ]+)$", said[0], re.M)
    need(found, said[0])
    return text, [int(number) for number in found[1].split()]


def go_gc(acu):
    for flags in ((), ("-ldflags=-s -w",)):
        program = built("collects", COLLECTS, *flags)
        for _ in range(3):  # the program's thread may lose its CPU between a probe and the look at the clock
            text, (pauses_ns, collections) = run_traced(acu, "go-gc.bt", program, "pauses", "--min-us=0")
            own = sum(total for phase, (_, total) in totals(text, "@total_us").items() if phase != "other") * 1000
            if abs(own - pauses_ns) <= 0.05 * pauses_ns:
                break
        need(collections >= 10 and histogram_total(text, "@us[sweep termination]") == collections == histogram_total(text, "@us[mark termination]"), f"not {collections}:\n{text}")
        need(abs(own - pauses_ns) <= 0.05 * pauses_ns, f"{own} ns of {pauses_ns}:\n{text}")
        need(histogram_total(text, "@us[other]") >= 2, text)  # GOMAXPROCS, ReadMemStats
        need(re.search(rf"^@marking_us: \{{ \.count = {collections},", text, re.M), text)
        asked = re.findall(r"^\d\d:\d\d:\d\d\.\d{6} \d+ +\S+ +\d+ sweep termination\n(?:        .+\n)*?        main\.collects\+\d+\n", text, re.M)
        need(len(asked) == 10, f"{len(asked)} of 10 stacks:\n{text}")
        need(re.search(r" other\n        runtime\.stopTheWorld\+\d+\n(?:        .+\n)*?        main\.main\+\d+\n", text), text)
    need("No pauses in /usr/bin/env" in trace(acu, "go-gc.bt", lambda: None, ["/usr/bin/env"]), "no hint")


def go_sched(acu):
    for flags in ((), ("-ldflags=-s -w",)):
        program = built("waits", WAITS, *flags)
        for _ in range(3):  # as above
            text, (woke, started, read, at_least, at_most) = run_traced(acu, "go-sched.bt", program, "waits", "--min-us=2000")
            found = totals(text, "@function_us")
            off = {name: abs(found[name][1] * 1000 / own - 1) for name, own in (("main.woken", woke), ("main.starts", started)) if name in found}
            if len(off) == 2 and max(off.values()) <= 0.05:
                break
        need(len(off) == 2 and max(off.values()) <= 0.05, f"off by {off}; the program waited {woke} and {started} ns:\n{text}")
        need(found["main.starts"][0] == 10 and found["main.woken"][0] >= 10, text)
        # The network: from when the runtime has looked at it, which may be as late as the goroutines run.
        need("main.reads" in found and 15 <= found["main.reads"][0] <= 40 and 0 < found["main.reads"][1] * 1000 <= read * 1.05, f"{read} ns:\n{text}")
        slow = lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +waits\S* +(\d+) main\.starts")
        need(at_least <= len(slow) <= at_most and all(int(us) >= 2000 for us, in slow), f"{len(slow)} lines, not {at_least} to {at_most}:\n{text}")
    need("No goroutines in /usr/bin/env" in trace(acu, "go-sched.bt", lambda: None, ["/usr/bin/env"]), "no hint")


TESTS = [go_gc, go_sched]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
