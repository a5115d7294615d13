// Two threads that hand a byte back and forth: switcher TURNS. It prints for how many ns the threads were off their CPU
// while they did, as clocks and /proc/self/task/TID/schedstat tell, and how much of that they waited for the CPU. They have
// one CPU: of threads that an idle CPU is woken for, the kernel counts the end of its idleness as time on the CPU, which in a
// virtual machine may be 10 us.
#include "thread_times.h"

#include <atomic>
#include <sched.h>
#include <thread>
#include <unistd.h>

static int there[2], back[2];
static std::atomic<uint64_t> away, queued;

__attribute__((noipa)) static void hand_over(int turns, int from, int to, bool begins) {
  char byte = 0;
  for (int i = 0; i < turns; i++) {
    if (begins && write(to, &byte, 1) != 1) exit(1);
    if (read(from, &byte, 1) != 1) exit(1);
    if (!begins && write(to, &byte, 1) != 1) exit(1);
  }
  asm volatile("");
}

static void measure(int turns, int from, int to, bool begins) {
  const Scheduled before = scheduled();
  const uint64_t wall = now();
  hand_over(turns, from, to, begins);
  const Scheduled after = scheduled();
  away += now() - wall - (after.on_cpu - before.on_cpu);
  queued += after.queued - before.queued;
}

int main(int, char** words) {
  const int turns = atoi(words[1]);
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  if (pipe(there) != 0 || pipe(back) != 0 || sched_setaffinity(0, sizeof here, &here) != 0) return 1;
  std::thread other(measure, turns, there[0], back[1], false);
  measure(turns, back[0], there[1], true);
  other.join();
  printf("%lu %lu\n", away.load(), queued.load());
}
