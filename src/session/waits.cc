// The loop of scripts that run. It waits for records, for the next interval, for signals and for processes to end; of several scripts
// at once in one call.
//
// Records: the ring does not wake us for each of them, so it is looked at every millisecond while they flow,
// and ever more rarely (up to 50 ms) while they don't, or while nobody waits for them; only then is its
// descriptor waited for too, as it would be readable all the time while they flow. Intervals are deadlines in the call that waits anyway, not
// descriptors of their own: a script of ten intervals opens nothing.
#include "session/life.h"

#include "base/clock.h"
#include "session/losses.h"
#include "session/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <poll.h>
#include <unistd.h>

namespace session {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t shortest_wait = 1 * ms;
constexpr uint64_t longest_wait = 50 * ms;
constexpr uint64_t shortest_lazy_wait = 5 * ms; // where nobody waits for records
constexpr uint64_t watch_ring_from = 4 * ms; // waits of at least this long also end when a record arrives
constexpr uint64_t look_period = 200 * ms; // between two looks at the counters
constexpr uint64_t forever = ~0ull;

struct Timer {
  uint32_t probe;
  uint64_t period;
  uint64_t next;
};

// One script's part in the loop.
class Turns {
public:
  explicit Turns(Life& life) : life_(life), polls_(life.backend.wait_fd() >= 0) {
    uint64_t start = base::clock_ns();
    for (uint32_t i = 0; i < life.program.probes.size(); i++)
      for (uint32_t e : life.program.probes[i].events)
        if (const probe::Event& event = life.program.events[e]; event.kind == probe::Kind::interval)
          timers_.push_back({i, std::max<uint64_t>(event.period_ns, 1), start + event.period_ns});
  }

  void begin() {
    for (Regular* r : life_.regulars)
      if (r->begin) r->begin();
  }
  void end() {
    for (Regular* r : life_.regulars)
      if (r->end) r->end();
  }

  bool done() const {
    return stop_ || (life_.cancelled && life_.cancelled->load()) || life_.effects.ended() || life_.output.broken() || life_.output.failure();
  }

  // How long nothing can happen that its descriptors do not show, in ns; which those are.
  uint64_t prepare(std::vector<pollfd>& fds) {
    life_.output.settle();
    uint64_t wait = std::min(polls_ ? pace_ : forever, watch_pace_);
    uint64_t t = base::clock_ns();
    for (const Timer& timer : timers_) wait = std::min(wait, timer.next > t ? timer.next - t : 0);
    int input_fd = -1; // one of them has input at most
    for (const Regular* r : life_.regulars) {
      wait = std::min(wait, r->next_ns > t ? r->next_ns - t : 0);
      input_fd = std::max(input_fd, r->fd);
    }
    look_ = life_.files ? life_.files->next_look() : 0;
    if (look_) wait = std::min(wait, look_ > t ? look_ - t : 0);
    const bool watch_ring = polls_ && wait >= watch_ring_from;
    const int all[places] = {life_.child ? life_.child->fd() : -1,
                             life_.target_fd,
                             watch_ring ? life_.backend.wait_fd() : -1,
                             life_.watch && !changes_flow_ ? life_.watch->wait_fd() : -1,
                             life_.files ? life_.files->wait_fd() : -1,
                             input_fd};
    for (int fd : all) fds.push_back({fd, POLLIN, 0});
    return wait;
  }

  // What its descriptors show; notes the end of processes.
  void note(std::span<const pollfd> fds) {
    stop_ |= fds[child].revents != 0 || (fds[target].revents != 0 && !watch_next_target());
    has_input_ = fds[input].revents != 0;
    if (fds[input].revents & (POLLHUP | POLLERR | POLLNVAL)) stop_ = true; // the terminal is gone
    files_changed_ = fds[files].revents != 0 || (look_ && look_ <= base::clock_ns());
  }
  void note_nothing() { has_input_ = false, files_changed_ = look_ && look_ <= base::clock_ns(); }

  base::Status take(std::span<const int> signals) {
    size_t changes = life_.watch ? life_.watch->drain() : 0;
    size_t records = life_.effects.drain();
    keep_watching(changes, records);
    if (files_changed_) life_.files->follow();
    if (records) report_lost();
    report_first_faults();
    pace_ = records && !life_.records_may_wait ? shortest_wait : std::min(pace_ * 2, longest_wait);
    if (done()) return {};
    ACU_CHECK(take_signals(signals));
    ACU_CHECK(run_timers());
    return run_regulars();
  }

  static constexpr size_t places = 6;

private:
  enum { child, target, ring, processes, files, input }; // of its descriptors

  // false: there are no more. One that has ended before is readable at once.
  bool watch_next_target() {
    if (life_.more_targets.empty()) return false;
    life_.target_fd = life_.more_targets.front().get();
    life_.more_targets = life_.more_targets.subspan(1);
    return true;
  }

  // What happened to processes is looked at as it happens, but while much does, by the clock. When nothing does there
  // is time for what can be known before it is asked for.
  void keep_watching(size_t changes, size_t records) {
    if (!life_.watch) return;
    changes_flow_ = changes > 0;
    bool has_work = !changes && (!records || life_.records_may_wait) && life_.watch->work();
    watch_pace_ = changes_flow_ || has_work ? shortest_ : forever;
  }

