#include "symbol/variables.h"

#include <algorithm>
#include <elf.h>
#include <iterator>

namespace symbol {

Variables::Variables(const format::Elf& elf) {
  for (const char* name : {".symtab", ".dynsym"})
    if (const format::ElfSection* table = all_.empty() ? elf.section(name) : nullptr)
      elf.for_each_symbol(*table, [&](const format::ElfSymbol& s) {
        if (s.type == STT_OBJECT && s.section && s.size) all_.push_back({s.value, s.size, s.name});
      });
  std::stable_sort(all_.begin(), all_.end(), [](const Variable& a, const Variable& b) { return a.address < b.address; });
}

std::optional<Variables::Found> Variables::find(uint64_t address) const {
  auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                [](uint64_t a, const Variable& v) { return a < v.address; });
  if (after == all_.begin()) return std::nullopt;
  const Variable& v = *std::prev(after);
  if (address - v.address >= v.size) return std::nullopt;
  return Found{v.name, address - v.address};
}

} // namespace symbol
