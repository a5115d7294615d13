// Stacks: the kernel writes the frames into scratch memory; the hash of them is the stack's id, under which
// they are kept once. What the map of stacks holds for an id is { u64 count, u64 frames[] }.
//
// The same addresses mean something else in another process, so the process is part of a user stack's hash. A
// new user stack whose frames will be named is told to the consumer, who can then look at the process before it is
// gone.
#include "bpf/emit.h"

#include <cerrno>

namespace bpf {

static constexpr int32_t user_stack = 1 << 8; // BPF_F_USER_STACK
// The kernel's glue between a raw tracepoint and its programs. How much of it stands on the stack depends on
// who else is attached; the frames are taken in addition, and left out when the stack is printed.
static constexpr int64_t glue_frames = 2;
static constexpr int64_t odd = static_cast<int64_t>(0x9e3779b97f4a7c15);

static bool is_raw(probe::Context c) {
  return c == probe::Context::raw_tracepoint || c == probe::Context::btf_tracepoint;
}

int64_t stack_frames(const ir::Inst& i) {
  return std::min<int64_t>(127, i.imm2 + (i.index ? 0 : glue_frames));
}

// Frames of our own on top of a kernel stack. Programs on raw tracepoints are called by bpf_trace_runN, in
// between the tracepoint and them, those that acu runs itself by bpf_prog_test_run; the stacks of other
// contexts begin at the event.
uint32_t FunctionEmitter::own_frames() const {
  const probe::Context c = unit_.probe.context;
  if (!is_raw(c) && c != probe::Context::none) return 0;
  uint32_t frames = function_->role == ir::Role::function ? 3 : 2;
  for (uint32_t f = index_; program_.functions[f].role == ir::Role::body; f = program_.functions[f].parent)
    frames++;
  return frames;
}

// r0 = the bytes of the stack; r1 where it is; r2 byte, r3 hash, r4 end, r5 frame.
void FunctionEmitter::emit_stack(const ir::Inst& i) {
  const bool is_user = i.index, tells = is_user && i.imm;
  const bool with_glue = is_raw(unit_.probe.context) && !is_user;
  const auto bytes = static_cast<int32_t>((with_glue ? stack_frames(i) : i.imm2) * 8);
  const int32_t frames = layout_.stack_buffer + 8;
  const Label none = out_.label(), hash = out_.label(), hashed = out_.label(), fresh = out_.label();
  const Label done = out_.label(), tell = out_.label();
  if (is_user) {
    out_.call(get_current_pid_tgid);
    out_.alu(BPF_RSH, r0, 32);
    out_.alu(BPF_LSH, r0, 32);
    out_.store(r10, temp(), r0, 8);
  }
  Argument buffer = argument(r2, ir::Operand::of(base_), frames);
  arguments({argument(r1, ir::Operand::of(context_)), buffer, number(r3, bytes),
             number(r4, is_user ? user_stack : own_frames())});
  out_.call(get_stack);
  out_.jump_if(BPF_JSLE, r0, 0, none);
  out_.mov(r4, r0);
  out_.alu(BPF_AND, r4, -8);
  load_into(r1, ir::Operand::of(base_));
  out_.alu(BPF_ADD, r1, layout_.stack_buffer);
  out_.mov(r0, r4);
  out_.alu(BPF_RSH, r0, 3);
  out_.store(r1, 0, r0, 8);
  out_.number(r2, 0);
  out_.mov(r3, r4);
  if (is_user) {
    out_.load(r5, r10, temp(), 8);
    out_.alu(BPF_OR, r3, r5);
  }
  out_.bind(hash);
  out_.alu(BPF_ADD, r1, 8);
  out_.load(r5, r1, 0, 8);
  out_.alu(BPF_XOR, r3, r5);
  out_.number(r5, odd);
  out_.alu(BPF_MUL, r3, r5);
  out_.mov(r5, r3);
  out_.alu(BPF_RSH, r5, 32);
  out_.alu(BPF_XOR, r3, r5);
  out_.alu(BPF_ADD, r2, 8);
  out_.jump_if(BPF_JGE, r2, bytes, hashed);
  out_.jump_if(BPF_JGT, r4, r2, hash);
  out_.bind(hashed);
  out_.alu(BPF_OR, r3, 1);
  out_.store(r10, temp(), r3, 8);
  arguments({map(r1, pool_.stacks()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, fresh);
  out_.bind(done);
  out_.load(r0, r10, temp(), 8);
  const Label end = out_.label();
  out_.bind(end);
  finish(i.dst, r0);
  zero_at(none, end);
  out_.cold([=, this] {
    out_.bind(fresh);
    arguments({map(r1, pool_.stacks()), temporary(r2),
               argument(r3, ir::Operand::of(base_), layout_.stack_buffer), number(r4, BPF_NOEXIST)});
    out_.call(map_update_elem);
    out_.jump_if(BPF_JEQ, r0, 0, tells ? tell : done);
    out_.jump_if(BPF_JEQ, r0, -EEXIST, done);
    count(state_stacks_full);
    out_.jump(done);
    if (!tells) return;
    out_.bind(tell);
    emit_process_seen();
    out_.jump(done);
  });
}

// The record ir::process_seen, made where the stack was, which is kept by now. Its first frame stands in the right place.
void FunctionEmitter::emit_process_seen() {
  auto buffer = [&] {
    load_into(r2, ir::Operand::of(base_));
    out_.alu(BPF_ADD, r2, layout_.stack_buffer);
  };
  out_.call(ktime_get_ns);
  buffer();
  out_.store(r2, 24, r0, 8);
  out_.load(r1, r10, temp(), 8);
  out_.store(r2, 16, r1, 8);
  out_.call(get_current_pid_tgid);
  out_.number(r1, 0xffffffff);
  out_.alu(BPF_OR, r0, r1);
  buffer();
  out_.store(r2, 0, r0, 8);
  out_.map(r1, pool_.ring());
  out_.number(r3, 32);
  out_.number(r4, BPF_RB_FORCE_WAKEUP);
  out_.call(ringbuf_output);
}

void FunctionEmitter::emit_stack_depth(const ir::Inst& i) {
  const Label none = out_.label(), end = out_.label();
  load_into(r0, i.a);
  out_.store(r10, temp(), r0, 8);
  arguments({map(r1, pool_.stacks()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
  out_.load(r0, r0, 0, 8);
  out_.bind(end);
  finish(i.dst, r0);
  zero_at(none, end);
}

} // namespace bpf
