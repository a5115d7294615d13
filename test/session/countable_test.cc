// Which probes only count, so that a part of their events is enough.
#include "lang/countable.h"
#include "session/compile.h"

#include <gtest/gtest.h>

namespace {

constexpr std::string_view clock = "profile:hz:99";

// Of the probes of a script, each of which has the clock `P`: those that only count, as 1.
std::string countable(std::string script) {
  for (size_t at = 0; (at = script.find("P ", at)) != script.npos; at += clock.size()) script.replace(at, 1, clock);
  base::Source source("script.bt", script);
  base::Diagnostics diagnostics;
  session::Compiled compiled;
  const session::CompileOptions options;
  if (!session::parse(compiled, source, options, diagnostics) || !session::check(compiled, options, diagnostics)) return diagnostics.render(source, false);
  const auto found = lang::countable_probes(*compiled.tree);
  std::string out;
  for (const auto& probe : compiled.tree->probes) out += std::ranges::find(found, probe.get()) != found.end() ? '1' : '0';
  return out;
}

} // namespace

TEST(Countable, Additions) {
  EXPECT_EQ(countable("P { @ = count(); }"), "1");
  EXPECT_EQ(countable("P /pid > 1/ { @[comm, kstack] = count(); @s = sum(pid); @a = avg(pid); @t = stats(pid); @h = hist(pid); @l = lhist(pid, 0, 9, 1); }"), "1");
  EXPECT_EQ(countable("P { @n++; @m += 3; @k--; }"), "1");
  EXPECT_EQ(countable("P { $x = pid; if ($x > 3) { @[str(curtask.comm)] = count(); } else { let $y = cpu; @z[$y] = count(); return; } }"), "1");
}

TEST(Countable, NotWhatDoesMore) {
  for (const char* block : {"@x = pid;", "@n = count(); printf(\"x\");", "@n = count(); exit();", "@n = max(pid);", "@n = min(pid);", "@n = tseries(pid, 1s, 9);", "@n = count(); clear(@m); @m[pid] = count();",
                            "@n = count(); delete(@m, 1); @m[1] = count();", "if (@n < 3) { @n = count(); }", "@n[@m] = count(); @m++;", "$x = @n++; @k[$x] = count();", "@n *= 3;",
                            "for ($i : 0..3) { @n = count(); }", "unroll(2) { @n = count(); }", "$i = 0; while ($i < 3) { $i++; @n = count(); }", "$x = pid;", "time();"})
    EXPECT_EQ(countable(std::string("P { ") + block + " }"), "0") << block;
  EXPECT_EQ(countable("fn f() : int64 { return 1; } P { @n = sum(f()); }"), "0");
}

TEST(Countable, NotWhatAnotherProbeReads) {
  EXPECT_EQ(countable("P { @n = count(); } P /@n > 3/ { @m = count(); }"), "00");
  EXPECT_EQ(countable("P { @n = count(); } P { @m = count(); print(@n); }"), "00");
  EXPECT_EQ(countable("P { @n = count(); } P { @n = count(); @m = count(); }"), "11");
}

TEST(Countable, ProbesThatAreNoEventsMayRead) {
  EXPECT_EQ(countable("begin { @n = count(); } P { @n = count(); } interval:s:1 { print(@n); clear(@n); } end { if (@n > 3) { printf(\"many\"); } }"), "0100");
}
