// User stacks by tables: the registers with which the thread left user code are put into one of the CPU's places to
// walk in (struct walk), and the walker of the library does the rest (lib/unwind.bpf.c).
//
// Where they are: probes of user code have them as context. A sample has those that it interrupted, which may be the
// kernel's. For all else they are where the kernel saved them when it was entered, at the far end of the task's kernel
// stack.
#include "bpf/emit.h"

#include "bpf/lib/walk.h"
#include "spec/arch.h"

#include <algorithm>
#include <cstddef>

namespace bpf {

// By DWARF's numbers.
static constexpr auto walked_registers =
    spec::each_dwarf_register<spec::arch.dwarf_registers>(spec::arch, [](const spec::Register& r) { return r.name; });
static constexpr int32_t kernel_stack_bytes = 16 << 10; // of kernels that cannot tell where the registers are

static int32_t place_of(std::string_view name) { return static_cast<int32_t>(spec::find_register(name).value_or(0)); }

// From the struct pt_regs at `from` to the place to walk in; where they are of no 64-bit code, to `not_user`.
// Uses r2 and r5.
void FunctionEmitter::copy_registers(Register from, Label not_user) {
  out_.load(r5, from, place_of(spec::arch.code_register), 8);
  out_.jump_if(BPF_JNE, r5, spec::arch.user_code, not_user);
  out_.load(r2, r10, stack_word(stack_slot), 8);
  for (size_t n = 0; n < std::size(walked_registers); n++) {
    out_.load(r5, from, place_of(walked_registers[n]), 8);
    out_.store(r2, static_cast<int32_t>(offsetof(walk, registers) + 8 * n), r5, 8);
  }
  out_.load(r5, from, place_of(spec::arch.syscall_number), 8);
  out_.store(r2, static_cast<int32_t>(offsetof(walk, syscall)), r5, 8);
}

bool FunctionEmitter::is_at_return_instruction() const {
  const probe::Event& event = program_.events[unit_.probe.events.front()];
  return unit_.probe.context == probe::Context::registers && event.at_return_instruction;
}

// Of registers at a return instruction, in the place to walk in: as they are behind it. Where the stack can't be read
// they stay.
void FunctionEmitter::emit_return() {
  constexpr int32_t size = 8;
  const auto place = [](std::string_view name) {
    return static_cast<int32_t>(offsetof(walk, registers) + size * spec::arch.dwarf_of(name));
  };
  const Label stays = out_.label();
  out_.load(r1, r10, stack_word(stack_slot), 8);
  out_.load(r3, r1, place(spec::arch.sp), 8);
  out_.alu(BPF_ADD, r1, place(spec::arch.ip));
  out_.number(r2, size);
  out_.call(probe_read_user);
  out_.jump_if(BPF_JNE, r0, 0, stays);
  out_.load(r1, r10, stack_word(stack_slot), 8);
  out_.load(r3, r1, place(spec::arch.sp), 8);
  out_.alu(BPF_ADD, r3, size);
  out_.store(r1, place(spec::arch.sp), r3, 8);
  out_.bind(stays);
}

// r0 = the registers with which the task in r0 entered the kernel; of its place in the task's stack, if that `is_known`.
void FunctionEmitter::emit_task_registers(bool is_known) {
  if (!is_known) {
    out_.mov(r1, r0);
    out_.call(task_pt_regs);
    return;
  }
  out_.load(r1, r0, static_cast<int32_t>(program_.task.stack), 8);
  out_.alu(BPF_ADD, r1, options_.registers_at);
  out_.number(r2, program_.task.registers_id);
  out_.call_kernel(program_.task.cast_id);
}

// `to` = so many bytes of the current task, by its address: where the kernel gives no pointer that it vouches for.
void FunctionEmitter::read_of_task(Register to, int32_t offset, int32_t bytes) {
  out_.call(get_current_task);
  out_.mov(r3, r0);
  out_.alu(BPF_ADD, r3, offset);
  out_.mov(r1, r10);
  out_.alu(BPF_ADD, r1, temp());
  out_.store(r10, temp(), 0, 8);
  out_.number(r2, bytes);
  out_.call(probe_read_kernel);
  out_.load(to, r10, temp(), 8);
}

// r0 = the same of the current task.
void FunctionEmitter::emit_user_registers() {
  if (options_.has_task_registers) {
    out_.call(get_current_task_btf);
    return emit_task_registers(options_.registers_at && unit_.probe.context != probe::Context::perf_event);
  }
  // Kernels before 5.15: a number, where the kernel puts them.
  read_of_task(r0, static_cast<int32_t>(program_.task.stack), 8);
  out_.alu(BPF_ADD, r0, kernel_stack_bytes - static_cast<int32_t>(spec::arch.pt_regs_bytes()));
}

// r4 = address of the registers with which the task entered the kernel.
void FunctionEmitter::emit_registers_of_task() {
  if (options_.has_task_registers) {
    emit_user_registers();
    out_.mov(r4, r0);
    return;
  }
  // Read to where bytes of the stack will be.
  emit_user_registers();
  out_.mov(r3, r0);
  out_.load(r1, r10, stack_word(stack_slot), 8);
  out_.alu(BPF_ADD, r1, offsetof(walk, bytes));
  out_.number(r2, spec::arch.pt_regs_bytes());
  out_.call(probe_read_kernel);
  out_.load(r4, r10, stack_word(stack_slot), 8);
  out_.alu(BPF_ADD, r4, offsetof(walk, bytes));
}

// The task's list of probed returns to the place to walk in, if the pointer to the task in r0 is one that may be read through.
void FunctionEmitter::emit_uprobe_task() {
  out_.load(r1, r10, stack_word(stack_slot), 8);
  if (options_.has_task_registers && program_.task.utask) {
    out_.load(r5, r0, static_cast<int32_t>(program_.task.utask), 8);
    out_.store(r1, offsetof(walk, utask), r5, 8);
  } else {
    out_.store(r1, offsetof(walk, utask), int32_t{WALK_NOT_READ}, 8);
  }
}

// r3 = the id, 0 where there is no user code or the stack was lost.
void FunctionEmitter::emit_whole_stack(const ir::Inst& i) {
  const Label taken = out_.label(), done = out_.label(), none = out_.label(), walk_it = out_.label(),
              release = out_.label();
  take_slot(pool_.walk_map("acu_walks"), scratch_slots, false, taken);
  count(state_stacks_busy);
  out_.number(r3, 0);
  out_.jump(done);
  out_.bind(taken);
  out_.store(r10, stack_word(stack_slot), r2, 8);
  out_.load(r5, r10, temp(), 4); // the number that it was looked up by
  out_.store(r2, offsetof(walk, slot), r5, 8);
  switch (unit_.probe.context) {
  case probe::Context::registers:
    load_into(r4, ir::Operand::of(context_));
    copy_registers(r4, none);
    if (is_at_return_instruction()) emit_return();
    break;
  case probe::Context::perf_event: {
    const Label in_kernel = out_.label();
    load_into(r4, ir::Operand::of(context_));
    constexpr spec::UserMode mode = spec::arch.user_mode;
    out_.load(r5, r4, place_of(mode.reg), 8);
    out_.alu(BPF_AND, r5, static_cast<int32_t>(mode.mask));
    out_.jump_if(BPF_JNE, r5, static_cast<int32_t>(mode.value), in_kernel);
    copy_registers(r4, none);
    out_.jump(walk_it);
    out_.bind(in_kernel);
    emit_registers_of_task();
    copy_registers(r4, none);
    break;
  }
  default:
    emit_registers_of_task();
    copy_registers(r4, none);
    break;
  }
  out_.bind(walk_it);
  emit_exec_id();
  emit_uprobe_task();
  const Register process = value(i.a, r4);
  out_.alu(BPF_OR, r3, process);
  out_.load(r1, r10, stack_word(stack_slot), 8);
  out_.store(r1, offsetof(walk, seed), r3, 8);
  out_.mov(r5, process);
  out_.alu(BPF_RSH, r5, 32);
  out_.store(r1, offsetof(walk, pid), r5, 4);
  out_.store(r1, offsetof(walk, limit), static_cast<int32_t>(std::min<int64_t>(i.imm2, WALK_MOST_FRAMES)), 4);
  out_.load(r1, r1, offsetof(walk, slot), 8);
  out_.call_function(unit_.library_function(options_.has_loop ? "acu_walk" : "acu_walk_bounded"));
  out_.mov(r3, r0);
  out_.bind(release);
  out_.load(r2, r10, stack_word(stack_slot), 8);
  out_.store(r2, 0, 0, 8);
  out_.bind(done);
  finish(i.dst, r3);
  out_.cold([=, this] {
    out_.bind(none);
    out_.number(r3, 0);
    out_.jump(release);
  });
}

} // namespace bpf
