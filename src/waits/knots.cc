#include "waits/knots.h"

#include <algorithm>
#include <map>

namespace waits {

namespace {

class Components {
public:
  explicit Components(std::vector<std::vector<uint32_t>> next) : next_(std::move(next)), nodes_(next_.size()) {
    for (uint32_t n = 0; n < nodes_.size(); n++)
      if (!nodes_[n].order) visit(n);
  }
  std::vector<std::vector<uint32_t>> found;

private:
  struct Node {
    uint32_t order = 0, lowest = 0; // 0: not seen
    bool is_open = false;
  };

  // Groups of threads are few: the depth is bounded by their number.
  void visit(uint32_t n) {
    nodes_[n] = {++count_, count_, true};
    open_.push_back(n);
    for (uint32_t other : next_[n]) {
      if (!nodes_[other].order) visit(other);
      if (nodes_[other].is_open) nodes_[n].lowest = std::min(nodes_[n].lowest, nodes_[other].lowest);
    }
    if (nodes_[n].lowest != nodes_[n].order) return;
    std::vector<uint32_t> component;
    for (uint32_t member = nobody; member != n;) {
      member = open_.back();
      open_.pop_back();
      nodes_[member].is_open = false;
      component.push_back(member);
    }
    std::ranges::sort(component);
    if (component.size() > 1) found.push_back(std::move(component));
  }

  std::vector<std::vector<uint32_t>> next_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> open_;
  uint32_t count_ = 0;
};

} // namespace

std::vector<std::vector<uint32_t>> find_knots(const Graph& graph, uint64_t min_ns) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> edges;
  for (const Segment& s : graph.segments)
    if (s.ender != nobody) edges[{graph.threads[s.thread].group, graph.threads[s.ender].group}] += s.ns();
  std::vector<std::vector<uint32_t>> next(graph.groups.size());
  for (const auto& [edge, ns] : edges)
    if (ns >= min_ns) next[edge.first].push_back(edge.second);
  return Components(std::move(next)).found;
}

} // namespace waits
