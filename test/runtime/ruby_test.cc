// Ruby: its files, its functions and their lines, frames of stopped programs.
#include "runtime/ruby.h"

#include "runtime/ruby_layouts.h"

#include "made_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <glob.h>
#include <random>

namespace runtime {
namespace {

constexpr uint64_t root = 0x100000, thread_pointer = 0x200000, context = 0x300000, stack = 0x400000, functions = 0x500000, methods = 0x600000,
                   texts = 0x700000, tables = 0x800000, environments = 0x900000, threads = 0xa00000, symbols = 0x110000;
constexpr uint64_t module = 3, distance = 0x10, name_of_method = 0x1234, string_flags = RUBY_STRING;

enum class Frame { ruby, c, hidden };

// A handmade process: words by address; what was not set is not readable. Instructions of function n begin at line 10 * n, one line for each two.
class Program : public MadeMemory {
public:
  explicit Program(const ruby_layout& layout) {
    table.kind = LANGUAGE_RUBY;
    table.root = root;
    table.ruby = layout;
    table.ruby.context = layout.vm_threads ? RUBY_IN_LIST : RUBY_BY_MODULE;
    table.ruby.context_distance = distance;
    table.ruby.symbols = static_cast<int32_t>(symbols - root);
    if (layout.vm_threads) {
      word(root, threads);
      const uint64_t list = threads + layout.vm_threads, other = threads + 0x1000, own = threads + 0x2000;
      word(list, other + layout.thread_node);
      word(other + layout.thread_node, own + layout.thread_node);
      word(other + layout.thread_id, 1);
      word(own + layout.thread_node, list);
      word(own + layout.thread_id, thread_pointer);
      word(own + layout.thread_context, context);
    } else {
      word(root, module);
      word(thread_pointer + 8, threads);
      word(threads + 16 * module, thread_pointer - 0x100);
      word(thread_pointer - 0x100 + distance, context);
    }
    word(context + l().context_stack, stack);
    word(context + l().context_stack_size, 0);
    word(context + l().context_frame, stack);
    // The table of symbols: an array of arrays, of which the second is embedded.
    const uint64_t number = name_of_method >> RUBY_ID_SHIFT, ids = texts + 0x1000, part = texts + 0x2000, words = texts + 0x3000;
    word(symbols + l().symbols_ids, ids);
    word(ids, RUBY_ARRAY), word(ids + RUBY_ARRAY_AT, words), word(words + 8 * (number / RUBY_IDS), part);
    word(part, RUBY_ARRAY | RUBY_ARRAY_IS_EMBEDDED);
    word(part + RUBY_EMBEDDED_AT + 16 * (number % RUBY_IDS), text(texts, "each"));
  }
  const ruby_layout& l() const { return table.ruby; }
  // The next outer frame; of Ruby after `position` words.
  void add(Frame kind, uint64_t position = 1, bool finishes = false) {
    const uint64_t at = stack + frames_ * l().frame_bytes, environment = environments + 0x100 * frames_, n = frames_++;
    clear(at, RUBY_FRAME_BYTES);
    word(context + l().context_stack_size, frames_ * l().frame_bytes / 8);
    word(at + l().frame_environment, environment);
    word(environment, (finishes ? RUBY_FINISH : 0) | (kind == Frame::c ? RUBY_C_FRAME : 0x11110003));
    word(environment - 16, methods + 0x100 * n), word(environment - 8, 0);
    if (kind == Frame::c) return method(methods + 0x100 * n);
    word(at + l().frame_function, function(n));
    if (kind == Frame::ruby) word(at + l().frame_pc, instructions(n) + 8 * position);
  }
  void move(uint64_t frame, uint64_t position) { word(stack + frame * l().frame_bytes + l().frame_pc, instructions(frame) + 8 * position); }
  LanguageStack walk() const { return walk_ruby(table, {.thread_pointer = thread_pointer, .frames = {}}, read()); }

  // A string of Ruby; those of more than 8 bytes are elsewhere.
  uint64_t text(uint64_t at, std::string_view characters) {
    clear(at, 0x400);
    const bool is_elsewhere = characters.size() > 8;
    word(at, string_flags | (is_elsewhere ? uint64_t{RUBY_TEXT_IS_ELSEWHERE} : l().text_length ? 0 : characters.size() << 14));
    if (is_elsewhere || l().text_length) word(at + (is_elsewhere ? l().text_heap_length : l().text_length), characters.size());
    const uint64_t to = is_elsewhere ? at + 0x100 : at + l().text_embedded;
    if (is_elsewhere) word(at + RUBY_TEXT_AT, to);
    for (size_t i = 0; i < characters.size(); i++) word(to + i, static_cast<uint8_t>(characters[i]), 1);
    return at;
  }

