// Loads, stores and copies. A read that fails gives zeroes and is counted at its place in the script.
#include "ir/lowering.h"

#include <algorithm>

namespace ir {

using namespace lang;

Operand Lowering::load_word(const Place& p, uint32_t size, bool is_signed) {
  if (p.space == Space::context && size < 8 && probe::registers_at(context_)) {
    // Contexts of registers give whole words only.
    Operand word = load_word({p.space, p.base, p.offset / 8 * 8}, 8, false);
    Operand low = p.offset % 8 ? emit(Op::lshr, word, number(p.offset % 8 * 8)) : word;
    return emit(is_signed ? Op::sext : Op::zext, low, {}, static_cast<uint8_t>(size));
  }
  if (p.space == Space::context && size > 1 && p.offset % size != 0) { // the kernel wants loads from it aligned
    Operand low = load_word(p, size / 2, false), high = load_word(p.plus(size / 2), size / 2, is_signed);
    return emit(Op::or_, low, emit(Op::shl, high, number(4 * static_cast<int64_t>(size))));
  }
  Reg dst = fresh();
  Inst i{.op = Op::load,
         .size = static_cast<uint8_t>(size),
         .is_signed = is_signed,
         .space = p.space,
         .dst = dst,
         .a = p.base,
         .imm = p.offset};
  if (p.space != Space::kernel && p.space != Space::user && !p.is_free) {
    append(i);
    return Operand::of(dst);
  }
  BlockId fine = new_block(), fault = new_block();
  i.target = fine;
  i.other = fault;
  append(i);
  start(fault);
  if (const Fault why = p.space == Space::user ? Fault::read_user : Fault::read_kernel; !recovers(why, p)) {
    count(why);
    assign(dst, number(0));
    jump(fine);
  }
  start(fine);
  return Operand::of(dst);
}

bool Lowering::recovers(Fault why, const Place& from) {
  if (recovery_.block == no_block || recovery_.function != function_) return false;
  if (const lang::Attempt* of = recovery_.of) {
    set_variable(*as<VariableRef>(*of->fault).variable, number(static_cast<int64_t>(why)));
    const Operand at = address(from);
    set_variable(*as<VariableRef>(*of->address).variable, at.is_constant() ? at : emit(Op::number_of, at));
  }
  jump(recovery_.block);
  return true;
}

Operand Lowering::load(const Place& p, const Type& t) {
  Operand value = load_word(p, t.is(Kind::pointer) ? 8 : std::max(1u, t.size), t.is_signed && t.is_integer());
  if (context_ == probe::Context::iterator && p.space == Space::context && t.is(Kind::pointer)) need_object(value);
  return value;
}

Operand Lowering::load_field(const Place& p, const type::Field& f) {
  if (f.data_loc) { // the record holds offset (low half) and length of the data
    Operand where = load_word(p, 4, false);
    Operand offset = emit(Op::and_, where, number(0xffff));
    return emit(Op::add, emit(Op::context_address), offset);
  }
  if (!f.bit_size) return load(p, *f.type);
  return load_bits(p.plus(f.bit_offset / 8), f.bit_offset % 8, f.bit_size, f.type->is_signed);
}

// Only the bytes that hold some of the bits: those behind them may be behind the end of the object.
Operand Lowering::load_bits(const Place& p, uint32_t first, uint32_t bits, bool is_signed) {
  uint32_t bytes = (first + bits + 7) / 8, low = std::min(bytes, 8u);
  Operand word;
  for (uint32_t at = 0, width; at < low; at += width) {
    width = low - at >= 8 ? 8 : low - at >= 4 ? 4 : low - at >= 2 ? 2 : 1;
    Operand piece = load_word(p.plus(at), width, false);
    word = at ? emit(Op::or_, word, emit(Op::shl, piece, number(8 * at))) : piece;
  }
  if (bytes > 8) { // packed, and wider than seven bytes
    Operand upper = emit(Op::shl, load_word(p.plus(8), 1, false), number(64 - first));
    word = emit(Op::or_, emit(Op::lshr, word, number(first)), upper);
    first = 0;
  }
  if (uint32_t above = 64 - first - bits) word = emit(Op::shl, word, number(above));
  return bits == 64 ? word : emit(is_signed ? Op::ashr : Op::lshr, word, number(64 - bits));
}

void Lowering::store(const Place& to, Operand value, uint32_t size) {
  append({.op = Op::store, .size = static_cast<uint8_t>(size), .a = to.base, .b = value, .imm = to.offset});
}

void Lowering::zero(const Place& to, uint32_t size) {
  if (size) append({.op = Op::zero, .a = to.base, .imm = to.offset, .imm2 = size});
}

void Lowering::copy(const Place& to, const Place& from, uint32_t size) {
  if (!size) return;
  if (from.space == Space::script && !from.is_free) {
    append(
        {.op = Op::copy, .a = to.base, .b = from.base, .imm = to.offset, .imm2 = size, .imm3 = static_cast<int32_t>(from.offset)});
    return;
  }
  bool user = from.space == Space::user;
  BlockId fine = new_block(), fault = new_block();
  Operand source = address(from), destination = address(to);
  bool own = from.space == Space::script;
  append({.op = own ? Op::read_bytes : Op::read,
          .space = user ? Space::user : own ? Space::script : Space::kernel,
          .dst = own ? fresh() : 0,
          .a = destination,
          .b = source,
          .c = own ? number(size) : Operand(),
          .imm2 = size,
          .target = fine,
          .other = fault});
  start(fault);
  if (const Fault why = user ? Fault::read_user : Fault::read_kernel; !recovers(why, from)) {
    count(why);
    zero(to, size);
    jump(fine);
  }
  start(fine);
}

// Constant text, cut or filled with NULs to `size` bytes.
void Lowering::put_text(const Place& to, std::string_view text, uint32_t size) {
  for (uint32_t at = 0; at < size;) {
    if (at >= text.size()) return zero(to.plus(at), size - at);
    uint32_t left = size - at;
    uint32_t width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(width, text.size() - at));
    // Sign-extended, as the machine's immediate stores are.
    unsigned unused = 64 - width * 8;
    store(to.plus(at), number(static_cast<int64_t>(word << unused) >> unused), width);
    at += width;
  }
}

