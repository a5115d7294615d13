// The variables of one ELF file, by address: what its symbol tables call objects. The file's bytes must outlive this.
#pragma once

#include "format/elf.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace symbol {

class Variables {
public:
  struct Found {
    std::string_view name; // as stored
    uint64_t offset = 0;   // bytes from its start
  };

  explicit Variables(const format::Elf& elf);
  // `address` as the file counts.
  std::optional<Found> find(uint64_t address) const;

private:
  struct Variable {
    uint64_t address = 0, size = 0;
    std::string_view name;
  };
  std::vector<Variable> all_; // by address
};

} // namespace symbol
