// Recipes (probe/recipe.h): values of the traced program, got from its registers and memory.
//
// The stack machine is run here, when the script is compiled: what a step pushes is a register of the IR, and
// nothing is left of the stack. Where ways meet again, behind `branch` and `skip`, the stack's registers are
// moved to ones that both ways share. A recipe whose steps take more than there is, or meet with different
// heights, gives 0.
#include "ir/lowering.h"
#include "spec/arch.h"

#include <algorithm>

namespace ir {

using probe::Recipe;
using probe::Step;

namespace {

// What a step takes from the stack, and what it leaves there.
struct Effect {
  uint32_t takes, leaves;
};
constexpr Effect effect_of(const Step& s) {
  switch (s.op) {
  case Step::constant:
  case Step::reg:
  case Step::code_start:
  case Step::thread_base: return {0, 1};
  case Step::load:
  case Step::neg:
  case Step::not_:
  case Step::abs:
  case Step::zext:
  case Step::sext: return {1, 1};
  case Step::pick: return {static_cast<uint32_t>(s.value) + 1, static_cast<uint32_t>(s.value) + 2};
  case Step::drop: return {1, 0};
  case Step::swap: return {2, 2};
  case Step::rot: return {3, 3};
  case Step::branch: return {1, 0};
  case Step::skip: return {0, 0};
  default: return {2, 1}; // a op b
  }
}

constexpr uint32_t most_steps = 1024, highest = 64;
constexpr uint32_t nowhere = ~0u;

// The height of the stack before each step, and at the end; `nowhere` before those that are never reached.
// Nothing if the steps are malformed.
std::optional<std::vector<uint32_t>> heights(const std::vector<Step>& steps) {
  if (steps.size() > most_steps) return std::nullopt;
  std::vector<uint32_t> before(steps.size() + 1, nowhere);
  before[0] = 0;
  auto reach = [&](size_t at, uint32_t height) {
    if (before[at] == nowhere) before[at] = height;
    return before[at] == height && height <= highest;
  };
  for (size_t i = 0; i < steps.size(); i++) {
    if (before[i] == nowhere) continue;
    const Step& s = steps[i];
    if (s.op == Step::pick && (s.value < 0 || s.value >= highest)) return std::nullopt;
    Effect e = effect_of(s);
    if (before[i] < e.takes) return std::nullopt;
    uint32_t height = before[i] - e.takes + e.leaves;
    if (s.op == Step::branch || s.op == Step::skip) {
      if (s.value < 0 || static_cast<uint64_t>(s.value) > steps.size() - 1 - i) return std::nullopt;
      if (!reach(i + 1 + static_cast<size_t>(s.value), height)) return std::nullopt;
      if (s.op == Step::skip) continue;
    }
    if (!reach(i + 1, height)) return std::nullopt;
  }
  if (before.back() == nowhere || before.back() == 0) return std::nullopt;
  return before;
}

Op operation_of(Step::Op op) {
  switch (op) {
  case Step::add: return Op::add;
  case Step::sub: return Op::sub;
  case Step::mul: return Op::mul;
  case Step::and_: return Op::and_;
  case Step::or_: return Op::or_;
  case Step::xor_: return Op::xor_;
  case Step::shl: return Op::shl;
  case Step::lshr: return Op::lshr;
  case Step::ashr: return Op::ashr;
  default: return Op::unreachable;
  }
}

Cond condition_of(Step::Op op) {
  switch (op) {
  case Step::eq: return Cond::eq;
  case Step::ne: return Cond::ne;
  case Step::slt: return Cond::slt;
  case Step::sle: return Cond::sle;
  case Step::sgt: return Cond::sgt;
  default: return Cond::sge;
  }
}

} // namespace

// A member of the current task's structures, by way of those before it: {"mm_struct", "start_code"}.
Operand Lowering::task_word(std::string_view pointer, std::string_view of, std::string_view member) {
  const Type* t = machine_.kernel_type("struct", of);
  auto outer = task_member(pointer);
  auto inner = t ? t->find(member) : std::nullopt;
  if (!outer || !inner) return number(0);
  Place in_task{Space::task, query(Query::task), *outer};
  const Type* task = machine_.kernel_type("struct", "task_struct");
  if (!task->find(pointer)->type->is(Kind::pointer)) return load_word(in_task.plus(inner->offset), 8, false);
  return load_word({Space::kernel, load_word(in_task, 8, false), inner->offset}, 8, false);
}

// The size of a number without its sign.
Operand Lowering::magnitude(Operand n) {
  Operand sign = emit(Op::ashr, n, number(63));
  return emit(Op::sub, emit(Op::xor_, n, sign), sign);
}

// Division by 0 gives 0. The engines know only numbers without signs.
Operand Lowering::recipe_division(Step::Op op, Operand a, Operand b) {
  Reg dst = fresh();
  BlockId fine = new_block(), after = new_block();
  assign(dst, number(0));
  branch(Cond::ne, b, number(0), fine, after);
  start(fine);
  if (op == Step::sdiv) {
    Operand sign = emit(Op::ashr, emit(Op::xor_, a, b), number(63));
    Operand n = emit(Op::udiv, magnitude(a), magnitude(b));
    assign(dst, emit(Op::sub, emit(Op::xor_, n, sign), sign));
  } else {
    append({.op = op == Step::udiv ? Op::udiv : Op::umod, .dst = dst, .a = a, .b = b});
  }
  jump(after);
  start(after);
  return Operand::of(dst);
}

// One step that neither branches nor only moves values about.
Operand Lowering::recipe_step(const Step& s, Operand a, Operand b) {
  switch (s.op) {
  case Step::constant: return number(s.value);
  case Step::reg: {
    auto base = probe::registers_at(context_);
    // Of a stopped program vectors and those of callers follow.
    const bool is_one = machine_.stopped || s.value <= int64_t{spec::arch.registers.back().offset};
    if (!base || s.value < 0 || s.value % 8 || !is_one) return number(0);
    return load_word(context_place(*base + s.value), 8, false);
  }
  case Step::code_start: return task_word("mm", "mm_struct", "start_code");
#if defined(__x86_64__)
  case Step::thread_base:
    if (machine_.stopped) return load_word(context_place(probe::stopped_thread_base), 8, false);
    return task_word("thread", "thread_struct", "fsbase");
#else
  case Step::thread_base: return number(0);
#endif
  case Step::load: return load_word({stack_space(), a, 0}, s.size, s.is_signed);
  case Step::neg: return emit(Op::sub, number(0), a);
  case Step::not_: return emit(Op::xor_, a, number(-1));
  case Step::abs: return magnitude(a);
  case Step::zext:
  case Step::sext: return s.size >= 8 ? a : emit(s.op == Step::zext ? Op::zext : Op::sext, a, {}, s.size);
  case Step::udiv:
  case Step::sdiv:
  case Step::umod: return recipe_division(s.op, a, b);
  case Step::shl:
  case Step::lshr:
  case Step::ashr: return emit(operation_of(s.op), a, emit(Op::and_, b, number(63)));
  case Step::eq:
  case Step::ne:
  case Step::slt:
  case Step::sle:
  case Step::sgt:
  case Step::sge: return set(condition_of(s.op), a, b);
  default: return emit(operation_of(s.op), a, b);
  }
}

// Changes the order of what is on the stack.
static void move_on_stack(const Step& s, std::vector<Operand>& stack) {
  auto top = stack.end();
  switch (s.op) {
  case Step::pick: stack.push_back(top[-1 - s.value]); break;
  case Step::drop: stack.pop_back(); break;
  case Step::swap: std::swap(top[-1], top[-2]); break;
  default: std::rotate(top - 3, top - 1, top); break; // the top goes below the two under it
  }
}

Operand Lowering::run_steps(const std::vector<Step>& steps) {
  auto before = heights(steps);
  if (!before) return number(0);
  // Where ways meet: a block, and for each place of the stack the register that all of them leave it in.
  std::vector<BlockId> labels(steps.size() + 1, no_block);
  for (size_t i = 0; i < steps.size(); i++)
    if ((*before)[i] != nowhere && (steps[i].op == Step::branch || steps[i].op == Step::skip))
      labels[i + 1 + static_cast<size_t>(steps[i].value)] = 0;
  for (BlockId& label : labels)
    if (label == 0) label = new_block();
  std::vector<Operand> stack;
  std::vector<Reg> shared;
  auto leave = [&] {
    while (shared.size() < stack.size()) shared.push_back(fresh());
    for (size_t i = 0; i < stack.size(); i++) assign(shared[i], stack[i]);
  };
  bool is_reached = true;
  for (size_t i = 0; i <= steps.size(); i++) {
    if ((*before)[i] == nowhere) continue;
    if (labels[i] != no_block) {
      if (is_reached) leave(), jump(labels[i]);
      start(labels[i]);
      is_reached = true;
      stack.resize((*before)[i]);
      for (size_t k = 0; k < stack.size(); k++) stack[k] = emit(Op::mov, Operand::of(shared[k]));
    }
    if (i == steps.size()) break;
    const Step& s = steps[i];
    if (s.op == Step::branch || s.op == Step::skip) {
      BlockId target = labels[i + 1 + static_cast<size_t>(s.value)];
      Operand chosen;
      if (s.op == Step::branch) {
        chosen = stack.back();
        stack.pop_back();
      }
      leave();
      if (s.op == Step::skip) {
        jump(target);
        is_reached = false;
        continue;
      }
      BlockId next = new_block();
      branch(Cond::ne, chosen, number(0), target, next);
      start(next);
      continue;
    }
    if (s.op >= Step::pick && s.op <= Step::rot) {
      move_on_stack(s, stack);
      continue;
    }
    Effect e = effect_of(s);
    Operand b = e.takes > 1 ? stack.back() : Operand();
    if (e.takes > 1) stack.pop_back();
    Operand a = e.takes > 0 ? stack.back() : Operand();
    if (e.takes > 0) stack.pop_back();
    stack.push_back(recipe_step(s, a, b));
  }
  return stack.back();
}

// Where the bytes of a value stand: those that are nowhere by themselves are put together in a new object.
Place Lowering::recipe_place(const Recipe& r, const Type& t) {
  if (r.kind == Recipe::address) return {stack_space(), run_steps(r.steps), 0};
  uint32_t size = std::max(8u, (t.size + 7) / 8 * 8);
  Place to = scratch_place(size, "argument");
  zero(to, size);
  if (r.kind == Recipe::value) store_bytes(to, run_steps(r.steps), std::min(8u, std::max(1u, t.size)));
  if (r.kind != Recipe::pieces) return to;
  uint32_t at = 0;
  for (const probe::Piece& p : r.pieces_of) {
    uint32_t bytes = std::min(p.bytes, size - at);
    if (!bytes) break;
    if (p.steps.empty()) // gone
      ;
    else if (p.is_address)
      copy(to.plus(at), {stack_space(), run_steps(p.steps), 0}, bytes);
    else
      store_bytes(to.plus(at), run_steps(p.steps), std::min(bytes, 8u));
    at += bytes;
  }
  return to;
}

// A number, as its type holds it.
Operand Lowering::recipe_scalar(const Recipe& r, const Type& t) {
  if (r.kind == Recipe::value) return narrow(run_steps(r.steps), t);
  return load(recipe_place(r, t), t);
}

Operand Lowering::recipe_field(const Recipe& r, const type::Field& f) {
  return f.bit_size ? load_field(recipe_place(r, *f.type), f) : recipe_scalar(r, *f.type);
}

const Recipe* Lowering::recipe_of(const lang::Expr& e) {
  if (const lang::Name* n = lang::if_a<lang::Name>(&e)) return n->recipe;
  const lang::FieldRef* f = lang::if_a<lang::FieldRef>(&e);
  return f ? f->recipe : nullptr;
}

} // namespace ir
