// Frames of Lua in stopped programs, over memory made by hand.
#include "made_walk.h"
#include "runtime/lua.h"
#include "runtime/lua_layouts.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

constexpr uint64_t execute = 0x1000, execute_end = 0x2000, library = 0x5000; // code
constexpr uint64_t state = 0x10000, other_state = 0x12000, calls = 0x20000, other_calls = 0x28000, objects = 0x40000, stack = 0x80000;
constexpr uint64_t instructions = 8;      // of each function
constexpr uint64_t plain_call = LUA_CALL; // an instruction

// A call in a list, the innermost first. Lua functions have numbers from 1 on; 0: a function in C. `pc`: instructions that were carried out.
struct Call {
  uint64_t function = 0, pc = 3;
  bool is_fresh = false; // luaV_execute began with it
};

uint64_t prototype(uint64_t function) { return objects + function * 0x1000; }
uint64_t code(uint64_t function) { return prototype(function) + 0x400; }

// Where luaV_execute has its state.
enum class Where : uint8_t { rbp, caller };

struct Program : MadeMemory {
  language_table table = {.kind = LANGUAGE_LUA};
  std::vector<unwind::Frame> frames;

  Program(const lua_layout& layout, Where where) {
    table.evaluation[0] = {execute, execute_end};
    table.lua = layout;
    table.lua.state_is_in_rbp = where == Where::rbp;
    if (where == Where::caller) {
      table.lua.sites = 2;
      table.lua.site[0] = {.address = 0x111, .slot = -16};
      table.lua.site[1] = {.address = library - execute, .slot = 24};
    }
  }
  const lua_layout& l() const { return table.lua; }

  void function(uint64_t number) {
    const uint64_t proto = prototype(number);
    clear(proto, 0x300);
    word(proto + LUA_TYPE, l().proto_type, 1);
    word(proto + l().proto_instructions, instructions, 4);
    word(proto + l().proto_code, code(number));
    word(proto + l().proto_first_line, 10 * number, 4);
    for (uint64_t i = 0; i < instructions; i++) word(code(number) + 4 * i, plain_call, 4);
  }
  // A lua_State with its calls. In 5.1 they are an array; a call whose callee is fresh is then at an instruction that is no call.
  void add_state(uint64_t at, uint64_t list, const std::vector<Call>& its) {
    clear(at, 0x100);
    word(at + LUA_TYPE, LUA_THREAD, 1);
    word(at + l().state_global, 0x1234);
    const bool is_linked = l().call_previous != 0;
    const auto place = [&](size_t i) { return list + (is_linked ? i * 0x100 : (its.size() - i) * l().call_bytes); };
    const uint64_t outermost = is_linked ? at + l().state_first_call : list;
    if (!is_linked) word(at + l().state_first_call, list);
    word(at + l().state_call, its.empty() ? outermost : place(0));
    for (size_t i = 0; i < its.size(); i++) {
      const uint64_t call = place(i), slot = stack + list + 0x100 * i, closure = slot + 0x1000000;
      clear(call, l().call_bytes);
      word(call + l().call_function, slot);
      word(slot, closure);
      word(slot + 8, its[i].function ? l().closure_tag : 0x7f);
      if (is_linked) word(call + l().call_previous, i + 1 < its.size() ? place(i + 1) : outermost);
      if (!its[i].function) continue;
      function(its[i].function);
      clear(closure, 64);
      word(closure + LUA_TYPE, l().closure_type, 1);
      word(closure + l().closure_proto, prototype(its[i].function));
      const uint64_t pc = code(its[i].function) + 4 * its[i].pc;
      word(call + l().call_pc, pc);
      if (i == 0 && l().state_pc) word(at + l().state_pc, pc);
      if (l().is_fresh) word(call + l().call_status, its[i].is_fresh ? l().is_fresh : 0, 2);
      if (l().continues) word(call + l().call_status, its[i].is_fresh ? 0 : l().continues, 2);
      if (!is_linked && i && its[i - 1].is_fresh) word(pc - 4, 0, 4);
    }
  }
  // luaV_execute with a state.
  MadeFrame execution(uint64_t its_state) {
    const uint64_t cfa = 0x900000 + 0x100 * (1 + frames.size());
    if (!l().state_is_in_rbp) {
      word(cfa - 8, library);
      word(cfa + 24, its_state);
    }
    return {.pc = execute + 0x80, .rsp = cfa - 0x80, .rbp = its_state, .cfa = cfa};
  }
  void add(const MadeFrame& frame) { frames.push_back(frame_of(frame)); }
  LanguageStack walk() const { return walk_lua(table, {.thread_pointer = 0, .frames = frames}, read()); }
};

class LuaWalk : public testing::TestWithParam<std::tuple<size_t, Where>> {
protected:
  Program program{lua_layouts[std::get<0>(GetParam())], std::get<1>(GetParam())};
  // The frame of an instruction that has been carried out `pc` instructions after the beginning.
  static Found at(uint64_t function, uint64_t pc, bool is_first = false) { return {prototype(function), pc - 1, is_first}; }
};

