#include "why/program_location.h"

#include "profile/tables.h"

namespace why {

ProgramLocation location_of(waits::Stacks& stacks, const waits::StackId& stack) {
  const std::vector<const symbol::Frame*> own = profile::program_frames(stacks.frames(stack));
  if (own.empty()) return {};
  const std::string function(own.front()->name);
  return location_at(function, stacks.place_of(stack, [&](std::string_view name) { return name == function; }));
}

} // namespace why
