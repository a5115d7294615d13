// reuse_queries: asks the machine once what cannot change during a run: all queries but `random` and `ktime_now`, and where
// the current thread's value of a map is (in functions that do not make it). A question that is dominated by
// an equal one becomes a copy of its answer. Where the answer's register is assigned again, the earlier query
// first gets a register of its own.
#include "ir/passes.h"

#include <algorithm>
#include <vector>

namespace ir {
namespace {

constexpr size_t query_count = static_cast<size_t>(Query::user_registers) + 1;
constexpr size_t no_question = ~size_t{0};

// The questions of a program: its queries, then its maps.
size_t question(const Inst& i, const Program& program) {
  if (!i.dst) return no_question;
  if (i.op == Op::query && i.query != Query::random && i.query != Query::ktime_now) return static_cast<size_t>(i.query);
  if (i.op == Op::map_find && program.maps[i.index].kind == MapKind::task) return query_count + i.index;
  return no_question;
}

// How often each is asked; 0 for values that may come into being between two look-ups.
std::vector<uint32_t> count_questions(const Function& function, const Program& program) {
  std::vector<uint32_t> count(query_count + program.maps.size());
  std::vector<bool> is_made(program.maps.size());
  const bool is_cut = is_long(function);
  bool runs_others = false;
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts) {
      if (size_t q = question(i, program); q != no_question) count[q]++;
      if (i.op == Op::map_slot || i.op == Op::map_store) is_made[i.index] = true;
      runs_others |= i.op == Op::call || i.op == Op::loop || i.op == Op::for_each;
    }
  for (size_t m = 0; m < program.maps.size(); m++)
    if (is_made[m] || runs_others || is_cut) count[query_count + m] = 0;
  return count;
}

struct Asked {
  BlockId block;
  size_t at;
  size_t question;
  size_t same_as; // place in the list of the query that gives the answer: itself, or one that dominates it
  bool is_reused = false;
};

// All questions that might be spared, dominators first.
std::vector<Asked> find_questions(const Function& function, PassContext& context,
                                  const std::vector<uint32_t>& count) {
  std::vector<Asked> all;
  const Flow& flow = context.flow();
  const Dominators dominators(function, flow);
  std::vector<std::vector<size_t>> first(count.size()); // by question: those that no earlier one answers
  for (const BlockId b : flow.order) {
    const auto& insts = function.blocks[b].insts;
    for (size_t at = 0; at < insts.size(); at++) {
      const size_t q = question(insts[at], context.program);
      if (q == no_question || count[q] < 2) continue;
      Asked asked{b, at, q, all.size()};
      const auto answers = [&](size_t n) { return dominators.dominates(all[n].block, b); };
      if (const auto n = std::ranges::find_if(first[q], answers); n != first[q].end())
        all[asked.same_as = *n].is_reused = true;
      else
        first[q].push_back(all.size());
      all.push_back(asked);
    }
  }
  return all;
}

} // namespace

bool reuse_queries(Function& function, PassContext& context) {
  const auto count = count_questions(function, context.program);
  if (std::ranges::none_of(count, [](uint32_t n) { return n > 1; })) return false;
  std::vector<Asked> all = find_questions(function, context, count);
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
