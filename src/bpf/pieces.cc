#include "bpf/pieces.h"

#include "ir/passes.h"

#include <algorithm>
#include <utility>

namespace bpf {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Role;

size_t work_of(const ir::Program& program, const Inst& inst) {
  const bool is_address = (inst.op == Op::map_find || inst.op == Op::map_slot) && program.maps[inst.index].kind == ir::MapKind::array;
  if (is_address) return 1;
  switch (inst.op) {
  case Op::branch: return 6;
  case Op::call:
  case Op::map_find:
  case Op::map_store:
  case Op::map_remove:
  case Op::event:
  case Op::equal: return 10;
  case Op::hold:
  case Op::commit: return 15;
  case Op::map_slot:
  case Op::loop:
  case Op::for_each:
  case Op::stack: return 40;
  default: return 1;
  }
}

size_t work_of(const ir::Program& program, const ir::Function& function) {
  size_t work = 0;
  for (const ir::Block& b : function.blocks)
    for (const Inst& i : b.insts) work += work_of(program, i);
  return work;
}

namespace {

// Operations that only calculate are walked once, however many stand in a row: beside few others they don't count.
struct Work {
  size_t simple = 0, other = 0;
  void add(const ir::Program& program, const ir::Block& block) {
    for (const Inst& i : block.insts) {
      const size_t work = work_of(program, i);
      (work == 1 ? simple : other) += work;
    }
  }
  size_t all() const { return simple + other; }
  size_t counted() const { return other + std::min(simple, 2 * other); }
};

// On the way through the function that has the most of it; of a loop, one turn.
size_t work_on_longest_way(const ir::Program& program, const ir::Function& function, const ir::Flow& flow) {
  std::vector<Work> before(function.blocks.size()); // the block
  size_t most = 0;
  for (const BlockId b : flow.order) {
    Work work = before[b];
    work.add(program, function.blocks[b]);
    most = std::max(most, work.counted());
    for (const BlockId to : ir::successors(function.blocks[b]))
      if (flow.number[to] > flow.number[b] && work.all() > before[to].all()) before[to] = work;
  }
  return most;
}

// Operations that the longest jump leads over.
size_t longest_jump(const ir::Function& function, const ir::Flow& flow) {
  std::vector<size_t> begin{0};
  for (const BlockId b : flow.order) begin.push_back(begin.back() + function.blocks[b].insts.size());
  size_t longest = 0;
  for (size_t n = 0; n < flow.order.size(); n++)
    for (const BlockId to : ir::successors(function.blocks[flow.order[n]])) {
      const size_t target = begin[flow.number[to]], here = begin[n + 1];
      longest = std::max(longest, target > here ? target - here : here - target);
    }
  return longest;
}

// Ways that do not meet again, such as those of several system calls, are no work for each other. But jumps have to reach across all.
bool is_cut(const ir::Program& program, const ir::Function& function, const PieceSizes& sizes) {
  Work work;
  for (const ir::Block& b : function.blocks) work.add(program, b);
  if (work.all() <= sizes.longest_function) return false;
  if (work.counted() > std::max(sizes.longest_function, ir::long_function)) return true;
  const ir::Flow flow(function);
  return longest_jump(function, flow) > ir::long_function || work_on_longest_way(program, function, flow) > sizes.longest_function;
}

} // namespace

bool has_long_functions(const ir::Program& program, const PieceSizes& sizes) {
  return std::ranges::any_of(program.functions, [&](const ir::Function& f) { return is_cut(program, f, sizes); });
}

ir::Program cut_into_pieces(const ir::Program& given, const PieceSizes& wanted) {
  ir::Program program = given;
  share_loops(program);
  std::vector<bool> cut; // by function; as they were before operations that occur often became calls, which the verifier follows at each
  for (const ir::Function& f : program.functions) cut.push_back(is_cut(program, f, wanted));
  share_operations(program);
  cut.resize(program.functions.size(), false);
  // The kernel takes 256 functions in a program.
  constexpr size_t most_pieces = 80;
  size_t all_work = 0;
  for (const ir::Function& f : program.functions) all_work += work_of(program, f);
  const PieceSizes sizes{wanted.longest_function, std::max(wanted.piece, all_work / most_pieces)};
  // By frame: the function that has it, then the bodies in it, outer ones first.
  std::vector<std::vector<uint32_t>> by_frame(program.frames.size());
  for (uint32_t f = 0; f < program.functions.size(); f++) {
    take_addresses_anew(program.functions[f]);
    if (program.functions[f].role != Role::body) by_frame[program.functions[f].frame].insert(by_frame[program.functions[f].frame].begin(), f);
  }
  for (uint32_t f = 0; f < program.functions.size(); f++)
    if (program.functions[f].role == Role::body) by_frame[program.functions[f].frame].push_back(f);
  const AddressUse addresses = find_address_use(program);
  for (std::vector<uint32_t>& members : by_frame)
    if (std::ranges::any_of(members, [&](uint32_t m) { return cut[m]; })) cut_group(program, addresses, sizes, cut, std::move(members));
  share_objects(program);
  return program;
}

} // namespace bpf
