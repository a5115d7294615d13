// A batch that cannot be written is dropped, and its samples are counted as lost in the next one that can.
#include "monitor/writer.h"

#include "base/counted.h"
#include "base/output_file.h"

#include <algorithm>
#include <unistd.h>

namespace monitor {

store::Slot slot_until(uint64_t end_ns, std::string_view source, uint64_t passed_ns) {
  const uint64_t middle_ns = end_ns - passed_ns / 2;
  return {.source = std::string(source), .begin = store::slot_of(static_cast<int64_t>(middle_ns / 1'000'000'000)), .covered_ns = passed_ns};
}

base::Status Writer::write(const store::Slot& slot, std::vector<store::Point> points, const store::Batch* batch) {
  // Counted with what the sampler itself lost.
  const double seconds = static_cast<double>(slot.covered_ns) / 1e9;
  double lost = lost_samples_;
  const auto own = std::ranges::find_if(points, [](const store::Point& p) { return p.metric == store::lost_metric; });
  if (own != points.end()) lost += own->value * seconds, points.erase(own);
  if (lost > 0 && seconds > 0) points.push_back({{}, std::string(store::lost_metric), lost / seconds});
  base::Status written = store_.write(slot, points, batch);
  if (written.ok()) {
    if (lost_slots_) base::write_all(STDERR_FILENO, "acu serve: the store is written again; lost " + base::counted(lost_slots_, "slot") + " of 10 s\n");
    lost_samples_ = 0, lost_slots_ = 0;
    return {};
  }
  if (!store::is_passing(written.error())) return written;
  if (!lost_slots_++) base::write_all(STDERR_FILENO, "acu serve: " + written.error().message + "\n");
  lost_samples_ = lost;
  if (batch)
    for (const profile::Gain& gain : batch->gains) lost_samples_ += static_cast<double>(gain.count);
  return {};
}

} // namespace monitor
