// The measurement `timers`: how often timeouts of its waits wake a process, and after how many of these it goes to sleep again with nothing done.
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/program_location.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "timers";
constexpr double least_rate = 1; // a second

struct Place {
  ProgramLocation location;
  uint64_t wakeups = 0, idle = 0;
  Sliced time; // after idle ones
};

class TimersInstrument final : public CallsInstrument {
public:
  explicit TimersInstrument(const Subject& subject) : CallsInstrument("why_timers", subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;
};

base::Result<std::vector<Fact>> TimersInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> wakeups, rows("wakeups"));
  ACU_TRY(const std::vector<ScriptRow> times, rows("time"));
  ACU_TRY(const Sliced own, busy());
  std::map<std::string, Place> places; // by function
  const auto place_of = [&](const ScriptRow& r) -> Place& {
    ProgramLocation location = location_of(stacks(), r.stack("0", static_cast<uint32_t>(subject_.pid)));
    Place& out = places[location.function];
    out.location = std::move(location);
    return out;
  };
  for (const ScriptRow& r : wakeups) {
    Place& p = place_of(r);
    p.wakeups += r.count();
    if (r.number("1")) p.idle += r.count();
  }
  for (const ScriptRow& r : times) place_of(r).time.add_to(r.number("1"), static_cast<double>(r.sum()));
  std::vector<Fact> out;
  for (const auto& [function, p] : places) {
    if (rate(p.wakeups) < least_rate) continue;
    Slots slots = {{"rate", rate(p.wakeups)}, {"idle", static_cast<double>(p.idle) / static_cast<double>(p.wakeups)}};
    put_location(slots, p.location);
    put_share(slots, share_of(p.time, own));
    out.push_back(fact_about(subject_.pid, "timers", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_timers_instrument(const Subject& subject) { return std::make_unique<TimersInstrument>(subject); }

} // namespace why
