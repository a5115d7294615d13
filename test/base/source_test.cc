// Places in scripts, and messages with the line and the mark under it.
#include "base/diagnostics.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Source, LinesAndColumnsFromOne) {
  const Source s("stdin", "ab\n\ncde\n");
  for (auto [offset, line, column] : {std::tuple(0u, 1u, 1u), std::tuple(2u, 1u, 3u), std::tuple(3u, 2u, 1u), std::tuple(4u, 3u, 1u), std::tuple(6u, 3u, 3u), std::tuple(8u, 4u, 1u), std::tuple(99u, 4u, 1u)}) {
    EXPECT_EQ(s.position(offset).line, line) << offset;
    EXPECT_EQ(s.position(offset).column, column) << offset;
  }
  EXPECT_EQ(s.line_at(0), "ab");
  EXPECT_EQ(s.line_at(2), "ab"); // the newline belongs to its line
  EXPECT_EQ(s.line_at(3), "");
  EXPECT_EQ(s.line_at(5), "cde");
  EXPECT_EQ(s.line_at(8), "");
  EXPECT_EQ(s.line_at(99), "");
}

TEST(Source, NothingAtAll) {
  const Source s("x.bt", "");
  EXPECT_EQ(s.size(), 0u);
  EXPECT_EQ(s.place({0, 0}), "x.bt:1:1-1");
  EXPECT_EQ(s.line_at(0), "");
  EXPECT_EQ(s.text({0, 10}), "");
}

TEST(Source, FilesOneBehindTheOther) {
  Source s("main.bt", "one\n");
  const uint32_t second = s.add("lib.bt", "two\nthree"), third = s.add("empty.bt", "");
  EXPECT_EQ(s.name(4), "main.bt"); // the end of a file is its own
  EXPECT_EQ(second, 5u);
  EXPECT_EQ(s.name(second), "lib.bt");
  EXPECT_EQ(s.place({second + 4, second + 9}), "lib.bt:2:1-6");
  EXPECT_EQ(s.text({second + 4, second + 7}), "thr");
  EXPECT_EQ(s.text({second + 4, 1000}), "three"); // no range goes on in another file
  EXPECT_EQ(s.name(third), "empty.bt");
  EXPECT_EQ(s.size(), third);
  EXPECT_EQ(s.file_text(second + 2), "two\nthree");
}

TEST(Source, RangesOfSeveralLines) {
  const Source s("x.bt", "a\nb\nc\n");
  EXPECT_EQ(s.place({0, 3}), "x.bt:1-2");
  EXPECT_EQ(s.place({0, 1}), "x.bt:1:1-2");
}

std::string rendered(std::string text, Range where) { return render(Source("stdin", std::move(text)), {.severity = Severity::error, .tag = "t", .where = where, .message = "wrong", .hint = {}, .other = {}, .note = {}}); }

TEST(Diagnostics, TheMarkIsUnderTheRange) {
  EXPECT_EQ(rendered("begin { x }", {8, 9}), "stdin:1:9-10: ERROR: wrong\nbegin { x }\n        ~\n");
  EXPECT_EQ(rendered("\tif\tx", {4, 5}), "stdin:1:5-6: ERROR: wrong\n\tif\tx\n\t  \t~\n"); // tabs stay tabs
  EXPECT_EQ(rendered("x", {0, 0}), "stdin:1:1-1: ERROR: wrong\nx\n~\n"); // of nothing, one
  EXPECT_EQ(rendered("x", {1, 1}), "stdin:1:2-2: ERROR: wrong\nx\n ~\n"); // behind the end
  EXPECT_EQ(rendered("a\nb", {0, 3}), "stdin:1-2: ERROR: wrong\n");
  EXPECT_EQ(rendered("a\n\nb", {2, 2}), "stdin:2:1-1: ERROR: wrong\n"); // an empty line shows nothing
}

// A character of several bytes is one column of a terminal.
TEST(Diagnostics, TheMarkCountsCharacters) {
  EXPECT_EQ(rendered("print(\"größe\", x)", {17, 18}), "stdin:1:18-19: ERROR: wrong\nprint(\"größe\", x)\n               ~\n");
  EXPECT_EQ(rendered("\"größe\" x", {0, 9}), "stdin:1:1-10: ERROR: wrong\n\"größe\" x\n~~~~~~~\n");
}

// Of a line that a program wrote only the part around the place is shown.
TEST(Diagnostics, LongLines) {
  std::string text(2000, 'a');
  text[1500] = 'X';
  const std::string out = rendered(text, {1500, 1501});
  const size_t line = out.find('\n') + 1, mark = out.find('\n', line) + 1;
  EXPECT_EQ(mark - line - 1, 500u);
  EXPECT_EQ(out[line + out.find('~') - mark], 'X');
  std::string wide;
  for (int i = 0; i < 1000; i++) wide += "ü";
  const std::string cut = rendered(wide, {1001, 1002}); // in the middle of a character
  EXPECT_NE(cut.find('~'), cut.npos);
}

TEST(Diagnostics, InTheOrderOfTheirPlaces) {
  const Source s("stdin", "a b c");
  Diagnostics d;
  d.error("one", {4, 5}, "third");
  d.warning("two", {2, 3}, "second");
  d.error("three", {0, 1}, "first", "try b");
  const std::string all = d.render(s, true);
  EXPECT_LT(all.find("first"), all.find("second"));
  EXPECT_LT(all.find("second"), all.find("third"));
  EXPECT_NE(all.find("HINT: try b\n"), all.npos);
  EXPECT_EQ(d.render(s, false).find("second"), std::string::npos);
  EXPECT_EQ(d.error_count(), 2u);
}

TEST(Diagnostics, EachThingIsSaidOnce) {
  Diagnostics d;
  for (int i = 0; i < 3; i++) d.error("t", {0, 1}, "same"), d.warning("w", {0, 1}, "another text of " + std::to_string(i));
  EXPECT_EQ(d.all().size(), 2u);
  d.error("t", {0, 1}, "other words");
  d.error("t", {0, 2}, "same");
  EXPECT_EQ(d.error_count(), 3u);
}

TEST(Diagnostics, NotesHaveAPlaceOfTheirOwn) {
  Source s("main.bt", "f(1)\n");
  const uint32_t lib = s.add("lib.bt", "fn f() {}\n");
  Diagnostics d;
  d.error("t", {0, 4}, "too many arguments", "", {lib + 3, lib + 4}, "it is declared here");
  EXPECT_EQ(d.render(s, true), "main.bt:1:1-5: ERROR: too many arguments\nf(1)\n~~~~\nlib.bt:1:4-5: NOTE: it is declared here\nfn f() {}\n   ~\n");
}

} // namespace
} // namespace base
