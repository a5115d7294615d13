// reuse_queries: asks the machine once what cannot change during a run (all queries but `random`). A query
// that is dominated by an equal one becomes a copy of its answer. Where the answer's register is assigned
// again, the earlier query first gets a register of its own.
#include "ir/passes.h"

#include <algorithm>
#include <array>

namespace ir {
namespace {

constexpr size_t query_count = static_cast<size_t>(Query::random) + 1;

bool is_reusable(const Inst& i) { return i.op == Op::query && i.query != Query::random && i.dst; }

// Which queries are asked more than once.
std::array<uint32_t, query_count> count_queries(const Function& function) {
  std::array<uint32_t, query_count> count{};
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts)
      if (is_reusable(i)) count[static_cast<size_t>(i.query)]++;
  return count;
}

struct Asked {
  BlockId block;
  size_t at;
  Query query;
  size_t same_as; // place in the list of the query that gives the answer: itself, or one that dominates it
  bool is_reused = false;
};

// All queries that might be spared, dominators first.
std::vector<Asked> find_queries(const Function& function, const std::array<uint32_t, query_count>& count) {
  std::vector<Asked> all;
  const Flow flow(function);
  const Dominators dominators(function, flow);
  for (const BlockId b : flow.order) {
    const auto& insts = function.blocks[b].insts;
    for (size_t at = 0; at < insts.size(); at++) {
      if (!is_reusable(insts[at]) || count[static_cast<size_t>(insts[at].query)] < 2) continue;
      Asked asked{b, at, insts[at].query, all.size()};
      for (size_t n = 0; n < all.size() && asked.same_as == all.size(); n++)
        if (all[n].same_as == n && all[n].query == asked.query && dominators.dominates(all[n].block, b))
          asked.same_as = n;
      if (asked.same_as != all.size()) all[asked.same_as].is_reused = true;
      all.push_back(asked);
    }
  }
  return all;
}

} // namespace

bool reuse_queries(Function& function, const Program&) {
  const auto count = count_queries(function);
  if (std::ranges::none_of(count, [](uint32_t n) { return n > 1; })) return false;
  std::vector<Asked> all = find_queries(function, count);
  const std::vector<uint32_t> assigned = Definitions(function).count;
  const auto inst = [&](const Asked& q) -> Inst& { return function.blocks[q.block].insts[q.at]; };
  std::vector<Reg> answer(all.size());
  bool changed = false;
  for (size_t n = 0; n < all.size(); n++) {
    Inst& i = inst(all[n]);
    if (all[n].same_as != n) {
      i = {.op = Op::mov, .dst = i.dst, .a = Operand::of(answer[all[n].same_as]), .where = i.where};
      changed = true;
    } else {
      answer[n] = all[n].is_reused && assigned[i.dst] > 1 ? function.registers++ : i.dst;
    }
  }
  // Insertions last, from the back, so that places stay right until they were used.
  for (size_t n = all.size(); n-- > 0;) {
    Inst& i = inst(all[n]);
    if (all[n].same_as != n || answer[n] == i.dst) continue;
    const Inst copy{.op = Op::mov, .dst = i.dst, .a = Operand::of(answer[n]), .where = i.where};
    i.dst = answer[n];
    auto& insts = function.blocks[all[n].block].insts;
    insts.insert(insts.begin() + static_cast<ptrdiff_t>(all[n].at) + 1, copy);
  }
  return changed;
}

} // namespace ir
