// Stacks: of the kernel and of user code, of the current thread or another, and how many frames they have.
#include "ir/lowering.h"

#include "format/btf.h"

#include <algorithm>

namespace ir {

using namespace lang;

// The id of the current stack; of a kernel stack also of another task's.
Operand Lowering::stack(const Type& type, Operand task) {
  if (type.count == 0) return number(0);
  program_.uses_stacks = true;
  program_.max_stacks = static_cast<uint32_t>(source_.config.number("max_stacks"));
  Reg dst = fresh();
  if (type.is(Kind::kstack)) {
    append({.op = Op::stack, .dst = dst, .a = task, .imm2 = type.count});
    return Operand::of(dst);
  }
  if (!program_.task.self_exec_id && !machine_.stopped) program_.task = task_layout(machine_);
  bool has_names = type.stack_mode != type::StackMode::raw;
  program_.uses_user_symbols |= has_names;
  if (walks(type)) {
    program_.walks_stacks = true;
    Operand process = emit(Op::and_, process_ids({}), number(-(int64_t{1} << 32)));
    append({.op = Op::stack, .dst = dst, .a = process, .imm2 = type.count, .index = walked_stack});
    return Operand::of(dst);
  }
  Operand process = emit(Op::and_, query(Query::pid_tgid), number(-(int64_t{1} << 32)));
  // At its entry a function has no frame yet: the caller's is found by the return address.
  bool is_entry = context_ == probe::Context::registers && probe_ && probe_->events.front()->at_entry &&
                  (probe_->events.front()->kind != probe::Kind::uretprobe || is_at_return_instruction());
  append({.op = Op::stack,
          .dst = dst,
          .a = process,
          .imm = has_names,
          .imm2 = type.count,
          .imm3 = is_entry,
          .index = user_stack});
  return Operand::of(dst);
}

// Whether a user stack is walked by tables. Where the kernel tells nothing of its tasks, the registers of
// user code are known in probes of user code alone.
bool Lowering::walks(const Type& type) const {
  bool has_registers = program_.task.self_exec_id || context_ == probe::Context::registers;
  return knows_walking && !machine_.stopped && !type.by_frame_pointers && has_registers;
}

// By numbers that are kept: decoding struct task_struct takes longer than all else that such a script needs.
TaskLayout task_layout(probe::Machine& machine) {
  auto offset = [&](const char* member) {
    return machine.kernel_number(std::string("task_struct.") + member, [&](format::Btf& btf) -> uint32_t {
      auto found = btf.member(machine.types(), btf.find("task_struct", format::BtfKind::structure), member);
      return found ? found->field.offset : 0; // the structure begins with other things
    });
  };
  auto id_of = [&](const char* name, format::BtfKind kind) {
    return machine.kernel_number(name, [&](format::Btf& btf) { return btf.find(name, kind); });
  };
  uint32_t exec_id = offset("self_exec_id"), stack = offset("stack");
  if (!exec_id || !stack) return {};
  return {.self_exec_id = exec_id,
          .stack = stack,
          .pid = offset("pid"),
          .tgid = offset("tgid"),
          .utask = offset("utask"),
          .registers_id = id_of("pt_regs", format::BtfKind::structure),
          .cast_id = id_of("bpf_rdonly_cast", format::BtfKind::function)};
}

// The number of frames, as many as print. A stack that is walked outside of the kernel has no number yet: of
// the current one, frame pointers tell it then as well as they can; of a kept one it is told that there was none.
Operand Lowering::stack_depth(const Expr& e) {
  Operand id = e.type->is_scalar() ? scalar(e) : load_word(temporary(e, *e.type), 8, false);
  const bool is_walked = e.type->is(Kind::ustack) && walks(*e.type);
  const bool is_current = if_a<Call>(&e) || if_a<lang::Name>(&e);
  Reg depth = fresh();
  BlockId deeper = new_block(), after = new_block();
  append({.op = Op::stack_depth, .dst = depth, .a = id, .index = is_walked ? uint32_t{walked_stack} : 0});
  if (is_walked && is_current) {
    BlockId unknown = new_block(), known = new_block();
    branch(Cond::eq, Operand::of(depth), number(0), unknown, known);
    start(unknown);
    const uint32_t most = type::most_frames(Kind::ustack, true);
    Operand by_pointers =
        stack(*types_.stack(Kind::ustack, type::StackMode::raw, std::min(e.type->count, most), true));
    append({.op = Op::stack_depth, .dst = depth, .a = by_pointers});
    jump(known);
    start(known);
  } else if (is_walked) {
    BlockId none = new_block(), unknown = new_block(), told = new_block();
    branch(Cond::eq, Operand::of(depth), number(0), none, told);
    start(none);
    branch(Cond::eq, id, number(0), told, unknown);
    start(unknown);
    count(Fault::depth_unknown);
    jump(told);
    start(told);
  }
  branch(Cond::ugt, Operand::of(depth), number(e.type->count), deeper, after);
  start(deeper);
  assign(depth, number(e.type->count));
  jump(after);
  start(after);
  return Operand::of(depth);
}

// { u64 id, u32 pid, u32 0 }: the number that the process has for whoever asks for its names. Without a stack
// there is no process either: such values are all the same.
void Lowering::user_stack_into(const Place& to, const Type& type) {
  Operand id = stack(type);
  Operand pid = emit(Op::lshr, process_ids({}), number(32));
  store(to, id, 8);
  store(to.plus(8), emit(Op::mul, pid, emit(Op::and_, id, number(1))), 8);
}

// Both, the user stack first: as type::Kind::stack has them.
void Lowering::both_stacks_into(const Place& to, const Type& all) {
  user_stack_into(to, *types_.stack(Kind::ustack, all.stack_mode, all.count));
  const uint32_t most = type::most_frames(Kind::kstack, false);
  store(to.plus(16), stack(*types_.stack(Kind::kstack, all.stack_mode, std::min(all.count, most))), 8);
}

} // namespace ir
