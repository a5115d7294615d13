// Programs for `acu why`: programs MODE LOOPS [VARIANT]. LOOPS: of work in a microsecond, as `programs` alone prints it. VARIANT: "has" what the mode is
// for (the default), "twin": it looks alike and has not, "decoy": as the twin, with another oddity that is harmless.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

// Requests that were handled, for whoever measures what acu costs: a number in the file that $ACU_DONE names.
std::atomic<unsigned long> g_none, *g_done = &g_none;
void done() { g_done->fetch_add(1, std::memory_order_relaxed); }
void count_in(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof *g_done)) abort();
  g_done = static_cast<std::atomic<unsigned long>*>(mmap(nullptr, sizeof *g_done, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
}

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
  for (;; done()) {
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
      for (;; done()) refresh(), pause_us(100);
    });
  for (int i = 0; i < 4; i++)
    start("worker", [] {
      for (;; done()) look_up(), pause_us(500);
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
      for (;; done()) answer();
    });
  if (g_variant == Variant::decoy)
    start("janitor", [] {
      for (;;) pause_us(300000);
    });
  for (;;) pause();
}

// ---- late: requests are there, but workers are told of them after a report to a slow service; the twin tells them first

std::condition_variable g_ready;
int g_requests = 0;
[[gnu::noinline]] void report_request() { pause_us(4000); }
[[gnu::noinline]] void enqueue() {
  {
    std::lock_guard lock(g_pool_mutex);
    g_requests++;
  }
  if (g_variant == Variant::has) report_request();
  g_ready.notify_one();
  if (g_variant != Variant::has) report_request();
}
[[gnu::noinline]] void dequeue() {
  {
    std::unique_lock lock(g_pool_mutex);
    g_ready.wait(lock, [] { return g_requests > 0; });
    g_requests--;
  }
  work(300);
}
void late() {
  start("acceptor", [] {
    for (;;) enqueue(), pause_us(500);
  });
  for (int i = 0; i < 2; i++)
    start("worker", [] {
      for (;; done()) dequeue();
    });
  if (g_variant == Variant::decoy)
    start("reporter", [] { // late, once in a while
      for (;; pause_us(300000)) {
        {
          std::lock_guard lock(g_pool_mutex);
          g_requests++;
        }
        report_request();
        g_ready.notify_one();
      }
    });
  for (;;) pause();
}

// ---- missing: a file that is not there is opened again and again; the twin opens one that is

