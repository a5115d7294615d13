// Calls of which only the entry is probed. Their ends are not seen; samples and waits show how long a thread was in its call: as long
// as the function is in the stack. So durations are lower bounds, by at most the time between two samples too short on the CPU.
#pragma once

#include "slow/records.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace slow {

class Entries {
public:
  // A thread was seen, in its call or after it. Both return the previous call, or this one, if it has ended.
  std::optional<Call> seen_in(const Thread& thread, uint64_t at, const InCall& in);
  std::optional<Call> seen_after(uint32_t task, uint64_t start);
  // The thread has exited, or its events end here.
  std::optional<Call> end(uint32_t task);
  std::vector<Call> end_all();
  uint64_t last_seen() const; // of all that are not over; 0: there is none

private:
  std::unordered_map<uint32_t, Call> open_; // by Thread::task; `end`: when it was seen last
};

} // namespace slow
