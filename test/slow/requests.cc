// requests N [quiet]: serves N requests of 5 us in one thread, each of which takes g_cache_lock; in the middle another thread has
// that for 50 ms, but not with `quiet`. Prints the time of all requests, the processor's time of their thread, and the longest, in s.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;

std::mutex g_cache_lock;
static std::atomic<int> g_phase; // 1: it is time; 2: the lock is taken; 3: a request comes, or it is never time
static volatile unsigned long g_sum;

__attribute__((noinline)) void rebuild_cache() {
  std::lock_guard<std::mutex> lock(g_cache_lock);
  g_phase = 2;
  while (g_phase == 2) usleep(100);
  usleep(50000);
  g_sum = g_sum + 1;
}

__attribute__((noinline)) int look_up(int key) {
  std::lock_guard<std::mutex> lock(g_cache_lock);
  return static_cast<int>(static_cast<unsigned long>(key) + g_sum);
}

__attribute__((noinline)) int serve_request(int key) {
  const int found = look_up(key);
  const auto end = Clock::now() + std::chrono::nanoseconds(5000);
  while (Clock::now() < end) g_sum = g_sum + 1;
  return found;
}

static double processor_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::thread rebuilder([] {
    pthread_setname_np(pthread_self(), "rebuilder");
    while (g_phase == 0) usleep(1000);
    if (g_phase != 1) return;
    rebuild_cache();
    g_sum = g_sum + 1;
  });
  const double processor = processor_time();
  const auto begin = Clock::now();
  double longest = 0;
  for (int i = 0; i < requests; i++) {
    if (i == requests / 2) {
      g_phase = argc > 2 ? 3 : 1;
      while (g_phase == 1) usleep(100);
      g_phase = 3;
    }
    const auto start = Clock::now();
    serve_request(i);
    longest = std::max(longest, seconds(Clock::now() - start));
  }
  const double all = seconds(Clock::now() - begin);
  std::printf("%.6f %.6f %.6f\n", all, processor_time() - processor, longest);
  rebuilder.join();
}
