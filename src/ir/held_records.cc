#include "ir/held_records.h"

#include <cstring>

namespace ir {

uint64_t take_held(const Program& program, std::span<const std::byte> records, const std::function<void(std::span<const std::byte>)>& take) {
  uint64_t incomplete = 0;
  while (records.size() >= 8) {
    uint32_t header[2]; // action, whether it is still being written
    std::memcpy(header, records.data(), sizeof header);
    // Threads that share a key without agreement may leave anything there.
    if (header[0] >= program.actions.size() || program.actions[header[0]].record_size() > records.size()) return incomplete + 1;
    const uint32_t size = program.actions[header[0]].record_size();
    if (header[1])
      incomplete++;
    else
      take(records.first(size));
    records = records.subspan(size);
  }
  return incomplete;
}

} // namespace ir
