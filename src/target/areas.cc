#include "target/areas.h"

#include <algorithm>
#include <set>

namespace target {

// Goes over all begins and ends in order; between two of them the area holds that was added first of those
// which cover that stretch.
void AreaMemory::sort() {
  bool is_plain = true;
  for (size_t i = 1; i < areas_.size() && is_plain; i++)
    is_plain =
        areas_[i].begin >= areas_[i - 1].begin && areas_[i].begin - areas_[i - 1].begin >= areas_[i - 1].size;
  if (is_plain) return;
  struct Edge {
    uint64_t at;
    size_t area;
    bool ends;
  };
  std::vector<Edge> edges;
  for (size_t i = 0; i < areas_.size(); i++) {
    const uint64_t begin = areas_[i].begin, size = std::min(areas_[i].size, ~begin);
    if (!size) continue;
    edges.push_back({begin, i, false});
    edges.push_back({begin + size, i, true});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::set<size_t> open; // areas that cover the stretch, the one that holds first
  std::vector<Window> kept;
  size_t last = areas_.size(); // area of the last piece
  for (size_t e = 0; e < edges.size();) {
    const uint64_t at = edges[e].at;
    for (; e < edges.size() && edges[e].at == at; e++)
      if (edges[e].ends)
        open.erase(edges[e].area);
      else
        open.insert(edges[e].area);
    if (open.empty() || e == edges.size()) continue;
    const Window& area = areas_[*open.begin()];
    const uint64_t size = edges[e].at - at;
    if (last == *open.begin() && kept.back().begin + kept.back().size == at) {
      kept.back().size += size;
      continue;
    }
    last = *open.begin();
    kept.push_back({at, size, area.bytes ? area.bytes + (at - area.begin) : nullptr, area.why});
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
