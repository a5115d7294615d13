// For short work that a busy host must not delay: loading probes and reading what they count (what is read late is lost, or charged
// to the wrong time), and copying a stopped process. This thread goes before others until it is done.
#pragma once

#include <sys/resource.h>

namespace base {

class RaisedPriority {
public:
  // Without the right to it nothing changes.
  RaisedPriority() { ::setpriority(PRIO_PROCESS, 0, highest); }
  ~RaisedPriority() { ::setpriority(PRIO_PROCESS, 0, own_); }
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

private:
  static constexpr int highest = -20;
  const int own_ = ::getpriority(PRIO_PROCESS, 0);
};

} // namespace base
