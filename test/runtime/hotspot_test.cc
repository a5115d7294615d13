// HotSpot: its compressed numbers, frames of made-up code heaps, names, debug information, stacks as they are shown.
#include "runtime/hotspot.h"

#include "runtime/hotspot_code.h"
#include "runtime/hotspot_stream.h"
#include "runtime/hotspot_structs.h"
#include "spec/stack_entries.h"

#include "made_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

using namespace std::literals;

constexpr uint64_t heap = 0x7f0000000000, segments = 0x7e0000000000, stack = 0x7fff00000000, methods = 0x600000, symbols = 0x700000;
constexpr uint64_t interpreter = heap + 0x10000, call_stub = heap + 0x20000, code_bytes = 0x400, in_cpp = 0x400000;
constexpr uint64_t blob_bytes = 0x100, frame_words = 6;

hotspot_layout made_layout() {
  hotspot_layout l = {};
  l.begin = heap, l.end = heap + 0x100000;
  l.interpreter_begin = interpreter, l.interpreter_end = interpreter + 0x1000;
  l.call_stub = call_stub;
  l.heaps[0] = {l.begin, l.end, segments};
  l.version = 17, l.segment_shift = 7, l.block_header = 16;
  l.blob_name = 96, l.blob_size = 12, l.blob_header_size = 16, l.blob_frame_complete = 20, l.blob_frame_size = 28;
  l.blob_code_begin = 32, l.blob_code_end = 40, l.compiled_bytes = blob_bytes;
  l.compiled_method = 112, l.compiled_scopes = 120, l.compiled_deopt = 128, l.compiled_deopt_call = 136;
  l.compiled_original_pc = 144, l.compiled_id = 148, l.compiled_metadata = 152, l.compiled_descriptors = 156, l.compiled_descriptors_end = 160;
  l.method_const = 8, l.method_flags = 50, l.method_hidden = 8, l.const_bytes = 48;
  l.const_pool = 8, l.const_size = 24, l.const_flags = 28, l.const_code_size = 32, l.const_name = 34, l.const_signature = 36, l.const_has_lines = 1;
  l.pool_bytes = 72, l.pool_holder = 24, l.pool_file = 54, l.class_name = 24, l.symbol_length = 4, l.symbol_body = 6;
  return l;
}

// A JVM of two methods, of which the first is compiled with the second inlined.
class Program : public MadeMemory {
public:
  Program() {
    table.kind = LANGUAGE_JAVA;
    table.hotspot = made_layout();
    clear(stack, 0x1000);
    add_method(0, "run", "(I[Ljava/lang/String;)V", "\x0a\x0b\x00"sv); // position 1, line 2; position 2, line 5
    add_method(1, "small", "()I", "\xff\x28\x50\x00"sv);               // position 20, line 40
    add_blob();
  }
  language_table table;

  static uint64_t method(uint64_t n) { return methods + n * 0x1000; }
  static uint64_t constants(uint64_t n) { return method(n) + 0x100; }
  static constexpr uint64_t blob = heap + 16 * 128 + 16, code = blob + blob_bytes;

