// A thread that naps in turns with one that wakes it, for MS; tells how long it napped by the clock: "nap NS".
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

extern "C" __attribute__((noinline)) void nap(useconds_t us) {
  usleep(us);
  asm volatile("");
}

static std::mutex lock;
static std::condition_variable bell;

static void sleeper() {
  pthread_setname_np(pthread_self(), "sleeper");
  std::unique_lock held(lock);
  for (;;) bell.wait(held);
}

int main(int, char** argv) {
  std::thread(sleeper).detach();
  uint64_t slept = 0, begin = now();
  while (now() - begin < strtoull(argv[1], nullptr, 10) * 1000000) {
    uint64_t a = now();
    nap(20000);
    slept += now() - a;
    bell.notify_all();
  }
  std::printf("nap %lu\n", slept);
  std::fflush(stdout);
  _exit(0);
}
