#include "why/program_location.h"

#include "base/text.h"
#include "profile/tables.h"

#include <algorithm>

namespace why {

ProgramLocation location_of(waits::Stacks& stacks, const waits::StackId& stack) {
  const std::vector<symbol::Frame>& frames = stacks.frames(stack);
  auto own = std::ranges::find_if(frames, [](const symbol::Frame& f) { return spec::row_of(f.kind).layer == spec::Layer::language; });
  if (own == frames.end())
    own = std::ranges::find_if(frames, [](const symbol::Frame& f) {
      return !spec::is_note(f.kind) && spec::row_of(f.kind).side == spec::Side::user && !profile::is_shared_code(f.module, f.name);
    });
  if (own == frames.end()) return {};
  ProgramLocation out = {.function = std::string(own->name), .file = {}, .line = 0};
  const std::string place = stacks.place_of(stack, [&](std::string_view name) { return name == out.function; });
  const size_t colon = place.rfind(':');
  if (colon == place.npos) return out;
  out.file = place.substr(0, colon);
  if (const auto line = base::parse_integer(std::string_view(place).substr(colon + 1))) out.line = static_cast<int64_t>(*line);
  return out;
}

void put_location(Slots& slots, const ProgramLocation& location) {
  slots.insert(slots.end(), {{"function", location.function}, {"file", location.file}, {"line", location.line}});
}

} // namespace why
