// Where in its own code a program does something: the innermost function of a stack that is the program's own (profile::program_frames).
#pragma once

#include "waits/stacks.h"
#include "why/slots.h"

namespace why {

ProgramLocation location_of(waits::Stacks& stacks, const waits::StackId& stack);

} // namespace why
