// Profiles as trees of JSON.
#pragma once

#include "profile/diff.h"
#include "profile/profile.h"

#include <string>

namespace web {

// Branches that are left out, and the tree.
struct TreeJson {
  std::string json;
  uint64_t dropped = 0;
};
// {"name", "module", "kind", "value", "self", "children"}: sums over all threads, the largest child first.
TreeJson tree_json(const profile::Profile& profile);
// {"name", "module", "kind", "a", "b", "self_a", "self_b", "children"}: A is scaled to B.
TreeJson tree_json(const profile::Difference& difference);

} // namespace web
