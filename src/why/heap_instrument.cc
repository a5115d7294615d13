// The measurement `heap`: blocks that a process allocates and does not free, by function. Every call of its allocator is followed, so a process that allocates too often
// for that is left alone.
#include "flame/allocations.h"
#include "session/script_maps.h"
#include "why/instruments.h"
#include "why/moment.h"
#include "why/program_location.h"
#include "why/script_instrument.h"

#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "heap";
constexpr double least_share = 0.01;
// Blocks of the last slices may still be in use.
constexpr uint64_t last_slice = Sliced::slices * 2 / 3;

struct Place {
  ProgramLocation location;
  Sliced bytes;
  uint64_t blocks = 0;
};

class HeapInstrument final : public ScriptInstrument {
public:
  explicit HeapInstrument(const Subject& subject) : ScriptInstrument("why_heap", subject, Scope::subject) {}

  base::Status prepare(const session::Options& run) override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override;
  void arrange(session::Measurement& measurement) override;

  flame::Allocations functions_;
};

base::Status HeapInstrument::prepare(const session::Options& run) {
  ACU_TRY(functions_, flame::find_allocations(subject_.pid, spec::AllocatorCalls::live));
  ACU_TRY(const std::vector<uint64_t> calls, count_for_a_moment(subject_, functions_.counts, run, {"taken", "given", "careful"}));
  ACU_CHECK(check_cost(subject_, "allocates", flame::cost_of_following(calls[0], calls[1], calls[2], moment_ns)));
  return ScriptInstrument::prepare(run);
}

void HeapInstrument::configure(session::BuiltinScript& script) const {
  script.set("SLICE_NS", slice_ns_);
  script.set_import(functions_.name, functions_.functions);
  script.parts.places.insert(script.parts.places.end(), functions_.places.begin(), functions_.places.end());
}

void HeapInstrument::arrange(session::Measurement& measurement) {
  measurement.functions_of = subject_.pid;
  measurement.follows_processes = measurement.keeps_files = true;
}

base::Result<std::vector<Fact>> HeapInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> live, rows("live"));
  ACU_TRY(const uint64_t older, session::read_number(runner_->program(), runner_->backend().engine(), "older"));
  std::map<std::string, Place> places; // by function
  Sliced all;
  uint64_t blocks = 0;
  for (const ScriptRow& r : live) {
    const uint64_t slice = r.number("slice");
    if (slice >= last_slice) continue;
    ProgramLocation location = location_of(stacks(), r.stack("stack", static_cast<uint32_t>(subject_.pid)));
    Place& p = places[location.function];
    p.location = std::move(location);
    const auto bytes = static_cast<double>(r.number("size"));
    p.bytes.add_to(slice, bytes), all.add_to(slice, bytes);
    p.blocks++, blocks++;
  }
  // If it frees as many of those that it had before, they only take their place.
  constexpr double part_of_time = static_cast<double>(last_slice) / Sliced::slices;
  const double kept = blocks ? 1 - std::min(1.0, static_cast<double>(older) * part_of_time / static_cast<double>(blocks)) : 0;
  const double seconds = attached_ns() / 1e9 * part_of_time;
  std::vector<Fact> out;
  for (const auto& [function, p] : places) {
    const ShareInterval share = share_of(p.bytes, all);
    if (share.share < least_share) continue;
    Slots slots = {{"rate", p.bytes.sum() / seconds}, {"kept", kept * p.bytes.sum() / seconds}, {"blocks", kept * static_cast<double>(p.blocks) / seconds}};
    put_location(slots, p.location);
    put_share(slots, share);
    out.push_back(fact_about(subject_.pid, "kept-blocks", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_heap_instrument(const Subject& subject) { return std::make_unique<HeapInstrument>(subject); }

} // namespace why
