// Calls whose entry alone is probed. Their ends are not seen, but samples and waits tell until when a thread was in its call: as long
// as the function is in the stack. So durations are lower bounds, by at most the time between two samples too short on the CPU.
#pragma once

#include "session/slow_records.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace session {

class SlowEntries {
public:
  // A thread was seen, in its call or after it. Both give the call before, or this one, if that is over now.
  std::optional<SlowCall> seen_in(const SlowThread& thread, uint64_t at, const InCall& in);
  std::optional<SlowCall> seen_after(uint32_t task, uint64_t start);
  // The thread has ended, or nothing more will be seen of it.
  std::optional<SlowCall> end(uint32_t task);
  std::vector<SlowCall> end_all();
  uint64_t last_seen() const; // of all that are not over; 0: there is none

private:
  std::unordered_map<uint32_t, SlowCall> open_; // by SlowThread::task; `end`: when it was seen last
};

} // namespace session
