// The measurement `packets`: small segments that a process writes and the kernel holds back until the one before is acknowledged, by peer and function.
#include "proc/tcp_sockets.h"
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/program_location.h"

#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "packets";
constexpr double least_share = 0.001;

struct Held {
  uint64_t number = 0, ns = 0;
  Sliced time;
};

class PacketsInstrument final : public CallsInstrument {
public:
  explicit PacketsInstrument(const Subject& subject) : CallsInstrument("why_packets", subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;
};

base::Result<std::vector<Fact>> PacketsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> stalls, rows("stalls"));
  ACU_TRY(const std::vector<ScriptRow> times, rows("time"));
  ACU_TRY(const Sliced own, busy());
  std::map<std::pair<std::string, std::string>, Held> places; // by peer and function
  const auto place_of = [&](const ScriptRow& r) -> Held& {
    const ProgramLocation location = location_of(stacks(), r.stack("4", static_cast<uint32_t>(subject_.pid)));
    return places[{proc::peer_text(r.number("0"), r.number("1"), r.number("2"), r.number("3")), in_words(location)}];
  };
  for (const ScriptRow& r : stalls) {
    Held& held = place_of(r);
    held.number += r.count(), held.ns += r.sum();
  }
  for (const ScriptRow& r : times) place_of(r).time.add_to(r.number("5"), static_cast<double>(r.sum()));
  std::vector<Fact> out;
  for (const auto& [key, held] : places) {
    const ShareInterval share = share_of(held.time, own);
    if (share.share < least_share || !held.number) continue;
    Slots slots = {{"peer", key.first}, {"stall", static_cast<double>(held.ns) / static_cast<double>(held.number)}, {"rate", rate(held.number)}, {"where", key.second}};
    put_share(slots, share);
    out.push_back(fact_about(subject_.pid, "delayed-acks", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_packets_instrument(const Subject& subject) { return std::make_unique<PacketsInstrument>(subject); }

} // namespace why
