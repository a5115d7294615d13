// Functions by address, for many lookups: sorted, with the names in one piece of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symbol {

class FunctionTable {
public:
  struct Found {
    std::string_view name; // ends with a NUL; lives as long as the table
    uint64_t offset = 0;   // bytes from its start
  };

  // Of several functions at one address the one with the highest rank is kept, then the first.
  void add(uint64_t address, uint64_t size, std::string_view name, uint8_t rank = 0);
  // After the last one was added, before the first is looked for.
  void sort();
  // The function that holds the address. One without a size (assembler code) reaches to the next.
  std::optional<Found> find(uint64_t address) const;
  size_t size() const { return functions_.size(); }

private:
  struct Function {
    uint64_t address = 0;
    uint64_t size = 0;
    uint32_t name = 0; // where it starts in names_
    uint8_t rank = 0;
  };
  std::vector<Function> functions_;
  std::string names_; // each ended by a NUL
};

} // namespace symbol
