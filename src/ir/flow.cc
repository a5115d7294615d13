// What passes know of a function as a whole: definitions of registers, order of blocks, dominators. The
// dominators are those of Cooper, Harvey, Kennedy: A simple, fast dominance algorithm (2001).
#include "ir/passes.h"

#include <algorithm>

namespace ir {

size_t length_of(const Function& function) {
  size_t n = 0;
  for (const Block& b : function.blocks) n += b.insts.size();
  return n;
}

Definitions::Definitions(const Function& function) : count(function.registers), last(function.registers) {
  for (Reg r = 1; r <= function.parameters; r++) count[r] = 1;
  for (const Block& b : function.blocks) {
    for (const Inst& i : b.insts) {
      if (!defines(i)) continue;
      count[i.dst]++;
      last[i.dst] = &i;
    }
  }
}

namespace {

// Of each block, in the order in which they lie in memory: their instructions are far apart.
std::vector<Successors> edges_of(const Function& function) {
  std::vector<Successors> out;
  out.reserve(function.blocks.size());
  for (const Block& b : function.blocks) out.push_back(successors(b));
  return out;
}

// Blocks in postorder, without recursion: functions may have many thousands.
std::vector<BlockId> postorder(const std::vector<Successors>& edges) {
  struct Visit {
    BlockId block;
    uint32_t next;
  };
  std::vector<BlockId> order;
  order.reserve(edges.size());
  std::vector<uint8_t> seen(edges.size());
  std::vector<Visit> path;
  path.reserve(32);
  path.push_back({0, 0});
  seen[0] = true;
  while (!path.empty()) {
    Visit& v = path.back();
    const Successors& to = edges[v.block];
    if (v.next == to.count) {
      order.push_back(v.block);
      path.pop_back();
      continue;
    }
    const BlockId b = to.ids[v.next++];
    if (seen[b]) continue;
    seen[b] = true;
    path.push_back({b, 0});
  }
  return order;
}

} // namespace

Flow::Flow(const Function& function) : Flow(edges_of(function)) {}

Flow::Flow(const std::vector<Successors>& edges) : order(postorder(edges)), number(edges.size(), ~0u), predecessors(edges.size()) {
  std::reverse(order.begin(), order.end());
  for (uint32_t n = 0; n < order.size(); n++) number[order[n]] = n;
  for (const BlockId b : order)
    for (const BlockId to : edges[b]) predecessors[to]++;
}

const Flow& PassContext::flow() {
  if (!flow_) flow_ = std::make_unique<Flow>(function_);
  return *flow_;
}

Predecessors::Predecessors(const Function& function, const Flow& flow) : begin_(function.blocks.size() + 1) {
  for (size_t b = 0; b < function.blocks.size(); b++) begin_[b + 1] = begin_[b] + flow.predecessors[b];
  from_.resize(begin_.back());
  std::vector<uint32_t> next = begin_;
  for (const BlockId b : flow.order)
    for (const BlockId to : successors(function.blocks[b])) from_[next[to]++] = b;
}

DominatorTree::DominatorTree(const std::vector<BlockId>& order, const std::vector<BlockId>& immediate)
    : first_(immediate.size()), size_(immediate.size()) {
  for (size_t n = order.size(); n-- > 0;) {
    const uint32_t size = ++size_[order[n]];
    if (n) size_[immediate[order[n]]] += size;
  }
  std::vector<uint32_t> next(immediate.size()); // by block: the number of the next one that it dominates immediately
  for (size_t n = 0; n < order.size(); n++) {
    const BlockId b = order[n];
    if (n) first_[b] = next[immediate[b]];
    if (n) next[immediate[b]] += size_[b];
    next[b] = first_[b] + 1;
  }
}

Dominators::Dominators(const Function& function, const Flow& flow)
    : flow_(flow), immediate_(function.blocks.size(), no_block) {
  const Predecessors from(function, flow);
  immediate_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : flow.order) {
      if (b == 0) continue;
      BlockId nearest = no_block;
      for (const BlockId p : from.of(b)) {
        if (immediate_[p] == no_block) continue; // not yet visited: a back edge
        nearest = nearest == no_block ? p : common(nearest, p);
      }
      changed |= immediate_[b] != nearest;
      immediate_[b] = nearest;
    }
  }
  tree_ = DominatorTree(flow.order, immediate_);
}

BlockId Dominators::common(BlockId a, BlockId b) const {
  while (a != b) {
    if (flow_.number[a] > flow_.number[b])
      a = immediate_[a];
    else
      b = immediate_[b];
  }
  return a;
}

} // namespace ir
