#include "why/program_location.h"

#include "profile/tables.h"

#include <algorithm>

namespace why {

ProgramLocation location_of(waits::Stacks& stacks, const waits::StackId& stack) {
  const std::vector<const symbol::Frame*> own = profile::program_frames(stacks.frames(stack));
  if (own.empty()) return {};
  const auto first = std::ranges::find_if(own, [](const symbol::Frame* f) { return !profile::is_of_library(*f); });
  const std::string function((first == own.end() ? own.front() : *first)->name);
  return location_at(function, stacks.place_of(stack, [&](std::string_view name) { return name == function; }));
}

} // namespace why
