// V8: names and lines of functions in a made-up heap, frames of its interpreter and of compiled code with inlined functions, stacks as they are shown.
#include "runtime/node.h"

#include "runtime/hotspot_code.h"
#include "runtime/node_objects.h"
#include "spec/stack_entries.h"

#include "made_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

constexpr uint64_t maps = 0x10000, heap = 0x20000, page = 0x7f0000000000, sizes = 0x60000, stack = 0x7fff00000000;
constexpr uint64_t start = page + 0x1100, code_size = 0x200, trampoline = page + 0x100123;
constexpr uint16_t one_byte = 40, byte_array = 190, fixed_array = 175, function_type = 2066;

// V8 11.3 with two functions, of which the first has optimised code with the second inlined.
class Program : public MadeMemory {
public:
  Program() {
    // What is read in pages.
    clear(maps, 0x1000);
    clear(heap, 0x3000);
    clear(page + 0x1000, 0x1000);
    table.kind = LANGUAGE_NODE;
    table.node = row().walk;
    table.node.row = static_cast<uint16_t>(&row() - node_layouts.data());
    table.node.returns[0] = table.node.returns[1] = trampoline & 0xfff;
    table.node.return_text = 0xdc4d8b44e0658b4c;
    table.root = sizes;
    table.root_bytes = 3 * 6;
    word(trampoline, table.node.return_text);
    // Bytecodes 0 to 3 are prefixes; 4 has 2 bytes and 5 has 3, or 5 where it is wide.
    const uint8_t lengths[] = {1, 1, 1, 1, 2, 3, 1, 1, 1, 1, 4, 5, 1, 1, 1, 1, 8, 9};
    for (size_t i = 0; i < sizeof lengths; i++) word(sizes + i, lengths[i], 1);
    text(source, "function outer() {\n  inner();\n  inner();\n}\nfunction inner() {}\n");
    text(file, "/srv/app.js");
    object(script, row().script, 0x80);
    word(script + 8, source | 1);
    word(script + NODE_SCRIPT_NAME, file | 1);
    word(script + NODE_SCRIPT_ID, 77ull << 32);
    add_function(0, "outer", 8, {2, 22, 5, 33}); // bytecode 2: line 2; 5: line 3
    add_function(1, "inner", 46, {0, 59});
    add_code();
    clear(stack, 0x1000);
  }
  static const NodeLayout& row() { return node_layouts[1]; }
  language_table table = {};
  static constexpr uint64_t source = heap + 0x100, file = heap + 0x200, script = heap + 0x300;
  static constexpr uint64_t code = heap + 0x400, data = heap + 0x500, literals = heap + 0x700, translations = heap + 0x800, offsets = heap + 0x900;
  static uint64_t part(uint64_t n, uint64_t at) { return heap + 0x1000 * (n + 1) + at; }
  static uint64_t shared(uint64_t n) { return part(n, 0) | 1; }
  static uint64_t closure(uint64_t n) { return part(n, 0x500) | 1; }
  static uint64_t bytecode(uint64_t n) { return part(n, 0x300); }

