// Random programs that always end: straight-line arithmetic, branches, counted loops inside the graph, calls,
// loop bodies, objects, maps, queries and loads that may fault. The same seed gives the same program. Every
// variable is sent as an event at the end, so that a difference anywhere shows.
#pragma once

#include "ir/builder.h"

#include <random>

namespace ir {

class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  // Fills an empty builder.
  void make(Builder& builder) {
    b_ = &builder;
    loop_site_ = b_->site(Fault::loop_limit);
    fault_site_ = b_->site(Fault::read_user);
    map_ = b_->map(MapKind::hash, 8, 8, 8);
    b_->program.tables.push_back({3, 0, 0xffffffff});
    callee_ = b_->function("callee", Role::function, 2);
    fill(1);
    b_->give_back(any());
    b_->enter(0);
    fill(3);
    for (const R v : variables_) b_->output(v);
    b_->give_back();
    b_->probe();
  }

private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  // A function's body: variables, an object, statements. The block it stands in when done is the last.
  void fill(uint32_t depth) {
    variables_.clear();
    parameters_ = b_->now().parameters;
    for (int n = 0; n < 4; n++) {
      const R v = b_->reg();
      variables_.push_back(v);
      b_->emit_to(v, Op::mov, constant());
    }
    if (b_->now().role != Role::body) {
      object_ = b_->object(32, "data");
      const R at = b_->address(object_);
      for (int n = 0; n < 4; n++) b_->store(at, constant(), n * 8);
    }
    statements(depth);
  }

  void statements(uint32_t depth) {
    for (uint32_t n = 2 + below(4); n > 0; n--) statement(depth);
  }

