#include "spec/subcommands.h"

namespace spec {

const Subcommand* find_subcommand(std::string_view name) {
  for (const Subcommand& s : subcommands)
    if (s.name == name) return &s;
  return nullptr;
}

} // namespace spec
