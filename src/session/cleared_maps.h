// Maps that a script prints and clears, `print(@m); clear(@m);`, without losing what is counted between.
//
// Neither user space nor a program can read a value of all CPUs and set it to 0 in one step, and a CPU that is about to add to
// an entry adds to nothing once the entry is gone. So such a map is not cleared in the engine: what was printed is remembered,
// and subtracted from all that is read later. A number that is counted is in exactly one of the outputs.
//
// That goes for maps whose values are sums (count, sum, avg, stats, hist, lhist) and that programs do nothing with but add, so
// that no program sees the difference; for maps by stacks it does not, whose ids may change. Keys stay in the engine, so when half
// of its room is used, all entries are taken out; then an addition that meets the removal of its key can be lost.
#pragma once

#include "ir/engine.h"

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace session {

class ClearedMaps {
public:
  using Entries = std::vector<ir::Entry>;
  // Reads a map and empties it; nothing: the engine cannot.
  using Take = std::function<base::Result<std::optional<Entries>>(uint32_t map)>;

  ClearedMaps(const ir::Program& program, ir::Engine& engine);
  void take_with(Take take) { take_ = std::move(take); }

  // What was counted since the map was last cleared.
  base::Result<Entries> read(uint32_t map);
  // The same, for print(): clear() removes just this.
  base::Result<Entries> read_to_print(uint32_t map);
  base::Status clear(uint32_t map);

  // Whether each clear() of the map follows a print() of it in the same run of a probe, and the rest is as above.
  bool is_exact(uint32_t map) {
    if (!std::exchange(is_decided_, true)) decide();
    return maps_[map].is_exact;
  }

private:
  using Words = std::vector<uint64_t>;
  using Sums = std::map<std::vector<std::byte>, Words>; // of all CPUs, by key
  struct Map {
    bool is_exact = false;
    Sums cleared;                // what is in the engine and was printed; modulo 2^64: what was taken out of it counts as negative
    std::optional<Sums> printed; // by a print() whose clear() has not come yet
    size_t keys = 0;             // in the engine
  };
  void decide(); // which maps are exact: not before there is something to print or clear, as it takes a look at the whole program
  Sums sums(uint32_t map, const Entries& entries) const;
  Entries since_clear(uint32_t map, const Sums& all) const;
  size_t words(uint32_t map) const;
  base::Status take_out(uint32_t map);

  const ir::Program& program_;
  ir::Engine& engine_;
  Take take_;
  std::vector<Map> maps_; // by Program::maps
  bool is_decided_ = false;
};

} // namespace session
