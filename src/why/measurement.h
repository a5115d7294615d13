// Measurements and what takes them. A measurement is a row of measurement_names.h; an instrument takes one or several of them in one go, by running a
// script, or by reading /proc and the like before and after an interval. Cheap ones make up the first round; others are asked for by rules (Need).
#pragma once

#include "base/result.h"
#include "session/runner.h"
#include "why/fact.h"
#include "why/measurement_names.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace why {

inline constexpr double default_max_cost = 10; // percent of a CPU

// What is measured, and for how long.
struct Subject {
  int pid = -1; // -1: the whole host
  uint64_t interval_ns = 3'000'000'000;
  double max_cost = default_max_cost; // in percent of a CPU; a measurement that would take more is refused
  int asked = -1; // the process that the question is about, also where the whole host is measured
  std::string function = {}; // whose calls are asked about (symbol::SourceName); empty: all that the process does
  std::shared_ptr<session::Shared> shared = std::make_shared<session::Shared>(); // what all scripts of an answer know of processes

  bool is_asked_about(int64_t process) const { return process >= 0 && (process == asked || process == pid); }
};

struct Picture {
  std::string title; // text
  std::string element;
};

// Once: prepare(), begin(), the interval, end(). Of several, all are prepared before the first begins.
class Instrument {
public:
  virtual ~Instrument() = default;
  // Compiles, loads; whatever takes time. Failure: it cannot be taken here, for a reason that users understand.
  virtual base::Status prepare(const session::Options&) { return {}; }
  // Whose script runs during the interval, and ends by itself; nullptr: it has none.
  virtual session::Runner* runner() { return nullptr; }
  virtual void begin() {}
  // `interval_ns`: between begin and end. Facts bear the names of their measurements.
  virtual base::Result<std::vector<Fact>> end(uint64_t interval_ns) = 0;
  // After end(): what a person would rather see than read, as elements of a page (report/page.h).
  virtual std::vector<Picture> pictures() { return {}; }
};

struct InstrumentKind {
  std::string_view measurements; // names, separated by spaces
  bool needs_pid = false;        // it measures a process, not the host
  bool is_first = false;         // cheap: part of the first round
  double cost = 1;               // in percent of a CPU, of a busy process with 50,000 events a second; 0: prepare() finds it out
  std::unique_ptr<Instrument> (*make)(const Subject& subject) = nullptr;
};

std::span<const InstrumentKind> instrument_kinds();
// nullptr: none takes that measurement.
const InstrumentKind* find_instrument(std::string_view measurement);

// The command that takes the measurement again, for a shell. `function`: if calls of it alone were measured.
std::string command_of(std::string_view measurement, int pid, const std::string& function = {});

} // namespace why
