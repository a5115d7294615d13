#include "bpf/run_time_meter.h"

#include "base/clock.h"
#include "bpf/syscall.h"

namespace bpf {

bool RunTimeMeter::begin() {
  if (on_.valid()) return true;
  const uint64_t before = base::clock_ns();
  on_ = measure_run_times();
  switching_ns_ = base::clock_ns() - before;
  return on_.valid();
}

void RunTimeMeter::end() {
  if (!on_.valid()) return;
  const uint64_t before = base::clock_ns();
  on_ = {};
  switching_ns_ += base::clock_ns() - before;
}

} // namespace bpf
