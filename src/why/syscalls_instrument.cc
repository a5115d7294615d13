// The measurement `syscalls`: the system calls of all processes, or of one, from scripts/why_syscalls.bt. Of processes with few calls nothing is said but
// failures.
//
// A call costs about half a microsecond while it is counted, whoever makes it. Where there are so many that this would exceed the budget, they are counted
// for a part of the interval only, and rates are those of that part.
#include "why/instruments.h"

#include "base/text.h"
#include "session/script_maps.h"
#include "spec/syscalls.h"
#include "why/script_instrument.h"

#include <algorithm>
#include <map>
#include <thread>

namespace why {

namespace {

constexpr std::string_view own_name = "syscalls";
constexpr size_t most_facts = 96;
constexpr double budget = 0.005;     // of all CPUs
constexpr uint64_t call_ns = 500;    // what counting one costs: two tracepoints, and the kernel's path with them
constexpr double least_rate = 10, least_time = 0.01; // of calls that do not fail
constexpr int64_t first_of_32 = 536870912, rt_sigreturn = 15;

// As the script has them.
constexpr uint64_t path_in_first = 1, path_in_second = 2, may_be_empty = 4;
struct Plan {
  uint64_t what;
  std::string_view calls; // separated by spaces
};
constexpr Plan plans[] = {
    {path_in_first, "open stat lstat access execve chdir rename mkdir rmdir creat link unlink readlink chmod chown statfs truncate mknod utime"},
    {path_in_second, "openat openat2 newfstatat statx faccessat faccessat2 readlinkat mkdirat mknodat unlinkat renameat renameat2 fchmodat fchownat utimensat execveat "
                     "inotify_add_watch"},
    {may_be_empty, "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 read readv recvfrom recvmsg recvmmsg io_getevents accept accept4"},
};

// Failures that are how programs look whether there is something to do.
bool is_harmless(std::string_view error) { return error == "EAGAIN" || error == "EINPROGRESS" || error == "EINTR" || error == "EALREADY"; }

struct CallKey {
  uint32_t pid = 0;
  int64_t number = 0;
  auto operator<=>(const CallKey&) const = default;
};
CallKey key_of(const ScriptRow& r) { return {static_cast<uint32_t>(r.number("0")), r.integer("1")}; }

std::string call_name(int64_t number) {
  if (number == -1) number = rt_sigreturn; // which has put the registers back by then
  const std::string_view name = number >= first_of_32 ? spec::syscall_name_32(static_cast<int>(number - first_of_32)) : spec::syscall_name(static_cast<int>(number));
  return name.empty() ? "call " + std::to_string(number) : std::string(name);
}

struct Calls {
  uint64_t count = 0, ns = 0, empty = 0;
  std::map<uint32_t, uint64_t> errors; // number of the error, and how often
};

class SyscallsInstrument final : public ScriptInstrument {
public:
  explicit SyscallsInstrument(const Subject& subject) : ScriptInstrument("why_syscalls", subject, Scope::subject) {}

  base::Status prepare(const session::Options& run) override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override;
  Fact fact_of(const CallKey& key, const Calls& calls, uint64_t process_ns) const;

