// Tokens: each spelling with its value, and each mistake with its tag.
#include "lang/lexer.h"
#include "spec/diagnostics.h"

#include <gtest/gtest.h>

#include <vector>

namespace lang {
namespace {

namespace tag = spec::tag;

struct Lexed {
  base::Arena arena;
  base::Diagnostics diagnostics;
  std::vector<Token> tokens; // without the end
  std::string tags;

  explicit Lexed(std::string_view text) {
    Mistakes mistakes(diagnostics);
    Lexer lexer(text, arena, mistakes);
    for (Token t = lexer.next(); t.kind != TokenKind::end; t = lexer.next()) tokens.push_back(t);
    for (const base::Diagnostic& d : diagnostics.all())
      tags += (tags.empty() ? "" : " ") + std::string(d.tag);
  }
};

struct NumberCase {
  std::string_view text;
  uint64_t value;
};

TEST(Lexer, Numbers) {
  constexpr NumberCase cases[] = {
      {"0", 0},
      {"42", 42},
      {"1_000_123", 1000123},
      {"010", 8},
      {"0777", 511},
      {"0x1F", 31},
      {"0Xff_ff", 65535},
      {"0x1d", 29},
      {"2e3", 2000},
      {"1E6", 1000000},
      {"0e99", 0},
      {"18446744073709551615", UINT64_MAX},
      {"0xffffffffffffffff", UINT64_MAX},
      {"123u", 123},
      {"123UL", 123},
      {"123ll", 123},
      {"0x10ULL", 16},
      {"5ns", 5},
      {"5us", 5000},
      {"5ms", 5000000},
      {"5s", 5000000000},
      {"1m", 60000000000},
      {"1h", 3600000000000},
      {"1d", 86400000000000},
      {"0s", 0},
  };
  for (const NumberCase& c : cases) {
    Lexed l(c.text);
    ASSERT_EQ(l.tokens.size(), 1u) << c.text;
    EXPECT_EQ(l.tokens[0].kind, TokenKind::integer) << c.text;
    EXPECT_EQ(l.tokens[0].value, c.value) << c.text;
    EXPECT_EQ(l.tags, "") << c.text;
  }
}

TEST(Lexer, BadNumbers) {
  for (std::string_view text :
       {"18446744073709551616", "99999999999999999999999", "1e20", "300000d", "0x", "08", "0x1g", "1__0",
        "1_", "12abc", "1e", "1M", "0b1", "$0", "$10000", "$1x"}) {
    Lexed l(text);
    EXPECT_EQ(l.tags, tag::bad_number) << text;
    EXPECT_EQ(l.tokens.size(), 1u) << text;
  }
}

TEST(Lexer, Strings) {
  EXPECT_EQ(Lexed(R"("a b")").tokens[0].text, "a b");
  EXPECT_EQ(Lexed(R"("\n\t\r\"\\")").tokens[0].text, "\n\t\r\"\\");
  EXPECT_EQ(Lexed(R"("\101\0\x41\x4a1\1234")").tokens[0].text, std::string_view("A\0AJ1S4", 7));
  EXPECT_EQ(Lexed(R"("")").tokens[0].text, "");
  EXPECT_EQ(Lexed("\"\xe4\xf6 \x1b[0m\"").tags, "");
  EXPECT_EQ(Lexed(R"("/* no comment // either")").tokens[0].text, "/* no comment // either");
}

TEST(Lexer, BadStrings) {
  EXPECT_EQ(Lexed(R"("\q")").tags, tag::bad_escape);
  EXPECT_EQ(Lexed(R"("\400")").tags, tag::bad_escape);
  EXPECT_EQ(Lexed(R"("\xg")").tags, tag::bad_escape);
  EXPECT_EQ(Lexed(R"("abc)").tags, tag::unterminated_string);
  EXPECT_EQ(Lexed("\"abc\n\"").tags, "unterminated_string");
  EXPECT_EQ(Lexed("\"abc\\").tags, "bad_escape unterminated_string");
}

TEST(Lexer, NamesAndSigns) {
  Lexed l("pid $v @m @ $12 $# if a->b..c <<= $x_1");
  std::vector<TokenKind> kinds;
  for (const Token& t : l.tokens) kinds.push_back(t.kind);
  EXPECT_EQ(kinds, (std::vector<TokenKind>{TokenKind::identifier, TokenKind::variable, TokenKind::map,
                                           TokenKind::map, TokenKind::positional, TokenKind::positional_count,
                                           TokenKind::keyword, TokenKind::identifier, TokenKind::arrow,
                                           TokenKind::identifier, TokenKind::dot_dot, TokenKind::identifier,
                                           TokenKind::shift_left_assign, TokenKind::variable}));
  EXPECT_EQ(l.tokens[2].text, "m");
  EXPECT_EQ(l.tokens[3].text, "");
  EXPECT_EQ(l.tokens[4].value, 12u);
  EXPECT_EQ(l.tokens[1].where.begin, 4u);
  EXPECT_EQ(l.tokens[1].where.end, 6u);
}

TEST(Lexer, BlanksAndComments) {
  EXPECT_EQ(Lexed("#!/usr/bin/acu\n a // b\n /* c \n */ d").tokens.size(), 2u);
  EXPECT_EQ(Lexed("\xEF\xBB\xBF"
                  "a")
                .tokens.size(),
            1u);
  EXPECT_EQ(Lexed("a /* b").tags, tag::unterminated_comment);
  EXPECT_EQ(Lexed("a /*/").tags, tag::unterminated_comment);
}

TEST(Lexer, BadCharacters) {
  for (std::string_view text : {"a $ b", "a ' b", "a \x01\x02 b", "a \xff\xfe b", "a # b", "a ` b"}) {
    Lexed l(text);
    EXPECT_EQ(l.tags, tag::bad_character) << text;
    EXPECT_EQ(l.tokens.size(), 2u) << text; // reading goes on
  }
}

TEST(Lexer, TellsAtMostAHundred) {
  std::string text;
  for (int i = 0; i < 500; i++) text += "` ";
  EXPECT_EQ(Lexed(text).diagnostics.error_count(), Mistakes::limit);
}

} // namespace
} // namespace lang
