// How operations get at their operands: values in registers or spill slots, addresses of objects, arguments
// of calls.
#include "bpf/emit.h"

#include <bit>

namespace bpf {

int32_t FunctionEmitter::slot_offset(const Location& l) const {
  return -(is_root() ? layout_.stack_bytes : 0) - 8 * static_cast<int32_t>(l.slot + 1);
}

int32_t FunctionEmitter::temp() const {
  return -(is_root() ? layout_.stack_bytes : 0) - 8 * static_cast<int32_t>(allocation_.slots + 1);
}

// Where the words that most functions have end.
int32_t FunctionEmitter::own_end() const { return has_positions_ ? position_slot() : temp(); }

uint32_t FunctionEmitter::stack_bytes() const {
  return static_cast<uint32_t>(walks_ ? -walk_buffer() : has_stacks_ ? -stack_word(last_own_word) : -own_end());
}

const KnownAddress* FunctionEmitter::known(const ir::Operand& o) const {
  if (!o.is_reg() || o.as_reg() >= known_.size() || !known_[o.as_reg()].is_known) return nullptr;
  return &known_[o.as_reg()];
}

bool FunctionEmitter::on_stack(const ir::Operand& o) const {
  const KnownAddress* k = known(o);
  return k && layout_.objects[k->object].kind == ObjectPlace::on_stack;
}

uint32_t FunctionEmitter::alignment(const ir::Operand& o, int64_t offset) const {
  uint32_t most = 8;
  if (const KnownAddress* k = known(o)) {
    if (!on_stack(o)) return 8; // the memory of maps may be used at any alignment
    offset += k->offset;
  } else if (o.is_reg() && o.as_reg() < stack_alignments_.size() && stack_alignments_[o.as_reg()]) {
    most = stack_alignments_[o.as_reg()];
  }
  return offset ? std::min(most, 1u << std::countr_zero(static_cast<uint64_t>(offset))) : most;
}

Register FunctionEmitter::value(const ir::Operand& o, Register spare) {
  if (o.is_reg() && !known(o) && at(o.as_reg()).kind == Location::in_register) return at(o.as_reg()).reg;
  load_into(spare, o);
  return spare;
}

void FunctionEmitter::load_into(Register to, const ir::Operand& o) { move_argument(argument(to, o)); }

Register FunctionEmitter::target(ir::Reg dst, Register spare) const {
  return dst && at(dst).kind == Location::in_register ? at(dst).reg : spare;
}

void FunctionEmitter::finish(ir::Reg dst, Register from) {
  if (!dst) return;
  const Location& l = at(dst);
  if (l.kind == Location::in_register) out_.mov(l.reg, from);
  if (l.kind == Location::in_slot) out_.store(r10, slot_offset(l), from, 8);
}

void FunctionEmitter::zero_at(Label from, Label back) {
  out_.cold([=, this] {
    out_.bind(from);
    out_.number(r0, 0);
    out_.jump(back);
  });
}

void FunctionEmitter::finish_number(ir::Reg dst, int64_t n) {
  if (!dst) return;
  const Register w = target(dst, r0);
  out_.number(w, n);
  finish(dst, w);
}

Address FunctionEmitter::address(const ir::Operand& o, int64_t offset, Register spare, int64_t bytes) {
  Register base = r10;
  if (const KnownAddress* k = known(o)) {
    const ObjectPlace& place = layout_.objects[k->object];
    offset += place.offset + k->offset;
    if (place.kind == ObjectPlace::in_scratch)
      base = value(base_, spare);
    else if (!is_root())
      base = value(frame_, spare);
  } else {
    base = value(o, spare);
  }
  if (fits_offset(offset) && fits_offset(offset + bytes)) return {base, static_cast<int32_t>(offset)};
  out_.mov(spare, base);
  out_.alu(BPF_ADD, spare, static_cast<int32_t>(offset));
  return {spare, 0};
}

Argument FunctionEmitter::argument(Register to, const ir::Operand& o, int64_t plus) const {
  if (o.is_constant()) return number(to, o.value + plus);
  if (!o.is_reg()) return number(to, plus);
  ir::Reg from = o.as_reg();
  if (const KnownAddress* k = known(o)) {
    const ObjectPlace& place = layout_.objects[k->object];
    plus += place.offset + k->offset;
    if (place.kind == ObjectPlace::on_stack && is_root())
      return {.kind = Argument::from_register, .to = to, .from = r10, .n = plus};
    from = place.kind == ObjectPlace::in_scratch ? base_ : frame_;
  }
  const Location& l = at(from);
  if (l.kind == Location::in_slot)
    return {.kind = Argument::from_slot, .to = to, .slot = slot_offset(l), .n = plus};
  return {.kind = Argument::from_register, .to = to, .from = l.reg, .n = plus};
}

Argument FunctionEmitter::frame_argument(Register to) const {
  if (is_root()) return {.kind = Argument::from_register, .to = to, .from = r10};
  return argument(to, ir::Operand::of(frame_));
}

void FunctionEmitter::move_argument(const Argument& a) {
  switch (a.kind) {
  case Argument::constant: return out_.number(a.to, a.n);
  case Argument::map: return out_.map(a.to, a.index);
  case Argument::map_value: return out_.map_value(a.to, a.index, static_cast<uint32_t>(a.n));
  case Argument::function: return out_.function_address(a.to, a.index);
  case Argument::from_register: out_.mov(a.to, a.from); break;
  case Argument::from_slot: out_.load(a.to, r10, a.slot, 8); break;
  }
  if (a.n == 0) return;
  if (fits_imm(a.n)) return out_.alu(BPF_ADD, a.to, static_cast<int32_t>(a.n));
  out_.number(r0, a.n);
  out_.alu(BPF_ADD, a.to, r0);
}

// All at once: no register is overwritten while another argument still comes from it. A circle is broken by
// r0.
void FunctionEmitter::arguments(std::vector<Argument> list) {
  auto is_read = [&](size_t by_others_than) {
    for (size_t i = 0; i < list.size(); i++)
      if (i != by_others_than && list[i].kind == Argument::from_register &&
          list[i].from == list[by_others_than].to)
        return true;
    return false;
  };
  while (!list.empty()) {
    size_t i = 0;
    while (i < list.size() && is_read(i)) i++;
    if (i < list.size()) {
      move_argument(list[i]);
      list.erase(list.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    const Register stuck = list[0].to;
    out_.mov(r0, stuck);
    for (Argument& a : list)
      if (a.kind == Argument::from_register && a.from == stuck) a.from = r0;
  }
}

void FunctionEmitter::go(ir::BlockId to) {
  if (to != next_) out_.jump(label(to));
}

// Behind an operation that may give 0: the branch on that, when it comes next. The operation then branches
// itself.
const ir::Inst* FunctionEmitter::null_check(const ir::Inst& i) const {
  const auto& insts = function_->blocks[block_].insts;
  const auto at = static_cast<size_t>(&i - insts.data()) + 1;
  if (at >= insts.size() || (block_ == claim_block_ && at == claim_before_)) return nullptr;
  const ir::Inst& b = insts[at];
  const bool tests = b.op == ir::Op::branch && (b.cond == ir::Cond::eq || b.cond == ir::Cond::ne);
  return tests && i.dst && b.a == ir::Operand::of(i.dst) && b.b == ir::Operand::number(0) ? &b : nullptr;
}

// The result is in r0 and not 0.
void FunctionEmitter::finish_found(const ir::Inst& i, const ir::Inst* check) {
  finish(i.dst, r0);
  if (!check) return;
  fused_ = true;
  go(check->cond == ir::Cond::ne ? check->target : check->other);
}

// r0 is 0; `done` is where finish_found() was said.
void FunctionEmitter::finish_null(const ir::Inst& i, const ir::Inst* check, Label done) {
  if (!check) return out_.jump(done);
  finish(i.dst, r0);
  out_.jump(label(check->cond == ir::Cond::ne ? check->other : check->target));
}

void FunctionEmitter::count(uint32_t counter) {
  out_.map_value(r4, pool_.state(), counter * 8);
  out_.number(r5, 1);
  out_.atomic(BPF_ADD, r4, 0, r5);
}

void FunctionEmitter::fail(std::string what) {
  if (status_.ok()) status_ = base::Error{base::Failure::unsupported, std::move(what)};
}

} // namespace bpf
