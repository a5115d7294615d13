// The measurement `crashes`: processes that a signal ends, in the interval with the stack of the thread; and those that the kernel's log has, whatever the
// processor refused to do for them.
#include "format/core_file.h"
#include "spec/numbers.h"
#include "waits/stacks.h"
#include "why/crash_log.h"
#include "why/instruments.h"
#include "why/kernel_log.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <csignal>
#include <cstdio>
#include <set>

namespace why {

namespace {

constexpr std::string_view measurement = "crashes";
constexpr size_t most_facts = 16;
constexpr uint64_t near_null = 4096, near_stack = 1 << 16; // bytes

std::string hex(uint64_t number) {
  char out[20];
  std::snprintf(out, sizeof out, "%#llx", static_cast<unsigned long long>(number));
  return out;
}

std::string reason_of(const format::CoreSignal& signal, uint64_t stack_pointer) {
  if (signal.number == SIGABRT) return "abort";
  if (signal.number == SIGSEGV && format::has_address(signal)) {
    if (signal.address < near_null) return "null pointer";
    if (signal.address < stack_pointer + near_stack && signal.address + near_stack > stack_pointer) return "stack overflow";
  }
  return std::string(format::meaning_of(signal));
}

class CrashesInstrument final : public ScriptInstrument {
public:
  explicit CrashesInstrument(const Subject& subject) : ScriptInstrument("why_crashes", subject, Scope::host) {}

  base::Status prepare(const session::Options& run) override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void arrange(session::Measurement& measurement) override {
    ScriptInstrument::arrange(measurement);
    measurement.follows_processes = measurement.keeps_files = true;
  }
  base::Status add_seen();
  void add_logged();
  void add(int64_t pid, Slots slots);

  std::optional<waits::Stacks> stacks_;
  std::set<int64_t> seen_;
  std::vector<Fact> out_;
};

base::Status CrashesInstrument::prepare(const session::Options& run) {
  ACU_CHECK(ScriptInstrument::prepare(run));
  stacks_.emplace(runner_->backend().engine(), runner_->backend().walker() != nullptr, runner_->names().sources());
  return {};
}

void CrashesInstrument::add(int64_t pid, Slots slots) {
  if (out_.size() < most_facts && seen_.insert(pid).second) out_.push_back(fact_about(static_cast<int>(pid), "crash-report", measurement, std::move(slots)));
}

base::Status CrashesInstrument::add_seen() {
  ACU_TRY(const std::vector<ScriptRow> crashes, rows("crashes"));
  for (const ScriptRow& r : crashes) {
    const uint64_t pid = r.number("key");
    format::CoreSignal signal;
    signal.number = static_cast<int>(r.number("signal"));
    signal.code = static_cast<int>(r.integer("code"));
    signal.address = r.number("at");
    Slots slots = {{"name", r.text("name")},
                   {"signal", std::string(spec::signal_name(signal.number))},
                   {"reason", reason_of(signal, r.number("sp"))},
                   {"detail", format::has_address(signal) ? "address " + hex(signal.address) : std::string()}};
    put_location(slots, location_of(*stacks_, r.stack("stack", static_cast<uint32_t>(pid))));
    add(static_cast<int64_t>(pid), std::move(slots));
  }
  return {};
}

// The last ones first.
void CrashesInstrument::add_logged() {
  const std::vector<std::string> log = read_kernel_log();
  for (auto line = log.rbegin(); line != log.rend(); ++line) {
    const std::optional<LoggedCrash> crash = read_crash(*line);
    if (!crash) continue;
    const bool is_null = crash->reason == "segfault" && crash->address < near_null;
    add(static_cast<int64_t>(crash->pid), {{"name", crash->name},
                                           {"signal", crash->signal},
                                           {"reason", is_null ? std::string("null pointer") : crash->reason},
                                           {"detail", crash->reason == "segfault" ? "address " + hex(crash->address) : std::string()},
                                           {"function", crash->code}});
  }
}

base::Result<std::vector<Fact>> CrashesInstrument::end(uint64_t) {
  ACU_CHECK(add_seen());
  add_logged();
  return std::move(out_);
}

} // namespace

std::unique_ptr<Instrument> make_crashes_instrument(const Subject& subject) { return std::make_unique<CrashesInstrument>(subject); }

} // namespace why
