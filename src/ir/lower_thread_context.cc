// The trace and the span that the current thread works on, as its process publishes them (spec/thread_context.h). Where a process has the variable is in a
// map that acu fills (watch/thread_contexts.h); programs follow it to the record. All memory that leads there is the process's own, and may hold
// anything: reads are of fixed sizes, and one that fails means that there is no request.
#include "ir/lowering.h"
#include "spec/thread_context.h"
#include "spec/thread_variable.h"

#include <cstddef>

namespace ir {

namespace {

constexpr uint64_t most_processes = 8192;
constexpr int64_t modules_at = 8; // of the thread's base: its table of modules

constexpr auto trace_bytes = uint32_t{sizeof spec::ThreadContextRecord::trace_id}, span_bytes = uint32_t{sizeof spec::ThreadContextRecord::span_id};

} // namespace

void Lowering::make_thread_context_map() {
  if (!source_.reads_thread_contexts) return;
  program_.thread_contexts = static_cast<uint32_t>(program_.maps.size());
  program_.maps.push_back({.name = "acu_thread_contexts",
                           .kind = MapKind::hash,
                           .key = types_.uint64(),
                           .value = types_.array(types_.uint64(), sizeof(spec::ThreadVariable) / 8),
                           .key_size = 8,
                           .value_size = sizeof(spec::ThreadVariable),
                           .max_entries = most_processes,
                           .is_own = true});
}

// Goes to `none` if the number is 0.
void Lowering::need(Operand n, BlockId none) {
  const BlockId there = new_block();
  branch(Cond::ne, n, number(0), there, none);
  start(there);
}

// The address of `offset` in the block of a module, as the thread has it.
Operand Lowering::in_module(Operand base, Operand module, Operand offset, Operand entry_bytes, BlockId none) {
  need(module, none);
  const Operand modules = load_word({Space::user, base, modules_at}, 8, false);
  // glibc counts them two words before the first entry, musl in its place.
  const Operand before = emit(Op::shl, emit(Op::sub, entry_bytes, number(8)), number(1));
  const Operand count = load_word({Space::user, emit(Op::sub, modules, before), 0}, 8, false);
  const BlockId known = new_block();
  branch(Cond::ule, module, count, known, none);
  start(known);
  const Operand block = load_word({Space::user, emit(Op::add, modules, emit(Op::mul, module, entry_bytes)), 0}, 8, false);
  return emit(Op::add, block, offset);
}

// The address of the variable of the current thread, by what is known of its process.
Operand Lowering::thread_variable(Operand known, BlockId none) {
  using spec::ThreadVariable;
  const auto word = [&](int64_t member) { return load_word({Space::script, known, member}, 8, false); };
  const auto is = [&](ThreadVariable::How wanted, Operand how, BlockId yes, BlockId no) { branch(Cond::eq, how, number(static_cast<int64_t>(wanted)), yes, no); };
  const Operand base = recipe_step({.op = probe::Step::thread_base}, {}, {});
  const Operand how = word(offsetof(ThreadVariable, how)), entry_bytes = word(offsetof(ThreadVariable, entry_bytes));
  const Reg distance = fresh(), module = fresh(), offset = fresh(), at = fresh();
  const BlockId led = new_block(), not_by_distance = new_block(), descriptor = new_block(), leads_on = new_block(), in_block = new_block(), near = new_block(),
                found = new_block();

  assign(distance, word(offsetof(ThreadVariable, offset)));
  is(ThreadVariable::fixed, how, near, led);

  start(led);
  const Operand written = load_word({Space::user, word(offsetof(ThreadVariable, place)), 0}, 8, false);
  need(written, none);
  assign(offset, Operand::of(distance)); // what was written is one of these
  assign(module, written);
  assign(distance, written);
  is(ThreadVariable::by_distance, how, near, not_by_distance);
  start(not_by_distance);
  is(ThreadVariable::by_module, how, in_block, descriptor);

  start(descriptor);
  branch(Cond::slt, written, number(0), near, leads_on);
  start(leads_on);
  assign(module, load_word({Space::user, written, 0}, 8, false));
  assign(offset, load_word({Space::user, written, 8}, 8, false));
  jump(in_block);

  start(in_block);
  assign(at, in_module(base, Operand::of(module), Operand::of(offset), entry_bytes, none));
  jump(found);

  start(near);
  assign(at, emit(Op::add, base, Operand::of(distance)));
  jump(found);

  start(found);
  return Operand::of(at);
}

// Four bytes as eight digits of text, all at once: each byte goes to a place of two, its halves to one of them, and a half above 9 to the letters.
Operand Lowering::digits_of(Operand four_bytes) {
  const auto spread = [&](Operand n, int64_t distance, uint64_t mask) {
    return emit(Op::and_, emit(Op::or_, n, emit(Op::shl, n, number(distance))), number(static_cast<int64_t>(mask)));
  };
  const auto all = [](uint64_t byte) { return number(static_cast<int64_t>(byte * 0x0101010101010101)); };
  const Operand apart = spread(spread(four_bytes, 16, 0x0000ffff0000ffff), 8, 0x00ff00ff00ff00ff);
  const Operand upper = emit(Op::and_, emit(Op::lshr, apart, number(4)), number(0x000f000f000f000f));
  const Operand lower = emit(Op::shl, emit(Op::and_, apart, number(0x000f000f000f000f)), number(8));
  const Operand halves = emit(Op::or_, upper, lower);
  const Operand is_letter = emit(Op::and_, emit(Op::lshr, emit(Op::add, halves, all(6)), number(4)), all(1));
  return emit(Op::add, emit(Op::add, halves, all('0')), emit(Op::mul, is_letter, number('a' - '0' - 10)));
}

// trace_id and span_id: the digits, or empty text.
void Lowering::thread_context_into(bool is_span, const Place& to, const Type& as) {
  const uint32_t bytes = is_span ? span_bytes : trace_bytes;
  zero(to, as.size);
  const BlockId none = new_block();
  const Recovery outer = std::exchange(recovery_, {function_, none, nullptr});
  const Place key = scratch_place(8, "process");
  store(key, emit(Op::lshr, process_ids({}), number(32)), 8);
  const Operand known = find(program_.thread_contexts, address(key));
  need(known, none);
  const Operand record = load_word({Space::user, thread_variable(known, none), 0}, 8, false);
  need(record, none);
  const Place copied = scratch_place(32, "context of the thread");
  copy(copied, {Space::user, record, 0}, sizeof(spec::ThreadContextRecord));
  const BlockId valid = new_block();
  branch(Cond::eq, load_word(copied.plus(offsetof(spec::ThreadContextRecord, valid)), 1, false), number(1), valid, none);
  start(valid);
  need(emit(Op::or_, load_word(copied, 8, false), load_word(copied.plus(8), 8, false)), none);
  const Place id = copied.plus(is_span ? offsetof(spec::ThreadContextRecord, span_id) : 0);
  const bool is_cut = as.size < 2 * bytes;
  const Place digits = is_cut ? scratch_place(2 * bytes, "digits") : to;
  for (uint32_t at = 0; at < bytes; at += 4) store(digits.plus(2 * at), digits_of(load_word(id.plus(at), 4, false)), 8);
  if (is_cut) copy(to, digits, as.size);
  recovery_ = outer;
  jump(none);
  start(none);
}

} // namespace ir
