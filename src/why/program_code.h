// The code and the variables of a program that stands still: where its threads are, and what its addresses are called.
#pragma once

#include "report/target_names.h"
#include "target/target.h"
#include "why/slots.h"
#include "why/still_threads.h"

#include <string>
#include <vector>

namespace why {

class ProgramCode {
public:
  explicit ProgramCode(target::Target& target) : stacks_(target), names_(target, stacks_) {}
  // The innermost function of its own, from the thread's program counter and stack pointer.
  ProgramLocation location(const StillThread& thread);
  // "accounts"; "0x55d0c1a3b000" where no variable is known.
  std::string variable(uint64_t address);

private:
  target::Stacks stacks_;
  report::TargetNames names_;
};

// Threads that wait for each other's mutexes in circles, each as the slots of a fact lock-cycle. `seconds`: for how long they have been seen to; nullptr as `code`:
// it cannot be read.
std::vector<Slots> lock_cycles(const std::map<uint32_t, StillThread>& threads, const ReadMemory& read, ProgramCode* code, double seconds);

} // namespace why
