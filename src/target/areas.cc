#include "target/areas.h"

#include <algorithm>

namespace target {

// Goes over all begins and ends in order; between two of them the area that was added first holds.
void AreaMemory::sort() {
  auto by_begin = [](const Window& a, const Window& b) { return a.begin < b.begin; };
  bool is_plain = true;
  if (!std::is_sorted(areas_.begin(), areas_.end(), by_begin)) is_plain = false;
  for (size_t i = 1; i < areas_.size() && is_plain; i++)
    is_plain = areas_[i].begin - areas_[i - 1].begin >= areas_[i - 1].size;
  if (is_plain) return;
  std::vector<Window> kept;
  for (const Window& area : areas_) {
    // The pieces of it that nothing earlier covers.
    uint64_t at = area.begin, end = area.begin + area.size;
    auto next = std::upper_bound(kept.begin(), kept.end(), Window{.begin = at}, by_begin);
    if (next != kept.begin() && std::prev(next)->begin + std::prev(next)->size > at) next--;
    while (at < end) {
      uint64_t free_until = next == kept.end() ? end : std::min(end, next->begin);
      if (at < free_until) {
        Window piece = area;
        piece.begin = at;
        piece.size = free_until - at;
        if (area.bytes) piece.bytes = area.bytes + (at - area.begin);
        next = std::next(kept.insert(next, piece));
      }
      if (next == kept.end()) break;
      at = std::max(at, next->begin + next->size);
      next++;
    }
  }
  areas_ = std::move(kept);
}

Window AreaMemory::window(uint64_t address) {
  auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                [](uint64_t a, const Window& w) { return a < w.begin; });
  if (after != areas_.begin() && std::prev(after)->holds(address, 1)) return *std::prev(after);
  uint64_t begin = after == areas_.begin() ? 0 : std::prev(after)->begin + std::prev(after)->size;
  uint64_t end = after == areas_.end() ? ~uint64_t{0} : after->begin;
  return {.begin = begin, .size = end - begin, .bytes = nullptr, .why = outside_};
}

} // namespace target
