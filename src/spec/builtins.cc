#include "spec/builtins.h"

namespace spec {

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& row : builtins)
    if (row.name == name) return &row;
  return nullptr;
}

} // namespace spec
