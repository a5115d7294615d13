// How much time of a process's threads is not idle, for measurements that see the calls of its threads (scripts/why_calls.bt), in slices of the interval. Of
// a thread whose calls are of the measurement's kind: the time in which it is not in a call that only waits for something to do (poll, futex,
// nanosleep, …). Of another one, whose waits are not known: the time in which it ran, or waited for a CPU.
#pragma once

#include "base/result.h"
#include "why/interval.h"
#include "why/script_rows.h"

#include <cstdint>
#include <map>

namespace why {

// In ns since the thread started: it ran, or waited for a CPU (/proc/PID/task/TID/schedstat). By thread.
std::map<uint32_t, uint64_t> runnable_times(int pid);

class CallTime {
public:
  void begin(int pid) { before_ = runnable_times(pid), pid_ = pid; }
  // Reads the script's maps; `interval_ns`: what was measured, in slices of `slice_ns`.
  base::Result<Sliced> busy(session::Runner& runner, uint64_t interval_ns, uint64_t slice_ns) const;

private:
  int pid_ = -1;
  std::map<uint32_t, uint64_t> before_;
};

} // namespace why
