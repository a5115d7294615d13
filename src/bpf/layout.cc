// Placement of objects (first those that hold addresses, then the smallest) and dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm").
#include "bpf/layout.h"

#include "ir/ops.h"

#include <algorithm>
#include <bit>

namespace bpf {

static int32_t round_up(uint32_t n) { return static_cast<int32_t>((n + 7) / 8 * 8); }

// Registers that are assigned several times hold no known address: `several`, where it is asked first who they are.
static std::vector<KnownAddress> find_known_addresses(const ir::Function& function, const std::vector<bool>* several, bool& is_wrong) {
  std::vector<bool> assigned(function.registers, false);
  for (ir::Reg r = 1; r <= function.parameters; r++) assigned[r] = true;
  std::vector<KnownAddress> known(function.registers);
  const auto from = [&](const ir::Operand& o) { return o.is_reg() ? known[o.as_reg()] : KnownAddress{}; };
  // Blocks may stand in any order; an address found late is only a lost chance.
  for (const ir::Block& b : function.blocks)
    for (const ir::Inst& i : b.insts) {
      if (!ir::defines(i)) continue;
      if (assigned[i.dst] || (several && (*several)[i.dst])) {
        is_wrong |= known[i.dst].is_known;
        continue;
      }
      assigned[i.dst] = true;
      if (i.op == ir::Op::object)
        known[i.dst] = {true, i.index, i.imm};
      else if (i.op == ir::Op::mov)
        known[i.dst] = from(i.a);
      else if (i.op == ir::Op::add && i.b.is_constant() && from(i.a).is_known) {
        known[i.dst] = from(i.a);
        known[i.dst].offset += i.b.value;
      }
    }
  return known;
}

std::vector<KnownAddress> find_known_addresses(const ir::Function& function) {
  bool is_wrong = false;
  std::vector<KnownAddress> known = find_known_addresses(function, nullptr, is_wrong);
  if (!is_wrong) return known;
  const ir::Definitions definitions(function);
  std::vector<bool> several(function.registers);
  for (ir::Reg r = 1; r < function.registers; r++) several[r] = definitions.count[r] > 1;
  return find_known_addresses(function, &several, is_wrong);
}

// The power of two, up to 8, that divides both.
static uint8_t common_divisor(uint8_t a, int64_t b) {
  return static_cast<uint8_t>(1 << std::countr_zero(static_cast<uint64_t>(b) | a | 8));
}

// Of each result, until nothing new is found: what divides it, and whether it leads into an object on the stack. Only
// what can be part of an address is looked at; all else may be any number.
std::vector<uint8_t> find_stack_alignments(const ir::Function& function, const Layout& layout) {
  std::vector<uint8_t> divisor(function.registers, 8);
  std::vector<bool> is_on_stack(function.registers, false);
  std::vector<const ir::Inst*> calculations; // of addresses
  bool any = false;
  for (ir::Reg r = 1; r <= function.parameters; r++) divisor[r] = 1;
  for (const ir::Block& b : function.blocks)
    for (const ir::Inst& i : b.insts) switch (i.op) {
      case ir::Op::object:
        divisor[i.dst] = std::min(divisor[i.dst], common_divisor(8, i.imm));
        if (layout.objects[i.index].kind == ObjectPlace::on_stack) any = is_on_stack[i.dst] = true;
        break;
      case ir::Op::mov:
      case ir::Op::add:
      case ir::Op::sub:
      case ir::Op::mul:
      case ir::Op::shl: calculations.push_back(&i); break;
      default:
        if (ir::defines(i)) divisor[i.dst] = 1;
      }
  if (!any) return std::vector<uint8_t>(function.registers);
  auto divides = [&](const ir::Operand& o) { return o.is_reg() ? divisor[o.as_reg()] : common_divisor(8, o.value); };
  auto leads = [&](const ir::Operand& o) { return o.is_reg() && is_on_stack[o.as_reg()]; };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Inst* calculation : calculations) {
      const ir::Inst& i = *calculation;
      uint8_t d = 1;
      bool on_stack = false;
      if (i.op == ir::Op::mov)
        d = divides(i.a), on_stack = leads(i.a);
      else if (i.op == ir::Op::mul)
        d = common_divisor(8, divides(i.a) * divides(i.b));
      else if (i.op == ir::Op::shl)
        d = i.b.is_constant() ? common_divisor(8, int64_t{divides(i.a)} << std::min<int64_t>(i.b.value, 3)) : d;
      else
        d = common_divisor(divides(i.a), divides(i.b)), on_stack = leads(i.a) || leads(i.b);
      d = std::min(d, divisor[i.dst]);
      changed |= d != divisor[i.dst] || (on_stack && !is_on_stack[i.dst]);
      divisor[i.dst] = d;
      is_on_stack[i.dst] = is_on_stack[i.dst] || on_stack;
    }
  }
  for (ir::Reg r = 0; r < function.registers; r++)
    if (!is_on_stack[r]) divisor[r] = 0;
  return divisor;
}

