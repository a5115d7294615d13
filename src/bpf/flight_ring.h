// Records that nobody reads until they are asked for: a ring of memory for each CPU, in which newer records overwrite older ones. A program writes without
// waking anybody, and no CPU time is spent on reading.
//
// A ring is several segments (elements of an array map that is mapped here). A position counts the bytes that were ever claimed on its CPU; a record is
// claimed by adding its size to the CPU's position, which programs that interrupt one another may do, and lies at the position modulo the ring's size. One that
// would cross the end of a segment leaves a hole there and is claimed again. A record begins as others do with the number of its action, and in place of 4 zero
// bytes with its position / 8: a reader knows by that what is a record, and which ones were overwritten.
//
// Counts are exact, for what is counted adds up to the positions: position = sum of (sent + holes) * size, by action.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "ir/ir.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bpf {

inline constexpr uint32_t flight_segment = 1 << 16; // bytes
// Bits of the number of an action: the record is being written; it is a hole.
inline constexpr uint32_t flight_busy = 1u << 31, flight_hole = 1u << 30;
// A CPU's element of the map of cursors: u64 position, then for each action these, u64 each. Lost: it would have crossed the end of a segment twice.
inline constexpr uint32_t flight_position = 0, flight_counts = 8, flight_sent = 0, flight_holes = 8, flight_lost = 16, flight_count_bytes = 24;
inline constexpr uint32_t flight_cursor_bytes(size_t actions) { return (flight_counts + static_cast<uint32_t>(actions) * flight_count_bytes + 63) / 64 * 64; }

struct FlightRecord {
  uint32_t action = 0, cpu = 0;
  std::span<const std::byte> payload; // valid during the call
};

// By action: sent = kept + overwritten + lost. Kept: handed out. Lost: also what was being written just then.
struct FlightCount {
  uint64_t sent = 0, kept = 0, overwritten = 0, lost = 0;
};

class FlightRing {
public:
  // Descriptors of the two maps; `bytes` of each CPU's ring, a power of two. `program` outlives it.
  static base::Result<std::unique_ptr<FlightRing>> open(const ir::Program& program, int cursors, int ring, uint32_t cpus, uint32_t bytes);
  ~FlightRing();
  FlightRing(const FlightRing&) = delete;
  FlightRing& operator=(const FlightRing&) = delete;

  // Hands out all records that are there, CPU by CPU, the oldest first. They stay there, and others may be written meanwhile.
  std::vector<FlightCount> read(const std::function<void(const FlightRecord&)>& take) const;
  uint64_t bytes() const { return uint64_t{cpus_} * bytes_; } // of all CPUs

private:
  explicit FlightRing(const ir::Program& program) : program_(program) {}
  const uint64_t* cursor(uint32_t cpu) const;
  uint64_t read_cursor(uint32_t cpu, std::vector<FlightCount>& counts, std::vector<uint64_t>& lost) const;
  uint32_t size_of(uint32_t action) const;

  const ir::Program& program_;
  uint32_t cpus_ = 0, bytes_ = 0, cursor_bytes_ = 0;
  std::byte *cursors_ = nullptr, *ring_ = nullptr; // mapped
};

} // namespace bpf
