// PHP: its files, its functions, frames of stopped programs.
#include "runtime/php.h"

#include "runtime/php_layouts.h"

#include "made_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

using namespace std::literals;

constexpr uint64_t root = 0x100000, frames = 0x400000, functions = 0x500000, texts = 0x600000, oplines = 0x700000, generators = 0x800000;

// A handmade process: words by address; what was not set is not readable.
class Program : public MadeMemory {
public:
  explicit Program(const php_layout& layout) {
    table.kind = LANGUAGE_PHP;
    table.root = root;
    table.php = layout;
    word(root + l().current, frames);
    word(root + l().before_exception, 0);
  }
  const php_layout& l() const { return table.php; }
  void text(uint64_t address, std::string_view text) {
    clear(address, 1100);
    word(address + l().text_length, text.size());
    for (size_t i = 0; i < text.size(); i++) word(address + l().text_data + i, static_cast<uint8_t>(text[i]), 1);
  }
  // Frame `n` is in function `n`, at line 10 + n; the next one calls it.
  void add_frame(uint64_t n, uint8_t type, bool is_top, bool is_last) {
    const uint64_t at = frames + n * 0x1000, function = functions + n * 0x1000;
    for (uint64_t i = 0; i < PHP_FRAME_BYTES; i += 8) word(at + i, 0);
    for (uint64_t i = 0; i < PHP_FUNCTION_BYTES; i += 8) word(function + i, 0);
    word(at + l().frame_function, function);
    word(at + l().frame_previous, is_last ? 0 : at + 0x1000);
    word(at + l().frame_call_info, is_top ? PHP_CALL_TOP : 0, 4);
    word(at + l().frame_opline, oplines + n * 0x100);
    for (uint64_t i = 0; i < PHP_OPLINE_BYTES; i += 8) word(oplines + n * 0x100 + i, 0);
    word(oplines + n * 0x100 + l().opline_line, 10 + n, 4);
    word(function + (type == PHP_INTERNAL_FUNCTION ? l().function_handler : l().function_oplines), function); // tells the function
    word(function + l().function_type, type, 1);
    word(function + l().function_name, texts);
    text(texts, "work");
    if (type != PHP_INTERNAL_FUNCTION) {
      word(function + l().function_file, texts + 0x1000);
      word(function + l().function_line, 3, 4);
      text(texts + 0x1000, "/srv/app.php");
    }
  }
  // What frame `n` carries out.
  void opline(uint64_t n, uint8_t code, uint32_t extended) {
    word(oplines + n * 0x100 + l().opline_code, code, 1);
    word(oplines + n * 0x100 + l().opline_extended, extended, 4);
  }
  void without_name(uint64_t n) { word(functions + n * 0x1000 + l().function_name, 0); }
  // Frame `n` holds the place of generator `first`.
  void placeholder(uint64_t n, uint64_t first) {
    const uint64_t at = generators + first * 0x1000 + l().generator_fake;
    for (uint64_t i = 0; i < PHP_FRAME_BYTES; i += 8) word(at + i, 0);
    word(at + l().frame_this, generators + first * 0x1000);
    word(at + l().frame_call_info, PHP_OBJECT, 4);
    word(at + l().frame_previous, frames + (n + 1) * 0x1000);
    word(frames + (n - 1) * 0x1000 + l().frame_previous, at);
  }
  void generator(uint64_t n, uint64_t frame, uint64_t delegates_to) {
    word(generators + n * 0x1000 + l().generator_frame, frames + frame * 0x1000);
    word(generators + n * 0x1000 + l().generator_parent, delegates_to ? generators + delegates_to * 0x1000 : 0);
  }
  std::string names() const {
    std::string out;
    for (const language_object& object : walk().objects) {
      const auto code = decode_php(object, table, read());
      out += (code ? code->name + " " + code->file : "none") + "; ";
    }
    return out;
  }
  void in_class(uint64_t n) {
    word(functions + n * 0x1000 + l().function_scope, texts + 0x3000);
    word(texts + 0x3000 + l().class_name, texts + 0x2000);
    text(texts + 0x2000, "Server");
  }
  // Nothing is there any more.
  void end(uint64_t from, uint64_t to) { remove(from, to - from); }
  LanguageStack walk(uint64_t thread_pointer = 0) const { return walk_php(table, {.thread_pointer = thread_pointer, .frames = {}}, read()); }

  language_table table = {};
};

