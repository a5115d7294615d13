// A thread that waits, and is sent to another CPU while it does: mover TURNS. It prints for how many ns it was off its CPU,
// by the clock and /proc/thread-self/schedstat, and how often it woke on another CPU than it fell asleep on: "away NS moved N".
// Needs two CPUs that it may run on.
#include "thread_times.h"

#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static int bell[2];
static volatile pid_t waiter;

extern "C" __attribute__((noinline)) int wait_and_move(int turns) {
  int moved = 0;
  for (int i = 0; i < turns; i++) {
    char byte;
    const int before = sched_getcpu();
    if (read(bell[0], &byte, 1) != 1) exit(1);
    moved += sched_getcpu() != before;
  }
  asm volatile("");
  return moved;
}

static void wait_here(int turns) {
  waiter = gettid();
  const uint64_t cpu = on_cpu(), wall = now();
  const int moved = wait_and_move(turns);
  const uint64_t lived = now() - wall;
  std::printf("away %lu moved %d\n", lived - (on_cpu() - cpu), moved);
}

static std::vector<int> own_cpus() {
  cpu_set_t places;
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof places, &places) != 0) exit(1);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &places)) out.push_back(cpu);
  return out;
}

// Where many threads want a CPU it takes a while until the waiter has come to its wait.
static bool has_fallen_asleep() {
  char state = 0;
  if (FILE* file = fopen(("/proc/self/task/" + std::to_string(waiter) + "/stat").c_str(), "r")) {
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) exit(1);
    fclose(file);
  }
  return state == 'S';
}

int main(int, char** words) {
  const int turns = atoi(words[1]);
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2 || pipe(bell) != 0) return 1;
  std::thread other(wait_here, turns);
  while (!waiter) usleep(1000);
  for (int i = 0; i < turns; i++) {
    do usleep(10000);
    while (!has_fallen_asleep());
    cpu_set_t place;
    CPU_ZERO(&place);
    CPU_SET(cpus[size_t(i % 2)], &place);
    if (sched_setaffinity(waiter, sizeof place, &place) != 0) return 1;
    usleep(10000);
    if (write(bell[1], "", 1) != 1) return 1;
  }
  other.join();
}
