#include "spec/builtins.h"

#include "spec/name_index.h"

namespace spec {

static constexpr auto name_of = [](const Builtin& row) { return row.name; };
static constexpr NameIndex<512> by_name(builtins, name_of);

const Builtin* find_builtin(std::string_view name) {
  int row = by_name.find(builtins, name_of, name);
  return row < 0 ? nullptr : &builtins[row];
}

} // namespace spec
