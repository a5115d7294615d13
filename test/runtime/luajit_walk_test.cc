// Frames of LuaJIT in stopped programs, over memory made by hand.
#include "made_walk.h"
#include "runtime/luajit.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

constexpr uint64_t interpreter = 0x1000, interpreter_end = 0x5000, leave = 0x800, leave_bytes = 0x100, library = 0x8000, machine_code = 0x9000;
constexpr uint64_t state = 0x10000, dispatch = 0x20000, stack = 0x40000, objects = 0x50000, traces = 0x60000, trace = 0x61000, cframe = 0x90000;
constexpr uint64_t instructions = 8; // of each function
constexpr int32_t global_place = -0x500, state_place = 0x10, base_place = 0x18, number_place = 0x20, traces_place = 0x28;
// The outer function's base is two slots above that of the lowest frame; it calls the inner one with the second register.
constexpr uint64_t outer_base = stack + 32, inner_base = outer_base + 8 * (2 + 1);
constexpr uint64_t outer = objects, inner = objects + 0x1000; // prototypes

constexpr uint64_t first(uint64_t prototype) { return prototype + LUAJIT_PROTO_BYTES; } // its first instruction
constexpr uint64_t after(uint64_t prototype, uint64_t n) { return first(prototype) + 4 * n; }

// Two Lua functions in one activation: outer, at instruction 2, has called inner, at instruction 4.
struct Program : MadeMemory {
  language_table table = {.kind = LANGUAGE_LUAJIT};
  std::vector<unwind::Frame> frames;

  Program() {
    table.evaluation[0] = {interpreter, interpreter_end};
    table.luajit = {.global = global_place,
                    .state = state_place,
                    .jit_base = base_place,
                    .trace_number = number_place,
                    .traces = traces_place,
                    .leave = leave,
                    .leave_bytes = leave_bytes};
    fill();
  }
  void fill() {
    clear(state, LUAJIT_STATE_BYTES);
    word(state + LUAJIT_TYPE, LUAJIT_THREAD, 1);
    word(state + LUAJIT_STATE_GLOBAL, dispatch + static_cast<uint64_t>(int64_t{global_place}));
    word(state + LUAJIT_STATE_BASE, inner_base);
    word(state + LUAJIT_STATE_TOP_LIMIT, stack + 0x400);
    word(state + LUAJIT_STATE_STACK, stack);
    word(state + LUAJIT_STATE_CFRAME, cframe);
    clear(stack, 0x400);
    add_function(outer, outer_base, 16 | LUAJIT_FRAME_C);
    add_function(inner, inner_base, after(outer, 3));
    word(after(outer, 2), 1 << 8, 4); // a call with register 1
    clear(cframe, LUAJIT_CFRAME_BYTES);
    word(cframe + LUAJIT_CFRAME_STATE, state);
    word(cframe + LUAJIT_CFRAME_PC, after(inner, 5));
    word(dispatch + state_place, state);
    word(dispatch + base_place, 0);
  }
  void add_function(uint64_t prototype, uint64_t base, uint64_t link) {
    const uint64_t function = prototype + 0x800;
    clear(prototype, LUAJIT_PROTO_BYTES + 4 * (instructions + 1));
    word(prototype + LUAJIT_TYPE, LUAJIT_PROTO, 1);
    word(prototype + LUAJIT_PROTO_INSTRUCTIONS, instructions, 4);
    word(prototype + LUAJIT_PROTO_FIRST_LINE, prototype == outer ? 10 : 20, 4);
    clear(function, LUAJIT_FUNCTION_BYTES);
    word(function + LUAJIT_TYPE, LUAJIT_FUNCTION, 1);
    word(function + LUAJIT_FUNCTION_PC, first(prototype));
    word(base - 16, (~uint64_t{LUAJIT_FUNCTION} & 0x1ffff) << 47 | function);
    word(base - 8, link);
  }
  // A trace that begins at instruction 1 of outer runs.
  void run_trace() {
    word(dispatch + base_place, outer_base);
    word(dispatch + number_place, 3, 4);
    word(dispatch + traces_place, traces);
    word(traces + 8 * 3, trace);
    word(trace + LUAJIT_TRACE_START, after(outer, 1));
  }
  void add(const MadeFrame& frame) { frames.push_back(frame_of(frame)); }
  // The interpreter has called a function in C; it has its state in rbp.
  void add_call() {
    add({.pc = library, .is_exact = true});
    add({.pc = interpreter + 0x100, .rsp = cframe, .rbp = state});
  }
  unwind::Frame correct(const MadeFrame& made, bool has_table) const {
    unwind::Frame frame = frame_of(made);
    correct_luajit(table, read(), frame, has_table);
    return frame;
  }
  LanguageStack walk() const { return walk_luajit(table, {.thread_pointer = 0, .frames = frames}, read()); }
};

const std::vector<Found> both = {{inner, 4, true}, {outer, 2, false}};

TEST(LuaJitWalk, WhereItCallsC) {
  Program program;
  program.add_call();
  const LanguageStack found = program.walk();
  EXPECT_EQ(found.end, static_cast<uint32_t>(LANGUAGE_COMPLETE));
  EXPECT_EQ(found_in(found), both);
  ASSERT_EQ(found.objects.size(), 2u);
  const auto decoded = decode_luajit(found.objects[0], program.table, {});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->first_line, 20u);
}

