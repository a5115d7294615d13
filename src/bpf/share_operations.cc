// Operations on maps as functions of one operation each, which return what it gives.
#include "bpf/pieces.h"

#include "ir/ops.h"

#include <map>
#include <tuple>

namespace bpf {
namespace {

using ir::MapKind;
using ir::Op;
using ir::Operand;

constexpr size_t often = 16; // occurrences that are worth a function

// Operations that one function can do: the same one on the same map, with the same operands there.
using Kind = std::tuple<Op, uint32_t, bool, bool>; // op, map, has a, has b

bool has(const Operand& o) { return o.kind != Operand::none; }

std::optional<Kind> kind_of(const ir::Inst& i, const ir::Program& program) {
  const bool is_of_map = i.op == Op::map_find || i.op == Op::map_slot || i.op == Op::map_store || i.op == Op::map_remove;
  if (!is_of_map) return {};
  const MapKind kind = program.maps[i.index].kind;
  // These take no call of a helper on a map, or one that knows the task.
  if (kind == MapKind::task || kind == MapKind::array) return {};
  if (ir::is_scalar(kind) && i.op != Op::map_find && i.op != Op::map_slot) return {};
  return Kind{i.op, i.index, has(i.a), has(i.b)};
}

uint32_t add_function(ir::Program& program, const Kind& kind) {
  const auto [op, map, has_a, has_b] = kind;
  ir::Function f;
  f.name = std::string(to_string(op)) + "_" + program.maps[map].name;
  f.role = ir::Role::function;
  f.frame = static_cast<uint32_t>(program.frames.size());
  program.frames.emplace_back();
  ir::Inst i{.op = op, .index = map};
  if (has_a) i.a = Operand::of(++f.parameters);
  if (has_b) i.b = Operand::of(++f.parameters);
  i.dst = f.parameters + 1;
  f.registers = i.dst + 1;
  f.blocks.push_back({{i, {.op = Op::give_back, .a = Operand::of(i.dst)}}});
  program.functions.push_back(std::move(f));
  return static_cast<uint32_t>(program.functions.size() - 1);
}

} // namespace

void share_operations(ir::Program& program) {
  std::map<Kind, size_t> count;
  const size_t functions = program.functions.size();
  for (const ir::Function& f : program.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        if (const auto kind = kind_of(i, program)) count[*kind]++;
  std::map<Kind, uint32_t> made;
  for (const auto& [kind, n] : count)
    if (n >= often) made[kind] = add_function(program, kind);
  for (size_t f = 0; f < functions; f++)
    for (ir::Block& b : program.functions[f].blocks)
      for (ir::Inst& i : b.insts) {
        const auto kind = kind_of(i, program);
        const auto shared = kind ? made.find(*kind) : made.end();
        if (shared == made.end()) continue;
        ir::Inst call{.op = Op::call, .dst = i.dst, .index = shared->second, .where = i.where};
        call.a = has(i.a) ? i.a : i.b;
        if (has(i.a) && has(i.b)) call.b = i.b;
        i = call;
      }
}

} // namespace bpf
