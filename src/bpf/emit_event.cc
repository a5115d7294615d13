// Events: records in the ring buffer. The consumer polls; it is woken only when unread data crosses a quarter
// of the ring (or two, or three), and for an exit. A wake-up for each event would cost more than the event.
//
// Whether to wake is calculated without a branch: kernels such as 6.1 cannot see that two ways through the code are alike while a
// record is held.
#include "bpf/emit.h"

#include <algorithm>
#include <bit>

namespace bpf {

static bool ends_session(const ir::Action& a) {
  return a.kind == ir::ActionKind::exit || a.kind == ir::ActionKind::assert_failed;
}

// r0 = the flags with which a record is submitted; uses r1 and r2.
void FunctionEmitter::emit_wake() {
  static_assert(BPF_RB_FORCE_WAKEUP == BPF_RB_NO_WAKEUP + 1);
  const uint32_t quarter = pool_.object.ring_bytes / 4; // a power of two, as the window is
  const uint32_t window = std::min(quarter, std::bit_ceil(std::max(4096u, 4 * (pool_.largest_record() + 8))));
  out_.map(r1, pool_.ring());
  out_.number(r2, BPF_RB_AVAIL_DATA);
  out_.call(ringbuf_query);
  out_.alu(BPF_ADD, r0, -static_cast<int32_t>(quarter)); // below 0: there is less than a quarter
  out_.alu(BPF_AND, r0, static_cast<int32_t>(1u << 31 | (quarter - 1)));
  out_.alu(BPF_RSH, r0, std::countr_zero(window)); // 0: a quarter was begun just now
  out_.alu(BPF_ADD, r0, -1);
  out_.alu(BPF_RSH, r0, 63);
  out_.alu(BPF_ADD, r0, BPF_RB_NO_WAKEUP);
}

void FunctionEmitter::emit_event(const ir::Inst& i) {
  if (program_.actions[i.index].overwrites) return emit_flight_event(i);
  const Label lost = out_.label(), done = out_.label();
  out_.map(r1, pool_.ring());
  out_.number(r2, i.imm2);
  out_.number(r3, 0);
  out_.call(ringbuf_reserve);
  out_.jump_if(BPF_JEQ, r0, 0, lost);
  out_.store(r0, 0, static_cast<int32_t>(i.index), 4);
  out_.store(r0, 4, 0, 4);
  out_.bind(done);
  const ir::Inst* check = null_check(i);
  finish_found(i, check);
  out_.cold([=, this] {
    out_.bind(lost);
    if (ends_session(program_.actions[i.index])) { // nothing is lost by it
      out_.map_value(r4, pool_.state(), state_lost_exit * 8);
      out_.store(r4, 0, static_cast<int32_t>(i.index + 1), 8);
    } else {
      count(state_lost_events);
    }
    finish_null(i, check, done);
  });
}

void FunctionEmitter::emit_send(const ir::Inst& i) {
  if (program_.actions[i.index].overwrites) return emit_flight_send(i);
  if (ends_session(program_.actions[i.index])) {
    load_into(r1, i.a);
    out_.number(r2, BPF_RB_FORCE_WAKEUP);
  } else {
    emit_wake();
    load_into(r1, i.a);
    out_.mov(r2, r0);
  }
  out_.call(ringbuf_submit);
}

// A place is taken by moving the end of the records. Another program may do so at the same time: one that interrupts this one, or where
// threads share a key; such a race is tried again, and lost after some tries.
void FunctionEmitter::emit_hold(const ir::Inst& i) {
  const uint32_t room = program_.maps[program_.speculations].value_size - ir::speculation_header;
  const Label full = out_.label(), taken = out_.label(), done = out_.label();
  arguments({argument(r2, i.a)});
  for (int tries = options_.has_cmpxchg ? 4 : 1; tries > 0; tries--) {
    out_.load(r0, r2, 0, 8);
    out_.mov(r3, r0);
    out_.jump_if(BPF_JGT, r3, static_cast<int32_t>(room - i.imm2), full);
    out_.mov(r1, r3);
    out_.alu(BPF_ADD, r1, static_cast<int32_t>(i.imm2));
    if (options_.has_cmpxchg) {
      out_.atomic(BPF_CMPXCHG, r2, 0, r1);
      out_.jump_if(BPF_JEQ, r0, r3, taken);
    } else {
      out_.store(r2, 0, r1, 8);
    }
  }
  if (options_.has_cmpxchg) out_.jump(full);
  out_.bind(taken);
  out_.number(r1, 1);
  out_.atomic(BPF_ADD, r2, 8, r1);
  out_.mov(r0, r2);
  out_.alu(BPF_ADD, r0, r3);
  out_.alu(BPF_ADD, r0, static_cast<int32_t>(ir::speculation_header));
  out_.store(r0, 0, static_cast<int32_t>(i.index), 4);
  out_.store(r0, 4, 1, 4);
  out_.bind(done);
  const ir::Inst* check = null_check(i);
  finish_found(i, check);
  out_.cold([=, this] {
    out_.bind(full);
    out_.number(r0, 0);
    finish_null(i, check, done);
  });
}

// One record of the ring holds all records of the speculation.
void FunctionEmitter::emit_commit(const ir::Inst& i) {
  const uint32_t room = program_.maps[program_.speculations].value_size - ir::speculation_header;
  constexpr int32_t begin = ir::speculation_header - 8;
  const Label lost = out_.label(), done = out_.label();
  emit_wake();
  out_.mov(r4, r0);
  arguments({argument(r2, i.a)});
  out_.store(r2, begin, static_cast<int32_t>(ir::committed), 4);
  out_.load(r3, r2, 0, 8);
  out_.jump_if(BPF_JEQ, r3, 0, done);
  out_.jump_if(BPF_JGT, r3, static_cast<int32_t>(room), done);
  out_.alu(BPF_ADD, r3, 8);
  out_.alu(BPF_ADD, r2, begin);
  out_.map(r1, pool_.ring());
  out_.call(ringbuf_output);
  out_.jump_if(BPF_JNE, r0, 0, lost);
  out_.bind(done);
  out_.cold([=, this] {
    out_.bind(lost);
    arguments({argument(r1, i.a)});
    out_.load(r5, r1, 8, 8);
    out_.map_value(r4, pool_.state(), state_lost_events * 8);
    out_.atomic(BPF_ADD, r4, 0, r5);
    out_.jump(done);
  });
}

} // namespace bpf
