// Small programs, each with one thing wrong. They are compiled without inlining and without tail calls: every function is in the stacks.
#include "learn/programs.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// What a learner sees in stacks and probes by these names.
#define SHOP extern "C" [[gnu::visibility("default"), gnu::used, gnu::noinline]]

namespace {

volatile uint64_t sink;
unsigned number_of_lesson = 0;

// These two are part of their callers, so that learners see only functions of the shop.
[[gnu::always_inline]] inline void sleep_ms(unsigned ms) {
  timespec left = {ms / 1000, static_cast<long>(ms % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

[[gnu::always_inline]] inline void compute(unsigned rounds) {
  uint64_t x = sink;
  for (unsigned i = 0; i < rounds * 1000; i++) x = x * 6364136223846793005ull + i;
  sink = x;
}

// Work of the chosen one of three, and of the others.
unsigned share(unsigned which, unsigned much, unsigned little) { return number_of_lesson % 3 == which ? much : little; }

} // namespace

SHOP void shop_check_stock() { compute(share(0, 80, 8)); }
SHOP void shop_price_cart() { compute(share(1, 80, 8)); }
SHOP void shop_print_receipt() { compute(share(2, 80, 8)); }
SHOP void shop_handle_order() {
  shop_check_stock();
  shop_price_cart();
  shop_print_receipt();
}

SHOP void shop_compare(unsigned rounds) { compute(rounds); }
SHOP void shop_sort_prices() { shop_compare(share(0, 80, 5)); }
SHOP void shop_find_item() { shop_compare(share(1, 80, 5)); }
SHOP void shop_merge_orders() { shop_compare(share(2, 80, 5)); }
SHOP void shop_close_day() {
  shop_sort_prices();
  shop_find_item();
  shop_merge_orders();
}

SHOP void shop_read_settings() {
  const std::string path = "shop-" + std::to_string(100 + number_of_lesson) + ".conf";
  const int missing = ::open(path.c_str(), O_RDONLY | O_CLOEXEC), there = ::open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  for (int fd : {missing, there})
    if (fd >= 0) ::close(fd);
  sleep_ms(50);
}

SHOP void shop_run_helper() {
  const std::string ticket = "--ticket=" + std::to_string(100 + number_of_lesson);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/true", "true", ticket.c_str(), nullptr);
    ::_exit(127);
  }
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  sleep_ms(200);
}

SHOP void shop_send(int fd) {
  static char data[1024];
  for (int i = 0; i < 10; i++)
    if (::write(fd, data, i == 0 ? 7 : i == 1 ? 64 : 100 + number_of_lesson) < 0) return;
  sleep_ms(20);
}

SHOP unsigned shop_price_of(unsigned item) {
  sink = sink + item;
  return item * 3;
}
SHOP void shop_serve_customers() {
  for (unsigned i = 0; i < 20; i++) sink = sink + shop_price_of(i < 15 ? 100 + number_of_lesson : i);
  sleep_ms(20);
}

SHOP void shop_wait_for_bank() { sleep_ms(share(0, 60, 3)); }
SHOP void shop_wait_for_printer() { sleep_ms(share(1, 60, 3)); }
SHOP void shop_wait_for_truck() { sleep_ms(share(2, 60, 3)); }
SHOP void shop_deliver() {
  shop_wait_for_bank();
  shop_wait_for_printer();
  shop_wait_for_truck();
}

SHOP void shop_reload_prices(unsigned ms) { sleep_ms(ms); }
SHOP void shop_write_journal(unsigned ms) { sleep_ms(ms); }
SHOP void shop_rotate_log(unsigned ms) { sleep_ms(ms); }
SHOP void shop_serve(unsigned turn) {
  compute(1);
  if (turn % 20 != 19) return;
  if (number_of_lesson % 3 == 0) shop_reload_prices(40);
  if (number_of_lesson % 3 == 1) shop_write_journal(40);
  if (number_of_lesson % 3 == 2) shop_rotate_log(40);
  sink = sink + 1;
}
SHOP void shop_open() {
  for (unsigned turn = 0; turn < 20; turn++) {
    shop_serve(turn);
    sleep_ms(2);
  }
}

pthread_mutex_t shop_till_lock = PTHREAD_MUTEX_INITIALIZER;

// Holds the lock while it sleeps, or takes it for a moment only.
SHOP void shop_use_till(unsigned ms) {
  pthread_mutex_lock(&shop_till_lock);
  if (ms) sleep_ms(ms);
  sink = sink + 1;
  pthread_mutex_unlock(&shop_till_lock);
}
SHOP void* shop_background(void* which) {
  const auto n = static_cast<unsigned>(reinterpret_cast<uintptr_t>(which));
  ::pthread_setname_np(::pthread_self(), std::string(learn::threads[n]).c_str());
  for (;;) {
    shop_use_till(n == number_of_lesson % 3 ? 30 : 0);
    sleep_ms(10);
  }
}
SHOP void shop_sell() {
  shop_use_till(0);
  compute(2);
}

SHOP void shop_keep_file() {
  static unsigned opened = 0;
  const std::string path = "stock-" + std::to_string(100 + number_of_lesson) + ".db";
  if (opened++ < 200) static_cast<void>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); // and never closes it
  sleep_ms(opened < 200 ? 1 : 50);
}

SHOP void shop_wait_for_answer() {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock); // the thread waits for itself
  sink = sink + 1;
}
SHOP void shop_open_door() { shop_wait_for_answer(); sink = sink + 1; }
SHOP void shop_count_cash() { shop_wait_for_answer(); sink = sink + 2; }
SHOP void shop_unload_truck() { shop_wait_for_answer(); sink = sink + 3; }
SHOP void shop_begin_day() {
  if (number_of_lesson % 3 == 0) shop_open_door();
  if (number_of_lesson % 3 == 1) shop_count_cash();
  if (number_of_lesson % 3 == 2) shop_unload_truck();
  sink = sink + 1;
}

namespace learn {

namespace {

void start_background() {
  static bool has_started = false;
  if (has_started) return;
  has_started = true;
  for (uintptr_t n = 0; n < 3; n++) {
    pthread_t thread;
    ::pthread_create(&thread, nullptr, shop_background, reinterpret_cast<void*>(n));
  }
}

struct Program {
  std::string_view name;
  void (*step)(); // repeated for ever
};
constexpr Program programs[] = {
    {"busy", [] { shop_handle_order(); }},
    {"callers", [] { shop_close_day(); }},
    {"missing", [] { shop_read_settings(); }},
    {"helper", [] { shop_run_helper(); }},
    {"writes", [] {
       static const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
       shop_send(fd);
     }},
    {"prices", [] { shop_serve_customers(); }},
    {"waits", [] { shop_deliver(); }},
    {"slow", [] { shop_open(); }},
    {"lock", [] {
       start_background();
       shop_sell();
     }},
    {"leak", [] { shop_keep_file(); }},
    {"stuck", [] { shop_begin_day(); }},
};

} // namespace

bool run_program(std::string_view name, unsigned number) {
  for (const Program& p : programs) {
    if (p.name != name) continue;
    number_of_lesson = number % numbers;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "shop");
    for (;;) p.step();
  }
  return false;
}

} // namespace learn
