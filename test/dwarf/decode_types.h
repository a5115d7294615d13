// All types of some debug information, whatever it is: for damaged ones.
#pragma once

#include "dwarf/type_text.h"

#include <map>

namespace samples {

struct Decoded {
  size_t types = 0, members = 0, functions = 0;
};

// What a value of the type has inside, as those who print it go down.
inline size_t walk_members(const type::Type& type, size_t& left, int depth = 0) {
  size_t count = 0;
  for (const type::Field& f : type.fields()) {
    if (left == 0) break;
    left--;
    count++;
    const type::Type* inner = f.type;
    while (inner && inner->is(type::Kind::array)) inner = inner->element;
    if (inner && inner->is(type::Kind::structure)) count += walk_members(*inner, left, depth + 1);
  }
  return count;
}

inline Decoded decode_types(const dwarf::Sections& sections) {
  Decoded out;
  dwarf::DebugInfo info(sections);
  type::Table table;
  std::map<std::string, dwarf::Place> places;
  dwarf::Types types(table, type::Space::user, [&](uint16_t, std::string_view name) {
    auto at = places.find(std::string(name));
    return at == places.end() ? std::nullopt : die_at(at->second);
  });
  for (size_t i = 0; i < info.units().size(); i++) {
    const dwarf::Unit* unit = info.unit(i);
    if (!unit) continue;
    dwarf::DieCursor cursor(*unit);
    for (int entries = 0; cursor.next() && entries < 2000; entries++) {
      dwarf::Die die = cursor.die();
      places.try_emplace("::" + types.full_name(die), place_of(die));
      const type::Type* type = types.type(die);
      out.types += type != nullptr;
      size_t left = 2000;
      if (type) {
        (void)type::to_string(*type);
        out.members += walk_members(*type, left) + type->enumerators().size() + types.bases(*type).size();
      if (type && type->provider) (void)type->provider->alignment(type->provider_id);
        (void)type->find("none");
      }
      out.functions += types.function(die).parameters.size();
      (void)types.variable(die);
      (void)types.enumerator(die);
      if (entries < 20) (void)(definition_text(types, die) + function_text(types, die));
    }
  }
  return out;
}

} // namespace samples