  language_table table = {};

private:
  static uint64_t instructions(uint64_t n) { return tables + 0x10000 * n + 0x8000; }
  void method(uint64_t at) {
    const uint64_t definition = at + 0x80;
    word(at, RUBY_INTERNAL_OBJECT | RUBY_METHOD_ENTRY << RUBY_INTERNAL_SHIFT);
    word(at + l().method_definition, definition);
    word(definition, RUBY_METHOD_IN_C);
    word(definition + l().definition_code, 0x4000);
    word(definition + l().definition_name, name_of_method);
  }
  uint64_t function(uint64_t n) {
    const uint64_t at = functions + 0x2000 * n, body = at + 0x100, lines = tables + 0x10000 * n, positions = lines + 0x4000, count = 100;
    const uint64_t path = at + 0x400, array = at + 0x300;
    word(at + l().function_body, body);
    clear(body, RUBY_BODY_BYTES);
    word(body + l().body_count, 2 * count, 4);
    word(body + l().body_instructions, instructions(n));
    word(body + l().body_name, text(at + 0x900, "block in work"));
    text(path, "/srv/application.rb");
    word(array, RUBY_ARRAY | RUBY_ARRAY_IS_EMBEDDED), word(array + RUBY_EMBEDDED_AT, path);
    word(body + l().body_path, n % 2 ? array : path);
    word(body + l().body_first_line, l().first_line_is_tagged ? 2 * (10 * n) + 1 : 10 * n, l().first_line_is_tagged ? 8 : 4);
    word(body + l().body_lines, lines), word(body + l().body_lines_count, count, 4), word(body + l().body_positions, positions);
    clear(lines, 0x2000), clear(positions, 0x1000);
    for (uint64_t i = 0; i < count; i++) word(lines + i * l().line_bytes, 10 * n + i, 4);
    // As iseq.c: entry i begins at position 2 * i.
    for (uint64_t word_at = 0; word_at < 6; word_at++) {
      uint64_t bits = 0;
      for (uint64_t i = 0; i < 9; i++) bits |= ((word_at * 9 + i) / 2 + 1) << 7 * i;
      word(positions + 8 * word_at, bits);
    }
    word(positions + 48, 27, 4);
    uint64_t ranks = 0, rank = 0;
    for (uint64_t part = 0; part < 8; part++) {
      uint64_t bits = 0;
      if (part) ranks |= rank << 9 * (part - 1);
      for (uint64_t i = 0; i < 64; i++)
        if (const uint64_t position = 54 + part * 64 + i; position % 2 == 0 && position < 2 * count) bits |= 1ull << i, rank++;
      word(positions + 64 + 8 * part, bits);
    }
    word(positions + 56, ranks);
    return at;
  }
  uint64_t frames_ = 0;
};

// "block in work:12* each": names and lines of the frames; of those that open an activation with a star.
std::string text(const Program& p) {
  const LanguageStack found = p.walk();
  std::string out;
  for (size_t i = 0; i + 1 < found.words.size(); i += 2) {
    const auto object = std::ranges::find(found.objects, found.words[i + 1], &language_object::address);
    const auto code = object == found.objects.end() ? std::nullopt : decode_ruby(*object, p.table, p.read());
    const uint32_t line = code ? line_of_ruby(*code, found.words[i] & LANGUAGE_POSITION_MASK) : 0;
    out += (out.empty() ? "" : ", ") + (code ? code->name : "none") + (line ? ":" + std::to_string(line) : "") + (found.words[i] & LANGUAGE_FIRST ? "*" : "");
  }
  return out;
}

TEST(RubyStopped, FramesWithTheirLinesAndNames) {
  for (const ruby_layout& layout : ruby_layouts) {
    Program p(layout);
    p.add(Frame::c), p.add(Frame::ruby, 1, true), p.add(Frame::c), p.add(Frame::ruby, 4), p.add(Frame::ruby, 171, true), p.add(Frame::hidden, 1, true);
    EXPECT_EQ(text(p), "each*, block in work:10, each*, block in work:31, block in work:125") << layout.version;
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_COMPLETE});
    EXPECT_EQ(decode_ruby(p.walk().objects.at(1), p.table, p.read())->file, "/srv/application.rb");
    EXPECT_EQ(decode_ruby(p.walk().objects.at(3), p.table, p.read())->file, "/srv/application.rb");
  }
}

