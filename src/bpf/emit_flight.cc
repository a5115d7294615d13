// Records that go to the rings of flight_ring.h: claiming room, and the headers that tell a reader what is there.
#include "bpf/emit.h"
#include "bpf/flight_ring.h"

#include <bit>

namespace bpf {

// Uses of the stack: what any operation may use has the CPU and the segment that is looked up; behind it is the position of the record.
int32_t FunctionEmitter::segment_slot() const { return temp() + 4; }
int32_t FunctionEmitter::position_slot() const { return temp() - 8; }

void FunctionEmitter::find_cursor(Label none) {
  out_.map(r1, pool_.flight_cursors());
  out_.mov(r2, r10);
  out_.alu(BPF_ADD, r2, temp());
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
}

void FunctionEmitter::count_flight(const ir::Inst& i, uint32_t what) {
  out_.number(r1, 1);
  out_.atomic(BPF_ADD, r0, static_cast<int32_t>(flight_counts + i.index * flight_count_bytes + what), r1);
}

// From the CPU's cursor in r0 to the record in r0, with its header. At `crosses`: r0 is its segment, r1 its position, r2 its offset.
void FunctionEmitter::claim_flight(const ir::Inst& i, Label crosses, Label none) {
  const uint32_t segments = options_.flight_bytes / flight_segment; // a power of two
  const int32_t position = position_slot();
  out_.number(r1, i.imm2);
  out_.atomic(BPF_ADD | BPF_FETCH, r0, flight_position, r1);
  out_.store(r10, position, r1, 8);
  out_.alu(BPF_RSH, r1, std::countr_zero(flight_segment));
  out_.alu(BPF_AND, r1, static_cast<int32_t>(segments - 1));
  out_.load(r2, r10, temp(), 4);
  out_.alu(BPF_MUL, r2, static_cast<int32_t>(segments));
  out_.alu(BPF_ADD, r1, r2);
  out_.store(r10, segment_slot(), r1, 4);
  out_.map(r1, pool_.flight_ring());
  out_.mov(r2, r10);
  out_.alu(BPF_ADD, r2, segment_slot());
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
  out_.load(r1, r10, position, 8);
  out_.mov(r2, r1);
  out_.alu(BPF_AND, r2, static_cast<int32_t>(flight_segment - 8));
  out_.jump_if(BPF_JGT, r2, static_cast<int32_t>(flight_segment - i.imm2), crosses);
  write_flight_header(i.index | flight_busy);
}

// Of the record at r2 in the segment at r0; r0 is its address then.
void FunctionEmitter::write_flight_header(uint32_t action) {
  out_.alu(BPF_ADD, r0, r2);
  out_.alu(BPF_RSH, r1, 3);
  out_.store(r0, 4, r1, 4);
  out_.store(r0, 0, static_cast<int32_t>(action), 4);
}

void FunctionEmitter::emit_flight_event(const ir::Inst& i) {
  if (!options_.has_cmpxchg) return fail("overwriting records needs atomic additions that return a value (Linux 5.12)");
  if (i.imm2 > flight_segment) return fail("a record of " + std::to_string(i.imm2) + " bytes is larger than a segment of the ring");
  const Label crosses = out_.label(), crosses_again = out_.label(), none = out_.label(), written = out_.label(), done = out_.label();
  out_.call(get_smp_processor_id);
  out_.store(r10, temp(), r0, 4);
  find_cursor(none);
  count_flight(i, flight_sent);
  claim_flight(i, crosses, none);
  out_.bind(written);
  const ir::Inst* check = null_check(i);
  finish_found(i, check);
  out_.cold([=, this] {
    const auto leave_hole = [&] {
      write_flight_header(i.index | flight_hole);
      find_cursor(none);
      count_flight(i, flight_holes);
    };
    out_.bind(crosses);
    leave_hole();
    claim_flight(i, crosses_again, none);
    out_.jump(written);
    out_.bind(crosses_again);
    leave_hole();
    count_flight(i, flight_lost);
    out_.bind(none);
    count(state_lost_events);
    finish_null(i, check, done);
  });
  out_.bind(done);
}

void FunctionEmitter::emit_flight_send(const ir::Inst& i) {
  load_into(r1, i.a);
  out_.store(r1, 0, static_cast<int32_t>(i.index), 4); // no longer busy
}

} // namespace bpf