// A string at an address; `size` bytes with the NUL. Padded with NULs where bytes behind it will be compared.
void Lowering::read_text(const Place& to, uint32_t size, Operand from, Space space, Operand limit, bool pad,
                         bool is_free) {
  if (pad)
    zero(to, size);
  else
    store(to.plus(size - 1), number(0), 1); // not 0 would mean a text that was cut
  Operand destination = address(to);
  bool is_own = space == Space::script, may_fail = !is_own || is_free;
  BlockId fine = may_fail ? new_block() : no_block, fault = may_fail ? new_block() : no_block;
  append({.op = Op::read_string,
          .space = !is_own && space != Space::user ? Space::kernel : space,
          .dst = fresh(),
          .a = destination,
          .b = from,
          .c = limit,
          .imm2 = size,
          .target = fine,
          .other = fault});
  if (!may_fail) return;
  start(fault);
  if (const Fault why = space == Space::user ? Fault::read_user : Fault::read_kernel; !recovers(why, {space, from, 0})) {
    count(why, "_str");
    store(to, number(0), 1);
    jump(fine);
  }
  start(fine);
}

// Whether bytes of a tuple belong to no element: they must be cleared before it is a key.
bool Lowering::has_padding(const Type& t) const {
  uint32_t at = 0;
  for (const type::Field& f : t.fields()) {
    if (f.offset != at || (f.type->is(Kind::tuple) && has_padding(*f.type))) return true;
    at = f.offset + f.type->size;
  }
  return at != t.size;
}

// The bytes of a value as another type of the same shape: wider integers, longer text, records in another order.
void Lowering::convert(const Place& to, const Type& as, const Place& from, const Type& t) {
  if (&as == &t) return copy(to, from, t.size);
  if (as.is(Kind::tuple)) {
    if (has_padding(as)) zero(to, as.size);
    for (size_t i = 0; i < as.fields().size(); i++) {
      const type::Field& part = as.fields()[i];
      const type::Field& source = t.fields()[*t.index_of(part, i)];
      convert(to.plus(part.offset), *part.type, from.plus(source.offset), *source.type);
    }
    return;
  }
  if (t.is_scalar()) return store(to, load(from, t), as.size);
  const uint32_t size = std::min(t.size, as.size);
  copy(to, from, size);
  if (as.size > size) zero(to.plus(size), as.size - size);
  move_cut_mark(to, t, as);
}

// ------------------------------------------------------------------------------------------- builtins

Operand Lowering::ask_memory(MemoryQuestion question, const Expr& address) {
  const Reg answer = fresh();
  append({.op = Op::memory_map, .dst = answer, .a = scalar(address), .index = static_cast<uint32_t>(question)});
  return Operand::of(answer);
}

// valid(address): whether a byte can be read there.
Operand Lowering::is_valid(const Call& c) {
  const Expr& address = *c.arguments[0];
  Reg is_there = fresh();
  attempt(
      nullptr,
      [&] {
        Operand at = scalar(address);
        read_by_address(address, at, [&](Space s) { load_word({s, at, 0, s == Space::script}, 1, false); });
        assign(is_there, number(1));
      },
      [&] { assign(is_there, number(0)); });
  return Operand::of(is_there);
}

} // namespace ir