  void symbol(uint64_t address, std::string_view text) {
    clear(address, 0x1000); // pages are there or not
    word(address + 4, text.size(), 2);
    for (size_t i = 0; i < text.size(); i++) word(address + 6 + i, static_cast<uint8_t>(text[i]), 1);
  }
  void add_method(uint64_t n, std::string_view name, std::string_view descriptor, std::string_view lines) {
    const hotspot_layout& l = table.hotspot;
    const uint64_t pool = method(n) + 0x400, holder = method(n) + 0x800, text = symbols + n * 0x10000;
    clear(method(n), 0x1000);
    word(method(n) + l.method_const, constants(n));
    word(constants(n) + l.const_pool, pool);
    word(constants(n) + l.const_size, 16, 4);
    word(constants(n) + l.const_flags, 1, 2);
    word(constants(n) + l.const_code_size, 30, 2);
    word(constants(n) + l.const_name, 1, 2);
    word(constants(n) + l.const_signature, 2, 2);
    for (size_t i = 0; i < lines.size(); i++) word(constants(n) + 48 + 30 + i, static_cast<uint8_t>(lines[i]), 1);
    word(pool + l.pool_holder, holder);
    word(pool + l.pool_file, 3, 2);
    const std::string_view texts[] = {"demo/Main", name, descriptor, "Main.java"};
    for (uint64_t i = 0; i < 4; i++) symbol(text + i * 0x1000, texts[i]);
    word(holder + l.class_name, text);
    for (uint64_t i = 1; i < 4; i++) word(pool + l.pool_bytes + 8 * i, text + i * 0x1000);
  }
  void add_blob() {
    const hotspot_layout& l = table.hotspot;
    for (uint64_t i = 0; i < 16; i++) word(segments + 16 + i, i, 1);
    clear(blob, 0x800);
    word(blob + l.blob_size, 0x700, 4);
    word(blob + l.blob_header_size, blob_bytes, 4);
    word(blob + l.blob_frame_complete, 12, 4);
    word(blob + l.blob_frame_size, frame_words, 4);
    word(blob + l.blob_code_begin, code);
    word(blob + l.blob_code_end, code + code_bytes);
    word(blob + l.compiled_method, method(0));
    word(blob + l.compiled_id, 77, 4);
    word(blob + l.compiled_metadata, 0x600, 4);
    word(blob + 0x600, method(0));
    word(blob + 0x608, method(1));
    word(blob + l.compiled_scopes, blob + 0x610);
    // At 1: caller at 4, method 2, position 20; at 4: no caller, method 1, position 2.
    const uint8_t scopes[] = {0, 4, 2, 21, 0, 1, 3};
    for (size_t i = 0; i < sizeof scopes; i++) word(blob + 0x610 + i, scopes[i], 1);
    word(blob + l.compiled_descriptors, 0x620, 4);
    word(blob + l.compiled_descriptors_end, 0x640, 4);
    word(blob + 0x620, 0x40, 4), word(blob + 0x624, 1, 4);
    word(blob + 0x630, 0x80, 4), word(blob + 0x634, 4, 4);
  }
  void bytes(uint64_t address, std::string_view text) {
    for (size_t i = 0; i < text.size(); i++) word(address + i, static_cast<uint8_t>(text[i]), 1);
  }
  // The frame at pc; `r13` as in innermost frames.
  std::optional<RuntimeFrame> at(uint64_t pc, uint64_t sp, uint64_t bp, bool is_exact = false, uint64_t r13 = 0) const {
    return frame_of_hotspot(table, read(), frame_of(MadeFrame{.pc = pc, .rsp = sp, .rbp = bp, .is_exact = is_exact, .others = {{ARCH_R13, r13}}}));
  }
};

uint64_t caller(const std::optional<RuntimeFrame>& f, unsigned what = unwind::Registers::rip) {
  return f && f->caller ? f->caller->registers.get(what).value_or(0) : 0;
}

TEST(Hotspot, NumbersOfStreams) {
  const std::byte bytes[] = {std::byte{191}, std::byte{192}, std::byte{0}, std::byte{193}, std::byte{2}, std::byte{5}, std::byte{192}};
  HotspotStream old(bytes, 0, 17);
  EXPECT_EQ(old.number(), 191u);
  EXPECT_EQ(old.number(), 192u);
  EXPECT_EQ(old.number(), 193u + (2 << 6));
  EXPECT_EQ(old.signed_number(), -3);
  EXPECT_TRUE(old.ok());
  old.number();
  EXPECT_FALSE(old.ok());
  HotspotStream recent(bytes, 0, 21);
  EXPECT_EQ(recent.number(), 190u);
}

