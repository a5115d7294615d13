// Chains of single children share a line's indentation, so that deep stacks do not move to the right.
#include "agent/tree.h"

#include "base/print.h"
#include "base/text.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace agent {

namespace {

struct Node {
  std::string_view name;
  uint64_t total = 0, self = 0;
  std::map<std::string_view, Node*> children;
};

// Nodes have one owner; pointers to them stay valid.
struct Tree {
  std::deque<Node> nodes;
  Node* root = &nodes.emplace_back();

  void add(std::string_view stack, uint64_t weight) {
    Node* at = root;
    at->total += weight;
    for (std::string_view name : base::split(stack, ';')) {
      Node*& child = at->children[name];
      if (!child) child = &nodes.emplace_back(Node{.name = name});
      at = child;
      at->total += weight;
    }
    at->self += weight;
  }
};

std::vector<const Node*> largest_first(const Node& node) {
  std::vector<const Node*> out;
  for (const auto& [name, child] : node.children) out.push_back(child);
  std::stable_sort(out.begin(), out.end(), [](const Node* a, const Node* b) { return a->total > b->total; });
  return out;
}

// The weight from which on nodes are shown, so that there are at most `rows` of them.
uint64_t threshold(const Tree& tree, uint64_t rows, double min_percent) {
  const auto least = static_cast<uint64_t>(static_cast<double>(tree.root->total) * min_percent / 100);
  std::vector<uint64_t> totals;
  for (const Node& node : tree.nodes)
    if (&node != tree.root && node.total >= least) totals.push_back(node.total);
  if (totals.size() <= rows) return least;
  std::nth_element(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(rows), totals.end(), std::greater<>());
  return std::max(least, totals[rows] + 1);
}

} // namespace

std::string tree_text(std::string_view folded, std::string_view unit, uint64_t rows, double min_percent) {
  Tree tree;
  for (std::string_view line : base::split(folded, '\n')) {
    const size_t blank = line.rfind(' ');
    if (blank == line.npos || blank == 0) continue;
    if (const auto weight = base::parse_integer(line.substr(blank + 1))) tree.add(line.substr(0, blank), *weight);
  }
  if (!tree.root->total) return "no samples\n";
  const uint64_t least = threshold(tree, rows, min_percent);
  std::string out = base::print("%7s %7s %14s  %s\n", "total", "self", std::string(unit).c_str(), "function");
  struct Entry {
    const Node* node;
    size_t depth;
  };
  std::vector<Entry> left;
  uint64_t shown = 0;
  const auto push = [&](const Node& node, size_t depth) {
    const std::vector<const Node*> children = largest_first(node);
    const auto is_shown = [&](const Node* n) { return n->total >= least; };
    const auto count = static_cast<size_t>(std::count_if(children.begin(), children.end(), is_shown));
    for (size_t i = children.size(); i-- > 0;)
      if (is_shown(children[i])) left.push_back({children[i], depth + (count > 1 ? 1 : 0)});
  };
  push(*tree.root, 0);
  while (!left.empty()) {
    const Entry at = left.back();
    left.pop_back();
    const auto share = [&](uint64_t n) { return 100 * static_cast<double>(n) / static_cast<double>(tree.root->total); };
    out += base::print("%6.1f%% %6.1f%% %14llu  ", share(at.node->total), share(at.node->self), static_cast<unsigned long long>(at.node->total));
    out += std::string(2 * at.depth, ' ') + base::printable(at.node->name) + "\n";
    shown++;
    push(*at.node, at.depth);
  }
  const uint64_t all = tree.nodes.size() - 1;
  if (shown < all) out += base::print("%llu smaller branches are not shown\n", static_cast<unsigned long long>(all - shown));
  return out;
}

} // namespace agent
