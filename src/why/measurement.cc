#include "why/measurement.h"

#include "base/text.h"
#include "why/instruments.h"

#include <algorithm>

namespace why {

namespace {

constexpr InstrumentKind kinds[] = {
    {"cpu-profile", true, make_profile_instrument},
    {"system", false, make_system_instrument},
    {"processes", false, make_processes_instrument},
    {"waits wait-graph locks run-queues interpreters", true, make_wait_instrument},
};

} // namespace

std::span<const InstrumentKind> instrument_kinds() { return kinds; }

const InstrumentKind* find_instrument(std::string_view measurement) {
  const auto* out = std::ranges::find_if(kinds, [&](const InstrumentKind& k) {
    return std::ranges::any_of(base::split(k.measurements, ' '), [&](std::string_view name) { return name == measurement; });
  });
  return out == std::end(kinds) ? nullptr : out;
}

std::string command_of(std::string_view measurement, int pid) {
  return "acu why --measure " + std::string(measurement) + (pid < 0 ? "" : " -p " + std::to_string(pid));
}

} // namespace why
