// Writes slots, and bears with a store that cannot be written for a while: what is lost meanwhile is counted, and a message is printed once.
#pragma once

#include "store/store.h"

#include <ctime>
#include <vector>

namespace monitor {

class Writer {
public:
  explicit Writer(store::Store& to) : store_(to) {}
  // Failure: the store is damaged or gone. A full or locked disk is none.
  base::Status write(int64_t slot, const std::vector<store::Batch>& batches, std::vector<store::Point> points);

private:
  store::Store& store_;
  uint64_t lost_samples_ = 0, lost_slots_ = 0; // since the last write that succeeded
};

} // namespace monitor
