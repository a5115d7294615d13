// The measurement `allocations`: by which functions a process grows, from the kernel's count of its private memory (scripts/flame_alloc.bt). Whatever allocates, in
// any language, has to touch its memory.
#include "bpf/features.h"
#include "why/instruments.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "allocations";
constexpr std::string_view key_user = "5"; // of the parts of the script's key
constexpr double least_share = 0.01;

struct Place {
  ProgramLocation location;
  uint64_t bytes = 0, levels = 0; // the script takes a stack each 64 KiB
};

class AllocationsInstrument final : public ScriptInstrument {
public:
  explicit AllocationsInstrument(const Subject& subject) : ScriptInstrument("flame_alloc", subject, Scope::subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override { script.set("GOES_THROUGH_MAPS", bpf::has(bpf::Feature::for_each)); }
  void arrange(session::Measurement& measurement) override { measurement.follows_processes = measurement.keeps_files = true; }
};

base::Result<std::vector<Fact>> AllocationsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> grown, rows(""));
  std::map<std::string, Place> places; // by function
  uint64_t bytes = 0, levels = 0;
  for (const ScriptRow& r : grown) {
    ProgramLocation location = location_of(stacks(), r.stack(key_user, static_cast<uint32_t>(subject_.pid)));
    Place& p = places[location.function];
    p.location = std::move(location);
    p.bytes += r.sum(), bytes += r.sum();
    p.levels += r.count(), levels += r.count();
  }
  std::vector<Fact> out;
  for (const auto& [function, p] : places) {
    const double share = static_cast<double>(p.bytes) / static_cast<double>(bytes);
    if (share < least_share) continue;
    Slots slots = {{"kept", rate(p.bytes)}};
    put_location(slots, p.location);
    put_share(slots, sampled_share(share, levels));
    out.push_back(fact_about(subject_.pid, "allocation", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_allocations_instrument(const Subject& subject) { return std::make_unique<AllocationsInstrument>(subject); }

} // namespace why
