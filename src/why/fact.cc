#include "why/fact.h"

#include "why/fact_kinds.h"

#include <algorithm>

namespace why {

std::span<const FactKind> fact_kinds() { return all_fact_kinds; }

const FactKind* find_fact_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(all_fact_kinds), std::end(all_fact_kinds), [&](const FactKind& k) { return k.name == name; });
  return found == std::end(all_fact_kinds) ? nullptr : found;
}

} // namespace why
