// Names of kernel code: /proc/kallsyms, read at the first question and kept in compact arrays.
//
// A line is `ADDRESS TYPE NAME` with an optional `[module]` behind a tab; see proc(5). Without the permission
// to see addresses all of them are 0: then nothing has a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symbol {

class Kallsyms {
public:
  explicit Kallsyms(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}

  struct Symbol {
    std::string_view name; // lives as long as this Kallsyms
    uint64_t offset = 0;   // bytes from its start
  };
  // The function that holds `address`.
  std::optional<Symbol> find(uint64_t address);
  // Where a symbol is, functions and data alike. Reads the file again: meant for the few names of a script.
  std::optional<uint64_t> address(std::string_view name) const;
  // Functions known; 0 also where the kernel hides addresses.
  size_t size();

private:
  void load();
  void sort();

  std::string path_;
  bool loaded_ = false;
  // Sorted by address. Kept apart, so that a search touches addresses only.
  std::vector<uint64_t> addresses_;
  std::vector<uint32_t> names_; // where the name starts in text_
  std::string text_;            // names, each ended by a NUL
};

} // namespace symbol
