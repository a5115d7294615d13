// Two threads that hand a byte back and forth: switcher TURNS. It prints for how many ns the threads were off their CPU
// while they did, as clocks and /proc/self/task/TID/schedstat tell, and how much of that they waited for the CPU. They have
// one CPU: of threads that an idle CPU is woken for, the kernel counts the end of its idleness as time on the CPU, which in a
// virtual machine may be 10 us.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sched.h>
#include <thread>
#include <unistd.h>

static int there[2], back[2];
static std::atomic<uint64_t> away, queued;

struct Times {
  uint64_t wall = 0, on_cpu = 0, queued = 0;
};

static Times times_now() {
  Times out;
  if (FILE* file = fopen("/proc/thread-self/schedstat", "r")) {
    if (fscanf(file, "%lu %lu", &out.on_cpu, &out.queued) != 2) exit(1);
    fclose(file);
  }
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  out.wall = static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
  return out;
}

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
  const Times before = times_now();
  hand_over(turns, from, to, begins);
  const Times after = times_now();
  away += after.wall - before.wall - (after.on_cpu - before.on_cpu);
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
