// Events: records in the ring buffer. The consumer polls; it is woken only when unread data crosses a quarter
// of the ring (or two, or three), and for an exit. A wake-up for each event would cost more than the event.
//
// Whether to wake is found out before the record is made, and kept on the stack: kernels such as 6.1 cannot
// see that two ways through the code are alike while a record is held, unless they part after it was made. So
// the usual branches come before.
#include "bpf/emit.h"

#include <algorithm>

namespace bpf {

int32_t FunctionEmitter::wake_slot() const { return temp() - 8; }

static bool ends_session(const ir::Action& a) {
  return a.kind == ir::ActionKind::exit || a.kind == ir::ActionKind::assert_failed;
}

// The flags of the record's submission go to the wake slot.
void FunctionEmitter::emit_wake(const ir::Inst& i) {
  if (ends_session(program_.actions[i.index]))
    return out_.store(r10, wake_slot(), BPF_RB_FORCE_WAKEUP, 8);
  const auto quarter = static_cast<int32_t>(pool_.object.ring_bytes / 4); // a power of two
  const int32_t window = std::min(quarter, static_cast<int32_t>(std::max(4096u, 4 * (pool_.largest_record() + 8))));
  const Label much = out_.label(), known = out_.label();
  out_.map(r1, pool_.ring());
  out_.number(r2, BPF_RB_AVAIL_DATA);
  out_.call(ringbuf_query);
  out_.store(r10, wake_slot(), BPF_RB_NO_WAKEUP, 8);
  out_.jump_if(BPF_JGE, r0, quarter, much);
  out_.bind(known);
  out_.cold([=, this] {
    out_.bind(much);
    out_.alu(BPF_AND, r0, quarter - 1);
    out_.jump_if(BPF_JGE, r0, window, known);
    out_.store(r10, wake_slot(), BPF_RB_FORCE_WAKEUP, 8);
    out_.jump(known);
  });
}

void FunctionEmitter::emit_event(const ir::Inst& i) {
  if (program_.actions[i.index].overwrites) return emit_flight_event(i);
  emit_wake(i);
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
  load_into(r1, i.a);
  out_.load(r2, r10, wake_slot(), 8);
  out_.call(ringbuf_submit);
}

} // namespace bpf
