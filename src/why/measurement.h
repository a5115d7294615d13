// A measurement as a row: what it costs and needs, how it is taken, and the command that repeats it. Cheap ones make up the first round; others are asked
// for by rules (Need).
#pragma once

#include "base/result.h"
#include "session/runner.h"
#include "why/fact.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace why {

// What is asked about.
struct Subject {
  int pid = -1;             // -1: the whole host
  std::string cgroup;       // empty: any
  uint64_t duration_ns = 0; // of one measurement
};

// One that goes on. Between begin and end its runner, if it has one, runs together with those of the other measurements.
class Taking {
public:
  virtual ~Taking() = default;
  // nullptr: it reads /proc and the like at its begin and its end.
  virtual session::Runner* runner() { return nullptr; }
  virtual base::Status begin() = 0;
  virtual base::Result<std::vector<Fact>> end() = 0;
};

struct Measurement {
  std::string_view name; // "run-queues"
  std::string_view doc;  // "how long threads wait for a CPU"
  double cost = 0;       // percent of a CPU on a busy host, at most
  bool is_first = false; // part of the first round
  bool needs_pid = false;
  std::string (*command)(const Subject& subject) = nullptr; // that repeats it, to paste into a shell
  std::unique_ptr<Taking> (*take)(const Subject& subject) = nullptr;
};

std::span<const Measurement> measurements();
const Measurement* find_measurement(std::string_view name);

} // namespace why
