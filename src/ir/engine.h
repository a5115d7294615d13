// What session and report need of an engine that runs a Program: bpf::Engine (the kernel) and eval::Engine
// (this process). Both make the same records, keys and values, byte for byte.
#pragma once

#include "base/result.h"
#include "ir/ir.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace ir {

// One key of a map. `values` holds Map::value_size bytes for each CPU (once for maps that are not per CPU); of a percpu_hash
// there may be several parts of a CPU.
struct Entry {
  std::vector<std::byte> key;
  std::vector<std::byte> values;
};

// What was lost or went wrong so far.
struct Counters {
  std::vector<uint64_t> sites;           // by Program::sites
  std::vector<uint64_t> map_full;        // by Program::maps: updates refused
  uint64_t lost_events = 0;              // ring full
  uint64_t scratch_busy = 0;             // probe runs given up because no scratch memory was free
  uint64_t stacks_full = 0;              // stacks lost: the table of stacks was full
  uint64_t stacks_busy = 0;              // stacks lost: no memory for one was at hand
  uint64_t runs = 0, run_ns = 0;         // of the programs, and their time, where the kernel was asked to measure it
  uint64_t missed_runs = 0;              // runs the kernel skipped (recursion)
  std::vector<std::string> gone_modules; // of the kernel, unloaded while they were traced
  bool are_held = false;                 // probes in programs: they do nothing any more, but the kernel has not let go of them
  // Of a stopped program: why reads failed, by site and reason ("is not in the core").
  std::map<std::pair<uint32_t, std::string_view>, uint64_t> reasons;
  uint64_t missed_hits = 0; // calls and returns of the kernel's functions that it did not tell
};

class Engine {
public:
  virtual ~Engine() = default;
  // Runs a probe without a context (begin, end, interval, signal, test, bench) once, now. Gives what it
  // returns.
  virtual base::Result<int64_t> run(uint32_t probe) = 0;
  // Hands every record that has arrived to `take`, oldest first. Returns their number.
  virtual size_t drain(const std::function<void(std::span<const std::byte>)>& take) = 0;
  // All entries of a map, in no order. Scalar maps: one entry without key, or none if never assigned.
  virtual base::Result<std::vector<Entry>> read_map(uint32_t map) = 0;
  virtual base::Status clear_map(uint32_t map) = 0;
  virtual base::Status zero_map(uint32_t map) = 0; // keeps the keys
  // Sets an entry of a plain hash map (tables that would take long to compile), or with no key a map that is one value.
  virtual base::Status put(uint32_t, std::span<const std::byte> /*key*/, std::span<const std::byte> /*value*/) {
    return base::Error{base::Failure::unsupported, "this engine's maps cannot be set from outside"};
  }
  // Ends the watchpoints of an address. Engines that attach nothing have none.
  virtual void unwatch(uint64_t) {}
  // Frames of a stack, innermost first; empty if the id is not known.
  virtual std::vector<uint64_t> stack(uint64_t id) = 0;
  virtual Counters counters() = 0;
};

} // namespace ir