Layout place_objects(const ir::Frame& frame, const Needs& needs, uint32_t budget) {
  Layout l;
  l.objects.resize(frame.objects.size());
  auto new_slot = [&](uint32_t bytes) { return -(l.stack_bytes += round_up(bytes)); };
  if (needs.bodies_use_context) l.context_slot = new_slot(8);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < frame.objects.size(); i++)
    if (needs.objects[i] && needs.lent != i) order.push_back(i);
  auto is_pinned = [&](uint32_t i) { return needs.addresses[i] && frame.objects[i].size <= largest_on_stack; };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (is_pinned(a) != is_pinned(b)) return is_pinned(a);
    return frame.objects[a].size < frame.objects[b].size;
  });
  uint32_t scratch = lent_at;
  bool bodies_use_scratch = false;
  if (needs.lent) {
    l.objects[*needs.lent] = {ObjectPlace::in_scratch, static_cast<int32_t>(lent_at)};
    scratch += static_cast<uint32_t>(round_up(frame.objects[*needs.lent].size));
    bodies_use_scratch = needs.in_bodies[*needs.lent];
    l.number_slot = new_slot(8);
  }
  for (const uint32_t i : order) {
    const uint32_t size = std::max(8, round_up(frame.objects[i].size));
    const bool fits = size <= largest_on_stack && static_cast<uint32_t>(l.stack_bytes) + size <= budget && !needs.stored_in_loops[i];
    if (fits || is_pinned(i)) {
      l.objects[i] = {ObjectPlace::on_stack, new_slot(size)};
    } else {
      l.objects[i] = {ObjectPlace::in_scratch, static_cast<int32_t>(scratch)};
      scratch += size;
      if (needs.in_bodies[i]) bodies_use_scratch = true;
    }
  }
  if (scratch > lent_at) l.scratch_bytes = scratch;
  if (bodies_use_scratch) l.base_slot = new_slot(8);
  return l;
}

// ----------------------------------------------------------------------------------------------- flow

Flow::Flow(const ir::Function& function) {
  const size_t n = function.blocks.size();
  dominator.assign(n, ir::no_block);
  depth.assign(n, ~0u);
  // Postorder by an explicit stack.
  std::vector<ir::BlockId> postorder;
  std::vector<uint32_t> number(n, ~0u);
  postorder.reserve(n);
  std::vector<std::pair<ir::BlockId, uint32_t>> stack{{0, 0}};
  std::vector<uint8_t> seen(n, false);
  seen[0] = true;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const ir::Successors to = ir::successors(function.blocks[b]);
    if (next < to.count) {
      const ir::BlockId s = to.ids[to.count - ++next]; // the last found stands first in the order
      if (!seen[s]) seen[s] = true, stack.push_back({s, 0});
    } else {
      number[b] = static_cast<uint32_t>(postorder.size());
      postorder.push_back(b);
      stack.pop_back();
    }
  }
  order.assign(postorder.rbegin(), postorder.rend());
  from_begin.assign(n + 1, 0);
  for (const ir::BlockId b : order)
    for (const ir::BlockId s : ir::successors(function.blocks[b])) from_begin[s + 1]++;
  for (size_t b = 0; b < n; b++) from_begin[b + 1] += from_begin[b];
  from.resize(from_begin[n]);
  std::vector<uint32_t> next(from_begin.begin(), from_begin.end() - 1);
  for (const ir::BlockId b : order)
    for (const ir::BlockId s : ir::successors(function.blocks[b])) from[next[s]++] = b;
  dominator[0] = 0;
  auto meet = [&](ir::BlockId a, ir::BlockId b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = postorder.size() - 1; i-- > 0;) {
      const ir::BlockId b = postorder[i];
      ir::BlockId d = ir::no_block;
      for (const ir::BlockId p : predecessors(b))
        if (dominator[p] != ir::no_block) d = d == ir::no_block ? p : meet(d, p);
      changed |= dominator[b] != d;
      dominator[b] = d;
    }
  }
  depth[0] = 0;
  for (size_t i = postorder.size() - 1; i-- > 0;) {
    const ir::BlockId b = postorder[i];
    depth[b] = depth[dominator[b]] + 1;
  }
  tree = ir::DominatorTree(order, dominator);
}

ir::BlockId Flow::common_dominator(ir::BlockId a, ir::BlockId b) const {
  while (a != b) (depth[a] > depth[b] ? a : b) = dominator[depth[a] > depth[b] ? a : b];
  return a;
}

bool Flow::in_cycle(const ir::Function& function, ir::BlockId b) const {
  std::vector<bool> seen(function.blocks.size(), false);
  std::vector<ir::BlockId> work{b};
  while (!work.empty()) {
    const ir::BlockId at = work.back();
    work.pop_back();
    for (const ir::BlockId s : ir::successors(function.blocks[at])) {
      if (s == b) return true;
      if (!seen[s]) seen[s] = true, work.push_back(s);
    }
  }
  return false;
}

} // namespace bpf
