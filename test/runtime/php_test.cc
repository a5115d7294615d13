// PHP: its files, its functions, frames of stopped programs.
#include "runtime/php.h"

#include "runtime/php_layouts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace runtime {
namespace {

constexpr uint64_t root = 0x100000, frames = 0x400000, functions = 0x500000, texts = 0x600000, oplines = 0x700000;

// A handmade process: words by address; what was not set is not readable.
class Program {
public:
  explicit Program(const php_layout& layout) {
    table.kind = LANGUAGE_PHP;
    table.root = root;
    table.php = layout;
    word(root + l().current, frames);
  }
  const php_layout& l() const { return table.php; }
  void word(uint64_t address, uint64_t value, unsigned size = 8) {
    for (unsigned i = 0; i < size; i++) bytes_[address + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  void text(uint64_t address, std::string_view text) {
    for (uint64_t i = 0; i < 1100; i++) bytes_[address + i] = 0;
    word(address + l().text_length, text.size());
    for (size_t i = 0; i < text.size(); i++) bytes_[address + l().text_data + i] = static_cast<uint8_t>(text[i]);
  }
  // Frame `n` is in function `n`, at line 10 + n; the next one calls it.
  void add_frame(uint64_t n, uint8_t type, bool is_top, bool is_last) {
    const uint64_t at = frames + n * 0x1000, function = functions + n * 0x1000;
    for (uint64_t i = 0; i < PHP_FRAME_BYTES; i += 8) word(at + i, 0);
    for (uint64_t i = 0; i < PHP_FUNCTION_BYTES; i += 8) word(function + i, 0);
    word(at + l().frame_function, function);
    word(at + l().frame_previous, is_last ? 0 : at + 0x1000);
    word(at + l().frame_call_info, is_top ? l().top : 0, 4);
    word(at + l().frame_opline, oplines + n * 0x100);
    word(oplines + n * 0x100 + l().opline_line, 10 + n, 4);
    word(function + l().function_type, type, 1);
    word(function + l().function_name, texts);
    text(texts, "work");
    if (type != PHP_INTERNAL_FUNCTION) {
      word(function + l().function_file, texts + 0x1000);
      word(function + l().function_line, 3, 4);
      text(texts + 0x1000, "/srv/app.php");
    }
  }
  void in_class(uint64_t n) {
    word(functions + n * 0x1000 + l().function_scope, texts + 0x3000);
    word(texts + 0x3000 + l().class_name, texts + 0x2000);
    text(texts + 0x2000, "Server");
  }
  LanguageStack walk() const { return walk_php(table, 0, read()); }
  ReadMemory read() const {
    return [this](uint64_t address, std::span<std::byte> to) {
      for (size_t i = 0; i < to.size(); i++) {
        const auto at = bytes_.find(address + i);
        if (at == bytes_.end()) return false;
        to[i] = static_cast<std::byte>(at->second);
      }
      return true;
    };
  }

  language_table table = {};

private:
  std::map<uint64_t, uint8_t> bytes_;
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

TEST(PhpCode, NamesAndFiles) {
  Program p(php_layouts[0]);
  p.add_frame(0, PHP_USER_FUNCTION, false, false), p.add_frame(1, PHP_INTERNAL_FUNCTION, false, false), p.add_frame(2, PHP_USER_FUNCTION, true, true);
  p.in_class(0);
  p.word(functions + 0x2000 + p.l().function_name, 0); // the code of a file
  const LanguageStack stack = p.walk();
  ASSERT_EQ(stack.objects.size(), 3u);
  std::string names;
  for (const language_object& object : stack.objects) {
    const auto code = decode_php(object, p.table, {});
    ASSERT_TRUE(code);
    names += code->name + " " + code->file + "; ";
  }
  EXPECT_EQ(names, "Server::work /srv/app.php; work ; {main} /srv/app.php; ");
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
    EXPECT_LT(l.function_bytes, PHP_FUNCTION_BYTES);
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
}

} // namespace
} // namespace runtime
