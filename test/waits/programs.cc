// Programs whose longest wait is not the bottleneck: programs MODE SECONDS LOOPS [without]. LOOPS: of work in a microsecond, as `programs` alone
// prints it. `without`: the bottleneck takes no time. They mostly sleep, as the speed of CPUs changes from one second to the next. Prints how many
// items were done in a second.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

bool g_without = false;
std::atomic<bool> g_stop = false;
std::atomic<unsigned long> g_done = 0;
volatile unsigned long g_sink = 0;
double g_loops_per_us = 0;
constexpr long scale = 3; // so that what acu itself takes is a small part of it

void work(double us) {
  const unsigned long n = static_cast<unsigned long>(us * scale * g_loops_per_us);
  for (unsigned long i = 0; i < n; i++) g_sink = g_sink + i;
}

uint64_t cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

double measure_loops() {
  g_loops_per_us = 1000;
  const uint64_t begin = cpu_ns();
  work(20000);
  return g_loops_per_us * scale * 20000.0 * 1000 / static_cast<double>(cpu_ns() - begin);
}

void sleep_us(long us) {
  us *= scale;
  timespec t = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&t, nullptr);
}

class Queue {
public:
  explicit Queue(size_t most) : most_(most) {}
  void push(int item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return items_.size() < most_ || g_stop; });
    items_.push_back(item);
    has_some_.notify_one();
  }
  int pop() {
    std::unique_lock lock(mutex_);
    has_some_.wait(lock, [&] { return !items_.empty() || g_stop; });
    if (items_.empty()) return 0;
    const int item = items_.front();
    items_.pop_front();
    has_room_.notify_one();
    return item;
  }

private:
  size_t most_;
  std::mutex mutex_;
  std::condition_variable has_room_, has_some_;
  std::deque<int> items_;
};

std::vector<std::thread> g_threads;

void start(const char* name, void (*run)()) {
  g_threads.emplace_back([name, run] {
    pthread_setname_np(pthread_self(), name);
    run();
  });
}

// A thread with an interval of its own, whose waits are the longest of all.
void keep_statistics() {
  while (!g_stop) sleep_us(200000);
}

// ---- log: requests write to a log under a lock, and its flush sleeps

std::mutex g_log_lock;
[[gnu::noinline]] void flush_log() {
  if (!g_without) sleep_us(2000);
  work(5);
}
[[gnu::noinline]] void handle_request() { sleep_us(1000), work(5); }
void serve() {
  while (!g_stop) {
    handle_request();
    std::lock_guard lock(g_log_lock);
    flush_log();
    g_done++;
  }
}
void log() {
  for (int i = 0; i < 4; i++) start("worker", serve);
  start("statistics", keep_statistics);
}

// ---- pipeline: the second of three stages takes longest

Queue g_parsed(8), g_packed(8);
[[gnu::noinline]] void parse() { sleep_us(700); }
[[gnu::noinline]] void pack() {
  if (!g_without) sleep_us(2500), work(500);
}
[[gnu::noinline]] void send() { sleep_us(300); }
void run_parser() {
  while (!g_stop) parse(), g_parsed.push(1);
}
void run_packer() {
  while (!g_stop) g_parsed.pop(), pack(), g_packed.push(1);
}
void run_sender() {
  while (!g_stop) g_packed.pop(), send(), g_done++;
}
void pipeline() {
  start("parser", run_parser);
  start("packer", run_packer);
  start("sender", run_sender);
  start("statistics", keep_statistics);
}

// ---- pool: requests wait for one of two connections, whose queries take long

Queue g_free(2);
[[gnu::noinline]] void query() {
  if (!g_without) sleep_us(6000);
}
[[gnu::noinline]] void make_page() { sleep_us(2000), work(5); }
void answer() {
  while (!g_stop) {
    const int connection = g_free.pop();
    query();
    g_free.push(connection);
    make_page();
    g_done++;
  }
}
void pool() {
  g_free.push(1), g_free.push(2);
  for (int i = 0; i < 6; i++) start("client", answer);
  start("statistics", keep_statistics);
}

// ---- chain: a thread asks another, which asks a third, which is slow

struct Service {
  Queue asked{64}, answered{64};
};
Service g_front, g_store;
[[gnu::noinline]] void look_up() {
  if (!g_without) sleep_us(3000), work(100);
}
[[gnu::noinline]] void render() { sleep_us(700); }
void run_store() {
  while (!g_stop) g_store.asked.pop(), look_up(), g_store.answered.push(1);
}
void run_front() {
  while (!g_stop) {
    g_front.asked.pop();
    g_store.asked.push(1);
    g_store.answered.pop();
    render();
    g_front.answered.push(1);
  }
}
void run_caller() {
  while (!g_stop) g_front.asked.push(1), g_front.answered.pop(), g_done++;
}
void chain() {
  start("caller", run_caller);
  start("front", run_front);
  start("store", run_store);
  start("statistics", keep_statistics);
}

// ---- rounds: four threads meet after each round, and one has more to do

pthread_barrier_t g_barrier;
[[gnu::noinline]] void own_part() { sleep_us(400); }
[[gnu::noinline]] void merge() {
  if (!g_without) sleep_us(1500), work(100);
}
void take_part(bool merges) {
  while (!g_stop) {
    own_part();
    if (merges) merge();
    pthread_barrier_wait(&g_barrier);
    if (merges) g_done++;
  }
}
void rounds() {
  pthread_barrier_init(&g_barrier, nullptr, 3);
  start("part", [] { take_part(false); });
  start("part", [] { take_part(false); });
  start("merger", [] { take_part(true); });
  start("statistics", keep_statistics);
}

} // namespace

int main(int argc, char** argv) {
  struct Mode {
    const char* name;
    void (*start)();
  };
  constexpr Mode modes[] = {{"log", log}, {"pipeline", pipeline}, {"pool", pool}, {"chain", chain}, {"rounds", rounds}};
  if (argc == 1) return printf("%.0f\n", measure_loops()), 0;
  if (argc < 4) return fprintf(stderr, "usage: %s MODE SECONDS LOOPS [without]\n", argv[0]), 2;
  g_loops_per_us = atof(argv[3]);
  g_without = argc > 4 && !strcmp(argv[4], "without");
  for (const Mode& mode : modes)
    if (!strcmp(mode.name, argv[1])) mode.start();
  if (g_threads.empty()) return 2;
  const double seconds = atof(argv[2]);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  printf("%.1f\n", static_cast<double>(g_done) / seconds);
  fflush(stdout);
  _exit(0); // threads wait for each other
}
