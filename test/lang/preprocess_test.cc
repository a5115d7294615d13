// What the preprocessor makes of macros, token by token, and where it says that the tokens are. Whole scripts with
// directives and headers are in test/runtime (c_define_*, c_if_*, c_include_*, import_*).
#include "lang/preprocess.h"
#include "spec/diagnostics.h"

#include <gtest/gtest.h>

namespace lang {
namespace {

struct Preprocessed {
  base::Source source;
  base::Arena arena;
  base::Diagnostics diagnostics;
  std::vector<Token> tokens; // without the end
  std::string text;          // their spellings, with a blank between two

  using Parameters = std::vector<std::pair<std::string, std::string>>;
  explicit Preprocessed(std::string script, Parameters parameters = {}) : source("test", std::move(script)) {
    Mistakes mistakes(diagnostics);
    ParseOptions options;
    options.parts.parameters = std::move(parameters);
    Preprocessor p(source, arena, mistakes, options);
    p.read_header = [](SourceFile&) {};
    for (Token t = p.next(); t.kind != TokenKind::end; t = p.next()) {
      tokens.push_back(t);
      text += (text.empty() ? "" : " ") + std::string(t.spelled);
    }
    p.tell_unknown_parameters();
  }
};

// The tokens of a text without mistakes.
std::string expanded(std::string script) {
  Preprocessed p(std::move(script));
  EXPECT_EQ(p.diagnostics.render(p.source, true), "");
  return p.text;
}

// The tokens with parameters from the command line, or what is wrong with these.
std::string with(std::string script, Preprocessed::Parameters parameters) {
  Preprocessed p(std::move(script), std::move(parameters));
  const std::string mistakes = p.diagnostics.render(p.source, true);
  return mistakes.empty() ? p.text : mistakes;
}

TEST(Preprocessor, ParametersHaveStandardValuesAndGivenOnes) {
  constexpr std::string_view script = "#param N 10\n#param IS true\n#param T \"a\"\n#if IS\nN T\n#else\nnone\n#endif";
  EXPECT_EQ(with(std::string(script), {}), "10 \"a\"");
  EXPECT_EQ(with(std::string(script), {{"N", "2ms"}, {"T", "\"x\\ #endif\nN"}}), "2ms \"\\\"x\\\\ #endif\\nN\"");
  EXPECT_EQ(with(std::string(script), {{"IS", "false"}}), "none");
  EXPECT_EQ(with("#param N 10\n#if N > 5\nmany\n#endif", {{"N", "6"}}), "many");
}

TEST(Preprocessor, ParametersThatDoNotFitAreTold) {
  auto says = [](std::string script, Preprocessed::Parameters given, std::string_view what) {
    const std::string all = with(std::move(script), std::move(given));
    EXPECT_NE(all.find(what), all.npos) << all;
  };
  says("#param N 10\nN", {{"N", "ten"}}, "-D:1:3-6: ERROR: `ten` is no number");
  says("#param N 10\nN", {{"N", "1) + (2"}}, "`1) + (2` is no number");
  says("#param IS false\nIS", {{"IS", "maybe"}}, "`maybe` is no `true` or `false`");
  says("#param LIMIT 10\nLIMIT", {{"LIMITS", "1"}}, "did you mean `LIMIT`?");
  says("N", {{"N", "1"}}, "it declares none");
  says("#param N 10\nN", {{"N", "1"}, {"N", "2"}}, "parameter `N` is given twice");
  says("#param N 10\n#param N 10\nN", {}, "`N` is declared already");
  says("#param N\nN", {}, "#param needs a name and a value");
  says("#param N 1 + 1\nN", {}, "#param needs a name and a value");
}

TEST(Preprocessor, NamesOfMacrosAreReplaced) {
  EXPECT_EQ(expanded("#define A 1\nA $A @A \"A\" A_ 0xA"), "1 $A @A \"A\" A_ 0xA");
  EXPECT_EQ(expanded("#define A B\n#define B C\n#define C 5\nA"), "5");
  EXPECT_EQ(expanded("#define A\n[A]"), "[ ]");
  EXPECT_EQ(expanded("A\n#define A 1\nA\n#undef A\nA"), "A 1 A");
}

TEST(Preprocessor, AMacroIsNotReplacedWithinItself) {
  EXPECT_EQ(expanded("#define a a + 1\na"), "a + 1");
  EXPECT_EQ(expanded("#define a b\n#define b a\na b"), "a b");
  EXPECT_EQ(expanded("#define f(x) x + f(x)\nf(f(1))"), "1 + f ( 1 ) + f ( 1 + f ( 1 ) )");
  EXPECT_EQ(expanded("#define g f\n#define f(x) x g\nf(1)(2)"), "1 f ( 2 )");
}

TEST(Preprocessor, Arguments) {
  EXPECT_EQ(expanded("#define f(a, b) [a|b]\nf(1, (2, 3)) f(,) f( x y , z )"), "[ 1 | ( 2 , 3 ) ] [ | ] [ x y | z ]");
  EXPECT_EQ(expanded("#define f(a) <a>\nf\n(\n1\n)\nf + f"), "< 1 > f + f");
  EXPECT_EQ(expanded("#define f() 0\nf() f( )"), "0 0");
  EXPECT_EQ(expanded("#define e f\n#define f(a) <a>\ne(e(1))"), "< < 1 > >");
  EXPECT_EQ(expanded("#define f(a) a a\n#define n 7\nf(n)"), "7 7");
}

TEST(Preprocessor, MoreArguments) {
  EXPECT_EQ(expanded("#define f(...) <__VA_ARGS__>\nf() f(1) f(1, 2)"), "< > < 1 > < 1 , 2 >");
  EXPECT_EQ(expanded("#define f(a, ...) a, ## __VA_ARGS__\nf(1) f(1, 2, 3)"), "1 1 , 2 , 3");
  EXPECT_EQ(expanded("#define f(a, r...) a r\nf(1, 2, 3)"), "1 2 , 3");
  EXPECT_EQ(expanded("#define f(a, ...) a __VA_OPT__([ __VA_ARGS__ ])\nf(1) f(1, 2)"), "1 1 [ 2 ]");
}

TEST(Preprocessor, TextOfArguments) {
  EXPECT_EQ(expanded("#define s(x) #x\ns(a  +  b) s( \"q\\n\" ) s()"), R"("a + b" "\"q\\n\"" "")");
  EXPECT_EQ(expanded("#define s(x) #x\n#define c s('\"')\nc"), R"("'\"'")");
  EXPECT_EQ(expanded("#define n 3\n#define s(x) #x\n#define v(x) s(x)\ns(n) v(n)"), "\"n\" \"3\"");
  EXPECT_EQ(Preprocessed("#define s(x) #x\ns(\"a\\n\")").tokens.at(0).text, "\"a\\n\"");
}

TEST(Preprocessor, PastedTokens) {
  EXPECT_EQ(expanded("#define p(a, b) a ## b\np(1, 2) p(x, 1) p(, 3) p(4, ) p(, )|"), "12 x1 3 4 |");
  EXPECT_EQ(expanded("#define p(a, b) a##b\np(@, m) p(<, <=) p(a b, c d)"), "@m <<= a bc d");
  EXPECT_EQ(expanded("#define v(a) $ ## a\nv(x)"), "$x");
  EXPECT_EQ(expanded("#define n 3\n#define p(a, b) a##b\np(n, n) p(n,)"), "nn 3");
  EXPECT_EQ(Preprocessed("#define p(a, b) a##b\np(@, m)").tokens.at(0).kind, TokenKind::map);
}

TEST(Preprocessor, PlacesAreThoseOfTheUse) {
  Preprocessed p("#define two(a) a + a\nx two(1) y");
  ASSERT_EQ(p.text, "x 1 + 1 y");
  for (size_t i = 1; i < 4; i++) {
    EXPECT_EQ(p.source.place(p.tokens[i].where), "test:2:3-9");
    EXPECT_TRUE(p.tokens[i].from_macro);
  }
  EXPECT_EQ(p.source.place(p.tokens[4].where), "test:2:10-11");
  EXPECT_FALSE(p.tokens[4].from_macro);
}

TEST(Preprocessor, Conditions) {
  auto holds = [](const std::string& condition) {
    return expanded("#define ONE 1\n#define F(x) (x)\n#if " + condition + "\nyes\n#else\nno\n#endif");
  };
  for (const char* condition :
       {"1", "ONE", "F(2) == 2", "defined ONE", "defined(ONE) && !defined(TWO)", "1 ? 1 : 1/0", "0 || 2 > 1",
        "-1 > 0u", "-1 < 0", "(1 << 63) < 0", "0x8000000000000000 > 0", "7 % 4 == 3", "~0 == -1", "'a' < 'b'",
        "'\\0' == 0", "5 & 4", "1 | 0", "3 ^ 1", "UNKNOWN == 0", "1 - 1 - 1 == -1", "16 >> 2 == 4", "-8 >> 1 == -4",
        "true && !false", "1 ? 0 : 1 ? 0 : 0 || 1 ? 1 : 0", "__SIZEOF_LONG__ == 8", "1L + 1ULL == 2"})
    EXPECT_EQ(holds(condition), std::string(condition).starts_with("1 ? 0 :") ? "no" : "yes") << condition;
  for (const char* condition : {"0", "TWO", "!ONE", "defined TWO", "1 == 2", "0 && 1/0", "-1 > 0", "1 > 2 || 0"})
    EXPECT_EQ(holds(condition), "no") << condition;
}

TEST(Preprocessor, EveryPrefixEnds) {
  const std::string script = "#define F(a, ...) #a a##a __VA_ARGS__ F(a)\n#if defined F && (1 ? F(2) : 0)\nF(1, (2), F(3))\n"
                             "#elif __has_include(<x.h>)\n#else\n#endif\n#undef F\n# error \"x\"\n#define G() G\nG()()\n";
  for (size_t length = 0; length <= script.size(); length++) {
    Preprocessed p(script.substr(0, length));
    EXPECT_LE(p.tokens.size(), 100u);
    p.diagnostics.render(p.source, true);
  }
}

TEST(Source, FilesLieBehindEachOther) {
  base::Source source("main", "one\ntwo");
  uint32_t second = source.add("second", "three\nfour\n"), third = source.add("third", "");
  EXPECT_EQ(source.place({4, 7}), "main:2:1-4");
  EXPECT_EQ(source.place({second, second + 5}), "second:1:1-6");
  EXPECT_EQ(source.place({second + 6, second + 10}), "second:2:1-5");
  EXPECT_EQ(source.place({third, third}), "third:1:1-1");
  EXPECT_EQ(source.text(base::Range{second + 6, second + 10}), "four");
  EXPECT_EQ(source.line_at(second + 7), "four");
  EXPECT_EQ(source.line_at(5), "two");
  EXPECT_EQ(source.name(7), "main");
  EXPECT_EQ(source.name(second), "second");
  // A place that reaches out of its file ends with it.
  EXPECT_EQ(source.place({4, second + 2}), "main:2:1-4");
  EXPECT_EQ(source.text(base::Range{4, second + 2}), "two");
}

} // namespace
} // namespace lang
