// Stacks: the hash of the frames is the stack's id, under which they are kept once, in a table of our own: it
// has whole hashes for keys, so that two stacks never share a place, and what it has no room for is counted.
// What it holds for an id is { u64 count, u64 frames[] }.
//
// A stack that is there already needs only its id. For a user stack that is found out by walking it
// (emit_walk.cc); only one that is not known, and each kernel stack, is taken by the kernel's helper, into
// one of the CPU's slots of frames. So what is kept is what the helper gave, whatever the walk saw.
//
// The same addresses mean something else in another process, so the process is part of a user stack's hash. A
// new user stack whose frames will be named is told to the consumer, who can then look at the process before
// it is gone.
#include "bpf/emit.h"

#include <cerrno>

namespace bpf {

static constexpr int32_t user_stack = 1 << 8; // BPF_F_USER_STACK
// The kernel's glue between a raw tracepoint and its programs. How much of it stands on the stack depends on
// who else is attached; the frames are taken in addition, and left out when the stack is printed.
static constexpr int64_t glue_frames = 2;
static constexpr int64_t odd = static_cast<int64_t>(0x9e3779b97f4a7c15);
static constexpr int32_t taken_count = 8, taken_frames = 16; // in a slot, behind the word that claims it

static bool is_raw(probe::Context c) {
  return c == probe::Context::raw_tracepoint || c == probe::Context::btf_tracepoint || c == probe::Context::function;
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

void FunctionEmitter::emit_stack(const ir::Inst& i) {
  if (i.index == ir::walked_stack) return emit_whole_stack(i);
  const Label done = out_.label();
  if (!unit_.may_walk(i)) {
    emit_seed(i);
    emit_taken_stack(i, done);
  } else {
    const Label ask = out_.label(), look = out_.label();
    emit_walk(i, ask);
    emit_known(done);
    out_.jump(look);
    out_.cold([=, this] {
      const Label found = out_.label();
      out_.bind(look);
      out_.store(r10, temp(), r3, 8);
      arguments({map(r1, pool_.stacks()), temporary(r2)});
      out_.call(map_lookup_elem);
      out_.jump_if(BPF_JNE, r0, 0, found);
      out_.bind(ask);
      emit_taken_stack(i, done);
      out_.jump(done);
      out_.bind(found);
      out_.load(r3, r10, temp(), 8);
      emit_known(done);
      out_.store(r2, 0, r3, 8);
      out_.jump(done);
    });
  }
  out_.bind(done);
  finish(i.dst, r3);
}

// r3 = hash of one frame more; uses r0 (which `frame` may be).
void emit_mix(Assembler& out, Register frame) {
  out.alu(BPF_XOR, r3, frame);
  out.number(r0, odd);
  out.alu(BPF_MUL, r3, r0);
  out.mov(r0, r3);
  out.alu(BPF_RSH, r0, 32);
  out.alu(BPF_XOR, r3, r0);
}

// Goes to `known` if the id in r3 is known to be in the table; else r2 is where that can be written down.
void FunctionEmitter::emit_known(Label known) {
  out_.mov(r1, r3);
  out_.alu(BPF_RSH, r1, 32);
  out_.alu(BPF_AND, r1, static_cast<int32_t>(8 * (known_stacks - 1)));
  out_.map_value(r2, pool_.known(), 0);
  out_.alu(BPF_ADD, r2, r1);
  out_.load(r0, r2, 0, 8);
  out_.jump_if(BPF_JEQ, r0, r3, known);
}

// r3 = the id, 0 where there is no stack or no room for it. The hash begins with what stands at stack_seed.
void FunctionEmitter::emit_taken_stack(const ir::Inst& i, Label done) {
  const Label taken = out_.label(), none = out_.label(), leave = out_.label();
  take_slot(pool_.frames(), scratch_slots, false, taken);
  count(state_stacks_busy);
  out_.number(r3, 0);
  out_.jump(done);
  out_.bind(taken);
  out_.store(r10, stack_word(stack_slot), r2, 8);
  if (is_entry(i)) {
    emit_entry_stack(i, none);
  } else {
    emit_call_for_stack(i, 0);
    out_.jump_if(BPF_JSLE, r0, 0, none);
    emit_hash_of_taken(i);
  }
  emit_keep(i, leave, none);
  out_.bind(leave);
  out_.load(r3, r10, temp(), 8);
  const Label release = out_.label();
  out_.bind(release);
  out_.load(r2, r10, stack_word(stack_slot), 8);
  out_.store(r2, 0, 0, 8);
  out_.cold([=, this] {
    out_.bind(none);
    out_.number(r3, 0);
    out_.jump(release);
  });
}

static int32_t taken_bytes(const ir::Inst& i, probe::Context context) {
  return static_cast<int32_t>((is_raw(context) && !i.index ? stack_frames(i) : i.imm2) * 8);
}

// r2: the slot; r0 = bytes of the stack, taken from the `skipped`-th frame's place on
void FunctionEmitter::emit_call_for_stack(const ir::Inst& i, int32_t skipped) {
  out_.alu(BPF_ADD, r2, taken_frames + 8 * skipped);
  if (!i.index && i.a.kind != ir::Operand::none) {
    load_into(r1, i.a);
    out_.number(r3, taken_bytes(i, unit_.probe.context));
    out_.number(r4, 0);
    out_.call(get_task_stack);
    return;
  }
  load_into(r1, ir::Operand::of(context_));
  out_.number(r3, taken_bytes(i, unit_.probe.context) - 8 * skipped);
  out_.number(r4, i.index ? user_stack : own_frames());
  out_.call(get_stack);
}

// The same where a function was just entered, with the id to temp(). Some kernels know that, and give the caller;
// others leave it out, or some do for some first instructions (Linux 6.12): what was taken tells, but for functions
// that call themselves, where it looks the same. Then that stack is right which the walk saw, or, where the walk met
// return addresses that the kernel has replaced to probe returns, which is as deep.
void FunctionEmitter::emit_entry_stack(const ir::Inst& i, Label none) {
  const Label plain = out_.label(), hash = out_.label(), again = out_.label(), done = out_.label();
  emit_read_return_address();
  out_.load(r2, r10, stack_word(stack_slot), 8);
  out_.jump_if(BPF_JNE, r0, 0, plain);
  emit_call_for_stack(i, 1);
  out_.jump_if(BPF_JSLE, r0, 0, none);
  out_.load(r2, r10, stack_word(stack_slot), 8);
  out_.load(r1, r10, temp(), 8);
  out_.load(r3, r2, taken_frames + 8, 8);
  out_.store(r2, taken_frames, r3, 8);
  out_.store(r2, taken_frames + 8, r1, 8);
  out_.alu(BPF_ADD, r0, 8);
  out_.jump_if(BPF_JSLT, r0, 24, hash); // the first frame alone
  out_.load(r3, r2, taken_frames + 16, 8);
  out_.jump_if(BPF_JEQ, r3, r1, again);
  out_.bind(hash);
  emit_hash_of_taken(i);
  out_.bind(done);
  out_.cold([=, this] {
    out_.bind(again);
    if (unit_.may_walk(i)) {
      emit_hash_of_taken(i); // r3 = the id
      out_.load(r1, r10, stack_word(stack_hash), 8);
      out_.alu(BPF_OR, r1, 1);
      out_.jump_if(BPF_JEQ, r1, r3, done);
      out_.load(r2, r10, stack_word(stack_slot), 8);
      // A verifier that reasons about this number would follow each turn of the walk.
      out_.map_value(r1, pool_.state(), pool_.zeroes());
      out_.load(r1, r1, 0, 8);
      out_.load(r4, r10, stack_word(stack_left), 8);
      out_.alu(BPF_ADD, r1, r4);
      out_.jump_if(BPF_JEQ, r1, 0, plain);
      out_.load(r4, r2, taken_count, 8);
      out_.alu(BPF_ADD, r1, r4);
      out_.jump_if(BPF_JEQ, r1, static_cast<int32_t>(i.imm2), done);
    }
    out_.bind(plain);
    emit_call_for_stack(i, 0);
    out_.jump_if(BPF_JSLE, r0, 0, none);
    out_.jump(hash);
  });
}

// r0: bytes of the stack; the id goes to temp(). r1 frame, r2 byte, r3 hash, r4 end.
void FunctionEmitter::emit_hash_of_taken(const ir::Inst& i) {
  const Label hash = out_.label(), hashed = out_.label();
  out_.mov(r4, r0);
  out_.alu(BPF_AND, r4, -8);
  out_.load(r1, r10, stack_word(stack_slot), 8);
  out_.mov(r0, r4);
  out_.alu(BPF_RSH, r0, 3);
  out_.store(r1, taken_count, r0, 8);
  if (unit_.may_walk(i)) return emit_hash_by_loop();
  out_.number(r2, 0);
  out_.load(r3, r10, stack_word(stack_seed), 8);
  out_.bind(hash);
  out_.load(r0, r1, taken_frames, 8);
  emit_mix(out_, r0);
  out_.alu(BPF_ADD, r1, 8);
  out_.alu(BPF_ADD, r2, 8);
  out_.jump_if(BPF_JGE, r2, taken_bytes(i, unit_.probe.context), hashed);
  out_.jump_if(BPF_JGT, r4, r2, hash);
  out_.bind(hashed);
  out_.alu(BPF_OR, r3, 1);
  out_.store(r10, temp(), r3, 8);
}

// r0: frames. Where stacks are walked this is for new ones only, and may take time; a loop in the code takes it from the
// verifier, half of all that it has to do at such a program.
void FunctionEmitter::emit_hash_by_loop() {
  out_.load(r3, r10, stack_word(stack_seed), 8);
  out_.store(r10, stack_word(stack_walk), r3, 8); // the walk is over
  out_.mov(r1, r0);
  out_.function_address(r2, unit_.hashing_callback());
  out_.mov(r3, r10);
  out_.alu(BPF_ADD, r3, stack_word(last_stack_word));
  out_.number(r4, 0);
  out_.call(loop);
  out_.load(r3, r10, stack_word(stack_walk), 8);
  out_.alu(BPF_OR, r3, 1);
  out_.store(r10, temp(), r3, 8);
}

// Its parameters are the number of the frame and the address of the last stack word.
void emit_hashing_callback(Assembler& out, uint32_t function, uint32_t most_frames) {
  const Label end = out.label();
  auto word = [](int32_t w) { return 8 * (FunctionEmitter::last_stack_word - w); };
  out.begin_function(function, "hash", 2);
  out.jump_if(BPF_JGE, r1, static_cast<int32_t>(most_frames), end); // for the verifier
  out.alu(BPF_LSH, r1, 3);
  out.load(r4, r2, word(FunctionEmitter::stack_slot), 8);
  out.alu(BPF_ADD, r4, r1);
  out.load(r4, r4, taken_frames, 8);
  out.load(r3, r2, word(FunctionEmitter::stack_walk), 8);
  emit_mix(out, r4);
  out.store(r2, word(FunctionEmitter::stack_walk), r3, 8);
  out.number(r0, 0);
  out.exit();
  out.bind(end);
  out.number(r0, 1);
  out.exit();
  out.end_function();
}

// The stack in the slot under the id at temp(), if it is not there yet.
void FunctionEmitter::emit_keep(const ir::Inst& i, Label found, Label lost) {
  const Label fresh = out_.label(), tell = out_.label();
  const bool tells = i.index && i.imm;
  if (!i.index) emit_known(found);
  arguments({map(r1, pool_.stacks()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, fresh);
  if (!i.index) {
    out_.load(r3, r10, temp(), 8);
    emit_known(found);
    out_.store(r2, 0, r3, 8);
  }
  out_.cold([=, this] {
    out_.bind(fresh);
    out_.load(r3, r10, stack_word(stack_slot), 8);
    out_.alu(BPF_ADD, r3, taken_count);
    arguments({map(r1, pool_.stacks()), temporary(r2), number(r4, BPF_NOEXIST)});
    out_.call(map_update_elem);
    out_.jump_if(BPF_JEQ, r0, 0, tells ? tell : found);
    out_.sign_extend(r0, 4); // maps of kernels before 6.4 answer with 32 bits
    out_.jump_if(BPF_JEQ, r0, -EEXIST, found);
    const Label other = out_.label();
    out_.jump_if(BPF_JNE, r0, -E2BIG, other);
    count(state_stacks_full);
    out_.jump(lost);
    out_.bind(other); // the kernel had no memory at hand
    count(state_stacks_busy);
    out_.jump(lost);
    if (!tells) return;
    out_.bind(tell);
    emit_process_seen();
    out_.jump(found);
  });
}

// The record ir::process_seen, made where the stack was, which is kept by now. Its first frame stands in the
// right place.
void FunctionEmitter::emit_process_seen() {
  auto record = [&] {
    out_.load(r2, r10, stack_word(stack_slot), 8);
    out_.alu(BPF_ADD, r2, taken_count);
  };
  out_.call(ktime_get_ns);
  record();
  out_.store(r2, 24, r0, 8);
  out_.load(r1, r10, temp(), 8);
  out_.store(r2, 16, r1, 8);
  out_.call(get_current_pid_tgid);
  out_.number(r1, 0xffffffff);
  out_.alu(BPF_OR, r0, r1);
  record();
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
  arguments({map(r1, i.index == ir::walked_stack ? pool_.walk_map("acu_walk_ids") : pool_.stacks()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
  out_.load(r0, r0, 0, 8);
  out_.bind(end);
  finish(i.dst, r0);
  zero_at(none, end);
}

} // namespace bpf
