// Sets of control groups that scripts ask about, kept up to date from outside while they run (session/follow_groups.h).
#pragma once

#include <cstdint>
#include <string>

namespace spec {

struct GroupSet {
  enum Kind : uint8_t {
    container, // those of containers that are called so (symbol::Container::is_called)
    path,      // those with this path from the root of the hierarchy, which may have wildcards
    subtree,   // the one with this path, and all below it
  } kind = container;
  std::string text;
  bool operator==(const GroupSet&) const = default;
};

} // namespace spec
