// A node's number is higher than its parent's: sums go up from the last to the first. Texts are written without recursion: stacks may be thousands of
// frames deep.
#include "web/call_tree.h"

#include "report/json.h"

#include <algorithm>

namespace web {

namespace {

constexpr size_t most_nodes = 20'000;
constexpr double smallest_share = 0.0005; // of the total, where there are more

struct Weights {
  std::vector<uint64_t> self, total; // by node
};

void add_up(const profile::Profile& p, Weights& to) {
  to.total = to.self;
  for (size_t n = p.nodes().size(); n-- > 1;) to.total[p.nodes()[n].parent] += to.total[n];
}

// `print`: the members of a node, without its children.
template<class Size, class Print> TreeJson write_tree(const profile::Profile& p, Size size, Print print) {
  const size_t nodes = p.nodes().size();
  std::vector<std::vector<uint32_t>> children(nodes);
  TreeJson out;
  const double smallest = nodes > most_nodes ? smallest_share * static_cast<double>(size(0)) : 0;
  for (uint32_t n = 1; n < nodes; n++) {
    if (size(n) && static_cast<double>(size(n)) >= smallest)
      children[p.nodes()[n].parent].push_back(n);
    else
      out.dropped += size(n) > 0;
  }
  for (auto& list : children) std::ranges::stable_sort(list, [&](uint32_t a, uint32_t b) { return size(a) > size(b); });
  struct Open {
    uint32_t node;
    size_t next = 0; // of its children
  };
  std::vector<Open> open;
  auto begin = [&](uint32_t node) {
    out.json += '{';
    if (!node) {
      out.json += "\"name\":\"all\"";
    } else {
      const profile::Frame& f = p.frame_of(node);
      out.json += "\"name\":", report::append_json(out.json, p.name(f));
      out.json += ",\"module\":", report::append_json(out.json, p.module(f));
      out.json += ",\"kind\":", report::append_json(out.json, spec::row_of(f.kind).name);
    }
    print(node, out.json);
    out.json += ",\"children\":[";
    open.push_back({node});
  };
  begin(0);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == children[top.node].size()) {
      out.json += "]}";
      open.pop_back();
      continue;
    }
    if (top.next) out.json += ',';
    begin(children[top.node][top.next++]);
  }
  return out;
}

} // namespace

TreeJson tree_json(const profile::Profile& p) {
  Weights weights;
  weights.self.resize(p.nodes().size());
  for (const profile::Sample& s : p.samples()) weights.self[s.node] += s.weight;
  add_up(p, weights);
  return write_tree(
      p, [&](uint32_t n) { return weights.total[n]; },
      [&](uint32_t n, std::string& to) { to += ",\"value\":" + std::to_string(weights.total[n]) + ",\"self\":" + std::to_string(weights.self[n]); });
}

TreeJson tree_json(const profile::Difference& d) {
  const profile::Profile& p = d.profile;
  Weights a, b;
  a.self.resize(p.nodes().size()), b.self.resize(p.nodes().size());
  for (size_t i = 0; i < p.samples().size(); i++) {
    const profile::Sample& s = p.samples()[i];
    b.self[s.node] += s.weight;
    a.self[s.node] += static_cast<uint64_t>(static_cast<int64_t>(s.weight) - d.changes[i]);
  }
  add_up(p, a), add_up(p, b);
  return write_tree(
      p, [&](uint32_t n) { return std::max(a.total[n], b.total[n]); },
      [&](uint32_t n, std::string& to) {
        to += ",\"a\":" + std::to_string(a.total[n]) + ",\"b\":" + std::to_string(b.total[n]) + ",\"self_a\":" + std::to_string(a.self[n]) + ",\"self_b\":" + std::to_string(b.self[n]);
      });
}

} // namespace web
