// Patterns against the C library's regcomp(3), which is another implementation of the same syntax; and what each mistake says.
#include "lang/regex.h"

#include <gtest/gtest.h>

#include <random>
#include <regex.h>

namespace lang {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  RegexMistake mistake;
  const std::optional<Automaton> automaton = compile_regex(pattern, mistake);
  EXPECT_TRUE(automaton) << pattern << ": " << mistake.message;
  return automaton && run(*automaton, text);
}

// Patterns of the common syntax, over a small alphabet so that texts match often.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}
  std::string pattern(unsigned depth = 0) {
    std::string out = sequence(depth);
    for (unsigned n = below(4); n > 2; n--) out += "|" + sequence(depth);
    return out;
  }
  std::string text() {
    std::string out;
    for (unsigned n = below(10); n > 0; n--) out += "aabbc1 ._"[below(9)];
    return out;
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string sequence(unsigned depth) {
    std::string out;
    for (unsigned n = 1 + below(4); n > 0; n--) out += piece(depth);
    return out;
  }
  std::string piece(unsigned depth) {
    // The C library (2.36) finds too much where anchors are repeated.
    if (depth == 0 && below(12) == 0) return below(2) ? "^" : "$";
    static constexpr const char* repeats[] = {"", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}"};
    return atom(depth) + repeats[below(std::size(repeats))];
  }
  std::string atom(unsigned depth) {
    static constexpr const char* sets[] = {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "[]b]", "[b-]", "[[:digit:]_]", "\\w", "\\s", "\\."};
    if (depth < 3 && below(4) == 0) return "(" + pattern(depth + 1) + ")";
    return sets[below(std::size(sets))];
  }
  std::minstd_rand random_;
};

TEST(Regex, MatchesLikeTheCLibrary) {
  Generator generator(1);
  unsigned matched = 0, tried = 0;
  for (unsigned i = 0; i < 3000; i++) {
    const std::string pattern = generator.pattern();
    regex_t expected;
    if (regcomp(&expected, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) continue;
    RegexMistake mistake;
    const std::optional<Automaton> automaton = compile_regex(pattern, mistake);
    for (unsigned n = 0; automaton && n < 8; n++, tried++) {
      const std::string text = generator.text();
      const bool wanted = regexec(&expected, text.c_str(), 0, nullptr, 0) == 0;
      EXPECT_EQ(run(*automaton, text), wanted) << pattern << " in '" << text << "'";
      matched += wanted;
    }
    regfree(&expected);
  }
  EXPECT_GT(tried, 20'000u);
  EXPECT_GT(matched, tried / 8);
}

TEST(Regex, MatchesBytes) {
  EXPECT_TRUE(matches("^..$", "é"));
  EXPECT_TRUE(matches("[^a]", "\xff"));
  EXPECT_TRUE(matches("\\xff\\x0a", "\xff\n"));
  EXPECT_TRUE(matches("a.b", "a\nb"));
}

TEST(Regex, KnowsTheCommonExtensions) {
  EXPECT_TRUE(matches("^\\d{3}-\\D\\S\\W$", "123-ab!"));
  EXPECT_TRUE(matches("(?i)^[a-c]x[^d]$", "BXe"));
  EXPECT_FALSE(matches("(?i)[^d]", "D"));
  EXPECT_TRUE(matches("^(?:ab)+$", "abab"));
  EXPECT_TRUE(matches("^{\"a\":{,2}$", "{\"a\"::"));
  EXPECT_TRUE(matches("^[\\d\\]-]+$", "1]-"));
}

TEST(Regex, KnowsWhenItCanStop) {
  RegexMistake mistake;
  EXPECT_EQ(compile_regex("a*", mistake)->start, Automaton::matches);
  EXPECT_EQ(run(*compile_regex("$^", mistake), ""), true);
  EXPECT_EQ(run(*compile_regex("$^", mistake), "a"), false);
}

TEST(Regex, IsLinearWhereBacktrackingIsNot) {
  EXPECT_FALSE(matches("^(a|a|aa)*b$", std::string(100'000, 'a')));
}

struct MistakeCase {
  std::string_view pattern;
  size_t begin, end;
  std::string_view message;
};
void PrintTo(const MistakeCase& c, std::ostream* out) { *out << c.pattern; }

class RegexMistakes : public testing::TestWithParam<MistakeCase> {};

TEST_P(RegexMistakes, NameTheirLocation) {
  const MistakeCase& c = GetParam();
  RegexMistake mistake;
  ASSERT_FALSE(compile_regex(c.pattern, mistake));
  EXPECT_EQ(mistake.message.substr(0, c.message.size()), c.message);
  EXPECT_EQ(mistake.begin, c.begin);
  EXPECT_EQ(mistake.end, c.end);
}

constexpr MistakeCase mistakes[] = {
    {"a(b", 1, 2, "this `(` is not closed"},
    {"ab)", 2, 3, "`)` has no `(`"},
    {"a[bc", 1, 2, "this `[` is not closed"},
    {"*a", 0, 1, "there is nothing before it"},
    {"a|{2}", 2, 5, "there is nothing before it"},
    {"^*", 1, 2, "there is nothing here"},
    {"a**", 2, 3, "a repetition can't be repeated"},
    {"a{3,2}", 1, 6, "the most comes before the least"},
    {"a{1001}", 1, 7, "more than 1000 repetitions"},
    {"[z-a]", 1, 4, "this range ends before"},
    {"[\\d-z]", 1, 5, "a range goes from one byte"},
    {"[[:letter:]]", 1, 11, "there is no class `[:letter:]`"},
    {"a\\", 1, 2, "the pattern ends in a backslash"},
    {"\\q", 0, 2, "unknown escape `\\q`"},
    {"(a)\\1", 3, 5, "references to groups"},
    {"\\bab", 0, 2, "word boundaries"},
    {"\\x0", 0, 3, "\\x needs two hexadecimal digits"},
    {"(?=a)", 0, 3, "groups that begin with `(?`"},
    {"(a{100}){100}", 0, 13, "this pattern is too large: it needs more than 2000 steps"},
    {"a.{14}b", 0, 7, "this pattern is too large: it needs more than 32768 table entries"},
};
INSTANTIATE_TEST_SUITE_P(All, RegexMistakes, testing::ValuesIn(mistakes));

} // namespace
} // namespace lang