TEST_P(LuaWalk, FunctionsOfAnActivation) {
  program.add_state(state, calls, {{.function = 0}, {.function = 1, .pc = 5}, {.function = 2}, {.function = 3, .is_fresh = true}});
  program.add({.pc = library});
  program.add(program.execution(state));
  program.add({.pc = library + 8});
  const LanguageStack found = program.walk();
  EXPECT_EQ(found.end, static_cast<uint32_t>(LANGUAGE_COMPLETE));
  EXPECT_EQ(found_in(found), (std::vector{at(1, 5, true), at(2, 3), at(3, 3)}));
  ASSERT_EQ(found.objects.size(), 3u);
  const auto decoded = decode_lua(found.objects[1], program.table, {});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->first_line, 20u);
}

TEST_P(LuaWalk, ActivationsOfAState) {
  program.add_state(state, calls, {{.function = 1, .is_fresh = true}, {.function = 0}, {.function = 2}, {.function = 3, .is_fresh = true}});
  for (int i = 0; i < 2; i++) {
    program.add(program.execution(state));
    program.add({.pc = library});
  }
  const LanguageStack found = program.walk();
  EXPECT_EQ(found.end, static_cast<uint32_t>(LANGUAGE_COMPLETE));
  EXPECT_EQ(found_in(found), (std::vector{at(1, 3, true), at(2, 3, true), at(3, 3)}));
}

TEST_P(LuaWalk, ActivationsOfSeveralStates) {
  program.add_state(state, calls, {{.function = 1, .is_fresh = true}});
  program.add_state(other_state, other_calls, {{.function = 0}, {.function = 2, .is_fresh = true}});
  program.add(program.execution(state));
  program.add(program.execution(other_state));
  EXPECT_EQ(found_in(program.walk()), (std::vector{at(1, 3, true), at(2, 3, true)}));
}

TEST_P(LuaWalk, AnActivationWithoutFunctions) {
  program.add_state(state, calls, {});
  program.add_state(other_state, other_calls, {{.function = 2, .is_fresh = true}});
  program.add(program.execution(state));
  program.add(program.execution(other_state));
  const LanguageStack found = program.walk();
  EXPECT_EQ(found_in(found), (std::vector{Found{0, 0, true}, at(2, 3, true)}));
  EXPECT_EQ(found.objects.size(), 1u);
}

// While luaV_execute itself runs, 5.1 and 5.4 have the place in a register only, also in a frame that a signal has interrupted.
TEST_P(LuaWalk, RegistersOfTheInnermostActivation) {
  const bool by_register = program.l().version == 501 || program.l().version == 504;
  program.add_state(state, calls, {{.function = 1, .is_fresh = true}});
  MadeFrame running = program.execution(state);
  running.is_exact = true;
  running.others = {{ARCH_R12, code(1) + 4 * 6}, {ARCH_RBX, 0x777}};
  program.add(running);
  EXPECT_EQ(found_in(program.walk()), (std::vector{at(1, by_register ? 6 : 3, true)}));

  program.frames.insert(program.frames.begin(), frame_of({.pc = library, .is_exact = true}));
  EXPECT_EQ(found_in(program.walk()), (std::vector{at(1, by_register ? 6 : 3, true)}));
}

TEST_P(LuaWalk, ThreadsThatRunNone) {
  program.add_state(state, calls, {{.function = 1, .is_fresh = true}});
  EXPECT_EQ(program.walk().end, static_cast<uint32_t>(LANGUAGE_NO_THREAD));
  program.add({.pc = library});
  program.add({.pc = execute}); // the address behind a call before luaV_execute
  EXPECT_EQ(program.walk().end, static_cast<uint32_t>(LANGUAGE_NO_THREAD));
  EXPECT_TRUE(program.walk().words.empty());
}

TEST_P(LuaWalk, MoreActivationsThanAreKept) {
  program.add_state(state, calls, {{.function = 1, .is_fresh = true}});
  program.add_state(other_state, other_calls, {{.function = 2, .is_fresh = true}});
  for (int i = 0; i < LANGUAGE_MAX_EVALUATIONS; i++) program.add(program.execution(state));
  program.add(program.execution(other_state));
  const std::vector<Found> found = found_in(program.walk());
  EXPECT_EQ(found.front(), at(1, 3, true));
  EXPECT_EQ(std::ranges::count(found, prototype(2), &Found::code), 0);
}

TEST_P(LuaWalk, DamagedMemory) {
  const auto fill = [&] {
    program.add_state(state, calls, {{.function = 1}, {.function = 2, .is_fresh = true}, {.function = 0}, {.function = 3, .is_fresh = true}});
  };
  fill();
  for (int i = 0; i < 2; i++) program.add(program.execution(state));
  const std::vector<uint64_t> addresses = program.addresses();
  std::mt19937 random(7);
  for (int i = 0; i < 1'000; i++) {
    program.damage(random, addresses, i % 2 == 0);
    EXPECT_LT(program.walk().end, static_cast<uint32_t>(LANGUAGE_ENDS));
    if (i % 4 == 3) {
      program.clear(state, 0x100);
      fill();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, LuaWalk, testing::Combine(testing::Range(size_t{0}, std::size(lua_layouts)), testing::Values(Where::rbp, Where::caller)));

} // namespace
} // namespace runtime