// "0:10* 1:11": the numbers of the frames with their lines; those that open an activation with a star.
std::string text(const LanguageStack& stack) {
  std::string out;
  for (size_t i = 0; i + 1 < stack.words.size(); i += 2)
    out += (out.empty() ? "" : " ") + std::to_string((stack.words[i + 1] - functions) / 0x1000) + ":" +
           std::to_string(stack.words[i] & LANGUAGE_POSITION_MASK) + (stack.words[i] & LANGUAGE_FIRST ? "*" : "");
  return out;
}

TEST(PhpStopped, FramesWithTheirLines) {
  for (const php_layout& layout : php_layouts) {
    Program p(layout);
    p.add_frame(0, PHP_USER_FUNCTION, false, false), p.add_frame(1, PHP_USER_FUNCTION, true, false), p.add_frame(2, PHP_USER_FUNCTION, true, true);
    EXPECT_EQ(text(p.walk()), "0:10* 1:11 2:12*") << layout.version;
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_COMPLETE});
  }
}

TEST(PhpStopped, FunctionsInCHaveNoLineAndEndNoActivation) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_INTERNAL_FUNCTION, true, false), p.add_frame(1, PHP_EVALUATED_CODE, true, true);
  EXPECT_EQ(text(p.walk()), "0:0* 1:11");
}

TEST(PhpStopped, FramesWithoutFunctionAreNone) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, false, false), p.add_frame(1, PHP_USER_FUNCTION, true, true);
  p.word(frames + p.l().frame_function, 0);
  EXPECT_EQ(text(p.walk()), "1:11*");
}

TEST(PhpStopped, DamagedMemoryEndsTheWalk) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, false, false);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_UNREADABLE});
  p.word(frames + p.l().frame_previous, frames);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_TOO_DEEP});
}

// Generators 1, 2 and 3 delegate to the next one each, and 3 to the one that runs, whose frame is 0.
TEST(PhpStopped, GeneratorsThatDelegate) {
  for (const php_layout& layout : php_layouts) {
    Program p(layout);
    for (uint64_t n = 0; n < 6; n++)
      if (n != 1) p.add_frame(n, PHP_USER_FUNCTION, n != 2, n == 5);
    p.placeholder(1, 1);
    p.generator(1, 5, 2), p.generator(2, 4, 3), p.generator(3, 3, 4), p.generator(4, 0, 0);
    p.word(frames + 0x2000 + p.l().frame_previous, 0);
    EXPECT_EQ(text(p.walk()), "0:10* 3:13 4:14 5:15 2:12*") << layout.version;
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_COMPLETE});
  }
}

TEST(PhpStopped, GeneratorsInACircle) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, true, false), p.add_frame(2, PHP_USER_FUNCTION, true, true);
  p.placeholder(1, 1);
  p.generator(1, 0, 1);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_TOO_DEEP});
}

TEST(PhpStopped, ALineBeforeAnException) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, true, true);
  p.word(functions + p.l().function_last_line, 9, 4);
  p.opline(0, PHP_HANDLE_EXCEPTION, 0);
  EXPECT_EQ(text(p.walk()), "0:9*");
  p.add_frame(1, PHP_USER_FUNCTION, true, true);
  p.word(root + p.l().before_exception, oplines + 0x100);
  EXPECT_EQ(text(p.walk()), "0:11*");
}

TEST(PhpStopped, FunctionsInCAreShorter) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_INTERNAL_FUNCTION, false, false), p.add_frame(1, PHP_USER_FUNCTION, true, true);
  p.end(functions + p.l().function_handler + 8, functions + 0x1000);
  EXPECT_EQ(text(p.walk()), "0:0* 1:11");
}

TEST(PhpStopped, CallsWithoutAFrame) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, true, false), p.add_frame(1, PHP_USER_FUNCTION, true, true), p.add_frame(2, PHP_INTERNAL_FUNCTION, false, true);
  p.opline(0, PHP_FRAMELESS_CALL + 2, 3);
  EXPECT_EQ(text(p.walk()), "0:10* 1:11*");
  p.table.php.frameless = 0x10000;
  p.word(root + 0x10000, root + 0x20000);
  p.word(root + 0x20000 + 8 * 3, functions + 0x2000);
  EXPECT_EQ(text(p.walk()), "2:0* 0:10 1:11*");
  p.opline(0, PHP_FRAMELESS_CALL + PHP_FRAMELESS_CALLS, 3);
  EXPECT_EQ(text(p.walk()), "0:10* 1:11*");
}

