// Memory: loads and stores, copies, reads of kernel and user memory, comparison; and the one-call questions.
//
// Reads of foreign memory go by helpers, into the caller's buffer; r0 then tells of a fault. The stack must
// be used at its alignment; other memory may be used at any.
#include "bpf/emit.h"
#include "bpf/features.h"

namespace bpf {

using ir::Op;
using ir::Operand;
using ir::Space;

static constexpr int64_t longest_inline = 256; // bytes; more is left to a helper

void FunctionEmitter::emit_object(const ir::Inst& i) {
  const ObjectPlace& place = layout_.objects[i.index];
  const Register w = target(i.dst, r0);
  Register from = r10;
  if (place.kind == ObjectPlace::in_scratch)
    from = value(base_, w);
  else if (!is_root())
    from = value(frame_, w);
  out_.mov(w, from);
  out_.alu(BPF_ADD, w, static_cast<int32_t>(place.offset + i.imm));
  finish(i.dst, w);
}

void FunctionEmitter::emit_load(const ir::Inst& i) {
  if (loads_by_call(i)) return emit_faulting_load(i);
  const Address from = i.space == Space::context ? Address{value(context_, r4), static_cast<int32_t>(i.imm)}
                                                 : address(i.a, i.imm, r4);
  // The verifier follows such pointers by itself: what is nowhere reads as 0. Only those that are NULL are seen.
  if (i.other != ir::no_block) out_.jump_if(BPF_JEQ, from.base, 0, label(i.other));
  const Register w = target(i.dst, r0);
  const uint32_t step = i.space == Space::script ? std::min<uint32_t>(i.size, alignment(i.a, i.imm)) : i.size;
  if (step == i.size)
    out_.load(w, from.base, from.offset, i.size);
  else
    load_pieces(w, from, i.size, static_cast<uint8_t>(step));
  if (i.is_signed) out_.sign_extend(w, i.size);
  finish(i.dst, w);
  if (i.other != ir::no_block) go(i.target);
}

bool FunctionEmitter::loads_by_call(const ir::Inst& i) const {
  return i.space == Space::kernel || i.space == Space::user ||
         (i.space == Space::task && !options_.has_current_task);
}

// Members of packed structures stand anywhere on the stack.
void FunctionEmitter::load_pieces(Register to, Address from, uint8_t size, uint8_t step) {
  for (int n = size - step; n >= 0; n -= step) {
    const Register piece = n == size - step ? r0 : r5;
    out_.load(piece, from.base, from.offset + n, step);
    if (piece == r0) continue;
    out_.alu(BPF_LSH, r0, step * 8);
    out_.alu(BPF_OR, r0, r5);
  }
  if (to != r0) out_.mov(to, r0);
}

static Helper reader(Space space) { return space == Space::user ? probe_read_user : probe_read_kernel; }
static Helper text_reader(Space space) {
  return space == Space::user ? probe_read_user_str : probe_read_kernel_str;
}

// Without a fault edge a fault reads as zeroes, as the helper leaves them.
void FunctionEmitter::emit_faulting_load(const ir::Inst& i) {
  arguments({temporary(r1), number(r2, i.size), argument(r3, i.a, i.imm)});
  out_.call(reader(i.space));
  if (i.other != ir::no_block) out_.jump_if(BPF_JNE, r0, 0, label(i.other));
  const Register w = target(i.dst, r0);
  out_.load(w, r10, temp(), i.size);
  if (i.is_signed) out_.sign_extend(w, i.size);
  finish(i.dst, w);
  if (i.other != ir::no_block) go(i.target);
}

// In pieces where the stack is not aligned for the whole: text inside a key may begin anywhere.
void FunctionEmitter::emit_store(const ir::Inst& i) {
  const Address to = address(i.a, i.imm, r4);
  const auto step = static_cast<uint8_t>(std::min<uint32_t>(i.size, alignment(i.a, i.imm)));
  if (i.b.is_reg() && step == i.size) return out_.store(to.base, to.offset, value(i.b, r5), step);
  if (i.b.is_reg()) load_into(r5, i.b);
  for (uint8_t n = 0; n < i.size; n += step) {
    const int32_t at = to.offset + n;
    const unsigned unused = 64 - step * 8;
    const int64_t piece = i.b.value >> (n * 8) << unused >> unused;
    if (i.b.is_reg()) {
      out_.store(to.base, at, r5, step);
      if (n + step < i.size) out_.alu(BPF_RSH, r5, step * 8);
    } else if (step < 8 || fits_imm(piece)) {
      out_.store(to.base, at, static_cast<int32_t>(piece), step);
    } else {
      out_.store(to.base, at, value(i.b, r5), step);
    }
  }
}

// The largest step that fits what is left and both alignments.
static uint8_t step_size(uint32_t left, uint32_t at, uint32_t align_a, uint32_t align_b) {
  uint8_t size = 8;
  while (size > left || size > align_a || size > align_b || at % size) size /= 2;
  return size;
}

void FunctionEmitter::copy_words(Address to, Address from, uint32_t bytes, uint32_t to_align,
                                 uint32_t from_align, Register spare) {
  for (uint32_t n = 0; n < bytes;) {
    const uint8_t size = step_size(bytes - n, n, to_align, from_align);
    out_.load(spare, from.base, from.offset + static_cast<int32_t>(n), size);
    out_.store(to.base, to.offset + static_cast<int32_t>(n), spare, size);
    n += size;
  }
}

void FunctionEmitter::emit_copy(const ir::Inst& i) {
  if (i.imm2 > longest_inline) {
    arguments({argument(r1, i.a, i.imm), number(r2, i.imm2), argument(r3, i.b, i.imm3)});
    return out_.call(probe_read_kernel);
  }
  const Address to = address(i.a, i.imm, r4, i.imm2);
  const Address from = address(i.b, i.imm3, r5, i.imm2);
  copy_words(to, from, static_cast<uint32_t>(i.imm2), alignment(i.a, i.imm), alignment(i.b, i.imm3), r0);
}

void FunctionEmitter::emit_zero(const ir::Inst& i) {
  if (i.imm2 > longest_inline) {
    // A failed read clears its buffer: nothing is faster on large ones.
    arguments({argument(r1, i.a, i.imm), number(r2, i.imm2), number(r3, 0)});
    return out_.call(probe_read_kernel);
  }
  const Address to = address(i.a, i.imm, r4, i.imm2);
  const uint32_t align = alignment(i.a, i.imm);
  const auto bytes = static_cast<uint32_t>(i.imm2);
  for (uint32_t n = 0; n < bytes;) {
    const uint8_t size = step_size(bytes - n, n, align, 8);
    out_.store(to.base, to.offset + static_cast<int32_t>(n), 0, size);
    n += size;
  }
}

void FunctionEmitter::after_read(const ir::Inst& i, uint8_t jump_op) {
  if (i.other != ir::no_block) out_.jump_if(jump_op, r0, 0, label(i.other));
}

void FunctionEmitter::emit_read(const ir::Inst& i) {
  arguments({argument(r1, i.a), number(r2, i.imm2), argument(r3, i.b)});
  out_.call(reader(i.space));
  after_read(i, BPF_JNE);
  if (i.other != ir::no_block) go(i.target);
}

// r = min(r, most), which the verifier understands.
void FunctionEmitter::clamp(Register r, uint32_t most) {
  const Label above = out_.label(), done = out_.label();
  out_.jump_if(BPF_JGT, r, static_cast<int32_t>(most), above);
  out_.bind(done);
  out_.cold([=, this] {
    out_.bind(above);
    out_.number(r, most);
    out_.jump(done);
  });
}

// The helper writes a NUL over the last byte of a text that is too long; ir.h wants the byte itself there. So
// when the buffer is full, that byte is read once more. With a limit below the buffer's size a cut leaves no
// mark.
void FunctionEmitter::emit_read_string(const ir::Inst& i) {
  const auto most = static_cast<uint32_t>(i.imm2);
  const bool has_limit = i.c.is_constant() && static_cast<uint64_t>(i.c.value) <= most;
  if (has_limit && i.c.value == 0) return emit_empty_string(i);
  if (i.c.is_reg() && on_stack(i.a)) // a helper may fill a part of the stack only where it is already written
    emit_zero({.op = Op::zero, .a = i.a, .imm2 = i.imm2});
  const Label done = out_.label(), empty = out_.label(), full = out_.label();
  const Argument size = i.c.is_reg() ? argument(r2, i.c) : number(r2, has_limit ? i.c.value : most);
  arguments({argument(r1, i.a), size, argument(r3, i.b)});
  if (i.c.is_reg()) {
    clamp(r2, most);
    out_.jump_if(BPF_JEQ, r2, 0, empty);
  }
  out_.call(text_reader(i.space));
  const bool has_edge = i.other != ir::no_block;
  out_.jump_if(BPF_JSLT, r0, 0, has_edge ? label(i.other) : empty);
  if (!has_limit) out_.jump_if(BPF_JEQ, r0, static_cast<int32_t>(most), full);
  out_.bind(done);
  finish(i.dst, r0);
  if (has_edge) go(i.target);
  if (i.c.is_reg() || !has_edge)
    out_.cold([=, this] {
      out_.bind(empty);
      const Address to = address(i.a, 0, r4);
      out_.store(to.base, to.offset, 0, 1);
      out_.number(r0, 0);
      out_.jump(done);
    });
  if (has_limit) return;
  out_.cold([=, this] {
    out_.bind(full);
    arguments({temporary(r1), number(r2, 1), argument(r3, i.b, most - 1)});
    out_.call(reader(i.space));
    const Address to = address(i.a, most - 1, r4);
    out_.load(r5, r10, temp(), 1);
    out_.store(to.base, to.offset, r5, 1);
    out_.number(r0, most);
    out_.jump(done);
  });
}

void FunctionEmitter::emit_empty_string(const ir::Inst& i) {
  const Address to = address(i.a, 0, r4);
  out_.store(to.base, to.offset, 0, 1);
  out_.number(r0, 0);
  after_read(i, BPF_JNE); // never taken, but the block there must have a way to it
  finish(i.dst, r0);
  if (i.other != ir::no_block) go(i.target);
}

void FunctionEmitter::emit_read_bytes(const ir::Inst& i) {
  const auto most = static_cast<uint32_t>(i.imm2);
  if (!i.c.is_reg()) {
    const uint32_t size = static_cast<uint64_t>(i.c.value) < most ? static_cast<uint32_t>(i.c.value) : most;
    arguments({argument(r1, i.a), number(r2, size), argument(r3, i.b)});
    out_.call(reader(i.space));
    after_read(i, BPF_JNE);
    finish_number(i.dst, size);
  } else {
    if (on_stack(i.a)) emit_zero({.op = Op::zero, .a = i.a, .imm2 = i.imm2});
    arguments({argument(r1, i.a), argument(r2, i.c), argument(r3, i.b)});
    clamp(r2, most);
    const Label nothing = out_.label(); // to ask the kernel for it takes as long as for some bytes
    out_.jump_if(BPF_JEQ, r2, 0, nothing);
    out_.call(reader(i.space));
    after_read(i, BPF_JNE);
    out_.bind(nothing);
    load_into(r0, i.c);
    clamp(r0, most);
    finish(i.dst, r0);
  }
  if (i.other != ir::no_block) go(i.target);
}

void FunctionEmitter::emit_equal(const ir::Inst& i) {
  const Address a = address(i.a, 0, r4, i.imm2);
  const Address b = address(i.b, 0, r5, i.imm2);
  Register other = r1; // r1-r3 are free, but for the operands
  while (other == a.base || other == b.base) other = static_cast<Register>(other + 1);
  const Label differ = out_.label(), done = out_.label();
  const auto bytes = static_cast<uint32_t>(i.imm2);
  for (uint32_t n = 0; n < bytes;) {
    const uint8_t size = step_size(bytes - n, n, alignment(i.a, 0), alignment(i.b, 0));
    out_.load(r0, a.base, a.offset + static_cast<int32_t>(n), size);
    out_.load(other, b.base, b.offset + static_cast<int32_t>(n), size);
    out_.jump_if(BPF_JNE, r0, other, differ);
    n += size;
  }
  out_.number(r0, 1);
  out_.bind(done);
  if (!null_check(i)) blur(r0);
  finish(i.dst, r0);
  zero_at(differ, done);
}

void FunctionEmitter::emit_name(const ir::Inst& i) {
  arguments({argument(r1, i.a), number(r2, 16)});
  out_.call(get_current_comm);
}

// 32 bits, as the kernel's helper gives them, in a quarter of its time where lookups are inlined (Linux 6.10). SplitMix64, as in
// eval/interpreter.cc, from a state of each CPU that the helper seeds. A program that interrupts another at most gets the same number.
void FunctionEmitter::emit_random() {
  const Label seeded = out_.label(), none = out_.label();
  out_.store(r10, temp(), 0, 4);
  arguments({map(r1, pool_.random()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none); // it is there, which the verifier does not know
  out_.load(r1, r0, 0, 8);
  out_.jump_if(BPF_JNE, r1, 0, seeded);
  out_.store(r10, temp(), r0, 8);
  out_.call(get_prandom_u32);
  out_.mov(r1, r0);
  out_.load(r0, r10, temp(), 8);
  out_.bind(seeded);
  const auto mix = [&](int shift, uint64_t by) {
    out_.mov(r2, r1);
    out_.alu(BPF_RSH, r2, shift);
    out_.alu(BPF_XOR, r1, r2);
    if (!by) return;
    out_.number(r2, static_cast<int64_t>(by));
    out_.alu(BPF_MUL, r1, r2);
  };
  out_.number(r2, static_cast<int64_t>(0x9e3779b97f4a7c15));
  out_.alu(BPF_ADD, r1, r2);
  out_.store(r0, 0, r1, 8);
  mix(30, 0xbf58476d1ce4e5b9);
  mix(27, 0x94d049bb133111eb);
  mix(31, 0);
  out_.alu(BPF_RSH, r1, 32);
  out_.mov(r0, r1);
  out_.bind(none);
}

void FunctionEmitter::emit_query(const ir::Inst& i) {
  if (i.query == ir::Query::namespace_pid_tgid) {
    emit_namespace_ids();
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::pid_tgid && keeps_task()) {
    emit_ids_of_task();
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::cookie && is_by_address()) {
    emit_cookie_by_address();
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::cookie) {
    if (!options_.has_cookie)
      fail(lack_of(Feature::attach_cookie) + ": it does not tell programs which of several functions they are at; write "
           "a block for each, or leave out `func` and `probe`");
    load_into(r1, ir::Operand::of(context_));
    out_.call(get_attach_cookie);
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::user_registers) {
    emit_user_registers();
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::random) {
    emit_random();
    return finish(i.dst, r0);
  }
  if (i.query == ir::Query::is_return) {
    out_.call_kernel(program_.session_is_return);
    return finish(i.dst, r0);
  }
  auto helper = [&]() -> Helper {
    switch (i.query) {
    case ir::Query::namespace_pid_tgid:
    case ir::Query::pid_tgid: return get_current_pid_tgid;
    case ir::Query::uid_gid: return get_current_uid_gid;
    case ir::Query::cpu: return get_smp_processor_id;
    case ir::Query::numa_node: return get_numa_node_id;
    case ir::Query::ktime_now:
    case ir::Query::ktime: return ktime_get_ns;
    case ir::Query::ktime_boot: return options_.has_boot_clock ? ktime_get_boot_ns : ktime_get_ns;
    case ir::Query::ktime_tai:
      if (!options_.has_tai_clock) fail(lack_of(Feature::tai_clock) + ": `nsecs(tai)` is not known to programs");
      return ktime_get_tai_ns;
    case ir::Query::jiffies: return jiffies64;
    case ir::Query::cgroup_id: return get_current_cgroup_id;
    case ir::Query::task: return options_.has_current_task ? get_current_task_btf : get_current_task;
    case ir::Query::random:
    case ir::Query::cookie:
    case ir::Query::user_registers:
    case ir::Query::is_return: break; // above
    }
    return ktime_get_ns;
  };
  out_.call(helper());
  finish(i.dst, r0);
}

} // namespace bpf
