// Output that depends on what comes later. A speculation is a value of a map: what `speculate` blocks print, as the records that would have
// been sent, one behind the other. commit() sends them as one, discard() removes them. `limit` keeps a word for each block.
#include "ir/lowering.h"

#include <algorithm>

namespace ir {

using namespace lang;

namespace {

constexpr uint32_t key_bytes = 16; // { u64 thread or key of the script, u64 whether it is the script's }
constexpr int most_tries = 4;      // of several CPUs to count their runs of a block

} // namespace

void Lowering::make_speculation_maps() {
  if (source_.speculates) {
    const auto bytes = static_cast<uint32_t>(source_.config.number("speculation_bytes") / 8 * 8);
    program_.speculations = static_cast<uint32_t>(program_.maps.size());
    program_.maps.push_back({.name = "acu_held",
                             .kind = MapKind::hash,
                             .key = types_.array(types_.uint64(), key_bytes / 8),
                             .value = types_.array(types_.uint64(), (speculation_header + bytes) / 8),
                             .key_size = key_bytes,
                             .value_size = speculation_header + bytes,
                             .max_entries = source_.config.number("max_speculations"),
                             .is_own = true,
                             .has_room_at_once = true});
  }
  limits_ = static_cast<uint32_t>(program_.maps.size());
  if (source_.limits)
    program_.maps.push_back({.name = "acu_limits",
                             .kind = MapKind::array,
                             .value = types_.array(types_.uint64(), source_.limits),
                             .value_size = 8 * source_.limits,
                             .is_own = true});
}

// An object with the key of a speculation: the script's, or the current thread.
uint32_t Lowering::speculation_key(const Expr* key) {
  const Operand n = key ? scalar(*key) : emit(Op::zext, query(Query::pid_tgid), {}, 4);
  const uint32_t made = add_object(key_bytes, "speculation");
  store({Space::script, object(made), 0}, n, 8);
  store({Space::script, object(made), 8}, number(key != nullptr), 8);
  return made;
}

void Lowering::lower_speculate(const Speculate& s) {
  const uint32_t outer = std::exchange(speculation_, speculation_key(s.key));
  lower(*s.body);
  speculation_ = outer;
}

// Makes room for the record in the speculation, and lets `fill` write the payload. It is marked as complete last: another thread that
// commits the same key meanwhile sends the records around it.
void Lowering::hold(uint32_t action, const std::function<void(const Place&)>& fill) {
  const uint32_t bytes = program_.actions[action].record_size();
  const uint32_t most = program_.maps[program_.speculations].value_size - speculation_header;
  if (bytes > most)
    return diagnostics_.error(spec::tag::too_large, where_, "this output has " + std::to_string(bytes) + " bytes; `speculate` holds back " + std::to_string(most),
                              "raise the limit with `config = { speculation_bytes = N }`, or print shorter strings");
  const Reg at = fresh(), record = fresh();
  const BlockId there = new_block(), room = new_block(), full = new_block(), after = new_block();
  append({.op = Op::map_slot, .dst = at, .a = object(speculation_), .index = program_.speculations});
  branch(Cond::ne, Operand::of(at), number(0), there, after);
  start(there);
  append({.op = Op::hold, .dst = record, .a = Operand::of(at), .imm2 = bytes, .index = action});
  branch(Cond::ne, Operand::of(record), number(0), room, full);
  start(full);
  count(Fault::speculation_full);
  jump(after);
  start(room);
  fill({Space::script, Operand::of(record), 8});
  store({Space::script, Operand::of(record), 4}, number(0), 4);
  jump(after);
  start(after);
}

void Lowering::commit(const Call& c) {
  if (program_.speculations == ~0u) return; // the checker has warned
  const uint32_t key = speculation_key(c.arguments.empty() ? nullptr : c.arguments[0]);
  const Reg at = fresh();
  const BlockId there = new_block(), after = new_block();
  append({.op = Op::map_find, .dst = at, .a = object(key), .index = program_.speculations});
  branch(Cond::ne, Operand::of(at), number(0), there, after);
  start(there);
  append({.op = Op::commit, .a = Operand::of(at)});
  append({.op = Op::map_remove, .a = object(key), .index = program_.speculations});
  jump(after);
  start(after);
}

void Lowering::discard(const Call& c) {
  if (program_.speculations == ~0u) return;
  const uint32_t key = speculation_key(c.arguments.empty() ? nullptr : c.arguments[0]);
  append({.op = Op::map_remove, .a = object(key), .index = program_.speculations});
}

// The block's word: which period it is (its low 32 bits), and runs in it. Of CPUs that count at the same time one succeeds,
// the others try again.
void Lowering::lower_limit(const Limit& l) {
  const auto most = l.count->constant.integer_value;
  const int64_t at = 8 * int64_t{l.id};
  const Operand period = emit(Op::zext, emit(Op::udiv, query(Query::ktime), number(static_cast<int64_t>(l.unit->nanoseconds))), {}, 4);
  const Operand first = emit(Op::or_, emit(Op::shl, period, number(32)), number(1));
  const Reg words = fresh(), kept = fresh(), next = fresh();
  const BlockId run = new_block(), left_out = new_block(), after = new_block();
  append({.op = Op::map_find, .dst = words, .index = limits_});
  assign(kept, load_word({Space::script, Operand::of(words), at}, 8, false));
  for (int n = 0; n < most_tries; n++) {
    const BlockId same = new_block(), other = new_block(), more = new_block(), exchange = new_block(), again = new_block();
    branch(Cond::eq, emit(Op::lshr, Operand::of(kept), number(32)), period, same, other);
    start(same);
    branch(Cond::ult, emit(Op::zext, Operand::of(kept), {}, 4), number(most), more, left_out);
    start(more);
    assign(next, emit(Op::add, Operand::of(kept), number(1)));
    jump(exchange);
    start(other);
    assign(next, first);
    jump(exchange);
    start(exchange);
    const Reg was = fresh();
    append({.op = Op::exchange, .dst = was, .a = Operand::of(words), .b = Operand::of(kept), .c = Operand::of(next), .imm = at, .index = limits_});
    branch(Cond::eq, Operand::of(was), Operand::of(kept), run, again);
    start(again);
    assign(kept, Operand::of(was));
  }
  jump(left_out);
  start(left_out);
  count(Fault::limited, std::to_string(most) + "/" + std::string(l.unit->name));
  jump(after);
  start(run);
  branches_++;
  lower(*l.body);
  branches_--;
  jump(after);
  start(after);
}

} // namespace ir
