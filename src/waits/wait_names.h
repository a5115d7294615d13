// Waits in words: what each was for, and who ended it. A wait is named by its system call, one for a futex by the function that called
// futex(2).
#pragma once

#include "report/names.h"
#include "trace/descriptors.h"
#include "waits/interpreter_locks.h"
#include "waits/records.h"
#include "waits/stacks.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace waits {

struct NamedStack {
  std::vector<std::string> kernel; // innermost first, without the entry of the system call
  std::vector<std::string> user;
  std::string end; // why there are no more; empty: they are all there
  bool operator==(const NamedStack&) const = default;
};

class WaitNames {
public:
  // All outlive this.
  WaitNames(Stacks& stacks, report::SystemNames& names, const InterpreterLocks& locks) : stacks_(stacks), names_(names), locks_(locks) {
    descriptors_.keep(false);
  }

  NamedStack stack(const StackId& kernel, const StackId& user);
  // "the lock g_cache_lock", "read(5</tmp/x>, …)"; `stack`: its own.
  std::string what(const Wait& wait, const NamedStack& stack);
  // The same without what differs from call to call: "read(5</tmp/x>)", "nanosleep".
  std::string what_in_short(const Wait& wait, const NamedStack& stack);
  // As strace has it, with the files behind descriptors. `result`: nullptr: it has not returned.
  std::string call(const Thread& thread, int number, const std::array<uint64_t, 6>& arguments, const int64_t* result);
  // Whoever ends the wait had what it was for.
  bool is_for_lock(const Wait& wait, const NamedStack& stack) const;
  // An interrupt wakes in the stack of whom it interrupts, who has no part in that.
  bool is_by_interrupt(const Wake& wake);
  // What in an interrupt woke, as the kernel's function: "hrtimer_wakeup".
  std::string interrupt(const Wake& wake);

  const InterpreterLocks& locks() const { return locks_; }

private:
  std::string variable(uint32_t pid, uint64_t address);

  Stacks& stacks_;
  report::SystemNames& names_;
  const InterpreterLocks& locks_;
  trace::SeenDescriptors descriptors_;
};

} // namespace waits
