// Triggers that no probe sees, looked at once a second: pressure (PSI) and the memory of processes.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recorder {

// What /proc/pressure has: the share of the time in which some threads wait for it.
inline constexpr std::array<std::string_view, 3> pressures = {"cpu", "memory", "io"};

struct PressureLimit {
  std::string resource; // of `pressures`
  double percent = 0;
};

// "memory:20%" or "memory:20". Failure: what there is.
base::Result<PressureLimit> read_pressure(std::string_view text);

class FlightWatch {
public:
  // `memory`: bytes of all `pids` together; 0: no limit. Failure: the kernel measures no pressure.
  static base::Result<FlightWatch> create(std::vector<PressureLimit> pressures, uint64_t memory);
  bool is_empty() const { return limits_.empty() && !memory_; }
  // The first limit that is exceeded, in words: "memory pressure 31% above 20%"; empty: none. Pressure counts since the look before.
  std::string look(uint64_t now_ns, const std::vector<int>& pids);

private:
  struct Limit {
    PressureLimit pressure;
    uint64_t waited_us = 0, at_ns = 0; // at the last look; 0: there was none
  };
  std::vector<Limit> limits_;
  uint64_t memory_ = 0;
};

} // namespace recorder
