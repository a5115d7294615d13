// The sentence on stacks that are not complete: when there is one, which reason and file it names, and what
// it advises.
#include "profile/completeness.h"
#include "profile/tables.h"

#include <gtest/gtest.h>

namespace profile {
namespace {

struct Sampled {
  Profile p;
  uint32_t thread = p.thread({1, 1, p.text("program"), p.text("program")});

  // `count` stacks that end with this note (empty: that are complete) in code of a file.
  void add(const char* note, const char* module, uint64_t count, const char* name = "f") {
    uint32_t node = 0;
    if (*note) node = p.node(node, p.frame({p.text(note), 0, FrameKind::note}));
    node = p.node(node, p.frame({p.text(name), p.text(module)}));
    node = p.node(node, p.frame({p.text("called"), p.text("/lib/other.so")}));
    p.add(thread, node, count, count);
  }
};

constexpr const char* no_tables = "[code without unwind tables]";

TEST(Completeness, OneInAHundredIsTolerated) {
  Sampled s;
  EXPECT_EQ(why_incomplete(s.p), "");
  s.add("", "/bin/program", 99);
  s.add(no_tables, "/bin/program", 1);
  EXPECT_EQ(why_incomplete(s.p), "");
  s.add(no_tables, "/bin/program", 1);
  EXPECT_EQ(why_incomplete(s.p),
            "only 98.0% of stacks are complete: code without unwind tables in /bin/program (2.0%): build it "
            "with -fasynchronous-unwind-tables or -fno-omit-frame-pointer");
}

TEST(Completeness, TheMostFrequentReasonIsNamed) {
  Sampled s;
  s.add("", "/bin/program", 10);
  s.add("[stack damaged]", "/bin/program", 30);
  s.add(no_tables, "/lib/one.so", 20);
  s.add(no_tables, "/lib/two.so", 40);
  EXPECT_TRUE(why_incomplete(s.p).starts_with(
      "only 10.0% of stacks are complete: code without unwind tables in /lib/two.so (40.0%): "));
  s.add("[stack damaged]", "/bin/program", 100); // for which there is no advice
  EXPECT_EQ(why_incomplete(s.p), "only 5.0% of stacks are complete: stack damaged in /bin/program (65.0%)");
}

TEST(Completeness, CodeMadeAtRunTimeHasAnotherRemedy) {
  for (auto [module, name] :
       {std::pair{"/tmp/perf-17.map", "Lmain;::run"}, std::pair{"", "[code made at run time]"}}) {
    Sampled s;
    s.add(no_tables, module, 1, name);
    EXPECT_NE(why_incomplete(s.p).find("generated at run time (100.0%): make its runtime keep frame pointers"),
              std::string::npos)
        << why_incomplete(s.p);
  }
}

TEST(Completeness, NotesThatAreNoEndsCountAsComplete) {
  Sampled s;
  s.add("[exiting]", "/bin/program", 5);
  s.add("[waits for a_lock]", "/bin/program", 5);
  EXPECT_EQ(why_incomplete(s.p), "");
}

TEST(Completeness, FirstLineOfAResult) {
  Sampled s;
  s.add(no_tables, "/bin/program", 7);
  s.p.about.samples = 7;
  EXPECT_TRUE(header_text(s.p.about, s.p.total()).starts_with("CPU\nsamples 7, lost 0\n"));
  s.p.about.incomplete = why_incomplete(s.p);
  EXPECT_TRUE(header_text(s.p.about, s.p.total()).starts_with("only 0.0% of stacks are complete: "));
  EXPECT_NE(report_json(s.p, {}).find("\"incomplete\":\"only 0.0% of stacks"), std::string::npos);
}

} // namespace
} // namespace profile