  std::map<std::pair<CallKey, uint32_t>, std::string> paths_; // by call and error
};

void SyscallsInstrument::configure(session::BuiltinScript& script) const {
  const double cpu_ns = budget * static_cast<double>(subject_.interval_ns) * std::max(1u, std::thread::hardware_concurrency());
  script.set("MOST_CALLS", static_cast<uint64_t>(cpu_ns) / call_ns);
}

base::Status SyscallsInstrument::prepare(const session::Options& run) {
  ACU_CHECK(ScriptInstrument::prepare(run));
  const std::optional<uint32_t> plan = session::find_map(runner_->program(), "plan");
  for (const Plan& p : plans)
    for (std::string_view name : base::split(p.calls, ' ')) {
      const int64_t number = spec::syscall_named(name);
      if (number < 0 || !plan) continue;
      ACU_CHECK(runner_->backend().engine().put(*plan, std::as_bytes(std::span(&number, 1)), std::as_bytes(std::span(&p.what, 1))));
    }
  return {};
}

Fact SyscallsInstrument::fact_of(const CallKey& key, const Calls& calls, uint64_t process_ns) const {
  const double count = static_cast<double>(calls.count);
  uint64_t failed = 0, most = 0;
  uint32_t error = 0;
  const bool has_harmful = std::ranges::any_of(calls.errors, [](const auto& e) { return !is_harmless(spec::error_name(static_cast<int>(e.first))); });
  for (const auto& [number, times] : calls.errors) {
    if (has_harmful && is_harmless(spec::error_name(static_cast<int>(number)))) continue;
    failed += times;
    if (times > most) most = times, error = number;
  }
  const auto path = paths_.find({key, error});
  return {.kind = find_fact_kind("syscall"),
          .slots = {{"pid", int64_t{key.pid}},
                    {"call", call_name(key.number)},
                    {"rate", rate(calls.count)},
                    {"time", process_ns ? std::min(1.0, static_cast<double>(calls.ns) / static_cast<double>(process_ns)) : 0.0},
                    {"failed", std::min(1.0, static_cast<double>(failed) / count)},
                    {"error", std::string(error ? spec::error_name(static_cast<int>(error)) : std::string_view())},
                    {"path", path == paths_.end() ? std::string() : path->second},
                    {"empty", std::min(1.0, static_cast<double>(calls.empty) / count)}},
          .measurement = own_name};
}

base::Result<std::vector<Fact>> SyscallsInstrument::end(uint64_t) {
  std::map<CallKey, Calls> by_call;
  std::map<uint32_t, uint64_t> process_ns;
  ACU_TRY(const std::vector<ScriptRow> calls, rows("calls"));
  ACU_TRY(const std::vector<ScriptRow> empty, rows("empty"));
  ACU_TRY(const std::vector<ScriptRow> failed, rows("failed"));
  ACU_TRY(const std::vector<ScriptRow> paths, rows("path"));
  ACU_TRY(const std::vector<ScriptRow> times, rows("time"));
  for (const ScriptRow& r : calls) by_call[key_of(r)] = {.count = r.count(), .ns = r.sum()};
  for (const ScriptRow& r : empty)
    if (const auto at = by_call.find(key_of(r)); at != by_call.end()) at->second.empty = r.count();
  for (const ScriptRow& r : failed) {
    const auto error = static_cast<uint32_t>(r.number("2"));
    const auto at = by_call.find(key_of(r));
    if (at != by_call.end() && !spec::error_name(static_cast<int>(error)).empty()) at->second.errors[error] = r.count(); // others are the kernel's own
  }
  for (const ScriptRow& r : paths) paths_[{key_of(r), static_cast<uint32_t>(r.number("2"))}] = r.text("value");
  for (const ScriptRow& r : times) process_ns[static_cast<uint32_t>(r.number("key"))] = r.sum();

  std::vector<std::pair<double, Fact>> ranked;
  for (const auto& [key, c] : by_call) {
    if (!c.count) continue;
    const bool is_asked = subject_.is_asked_about(key.pid);
    const auto all = process_ns.find(key.pid);
    Fact fact = fact_of(key, c, all == process_ns.end() ? 0 : all->second);
    if (!is_asked && rate(c.count) < least_rate && c.errors.empty() && share(c.ns) < least_time) continue;
    uint64_t failures = 0;
    for (const auto& [error, times] : c.errors) failures += times;
    ranked.emplace_back((is_asked ? 1e9 : 0) + rate(c.count) + 10 * rate(failures) + 1e3 * share(c.ns), std::move(fact));
  }
  std::ranges::sort(ranked, std::greater(), &std::pair<double, Fact>::first);
  std::vector<Fact> out;
  for (size_t i = 0; i < ranked.size() && i < most_facts; i++) out.push_back(std::move(ranked[i].second));
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_syscalls_instrument(const Subject& subject) { return std::make_unique<SyscallsInstrument>(subject); }

} // namespace why
