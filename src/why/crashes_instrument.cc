// The measurement `crashes`: processes that a signal ends, in the interval with the stack of the thread; and those that the kernel's log has, whatever the
// processor refused to do for them.
#include "format/core_file.h"
#include "spec/numbers.h"
#include "why/crash_log.h"
#include "why/instruments.h"
#include "why/kernel_log.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <csignal>
#include <cstdio>
#include <set>
#include <tuple>

namespace why {

namespace {

constexpr std::string_view measurement = "crashes";
constexpr size_t most_facts = 16;
constexpr uint64_t recent_ns = 600'000'000'000;
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

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void arrange(session::Measurement& measurement) override {
    ScriptInstrument::arrange(measurement);
    measurement.follows_processes = measurement.keeps_files = true;
  }
  base::Status add_seen();
  void add_logged();
  // Once for each place in the programs that a process starts; 0: it is not known.
  void add(uint64_t pid, const std::string& name, uint64_t parent, const ProgramLocation& location, Slots slots);

  std::set<std::tuple<std::string, uint64_t, std::string>> places_; // name, parent and function
  std::set<std::string> names_;                          // whose crashes were seen
  std::vector<Fact> out_;
};

void CrashesInstrument::add(uint64_t pid, const std::string& name, uint64_t parent, const ProgramLocation& location, Slots slots) {
  if (out_.size() == most_facts || !places_.insert({name, parent, location.function}).second) return;
  slots.emplace_back("name", name);
  slots.emplace_back("parent", static_cast<int64_t>(parent));
  put_location(slots, location);
  out_.push_back(fact_about(static_cast<int>(pid), "crash-report", measurement, std::move(slots)));
}

base::Status CrashesInstrument::add_seen() {
  ACU_TRY(const std::vector<ScriptRow> crashes, rows("crashes"));
  for (const ScriptRow& r : crashes) {
    const uint64_t pid = r.number("key");
    format::CoreSignal signal;
    signal.number = static_cast<int>(r.number("signal"));
    signal.code = static_cast<int>(r.integer("code"));
    signal.address = r.number("at");
    const std::string name = r.text("name");
    names_.insert(name);
    add(pid, name, r.number("parent"), location_of(stacks(), r.stack("stack", static_cast<uint32_t>(pid))),
        {{"signal", std::string(spec::signal_name(signal.number))},
         {"reason", reason_of(signal, r.number("sp"))},
         {"detail", format::has_address(signal) ? "address " + hex(signal.address) : std::string()}});
  }
  return {};
}

// The last ones first, as far back as a process is young (rules/crash.clp); of a name whose crashes were seen, they have no more to say.
void CrashesInstrument::add_logged() {
  const std::vector<LogLine> log = read_kernel_log();
  for (auto line = log.rbegin(); line != log.rend(); ++line) {
    if (line->age_ns > recent_ns) return;
    const std::optional<LoggedCrash> crash = read_crash(line->text);
    if (!crash || names_.contains(crash->name)) continue;
    const bool is_null = crash->reason == "segfault" && crash->address < near_null;
    add(crash->pid, crash->name, 0, {.function = crash->code, .file = {}, .line = 0},
        {{"signal", crash->signal},
         {"reason", is_null ? std::string("null pointer") : crash->reason},
         {"detail", crash->reason == "segfault" ? "address " + hex(crash->address) : std::string()}});
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
