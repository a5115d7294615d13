// clean_blocks, skip_known_tests, reuse_queries, reuse_lookups and remove_dead_code, each by itself, on programs of a few instructions. What is left is
// told as the names of operations: "query jump b1 | give_back".
#include "ir/builder.h"
#include "ir/passes.h"

#include <functional>
#include <gtest/gtest.h>

namespace ir {
namespace {

using Pass = bool (*)(Function&, PassContext&);

std::string shape_of(const Function& f) {
  std::string out;
  for (const Block& b : f.blocks) {
    if (&b != &f.blocks[0]) out += " | ";
    for (const Inst& i : b.insts) {
      if (&i != &b.insts[0]) out += " ";
      out += to_string(i.op);
      for (const BlockId to : successors(i)) out += " b" + std::to_string(to);
    }
  }
  return out;
}

// Whether the pass says that there may be more to do; the program is well-formed before and after, and the pass finds nothing when it
// is asked again.
bool run(Builder& b, Pass pass, uint32_t function = 0) {
  const auto once = [&] {
    PassContext context(b.program, b.program.functions[function]);
    return pass(b.program.functions[function], context);
  };
  EXPECT_EQ(verify(b.program), std::vector<std::string>{}) << to_string(b.program);
  const bool changed = once();
  EXPECT_EQ(verify(b.program), std::vector<std::string>{}) << to_string(b.program);
  const std::string left = shape_of(b.program.functions[function]);
  EXPECT_FALSE(once());
  EXPECT_EQ(shape_of(b.program.functions[function]), left);
  return changed;
}
std::string shape_after(Builder& b, Pass pass) {
  run(b, pass);
  return shape_of(b.program.functions[0]);
}

// ---- clean_blocks

TEST(CleanBlocks, blocks_in_a_row_are_one) {
  Builder b;
  for (int n = 0; n < 5; n++) {
    b.query(Query::ktime);
    const BlockId next = b.block();
    b.jump(next);
    b.at(next);
  }
  b.give_back();
  EXPECT_EQ(shape_after(b, clean_blocks), "query query query query query give_back");
}

TEST(CleanBlocks, blocks_that_only_jump_are_skipped_by_branches_and_fault_edges) {
  Builder b;
  const R x = b.query(Query::ktime);
  const BlockId via_yes = b.block(), via_no = b.block(), read = b.block(), end = b.block(), via_fault = b.block();
  b.branch(x, Cond::eq, 0, via_yes, via_no);
  b.at(via_yes);
  b.jump(read);
  b.at(via_no);
  b.jump(end);
  b.at(read);
  b.load(4096);
  b.last().space = Space::user, b.last().target = end, b.last().other = via_fault;
  b.at(via_fault);
  b.jump(end);
  b.at(end);
  b.give_back();
  EXPECT_EQ(shape_after(b, clean_blocks), "query branch b1 b2 | load b2 b2 | give_back");
}

TEST(CleanBlocks, what_is_not_reached_goes_and_the_order_stays) {
  Builder b;
  const R x = b.query(Query::ktime);
  const BlockId dead = b.block(), dead_too = b.block(), first = b.block(), second = b.block();
  b.branch(x, Cond::eq, 0, second, first);
  b.at(dead);
  b.jump(dead_too);
  b.at(dead_too);
  b.query(Query::cpu);
  b.jump(first); // the only block that reaches `first` is the entry
  b.at(first);
  b.query(Query::random);
  b.give_back();
  b.at(second);
  b.query(Query::jiffies);
  b.give_back();
  EXPECT_EQ(shape_after(b, clean_blocks), "query branch b2 b1 | query give_back | query give_back");
  EXPECT_EQ(b.program.functions[0].blocks[1].insts[0].query, Query::random);
}

TEST(CleanBlocks, a_join_of_two_ways_stays_apart) {
  Builder b;
  const R x = b.query(Query::ktime);
  const BlockId yes = b.block(), join = b.block();
  b.branch(x, Cond::eq, 0, yes, join);
  b.at(yes);
  b.query(Query::random);
  b.jump(join);
  b.at(join);
  b.give_back();
  EXPECT_FALSE(run(b, clean_blocks));
  EXPECT_EQ(shape_of(b.program.functions[0]), "query branch b1 b2 | query jump b2 | give_back");
}

TEST(CleanBlocks, endless_loops_are_left_alone) {
  Builder b;
  const BlockId self = b.block();
  b.jump(self);
  b.at(self);
  b.jump(self);
  EXPECT_EQ(shape_after(b, clean_blocks), "jump b1 | jump b1");
}

TEST(CleanBlocks, a_turn_of_a_loop_keeps_its_way_back) {
  Builder b;
  const R x = b.query(Query::ktime);
  const BlockId head = b.block(), back = b.block(), end = b.block();
  b.jump(head);
  b.at(head);
  b.branch(x, Cond::eq, 0, back, end);
  b.at(back);
  b.jump(head);
  b.at(end);
  b.give_back();
  EXPECT_EQ(shape_after(b, clean_blocks), "query jump b1 | branch b1 b2 | give_back");
}

// ---- skip_known_tests

// Three questions whether a value is 7, 8 or 9 (b4, b5, b6). What handles one of them (b1, b2, b3) goes on at the next question, the last one at the end (b7).
struct Questions {
  Builder b;
  R x;
  BlockId handler[3], question[3];

