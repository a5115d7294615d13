// Programs for `acu why`: programs MODE LOOPS [VARIANT]. LOOPS: of work in a microsecond, as `programs` alone prints it. VARIANT: "has" what the mode is
// for (the default), "twin": it looks alike and has not, "decoy": as the twin, with another oddity that is harmless.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

enum class Variant { has, twin, decoy } g_variant = Variant::has;
volatile unsigned long g_sink = 0;
double g_loops_per_us = 0;

// Not a function: whoever works is the one that is seen.
#define work(us) \
  for (unsigned long i = 0, n = static_cast<unsigned long>((us) * g_loops_per_us); i < n; i++) g_sink = g_sink + i

double measure_loops() {
  timespec from, to;
  g_loops_per_us = 1000;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  work(20000);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  const double ns = static_cast<double>(to.tv_sec - from.tv_sec) * 1e9 + static_cast<double>(to.tv_nsec - from.tv_nsec);
  return g_loops_per_us * 20000.0 * 1000 / ns;
}

void pause_us(long us) {
  timespec t = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&t, nullptr);
}

void start(const char* name, void (*run)()) {
  std::thread([name, run] {
    pthread_setname_np(pthread_self(), name);
    run();
  }).detach();
}

// ---- hot: one function has most of the CPU time

[[gnu::noinline]] void encode() { work(700); }
[[gnu::noinline]] void read_part() { work(60); }
[[gnu::noinline]] void check_part() { work(61); }
[[gnu::noinline]] void sort_part() { work(62); }
[[gnu::noinline]] void match_part() { work(63); }
[[gnu::noinline]] void join_part() { work(64); }
[[gnu::noinline]] void mark_part() { work(65); }
[[gnu::noinline]] void count_part() { work(66); }
[[gnu::noinline]] void write_part() { work(67); }
void do_parts() { read_part(), check_part(), sort_part(), match_part(), join_part(), mark_part(), count_part(), write_part(); }
[[gnu::noinline]] void odd_part() { work(130); }
void hot() {
  for (;;) {
    do_parts();
    if (g_variant == Variant::has) encode();
    if (g_variant == Variant::decoy) odd_part();
  }
}

// ---- asleep: requests wait for a lock whose holder sleeps; the twin sleeps before it takes the lock

std::mutex g_table_lock, g_other_lock;
[[gnu::noinline]] void refresh() {
  if (g_variant != Variant::has) pause_us(4000);
  std::lock_guard lock(g_table_lock);
  if (g_variant == Variant::has) pause_us(4000);
  work(20);
}
[[gnu::noinline]] void look_up() {
  std::lock_guard lock(g_table_lock);
  work(20);
}
void asleep() {
  for (int i = 0; i < 2; i++)
    start("refresher", [] {
      for (;;) refresh(), pause_us(100);
    });
  for (int i = 0; i < 4; i++)
    start("worker", [] {
      for (;;) look_up(), pause_us(500);
    });
  if (g_variant == Variant::decoy)
    start("keeper", [] {
      std::lock_guard lock(g_other_lock); // which nobody wants
      for (;;) pause_us(50000);
    });
  for (;;) pause();
}

// ---- pool: requests wait for one of two connections; the twin has enough

std::mutex g_pool_mutex;
std::condition_variable g_pool_free;
int g_free = 2;
[[gnu::noinline]] void query() { pause_us(5000); }
[[gnu::noinline]] void answer() {
  {
    std::unique_lock lock(g_pool_mutex);
    g_pool_free.wait(lock, [] { return g_free > 0; });
    g_free--;
  }
  query();
  {
    std::unique_lock lock(g_pool_mutex);
    g_free++;
    g_pool_free.notify_one();
  }
  work(30);
}
void pool() {
  if (g_variant != Variant::has) g_free = 8;
  for (int i = 0; i < 8; i++)
    start("client", [] {
      for (;;) answer();
    });
  if (g_variant == Variant::decoy)
    start("janitor", [] {
      for (;;) pause_us(300000);
    });
  for (;;) pause();
}

// ---- missing: a file that is not there is opened again and again; the twin opens one that is

[[gnu::noinline]] void load_settings() {
  const int fd = open(g_variant == Variant::has ? "/etc/acu-test/settings.conf" : "/etc/passwd", O_RDONLY);
  if (fd >= 0) close(fd);
}
void missing() {
  for (int i = 0;; i++) {
    load_settings();
    if (g_variant == Variant::decoy && i % 1000 == 0) close(open("/etc/acu-test/other.conf", O_RDONLY));
    work(1);
  }
}

// ---- births: programs are started all the time; the twin does as much by itself

[[gnu::noinline]] void run_helper() {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
}
void births() {
  for (int i = 0;; i++) {
    if (g_variant == Variant::has) run_helper();
    if (g_variant == Variant::decoy && i % 500 == 0) run_helper();
    do_parts();
  }
}

} // namespace

int main(int argc, char** argv) {
  struct Mode {
    const char* name;
    void (*run)();
  };
  constexpr Mode modes[] = {{"hot", hot}, {"asleep", asleep}, {"pool", pool}, {"missing", missing}, {"births", births}};
  if (argc == 1) return printf("%.0f\n", measure_loops()), 0;
  if (argc < 3) return fprintf(stderr, "usage: %s MODE LOOPS [has|twin|decoy]\n", argv[0]), 2;
  g_loops_per_us = atof(argv[2]);
  if (argc > 3) g_variant = !strcmp(argv[3], "twin") ? Variant::twin : !strcmp(argv[3], "decoy") ? Variant::decoy : Variant::has;
  for (const Mode& mode : modes)
    if (!strcmp(mode.name, argv[1])) mode.run();
  return 2;
}
