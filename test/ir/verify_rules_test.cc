// Rules of the verifier that verify_test.cc does not break: each is broken once here, next to a program that just keeps it.
#include "ir/builder.h"
#include "ir/passes.h"

#include <bit>
#include <gtest/gtest.h>

namespace ir {
namespace {

using Build = void (*)(Builder&);

std::vector<std::string> mistakes_of(Build build) {
  Builder b;
  build(b);
  b.enter(0, static_cast<BlockId>(b.program.functions[0].blocks.size() - 1));
  b.give_back();
  return verify(b.program);
}
// The only mistake holds this text. `give_back` of the last block of `main` is added.
void expect_refused(std::string_view because, Build build) {
  const auto mistakes = mistakes_of(build);
  ASSERT_EQ(mistakes.size(), 1u) << because << (mistakes.empty() ? "" : ", but " + mistakes[0]);
  EXPECT_NE(mistakes[0].find(because), std::string::npos) << mistakes[0];
}
void expect_accepted(Build build) { EXPECT_EQ(mistakes_of(build), std::vector<std::string>{}); }

R eight(Builder& b) { return b.address(b.object(8)); }
struct Two { // objects, in this order
  Two(Builder& b, uint32_t bytes, uint32_t more_bytes) : first(b.address(b.object(bytes))), second(b.address(b.object(more_bytes))) {}
  R first, second;
};
R sixteen(Builder& b) { return b.address(b.object(16)); }
// An instruction without value of these operands, over so many bytes.
Inst& over(Builder& b, Op op, uint32_t bytes, Value first, Value second = {}, Value third = {}) {
  Inst& i = b.emit(op);
  i.a = first, i.b = second, i.c = third, i.imm2 = bytes;
  return i;
}

TEST(VerifyRules, sizes_of_extensions_and_stores) {
  for (const Op op : {Op::zext, Op::sext, Op::bswap}) {
    Builder b;
    b.value(op, b.query(Query::ktime));
    b.last().size = 5;
    b.give_back();
    const auto mistakes = verify(b.program);
    ASSERT_EQ(mistakes.size(), 1u) << to_string(op);
    EXPECT_NE(mistakes[0].find("1, 2, 4 or 8, not 5"), std::string::npos);
  }
  expect_refused("1, 2, 4 or 8, not 0", [](Builder& b) { b.store(eight(b), 1, 0, 0); });
  expect_refused("1, 2, 4 or 8, not 16", [](Builder& b) { b.store(sixteen(b), 1, 0, 16); });
}

TEST(VerifyRules, records_are_held_back_in_a_map_of_speculations) {
  const Build hold = [](Builder& b) {
    b.map(MapKind::hash, 8, 64);
    const uint32_t action = b.action(0);
    over(b, Op::hold, 8, sixteen(b)).index = action;
  };
  expect_refused("there is no map of speculations", hold);
  expect_accepted([](Builder& b) {
    b.program.speculations = 0;
    b.map(MapKind::hash, 8, 64);
    const uint32_t action = b.action(0);
    over(b, Op::hold, 8, sixteen(b)).index = action;
  });
  expect_refused("bytes 9 to 17", [](Builder& b) { over(b, Op::exchange, 0, sixteen(b), 1, 2).imm = 9; });
}

TEST(VerifyRules, what_is_added_to_has_eight_bytes_of_its_object) {
  expect_accepted([](Builder& b) { over(b, Op::add_memory, 0, sixteen(b), 1).imm = 8; });
  expect_refused("bytes 9 to 17", [](Builder& b) { over(b, Op::add_memory, 0, sixteen(b), 1).imm = 9; });
  expect_refused("only 8 bytes can be added to", [](Builder& b) { over(b, Op::add_memory, 0, sixteen(b), 1).size = 4; });
}

TEST(VerifyRules, copies_stay_inside_both_objects) {
  static constexpr auto copy = [](Builder& b, uint32_t bytes, const Two& two) -> Inst& {
    return over(b, Op::copy, bytes, two.first, two.second);
  };
  expect_accepted([](Builder& b) { copy(b, 8, {b, 8, 16}).imm3 = 8; });
  expect_refused("bytes 0 to 16 are not inside object o0", [](Builder& b) { copy(b, 16, {b, 8, 16}); });
  expect_refused("bytes 0 to 16 are not inside object o1", [](Builder& b) { copy(b, 16, {b, 16, 8}); });
  expect_refused("bytes -1 to 7 are not inside object o1", [](Builder& b) { copy(b, 8, {b, 8, 16}).imm3 = -1; });
  expect_refused("a length of 0 bytes", [](Builder& b) { copy(b, 0, {b, 8, 8}); });
}

TEST(VerifyRules, zeros_and_comparisons_stay_inside) {
  static constexpr auto compare = [](Builder& b, uint32_t bytes, const Two& two) {
    b.value(Op::equal, two.first, two.second);
    b.last().imm2 = bytes;
  };
  expect_accepted([](Builder& b) { over(b, Op::zero, 8, eight(b)); });
  expect_refused("bytes 4 to 12", [](Builder& b) { over(b, Op::zero, 8, eight(b)).imm = 4; });
  expect_refused("a length of 2147483648 bytes", [](Builder& b) { over(b, Op::zero, 1u << 31, eight(b)); });
  expect_accepted([](Builder& b) { compare(b, 8, {b, 8, 16}); });
  expect_refused("bytes 0 to 9 are not inside object o0", [](Builder& b) { compare(b, 9, {b, 8, 16}); });
  expect_refused("bytes 0 to 9 are not inside object o1", [](Builder& b) { compare(b, 9, {b, 16, 8}); });
}

TEST(VerifyRules, names_and_paths_have_room) {
  expect_accepted([](Builder& b) { b.value(Op::task_name, sixteen(b), 1); });
  expect_refused("bytes 0 to 16", [](Builder& b) { b.value(Op::task_name, eight(b), 1); });
  expect_accepted([](Builder& b) { b.value(Op::path, sixteen(b), b.query(Query::task)), b.last().imm2 = 16; });
  expect_refused("bytes 0 to 17", [](Builder& b) { b.value(Op::path, sixteen(b), b.query(Query::task)), b.last().imm2 = 17; });
  expect_refused("a length of 0 bytes", [](Builder& b) { b.value(Op::path, sixteen(b), b.query(Query::task)); });
}

TEST(VerifyRules, reads_have_room_and_a_space) {
  static constexpr auto read = [](Builder& b, Op op, Space space, uint32_t bytes) {
    Inst& i = over(b, op, bytes, sixteen(b), 4096, op == Op::read_bytes ? Value(5) : Value());
    i.space = space;
  };
  expect_accepted([](Builder& b) { read(b, Op::read, Space::user, 16); });
  expect_accepted([](Builder& b) { read(b, Op::read_string, Space::script, 16); });
  expect_accepted([](Builder& b) { read(b, Op::read_bytes, Space::script, 16); });
  expect_refused("kernel or user memory only", [](Builder& b) { read(b, Op::read, Space::script, 16); });
  expect_refused("kernel or user memory only", [](Builder& b) { read(b, Op::read_string, Space::context, 16); });
  expect_refused("kernel or user memory only", [](Builder& b) { read(b, Op::read_bytes, Space::task, 16); });
  expect_refused("bytes 0 to 17", [](Builder& b) { read(b, Op::read, Space::kernel, 17); });
  expect_refused("bytes 0 to 17", [](Builder& b) { read(b, Op::read_string, Space::kernel, 17); });
  expect_refused("bytes 0 to 17", [](Builder& b) { read(b, Op::read_bytes, Space::kernel, 17); });
  expect_refused("a length of 0 bytes", [](Builder& b) { read(b, Op::read, Space::kernel, 0); });
}

TEST(VerifyRules, loads_of_contexts_and_addresses) {
  static constexpr auto load = [](Builder& b, Space space, Value base, int64_t offset) { b.load(base, offset), b.last().space = space; };
  expect_accepted([](Builder& b) { load(b, Space::context, {}, 8); });
  expect_refused("it reads before the context", [](Builder& b) { load(b, Space::context, {}, -8); });
  expect_refused("operand a is missing", [](Builder& b) { load(b, Space::user, {}, 8); });
  expect_refused("operand a is missing", [](Builder& b) { load(b, Space::task, {}, 8); });
}

// With a fault edge it goes through a pointer that the script made, whatever that is.
TEST(VerifyRules, loads_with_a_fault_edge_may_go_anywhere) {
  expect_accepted([](Builder& b) {
    const R at = eight(b);
    const BlockId next = b.block();
    b.load(at, 800);
    b.last().target = b.last().other = next;
    b.at(next);
  });
}

TEST(VerifyRules, registers_that_are_set_twice_are_not_taken_for_an_object) {
  expect_accepted([](Builder& b) {
    const uint32_t small = b.object(8), large = b.object(64);
    const R at = b.reg();
    b.emit_to(at, Op::object).index = small;
    b.emit_to(at, Op::object).index = large;
    b.store(at, 1, 56);
  });
}

TEST(VerifyRules, objects_end_at_their_end) {
  expect_accepted([](Builder& b) { b.address(b.object(8), 8); });
  expect_refused("outside its object", [](Builder& b) { b.address(b.object(8), -1); });
}

TEST(VerifyRules, effects_on_what_is_traced) {
  expect_accepted([](Builder& b) { b.value(Op::signal, 9), b.last().index = 1; });
  expect_refused("the process (0) or the thread (1)", [](Builder& b) { b.value(Op::signal, 9), b.last().index = 2; });
  expect_accepted([](Builder& b) { b.value(Op::write_user, 4096, eight(b)), b.last().imm2 = 8; });
  expect_refused("bytes 0 to 9", [](Builder& b) { b.value(Op::write_user, 4096, eight(b)), b.last().imm2 = 9; });
  expect_refused("a length of 0 bytes", [](Builder& b) { b.value(Op::write_user, 4096, eight(b)); });
}

TEST(VerifyRules, symbols_of_the_kernel_exist) {
  static constexpr auto variable = [](Builder& b, uint32_t index) {
    b.program.kernel_symbols.resize(1);
    b.value(Op::cpu_variable), b.last().index = index;
  };
  expect_accepted([](Builder& b) { variable(b, 0); });
  expect_refused("kernel symbol 1 does not exist", [](Builder& b) { variable(b, 1); });
}

TEST(VerifyRules, prints_have_their_format_and_whole_values) {
  static constexpr auto print = [](Builder& b, uint32_t format, int32_t values) {
    const R file = b.query(Query::task), text = eight(b), numbers = sixteen(b);
    b.value(Op::print, file, text, values ? Value(numbers) : Value());
    b.last().imm2 = format, b.last().imm3 = values;
  };
  expect_accepted([](Builder& b) { print(b, 8, 16); });
  expect_accepted([](Builder& b) { print(b, 8, 0); });
  expect_refused("bytes 0 to 9 are not inside object o0", [](Builder& b) { print(b, 9, 0); });
  expect_refused("bytes 0 to 24 are not inside object o1", [](Builder& b) { print(b, 8, 24); });
  expect_refused("its values have 8 bytes each", [](Builder& b) { print(b, 8, 12); });
  expect_refused("its values have 8 bytes each", [](Builder& b) { print(b, 8, -8); });
}

TEST(VerifyRules, packets_have_an_action_and_a_head) {
  static constexpr auto packet = [](Builder& b, uint32_t action, uint32_t head) {
    b.value(Op::packet, b.query(Query::task), 64, sixteen(b));
    b.last().index = action, b.last().imm2 = head;
  };
  expect_accepted([](Builder& b) { b.action(2), packet(b, 0, 16); });
  expect_refused("action 1 does not exist", [](Builder& b) { b.action(2), packet(b, 1, 16); });
  expect_refused("bytes 0 to 24", [](Builder& b) { b.action(2), packet(b, 0, 24); });
}

TEST(VerifyRules, stacks_have_frames) {
  expect_accepted([](Builder& b) { b.value(Op::stack), b.last().imm2 = 1; });
  expect_refused("at least one frame", [](Builder& b) { b.value(Op::stack); });
}

TEST(VerifyRules, values_and_words_of_maps) {
  static constexpr auto store = [](Builder& b, MapKind kind, const Two& two) {
    b.on_map(Op::map_store, b.map(kind, 8, 16), two.first, two.second);
  };
  expect_accepted([](Builder& b) { store(b, MapKind::hash, {b, 8, 16}); });
  expect_refused("bytes 0 to 16 are not inside object o1", [](Builder& b) { store(b, MapKind::hash, {b, 8, 8}); });
  expect_refused("has no single value to store", [](Builder& b) { store(b, MapKind::percpu_hash, {b, 8, 16}); });
  expect_accepted([](Builder& b) { b.on_map(Op::map_slot, b.map(MapKind::percpu_hash, 8, 16), eight(b), 1); });
  expect_refused("words of @m0 have no slots", [](Builder& b) { b.on_map(Op::map_slot, b.map(MapKind::hash, 8, 16), eight(b), 1); });
  expect_accepted([](Builder& b) { b.on_map(Op::map_find, b.map(MapKind::task, 0, 8)); }); // its key is the thread
  expect_refused("the key of @m0 is missing", [](Builder& b) { b.on_map(Op::map_remove, b.map(MapKind::lru_hash, 8, 8)); });
}

TEST(VerifyRules, flags_of_values_are_words_of_them) {
  expect_accepted([](Builder& b) { b.map(MapKind::array, 0, 16, 1, 8); });
  expect_refused("flag stands outside", [](Builder& b) { b.map(MapKind::array, 0, 16, 1, 4); });
  expect_refused("values have a multiple of 8", [](Builder& b) { b.map(MapKind::array, 0, 0); });
  expect_refused("keys have a multiple of 8", [](Builder& b) { b.map(MapKind::hash, 12, 8); });
}

TEST(VerifyRules, calls_lead_somewhere) {
  expect_refused("function 5 does not exist", [](Builder& b) { b.value(Op::call), b.last().index = 5; });
  expect_refused("function 5 does not exist", [](Builder& b) { b.site(Fault::loop_limit), b.value(Op::loop, 1), b.last().index = 5; });
  expect_refused("function 5 does not exist", [](Builder& b) { b.map(MapKind::hash, 8, 8), b.emit(Op::for_each).imm = 5; });
}

// A body of `parent`, complete.
uint32_t body(Builder& b, uint32_t parameters, uint32_t parent = 0) {
  const uint32_t f = b.function("turn", Role::body, parameters, parent);
  b.give_back();
  b.enter(0);
  return f;
}
void loop(Builder& b, uint32_t function, int64_t limit = 10) {
  b.site(Fault::loop_limit);
  b.value(Op::loop, 3);
  b.last().index = function, b.last().imm = limit;
}

TEST(VerifyRules, loops_have_a_limit_and_a_body_of_their_own) {
  expect_accepted([](Builder& b) { loop(b, body(b, 1)); });
  expect_accepted([](Builder& b) { loop(b, body(b, 1), 0); });
  expect_refused("its limit is negative", [](Builder& b) { loop(b, body(b, 1), -1); });
  expect_refused("turn is the body of another function's loop", [](Builder& b) {
    const uint32_t other = b.function("other", Role::function);
    b.give_back();
    loop(b, body(b, 1, other));
  });
  expect_refused("map 0 does not exist", [](Builder& b) { const uint32_t f = body(b, 2); b.emit(Op::for_each).imm = f; });
}

TEST(VerifyRules, parameters_of_each_role) {
  expect_refused("a function has at most 5 parameters, not 6", [](Builder& b) { b.function("f", Role::function, 6), b.give_back(); });
  expect_refused("a body has 1 or 2 parameters, not 3", [](Builder& b) { body(b, 3); });
  expect_refused("a body has 1 or 2 parameters, not 0", [](Builder& b) { body(b, 0); });
  expect_refused("its parameters are not counted among its registers", [](Builder& b) {
    b.function("f", Role::function, 2), b.give_back();
    b.now().registers = 2;
  });
  expect_accepted([](Builder& b) { b.function("f", Role::function, 5), b.give_back(Value(R{5})); });
}

TEST(VerifyRules, bodies_stand_in_another_function) {
  for (const uint32_t parent : {7u, 1u}) {
    Builder b;
    b.give_back();
    body(b, 1);
    b.program.functions[1].parent = parent;
    const auto mistakes = verify(b.program);
    ASSERT_EQ(mistakes.size(), 1u) << parent;
    EXPECT_NE(mistakes[0].find("needs the function it stands in as its parent"), std::string::npos) << mistakes[0];
  }
}

TEST(VerifyRules, every_edge_keeps_away_from_the_entry) {
  expect_refused("it goes to the entry, which has no predecessors", [](Builder& b) {
    const R x = b.query(Query::cpu);
    const BlockId next = b.block(), last = b.block();
    b.jump(next);
    b.at(next);
    b.branch(x, Cond::eq, 1, last, 0);
  });
  expect_refused("a target does not exist", [](Builder& b) {
    const R x = b.query(Query::cpu);
    const BlockId next = b.block();
    b.branch(x, Cond::eq, 1, next, no_block);
  });
}

TEST(VerifyRules, actions_and_probes_refer_to_what_is_there) {
  expect_refused("action 0: map 3 does not exist", [](Builder& b) { b.program.actions.push_back({.kind = ActionKind::clear, .map = 3}); });
  expect_accepted([](Builder& b) { b.program.actions.push_back({.kind = ActionKind::time, .map = 3}); }); // it has none
  expect_refused("action 0: only join has items", [](Builder& b) { b.program.actions.push_back({.kind = ActionKind::exit, .items = 1}); });
  expect_accepted([](Builder& b) { b.program.actions.push_back({.kind = ActionKind::join, .items = 1, .string_size = 8}); });
  expect_refused("probe main: its function does not exist", [](Builder& b) { b.program.probes[b.probe()].function = 9; });
  expect_refused("probe main: event 0 does not exist", [](Builder& b) { b.program.probes[b.probe()].events = {0}; });
}

TEST(VerifyRules, each_part_of_a_loop_sets_what_it_reads_in_its_turn) {
  static constexpr auto around = [](Builder& b, bool sets_before) {
    const R x = b.query(Query::cpu), sum = b.reg();
    const BlockId head = b.block(), turn = b.block(), end = b.block();
    if (sets_before) b.emit_to(sum, Op::mov, 0);
    b.jump(head);
    b.at(head);
    b.branch(x, Cond::eq, 0, turn, end);
    b.at(turn);
    b.emit_to(sum, Op::add, sum, 1);
    b.jump(head);
  };
  expect_accepted([](Builder& b) { around(b, true); });
  expect_refused("register %2 may be read before it is set", [](Builder& b) { around(b, false); });
}

TEST(VerifyRules, blocks_that_nothing_leads_to_may_read_anything) {
  expect_accepted([](Builder& b) {
    const R never = b.reg();
    const BlockId unreached = b.block(), end = b.block();
    b.jump(end);
    b.at(unreached);
    b.emit_to(never, Op::add, never, 1);
    b.jump(end);
  });
}

TEST(VerifyRules, one_function_is_verified_alone) {
  Builder b;
  b.give_back();
  b.function("bad", Role::function);
  b.value(Op::add, 1);
  b.give_back();
  EXPECT_TRUE(verify_function(b.program, 0).empty());
  ASSERT_EQ(verify_function(b.program, 1).size(), 1u);
  EXPECT_TRUE(verify_function(b.program, 1)[0].starts_with("function bad, b0, `")) << verify_function(b.program, 1)[0];
}

// How often `verify` says `what` of an operand of this one instruction.
size_t operands_said(const Inst& inst, const std::string& before, const std::string& behind) {
  Builder b;
  b.now().registers = 2;
  b.now().blocks[0].insts.push_back(inst);
  size_t n = 0;
  for (const std::string& m : verify(b.program))
    for (const char* name : {"a", "b", "c", "d", "e"}) n += m.ends_with(": " + before + name + behind);
  return n;
}

TEST(VerifyRules, operands_of_every_operation) {
  for (const OpRow& r : op_rows) {
    Inst bare{.op = r.op};
    if (r.has_dst) bare.dst = 1;
    Inst full = bare;
    for (Operand* o : {&full.a, &full.b, &full.c, &full.d, &full.e}) *o = Operand::number(1);
    EXPECT_EQ(operands_said(full, "it has no operand ", ""), 5u - static_cast<size_t>(std::popcount(r.reads))) << r.name;
    const size_t must = static_cast<size_t>(std::popcount(static_cast<unsigned>(r.reads & ~r.optional)));
    const bool is_load = r.op == Op::load; // outside of contexts it has an address
    EXPECT_EQ(operands_said(bare, "operand ", " is missing"), must + is_load) << r.name;
  }
}

} // namespace
} // namespace ir