  // Lost events are reported when seen, as a total since the last report.
  void report_lost() {
    uint64_t t = base::clock_ns();
    if (t < next_lost_look_) return;
    next_lost_look_ = t + look_period;
    report_lost_events(life_);
  }

  // With -k, a fault is reported when it first occurs, not only as a total at the end.
  void report_first_faults() {
    uint64_t t = life_.options.report_faults ? base::clock_ns() : 0;
    if (t < next_look_ || t == 0) return;
    next_look_ = t + look_period;
    ir::Counters now = life_.backend.engine().counters();
    LossOptions options = {.warnings = life_.options.warnings, .report_faults = true};
    std::string text = describe_losses(life_.program, first_faults(now, told_), life_.source, options);
    if (!text.empty()) life_.output.message(text);
    told_ = std::move(now);
  }

  base::Status take_signals(std::span<const int> signals) {
    for (int signal : signals) {
      bool taken = false;
      for (uint32_t i = 0; i < life_.program.probes.size(); i++)
        for (uint32_t e : life_.program.probes[i].events)
          if (const probe::Event& event = life_.program.events[e];
              event.kind == probe::Kind::signal && event.signal == signal) {
            taken = true;
            ACU_CHECK(run_probe(i));
          }
      if (signal == SIGINT || signal == SIGTERM || (signal == SIGHUP && !taken)) stop_ = true;
      const bool is_behind_text = signal == SIGINT && ::isatty(STDERR_FILENO); // the terminal's "^C"
      if (is_behind_text && !life_.options.as_bpftrace) life_.output.message("\n");
      has_input_ |= signal == SIGWINCH && !taken;
      if (signal == SIGUSR1 && !taken) life_.effects.print_maps(!life_.options.json);
    }
    return {};
  }

  // Ticks that were missed run once.
  base::Status run_timers() {
    if (timers_.empty()) return {};
    uint64_t t = base::clock_ns();
    for (Timer& timer : timers_) {
      if (timer.next > t) continue;
      timer.next += timer.period * (1 + (t - timer.next) / timer.period);
      ACU_CHECK(run_probe(timer.probe));
    }
    return {};
  }

  base::Status run_regulars() {
    const bool has_input = std::exchange(has_input_, false);
    for (Regular* r : life_.regulars) {
      if (done()) return {};
      if (has_input && r->input && !r->input()) stop_ = true;
      if (stop_ || base::clock_ns() < r->next_ns) continue;
      ACU_TRY(bool goes_on, r->tick());
      stop_ |= !goes_on;
    }
    return {};
  }

  base::Status run_probe(uint32_t probe) {
    if (done()) return {};
    ACU_CHECK(life_.backend.engine().run(probe));
    take_records(life_);
    return {};
  }

  Life& life_;
  bool polls_;
  std::vector<Timer> timers_;
  uint64_t pace_ = watch_ring_from; // the first record may be urgent: of a process that soon ends
  const uint64_t shortest_ = life_.records_may_wait ? shortest_lazy_wait : shortest_wait;
  uint64_t watch_pace_ = life_.watch ? shortest_ : forever; // there is work at first
  bool changes_flow_ = false; // something happened to processes in the last turn
  uint64_t next_look_ = 0;
  uint64_t next_lost_look_ = 0;
  ir::Counters told_;
  uint64_t look_ = 0; // when files are looked at next
  bool has_input_ = false; // for Life::regulars
  bool files_changed_ = false; // some that user probes are in
  bool stop_ = false;
};

} // namespace

void wait_for_events(std::span<Life* const> lives, const Ended& ended) {
  struct Part {
    size_t index;
    std::unique_ptr<Turns> turns;
  };
  std::vector<Part> parts;
  for (size_t i = 0; i < lives.size(); i++) parts.push_back({i, std::make_unique<Turns>(*lives[i])});
  for (Part& p : parts) p.turns->begin();
  auto end = [&](Part& p, base::Status why) {
    p.turns->end();
    ended(p.index, std::move(why));
    p.turns.reset();
  };
  std::vector<pollfd> fds;
  for (;;) {
    for (Part& p : parts)
      if (p.turns && p.turns->done()) end(p, {});
    std::erase_if(parts, [](const Part& p) { return !p.turns; });
    if (parts.empty()) return;

    fds = {{signals::fd(), POLLIN, 0}};
    uint64_t wait = forever;
    for (Part& p : parts) wait = std::min(wait, p.turns->prepare(fds));
    timespec limit = {static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
    const int n = ::ppoll(fds.data(), fds.size(), wait == forever ? nullptr : &limit, nullptr);
    if (n < 0 && errno != EINTR) {
      const base::Error why = base::errno_error("cannot wait for events", errno);
      for (Part& p : parts) end(p, why);
      return;
    }
    const bool is_signalled = n < 0 || fds[0].revents != 0;
    std::vector<int> signals;
    if (is_signalled) signals = signals::take();
    for (size_t i = 0; i < parts.size(); i++) {
      if (n > 0)
        parts[i].turns->note(std::span(fds).subspan(1 + i * Turns::places, Turns::places));
      else
        parts[i].turns->note_nothing();
      if (base::Status status = parts[i].turns->take(signals); !status.ok()) end(parts[i], std::move(status));
    }
  }
}

} // namespace session
