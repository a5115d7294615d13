// What a wait is for, as far as names tell.
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

private:
  const recording::Names& names_;
  std::unordered_map<uint32_t, std::optional<State>> known_;
};

// By the system call that a thread waits in.
std::optional<State> wait_of_syscall(std::string_view name);

} // namespace timeline