TEST(RubyStopped, LinesOfEachPosition) {
  for (const ruby_layout& layout : ruby_layouts) {
    Program p(layout);
    p.add(Frame::ruby), p.add(Frame::ruby, 1, true), p.add(Frame::hidden);
    for (uint64_t position = 0; position <= 200; position++) {
      p.move(1, position);
      EXPECT_EQ(text(p), "block in work*, block in work:" + std::to_string(10 + (position ? position - 1 : 0) / 2)) << layout.version;
    }
  }
}

TEST(RubyStopped, SymbolsThatAreNotKnown) {
  Program p(ruby_layouts[0]);
  p.table.ruby.symbols = 0;
  p.add(Frame::c), p.add(Frame::hidden);
  EXPECT_EQ(text(p), "[function in C]*");
  Program damaged(ruby_layouts[0]);
  damaged.add(Frame::c), damaged.add(Frame::hidden);
  damaged.word(texts, RUBY_ARRAY);
  EXPECT_EQ(text(damaged), "none*");
}

TEST(RubyStopped, AThreadThatIsNotRubys) {
  for (const ruby_layout& layout : ruby_layouts) {
    Program p(layout);
    p.add(Frame::ruby), p.add(Frame::hidden);
    p.word(layout.vm_threads ? threads + 0x2000 + layout.thread_id : thread_pointer - 0x100 + distance, 0);
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_NO_THREAD}) << layout.version;
  }
}

TEST(RubyStopped, DamagedMemoryEndsTheWalk) {
  std::mt19937 random(5);
  for (const ruby_layout& layout : ruby_layouts) {
    Program whole(layout);
    whole.add(Frame::c), whole.add(Frame::ruby, 3, true), whole.add(Frame::ruby), whole.add(Frame::hidden);
    const std::vector<uint64_t> all = whole.addresses();
    for (int i = 0; i < 60; i++) {
      Program p = whole;
      for (int n = 0; n < 20; n++) p.damage(random, all, i % 2 != 0);
      text(p);
    }
  }
  Program p(ruby_layouts[1]);
  p.add(Frame::ruby);
  p.word(context + p.l().context_stack_size, 100);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_UNREADABLE});
}

TEST(RubyCode, AnyBytes) {
  std::mt19937 random(6);
  for (const ruby_layout& layout : ruby_layouts)
    for (int i = 0; i < 200; i++) {
      language_object object;
      auto* bytes = reinterpret_cast<uint8_t*>(&object);
      for (size_t n = 0; n < sizeof object; n++) bytes[n] = static_cast<uint8_t>(random());
      const uint64_t flags = string_flags | (i % 2 ? RUBY_TEXT_IS_ELSEWHERE : 0);
      std::memcpy(object.name, &flags, sizeof flags);
      std::memcpy(object.file, &flags, sizeof flags);
      language_table table = {};
      table.ruby = layout;
      if (const auto code = decode_ruby(object, table, {})) line_of_ruby(*code, random());
    }
}

TEST(RubyLayouts, WhatIsReadIsAsLongAsItsFields) {
  for (const ruby_layout& l : ruby_layouts) {
    EXPECT_LE(l.frame_environment + 8, RUBY_FRAME_READ) << l.version;
    EXPECT_LE(l.frame_bytes, RUBY_FRAME_BYTES) << l.version;
    EXPECT_LE(l.body_bytes, RUBY_IS_IN_C) << l.version;
    for (uint16_t field : {l.body_instructions, l.body_path, l.body_name, l.body_lines, l.body_positions}) EXPECT_LE(field + 8, l.body_bytes) << l.version;
  }
}

TEST(RubyFiles, TheInstalledOneIsKnown) {
  glob_t found_paths = {};
  ::glob("/usr/lib/x86_64-linux-gnu/libruby-*.so.?.?", 0, nullptr, &found_paths);
  const std::vector<std::string> paths(found_paths.gl_pathv, found_paths.gl_pathv + found_paths.gl_pathc);
  ::globfree(&found_paths);
  if (paths.empty()) GTEST_SKIP() << "there is no Ruby here";
  for (const std::string& path : paths) {
    auto file = format::ElfFile::open(path);
    ASSERT_TRUE(file.ok()) << path;
    const auto found = recognise(*file);
    ASSERT_TRUE(found) << path;
    EXPECT_TRUE(found->version.starts_with("Ruby ")) << found->version;
    if (!found->problem.empty()) continue;
    EXPECT_NE(found->table.ruby.symbols, 0) << path;
    EXPECT_GT(found->table.evaluation[0].end - found->table.evaluation[0].begin, 10000u) << path;
  }
}

} // namespace
} // namespace runtime
