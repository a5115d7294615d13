#include "counters/counting.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/text.h"
#include "counters/count_table.h"
#include "probe/attach.h"
#include "probe/counter.h"
#include "session/child.h"
#include "session/losses.h"
#include "session/output.h"
#include "session/signals.h"
#include "spec/counters.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace counters {

namespace {

constexpr double ns_in_s = 1e9;

// A counter at one place: a thread, or a CPU.
struct Place {
  std::optional<int> cpu;
  std::vector<base::Fd> fds;
};

struct Counted {
  probe::Counter counter;
  bool is_supported = true;
  std::vector<Place> places;
};

// What a counter told of all its places, or of those of one CPU.
probe::Count operator-(const probe::Count& now, const probe::Count& before) {
  return {now.value - before.value, now.enabled_ns - before.enabled_ns, now.running_ns - before.running_ns};
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

// The threads of processes, or the threads that were asked for.
std::vector<int> tasks_of(const session::TargetFilter& f) {
  std::vector<int> out = f.threads;
  for (int pid : f.pids)
    for (int thread : probe::threads_of(pid)) out.push_back(thread);
  return out;
}

class Counting {
public:
  explicit Counting(const Options& o) : options_(o), machine_(types_, o.filter.pid) {}

  base::Result<int> run();

private:
  base::Status find_events();
  base::Status describe();
  base::Status start();
  base::Status open(Counted& counted);
  base::Status wait();
  base::Status take(CountTable& to, bool since_last, double elapsed);
  base::Status report_interval();
  void report_end() const;
  void tell(const std::string& text) { output_->out(text), output_->settle(); }
  std::vector<int> cpus() const { return options_.filter.cpus.empty() ? probe::online_cpus() : options_.filter.cpus; }
  bool is_of_command() const { return !options_.command.empty() && !options_.while_command; }
  bool is_of_cpus() const { return !is_of_command() && options_.filter.pids.empty() && options_.filter.threads.empty(); }

  const Options& options_;
  type::Table types_;
  probe::Machine machine_;
  std::unique_ptr<session::Output> output_;
  base::Fd group_;
  std::vector<base::Fd> targets_; // of processes that have not ended
  std::vector<Counted> counted_;
  std::vector<std::vector<probe::Count>> last_; // by counter and place, at the last interval
  CountTable table_;
  std::optional<session::Child> child_;
  uint64_t begin_ns_ = 0;
  double told_until_ = 0; // seconds from there: the end of the last interval
  uint64_t told_ = 0; // intervals
  bool told_head_ = false, is_interrupted_ = false;
};

base::Status Counting::find_events() {
  std::vector<std::string> names = options_.events;
  if (names.empty())
    for (std::string_view name : base::split(is_of_cpus() ? spec::counted_of_cpus : spec::counted_of_tasks, ','))
      names.emplace_back(name);
  for (const std::string& name : names) {
    ACU_TRY(probe::Counter counter, probe::find_counter(machine_, name));
    counter.may_lack |= options_.events.empty();
    counted_.push_back({std::move(counter), true, {}});
  }
  return {};
}

base::Status Counting::describe() {
  const session::TargetFilter& f = options_.filter;
  if (is_of_command()) {
    for (const std::string& word : options_.command) table_.title += (table_.title.empty() ? "'" : " ") + word;
    table_.title += "'";
  } else {
    ACU_TRY(targets_, session::watch_targets(f));
    ACU_TRY(session::Condition condition, session::target_condition(f));
    table_.title = condition.what;
  }
  if (f.cgroup.empty()) return {};
  for (const char* root : {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/perf_event/", "/sys/fs/cgroup/unified/"}) {
    group_ = base::Fd(::open((root + f.cgroup).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (group_.valid()) return {};
  }
  return base::errno_error("cannot open the control group " + f.cgroup, errno);
}

base::Status Counting::open(Counted& counted) {
  counted.places.clear();
  std::vector<probe::CounterPlace> places;
  std::vector<int> on_cpus = is_of_cpus() || options_.by_cpu || !options_.filter.cpus.empty() ? cpus() : std::vector<int>{-1};
  std::vector<int> tasks = {-1};
  if (child_ && is_of_command()) tasks = {child_->pid()};
  else if (!is_of_cpus()) tasks = tasks_of(options_.filter);
  for (int task : tasks)
    for (int cpu : on_cpus) places.push_back({task, cpu, group_.valid() ? group_.get() : -1, is_of_command()});
  size_t gone = 0;
  for (const probe::CounterPlace& place : places) {
    auto fds = probe::open_counter(counted.counter, place);
    if (!fds.ok() && fds.error().kind == base::Failure::unsupported && counted.counter.may_lack) {
      counted.is_supported = false;
      counted.places.clear();
      return {};
    }
    // Threads may end meanwhile; not all of them.
    if (!fds.ok() && !child_ && place.pid >= 0 && ::kill(place.pid, 0) != 0 && ++gone < places.size()) continue;
    if (!fds.ok()) return fds.error();
    counted.places.push_back({options_.by_cpu ? std::optional(place.cpu) : std::nullopt, std::move(*fds)});
  }
  return {};
}

base::Status Counting::start() {
  last_.clear();
  if (!options_.command.empty()) {
    ACU_TRY(session::Child started, session::Child::start(options_.command, "--"));
    child_.emplace(std::move(started));
  }
  for (Counted& c : counted_) {
    ACU_CHECK(open(c));
    last_.emplace_back(c.places.size());
  }
  begin_ns_ = base::clock_ns();
  if (child_) ACU_CHECK(child_->release());
  return {};
}

// Adds what was counted, since the beginning or since the last interval.
base::Status Counting::take(CountTable& to, bool since_last, double elapsed) {
  size_t row = 0;
  for (size_t n = 0; n < counted_.size(); n++) {
    Counted& c = counted_[n];
    std::vector<std::pair<std::optional<int>, probe::Count>> sums;
    if (c.places.empty()) sums.emplace_back();
    for (size_t p = 0; p < c.places.size(); p++) {
      ACU_TRY(const probe::Count now, probe::read_counter(c.places[p].fds));
      const probe::Count told = since_last ? now - last_[n][p] : now;
      last_[n][p] = now;
      auto at = std::ranges::find(sums, c.places[p].cpu, &std::pair<std::optional<int>, probe::Count>::first);
      if (at == sums.end()) at = sums.insert(at, {c.places[p].cpu, {}});
      at->second.value += told.value, at->second.enabled_ns += told.enabled_ns, at->second.running_ns += told.running_ns;
    }
    for (const auto& [cpu, sum] : sums) {
      if (row == to.rows.size())
        to.rows.push_back({.name = c.counter.name, .is_time = c.counter.is_time, .is_supported = c.is_supported, .value = {}, .running = 1, .cpu = cpu});
      CountRow& r = to.rows[row++];
      const double share = sum.enabled_ns && sum.running_ns < sum.enabled_ns
                               ? static_cast<double>(sum.running_ns) / static_cast<double>(sum.enabled_ns)
                               : 1;
      r.running = std::min(r.running, share);
      r.running_ns = sum.running_ns;
      r.value.add(share > 0 ? static_cast<double>(sum.value) / share : 0);
    }
  }
  to.elapsed.add(elapsed);
  return {};
}

base::Status Counting::report_interval() {
  CountTable now;
  const double since = static_cast<double>(base::clock_ns() - begin_ns_) / ns_in_s;
  ACU_CHECK(take(now, true, since - told_until_));
  told_until_ = since;
  tell(options_.json               ? count_json(now, since)
       : !options_.separator.empty() ? count_columns(now, since, options_.separator)
                                     : interval_text(now, since, !told_head_));
  told_head_ = true;
  return {};
}

// Until the command or process ends, the time is up, or somebody interrupts.
base::Status Counting::wait() {
  uint64_t next = options_.interval_ns;
  while (true) {
    const uint64_t since = base::clock_ns() - begin_ns_;
    if (options_.duration_ns && since >= options_.duration_ns) return {};
    if (next && since >= next) {
      ACU_CHECK(report_interval());
      next += options_.interval_ns;
      if (++told_ == options_.rounds) return {};
      continue;
    }
    uint64_t until = options_.duration_ns ? options_.duration_ns : UINT64_MAX;
    if (next) until = std::min(until, next);
    timespec timeout = {};
    if (until != UINT64_MAX) timeout = {static_cast<time_t>((until - since) / 1'000'000'000), static_cast<long>((until - since) % 1'000'000'000)};
    pollfd wanted[] = {{session::signals::fd(), POLLIN, 0}, {child_ ? child_->fd() : targets_.empty() ? -1 : targets_.back().get(), POLLIN, 0}};
    if (::ppoll(wanted, 2, until == UINT64_MAX ? nullptr : &timeout, nullptr) < 0 && errno != EINTR)
      return base::errno_error("cannot wait for events", errno);
    for (int signal : session::signals::take()) is_interrupted_ |= signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (is_interrupted_ || (wanted[1].revents && targets_.size() < 2)) return {};
    if (wanted[1].revents) targets_.pop_back();
  }
}

// Prints the summary line: counters, what is missing, and overhead. Not among machine-readable lines.
void Counting::report_end() const {
  if (options_.quiet || ((options_.json || !options_.separator.empty()) && options_.output.empty())) return;
  size_t missing = 0, part = 0;
  for (const Counted& c : counted_) missing += !c.is_supported;
  for (const CountRow& row : table_.rows) part += row.is_supported && row.running < 1;
  std::string out = base::counted(counted_.size(), "counter") + ", ";
  out += missing ? std::to_string(missing) + " not supported here" : "0 lost";
  if (part) out += ", " + std::to_string(part) + " counted part of the time and scaled";
  base::write_all(STDERR_FILENO, out + "; " + session::own_costs(0) + "\n");
}

base::Result<int> Counting::run() {
  session::Options run; // as `acu run` would have been asked
  run.output_file = options_.output;
  if (!options_.output.empty()) {
    ACU_TRY(output_, session::Output::open(run));
  } else {
    output_ = std::make_unique<session::Output>(STDERR_FILENO, session::Buffering::none, false);
  }
  ACU_CHECK(find_events());
  ACU_CHECK(describe());
  ACU_CHECK(session::signals::install({}));
  int status = 0;
  for (uint64_t n = 0; n < options_.repeats && !is_interrupted_; n++) {
    rusage before = {}, after = {};
    ::getrusage(RUSAGE_CHILDREN, &before);
    ACU_CHECK(start());
    ACU_CHECK(wait());
    const double elapsed = static_cast<double>(base::clock_ns() - begin_ns_) / ns_in_s;
    if (options_.interval_ns && options_.repeats == 1 && (!options_.rounds || told_ < options_.rounds)) ACU_CHECK(report_interval());
    ACU_CHECK(take(table_, false, elapsed));
    if (!child_) continue;
    status = child_->status().value_or(0);
    child_.reset(); // ends it where it still runs, and its times are known then
    if (!is_of_command()) continue;
    ::getrusage(RUSAGE_CHILDREN, &after);
    table_.user.add(seconds(after.ru_utime) - seconds(before.ru_utime));
    table_.system.add(seconds(after.ru_stime) - seconds(before.ru_stime));
  }
  if (!options_.interval_ns || options_.repeats > 1)
    tell(options_.json               ? count_json(table_, std::nullopt)
         : !options_.separator.empty() ? count_columns(table_, std::nullopt, options_.separator)
                                       : count_text(table_));
  report_end();
  ACU_CHECK(output_->finish());
  return status;
}

} // namespace

base::Result<int> count_events(const Options& options) { return Counting(options).run(); }

} // namespace counters
