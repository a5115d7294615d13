#include "spec/builtins.h"

#include "spec/name_index.h"

namespace spec {

static constexpr auto name_of = [](const Builtin& row) -> std::string_view { return row.name; };
static constexpr NameIndex<512> by_name(builtins, name_of);

namespace written {
static constexpr auto builtin_texts = [] {
  std::array<BuiltinTexts, builtin_count> out;
  for (size_t i = 0; i < builtin_count; i++) out[i] = {builtins[i].signature, builtins[i].doc, builtins[i].example, builtins[i].needs};
  return out;
}();
} // namespace written

static constexpr BuiltinTextTable texts = BuiltinTextTable::of<written::builtin_texts>();

BuiltinTexts Builtin::texts() const { return spec::texts[id_of(*this)]; }

const Builtin* find_builtin(std::string_view name) {
  int row = by_name.find(builtins, name_of, name);
  return row < 0 ? nullptr : &builtins[row];
}

} // namespace spec