TEST(Hotspot, CompiledFrames) {
  Program p;
  const uint64_t sp = stack + 0x100, top = sp + 8 * frame_words, back = Program::code + 0x80;
  p.word(top - 8, back);
  p.word(top - 16, stack + 0x800);
  auto f = p.at(Program::code + 0x40, sp, 0);
  ASSERT_TRUE(f && f->object);
  EXPECT_EQ(f->object->address, Program::blob);
  EXPECT_EQ(f->number & (LANGUAGE_FIRST | LANGUAGE_POSITION_MASK), LANGUAGE_FIRST | 0x40);
  EXPECT_EQ(caller(f), back);
  EXPECT_EQ(caller(f, unwind::Registers::rsp), top);
  EXPECT_EQ(caller(f, unwind::Registers::rbp), stack + 0x800);
  // Interrupted behind push %rbp, before it, at pop %rbp, at ret.
  p.word(sp, stack + 0x900);
  p.word(sp + 8, back + 1);
  p.bytes(Program::code + 5, "\x55");
  EXPECT_EQ(caller(p.at(Program::code + 6, sp, 5, true)), back + 1);
  EXPECT_EQ(caller(p.at(Program::code + 6, sp, 5, true), unwind::Registers::rbp), stack + 0x900);
  p.bytes(Program::code + 0x60, "\x5d\xc3");
  EXPECT_EQ(caller(p.at(Program::code + 0x60, sp, 5, true)), back + 1);
  p.word(sp, back + 2);
  EXPECT_EQ(caller(p.at(Program::code, sp, 5, true)), back + 2);
  EXPECT_EQ(caller(p.at(Program::code + 0x61, sp, 5, true)), back + 2);
  EXPECT_EQ(caller(p.at(Program::code + 0x61, sp, 5, true), unwind::Registers::rbp), 5u);
  // A deoptimized frame returns to a handler; where it was is in the frame.
  p.word(Program::blob + p.table.hotspot.compiled_deopt, Program::code + 0x3f0);
  p.word(Program::blob + p.table.hotspot.compiled_original_pc, 8, 4);
  p.word(sp + 8, Program::code + 0x80);
  f = p.at(Program::code + 0x3f0, sp, 0);
  ASSERT_TRUE(f && f->object);
  EXPECT_EQ(f->number & LANGUAGE_POSITION_MASK, 0x80u);
}

TEST(Hotspot, CodeThatIsNone) {
  Program p;
  EXPECT_FALSE(p.at(in_cpp, stack, stack));
  p.word(segments + 40, HOTSPOT_FREE_SEGMENT, 1);
  auto f = p.at(heap + 40 * 128, stack + 0x100, 0);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->object || f->caller);
}

TEST(Hotspot, InterpretedFrames) {
  Program p;
  const uint64_t bp = stack + 0x200;
  p.word(bp + HOTSPOT_SLOT_METHOD, Program::method(1));
  p.word(bp + HOTSPOT_SLOT_BCP, Program::constants(1) + 48 + 21);
  p.word(bp + HOTSPOT_SLOT_SENDER_SP, bp + 32);
  p.word(bp + HOTSPOT_SLOT_RBP, stack + 0x700);
  p.word(bp + HOTSPOT_SLOT_RETURN, call_stub);
  auto f = p.at(interpreter + 0x80, bp - 0x80, bp);
  ASSERT_TRUE(f && f->object);
  EXPECT_EQ(f->object->address, Program::method(1));
  EXPECT_EQ(f->number & (LANGUAGE_FIRST | LANGUAGE_POSITION_MASK), 21u);
  EXPECT_EQ(caller(f), call_stub);
  EXPECT_EQ(caller(f, unwind::Registers::rsp), bp + 32);
  const auto code = decode_hotspot(*f->object, p.table, p.read());
  ASSERT_TRUE(code);
  EXPECT_EQ(code->name, "demo.Main.small()");
  EXPECT_EQ(code->file, "Main.java");
  EXPECT_EQ(line_of_hotspot(*code, 21), 40u);
  EXPECT_EQ(line_of_hotspot(*code, HOTSPOT_NO_POSITION), 0u);
  // The innermost one has its position in r13.
  f = p.at(interpreter + 0x80, bp - 0x80, bp, true, Program::constants(1) + 48 + 3);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->number & LANGUAGE_POSITION_MASK, 3u);
  // C++ is called back from the stub.
  p.word(bp + 8, in_cpp);
  f = p.at(call_stub, bp - 0x80, bp);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->object);
  EXPECT_EQ(caller(f), in_cpp);
}