[[gnu::noinline]] void load_settings() {
  const int fd = open(g_variant == Variant::has ? "/etc/acu-test/settings.conf" : "/etc/passwd", O_RDONLY);
  if (fd >= 0) close(fd);
}
void missing() {
  for (int i = 0;; i++, done()) {
    load_settings();
    if (g_variant == Variant::decoy && i % 1000 == 0) close(open("/etc/acu-test/other.conf", O_RDONLY));
    if (i % 500 == 0) do_parts(); // 1 us for each, in several functions: where files are opened quickly it is most of the time
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
  for (int i = 0;; i++, done()) {
    if (g_variant == Variant::has) run_helper();
    if (g_variant == Variant::decoy && i % 500 == 0) run_helper();
    do_parts();
  }
}

// ---- spin: threads wait for a spin lock; in the twin each computes by itself

pthread_spinlock_t g_spin;
[[gnu::noinline]] void take_ticket() {
  if (g_variant == Variant::has) pthread_spin_lock(&g_spin);
  do_parts();
  if (g_variant == Variant::has) pthread_spin_unlock(&g_spin);
}
void spin() {
  pthread_spin_init(&g_spin, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 2; i++)
    start("seller", [] {
      for (;; done()) take_ticket();
    });
  if (g_variant == Variant::decoy)
    start("spinner", [] {
      for (;;) pthread_spin_lock(&g_spin), pthread_spin_unlock(&g_spin), pause_us(1000);
    });
  for (;;) pause();
}

// ---- poll: it asks for events all the time, and there are none; the twin computes instead

[[gnu::noinline]] void look_for_events(int pipe_end, int timeout_ms) {
  pollfd p = {pipe_end, POLLIN, 0};
  poll(&p, 1, timeout_ms);
}
void poll_in_vain() {
  int ends[2];
  if (pipe(ends)) abort();
  for (;; done()) {
    if (g_variant == Variant::has) look_for_events(ends[0], 0);
    else do_parts();
    if (g_variant == Variant::decoy) look_for_events(ends[0], 1);
  }
}

// ---- flush: requests wait for a lock whose holder waits for the disk; the twin writes before it takes the lock

int g_journal = -1;
[[gnu::noinline]] void append_row() {
  static char row[256 << 10] = "row";
  if (pwrite(g_journal, row, sizeof row, 0) != sizeof row || fdatasync(g_journal)) abort();
}
[[gnu::noinline]] void commit() {
  if (g_variant != Variant::has) append_row();
  std::lock_guard lock(g_table_lock);
  if (g_variant == Variant::has) append_row();
  work(5);
}
void flush() {
  const char* folder = getenv("ACU_TEST_DISK"); // a flush of a tmpfs takes no time
  std::string path = std::string(folder ? folder : "/var/tmp") + "/acu-why-XXXXXX";
  g_journal = mkstemp(path.data());
  if (g_journal < 0 || unlink(path.c_str())) abort();
  start("committer", [] {
    for (;; done()) commit(), pause_us(20);
  });
  for (int i = 0; i < 4; i++)
    start("worker", [] {
      for (;; done()) look_up(), pause_us(100);
    });
  for (;;) pause();
}

// ---- convoy: threads queue for a lock that is held for a moment only; the twin's have a lock each, and hold it for longer

struct Shard {
  std::mutex lock;
  unsigned long count = 0;
};
Shard g_shards[8];
[[gnu::noinline]] void count_request(size_t thread) {
  Shard& shard = g_shards[g_variant == Variant::has ? 0 : thread];
  std::lock_guard lock(shard.lock);
  shard.count++;
  if (g_variant != Variant::has) return do_parts();
  work(30);
}
void convoy() {
  prctl(PR_SET_TIMERSLACK, 1);
  for (size_t i = 0; i < (g_variant == Variant::has ? 8 : 2); i++)
    std::thread([i] {
      pthread_setname_np(pthread_self(), "counter");
      for (;; done()) count_request(i), pause_us(100);
    }).detach();
  for (;;) pause();
}

// ---- threads: many threads compute on few CPUs; the twin has two

void threads() {
  const int count = g_variant == Variant::has ? 24 : 2;
  for (int i = 0; i < count; i++)
    start("solver", [] {
      for (;; done()) do_parts();
    });
  if (g_variant == Variant::decoy)
    for (int i = 0; i < 64; i++)
      start("idle", [] {
        for (;;) pause_us(500000);
      });
  for (;;) pause();
}

// ---- log: each request writes a line about what fails; the twin writes a file that is no log, in large pieces

[[gnu::noinline]] void report_failure(int log, int i) {
  char line[100];
  const int n = snprintf(line, sizeof line, "ERROR request %d: cannot reach the queue, trying again\n", i);
  if (write(log, line, static_cast<size_t>(n)) != n) abort();
}
void log_all() {
  char path[] = "/tmp/acu-why-XXXXXX.log";
  const int log = mkstemps(path, 4);
  fcntl(log, F_SETFL, O_APPEND);
  unlink(path);
  for (int i = 0;; i++, done()) {
    if (g_variant == Variant::has || (g_variant == Variant::decoy && i % 10 == 0)) report_failure(log, i);
    if (g_variant != Variant::has) do_parts();
    if (i % 100000 == 0 && ftruncate(log, 0)) abort();
  }
}

// ---- descriptors: all that it may have are open, and each request fails; the twin closes them

[[gnu::noinline]] void serve_one() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s >= 0 && g_variant != Variant::has) close(s);
  work(50);
}
void descriptors() {
  if (g_variant == Variant::decoy)
    for (int i = 0; i < 200; i++) (void)!dup(1);
  for (;; done()) serve_one(), pause_us(500);
}

// ---- timers: it wakes up to find that there is nothing to do; the twin finds work

[[gnu::noinline]] void look_for_work() { pause_us(20); }
void timers() {
  prctl(PR_SET_TIMERSLACK, 1);
  for (;; done()) {
    look_for_work();
    if (g_variant != Variant::has) do_parts();
  }
}

// ---- faults: each request maps its memory anew; the twin keeps it

[[gnu::noinline]] void fill_buffer(char* buffer, size_t size) {
  for (size_t i = 0; i < size; i += 4096) buffer[i] = 1;
}
void faults() {
  constexpr size_t size = 4 << 20;
  char* buffer = nullptr;
  for (;; done()) {
    if (!buffer) buffer = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (g_variant == Variant::has) madvise(buffer, size, MADV_NOHUGEPAGE);
    fill_buffer(buffer, size);
    if (g_variant != Variant::has) {
      do_parts();
      continue;
    }
    munmap(buffer, size);
    buffer = nullptr;
  }
}

// ---- circle: two threads have a lock each, and want the other's; in the twin they wait for requests that do not come

std::mutex g_accounts, g_audit;
[[gnu::noinline]] void transfer(std::mutex& first, std::mutex& second) {
  std::lock_guard outer(first);
  pause_us(100000);
  std::lock_guard inner(second);
}
void circle() {
  if (g_variant == Variant::has) {
    start("teller", [] { transfer(g_accounts, g_audit); });
    start("auditor", [] { transfer(g_audit, g_accounts); });
  } else {
    for (int i = 0; i < 2; i++)
      start("teller", [] {
        std::unique_lock lock(g_pool_mutex);
        g_pool_free.wait(lock, [] { return false; });
      });
  }
  for (;;) pause();
}

