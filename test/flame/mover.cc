// A thread that waits, and is sent to the other CPU while it does: mover TURNS. It prints for how many ns it was off its CPU,
// by the clock and /proc/thread-self/schedstat, and how often it woke on another CPU than it fell asleep on: "away NS moved N".
#include "thread_times.h"

#include <sched.h>
#include <thread>
#include <unistd.h>

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

int main(int, char** words) {
  const int turns = atoi(words[1]);
  if (pipe(bell) != 0) return 1;
  std::thread other(wait_here, turns);
  while (!waiter) usleep(1000);
  for (int i = 0; i < turns; i++) {
    usleep(10000);
    cpu_set_t place;
    CPU_ZERO(&place);
    CPU_SET(i % 2, &place);
    if (sched_setaffinity(waiter, sizeof place, &place) != 0) return 1;
    usleep(10000);
    if (write(bell[1], "", 1) != 1) return 1;
  }
  other.join();
}