  int64_t constant() {
    switch (below(8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return -1;
    case 3: return int64_t{1} << below(63);
    case 4: return (int64_t{1} << below(63)) - 1;
    case 5: return INT64_MIN;
    case 6: return static_cast<int64_t>(random_());
    default: return below(100);
    }
  }
  R variable() { return variables_[below(static_cast<uint32_t>(variables_.size()))]; }
  Value any() {
    switch (below(6)) {
    case 0: return constant();
    case 1: return parameters_ ? R{1 + below(parameters_)} : variable();
    case 2: return expression(); // a register that is set once
    default: return variable();
    }
  }
  Cond cond() { return static_cast<Cond>(below(10)); }

  Value expression() {
    switch (below(12)) {
    case 0: {
      const R r = b_->value(Op::set, any(), any());
      b_->last().cond = cond();
      return r;
    }
    case 1: {
      const Op ops[] = {Op::zext, Op::sext, Op::bswap};
      const R r = b_->value(ops[below(3)], any());
      b_->last().size = static_cast<uint8_t>(1 << below(4));
      return r;
    }
    case 2: return b_->value(Op::log2, b_->value(Op::or_, any(), 1));
    case 3: return b_->value(below(2) ? Op::udiv : Op::umod, any(), divisor());
    case 4: {
      const Query queries[] = {Query::pid_tgid, Query::uid_gid, Query::cgroup_id};
      return b_->query(queries[below(3)]);
    }
    case 5: {
      const auto size = static_cast<uint8_t>(1 << below(4));
      return b_->load(b_->address(object_), below(4) * 8, size, below(2));
    }
    case 6: return b_->value(Op::table, below(2) ? any() : Value(static_cast<int>(below(4))));
    case 7: return b_->on_map(Op::map_size, map_);
    case 8: return b_->value(below(4) ? Op::mov : Op::blur, any());
    default: {
      const Op ops[] = {Op::add, Op::sub, Op::mul, Op::and_, Op::or_, Op::xor_, Op::shl, Op::lshr, Op::ashr};
      const Value x = any();
      return b_->value(ops[below(9)], x, below(2) ? Value(constant()) : any());
    }
    }
  }
  Value divisor() {
    if (below(2)) return int64_t{1} << below(62);
    return b_->value(Op::or_, any(), 1);
  }
  void assign(R to, Value from) { b_->emit_to(to, Op::mov, from); }

  void statement(uint32_t depth) {
    switch (below(depth ? 13 : 7)) {
    case 0: b_->store(b_->address(object_), any(), below(4) * 8, static_cast<uint8_t>(1 << below(4))); break;
    case 1: add_to_map(); break;
    case 2: fault(); break;
    case 3: {
      ir::Inst& i = b_->emit_to(variable(), Op::add, {}, {});
      i.a = Operand::of(i.dst), i.b = Operand::number(static_cast<int64_t>(below(100)));
      break;
    }
    case 4:
    case 5:
    case 6: assign(variable(), expression()); break;
    case 7:
    case 8:
    case 9: if_else(depth - 1); break;
    case 10: counted_loop(depth - 1); break;
    case 11: call_or_loop(); break;
    case 12: questions(depth - 1); break;
    }
  }

  void add_to_map() {
    const R key = b_->address(object_, below(4) * 8);
    if (below(4) == 0) return assign(variable(), b_->on_map(Op::map_remove, map_, key));
    const R slot = b_->on_map(below(2) ? Op::map_slot : Op::map_find, map_, key);
    const BlockId some = b_->block(), after = b_->block();
    b_->branch(slot, Cond::ne, 0, some, after);
    b_->at(some);
    ir::Inst& add = b_->emit(Op::add_memory);
    add.a = Value(slot), add.b = variable();
    b_->jump(after);
    b_->at(after);
  }

  void fault() {
    const Value address = any();
    const BlockId ok = b_->block(), fault = b_->block(), after = b_->block();
    const R got = b_->reg(), to = variable();
    ir::Inst& load = b_->emit_to(got, Op::load, address);
    load.space = Space::user, load.target = ok, load.other = fault,
    load.size = static_cast<uint8_t>(1 << below(4));
    load.is_signed = below(2);
    b_->at(fault);
    b_->emit(Op::count_fault).index = fault_site_;
    if (below(2)) assign(to, 0);
    b_->jump(after);
    b_->at(ok);
    if (below(2)) assign(to, got);
    b_->jump(after);
    b_->at(after);
  }

  void if_else(uint32_t depth) {
    const Value x = any(), y = any();
    const BlockId yes = b_->block(), no = b_->block(), after = b_->block();
    if (below(3) == 0) { // a truth value that is branched on behind a join, as && and || make them
      const R truth = b_->reg();
      const BlockId join = b_->block(), one = b_->block(), zero = b_->block();
      b_->branch(x, cond(), y, one, zero);
      b_->at(one);
      assign(truth, 1);
      b_->jump(join);
      b_->at(zero);
      assign(truth, 0);
      b_->jump(join);
      b_->at(join);
      b_->branch(truth, below(2) ? Cond::ne : Cond::eq, static_cast<int>(below(2)), yes, no);
    } else {
      b_->branch(x, cond(), y, yes, no);
    }
    b_->at(yes);
    statements(depth);
    b_->jump(after);
    b_->at(no);
    if (below(2)) statements(depth);
    b_->jump(after);
    b_->at(after);
  }

  // if (x == 0) { … } if (x == 1) { … }, as where one program handles several system calls
  void questions(uint32_t depth) {
    const Value x = below(3) ? Value(b_->value(Op::and_, any(), 3)) : any();
    for (uint32_t n = 2 + below(3); n > 0; n--) {
      const BlockId same = b_->block(), next = b_->block();
      const bool is_ne = below(4) == 0;
      b_->branch(x, is_ne ? Cond::ne : Cond::eq, static_cast<int>(below(4)), is_ne ? next : same, is_ne ? same : next);
      b_->at(same);
      statements(depth);
      b_->jump(next);
      b_->at(next);
    }
  }

  void counted_loop(uint32_t depth) {
    const R turn = b_->reg();
    const auto turns = static_cast<int64_t>(below(4));
    assign(turn, 0);
    const BlockId test = b_->block(), body = b_->block(), after = b_->block();
    b_->jump(test);
    b_->at(test);
    b_->branch(turn, Cond::ult, turns, body, after);
    b_->at(body);
    statements(depth);
    ir::Inst& next = b_->emit_to(turn, Op::add, {}, 1);
    next.a = Operand::of(turn.id);
    b_->jump(test);
    b_->at(after);
  }

  void call_or_loop() {
    if (b_->now().role != Role::probe) return;
    if (below(2)) {
      const Value x = any(), y = any();
      const R got = b_->value(Op::call, x, y);
      b_->last().index = callee_;
      if (below(2)) assign(variable(), got);
      return;
    }
    const Value turns = below(2) ? any() : Value(static_cast<int>(below(10)));
    const R got = b_->value(Op::loop, turns);
    const uint32_t body = static_cast<uint32_t>(b_->program.functions.size());
    b_->last().index = body, b_->last().imm = 5, b_->last().imm2 = loop_site_;
    if (below(2)) assign(variable(), got);
    const auto outer_variables = variables_;
    const uint32_t outer_parameters = parameters_;
    const BlockId outer_block = b_->current();
    b_->function("body", Role::body, 1, 0);
    fill(1);
    const R stop = b_->value(Op::set, any(), any());
    b_->last().cond = Cond::ult;
    b_->give_back(stop);
    b_->enter(0, outer_block);
    variables_ = outer_variables;
    parameters_ = outer_parameters;
  }

  std::mt19937_64 random_;
  Builder* b_ = nullptr;
  std::vector<R> variables_;
  uint32_t parameters_ = 0;
  uint32_t object_ = 0, map_ = 0, callee_ = 0;
  uint32_t loop_site_ = 0, fault_site_ = 0;
};

} // namespace ir
