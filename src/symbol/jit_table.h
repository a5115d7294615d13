// Functions that a program made while it runs, as two kinds of files list them: a line or a record for each,
// in the order in which they were made. New code may lie where old code was, so the later one counts.
//
// Such files are long (ten million lines) and few of the names are ever asked for: kept are address, size and
// the place in the file, 16 bytes for each function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace symbol {

class JitTable {
public:
  static constexpr size_t most_functions = 16 << 20; // later ones are passed over
  struct Function {
    uint64_t start = 0;
    uint64_t place : 36 = 0; // in the file; the higher is the later
    uint64_t size : 28 = 0;
  };

  void add(uint64_t start, uint64_t size, uint64_t place);
  // The function that holds the address.
  std::optional<Function> find(uint64_t address);
  size_t size() const { return functions_.size(); }
  void clear();

private:
  void sort();

  std::vector<Function> functions_;
  size_t sorted_ = 0; // so many are in order and don't overlap
};

} // namespace symbol
