// Eight threads that take one mutex in turns, TURNS times each, and keep it while they sleep; tells how long they waited for
// it by the clock, in all: "waited NS".
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

std::mutex g_index_lock;
static std::atomic<uint64_t> waited;

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

extern "C" __attribute__((noinline)) void rebuild_index() {
  uint64_t before = now();
  {
    std::lock_guard held(g_index_lock);
    waited += now() - before;
    usleep(2000);
  }
  asm volatile("");
}

int main(int, char** argv) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([turns = atoi(argv[1])] {
      for (int n = 0; n < turns; n++) rebuild_index();
    });
  for (std::thread& t : threads) t.join();
  std::printf("waited %lu\n", waited.load());
}
