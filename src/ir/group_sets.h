// Sets of control groups as maps of acu's own: the keys are IDs of groups, the values 1.
#pragma once

#include "ir/ir.h"
#include "spec/group_sets.h"

namespace ir {

// The map of a set, made where there is none.
uint32_t add_group_set(Program& program, type::Table& types, const spec::GroupSet& set);

struct GroupSetMap {
  uint32_t map;
  spec::GroupSet set;
};
std::vector<GroupSetMap> group_sets_of(const Program& program);

} // namespace ir
