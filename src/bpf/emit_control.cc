// Calls, loops, exits, and the claim of scratch memory.
//
// The body of a loop is a function that the kernel calls back, with r10 of the function it stands in: the
// verifier follows pointers into a caller's frame, also those kept there (context, scratch slot). Kernels
// without bpf_loop walk a counted loop of as many turns as their verifier has patience for (turns.h).
#include "bpf/emit.h"
#include "bpf/features.h"
#include "bpf/turns.h"

#include <algorithm>

namespace bpf {

static constexpr int64_t most_turns = 1 << 23; // BPF_MAX_LOOPS

void FunctionEmitter::emit_call(const ir::Inst& i) {
  const ir::Operand* given[] = {&i.a, &i.b, &i.c, &i.d, &i.e};
  const uint32_t n = program_.functions[i.index].parameters;
  std::vector<Argument> list;
  for (uint32_t k = 0; k < n; k++) list.push_back(argument(static_cast<Register>(r1 + k), *given[k]));
  if (unit_.needs_context(i.index)) {
    if (n == 5)
      return fail("function " + program_.functions[i.index].name + " with five parameters reads the context");
    list.push_back(argument(static_cast<Register>(r1 + n), ir::Operand::of(context_)));
  }
  arguments(std::move(list));
  out_.call_function(i.index);
  finish(i.dst, r0);
}

void FunctionEmitter::emit_loop(const ir::Inst& i) {
  if (!options_.has_loop) return emit_counted_loop(i);
  const int64_t most = std::min(i.imm, most_turns);
  const bool bounded = i.a.is_constant() && static_cast<uint64_t>(i.a.value) <= static_cast<uint64_t>(most);
  const Label reached = out_.label(), done = out_.label(), above = out_.label(), ready = out_.label(),
              none = out_.label();
  arguments({i.a.is_constant() ? number(r1, bounded ? i.a.value : most) : argument(r1, i.a)});
  // A verifier that knows that there are no turns drops the body, and misses it where its address is still taken.
  if (i.a.is_reg()) {
    out_.jump_if(BPF_JEQ, r1, 0, none);
    out_.jump_if(BPF_JGT, r1, static_cast<int32_t>(most), above);
    out_.bind(ready);
  }
  arguments({{.kind = Argument::function, .to = r2, .index = i.index}, frame_argument(r3), number(r4, 0)});
  out_.call(loop);
  if (!bounded) out_.jump_if(BPF_JEQ, r0, static_cast<int32_t>(most), reached);
  out_.bind(done);
  finish(i.dst, r0);
  if (bounded) return;
  if (i.a.is_reg()) {
    out_.cold([=, this] {
      out_.bind(above);
      out_.number(r1, most);
      out_.jump(ready);
    });
    zero_at(none, done);
  }
  out_.cold([=, this] {
    out_.bind(reached);
    if (i.a.is_reg()) out_.jump_if(BPF_JLE, value(i.a, r4), static_cast<int32_t>(most), done);
    count(pool_.site_counter(static_cast<uint32_t>(i.imm2)));
    out_.jump(done);
  });
}

// The turns are counted on the stack, in a word that the verifier knows exactly.
void FunctionEmitter::emit_counted_loop(const ir::Inst& i) {
  const int64_t most = std::min(i.imm, most_turns_walked(program_, index_, i));
  const int64_t known = known_turns(*function_, i.a);
  const Label head = out_.label(), done = out_.label(), reached = out_.label();
  out_.number(r0, 0);
  out_.store(r10, temp(), r0, 8);
  out_.bind(head);
  out_.load(r1, r10, temp(), 8);
  const bool is_bounded = known >= 0 && known <= most;
  if (!is_bounded) out_.jump_if(BPF_JGE, r1, static_cast<int32_t>(most), reached);
  const ir::Operand limit = known >= 0 ? ir::Operand::number(std::min<int64_t>(known, INT32_MAX)) : i.a;
  if (limit.is_reg())
    out_.jump_if(BPF_JGE, r1, value(limit, r4), done);
  else
    out_.jump_if(BPF_JGE, r1, static_cast<int32_t>(limit.value), done);
  move_argument(frame_argument(r2));
  out_.call_function(i.index);
  out_.load(r1, r10, temp(), 8);
  out_.alu(BPF_ADD, r1, 1);
  out_.store(r10, temp(), r1, 8);
  out_.jump_if(BPF_JEQ, r0, 0, head);
  out_.bind(done);
  out_.load(r0, r10, temp(), 8);
  finish(i.dst, r0);
  if (is_bounded) return;
  out_.cold([=, this] {
    out_.bind(reached);
    if (i.a.is_reg()) out_.jump_if(BPF_JLE, value(i.a, r4), static_cast<int32_t>(most), done);
    count(pool_.site_counter(static_cast<uint32_t>(i.imm2)));
    out_.jump(done);
  });
}

void FunctionEmitter::emit_for_each(const ir::Inst& i) {
  if (!options_.has_for_each)
    return fail(lack_of(Feature::for_each) + ": programs cannot go through the entries of @" + map_of(i).name);
  if (map_of(i).kind == ir::MapKind::task)
    return fail("the kernel cannot go through the entries of @" + map_of(i).name);
  arguments({map(r1, i.index),
             {.kind = Argument::function, .to = r2, .index = static_cast<uint32_t>(i.imm)},
             frame_argument(r3),
             number(r4, 0)});
  out_.call(for_each_map_elem);
}

void FunctionEmitter::emit_give_back(const ir::Inst& i) {
  // Of events of the kernel, what a program returns means something to the kernel.
  const bool is_event = function_->role == ir::Role::probe && unit_.probe.context != probe::Context::none;
  if (i.op == ir::Op::unreachable || is_event) {
    out_.number(r0, 0);
  } else if (is_root() || !i.a.is_reg()) {
    load_into(r0, is_root() ? i.a : ir::Operand::number(i.a.value != 0));
  } else { // of callbacks the kernel accepts 0 and 1 only
    const Label zero = out_.label();
    load_into(r0, i.a);
    out_.jump_if(BPF_JEQ, r0, 0, zero);
    out_.number(r0, 1);
    out_.bind(zero);
  }
  if (claimed_[block_]) out_.store(value(base_, r4), 0, 0, 8);
  out_.exit();
}

void FunctionEmitter::emit_claim() {
  const Label taken = out_.label();
  const bool is_large = layout_.scratch_bytes > largest_percpu_value;
  take_slot(is_large ? pool_.large_scratch(layout_.scratch_bytes) : pool_.scratch(layout_.scratch_bytes), pool_.slots(), is_large, taken);
  count(state_scratch_busy);
  out_.number(r0, 0);
  out_.exit();
  out_.bind(taken);
  if (layout_.number_slot) {
    out_.load(r1, r10, temp(), 4);
    out_.store(r10, layout_.number_slot, r1, 8);
  }
  finish(base_, r2);
  if (layout_.base_slot) out_.store(r10, layout_.base_slot, r2, 8);
}

// The number of the slot of scratch memory: what is lent stands at its begin.
void FunctionEmitter::emit_lend(const ir::Inst& i) {
  const Register w = target(i.dst, r0);
  out_.load(w, is_root() ? r10 : value(frame_, w), layout_.number_slot, 8);
  finish(i.dst, w);
}

// A piece runs on the CPU of the function that calls it, so that the number leads to the same slot.
void FunctionEmitter::emit_borrow(const ir::Inst& i) {
  const Label there = out_.label();
  uint32_t owner = function_->parent;
  while (program_.functions[owner].role == ir::Role::body) owner = program_.functions[owner].parent;
  load_into(r0, i.a);
  out_.store(r10, temp(), r0, 4);
  arguments({map(r1, unit_.scratch_map(program_.functions[owner].frame)), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JNE, r0, 0, there);
  out_.exit(); // with 0: the long function ends
  out_.bind(there);
  out_.alu(BPF_ADD, r0, static_cast<int32_t>(lent_at));
  finish(i.dst, r0);
}

// The first free slot of this CPU is taken, and its address is in r2 at `taken`: a program that interrupts this one,
// or the task that gets the CPU while this one waits, takes another. Goes on behind it where none is free.
void FunctionEmitter::take_slot(uint32_t slots, uint32_t slot_count, bool is_large, Label taken) {
  for (uint32_t slot = 0; slot < slot_count; slot++) {
    const Label busy = out_.label();
    if (is_large && slot == 0) {
      out_.call(get_smp_processor_id);
      out_.store(r10, temp(), r0, 4);
    } else {
      const uint32_t index = is_large ? options_.possible_cpus + slot - 1 : slot;
      out_.store(r10, temp(), static_cast<int32_t>(index), 4);
    }
    arguments({map(r1, slots), temporary(r2)});
    out_.call(map_lookup_elem);
    out_.jump_if(BPF_JEQ, r0, 0, busy);
    out_.mov(r2, r0);
    out_.number(r1, 1);
    if (options_.has_cmpxchg) {
      out_.number(r0, 0);
      out_.atomic(BPF_CMPXCHG, r2, 0, r1);
      out_.jump_if(BPF_JEQ, r0, 0, taken);
    } else { // programs of such kernels are interrupted only by ones that end before they go on
      out_.load(r0, r2, 0, 8);
      out_.jump_if(BPF_JNE, r0, 0, busy);
      out_.store(r2, 0, r1, 8);
      out_.jump(taken);
    }
    out_.bind(busy);
  }
}

} // namespace bpf
