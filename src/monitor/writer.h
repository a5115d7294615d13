// Writes slots, and bears with a store that cannot be written for a while: what is lost meanwhile is counted, and a message is printed once.
#pragma once

#include "store/store.h"

#include <string_view>
#include <vector>

namespace monitor {

// What a source recorded for so long until that time (CLOCK_REALTIME): the slot in which the middle of it is.
store::Slot slot_until(uint64_t end_ns, std::string_view source, uint64_t passed_ns);

class Writer {
public:
  explicit Writer(store::Store& to) : store_(to) {}
  // Failure: the store is damaged or gone. A full or locked disk is none.
  base::Status write(const store::Slot& slot, std::vector<store::Point> points, const store::Batch* batch = nullptr);

private:
  store::Store& store_;
  double lost_samples_ = 0;
  uint64_t lost_slots_ = 0; // both since the last write that succeeded
};

} // namespace monitor
