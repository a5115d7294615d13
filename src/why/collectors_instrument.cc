// The measurement `collectors`: pauses of a process for garbage collections.
#include "why/instruments.h"
#include "why/mapped_files.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "collectors";

// What begins and ends a pause: static probes, and a function that has its own code. Sources: Python 3.8 to 3.13 (Include/pydtrace.d, Modules/gcmodule.c, Python/gc.c),
// OpenJDK 11 to 21 (hotspot.d: operations that stop all threads), PHP 7.4 to 8.4 (Zend/zend_gc.c).
struct Collector {
  std::string_view language;
  std::string_view file; // a part of the names of files that have it
  std::string_view begin, end, function; // empty: it has none
};
constexpr Collector collectors[] = {
    {"python", "python", "python:gc__start", "python:gc__done", "gc_collect_main"},
    {"java", "libjvm.so", "hotspot:gc__begin", "hotspot:gc__end", ""},
    {"php", "php", "", "", "zend_gc_collect_cycles"},
};

class CollectorsInstrument final : public ScriptInstrument {
public:
  explicit CollectorsInstrument(const Subject& subject) : ScriptInstrument("why_collectors", subject, Scope::subject) {}

  base::Status prepare(const session::Options& run) override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override;
  void arrange(session::Measurement& measurement) override;

  const Collector* collector_ = nullptr; // of the process
};

base::Status CollectorsInstrument::prepare(const session::Options& run) {
  const MappedFiles files(subject_.pid);
  const auto* found = std::ranges::find_if(collectors, [&](const Collector& c) { return files.has(c.file); });
  if (found == std::end(collectors)) return base::Error{base::Failure::nothing_matched, "acu does not know of a garbage collector in process " + std::to_string(subject_.pid)};
  collector_ = found;
  return ScriptInstrument::prepare(run);
}

void CollectorsInstrument::configure(session::BuiltinScript& script) const {
  const MappedFiles files(subject_.pid);
  script.set_places("marked_begin", files.places("usdt", collector_->file, collector_->begin));
  script.set_places("marked_end", files.places("usdt", collector_->file, collector_->end));
  script.set_places("called", files.places("uprobe", collector_->file, collector_->function));
  script.set_places("returned", files.places("uretprobe", collector_->file, collector_->function));
}

void CollectorsInstrument::arrange(session::Measurement& measurement) {
  measurement.functions_of = subject_.pid;
  measurement.follows_processes = measurement.keeps_files = true;
}

base::Result<std::vector<Fact>> CollectorsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> pauses, rows("pauses"));
  if (pauses.empty()) return std::vector<Fact>();
  const uint64_t began = runner_->attached_ns();
  Sliced paused, all;
  all.add_span(0, static_cast<uint64_t>(attached_ns()), slice_ns_);
  uint64_t ns = 0, longest = 0;
  std::map<std::string, uint64_t> triggers; // by function
  for (const ScriptRow& r : pauses) {
    const uint64_t from = r.number("0"), until = r.number("1"), length = until - from;
    paused.add_span(from > began ? from - began : 0, until > began ? until - began : 0, slice_ns_);
    ns += length;
    longest = std::max(longest, length);
    triggers[in_words(location_of(stacks(), r.stack("value", static_cast<uint32_t>(subject_.pid))))] += length;
  }
  const auto most = std::ranges::max_element(triggers, {}, [](const auto& t) { return t.second; });
  Slots slots = {{"language", std::string(collector_->language)},
                 {"rate", rate(pauses.size())},
                 {"pause", static_cast<double>(ns) / static_cast<double>(pauses.size())},
                 {"longest", static_cast<double>(longest)},
                 {"allocates", most->first}};
  put_share(slots, share_of(paused, all));
  return std::vector<Fact>{fact_about(subject_.pid, "collector", measurement, std::move(slots))};
}

} // namespace

std::unique_ptr<Instrument> make_collectors_instrument(const Subject& subject) { return std::make_unique<CollectorsInstrument>(subject); }

} // namespace why
