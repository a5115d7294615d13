// Eight threads that take one mutex in turns, TURNS times each, and keep it for a sleep of 2 ms; tells how long they waited for
// it by the clock, in all, and how long they were off their CPUs, by the clock and /proc/thread-self/schedstat: "waited NS away NS".
#include "thread_times.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

std::mutex g_index_lock;
static std::atomic<uint64_t> waited, away;

extern "C" __attribute__((noinline)) void rebuild_index() {
  uint64_t before = now();
  {
    std::lock_guard held(g_index_lock);
    waited += now() - before;
    usleep(2000);
  }
  asm volatile("");
}

extern "C" __attribute__((noinline)) void take_turns(int turns) {
  for (int n = 0; n < turns; n++) rebuild_index();
  asm volatile("");
}

int main(int, char** argv) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([turns = atoi(argv[1])] {
      const uint64_t cpu = on_cpu(), wall = now();
      take_turns(turns);
      const uint64_t lived = now() - wall;
      away += lived - (on_cpu() - cpu);
    });
  for (std::thread& t : threads) t.join();
  std::printf("waited %lu away %lu\n", waited.load(), away.load());
}
