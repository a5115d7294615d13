// Which memory of a target a function will need soon: memory that is not in the processor's caches takes as
// long as a hundred steps, and less if it is asked for before.
//
// Two places are known from the function alone. An object has a pointer that is followed only after something
// longer (a call, a map): what it leads to is asked for with the first load of the object. And of an array
// that is gone through, what the element some turns ahead leads to. Which objects are reached is known as well:
// what lies around them is asked for when they are (nearby.h).
#pragma once

#include "ir/ir.h"

#include <unordered_map>
#include <unordered_set>

namespace eval {

// Before which load to ask for what the pointer leads to that is so far from the load's operand `a`.
std::unordered_map<const ir::Inst*, int64_t> find_ahead(const ir::Function& function);
// The loads that reach an object: the first one through each register, where it is not an array that is gone
// through, which the processor sees by itself.
std::unordered_set<const ir::Inst*> find_firsts(const ir::Function& function);

} // namespace eval
