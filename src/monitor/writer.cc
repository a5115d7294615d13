// A batch that cannot be written is dropped, and its samples are counted as lost in the next one that can.
#include "monitor/writer.h"

#include "base/counted.h"
#include "base/output_file.h"

#include <unistd.h>

namespace monitor {

base::Status Writer::write(int64_t slot, const std::vector<store::Batch>& batches, std::vector<store::Point> points) {
  if (lost_samples_) points.push_back({{}, "own_lost", static_cast<double>(lost_samples_) / static_cast<double>(store::slot_seconds), true});
  base::Status written = store_.write(batches, slot, points);
  if (written.ok()) {
    if (lost_slots_) base::write_all(STDERR_FILENO, "acu serve: the store is written again; lost " + base::counted(lost_slots_, "slot") + " of 10 s\n");
    lost_samples_ = lost_slots_ = 0;
    return {};
  }
  const bool can_pass = written.error().message.find("disk is full") != std::string::npos || written.error().message.find("locked") != std::string::npos;
  if (!can_pass) return written;
  if (!lost_slots_++) base::write_all(STDERR_FILENO, "acu serve: " + written.error().message + "\n");
  for (const store::Batch& batch : batches)
    for (const profile::Gain& gain : batch.gains) lost_samples_ += gain.count;
  return {};
}

} // namespace monitor