// ---- crash: a supervisor whose worker crashes again and again; the twin's ends by itself

int* volatile g_no_session = nullptr;
[[gnu::noinline]] void close_session() {
  pause_us(200000);
  *g_no_session = 1;
}
void crash() {
  if (g_variant != Variant::has) prctl(PR_SET_NAME, "sound"); // the kernel's log has the crashes of the others
  for (;; done()) {
    const pid_t child = fork();
    if (child == 0) {
      if (g_variant == Variant::has) close_session();
      pause_us(200000);
      _exit(g_variant == Variant::decoy);
    }
    waitpid(child, nullptr, 0);
    done();
  }
}

// ---- uninterruptible: it waits in the kernel for a child of vfork(2); the twin waits for a child that has executed a program

void uninterruptible() {
  if (g_variant == Variant::has) {
    if (vfork() == 0) {
      for (int i = 0; i < 60; i++) pause_us(1000000);
      _exit(0);
    }
  } else {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/sleep", "sleep", "60", nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
  }
  for (;;) pause();
}

// ---- throw: each request fails by an exception, through twelve functions; the twin's return an error

struct no_such_user : std::exception {};
[[gnu::noinline]] int find_user(int id) {
  g_sink = g_sink + static_cast<unsigned long>(id);
  if (g_variant == Variant::has || (g_variant == Variant::decoy && id % 2000 == 0)) throw no_such_user();
  return -1;
}
template<int depth> [[gnu::noinline]] int pass_on(int id) {
  const std::string text(40, 'x'); // what an exception has to destroy on its way
  const int found = depth ? pass_on<(depth > 0 ? depth - 1 : 0)>(id) : find_user(id);
  g_sink = g_sink + text.size();
  return found;
}
void throw_all() {
  for (int id = 1;; id++, done()) {
    try {
      pass_on<12>(id);
    } catch (const no_such_user&) {
      g_sink = g_sink + 1;
    }
    if (g_variant != Variant::has && id % 20 == 0) do_parts();
  }
}

// ---- leak: headers are kept forever; the twin keeps the last ones, the decoy has a large buffer that comes and goes

std::vector<char*> g_headers;
[[gnu::noinline]] void parse_header(size_t n) {
  char* header = static_cast<char*>(malloc(200 + n % 100));
  memset(header, 1, 200);
  constexpr size_t last = 2000;
  if (g_variant != Variant::has && g_headers.size() == last) {
    free(g_headers[n % last]);
    g_headers[n % last] = header;
  } else {
    g_headers.push_back(header);
  }
}
[[gnu::noinline]] void read_body(size_t n) {
  char* body = static_cast<char*>(malloc(1000 + n % 5000));
  memset(body, 1, 1000);
  work(20);
  free(body);
}
void leak() {
  if (g_variant == Variant::decoy)
    start("reporter", [] {
      for (;;) {
        char* report = static_cast<char*>(malloc(4 << 20));
        memset(report, 1, 4 << 20);
        pause_us(400000);
        free(report);
        pause_us(400000);
      }
    });
  for (size_t n = 0;; n++, done()) {
    parse_header(n);
    for (size_t i = 0; i < 3; i++) read_body(n + 997 * i);
    pause_us(900);
  }
}

} // namespace

int main(int argc, char** argv) {
  struct Mode {
    const char* name;
    void (*run)();
  };
  constexpr Mode modes[] = {{"hot", hot}, {"asleep", asleep}, {"pool", pool}, {"late", late}, {"missing", missing}, {"births", births}, {"spin", spin},
                            {"poll", poll_in_vain}, {"flush", flush}, {"convoy", convoy}, {"threads", threads}, {"log", log_all}, {"descriptors", descriptors},
                            {"timers", timers}, {"faults", faults}, {"circle", circle}, {"crash", crash}, {"uninterruptible", uninterruptible},
                            {"throw", throw_all}, {"leak", leak}};
  if (argc == 1) return printf("%.0f\n", measure_loops()), 0;
  if (argc < 3) return fprintf(stderr, "usage: %s MODE LOOPS [has|twin|decoy]\n", argv[0]), 2;
  g_loops_per_us = atof(argv[2]);
  if (argc > 3) g_variant = !strcmp(argv[3], "twin") ? Variant::twin : !strcmp(argv[3], "decoy") ? Variant::decoy : Variant::has;
  if (const char* path = getenv("ACU_DONE")) count_in(path);
  for (const Mode& mode : modes)
    if (!strcmp(mode.name, argv[1])) mode.run();
  return 2;
}
