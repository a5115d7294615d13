#include "eval/ahead.h"

#include "ir/ops.h"

#include <optional>
#include <vector>

namespace eval {

using ir::Inst;
using ir::Op;

namespace {

constexpr int64_t turns_ahead = 8; // of arrays
constexpr int64_t widest_element = 512;

bool is_foreign_load(const Inst& i) {
  return i.op == Op::load && (i.space == ir::Space::user || i.space == ir::Space::kernel) && i.a.is_reg();
}

// Registers whose value is an address that is gone to.
std::vector<bool> find_followed(const ir::Function& function) {
  std::vector<bool> followed(function.registers);
  for (const ir::Block& b : function.blocks)
    for (const Inst& i : b.insts)
      if (is_foreign_load(i))
        followed[i.a.as_reg()] = true;
      else if (i.op == Op::call)
        ir::for_each_use(i, [&](ir::Reg r) { followed[r] = true; });
  return followed;
}

// How far elements are from each other, where instruction `n` of a block loads one from an array: its address
// is a sum made there of which one part is a multiple.
std::optional<int64_t> element_size(const ir::Block& block, size_t n) {
  const auto made = [&](const ir::Operand& o) -> const Inst* {
    for (size_t k = n; o.is_reg() && k-- > 0;)
      if (block.insts[k].dst == o.as_reg()) return &block.insts[k];
    return nullptr;
  };
  const Inst* sum = made(block.insts[n].a);
  if (!sum || sum->op != Op::add) return std::nullopt;
  for (const ir::Operand& part : {sum->a, sum->b}) {
    const Inst* product = made(part);
    if (!product || !product->b.is_constant()) continue;
    const int64_t by = product->b.value;
    const bool is_small = by > 0 && by <= widest_element;
    if (product->op == Op::shl && is_small && by < 9) return int64_t{1} << by;
    if (product->op == Op::mul && is_small) return by;
  }
  return std::nullopt;
}

// Whether it takes as long as memory does.
bool is_long(const Inst& i) {
  switch (i.op) {
  case Op::call:
  case Op::loop:
  case Op::for_each:
  case Op::map_slot:
  case Op::map_find:
  case Op::map_store:
  case Op::map_remove:
  case Op::read_string:
  case Op::read:
  case Op::event:
  case Op::hold:
  case Op::commit:
  case Op::exchange: return true;
  default: return false;
  }
}

} // namespace

std::unordered_map<const Inst*, int64_t> find_ahead(const ir::Function& function) {
  std::unordered_map<const Inst*, int64_t> out;
  const std::vector<bool> followed = find_followed(function);
  struct First {
    const Inst* load = nullptr;
    size_t long_before = 0; // how many that take long came before it
  };
  std::vector<First> firsts(function.registers); // by register: the first load from it
  size_t long_seen = 0;
  for (const ir::Block& b : function.blocks) {
    for (size_t n = 0; n < b.insts.size(); n++) {
      const Inst& i = b.insts[n];
      long_seen += is_long(i);
      if (!is_foreign_load(i)) continue;
      First& first = firsts[i.a.as_reg()];
      if (!first.load) first = {&i, long_seen};
      if (i.size != 8 || !followed[i.dst]) continue;
      if (const auto size = element_size(b, n))
        out[&i] = i.imm + turns_ahead * *size;
      else if (first.load != &i && first.long_before != long_seen)
        out[first.load] = i.imm; // of several the last one
    }
  }
  return out;
}

std::unordered_set<const Inst*> find_firsts(const ir::Function& function) {
  std::unordered_set<const Inst*> out;
  std::vector<bool> is_reached(function.registers);
  for (const ir::Block& b : function.blocks)
    for (size_t n = 0; n < b.insts.size(); n++) {
      const Inst& i = b.insts[n];
      if (!is_foreign_load(i) || is_reached[i.a.as_reg()]) continue;
      is_reached[i.a.as_reg()] = true;
      if (!element_size(b, n)) out.insert(&i);
    }
  return out;
}

} // namespace eval