  void object(uint64_t at, uint16_t type, uint64_t size) {
    clear(at, size);
    const uint64_t map = maps + 16ull * maps_.try_emplace(type, maps_.size() + 1).first->second;
    word(map + NODE_MAP_TYPE, type, 2);
    word(map, maps | 1, 4);
    word(at, map | 1);
  }
  void text(uint64_t at, std::string_view characters) {
    object(at, one_byte, 24 + characters.size());
    word(at + 12, characters.size(), 4);
    for (size_t i = 0; i < characters.size(); i++) word(at + 16 + i, static_cast<uint8_t>(characters[i]), 1);
  }
  void array(uint64_t at, std::span<const uint8_t> bytes) {
    object(at, byte_array, 24 + bytes.size());
    word(at + 8, bytes.size() << 32);
    for (size_t i = 0; i < bytes.size(); i++) word(at + 16 + i, bytes[i], 1);
  }
  // As the collector leaves an object that it has copied.
  void move(uint64_t from, uint64_t to, uint64_t size) {
    for (uint64_t at = 0; at < size; at += 8) {
      uint64_t value = 0;
      read()(from + at, std::as_writable_bytes(std::span(&value, 1)));
      word(to + at, value);
    }
    word(from, to);
  }
  void add_function(uint64_t n, std::string_view name, uint32_t from, std::vector<int> positions) {
    const node_layout& l = table.node;
    const uint64_t scope = part(n, 0x100), named = part(n, 0x200), at = shared(n) - 1, places = part(n, 0x400);
    object(at, row().shared, NODE_SHARED_BYTES);
    word(at + l.shared_data, bytecode(n) | 1);
    word(at + l.shared_name, scope | 1);
    word(at + l.shared_script, script | 1);
    word(at + l.shared_literal, n + 1, 4);
    object(scope, row().scope_info, 0x80);
    word(scope + NODE_SCOPE_FLAGS, uint64_t{NODE_SCOPE_NAME} << 32);
    word(scope + l.scope_names, named | 1);
    word(scope + l.scope_names + 16, uint64_t{from} << 32);
    text(named, name);
    object(bytecode(n), row().bytecode, 0x80);
    const uint8_t instructions[] = {4, 9, 0, 5, 0, 0, 0, 0, 4, 0}; // at 0, at 2 with a prefix, at 8
    word(bytecode(n) + 8, uint64_t{sizeof instructions} << 32);
    for (size_t i = 0; i < sizeof instructions; i++) word(bytecode(n) + l.bytecode_data + i, instructions[i], 1);
    word(bytecode(n) + row().bytecode_positions, places | 1);
    std::vector<uint8_t> encoded;
    int offset = -1, position = 0;
    for (size_t i = 0; i < positions.size(); i += 2) {
      const int step = positions[i] - offset, raw = (positions[i + 1] + 1) << 1;
      encoded.push_back(static_cast<uint8_t>(step << 1));
      const unsigned difference = static_cast<unsigned>(raw - position) << 1;
      encoded.push_back(static_cast<uint8_t>(difference | 0x80));
      encoded.push_back(static_cast<uint8_t>(difference >> 7));
      offset = positions[i], position = raw;
    }
    array(places, encoded);
    object(closure(n) - 1, function_type, 0x40);
    word(closure(n) - 1 + l.function_shared, shared(n));
  }
  void add_code() {
    const NodeLayout& l = row();
    const uint64_t stream = start - l.stream_header;
    object(stream, 252, l.stream_header);
    word(stream + 8, code | 1);
    object(code, l.code, 0x80);
    word(code + l.code_stream, stream | 1);
    word(code + l.code_start, start);
    word(code + l.code_size, code_size, 4);
    word(code + l.code_flags, l.baseline + 2u, 4);
    word(code + l.code_data, data | 1);
    word(code + l.code_positions, offsets | 1);
    // A call returns to 0x40, and is described by entry 0.
    const uint64_t safepoints = start + code_size;
    word(safepoints, 1, 4);
    word(safepoints + 4, 1 | 1 << 4 | 1 << 7, 4); // it has such data; numbers have 1 byte
    word(safepoints + 8, 0x40, 1);
    word(safepoints + 9, 1, 1);
    word(safepoints + 10, 0xff, 1);
    object(data, fixed_array, 0x100);
    word(data + 8, uint64_t{l.deopt_first + 3u} << 32);
    word(data + 16, translations | 1);
    word(data + 16 + 8ull * l.deopt_literals, literals | 1);
    word(data + 16 + 8ull * (l.deopt_first + 1), 5ull << 32);
    word(data + 16 + 8ull * (l.deopt_first + 2), 0x40ull << 32);
    object(literals, fixed_array, 0x40);
    word(literals + 8, 2ull << 32);
    word(literals + 16, shared(0) | 2); // weak
    word(literals + 24, shared(1));
    // Outer at 5; inner at 0. The second description is the first but for the place in `inner`.
    const uint8_t bytes[] = {2, 0, 2, 2, 24, 5 << 1, 0, 0, 24, 2 << 1, 1 << 1, 0};
    std::vector<uint8_t> all(bytes, bytes + sizeof bytes);
    const auto second = static_cast<uint8_t>(all.size());
    for (const uint8_t b : {2, int{second}, 2, 2, 36 + 1, 24, 0, 1 << 1, 0}) all.push_back(b);
    array(translations, all);
    word(data + 16 + 8ull * (l.deopt_first + 1), uint64_t{second} << 32);
  }
  // The call returns to 0x1a0 instead once the code is thrown away.
  void add_trampoline() {
    const uint64_t safepoints = start + code_size + row().safepoint_length;
    word(safepoints + 4, 1 | 2 << 4 | 1 << 7, 4); // offsets have 2 bytes
    word(safepoints + 8, 0x40, 2);
    word(safepoints + 10, 1, 1);
    word(safepoints + 11, 0x1a0 + 1, 2);
  }
  void make_baseline() {
    word(code + row().code_flags, row().baseline, 4);
    word(code + row().code_data, bytecode(0) | 1);
    const uint8_t lengths[] = {4, 6, 8, 10}; // of the entry, and of each instruction
    array(offsets, lengths);
  }
  // A frame of the function, with rbp at stack + 0x100.
  std::optional<RuntimeFrame> at(uint64_t pc, uint64_t n, uint64_t offset = 0) {
    const uint64_t bp = stack + 0x100;
    word(bp + NODE_SLOT_CONTEXT, script | 1);
    word(bp + NODE_SLOT_FUNCTION, closure(n));
    word(bp + NODE_SLOT_OFFSET, (offset + table.node.bytecode_data - 1) << 32);
    unwind::Frame frame = frame_of(MadeFrame{.pc = pc, .rsp = bp - 0x80, .rbp = bp});
    frame.by_frame_pointer = true;
    return frame_of_node(table, read(), frame);
  }

private:
  std::map<uint16_t, uint64_t> maps_; // by type
};

