// Events: records in the ring buffer. The consumer polls; it is woken only when unread data crosses a quarter
// of the ring (or two, or three), and for an exit. A wake-up for each event would cost more than the event.
#include "bpf/emit.h"

#include <algorithm>

namespace bpf {

void FunctionEmitter::emit_event(const ir::Inst& i) {
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
    count(state_lost_events);
    finish_null(i, check, done);
  });
}

// The action of the record at this address, where only one instruction makes it.
const ir::Action* FunctionEmitter::action_of(const ir::Operand& record) const {
  if (!record.is_reg()) return nullptr;
  const ir::Inst* made = made_by_[record.as_reg()];
  return made && made->op == ir::Op::event ? &program_.actions[made->index] : nullptr;
}

void FunctionEmitter::emit_send(const ir::Inst& i) {
  const ir::Action* action = action_of(i.a);
  if (action && action->kind == ir::ActionKind::exit) {
    arguments({argument(r1, i.a), number(r2, BPF_RB_FORCE_WAKEUP)});
    return out_.call(ringbuf_submit);
  }
  uint32_t largest = 0;
  for (const ir::Action& a : program_.actions) largest = std::max(largest, a.record_size());
  const auto quarter = static_cast<int32_t>(pool_.object.ring_bytes / 4); // a power of two
  const int32_t window = std::min(quarter, static_cast<int32_t>(std::max(4096u, 4 * (largest + 8))));
  const Label much = out_.label(), submit = out_.label();
  out_.map(r1, pool_.ring());
  out_.number(r2, BPF_RB_AVAIL_DATA);
  out_.call(ringbuf_query);
  out_.number(r2, BPF_RB_NO_WAKEUP);
  out_.jump_if(BPF_JGE, r0, quarter, much);
  out_.bind(submit);
  load_into(r1, i.a);
  out_.call(ringbuf_submit);
  out_.cold([=, this] {
    out_.bind(much);
    out_.alu(BPF_AND, r0, quarter - 1);
    out_.jump_if(BPF_JGE, r0, window, submit);
    out_.number(r2, BPF_RB_FORCE_WAKEUP);
    out_.jump(submit);
  });
}

} // namespace bpf
