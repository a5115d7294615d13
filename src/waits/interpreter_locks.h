// Locks of language runtimes that all threads of a process share (the GIL of Python). Whoever waits for one is woken by a timer now and then, to ask
// for it anew: those waits are one.
#pragma once

#include "runtime/runtimes.h"
#include "session/runner.h"
#include "waits/records.h"

#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace waits {

class InterpreterLocks {
public:
  // False: its runtime has none.
  bool add(uint32_t pid, const language_table& table);
  // The same, also for the script that runs (scripts/long_waits.bt). If that has no room for the lock, who has it is not known.
  void add_to(session::Runner& runner, uint32_t pid, const language_table& table);

  // How users call the lock that the thread waited for; empty: it waited for something else.
  std::string_view find(const Wait& wait) const;
  // Waits of one thread in their order, with one wait for each time that it waited for a lock; where it lost the CPU meanwhile there are several, all
  // with who ended the last of them. `is_interrupt`: whether a wait was ended by one.
  std::vector<Wait> join(const std::vector<Wait>& waits, const std::function<bool(const Wake&)>& is_interrupt) const;

private:
  struct Lock {
    uint64_t begin, end; // of the variable that holds it
    std::string_view name;
  };
  std::unordered_map<uint32_t, Lock> locks_; // by process
};

} // namespace waits