TEST(Node, InterpretedFrames) {
  Program p;
  const auto frame = p.at(trampoline, 0, 5);
  ASSERT_TRUE(frame && frame->object);
  EXPECT_EQ(frame->object->address, Program::shared(0));
  EXPECT_EQ(frame->number & LANGUAGE_POSITION_MASK, 5u);
  EXPECT_FALSE(frame->number & LANGUAGE_FIRST);
  const auto code = decode_node(*frame->object, p.table, p.read());
  ASSERT_TRUE(code);
  EXPECT_EQ(code->name, "outer");
  EXPECT_EQ(code->file, "/srv/app.js");
  EXPECT_EQ(code->first_line, 1u);
  EXPECT_EQ(line_of_node(*code, 1), 0u);
  EXPECT_EQ(line_of_node(*code, 2), 2u);
  EXPECT_EQ(line_of_node(*code, 4), 2u);
  EXPECT_EQ(line_of_node(*code, 5), 3u);
  EXPECT_EQ(line_of_node(*code, NODE_NO_POSITION), 0u);
}

TEST(Node, FramesOfNoFunction) {
  Program p;
  auto frame = p.at(trampoline, 0);
  EXPECT_NE(frame->object->check, 0u);
  p.word(stack + 0x100 + NODE_SLOT_CONTEXT, 2);
  unwind::Frame native = frame_of(MadeFrame{.pc = trampoline, .rsp = stack, .rbp = stack + 0x100});
  EXPECT_FALSE(frame_of_node(p.table, p.read(), native)); // a table tells of it
  native.by_frame_pointer = true;
  frame = frame_of_node(p.table, p.read(), native);
  ASSERT_TRUE(frame && frame->object);
  EXPECT_EQ(frame->object->check, 0u);
  EXPECT_EQ(frame->object->address, trampoline);
}

TEST(Node, AnotherFunctionAtTheAddress) {
  Program p;
  const auto frame = p.at(trampoline, 0);
  language_object object = *frame->object;
  object.object[NODE_OBJECT_HAS_NAME] = 0;
  p.word(Program::shared(0) - 1 + p.table.node.shared_literal, 9, 4);
  EXPECT_FALSE(decode_node(object, p.table, p.read()));
  EXPECT_TRUE(decode_node(*frame->object, p.table, p.read())); // the walker has read its name
  EXPECT_EQ(decode_node(*frame->object, p.table, {})->name, "outer");
  EXPECT_EQ(decode_node(*frame->object, p.table, {})->file, "/srv/app.js");
}

TEST(Node, ObjectsThatAreBeingMoved) {
  Program p;
  const auto frame = p.at(trampoline, 0, 5);
  p.move(Program::source, heap + 0xa00, 0x100);
  p.move(Program::shared(0) - 1, Program::part(0, 0x600), NODE_SHARED_BYTES);
  p.move(Program::bytecode(0), Program::part(0, 0x700), 0x80);
  const auto code = decode_node(*frame->object, p.table, p.read());
  ASSERT_TRUE(code);
  EXPECT_FALSE(code->is_partial);
  EXPECT_EQ(code->first_line, 1u);
  EXPECT_EQ(line_of_node(*code, 5), 3u);
}

TEST(Node, OptimisedCode) {
  Program p;
  const auto frame = p.at(start + 0x40, 0);
  ASSERT_TRUE(frame->number & LANGUAGE_FIRST);
  EXPECT_EQ(frame->object->address, start + 0x40);
  const auto code = decode_node(*frame->object, p.table, p.read());
  ASSERT_TRUE(code && code->compiled);
  ASSERT_EQ(code->compiled->calls.size(), 2u);
  EXPECT_EQ(code->compiled->calls[0].method, Program::shared(1));
  EXPECT_EQ(code->compiled->calls[0].position, 0u);
  EXPECT_EQ(code->compiled->calls[1].method, Program::shared(0));
  EXPECT_EQ(code->compiled->calls[1].position, 5u);
  EXPECT_EQ(code->compiled->methods.front().method, Program::shared(0));
  // Each is decoded by its address and check.
  const auto inner = decode_node(language_object{.address = code->compiled->calls[0].method, .check = code->compiled->calls[0].check}, p.table, p.read());
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->name, "inner");
  EXPECT_EQ(line_of_node(*inner, 0), 5u);
}

