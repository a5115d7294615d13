#include "emit/runtime_part.h"

namespace emit {

static std::string_view find(std::span<const RuntimePart> parts, std::string_view name) {
  for (const RuntimePart& p : parts)
    if (p.name == name) return p.text;
  return {};
}

std::string_view python_part(std::string_view name) { return find(python_parts(), name); }
std::string_view c_part(std::string_view name) { return find(c_parts(), name); }

} // namespace emit
