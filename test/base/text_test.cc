// Small text helpers: globs, numbers, the nearest word, escapes, UTF-8, singulars and plurals.
#include "base/markup.h"
#include "base/counted.h"
#include "base/text.h"
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace base {
namespace {

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split(",a,,", ','), (std::vector<std::string_view>{"", "a", "", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Trim, BlanksOfLines) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \t\r\n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Replace, WhatIsPutInIsNotLookedAtAgain) {
  std::string text = "aXbXX";
  replace_all(text, "X", "XX");
  EXPECT_EQ(text, "aXXbXXXX");
  replace_all(text, "XX", "");
  EXPECT_EQ(text, "ab");
}

TEST(Right, FillsColumns) {
  EXPECT_EQ(right("ab", 4), "  ab");
  EXPECT_EQ(right("5 µs", 5), " 5 µs"); // four columns, five bytes
  EXPECT_EQ(right("too long", 3), "too long");
  EXPECT_EQ(right("", 2), "  ");
}

// Against the definition: a star is any run, tried one by one.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && matches(pattern.substr(1), text.substr(1));
}

TEST(Glob, EveryShortPatternAndText) {
  const auto words = [](std::string_view letters, size_t most) {
    std::vector<std::string> out = {""};
    for (size_t begin = 0, length = 0; length < most; length++) {
      const size_t end = out.size();
      for (; begin < end; begin++)
        for (char c : letters) out.push_back(out[begin] + c);
    }
    return out;
  };
  for (const std::string& pattern : words("ab*?", 5))
    for (const std::string& text : words("ab", 4)) ASSERT_EQ(glob_match(pattern, text), matches(pattern, text)) << pattern << " " << text;
}

TEST(Glob, ManyStarsAreQuick) {
  std::string pattern, text(20'000, 'a');
  for (int i = 0; i < 1000; i++) pattern += "*a";
  EXPECT_TRUE(glob_match(pattern, text));
  EXPECT_FALSE(glob_match(pattern + "b", text));
}

TEST(Integers, BasesAndLimits) {
  EXPECT_EQ(parse_integer("0"), 0u);
  EXPECT_EQ(parse_integer("010"), 8u);
  EXPECT_EQ(parse_integer("0x1F"), 31u);
  EXPECT_EQ(parse_integer("0XfF"), 255u);
  EXPECT_EQ(parse_integer("18446744073709551615"), ~uint64_t{0});
  EXPECT_EQ(parse_integer("0xffffffffffffffff"), ~uint64_t{0});
  EXPECT_EQ(parse_integer("01777777777777777777777"), ~uint64_t{0});
  for (const char* wrong : {"", "x", "0x", "08", "1a", "-1", "+1", " 1", "1 ", "18446744073709551616", "0x10000000000000000", "99999999999999999999"}) EXPECT_FALSE(parse_integer(wrong)) << wrong;
}

TEST(Hex, UpToTheCharacterBehind) {
  uint64_t value = 0;
  std::string_view text = "ffffffff81000000-ffffffff81001000 r";
  ASSERT_TRUE(take_hex(text, '-', value));
  EXPECT_EQ(value, 0xffffffff81000000u);
  ASSERT_TRUE(take_hex(text, ' ', value));
  EXPECT_EQ(text, "r");
  for (std::string_view wrong : {"", "12", "x ", "12-", "10000000000000000 "}) {
    std::string_view rest = wrong;
    EXPECT_FALSE(take_hex(rest, ' ', value)) << wrong;
    EXPECT_EQ(rest, wrong);
  }
}

TEST(Nearest, TyposOnly) {
  const std::vector<std::string_view> words = {"kprobe", "kretprobe", "uprobe", "interval", "tracepoint"};
  EXPECT_EQ(nearest("kprobes", words), "kprobe");
  EXPECT_EQ(nearest("krpobe", words), "kprobe"); // two letters exchanged
  EXPECT_EQ(nearest("tracepiont", words), "tracepoint");
  EXPECT_EQ(nearest("internal", words), "interval");
  EXPECT_EQ(nearest("xyz", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("kprobe", {}), "");
}

// Of two that are as near the first counts: the order of the table is the reader's.
TEST(Nearest, TheFirstOfSeveral) {
  EXPECT_EQ(nearest("bat", {"cat", "bar"}), "cat");
  EXPECT_EQ(nearest("bat", {"bar", "cat"}), "bar");
}

TEST(Printable, NothingMovesTheCursor) {
  EXPECT_EQ(printable("plain ü €"), "plain ü €");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b"); // CSI in one character
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
}

TEST(Utf8, OneCharacterOrNone) {
  for (auto [text, length] : {std::pair("a", 1), std::pair("ü", 2), std::pair("€", 3), std::pair("😀", 4), std::pair("\xf4\x8f\xbf\xbf", 4)}) EXPECT_EQ(utf8_length(text), static_cast<size_t>(length)) << text;
  for (std::string_view wrong : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) EXPECT_EQ(utf8_length(wrong), 0u) << wrong;
}

// Against the table of the standard (Unicode, table 3-7): each number to UTF-8 and back.
TEST(Utf8, EveryCharacter) {
  for (uint32_t c = 0; c <= 0x110000; c++) {
    std::string text;
    if (c < 0x80)
      text = {static_cast<char>(c)};
    else if (c < 0x800)
      text = {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    else if (c < 0x10000)
      text = {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    else
      text = {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    const bool is_character = (c < 0xd800 || c > 0xdfff) && c < 0x110000;
    ASSERT_EQ(utf8_length(text), is_character ? text.size() : 0) << c;
  }
}

TEST(Counted, SingularsAndPlurals) {
  for (auto [n, unit, text] : {std::tuple(1, "sample", "1 sample"), std::tuple(0, "sample", "0 samples"), std::tuple(2, "process", "2 processes"), std::tuple(2, "entry", "2 entries"), std::tuple(2, "day", "2 days"),
                               std::tuple(2, "key", "2 keys"), std::tuple(2, "switch", "2 switches"), std::tuple(2, "index", "2 indexes"), std::tuple(2, "push", "2 pushes"), std::tuple(1, "process", "1 process")})
    EXPECT_EQ(counted(static_cast<uint64_t>(n), unit), text);
  EXPECT_EQ(is_or_are(1), "is");
  EXPECT_EQ(was_or_were(0), "were");
}

TEST(Utf8, ShortenedToWholeCharacters) {
  EXPECT_EQ(shortened("worker", 6), "worker");
  EXPECT_EQ(shortened("workers", 6), "worke…");
  EXPECT_EQ(shortened("größer", 4), "grö…");
  EXPECT_EQ(first_characters("a\xff\xfe", 2), "a\xff");
}

TEST(Markup, NothingOfATextIsMarkup) {
  EXPECT_EQ(markup("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(markup("a\nb\x01\x7f"), "a\nb \x7f");
  EXPECT_EQ(markup("\xff\xef\xbf\xbe"), "\xef\xbf\xbd\xef\xbf\xbd") << "no UTF-8, and no character";
}

TEST(InShell, OneWord) {
  EXPECT_EQ(in_shell("/tmp/core.4711"), "/tmp/core.4711");
  EXPECT_EQ(in_shell("a core"), "'a core'");
  EXPECT_EQ(in_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(in_shell(""), "''");
}

} // namespace
} // namespace base