TEST(Node, CodeThatIsLeftWhenItsCallReturns) {
  Program p;
  p.add_trampoline();
  for (const uint64_t offset : {0x40, 0x1a0}) {
    const auto frame = p.at(start + offset, 0);
    const auto code = decode_node(*frame->object, p.table, p.read());
    ASSERT_TRUE(code && code->compiled);
    ASSERT_EQ(code->compiled->calls.size(), 2u);
    EXPECT_EQ(code->compiled->calls[1].position, 5u);
  }
}

TEST(Node, CodeWithObjectsThatWereMoved) {
  for (const uint64_t at : {0x20, 0x30}) { // the former begins before what the walker reads
    Program p;
    p.word(start + at, 0xba49, 2); // mov r10, an object
    p.word(start + at + 2, Program::shared(1));
    const auto frame = p.at(start + 0x40, 0);
    p.word(start + at + 2, Program::shared(1) + 0x12345678);
    const auto code = decode_node(*frame->object, p.table, p.read());
    ASSERT_TRUE(code && code->compiled);
    EXPECT_EQ(code->compiled->calls[1].position, 5u);
  }
}

TEST(Node, CodeThatWasThrownAway) {
  Program p;
  const auto frame = p.at(start + 0x40, 0);
  p.word(start + 0x30, 0x1234); // other instructions
  const auto code = decode_node(*frame->object, p.table, p.read());
  ASSERT_TRUE(code);
  EXPECT_FALSE(code->compiled);
  EXPECT_EQ(code->name, "outer"); // the frame's function
}

TEST(Node, BaselineCode) {
  Program p;
  p.make_baseline();
  const std::pair<uint64_t, uint32_t> places[] = {{4, NODE_NO_POSITION}, {5, 0}, {10, 0}, {11, 2}, {18, 2}, {19, 8}, {28, 8}};
  for (const auto& [offset, position] : places) {
    const auto code = decode_node(*p.at(start + offset, 0)->object, p.table, p.read());
    ASSERT_TRUE(code && code->compiled) << offset;
    EXPECT_EQ(code->compiled->calls[0].position, position) << offset;
  }
}

TEST(Node, StacksAsTheyAreShown) {
  Program p;
  const auto frame = p.at(start + 0x40, 0);
  const auto code = decode_node(*frame->object, p.table, p.read());
  const auto tagged = [](uint64_t number) { return spec::tagged_word(spec::FrameKind::javascript, number); };
  const uint64_t stub = tagged(LANGUAGE_FIRST | NODE_NO_POSITION);
  const std::vector<uint64_t> words = {0x400010, stub, page, tagged(frame->number), frame->object->address, 0x400020, stub, page, 0x900000};
  const ProcessRuntime process = {.table = p.table, .code = {0x400000, 0x500000}};
  const auto find = [&](uint64_t address, uint32_t) { return address == frame->object->address ? &*code : nullptr; };
  const Expanded folded = expand_node(words, process, Show::folded, find);
  ASSERT_EQ(folded.words.size(), 6u);
  EXPECT_EQ(folded.words[0], 0x400010u);
  EXPECT_EQ(folded.words[2], Program::shared(1));
  EXPECT_EQ(folded.words[4], Program::shared(0));
  EXPECT_EQ(folded.words[5], 0x900000u);
  EXPECT_EQ(folded.from, (std::vector<size_t>{0, 2, 2, 5}));
  EXPECT_EQ(expand_node(words, process, Show::both, find).from.size(), 7u);
}

TEST(Node, DamagedHeaps) {
  std::mt19937 random(7);
  const Program whole;
  const auto all = whole.addresses();
  for (int round = 0; round < 100; round++) {
    Program p = whole;
    if (round & 1) p.make_baseline();
    const auto frame = p.at(round & 2 ? trampoline : start + 0x40, 0, 5);
    for (int n = 0; n < 8; n++) p.damage(random, all, n & 1);
    const auto code = decode_node(*frame->object, p.table, p.read());
    if (code && !code->compiled) line_of_node(*code, 5);
  }
}

} // namespace
} // namespace runtime
