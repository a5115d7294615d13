// Returns of user functions that the kernel leaves out: of a thread it keeps 64 calls at once whose returns
// are probed, and of those that are nested deeper it only writes a line to its log (Linux:
// kernel/events/uprobes.c), no more than a few in some seconds. So it can be told that there were some and of
// which processes, not how many.
#pragma once

#include "base/fd.h"

#include <string>

namespace watch {

class OmittedReturns {
public:
  // Ignores older lines of the kernel log. Without access to the log, nothing is reported.
  OmittedReturns();
  // A warning, or empty.
  std::string told();

private:
  base::Fd log_;
};

} // namespace watch
