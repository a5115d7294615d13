// The measurement `signals`: conditions that are signalled late, after the change that is waited for. Every lock of the process is followed, so one that
// locks too often for that is left alone.
#include "spec/allocation_functions.h"
#include "spec/syscalls.h"
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/mapped_files.h"
#include "why/moment.h"
#include "why/program_location.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "signals";
constexpr double least_share = 0.01;

struct Signals {
  ProgramLocation location;
  uint64_t condition = 0, number = 0, after_ns = 0;
  Sliced late;
  std::map<int64_t, double> calls; // meanwhile
};

class SignalsInstrument final : public CallsInstrument {
public:
  explicit SignalsInstrument(const Subject& subject) : CallsInstrument("why_signals", subject), files_(subject.pid) {}

  base::Status prepare(const session::Options& run) override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override;
  void arrange(session::Measurement& measurement) override;
  void set_locks(session::BuiltinScript& script) const;

  MappedFiles files_;
};

void SignalsInstrument::set_locks(session::BuiltinScript& script) const {
  script.set_places("locks", files_.places("uprobe", "", "pthread_mutex_lock"));
  script.set_places("unlocks", files_.places("uprobe", "", "pthread_mutex_unlock"));
}

base::Status SignalsInstrument::prepare(const session::Options& run) {
  session::BuiltinScript counts("why_signal_counts");
  set_locks(counts);
  ACU_TRY(const std::vector<uint64_t> calls, count_for_a_moment(subject_, std::move(counts), run, {"called"}));
  ACU_CHECK(check_cost(subject_, "locks", 100.0 * static_cast<double>(calls[0] * spec::giving_ns) / static_cast<double>(moment_ns)));
  return ScriptInstrument::prepare(run);
}

void SignalsInstrument::configure(session::BuiltinScript& script) const {
  CallsInstrument::configure(script);
  set_locks(script);
  script.set_places("waits", files_.places("uprobe", "", "pthread_cond_wait"));
  script.set_places("signals", files_.places("uprobe", "", "pthread_cond_signal"));
  script.set_places("broadcasts", files_.places("uprobe", "", "pthread_cond_broadcast"));
}

void SignalsInstrument::arrange(session::Measurement& measurement) {
  CallsInstrument::arrange(measurement);
  measurement.functions_of = subject_.pid;
}

std::string work_in(int64_t call) {
  const std::string_view name = call < 0 ? std::string_view() : spec::syscall_name(static_cast<int>(call));
  return name.empty() ? "computing" : std::string(name);
}

base::Result<std::vector<Fact>> SignalsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> late, rows("late"));
  ACU_TRY(const std::vector<ScriptRow> after, rows("after"));
  ACU_TRY(Sliced all, busy());
  std::map<std::pair<uint64_t, std::string>, Signals> signals; // by condition and function
  const auto signals_of = [&](const ScriptRow& r) -> Signals& {
    ProgramLocation location = location_of(stacks(), r.stack("0", static_cast<uint32_t>(subject_.pid)));
    Signals& out = signals[{r.number("1"), location.function}];
    out.location = std::move(location), out.condition = r.number("1");
    return out;
  };
  for (const ScriptRow& r : late) {
    Signals& s = signals_of(r);
    const auto ns = static_cast<double>(r.sum());
    s.late.add_to(r.number("3"), ns), all.add_to(r.number("3"), ns);
    s.calls[r.integer("2")] += ns;
  }
  for (const ScriptRow& r : after) {
    Signals& s = signals_of(r);
    s.number += r.count(), s.after_ns += r.sum();
  }
  std::vector<Fact> out;
  for (const auto& [key, s] : signals) {
    const ShareInterval share = share_of(s.late, all);
    if (share.share < least_share || !s.number) continue;
    const auto longest = std::ranges::max_element(s.calls, {}, [](const auto& c) { return c.second; });
    Slots slots = {{"what", "the condition " + runner_->names().variable(static_cast<uint32_t>(subject_.pid), s.condition, false)},
                   {"waker", s.location.function},
                   {"file", s.location.file},
                   {"line", s.location.line},
                   {"late", static_cast<double>(s.after_ns) / static_cast<double>(s.number)},
                   {"meanwhile", work_in(longest->first)}};
    put_share(slots, share);
    out.push_back(fact_about(subject_.pid, "late-wakeup", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_signals_instrument(const Subject& subject) { return std::make_unique<SignalsInstrument>(subject); }

} // namespace why
