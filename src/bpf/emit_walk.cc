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

#include "spec/registers.h"

namespace bpf {

#if defined(__x86_64__)
static constexpr bool knows_frames = true;
static constexpr std::string_view frame_register = "bp";
static constexpr int32_t user_code =
    0x33; // code segment of 64-bit programs; those of 32 bits have other frames
#else
static constexpr bool knows_frames = false;
static constexpr std::string_view frame_register = "sp";
static constexpr int32_t user_code = 0;
#endif
static constexpr int32_t page = 4096, lowest = page; // nothing is mapped below
static constexpr int32_t frame_bytes = 16;

static int32_t place_of(std::string_view name) {
  return static_cast<int32_t>(spec::find_register(name).value_or(0));
}

// Where the kernel's helper begins at the registers with which the task entered the kernel. A sample may have
// others.
bool FunctionEmitter::may_walk(const ir::Inst& i) const {
  const probe::Context c = unit_.probe.context;
  return knows_frames && i.index && options_.has_task_registers && options_.has_loop &&
         program_.task.self_exec_id &&
         (c == probe::Context::none || c == probe::Context::tracepoint ||
          c == probe::Context::raw_tracepoint || c == probe::Context::btf_tracepoint);
}

// What the hash begins with, without a walk; also to stack_seed.
void FunctionEmitter::emit_seed(const ir::Inst& i) {
  if (i.index)
    load_into(r3, i.a);
  else
    out_.number(r3, 0);
  out_.store(r10, stack_word(stack_seed), r3, 8);
}

// r3 = the id of the stack, also at temp(); what the hash begins with at stack_seed. Goes to `ask` where the
// helper is needed.
void FunctionEmitter::emit_walk(const ir::Inst& i, Label ask) {
  out_.call(get_current_task_btf);
  out_.load(r3, r0, static_cast<int32_t>(*program_.task.self_exec_id), 4);
  out_.store(r10, stack_word(stack_seed), r3, 8);
  out_.mov(r1, r0);
  out_.call(task_pt_regs);
  load_into(r3, i.a);
  out_.load(r1, r10, stack_word(stack_seed), 8);
  out_.alu(BPF_OR, r3, r1);
  out_.store(r10, stack_word(stack_seed), r3, 8);
  out_.load(r4, r0, place_of("cs"), 2);
  out_.load(r2, r0, place_of(spec::ip_register), 8);
  out_.load(r1, r0, place_of(frame_register), 8);
  emit_mix(out_, r2);
  out_.jump_if(BPF_JNE, r4, user_code, ask);
  if (i.imm2 > 1) {
    out_.store(r10, stack_word(stack_walk), r1, 8);
    out_.store(r10, stack_word(stack_hash), r3, 8);
    // A number that the verifier does not know: it would follow the walk from each.
    out_.map_value(r1, pool_.state(), pool_.zeroes());
    out_.load(r1, r1, 0, 8);
    out_.alu(BPF_ADD, r1, static_cast<int32_t>(i.imm2 - 1));
    out_.store(r10, stack_word(stack_left), r1, 8);
    out_.number(r1, i.imm2);
    out_.function_address(r2, unit_.walking_callback(layout_.walk_bytes));
    out_.mov(r3, r10);
    out_.alu(BPF_ADD, r3, walk_buffer());
    out_.number(r4, 0);
    out_.call(loop);
    out_.load(r3, r10, stack_word(stack_hash), 8);
    out_.jump_if(BPF_JEQ, r3, 0, ask);
  }
  out_.alu(BPF_OR, r3, 1);
  out_.store(r10, temp(), r3, 8);
}

// What a turn of the walk works on: words of the stack of the function that walks, behind the buffer.
static int32_t walk_word(int32_t word, int32_t bytes) {
  return bytes + 8 * (FunctionEmitter::last_stack_word - word);
}

// r4 = the place in the buffer of the frame at r1, in words, or more than any: r7 is the address of the
// buffer's first byte. Frames that do not begin at a word become large numbers.
static void find_in_buffer(Assembler& out) {
  out.mov(r4, r1);
  out.alu(BPF_SUB, r4, r7);
  out.mov(r0, r4);
  out.alu(BPF_LSH, r0, 61);
  out.alu(BPF_RSH, r4, 3);
  out.alu(BPF_OR, r4, r0);
}

// One turn: reads around the next frame, and follows the frames that were read. Its parameters are the number
// of the turn and the address of the buffer. The hash becomes 0 where the helper is needed.
void emit_walking_callback(Assembler& out, uint32_t function, int32_t bytes) {
  const Label end = out.label(), give_up = out.label(), frame = out.label(), more = out.label(),
              last = out.label();
  const auto word = [&](int32_t w) { return walk_word(w, bytes); };
  const int32_t most = (bytes - frame_bytes) / 8;
  out.begin_function(function, "walk", 2);
  out.mov(r6, r2);
  out.load(r8, r6, word(FunctionEmitter::stack_walk), 8);
  out.jump_if(BPF_JLT, r8, lowest, end);
  // From the frame on, but not beyond its page: less by what reaches over, if that is not negative.
  out.mov(r7, r8);
  out.mov(r3, r8);
  out.alu(BPF_AND, r3, page - 1);
  out.alu(BPF_ADD, r3, bytes - page);
  out.mov(r4, r3);
  out.alu(BPF_ARSH, r4, 63);
  out.alu(BPF_XOR, r4, -1);
  out.alu(BPF_AND, r3, r4);
  out.alu(BPF_SUB, r7, r3);
  out.mov(r1, r6);
  out.number(r2, bytes);
  out.mov(r3, r7);
  out.call(probe_read_user);
  out.jump_if(BPF_JNE, r0, 0, end);
  out.mov(r1, r8);
  out.load(r2, r6, word(FunctionEmitter::stack_left), 8);
  out.load(r3, r6, word(FunctionEmitter::stack_hash), 8);
  out.number(r5, bytes / frame_bytes);
  find_in_buffer(out);
  out.jump_if(BPF_JGT, r4, most, give_up); // in two pages, or not at a word
  out.bind(frame);
  out.alu(BPF_LSH, r4, 3);
  out.alu(BPF_ADD, r4, r6);
  out.load(r0, r4, 8, 8);
  out.load(r1, r4, 0, 8);
  emit_mix(out, r0);
  out.alu(BPF_SUB, r2, 1);
  out.jump_if(BPF_JEQ, r2, 0, last);
  find_in_buffer(out);
  out.jump_if(BPF_JGT, r4, most, more);
  out.alu(BPF_SUB, r5, 1);
  out.jump_if(BPF_JNE, r5, 0, frame);
  out.bind(more);
  out.store(r6, word(FunctionEmitter::stack_walk), r1, 8);
  out.store(r6, word(FunctionEmitter::stack_left), r2, 8);
  out.store(r6, word(FunctionEmitter::stack_hash), r3, 8);
  out.number(r0, 0);
  out.exit();
  out.bind(give_up);
  out.number(r3, 0);
  out.bind(last);
  out.store(r6, word(FunctionEmitter::stack_hash), r3, 8);
  out.bind(end);
  out.number(r0, 1);
  out.exit();
  out.end_function();
}

} // namespace bpf
