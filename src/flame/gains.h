// Reads a growing map of stacks repeatedly: what its keys gained between two reads becomes
// the time slices of a recording (`--split`). The map itself is not changed: nothing that probes add
// in the meantime is lost.
#pragma once

#include "ir/engine.h"
#include "profile/profile.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flame {

class Gains {
public:
  struct Gain {
    uint32_t key = 0;   // numbered in the order in which they are seen first
    uint32_t entry = 0; // of those that were taken last
    uint64_t weight = 0, count = 0;
  };
  // `entries`: all that the map holds.
  std::vector<Gain> take(const ir::Map& map, const std::vector<ir::Entry>& entries);
  // Of a key that was taken.
  uint32_t number(const ir::Entry& entry) const;

private:
  struct Known {
    uint32_t number = 0;
    uint64_t weight = 0, count = 0;
  };
  static std::string_view bytes_of(const ir::Entry& e) {
    return {reinterpret_cast<const char*>(e.key.data()), e.key.size()};
  }
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Known, Hash, std::equal_to<>> known_;
};

// Slices are sparse, and grow longer when there would be too many of them.
class Slicer {
public:
  static constexpr uint32_t no_sample = ~0u;
  explicit Slicer(uint64_t slice_ns) : wanted_ns_(slice_ns), slice_ns_(slice_ns) {}
  // When to look next, in ns after the start.
  uint64_t next_ns() const { return (now_ + 1) * slice_ns_; }
  void take(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t time_ns);
  // The last look, after the recording's end.
  void end(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t duration_ns);
  // `sample_of`: numbers in Profile::samples of the entries of the last look.
  void give(profile::Profile& to, const std::vector<ir::Entry>& entries,
            const std::vector<uint32_t>& sample_of);

private:
  void add(std::vector<Gains::Gain> gains, uint64_t span);
  void make_longer();

  struct Slice {
    uint64_t number = 0, span = 1; // see profile::Slice
    std::vector<Gains::Gain> gains;
  };
  const uint64_t wanted_ns_;
  uint64_t slice_ns_;
  uint64_t now_ = 0;  // the slice that time is in
  uint64_t late_ = 0; // slices that were not looked at in time
  size_t held_ = 0;   // gains
  Gains gains_;
  std::vector<Slice> slices_;
};

} // namespace flame