TEST(PhpStopped, ThreadsHaveTheirExecutor) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, true, true);
  constexpr uint64_t thread = 0x900000, cache = root - 0x40;
  p.table.root = thread + 0x1000; // executor_globals_offset
  p.word(p.table.root, 0x40);
  p.word(thread - 24, cache);
  p.table.php.executor = PHP_THREADS;
  p.table.php.executor_distance = -24;
  EXPECT_EQ(text(p.walk(thread)), "0:10*");
  p.word(p.table.root + 0x100, static_cast<uint64_t>(-24));
  p.table.php.executor = PHP_THREADS_BY_MEMORY;
  p.table.php.executor_distance = 0x100;
  EXPECT_EQ(text(p.walk(thread)), "0:10*");
  EXPECT_EQ(p.walk(thread + 0x40).end, uint32_t{LANGUAGE_NO_THREAD});
}

TEST(PhpStopped, AProgramHasACopyOfTheVariables) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, true, true);
  p.table.root = root + 0x100000;
  p.word(p.table.root - 0x80, root);
  p.table.php.executor = PHP_BY_POINTER;
  p.table.php.executor_distance = -0x80;
  EXPECT_EQ(text(p.walk()), "0:10*");
  p.word(p.table.root - 0x80, 0);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_NO_THREAD});
}

TEST(PhpCode, NamesAndFiles) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, false, false), p.add_frame(1, PHP_INTERNAL_FUNCTION, false, false), p.add_frame(2, PHP_USER_FUNCTION, true, true);
  p.in_class(0);
  p.without_name(2);
  EXPECT_EQ(p.names(), "Server::work /srv/app.php; work ; {main} /srv/app.php; ");
  p.word(frames + p.l().frame_call_info, PHP_OBJECT | PHP_CALL_TOP, 4);
  EXPECT_EQ(p.names(), "Server->work /srv/app.php; work ; {main} /srv/app.php; ");
  p.text(texts + 0x2000, "class@anonymous\0/srv/app.php:3$0"sv);
  EXPECT_EQ(p.names(), "class@anonymous->work /srv/app.php; work ; {main} /srv/app.php; ");
}

TEST(PhpCode, IncludesAreNamedByTheirKind) {
  for (const auto& [kind, name] : {std::pair(PHP_EVAL, "eval"), {PHP_INCLUDE, "include"}, {PHP_INCLUDE_ONCE, "include_once"}, {PHP_REQUIRE, "require"}, {PHP_REQUIRE_ONCE, "require_once"}}) {
    Program p(php_layouts[0]);
    p.add_frame(0, PHP_USER_FUNCTION, false, false), p.add_frame(1, PHP_USER_FUNCTION, true, true);
    p.without_name(0), p.without_name(1);
    p.opline(1, PHP_INCLUDE_OR_EVAL, static_cast<uint32_t>(kind));
    EXPECT_EQ(p.names(), std::string(name) + " /srv/app.php; {main} /srv/app.php; ");
  }
}

TEST(PhpCode, AnyBytes) {
  std::mt19937 random(4);
  for (int i = 0; i < 500; i++) {
    language_object object;
    auto* bytes = reinterpret_cast<uint8_t*>(&object);
    for (size_t n = 0; n < sizeof object; n++) bytes[n] = static_cast<uint8_t>(random());
    language_table table = {};
    table.php = php_layouts[0];
    (void)decode_php(object, table, {});
  }
  EXPECT_FALSE(decode_php({}, Program(php_layouts[0]).table, {}));
}

TEST(PhpLayouts, WhatIsReadIsAsLongAsItsFields) {
  for (const php_layout& l : php_layouts) {
    for (uint16_t field : {l.frame_opline, l.frame_function, l.frame_previous}) EXPECT_LE(field + 8, PHP_FRAME_BYTES) << l.version;
    for (uint16_t field : {l.function_name, l.function_scope, l.function_file, l.function_handler}) EXPECT_LE(field + 8, l.function_bytes) << l.version;
    EXPECT_LE(l.function_bytes, PHP_KIND);
  }
}

TEST(PhpFiles, TheInstalledOneIsKnown) {
  auto file = format::ElfFile::open("/usr/bin/php8.2");
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  const auto found = recognise(*file);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->version.starts_with("PHP 8.2.")) << found->version;
  EXPECT_EQ(found->problem, "");
  EXPECT_LT(found->table.evaluation[0].begin, found->table.evaluation[0].end);
  EXPECT_EQ(found->table.php.executor, PHP_AT_ROOT);
}

} // namespace
} // namespace runtime