  explicit Questions(Cond cond = Cond::eq) {
    x = b.query(Query::ktime);
    for (BlockId& h : handler) h = b.block();
    for (BlockId& q : question) q = b.block();
    const BlockId end = b.block();
    b.jump(question[0]);
    for (int n = 0; n < 3; n++) {
      const BlockId next = n < 2 ? question[n + 1] : end;
      b.at(question[n]);
      b.branch(x, cond, 7 + n, cond == Cond::eq ? handler[n] : next, cond == Cond::eq ? next : handler[n]);
      b.at(handler[n]);
      b.query(Query::cpu);
      b.jump(next);
    }
    b.at(end);
    b.give_back();
  }
};

TEST(SkipKnownTests, what_handles_one_number_does_not_ask_for_the_next) {
  Questions q;
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b7 | query jump b7 | query jump b7 | branch b1 b5 | branch b2 b6 | branch b3 b7 | give_back");
}

TEST(SkipKnownTests, also_where_the_other_way_knows_it) {
  Questions q(Cond::ne);
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b7 | query jump b7 | query jump b7 | branch b5 b1 | branch b6 b2 | branch b7 b3 | give_back");
}

TEST(SkipKnownTests, the_same_number_again_is_known) {
  Questions q;
  q.b.program.functions[0].blocks[q.question[2]].insts[0].b.value = 7;
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b3 | query jump b7 | query jump b7 | branch b1 b5 | branch b2 b6 | branch b3 b7 | give_back");
}

TEST(SkipKnownTests, questions_that_do_more_are_asked) {
  Questions q;
  auto& insts = q.b.program.functions[0].blocks[q.question[1]].insts;
  insts.insert(insts.begin(), Inst{.op = Op::query, .query = Query::cpu, .dst = q.b.reg().id});
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b5 | query jump b7 | query jump b7 | branch b1 b5 | query branch b2 b6 | branch b3 b7 | give_back");
}

TEST(SkipKnownTests, values_that_change_are_not_known) {
  Questions q;
  q.b.at(0);
  q.b.program.functions[0].blocks[0].insts.insert(q.b.program.functions[0].blocks[0].insts.begin() + 1, Inst{.op = Op::add, .dst = q.x.id, .a = q.x, .b = Operand::number(1)});
  EXPECT_FALSE(run(q.b, skip_known_tests));
}

TEST(SkipKnownTests, a_handler_with_two_ways_into_it_knows_nothing) {
  Questions q;
  q.b.program.functions[0].blocks[q.question[0]].insts[0].target = q.handler[1];
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b5 | query jump b6 | query jump b7 | branch b2 b5 | branch b2 b6 | branch b3 b7 | give_back");
}

TEST(SkipKnownTests, in_a_turn_it_is_what_it_was_before) {
  Questions q; // the second question leads back to the first handler
  q.b.program.functions[0].blocks[q.question[1]].insts[0].target = q.handler[0];
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query jump b4 | query jump b7 | query jump b6 | query jump b7 | branch b1 b5 | branch b1 b6 | branch b3 b7 | give_back");
}

TEST(SkipKnownTests, what_else_is_decided_in_between_does_not_matter) {
  Questions q;
  const R y = q.b.query(Query::cpu); // at the end: only for its register
  auto& blocks = q.b.program.functions[0].blocks;
  blocks[q.b.current()].insts.pop_back();
  blocks[0].insts.insert(blocks[0].insts.begin(), Inst{.op = Op::query, .query = Query::cpu, .dst = y.id});
  blocks[q.handler[0]].insts.back() = Inst{.op = Op::branch, .cond = Cond::eq, .a = y, .b = Operand::number(1), .target = q.question[1], .other = q.question[2]};
  EXPECT_EQ(shape_after(q.b, skip_known_tests), "query query jump b4 | query branch b7 b7 | query jump b7 | query jump b7 | branch b1 b5 | branch b2 b6 | branch b3 b7 | give_back");
}

// ---- reuse_queries

// A query in the entry, and another one of the same behind what `between` makes.
std::string asked_twice(Query query, const std::function<void(Builder&)>& between = [](Builder&) {}) {
  Builder b;
  b.query(query);
  between(b);
  b.query(query);
  b.give_back();
  return shape_after(b, reuse_queries);
}

TEST(ReuseQueries, all_but_two_stay_the_same_during_a_run) {
  for (int n = 0; n <= static_cast<int>(Query::user_registers); n++) {
    const Query q = static_cast<Query>(n);
    const bool changes = q == Query::random || q == Query::ktime_now;
    EXPECT_EQ(asked_twice(q), changes ? "query query give_back" : "query mov give_back") << to_string(q);
  }
}

TEST(ReuseQueries, different_queries_do_not_answer_each_other) {
  Builder b;
  for (const Query q : {Query::ktime, Query::ktime_boot, Query::ktime_tai, Query::pid_tgid, Query::namespace_pid_tgid}) b.query(q);
  b.give_back();
  EXPECT_FALSE(run(b, reuse_queries));
}

TEST(ReuseQueries, effects_between_do_not_matter) {
  EXPECT_EQ(asked_twice(Query::task, [](Builder& b) { b.emit(Op::count_fault).index = b.site(Fault::loop_limit); }),
            "query count_fault mov give_back");
}

TEST(ReuseQueries, neither_of_two_ways_answers_for_the_other_or_behind_them) {
  Builder b;
  const R x = b.query(Query::cpu);
  const BlockId yes = b.block(), no = b.block(), join = b.block();
  b.branch(x, Cond::eq, 0, yes, no);
  for (const BlockId way : {yes, no}) b.at(way), b.query(Query::ktime), b.jump(join);
  b.at(join);
  b.query(Query::ktime);
  b.give_back();
  EXPECT_EQ(shape_after(b, reuse_queries), "query branch b1 b2 | query jump b3 | query jump b3 | query give_back");
}

TEST(ReuseQueries, the_answer_before_a_loop_serves_its_turns_but_not_the_other_way_round) {
  Builder b;
  const R x = b.query(Query::cpu);
  const BlockId head = b.block(), turn = b.block(), end = b.block();
  b.jump(head);
  b.at(head);
  b.branch(x, Cond::eq, 0, turn, end);
  b.at(turn);
  b.query(Query::cpu);
  b.query(Query::jiffies);
  b.jump(head);
  b.at(end);
  b.query(Query::jiffies);
  b.give_back();
  EXPECT_EQ(shape_after(b, reuse_queries), "query jump b1 | branch b2 b3 | mov query jump b1 | query give_back");
}

// Where the current thread's value is.
std::string thread_value_twice(const std::function<void(Builder&, uint32_t map)>& between) {
  Builder b;
  const uint32_t map = b.map(MapKind::task, 0, 8);
  b.on_map(Op::map_find, map);
  between(b, map);
  b.on_map(Op::map_find, map);
  b.give_back();
  return shape_after(b, reuse_queries);
}

TEST(ReuseQueries, the_value_of_the_thread_is_where_it_was) {
  EXPECT_EQ(thread_value_twice([](Builder&, uint32_t) {}), "map_find mov give_back");
  EXPECT_EQ(thread_value_twice([](Builder& b, uint32_t) { b.on_map(Op::map_slot, b.map(MapKind::task, 0, 8)); }),
            "map_find map_slot mov give_back"); // of another map
}

TEST(ReuseQueries, the_value_of_the_thread_may_have_been_made) {
  EXPECT_EQ(thread_value_twice([](Builder& b, uint32_t map) { b.on_map(Op::map_slot, map); }), "map_find map_slot map_find give_back");
  EXPECT_EQ(thread_value_twice([](Builder& b, uint32_t) {
              b.function("f", Role::function), b.give_back();
              b.enter(0);
              b.value(Op::call), b.last().index = 1;
            }),
            "map_find call map_find give_back");
}

TEST(ReuseQueries, long_functions_keep_queries_only) {
  Builder b;
  const uint32_t map = b.map(MapKind::task, 0, 8);
  for (int n = 0; n < 2; n++) b.query(Query::ktime), b.on_map(Op::map_find, map);
  for (size_t n = 0; n < long_function; n++) b.emit(Op::count_fault).index = 0;
  b.site(Fault::loop_limit);
  b.give_back();
  EXPECT_TRUE(shape_after(b, reuse_queries).starts_with("query map_find mov map_find count_fault "));
}

// ---- reuse_lookups

// The same entry twice: `store` writes the key into a new object of 16 bytes; `between` stands between the look-ups.
using Store = std::function<void(Builder&, R object)>;
std::string looked_up_twice(const Store& first, const Store& second, const std::function<void(Builder&, uint32_t map)>& between = {},
                            MapKind kind = MapKind::hash) {
  Builder b;
  const uint32_t map = b.map(kind, 16, 8);
  const auto look_up = [&](const Store& store) {
    const R object = b.address(b.object(16));
    store(b, object);
    b.on_map(Op::map_find, map, object);
  };
  look_up(first);
  if (between) between(b, map);
  look_up(second);
  b.give_back();
  run(b, reuse_lookups);
  size_t copies = 0, finds = 0;
  for (const Inst& i : b.program.functions[0].blocks[0].insts) copies += i.op == Op::mov, finds += i.op == Op::map_find;
  return std::to_string(finds) + " found, " + std::to_string(copies) + " reused";
}
void store_one_and_two(Builder& b, R object) { b.store(object, 1), b.store(object, 2, 8); }
const std::string is_reused = "1 found, 1 reused", is_found_again = "2 found, 0 reused";

TEST(ReuseLookups, keys_are_the_same_by_what_they_hold) {
  EXPECT_EQ(looked_up_twice(store_one_and_two, store_one_and_two), is_reused);
  EXPECT_EQ(looked_up_twice(store_one_and_two, [](Builder& b, R o) { b.store(o, 2, 8), b.store(o, 1); }), is_reused); // in any order
  EXPECT_EQ(looked_up_twice(store_one_and_two, [](Builder& b, R o) { b.store(o, 1), b.store(o, 3, 8); }), is_found_again);
  EXPECT_EQ(looked_up_twice(store_one_and_two, [](Builder& b, R o) { b.store(o, 1); }), is_found_again); // not all of it
}

TEST(ReuseLookups, parts_of_a_key_have_their_size) {
  const auto with_size = [](uint8_t size) { return [size](Builder& b, R o) { b.store(o, 1, 0, size), b.store(o, 2, 8); }; };
  EXPECT_EQ(looked_up_twice(with_size(4), with_size(4)), is_reused);
  EXPECT_EQ(looked_up_twice(with_size(4), with_size(8)), is_found_again);
}

TEST(ReuseLookups, keys_that_are_written_another_way_are_not_known) {
  const auto twice = [](const Store& store) { return looked_up_twice(store, store); };
  EXPECT_EQ(twice([](Builder& b, R o) { b.store(o, 1, 0), b.store(o, 2, 4); }), is_found_again); // they overlap
  EXPECT_EQ(twice([](Builder& b, R o) { Inst& i = b.emit(Op::zero); i.a = Value(o), i.imm2 = 16; }), is_found_again);
  EXPECT_EQ(twice([](Builder& b, R o) { b.emit(Op::name).a = Value(o); }), is_found_again);
  EXPECT_EQ(twice([](Builder& b, R o) { b.store(o, o), b.store(o, 1, 8); }), is_found_again); // its address went elsewhere
}

TEST(ReuseLookups, keys_that_other_addresses_lead_to_are_not_known) {
  Builder b;
  const uint32_t map = b.map(MapKind::hash, 8, 8);
  for (int n = 0; n < 2; n++) {
    const uint32_t object = b.object(8);
    const R key = b.address(object);
    b.store(key, 1);
    b.store(b.address(object, 4), 7, 0, 4);
    b.on_map(Op::map_find, map, key);
  }
  b.give_back();
  EXPECT_FALSE(run(b, reuse_lookups));
}

TEST(ReuseLookups, whatever_may_make_or_remove_entries_ends_it) {
  const auto with = [](const std::function<void(Builder&, uint32_t)>& between) {
    return looked_up_twice(store_one_and_two, store_one_and_two, between);
  };
  const auto on_other_key = [&](Op op) {
    return with([op](Builder& b, uint32_t map) {
      const R key = b.address(b.object(16));
      b.store(key, 8), b.store(key, 9, 8);
      b.on_map(op, map, key, op == Op::map_store ? Value(key) : Value());
    });
  };
  for (const Op op : {Op::map_slot, Op::map_store, Op::map_remove}) EXPECT_EQ(on_other_key(op), is_found_again) << to_string(op);
  const auto elsewhere = [](Builder& b, uint32_t) { b.on_map(Op::map_remove, b.map(MapKind::hash, 8, 8), b.query(Query::ktime)); };
  EXPECT_EQ(with(elsewhere), is_reused);
  EXPECT_EQ(with([](Builder& b, uint32_t) {
              b.function("f", Role::function), b.give_back();
              b.enter(0);
              b.value(Op::call), b.last().index = 1;
            }),
            is_found_again);
}

TEST(ReuseLookups, of_all_kinds_with_keys) {
  for (const MapKind kind : {MapKind::hash, MapKind::percpu_hash, MapKind::lru_hash, MapKind::percpu_lru_hash})
    EXPECT_EQ(looked_up_twice(store_one_and_two, store_one_and_two, {}, kind), is_reused) << static_cast<int>(kind);
}

// With each the ways through the program would become twice as many.
TEST(ReuseLookups, of_a_few_entries_of_a_function) {
  Builder b;
  const uint32_t map = b.map(MapKind::hash, 8, 8);
  for (int64_t n = 0; n < 20; n++) {
    const R object = b.address(b.object(8));
    b.store(object, n % 10);
    b.on_map(Op::map_find, map, object);
  }
  b.give_back();
  EXPECT_TRUE(run(b, reuse_lookups));
  size_t finds = 0;
  for (const Inst& i : b.program.functions[0].blocks[0].insts) finds += i.op == Op::map_find;
  EXPECT_EQ(finds, 14u); // of 20, ten of which are asked for again
}

TEST(ReuseLookups, functions_with_loops_and_bodies_of_loops_are_left_alone) {
  for (const bool in_body : {false, true}) {
    Builder b;
    const uint32_t map = b.map(MapKind::hash, 8, 8), site = b.site(Fault::loop_limit);
    const uint32_t body = b.function("turn", Role::body, 1, 0);
    b.enter(in_body ? body : 0);
    for (int n = 0; n < 2; n++) {
      const R key = b.address(b.object(8));
      b.store(key, 1);
      b.on_map(Op::map_find, map, key);
    }
    b.enter(0);
    b.value(Op::loop, 2), b.last().index = body, b.last().imm = 2, b.last().imm2 = site;
    b.give_back();
    b.enter(body);
    b.give_back();
    EXPECT_FALSE(run(b, reuse_lookups, in_body ? body : 0)) << in_body;
  }
}

TEST(ReuseLookups, an_entry_found_on_one_way_only_is_looked_up_behind_it) {
  Builder b;
  const uint32_t map = b.map(MapKind::hash, 8, 8);
  const R x = b.query(Query::cpu);
  const auto look_up = [&] {
    const R key = b.address(b.object(8));
    b.store(key, 5);
    b.on_map(Op::map_find, map, key);
  };
  const BlockId yes = b.block(), join = b.block();
  b.branch(x, Cond::eq, 0, yes, join);
  b.at(yes);
  look_up();
  b.jump(join);
  b.at(join);
  look_up();
  b.give_back();
  EXPECT_FALSE(run(b, reuse_lookups));
}

// ---- remove_dead_code

TEST(RemoveDeadCode, what_only_computes_goes_with_all_it_was_computed_of) {
  Builder b;
  const R x = b.query(Query::ktime), y = b.value(Op::mul, x, 3);
  b.value(Op::number_of, b.value(Op::add, y, x));
  b.give_back();
  EXPECT_EQ(shape_after(b, remove_dead_code), "give_back");
}

TEST(RemoveDeadCode, every_removable_operation_goes_and_every_effect_stays) {
  for (const OpRow& r : op_rows) {
    if (!r.has_dst || r.op == Op::loop || r.op == Op::call || r.op == Op::borrow || r.op == Op::lend) continue;
    Builder b;
    b.program.kernel_symbols.resize(2), b.program.tables = {{1}}, b.program.speculations = 0;
    b.map(r.op == Op::map_slot ? MapKind::percpu_hash : MapKind::hash, 8, 8);
    const uint32_t action = b.action(0);
    const R o = b.address(b.object(64));
    b.store(o, 0);
    const auto operand = [&](uint8_t bit) { return r.reads & bit ? Value(o) : Value(); };
    Inst& i = b.emit_to(b.reg(), r.op, operand(in_a), operand(in_b), operand(in_c));
    i.imm2 = 8, i.index = 0, i.space = r.op == Op::read_string || r.op == Op::read_bytes ? Space::user : Space::script;
    if (r.op == Op::event) i.index = action;
    b.give_back();
    run(b, remove_dead_code);
    const auto& insts = b.program.functions[0].blocks[0].insts;
    EXPECT_NE(r.removable, r.has_effect) << r.name;
    ASSERT_EQ(insts.size(), r.removable ? 3u : 4u) << r.name;
    EXPECT_TRUE(r.removable || insts[2].dst == 0) << r.name; // nobody asks for its value
  }
}

TEST(RemoveDeadCode, assignments_that_another_overwrites_go_and_are_told) {
  Builder b;
  const R o = b.address(b.object(8)), r = b.reg();
  b.emit_to(r, Op::query).query = Query::ktime;
  b.emit_to(r, Op::query).query = Query::cpu;
  b.store(o, r);
  b.give_back();
  EXPECT_TRUE(run(b, remove_dead_code));
  EXPECT_EQ(shape_of(b.program.functions[0]), "object query store give_back");
  EXPECT_EQ(b.program.functions[0].blocks[0].insts[1].query, Query::cpu);
}

TEST(RemoveDeadCode, an_assignment_that_one_way_needs_stays) {
  Builder b;
  const R o = b.address(b.object(8)), x = b.query(Query::ktime), r = b.reg();
  const BlockId yes = b.block(), join = b.block();
  b.emit_to(r, Op::mov, 1);
  b.branch(x, Cond::eq, 0, yes, join);
  b.at(yes);
  b.emit_to(r, Op::mov, 2);
  b.jump(join);
  b.at(join);
  b.store(o, r);
  b.give_back();
  EXPECT_FALSE(run(b, remove_dead_code));
  EXPECT_EQ(shape_of(b.program.functions[0]), "object query mov branch b1 b2 | mov jump b2 | store give_back");
}

TEST(RemoveDeadCode, copies_of_what_was_just_computed_are_one_with_it) {
  Builder b;
  const R o = b.address(b.object(8)), copy = b.reg();
  const R x = b.query(Query::ktime);
  b.emit_to(copy, Op::mov, x);
  b.store(o, copy);
  b.give_back();
  EXPECT_EQ(shape_after(b, remove_dead_code), "object query store give_back");
  EXPECT_EQ(b.program.functions[0].blocks[0].insts[1].dst, copy.id);
}

TEST(RemoveDeadCode, copies_of_what_is_read_elsewhere_stay) {
  Builder b;
  const R o = b.address(b.object(16)), copy = b.reg();
  const R x = b.query(Query::ktime);
  b.emit_to(copy, Op::mov, x);
  b.store(o, copy);
  b.store(o, x, 8);
  b.give_back();
  EXPECT_EQ(shape_after(b, remove_dead_code), "object query mov store store give_back");
}

TEST(RemoveDeadCode, a_copy_of_itself_is_nothing) {
  Builder b;
  const R o = b.address(b.object(8)), r = b.reg();
  b.emit_to(r, Op::query).query = Query::ktime;
  b.emit_to(r, Op::mov, r);
  b.store(o, r);
  b.give_back();
  EXPECT_EQ(shape_after(b, remove_dead_code), "object query store give_back");
}

TEST(RemoveDeadCode, loads_that_may_fault_stay_without_their_value) {
  Builder b;
  const BlockId next = b.block();
  b.load(4096);
  b.last().space = Space::kernel, b.last().target = b.last().other = next;
  b.at(next);
  b.give_back();
  EXPECT_EQ(shape_after(b, remove_dead_code), "load b1 b1 | give_back");
  EXPECT_EQ(b.program.functions[0].blocks[0].insts[0].dst, 0u);
}

} // namespace
} // namespace ir