// The interpreter has its base in rdx, and where it is in rbx; the state's and the C frame's are older. The same in a frame that a signal has
// interrupted.
TEST(LuaJitWalk, WhereItRuns) {
  Program program;
  program.word(state + LUAJIT_STATE_BASE, outer_base);
  program.word(cframe + LUAJIT_CFRAME_PC, after(outer, 1));
  program.add({.pc = interpreter + 0x100, .rsp = cframe, .is_exact = true, .others = {{ARCH_RDX, inner_base}, {ARCH_RBX, after(inner, 5)}}});
  EXPECT_EQ(found_in(program.walk()), both);
  program.frames.insert(program.frames.begin(), frame_of({.pc = library, .is_exact = true}));
  EXPECT_EQ(found_in(program.walk()), both);
}

TEST(LuaJitWalk, RegistersThatFitNoFrame) {
  Program program;
  program.word(state + LUAJIT_STATE_BASE, stack + 0x200);
  program.add({.pc = interpreter + 0x100, .rsp = cframe, .is_exact = true, .others = {{ARCH_RDX, 0x33}, {ARCH_RBX, after(inner, 5)}}});
  EXPECT_EQ(program.walk().end, static_cast<uint32_t>(LANGUAGE_UNREADABLE));
}

TEST(LuaJitWalk, AnActivationWithoutFunctions) {
  Program program;
  program.add({.pc = library, .is_exact = true});
  program.add({.pc = interpreter + 0x100, .rsp = cframe - 0x1000, .rbp = state});
  program.add({.pc = interpreter + 0x100, .rsp = cframe, .rbp = state});
  EXPECT_EQ(found_in(program.walk()), (std::vector<Found>{{0, 0, true}, both[0], both[1]}));
}

TEST(LuaJitWalk, ThreadsThatRunNone) {
  Program program;
  program.add({.pc = library, .is_exact = true});
  EXPECT_EQ(program.walk().end, static_cast<uint32_t>(LANGUAGE_NO_THREAD));
}

TEST(LuaJitWalk, Traces) {
  Program program;
  program.run_trace();
  const unwind::Frame frame = program.correct({.pc = machine_code, .rsp = cframe - 0x100, .is_exact = true, .others = {{ARCH_R14, dispatch}}}, false);
  EXPECT_EQ(frame.look_up(), interpreter);
  EXPECT_EQ(frame.registers.get(ARCH_RSP), cframe);
  EXPECT_FALSE(frame.is_exact);
  program.frames = {frame};
  EXPECT_EQ(found_in(program.walk()), (std::vector<Found>{{outer, 1, true}}));
  EXPECT_EQ(program.walk().end, static_cast<uint32_t>(LANGUAGE_COMPLETE));
}

TEST(LuaJitWalk, OtherCodeIsNoTrace) {
  Program program;
  const MadeFrame frame = {.pc = machine_code, .rsp = cframe - 0x100, .is_exact = true, .others = {{ARCH_R14, dispatch}}};
  EXPECT_EQ(program.correct(frame, false).look_up(), machine_code) << "no trace runs";
  program.run_trace();
  EXPECT_EQ(program.correct(frame, true).look_up(), machine_code) << "it has a table";
  MadeFrame other = frame;
  other.others = {{ARCH_R14, dispatch + 8}};
  EXPECT_EQ(program.correct(other, false).look_up(), machine_code) << "r14 is not what traces have there";
  other = frame;
  other.rsp = cframe + 8;
  EXPECT_EQ(program.correct(other, false).look_up(), machine_code) << "the C frame is not above";
  program.table.luajit = {};
  EXPECT_EQ(program.correct(frame, false).look_up(), machine_code) << "the runtime has no traces";
}

// Where its small functions run, and where it leaves a trace.
TEST(LuaJitWalk, PartsOfTheInterpreterWithAnotherStackPointer) {
  Program program;
  const std::map<unsigned, uint64_t> others = {{ARCH_R14, dispatch}};
  const auto rsp = [&](const MadeFrame& frame) { return program.correct(frame, true).registers.get(ARCH_RSP); };
  EXPECT_EQ(rsp({.pc = interpreter + 0x100, .rsp = cframe - 8, .is_exact = true, .others = others}), cframe);
  EXPECT_EQ(rsp({.pc = interpreter + 0x100, .rsp = cframe - 16, .is_exact = true, .others = others}), cframe - 16);
  EXPECT_EQ(rsp({.pc = interpreter + 0x100, .rsp = cframe - 8, .is_exact = false, .others = others}), cframe - 8);
  EXPECT_EQ(rsp({.pc = interpreter + leave + 8, .rsp = cframe - 0x200, .is_exact = true, .others = others}), cframe);
  EXPECT_EQ(rsp({.pc = interpreter + leave + 8, .rsp = cframe - 0x200, .is_exact = false, .others = others}), cframe);
  EXPECT_EQ(rsp({.pc = interpreter + leave + leave_bytes, .rsp = cframe - 0x200, .is_exact = true, .others = others}), cframe - 0x200);
}

TEST(LuaJitWalk, DamagedMemory) {
  Program program;
  program.add_call();
  const std::vector<uint64_t> addresses = program.addresses();
  std::mt19937 random(7);
  for (int i = 0; i < 5'000; i++) {
    program.damage(random, addresses, i % 2 == 0);
    EXPECT_LT(program.walk().end, static_cast<uint32_t>(LANGUAGE_ENDS));
    if (i % 4 == 3) program.fill();
  }
}

} // namespace
} // namespace runtime
