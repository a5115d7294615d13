// Where in its own code a program does something: the innermost function of a stack that is neither the C library's nor the kernel's; of a program in an
// interpreted language one of that language.
#pragma once

#include "waits/stacks.h"
#include "why/fact.h"

#include <string>
#include <utility>
#include <vector>

namespace why {

using Slots = std::vector<std::pair<std::string_view, Value>>;

struct ProgramLocation {
  std::string function, file; // empty: not known
  int64_t line = 0;
};

ProgramLocation location_of(waits::Stacks& stacks, const waits::StackId& stack);
// The slots function, file and line.
void put_location(Slots& slots, const ProgramLocation& location);

} // namespace why
