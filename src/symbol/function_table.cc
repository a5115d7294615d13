#include "symbol/function_table.h"

#include <algorithm>

namespace symbol {

// How far back a function is looked for that holds an address although others begin inside of it.
static constexpr int most_nested = 8;
// Code without a size does not reach further.
static constexpr uint64_t largest_unsized = 1 << 20;

// More than any program has; names of a damaged file may all lie in one text, again and again.
static constexpr size_t most_name_bytes = 1 << 30;

void FunctionTable::add(uint64_t address, uint64_t size, std::string_view name, uint8_t rank) {
  if (name.empty() || names_.size() + name.size() >= most_name_bytes) return;
  functions_.push_back({address, size, static_cast<uint32_t>(names_.size()), rank});
  names_.append(name).push_back('\0');
}

void FunctionTable::sort() {
  std::stable_sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
    return a.address != b.address ? a.address < b.address : a.rank > b.rank;
  });
  auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
}

std::optional<FunctionTable::Found> FunctionTable::find(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t a, const Function& f) { return a < f.address; });
  for (int i = 0; i < most_nested && after != functions_.begin(); i++) {
    const Function& f = *--after;
    uint64_t offset = address - f.address;
    bool holds = f.size ? offset < f.size : i == 0 && offset < largest_unsized;
    if (holds) return Found{names_.data() + f.name, offset};
  }
  return std::nullopt;
}

} // namespace symbol
