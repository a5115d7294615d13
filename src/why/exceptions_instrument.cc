// The measurement `exceptions`: exceptions of C++ that a process throws, by type and function, and the part of its CPU time between a throw and its catch.
#include "symbol/demangle.h"
#include "why/instruments.h"
#include "why/mapped_files.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "exceptions";
constexpr double least_rate = 1; // a second

struct Place {
  ProgramLocation location;
  uint64_t thrown = 0;
  Sliced unwinding; // samples
};

class ExceptionsInstrument final : public ScriptInstrument {
public:
  explicit ExceptionsInstrument(const Subject& subject) : ScriptInstrument("why_exceptions", subject, Scope::subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override;
  void arrange(session::Measurement& measurement) override;
};

void ExceptionsInstrument::configure(session::BuiltinScript& script) const {
  const MappedFiles files(subject_.pid);
  script.set("SLICE_NS", slice_ns_);
  script.set_places("thrown", files.places("uprobe", "", "__cxa_throw"));
  script.set_places("caught", files.places("uprobe", "", "__cxa_begin_catch"));
}

void ExceptionsInstrument::arrange(session::Measurement& measurement) {
  measurement.functions_of = subject_.pid;
  measurement.follows_processes = measurement.keeps_files = true;
}

base::Result<std::vector<Fact>> ExceptionsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> samples, rows("samples"));
  ACU_TRY(const std::vector<ScriptRow> thrown, rows("thrown"));
  ACU_TRY(const std::vector<ScriptRow> unwinding, rows("unwinding"));
  Sliced all;
  for (const ScriptRow& r : samples) all.add_to(r.number("key"), static_cast<double>(r.count()));
  std::map<std::pair<std::string, std::string>, Place> places; // by type and function
  const auto place_of = [&](const ScriptRow& r) -> Place& {
    ProgramLocation location = location_of(stacks(), r.stack("1", static_cast<uint32_t>(subject_.pid)));
    Place& out = places[{r.text("0"), location.function}];
    out.location = std::move(location);
    return out;
  };
  for (const ScriptRow& r : thrown) place_of(r).thrown += r.count();
  for (const ScriptRow& r : unwinding) place_of(r).unwinding.add_to(r.number("2"), static_cast<double>(r.count()));
  std::vector<Fact> out;
  for (const auto& [key, p] : places) {
    if (rate(p.thrown) < least_rate) continue;
    Slots slots = {{"type", symbol::demangle_type(key.first)}, {"rate", rate(p.thrown)}};
    put_location(slots, p.location);
    put_share(slots, share_of(p.unwinding, all));
    out.push_back(fact_about(subject_.pid, "exceptions", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_exceptions_instrument(const Subject& subject) { return std::make_unique<ExceptionsInstrument>(subject); }

} // namespace why
