// What passes know of a function as a whole: definitions of registers, order of blocks, dominators. The
// dominators are those of Cooper, Harvey, Kennedy: A simple, fast dominance algorithm (2001).
#include "ir/passes.h"

#include <algorithm>

namespace ir {

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

// Blocks in postorder, without recursion: functions may have many thousands.
std::vector<BlockId> postorder(const Function& function) {
  struct Visit {
    BlockId block;
    uint32_t next;
  };
  std::vector<BlockId> order;
  order.reserve(function.blocks.size());
  std::vector<uint8_t> seen(function.blocks.size());
  std::vector<Visit> path;
  path.reserve(32);
  path.push_back({0, 0});
  seen[0] = true;
  while (!path.empty()) {
    Visit& v = path.back();
    const Successors to = successors(function.blocks[v.block]);
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

Flow::Flow(const Function& function)
    : order(postorder(function)), number(function.blocks.size(), ~0u), predecessors(function.blocks.size()) {
  std::reverse(order.begin(), order.end());
  for (uint32_t n = 0; n < order.size(); n++) number[order[n]] = n;
  for (const BlockId b : order)
    for (const BlockId to : successors(function.blocks[b])) predecessors[to]++;
}

const Flow& PassContext::flow() {
  if (!flow_) flow_ = std::make_unique<Flow>(function_);
  return *flow_;
}

Dominators::Dominators(const Function& function, const Flow& flow)
    : flow_(flow), immediate_(function.blocks.size(), no_block) {
  // The predecessors of block b: from[begin[b]] to from[begin[b + 1]].
  std::vector<uint32_t> begin(function.blocks.size() + 1);
  for (size_t b = 0; b < function.blocks.size(); b++) begin[b + 1] = begin[b] + flow.predecessors[b];
  std::vector<BlockId> from(begin.back());
  std::vector<uint32_t> next = begin;
  for (const BlockId b : flow.order)
    for (const BlockId to : successors(function.blocks[b])) from[next[to]++] = b;
  immediate_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId b : flow.order) {
      if (b == 0) continue;
      BlockId nearest = no_block;
      for (uint32_t n = begin[b]; n < begin[b + 1]; n++) {
        const BlockId p = from[n];
        if (immediate_[p] == no_block) continue; // not yet visited: a back edge
        nearest = nearest == no_block ? p : common(nearest, p);
      }
      changed |= immediate_[b] != nearest;
      immediate_[b] = nearest;
    }
  }
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

bool Dominators::dominates(BlockId a, BlockId b) const {
  while (flow_.number[b] > flow_.number[a]) b = immediate_[b];
  return a == b;
}

} // namespace ir
