"""Tools for Java programs, against the counters of the program's own management beans and what it measures."""
import glob
import os
import re
import subprocess

from common import SLOWNESS, TMP, histogram_total, lines, need, trace
from tally import Skipped

PARKS = """\
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
public class Parks {
  public static void main(String[] words) throws Exception {
    ReentrantLock lock = new ReentrantLock();
    SynchronousQueue<String> queue = new SynchronousQueue<>();
    Thread holder = new Thread(() -> { lock.lock(); try { Thread.sleep(300); } catch (Exception e) { } lock.unlock(); }, "needle-holds");
    Thread waiter = new Thread(() -> { lock.lock(); lock.unlock(); }, "needle-waits");
    Thread taker = new Thread(() -> { try { queue.take(); } catch (Exception e) { } }, "needle-takes");
    Thread late = new Thread(() -> { LockSupport.parkNanos(150000000L); }, "needle-late");
    holder.start();
    Thread.sleep(100);
    for (Thread thread : new Thread[] {waiter, taker, late}) thread.start();
    Thread.sleep(100);
    Thread putter = new Thread(() -> { try { queue.put("needle"); } catch (Exception e) { } }, "needle-puts");
    putter.start();
    for (Thread thread : new Thread[] {holder, waiter, taker, late, putter}) thread.join();
  }
}
"""

PROGRAM = """\
import java.lang.management.*;
import java.util.*;
public class Load {
  static class Shared { synchronized void hold() throws Exception { Thread.sleep(60); } }
  public static void main(String[] words) throws Exception {
    List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 10000; i++) { byte[] part = new byte[10000]; if (i % 100 == 0) kept.add(part); }
    for (int i = 0; i < 3; i++) System.gc();
    Shared shared = new Shared();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(new Thread(() -> { try { shared.hold(); } catch (Exception e) { } }, "needle-" + i));
      threads.get(i).start();
    }
    for (Thread thread : threads) thread.join();
    for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) System.out.println(collector.getName() + "\\t" + collector.getCollectionCount());
    System.out.println("waits\\t" + kept.size());
  }
}
"""


class Java:
    """A Java 17 with static probes, and the program above."""

    def __init__(self):
        homes = [h for h in glob.glob("/usr/lib/jvm/java-17-openjdk-*") if os.path.exists(h + "/bin/javac")]
        if not homes:
            raise Skipped("no JDK 17 here")
        self.home = homes[0]
        self.library = self.home + "/lib/server/libjvm.so"
        self.said = ""
        if not os.path.exists(os.path.join(TMP, "Load.class")):
            for name, program in (("Load.java", PROGRAM), ("Parks.java", PARKS)):
                with open(os.path.join(TMP, name), "w") as out:
                    out.write(program)
            subprocess.run([self.home + "/bin/javac", "Load.java", "Parks.java"], cwd=TMP, check=True, timeout=90 * SLOWNESS)

    def run(self, *options, program="Load"):
        self.said = subprocess.run([self.home + "/bin/java", "-Xmx64m", "-XX:+UseSerialGC", *options, program], cwd=TMP, capture_output=True, text=True,
                                   timeout=60 * SLOWNESS).stdout


def java_gc(acu):
    java = Java()
    text = trace(acu, "java-gc.bt", java.run, [java.library, "--", "--min-us=0"])
    counts = dict(re.findall(r"^(.+)\t(\d+)$", java.said, re.M))
    young, full = int(counts["Copy"]), int(counts["MarkSweepCompact"])
    need(full >= 3 and young >= 2, java.said)
    need(histogram_total(text, "@us[GenCollectForAllocation]") == young and histogram_total(text, "@us[GenCollectFull]") == full, java.said + text)
    pauses = lines(text, r"\d\d:\d\d:\d\d\.\d{6} (\d+) +(\d+) (\w+)")
    need(len([p for p in pauses if p[2].startswith("GenCollect")]) == young + full and all(0 < int(p[1]) < 3000000 for p in pauses), text)
    freed = re.search(r"^@freed_kb\[Eden Space\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$", text, re.M)
    # It allocates 100 MB, and keeps 1 MB of it.
    need(freed and int(freed[1]) >= young and 60000 <= int(freed[2]) <= 110000, java.said + text)


def java_locks(acu):
    java = Java()
    text = trace(acu, "java-locks.bt", lambda: java.run("-XX:+DTraceMonitorProbes"), [java.library, "--", "--min-ms=30"])
    found = lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +(needle-\d) +(\d+\.\d\d\d) (needle-\d) +(\S+)")
    need(len(found) == 3 and {f[3] for f in found} == {"Load$Shared"} and len({f[0] for f in found}) == 3, text)
    # One after the other: each was held by the one before.
    need([f[2] for f in found[1:]] == [f[0] for f in found[:2]], text)
    need(all(60 * (n + 1) - 30 <= float(f[1]) <= 60 * (n + 1) + 1000 for n, f in enumerate(found)), text)
    without = trace(acu, "java-locks.bt", java.run, [java.library])
    need("No waits in" in without and "-XX:+DTraceMonitorProbes?" in without, without)


def java_compiles(acu):
    java = Java()
    text = trace(acu, "java-compiles.bt", lambda: java.run("-XX:+PrintCompilation"), [java.library, "--", "--min-ms=0"])
    found = lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +(C[12]) +\d+\.\d\d\d (\S+)\.([^.]+?)(\(\S*)")
    # Its own log, but for native methods (n), which need no compiler, and code that is thrown away
    told = [re.match(r" *\d+ +\d+ (.{5}) +(\d) +(\S+)::(\S+) ", line) for line in java.said.split("\n") if "made not entrant" not in line]
    told = sorted((t[3].replace(".", "/"), t[4]) for t in told if t and "n" not in t[1] and t[2] != "0")
    ours = sorted((f[1], f[2]) for f in found)
    need(len(told) >= 30 and set(ours) <= set(told), f"not in its log: {set(ours) - set(told)}")
    need(abs(len(ours) - len(told)) <= 5, f"{len(ours)}, its log has {len(told)}")  # some do not end before the program does
    counts = dict(re.findall(r"^@us\[(C[12])\]: \{ \.count = (\d+),", text, re.M))
    need({name: int(count) for name, count in counts.items()} == {name: [f[0] for f in found].count(name) for name in counts} and "C1" in counts, text[-600:])


def java_parks(acu):
    java = Java()
    text = trace(acu, "java-parks.bt", lambda: java.run(program="Parks"), [java.library, "--", "--min-ms=20"])
    found = {f[0]: (float(f[1]), f[2]) for f in lines(text, r"\d\d:\d\d:\d\d\.\d{6} \d+ +(needle-\w+) +(\d+\.\d\d\d) (\S+)")}
    need({name: waker for name, (_, waker) in found.items()} == {"needle-waits": "needle-holds", "needle-takes": "needle-puts", "needle-late": "-"}, text)
    need(100 <= found["needle-waits"][0] <= 1500 and 50 <= found["needle-takes"][0] <= 1500 and 145 <= found["needle-late"][0] <= 1500, text)
    need(re.search(r"^@us\[needle-waits, needle-holds\]: \{ \.count = 1, ", text, re.M), text)


TESTS = [java_gc, java_locks, java_parks, java_compiles]
for test in TESTS:
    test.__name__ = test.__name__.replace("_", "-")
