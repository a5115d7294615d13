// has_key() for targets without it: an entry that is missing reads as 0, as an entry does whose value is 0.
#pragma once

#include "lang/ast.h"

#include <algorithm>
#include <span>
#include <vector>

namespace emit {

// Maps whose keys are remembered in a second one, because the target has no has_key() and the values can be 0 as well. One for a program.
class KnownKeys {
public:
  KnownKeys(const lang::Program& program, bool has_has_key);
  bool is_needed(const lang::Map& m) const { return std::ranges::find(maps_, &m) != maps_.end(); }
  // Values are never 0 or empty: times, names of processes. Then a read tells whether the key is there.
  bool is_never_zero(const lang::Map& m) const { return std::ranges::find(zero_, &m) == zero_.end(); }
  std::span<const lang::Map* const> maps() const { return maps_; }

private:
  std::vector<const lang::Map*> maps_, zero_;
};

} // namespace emit
