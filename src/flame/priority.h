// A busy host must not keep acu from loading its probes and reading what they count: what is read late is lost or charged to the
// wrong time. Both take little CPU time, so this thread goes before others until they are done.
#pragma once

#include <sys/resource.h>

namespace flame {

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

} // namespace flame
