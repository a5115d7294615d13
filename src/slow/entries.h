// Calls whose entry alone is probed. Their ends are not seen, but samples and waits tell until when a thread was in its call: as long
// as the function is in the stack. So durations are lower bounds, by at most the time between two samples too short on the CPU.
#pragma once

#include "slow/records.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace slow {

class Entries {
public:
  // A thread was seen, in its call or after it. Both give the call before, or this one, if that is over now.
  std::optional<Call> seen_in(const Thread& thread, uint64_t at, const InCall& in);
  std::optional<Call> seen_after(uint32_t task, uint64_t start);
  // The thread has ended, or nothing more will be seen of it.
  std::optional<Call> end(uint32_t task);
  std::vector<Call> end_all();
  uint64_t last_seen() const; // of all that are not over; 0: there is none

private:
  std::unordered_map<uint32_t, Call> open_; // by Thread::task; `end`: when it was seen last
};

} // namespace slow
