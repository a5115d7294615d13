#include "bpf/flight_ring.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace bpf {

static base::Result<std::byte*> map_all(int fd, uint64_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return base::errno_error("cannot map the ring of records", errno);
  return static_cast<std::byte*>(at);
}

base::Result<std::unique_ptr<FlightRing>> FlightRing::open(const ir::Program& program, int cursors, int ring, uint32_t cpus, uint32_t bytes) {
  std::unique_ptr<FlightRing> out(new FlightRing(program));
  out->cpus_ = cpus;
  out->bytes_ = bytes;
  out->cursor_bytes_ = flight_cursor_bytes(program.actions.size());
  ACU_TRY(out->cursors_, map_all(cursors, uint64_t{cpus} * out->cursor_bytes_));
  ACU_TRY(out->ring_, map_all(ring, out->bytes()));
  return out;
}

FlightRing::~FlightRing() {
  if (cursors_) ::munmap(cursors_, uint64_t{cpus_} * cursor_bytes_);
  if (ring_) ::munmap(ring_, bytes());
}

const uint64_t* FlightRing::cursor(uint32_t cpu) const { return reinterpret_cast<const uint64_t*>(cursors_ + uint64_t{cpu} * cursor_bytes_); }

uint32_t FlightRing::size_of(uint32_t action) const { return action < program_.actions.size() && program_.actions[action].overwrites ? program_.actions[action].record_size() : 0; }

// The position of a CPU, and its counts at that time: they are read again until they add up, as a program counts just before it claims.
uint64_t FlightRing::read_cursor(uint32_t cpu, std::vector<FlightCount>& counts, std::vector<uint64_t>& lost) const {
  constexpr int tries = 1000;
  const uint64_t* words = cursor(cpu);
  const auto word = [&](uint32_t offset) { return __atomic_load_n(words + offset / 8, __ATOMIC_ACQUIRE); };
  uint64_t position = 0;
  for (int i = 0; i < tries; i++) {
    uint64_t sum = 0;
    position = word(flight_position);
    for (uint32_t a = 0; a < counts.size(); a++) {
      const uint32_t at = flight_counts + a * flight_count_bytes;
      counts[a].sent = word(at + flight_sent);
      lost[a] = word(at + flight_lost);
      sum += (counts[a].sent + word(at + flight_holes)) * size_of(a);
    }
    // A lost record is two holes.
    for (uint32_t a = 0; a < counts.size(); a++) sum -= lost[a] * size_of(a);
    if (sum == position && position == word(flight_position)) break;
  }
  return position;
}

std::vector<FlightCount> FlightRing::read(const std::function<void(const FlightRecord&)>& take) const {
  std::vector<FlightCount> out(program_.actions.size());
  std::vector<std::byte> copy(bytes_);
  for (uint32_t cpu = 0; cpu < cpus_; cpu++) {
    std::vector<FlightCount> counts(out.size());
    std::vector<uint64_t> lost(out.size());
    const uint64_t end = read_cursor(cpu, counts, lost);
    std::memcpy(copy.data(), ring_ + uint64_t{cpu} * bytes_, end < bytes_ ? end : bytes_);
    std::atomic_thread_fence(std::memory_order_acquire);
    // What was claimed since then may have overwritten what was copied.
    const uint64_t newest = __atomic_load_n(cursor(cpu), __ATOMIC_ACQUIRE);
    uint64_t at = newest > bytes_ ? newest - bytes_ : 0;
    while (at < end) {
      const std::byte* record = copy.data() + at % bytes_;
      uint32_t action = 0, place = 0;
      std::memcpy(&action, record, sizeof action);
      std::memcpy(&place, record + sizeof action, sizeof place);
      const uint32_t number = action & ~(flight_busy | flight_hole);
      const bool is_hole = action & flight_hole;
      uint32_t size = place == static_cast<uint32_t>(at >> 3) ? size_of(number) : 0;
      if ((at % flight_segment + size > flight_segment) != is_hole) size = 0;
      if (!size) { // the middle of a record, whose begin was overwritten, or one that is claimed just now
        at += 8;
        continue;
      }
      if (!is_hole && !(action & flight_busy) && at + size <= end) {
        take({.action = number, .cpu = cpu, .payload = std::span<const std::byte>(record, size).subspan(8)});
        counts[number].kept++;
      } else if (!is_hole) {
        lost[number]++;
      }
      at += size;
    }
    for (size_t a = 0; a < out.size(); a++) {
      out[a].sent += counts[a].sent;
      out[a].kept += counts[a].kept;
      out[a].lost += lost[a];
      out[a].overwritten += counts[a].sent - std::min(counts[a].sent, counts[a].kept + lost[a]);
    }
  }
  return out;
}

} // namespace bpf
