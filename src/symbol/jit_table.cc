#include "symbol/jit_table.h"

#include <algorithm>

namespace symbol {

static constexpr uint64_t most_place = (uint64_t{1} << 36) - 1, most_size = (uint64_t{1} << 28) - 1;

void JitTable::add(uint64_t start, uint64_t size, uint64_t place) {
  if (functions_.size() >= most_functions || size == 0 || place > most_place ||
      start > UINT64_MAX - most_size)
    return;
  functions_.push_back({.start = start, .place = place, .size = std::min(size, most_size)});
}

void JitTable::clear() {
  functions_.clear();
  sorted_ = 0;
}

// Merges in what was added, then cuts off what later functions lie on.
void JitTable::sort() {
  if (sorted_ == functions_.size()) return;
  auto before = [](const Function& a, const Function& b) {
    return a.start != b.start ? a.start < b.start : a.place < b.place;
  };
  auto added = functions_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  if (!std::is_sorted(added, functions_.end(), before)) std::sort(added, functions_.end(), before);
  if (sorted_ && before(*added, *std::prev(added)))
    std::inplace_merge(functions_.begin(), added, functions_.end(), before);
  size_t kept = 0;
  for (const Function& f : functions_) {
    bool is_gone = false; // its beginning was written over
    while (kept && !is_gone) {
      Function& last = functions_[kept - 1];
      if (last.start + last.size <= f.start) break;
      is_gone = last.place > f.place;
      if (is_gone) break;
      last.size = f.start - last.start;
      if (last.size) break;
      kept--;
    }
    if (!is_gone) functions_[kept++] = f;
  }
  functions_.resize(kept);
  sorted_ = kept;
}

std::optional<JitTable::Function> JitTable::find(uint64_t address) {
  sort();
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t a, const Function& f) { return a < f.start; });
  if (after == functions_.begin()) return std::nullopt;
  const Function& f = *std::prev(after);
  if (address - f.start >= f.size) return std::nullopt;
  return f;
}

} // namespace symbol
