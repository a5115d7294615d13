// What a wait is for, and what ended it, as far as names tell.
#pragma once

#include "recording/events.h"
#include "timeline/states.h"

#include <string_view>
#include <unordered_map>

namespace timeline {

// By the functions of a stack, from the innermost one on; std::nullopt: none of them says.
class WaitKinds {
public:
  explicit WaitKinds(const recording::Names& names) : names_(names) {}
  std::optional<State> of_stack(uint32_t stack);
  // Of a waker: an interrupt wakes in the stack of whatever thread it hit, which has no part in it.
  bool is_interrupt(uint32_t stack);

private:
  const recording::Names& names_;
  std::unordered_map<uint32_t, std::optional<State>> known_;
  std::unordered_map<uint32_t, bool> interrupts_;
};

// By the system call that a thread waits in.
std::optional<State> wait_of_syscall(std::string_view name);

} // namespace timeline
