// str() and buf(): text and bytes at an address, in the kernel or in the process.
#include "ir/lowering.h"

#include "lang/check.h"

#include <algorithm>

namespace ir {

using namespace lang;
using spec::id;

// Where an address points that nothing else tells: kernels keep the upper half for themselves. Runs `read`
// for one space, or for both in turn.
void Lowering::read_by_address(const Expr& from, Operand at, const std::function<void(Space)>& read) {
  bool is_known = from.type->is(Kind::pointer) && from.type->space != type::Space::none;
  // Arguments of system calls point into the caller.
  if (!is_known && probe_ && probe_->events.front()->category == "syscalls") return read(Space::user);
  if (!is_known && context_ == probe::Context::registers) return read(Space::user);
  // Types of the kernel do not tell which pointers are the caller's, and its functions get such too.
  const FieldRef* f = if_a<FieldRef>(&from);
  bool is_argument = (context_ == probe::Context::function || context_ == probe::Context::kernel_registers) &&
                     f && is_builtin(*f->operand, id("args")) && from.type->space == type::Space::kernel;
  if (is_known && !is_argument) {
    Space space = pointer_space(from);
    return read(space == Space::task ? Space::kernel : space);
  }
  if (at.is_constant()) return read(at.value < 0 ? Space::kernel : Space::user);
  BlockId kernel = new_block(), user = new_block(), after = new_block();
  branch(Cond::slt, at, number(0), kernel, user);
  start(kernel);
  read(Space::kernel);
  jump(after);
  start(user);
  read(Space::user);
  jump(after);
  start(after);
}

// str(text or address [, length])
void Lowering::text_into(const Call& c, const Place& to, const Type& as, bool pad) {
  const Expr& from = *c.arguments[0];
  const Expr* length = c.arguments.size() > 1 ? c.arguments[1] : nullptr;
  if (length && length->constant.kind == Constant::integer) length = nullptr; // is in the type
  const Type& t = *from.type;
  const bool marks = !lang::cuts_as_asked(c, source_.config);
  uint32_t size = std::min(as.size, c.type->size);
  if (as.size > size || size <= 1) zero(to, as.size);
  if (size <= 1) return;
  bool is_text = t.is(Kind::string) || from.constant.kind == Constant::text;
  if (is_text && !length && place_is_script(from)) {
    if (t.size < size) zero(to, size);
    copy(to, place(from), std::min(size, t.size));
    if (!marks && t.size > size) store(to.plus(size - 1), number(0), 1);
  } else if (is_text || t.is(Kind::array) || t.is(Kind::buffer)) {
    limited_text(to, size, from, length ? text_limit(*length) : marks ? Operand() : number(size), pad && as.size <= size);
  } else {
    Operand limit = length ? scalar(*length) : marks ? Operand() : number(size);
    Operand at = scalar(from);
    read_by_address(from, at,
                    [&](Space s) { read_text(to, size, at, s, limit, pad && as.size <= size, true); });
  }
  if (!pad || !marks) return;
  // Texts that look the same are the same: the byte that marks a cut is always 1.
  Place mark = to.plus(size - 1);
  store(mark, set(Cond::ne, load_word(mark, 1, false), number(0)), 1);
}

// str_concat(a, b): the second text begins where the first one ends.
void Lowering::joined_text_into(const Call& c, const Place& to, const Type& as, bool pad) {
  constexpr uint32_t least = 72; // what is larger than 64 bytes is not on the stack, where a place must be known
  const Text left = text(*c.arguments[0]), right = text(*c.arguments[1]);
  const Place joined = scratch_place(std::max(least, left.size + right.size), "joined");
  zero(joined, std::max(least, left.size + right.size));
  auto append_text = [&](Operand at, const Text& t) {
    Reg length = fresh();
    append({.op = Op::read_string, .space = Space::script, .dst = length, .a = at, .b = object(t.object), .imm2 = t.size});
    return emit(Op::sub, Operand::of(length), number(1));
  };
  const Operand end = append_text(address(joined), left);
  BlockId inside = new_block(), after = new_block();
  branch(Cond::ult, end, number(left.size), inside, after);
  start(inside);
  append_text(emit(Op::add, address(joined), end), right);
  jump(after);
  start(after);
  const uint32_t size = std::min(as.size, c.type->size);
  copy(to, joined, size);
  store(to.plus(size - 1), number(0), 1);
  if (pad && as.size > size) zero(to.plus(size), as.size - size);
}

// substr(text, offset [, length]): read from there up to the NUL, which is put at the end of what is wanted first.
void Lowering::part_of_text_into(const Call& c, const Place& to, const Type& as, bool pad) {
  constexpr uint32_t least = 72; // as in joined_text_into
  const Text t = text(*c.arguments[0]);
  const uint32_t room = std::max(least, t.size);
  // The offset, from the start.
  Reg offset = fresh();
  assign(offset, scalar(*c.arguments[1]));
  BlockId negative = new_block(), before = new_block(), known = new_block();
  branch(Cond::slt, Operand::of(offset), number(0), negative, known);
  start(negative);
  assign(offset, emit(Op::add, Operand::of(offset), text_length(*c.arguments[0])));
  branch(Cond::slt, Operand::of(offset), number(0), before, known);
  start(before);
  assign(offset, number(0));
  jump(known);
  start(known);
  auto read_from = [&](const Place& into, Operand at) {
    append({.op = Op::read_string, .space = Space::script, .dst = fresh(), .a = address(into), .b = at, .imm2 = t.size});
  };
  Place part = scratch_place(room, "part");
  zero(part, room);
  BlockId inside = new_block(), after = new_block();
  branch(Cond::ult, Operand::of(offset), number(t.size), inside, after);
  start(inside);
  read_from(part, emit(Op::add, object(t.object), Operand::of(offset)));
  jump(after);
  start(after);
  if (c.arguments.size() > 2) {
    const Operand length = scalar(*c.arguments[2]);
    Reg end = fresh();
    assign(end, length);
    BlockId none = new_block(), some = new_block(), cut = new_block(), whole = new_block();
    branch(Cond::slt, Operand::of(end), number(0), none, some);
    start(none);
    assign(end, number(0));
    jump(some);
    start(some);
    branch(Cond::ult, Operand::of(end), number(t.size), cut, whole);
    start(cut);
    store({Space::script, emit(Op::add, address(part), Operand::of(end)), 0}, number(0), 1);
    jump(whole);
    start(whole);
    const Place rest = scratch_place(room, "part");
    zero(rest, room); // nothing may remain behind the NUL
    read_from(rest, address(part));
    part = rest;
  }
  const uint32_t size = std::min(as.size, c.type->size);
  copy(to, part, size);
  store(to.plus(size - 1), number(0), 1);
  if (pad && as.size > size) zero(to.plus(size), as.size - size);
}

// buf(bytes or address [, length]): u32 length, then the bytes.
void Lowering::bytes_into(const Call& c, const Place& to, const Type& as, bool pad) {
  const Expr& from = *c.arguments[0];
  uint32_t most = std::min(as.count, c.type->count);
  if (pad)
    zero(to, as.size);
  else
    store(to, number(0), 4); // the length: what is behind it is not looked at
  if (most == 0) return;
  Operand wanted = c.arguments.size() > 1 ? scalar(*c.arguments[1]) : number(most);
  if (wanted.is_constant()) wanted = number(std::min<uint64_t>(most, static_cast<uint64_t>(wanted.value)));
  auto read = [&](Operand at, Space space, bool is_free = false) {
    Reg got = fresh();
    bool may_fail = space != Space::script || is_free;
    BlockId fine = may_fail ? new_block() : no_block, fault = may_fail ? new_block() : no_block;
    append({.op = Op::read_bytes,
            .space = space,
            .dst = got,
            .a = address(to.plus(4)),
            .b = at,
            .c = wanted,
            .imm2 = most,
            .target = fine,
            .other = fault});
    if (may_fail) start(fine);
    store(to, Operand::of(got), 4);
    if (!may_fail) return;
    BlockId after = new_block();
    jump(after);
    start(fault);
    if (const Fault why = space == Space::user ? Fault::read_user : Fault::read_kernel; !recovers(why, {space, at, 0})) {
      count(why);
      jump(after);
    }
    start(after);
  };
  if (from.type->is_scalar() && from.constant.kind != Constant::text) {
    Operand at = scalar(from);
    return read_by_address(from, at, [&](Space s) { read(at, s, true); });
  }
  Place p = from.constant.kind == Constant::text || place_is_script(from) ? temporary(from, *from.type)
                                                                          : place(from);
  if (p.space == Space::context || p.space == Space::task) p = {Space::kernel, address(p), 0};
  if (!wanted.is_constant()) return read(address(p), p.space);
  copy(to.plus(4), p, static_cast<uint32_t>(wanted.value));
  store(to, wanted, 4);
}

bool Lowering::place_is_script(const Expr& e) const {
  return e.kind != ExprKind::field && e.kind != ExprKind::index && e.kind != ExprKind::unary;
}

// The low bytes of a number, in the pieces that a store may have. The place need not be aligned.
void Lowering::store_bytes(const Place& to, Operand n, uint32_t size) {
  for (uint32_t at = 0, width = 0; at < size; at += width) {
    uint32_t left = size - at;
    width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    store(to.plus(at), at ? emit(Op::lshr, n, number(8 * at)) : n, width);
  }
}

} // namespace ir
