#include "waits/graph.h"

#include <algorithm>
#include <tuple>

namespace waits {

namespace {

// A thread that ends a wait while it runs goes on after that.
std::vector<Segment> cut(const std::vector<Segment>& all, std::vector<std::vector<uint64_t>>& ends_of_thread) {
  for (std::vector<uint64_t>& ends : ends_of_thread) {
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }
  std::vector<Segment> out;
  out.reserve(all.size());
  for (Segment s : all) {
    if (s.kind == Activity::runs) {
      const std::vector<uint64_t>& ends = ends_of_thread[s.thread];
      for (auto at = std::ranges::upper_bound(ends, s.begin); at != ends.end() && *at < s.end; ++at) {
        Segment first = s;
        first.end = s.begin = *at;
        out.push_back(first);
      }
    }
    out.push_back(s);
  }
  return out;
}

} // namespace

void Graph::settle() {
  std::vector<std::vector<uint64_t>> ends_of_thread(threads.size());
  for (const Segment& s : segments)
    if (s.ender != nobody) ends_of_thread[s.ender].push_back(s.end);
  segments = cut(segments, ends_of_thread);
  // Of those that end at the same time the ones that no thread ended may have ended the others.
  std::ranges::stable_sort(segments, {}, [](const Segment& s) { return std::tuple(s.end, s.kind != Activity::runs, s.ender != nobody, s.begin); });
  for (Timeline& t : threads) t.segments.clear();
  for (uint32_t i = 0; i < segments.size(); i++) threads[segments[i].thread].segments.push_back(i);
  for (uint32_t i = 0; i < segments.size(); i++) {
    Segment& s = segments[i];
    s.after = nobody;
    if (s.ender == nobody) continue;
    const std::vector<uint32_t>& its = threads[s.ender].segments;
    const auto at = std::ranges::upper_bound(its, s.end, {}, [this](uint32_t other) { return segments[other].end; });
    if (at != its.begin() && *(at - 1) < i) s.after = *(at - 1);
  }
}

} // namespace waits
