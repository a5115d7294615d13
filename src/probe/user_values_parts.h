// Parts of values to recipes, in the shapes that user_values.h promises. For use by user_values*.cc.
#pragma once

#include "probe/user_values_steps.h"
#include "type/type.h"

namespace probe {

struct MadeRecipe {
  Recipe recipe;      // none: `reason` tells why
  std::string reason; // also of what is there in part only
};

MadeRecipe make_recipe(const std::vector<ValuePart>& parts, const type::Type& type);
// A value that is always the same: `number`, or `bytes` of memory.
MadeRecipe make_constant(uint64_t number, dwarf::ByteSpan bytes, const type::Type& type);

} // namespace probe
