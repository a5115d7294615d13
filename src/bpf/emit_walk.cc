// The walk along the frame pointers of a user stack, which hashes as it goes. It is for stacks that are
// known: the id it finds is looked up, and where it is not in the table the kernel's helper takes the stack
// (emit_stack.cc). What this walk does not know how to do as the helper does it, it leaves to the helper.
//
// A read of user memory costs 60 ns however little it reads. So more of the stack is read at once, all in the
// page where the next frame is (so that it fails where the read of the frame would), and the frames are
// followed in what was read. A read that faults costs 450 ns, and most stacks end with a frame pointer of 0
// or 1: the lowest page, where nothing is ever mapped, is not read.
//
// Frames of x86-64: the first is the instruction pointer; then, while there is a frame pointer, { next frame
// pointer, return address } where it points (arch/x86/events/core.c, perf_callchain_user).
#include "bpf/emit.h"

#include "spec/arch.h"

#include <algorithm>
#include <optional>

namespace bpf {

// Programs of 32 bits have other frames.
static constexpr bool knows_frames = spec::arch.user_code >= 0;
static constexpr int32_t page = 4096, lowest = page; // nothing is mapped below
static constexpr int32_t frame_bytes = 16;

static int32_t place_of(std::string_view name) {
  return static_cast<int32_t>(spec::find_register(name).value_or(0));
}

// Where the kernel's helper begins at the registers with which the task entered the kernel. A sample may have
// others.
bool ProgramEmitter::may_walk(const ir::Inst& i) const {
  const probe::Context c = probe.context;
  return knows_frames && i.op == ir::Op::stack && i.index == ir::user_stack && pool.options.has_task_registers && pool.options.has_loop &&
         program.task.self_exec_id &&
         (c == probe::Context::none || c == probe::Context::tracepoint || c == probe::Context::registers ||
          c == probe::Context::raw_tracepoint || c == probe::Context::btf_tracepoint ||
          c == probe::Context::function || c == probe::Context::kernel_registers);
}

// From Linux 6.13 on, programs that use much of their stack have one of their own, in memory of the CPU, and the
// kernel's check of what is written there when user memory is read takes 15 ns longer than that of its own stack.
// Programs with a tail call stay on the kernel's. This one never runs, and the verifier takes it away.
void FunctionEmitter::emit_plain_stack() {
  const Label never = out_.label();
  out_.number(r0, 0);
  out_.jump_if(BPF_JNE, r0, 0, never);
  out_.cold([=, this] {
    out_.bind(never);
    out_.call(tail_call);
    out_.number(r0, 0);
    out_.exit();
  });
}

// r3 = the number of the program that the thread executes, 0 where the kernel tells nothing of its tasks: a process that
// executes another program has other stacks. To temp() before Linux 5.15, by its address.
void FunctionEmitter::emit_exec_id() {
  if (!program_.task.self_exec_id) return out_.number(r3, 0);
  const auto offset = static_cast<int32_t>(*program_.task.self_exec_id);
  if (options_.has_task_registers) {
    out_.call(get_current_task_btf);
    return out_.load(r3, r0, offset, 4);
  }
  read_of_task(r3, offset, 4);
}

// What the hash begins with, without a walk; also to stack_seed.
void FunctionEmitter::emit_seed(const ir::Inst& i) {
  if (i.index) {
    emit_exec_id();
    out_.alu(BPF_OR, r3, value(i.a, r4));
  } else {
    out_.number(r3, 0);
  }
  out_.store(r10, stack_word(stack_seed), r3, 8);
}

// A turn of the walk works on a buffer at base + at and the words behind it.
struct Turn {
  Register base;
  int32_t at;
  int32_t bytes; // of the buffer: places of frames are multiples of 8, below a power of two, and 16 bytes long
  int32_t places() const { return bytes - frame_bytes; } // the bits that such a place may have
  int32_t frames() const { return (bytes - 8) / frame_bytes; } // as many as follow one another in it
  int32_t word(int32_t w) const { return at + bytes + 8 * (FunctionEmitter::last_stack_word - w); }
};

// r4 = the place in the buffer of the frame at r1, or goes to `outside`. r2 is the address that the buffer's
// first byte is from. The verifier concludes from the test where the place may be.
static void find_in_buffer(Assembler& out, const Turn& turn, Label outside) {
  out.mov(r4, r1);
  out.alu(BPF_SUB, r4, r2);
  out.jump_if(BPF_JSET, r4, ~turn.places(), outside);
}

// Fills the buffer from the frame at r1 on, but not beyond its page: from less, by what would reach over.
static void read_around_frame(Assembler& out, const Turn& turn, Label end) {
  out.jump_if(BPF_JLT, r1, lowest, end);
  out.mov(r3, r1);
  out.mov(r4, r1);
  out.alu(BPF_AND, r4, page - 1);
  out.alu(BPF_ADD, r4, turn.bytes - page);
  out.mov(r5, r4);
  out.alu(BPF_ARSH, r5, 63);
  out.alu(BPF_XOR, r5, -1);
  out.alu(BPF_AND, r4, r5); // 0 where it is negative
  out.alu(BPF_SUB, r3, r4);
  out.store(turn.base, turn.word(FunctionEmitter::stack_slot), r3, 8);
  out.mov(r1, turn.base);
  out.alu(BPF_ADD, r1, turn.at);
  out.number(r2, turn.bytes);
  out.call(probe_read_user);
  out.jump_if(BPF_JNE, r0, 0, end);
}

// Follows at most r5 frames, from stack_walk on, in what was read. Then r1 is the next frame, r3 the hash, and r5 how
// many there were less. Goes to `give_up` where the helper is needed; to `last`, where each frame is counted in
// stack_left, behind the last that is wanted.
static void follow_frames(Assembler& out, const Turn& turn, Label give_up, std::optional<Label> last = {}) {
  const Label frame = out.label(), more = out.label();
  out.load(r1, turn.base, turn.word(FunctionEmitter::stack_walk), 8);
  out.load(r2, turn.base, turn.word(FunctionEmitter::stack_slot), 8);
  out.load(r3, turn.base, turn.word(FunctionEmitter::stack_hash), 8);
  find_in_buffer(out, turn, give_up); // in two pages, or not at a word
  out.bind(frame);
  out.alu(BPF_SUB, r5, 1);
  // In this order: of a number plus an address, kernels such as 6.1 forget whose stack the address is on.
  out.mov(r0, turn.base);
  out.alu(BPF_ADD, r0, r4);
  out.load(r4, r0, turn.at + 8, 8);
  out.load(r1, r0, turn.at, 8);
  emit_mix(out, r4);
  if (last) {
    out.load(r4, turn.base, turn.word(FunctionEmitter::stack_left), 8);
    out.alu(BPF_SUB, r4, 1);
    out.store(turn.base, turn.word(FunctionEmitter::stack_left), r4, 8);
    out.jump_if(BPF_JEQ, r4, 0, *last);
  }
  find_in_buffer(out, turn, more);
  out.jump_if(BPF_JNE, r5, 0, frame);
  out.bind(more);
}

// What the next turn goes on with.
static void leave_turn(Assembler& out, const Turn& turn) {
  out.store(turn.base, turn.word(FunctionEmitter::stack_walk), r1, 8);
  out.store(turn.base, turn.word(FunctionEmitter::stack_hash), r3, 8);
}

// r0 = what Query::pid_tgid gives, the task to stack_task: a walk needs it too, and a call of a helper costs 6 ns.
void FunctionEmitter::emit_ids_of_task() {
  out_.call(get_current_task_btf);
  out_.store(r10, stack_word(stack_task), r0, 8);
  out_.load(r4, r0, static_cast<int32_t>(program_.task.tgid), 4);
  out_.load(r0, r0, static_cast<int32_t>(program_.task.pid), 4);
  out_.alu(BPF_LSH, r4, 32);
  out_.alu(BPF_OR, r0, r4);
}

// Is the task at stack_task? It is where the number of the process comes from Query::pid_tgid, and nowhere else from.
bool FunctionEmitter::finds_task(const ir::Inst& i) const {
  if (!keeps_task()) return false;
  auto definition = [&](const ir::Operand& o) {
    const ir::Inst* found = nullptr;
    if (!o.is_reg() || o.as_reg() <= function_->parameters) return found;
    for (const ir::Block& b : function_->blocks)
      for (const ir::Inst& d : b.insts)
        if (ir::defines(d) && d.dst == o.as_reg()) {
          if (found) return static_cast<const ir::Inst*>(nullptr);
          found = &d;
        }
    return found;
  };
  const ir::Inst* process = definition(i.a);
  if (process && process->op == ir::Op::and_) process = definition(process->a);
  return process && process->op == ir::Op::query && process->query == ir::Query::pid_tgid;
}

// What the hash begins with to stack_seed, the frame pointer to stack_walk and r1, the hash of the first
// frame to stack_hash and r3.
void FunctionEmitter::emit_first_frame(const ir::Inst& i, Label ask) {
  if (finds_task(i))
    out_.load(r0, r10, stack_word(stack_task), 8);
  else
    out_.call(get_current_task_btf);
  out_.load(r3, r0, static_cast<int32_t>(*program_.task.self_exec_id), 4);
  out_.alu(BPF_OR, r3, value(i.a, r4));
  out_.store(r10, stack_word(stack_seed), r3, 8);
  if (unit_.probe.context == probe::Context::registers) {
    load_into(r0, ir::Operand::of(context_));
  } else {
    emit_task_registers(options_.registers_at != 0);
  }
  out_.load(r3, r10, stack_word(stack_seed), 8);
  out_.load(r4, r0, place_of(spec::arch.code_register), 2);
  out_.load(r2, r0, place_of(spec::arch.ip), 8);
  out_.load(r1, r0, place_of(spec::arch.frame_pointer), 8);
  out_.store(r10, stack_word(stack_walk), r1, 8);
  emit_mix(out_, r2);
  out_.store(r10, stack_word(stack_hash), r3, 8);
  if (is_entry(i)) out_.store(r10, stack_word(stack_left), 0, 8);
  out_.jump_if(BPF_JNE, r4, spec::arch.user_code, ask);
  if (is_entry(i)) emit_caller(ask);
}

// Where a function begins there is no frame of its own, and the frame pointer is still its caller's; that one's
// place is what the return address tells.
void FunctionEmitter::emit_caller(Label ask) {
  emit_read_return_address();
  out_.jump_if(BPF_JNE, r0, 0, ask);
  out_.load(r3, r10, stack_word(stack_hash), 8);
  out_.load(r0, r10, temp(), 8);
  emit_mix(out_, r0);
  out_.store(r10, stack_word(stack_hash), r3, 8);
  out_.load(r1, r10, stack_word(stack_walk), 8);
}

// What stands on top of the stack to temp(); r0 = 0 if it could be read.
void FunctionEmitter::emit_read_return_address() {
  load_into(r1, ir::Operand::of(context_));
  out_.load(r3, r1, place_of(spec::arch.sp), 8);
  out_.mov(r1, r10);
  out_.alu(BPF_ADD, r1, temp());
  out_.number(r2, 8);
  out_.call(probe_read_user);
}

// stack_left = n + r5, as a number that the verifier does not know: it would follow the rest of the walk from each.
void FunctionEmitter::emit_stack_left(int64_t n) {
  out_.map_value(r4, pool_.state(), pool_.zeroes());
  out_.load(r4, r4, 0, 8);
  out_.alu(BPF_ADD, r4, r5);
  out_.alu(BPF_ADD, r4, static_cast<int32_t>(n));
  out_.store(r10, stack_word(stack_left), r4, 8);
}

// r3 = the id of the stack. Goes to `ask` where the helper is needed.
//
// The first turn, for most stacks the only one, is done here; the others are called back: a loop in the code
// would be walked by the kernel's verifier as often as it may run.
void FunctionEmitter::emit_walk(const ir::Inst& i, Label ask) {
  const Label last = out_.label(), end = out_.label();
  emit_first_frame(i, ask);
  const int64_t left = i.imm2 - (is_entry(i) ? 2 : 1); // frames that are not hashed by now
  if (left > 0) {
    const Turn turn = {r10, walk_buffer(), layout_.walk_bytes};
    const int64_t here = std::min<int64_t>(left, turn.frames());
    if (is_entry(i)) out_.number(r5, left), emit_stack_left(0); // for emit_entry_stack, wherever the walk ends
    read_around_frame(out_, turn, end);
    out_.number(r5, here);
    follow_frames(out_, turn, ask);
    if (is_entry(i)) emit_stack_left(left - here);
    out_.jump_if(BPF_JLT, r1, lowest, last);
    if (here == left) out_.jump_if(BPF_JEQ, r5, 0, last);
    if (!is_entry(i)) emit_stack_left(left - here);
    leave_turn(out_, turn);
    out_.number(r1, i.imm2);
    out_.function_address(r2, unit_.walking_callback(layout_.walk_bytes));
    out_.mov(r3, r10);
    out_.alu(BPF_ADD, r3, walk_buffer());
    out_.number(r4, 0);
    out_.call(loop);
    out_.bind(end);
    out_.load(r3, r10, stack_word(stack_hash), 8);
    out_.jump_if(BPF_JEQ, r3, 0, ask);
  }
  out_.bind(last);
  if (is_entry(i)) out_.store(r10, stack_word(stack_hash), r3, 8); // for emit_entry_stack
  out_.alu(BPF_OR, r3, 1);
}

// Its parameters are the number of the turn and the address of the buffer. The hash becomes 0 where the
// helper is needed.
void emit_walking_callback(Assembler& out, uint32_t function, int32_t bytes) {
  const Label last = out.label(), end = out.label(), give_up = out.label();
  const Turn turn = {r6, 0, bytes};
  out.begin_function(function, "walk", 2);
  out.mov(r6, r2);
  out.load(r1, r6, turn.word(FunctionEmitter::stack_walk), 8);
  read_around_frame(out, turn, end);
  out.number(r5, turn.frames());
  follow_frames(out, turn, give_up, last);
  leave_turn(out, turn);
  out.number(r0, 0);
  out.exit();
  out.bind(give_up);
  out.number(r3, 0);
  out.bind(last);
  out.store(r6, turn.word(FunctionEmitter::stack_hash), r3, 8);
  out.bind(end);
  out.number(r0, 1);
  out.exit();
  out.end_function();
}

} // namespace bpf
