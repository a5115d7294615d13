// clean_blocks: the graph without needless edges. Blocks that only jump are skipped by those who lead to
// them; blocks that are not reached go; a block that is the only way into another takes its instructions
// over. The order of the blocks that stay is kept.
#include "ir/passes.h"

#include <algorithm>

namespace ir {
namespace {

bool only_jumps(const Block& block) { return block.insts.size() == 1 && block.insts[0].op == Op::jump; }

// Edges to blocks that only jump lead to where they end up. Cycles of such blocks (endless loops) are left alone.
bool skip_jumps(Function& function) {
  std::vector<BlockId> behind; // by block: where it jumps to; itself if it does more
  behind.reserve(function.blocks.size());
  bool any = false;
  for (BlockId b = 0; b < function.blocks.size(); b++) {
    const bool jumps = only_jumps(function.blocks[b]);
    behind.push_back(jumps ? function.blocks[b].insts[0].target : b);
    any |= jumps;
  }
  if (!any) return false;
  bool changed = false;
  const auto follow = [&](BlockId& b) {
    BlockId end = b;
    for (int hops = 0; hops < 32 && behind[end] != end; hops++) end = behind[end];
    changed |= end != b;
    b = end;
  };
  for (Block& block : function.blocks) {
    Inst& last = block.insts.back();
    const Successors to = successors(last);
    if (to.count > 0) follow(last.target);
    if (to.count > 1) follow(last.other);
  }
  return changed;
}

// `reached`: without those that are joined to another.
bool join_blocks(Function& function, const Flow& flow, std::vector<bool>& reached) {
  // The block that is the only way into the one it jumps to.
  const auto joined = [&](BlockId b) {
    const auto& insts = function.blocks[b].insts;
    if (insts.empty() || insts.back().op != Op::jump) return no_block;
    const BlockId next = insts.back().target;
    return next != 0 && next != b && flow.predecessors[next] == 1 ? next : no_block;
  };
  bool changed = false;
  for (const BlockId b : flow.order) {
    if (!reached[b] || joined(b) == no_block) continue;
    auto& insts = function.blocks[b].insts;
    size_t size = insts.size();
    for (BlockId next = joined(b); next != no_block; next = joined(next)) size += function.blocks[next].insts.size() - 1;
    insts.reserve(size);
    for (BlockId next = joined(b); next != no_block; next = joined(b)) {
      const auto taken = std::move(function.blocks[next].insts);
      reached[next] = false;
      insts.pop_back();
      insts.insert(insts.end(), taken.begin(), taken.end());
      changed = true;
    }
  }
  return changed;
}

bool remove_unreached(Function& function, const std::vector<bool>& reached) {
  if (std::ranges::find(reached, false) == reached.end()) return false;
  std::vector<BlockId> renamed(function.blocks.size(), no_block);
  BlockId kept = 0;
  for (BlockId b = 0; b < function.blocks.size(); b++) {
    if (!reached[b]) continue;
    if (kept != b) function.blocks[kept] = std::move(function.blocks[b]);
    renamed[b] = kept++;
  }
  function.blocks.resize(kept);
  for (Block& block : function.blocks) {
    Inst& last = block.insts.back();
    const Successors to = successors(last);
    if (to.count > 0) last.target = renamed[last.target];
    if (to.count > 1) last.other = renamed[last.other];
  }
  return true;
}

} // namespace

bool clean_blocks(Function& function, PassContext& context) {
  bool changed = skip_jumps(function);
  if (changed) context.edges_changed();
  const Flow& flow = context.flow();
  std::vector<bool> reached(function.blocks.size());
  for (const BlockId b : flow.order) reached[b] = true;
  bool joined = join_blocks(function, flow, reached);
  joined |= remove_unreached(function, reached);
  if (joined) context.edges_changed();
  return changed || joined;
}

} // namespace ir
