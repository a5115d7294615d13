// Handlers may only set flags and write to a descriptor, so that is all they do. State is global because
// signals are the process's.
#include "session/signals.h"

#include "base/clock.h"
#include "base/fd.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>

namespace session::signals {

namespace {
constexpr int signal_count = 65;
// A second SIGINT that comes sooner is the same one: timeout(1), sudo(8) and shells send it to the process and to its group.
constexpr uint64_t again_ns = 500'000'000;
std::atomic<bool> noted[signal_count];
std::atomic<int> event_fd{-1};
std::atomic<uint64_t> interrupted_ns{0}; // when first
std::atomic<uint64_t> stopped_ns{0};     // when SIGINT or SIGTERM first came
std::atomic<bool> is_limited{true};
std::atomic<uint64_t> deadline_ns{UINT64_MAX};
std::atomic<void (*)()> last_act{nullptr};
} // namespace

static void note(int signal) {
  int saved = errno;
  if (signal == SIGINT) {
    const uint64_t now = base::clock_ns();
    uint64_t first = 0;
    if (!interrupted_ns.compare_exchange_strong(first, now) && now - first >= again_ns) {
      if (auto act = last_act.load()) act();
      ::_exit(128 + SIGINT);
    }
  }
  if (uint64_t never = 0; signal == SIGINT || signal == SIGTERM) stopped_ns.compare_exchange_strong(never, base::clock_ns());
  noted[signal] = true;
  uint64_t one = 1;
  if (::write(event_fd, &one, sizeof one) < 0) {
  } // full: it is readable already
  errno = saved;
}

static void ignore(int) {}

base::Status install(std::span<const int> more) {
  if (event_fd < 0) event_fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event_fd < 0) return base::errno_error("cannot wait for signals", errno);
  struct sigaction action = {};
  action.sa_handler = note;
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
  // Who was started with nohup stays when the terminal goes.
  struct sigaction hangup = {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
  for (int signal : more) {
    if (signal <= 0 || signal >= signal_count || ::sigaction(signal, &action, nullptr) != 0)
      return base::errno_error("cannot wait for signal " + std::to_string(signal), errno);
  }
  action.sa_handler = ignore; // not SIG_IGN, which programs we start would inherit
  ::sigaction(SIGPIPE, &action, nullptr);
  return {};
}

int fd() { return event_fd; }

int patience_ms() {
  constexpr uint64_t ms = 1'000'000, whole = 500 * ms;
  const uint64_t stopped = stopped_ns;
  if (!stopped || !is_limited) return -1;
  const uint64_t passed = base::clock_ns() - stopped;
  return passed < whole ? static_cast<int>((whole - passed + ms - 1) / ms) : 0;
}

void set_deadline(uint64_t time_ns) { deadline_ns = time_ns; }

bool is_over() {
  pollfd waiting = {event_fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0 || base::clock_ns() >= deadline_ns;
}

bool is_stopping() { return stopped_ns != 0; }

void lift_limit() { is_limited = false; }

void set_last_act(void (*act)()) { last_act = act; }

std::vector<int> take() {
  uint64_t count;
  if (::read(event_fd, &count, sizeof count) < 0) return {};
  std::vector<int> out;
  for (int s = 1; s < signal_count; s++)
    if (noted[s].exchange(false)) out.push_back(s);
  return out;
}

void forget() {
  take();
  interrupted_ns = stopped_ns = 0;
  is_limited = true;
}

} // namespace session::signals