TEST(Hotspot, InlinedMethodsAreShown) {
  Program p;
  const auto f = p.at(Program::code + 0x40, stack, 0);
  ASSERT_TRUE(f && f->object);
  const auto compiled = decode_hotspot(*f->object, p.table, p.read());
  ASSERT_TRUE(compiled && compiled->compiled);
  std::map<uint64_t, Code> known = {{Program::blob, *compiled}};
  for (const auto& call : compiled->compiled->methods)
    known[call.method] = decode_hotspot({.address = call.method, .check = call.check}, p.table, p.read()).value();
  EXPECT_EQ(known[Program::method(0)].name, "demo.Main.run(int,String[])");
  const auto find = [&](uint64_t address, uint32_t) -> const Code* { return known.contains(address) ? &known[address] : nullptr; };
  const ProcessRuntime process = {.table = p.table, .code = {in_cpp, in_cpp + 0x1000}};
  const std::vector<uint64_t> words = {in_cpp + 0x5000, spec::tagged_word(spec::FrameKind::java, f->number), Program::blob, call_stub, in_cpp + 8, in_cpp + 0x6000};
  const auto shown = [&](Show show) {
    std::vector<uint64_t> second, from;
    const Expanded out = expand_hotspot(words, process, show, find);
    for (std::span<const uint64_t> rest = out.words; !rest.empty();) second.push_back(spec::take_entry(rest).address);
    EXPECT_EQ(out.from.size(), second.size());
    return second;
  };
  EXPECT_EQ(shown(Show::folded), (std::vector{in_cpp + 0x5000, Program::method(1), Program::method(0), in_cpp + 0x6000}));
  EXPECT_EQ(shown(Show::both), (std::vector{in_cpp + 0x5000, Program::method(1), Program::method(0), call_stub, in_cpp + 8, in_cpp + 0x6000}));
  known[Program::method(1)].is_hidden = true;
  EXPECT_EQ(shown(Show::folded), (std::vector{in_cpp + 0x5000, Program::method(0), in_cpp + 0x6000}));
}

// Code that was thrown away has the name that was sent, not that of what is there now.
TEST(Hotspot, NamesOfCodeThatIsGone) {
  Program p;
  const auto f = p.at(Program::code + 0x40, stack, 0);
  ASSERT_TRUE(f && f->object);
  p.word(Program::blob + p.table.hotspot.compiled_id, 78, 4);
  const auto code = decode_hotspot(*f->object, p.table, p.read());
  ASSERT_TRUE(code);
  EXPECT_EQ(code->name, "demo.Main.run(int,String[])");
  EXPECT_FALSE(code->compiled);
  language_object without_name = *f->object;
  without_name.object[HOTSPOT_OBJECT_HAS_NAME] = 0;
  EXPECT_FALSE(decode_hotspot(without_name, p.table, p.read()));
}

TEST(Hotspot, DamagedMemoryEnds) {
  std::mt19937 random(5);
  for (int turn = 0; turn < 12; turn++) {
    Program p;
    const auto all = p.addresses();
    for (int i = 0; i < 8; i++) p.damage(random, all, i & 1);
    const auto f = p.at(Program::code + 0x40, stack + 0x100, stack + 0x200, turn & 1);
    if (f && f->object) decode_hotspot(*f->object, p.table, p.read());
    p.at(interpreter, stack + 0x100, stack + 0x200, turn & 1);
  }
}

// A JVM that has not begun: all of its tables are empty.
TEST(Hotspot, IsNotCompleteBeforeItBegins) {
  MadeMemory memory;
  memory.clear(0x1000, 0x1000);
  language_table table = {.kind = LANGUAGE_JAVA, .root = 0x1000};
  EXPECT_FALSE(complete_hotspot(table, memory.read()));
  EXPECT_FALSE(complete_hotspot(table, MadeMemory().read()));
}

} // namespace
} // namespace runtime
