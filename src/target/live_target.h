// A live process as a Target; nothing is ever written to it.
//
// Its memory is copied while all its threads are stopped (ptrace(2)), so that what is read fits together: the
// stacks, and those pieces of memory that somebody asked for before. Which these are is found out by asking
// without a stop first (begin with freeze(), look, and freeze() again as long as pieces were missing). What
// moves too fast for that is read while the threads are stopped. Code and constants come from the files.
//
// Without a stop memory is read when it is asked for, and kept; it changes meanwhile.
#pragma once

#include "base/result.h"
#include "target/target.h"

#include <functional>
#include <memory>
#include <sys/types.h>

namespace target {

class LiveTarget : public Target {
public:
  // Stops all threads, copies registers, stacks and the pieces that are known to be read, and lets the
  // threads run on. Failure: it took longer than `most_ns` (the threads run on all the same), it may not be
  // stopped, or it has ended. `look` is called before they run on: what it reads is copied, too.
  using HasTime = std::function<bool()>;
  using Look = std::function<void(const HasTime&)>;
  virtual base::Status freeze(uint64_t most_ns, const Look& look = {}) = 0;
  // From here on memory is read as it is now, and what is read is known to be.
  virtual void thaw() = 0;
  // All that it can write to is copied at the next stop.
  virtual void want_writable() = 0;
  // Pieces were asked for since that were not copied, and could be.
  virtual bool lacks_pieces() const = 0;
  // Of the last stop.
  virtual uint64_t pause_ns() const = 0;
  virtual uint64_t copied_bytes() const = 0;
};

// Failure: there is no such process, or it may not be looked at.
base::Result<std::unique_ptr<LiveTarget>> open_live(pid_t pid, Search search);

} // namespace target
