// Tables for the terminal and as JSON: units and their limits, columns, order, sums.
#include "base/utf8.h"
#include "profile/tables.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

namespace profile {
namespace {

std::string time_of(uint64_t ns) { return amount({.unit = "ns", .notes = {}}, ns); }
std::string bytes_of(uint64_t n) { return amount({.unit = "bytes", .notes = {}}, n); }

// Each unit up to the next: none shows a thousand of itself.
TEST(Amounts, Times) {
  EXPECT_EQ(time_of(0), "0 ns");
  EXPECT_EQ(time_of(499), "499 ns");
  EXPECT_EQ(time_of(999), "999 ns");
  EXPECT_EQ(time_of(1'000), "1 µs");
  EXPECT_EQ(time_of(999'499), "999 µs");
  EXPECT_EQ(time_of(999'500), "1.0 ms");
  EXPECT_EQ(time_of(1'000'000), "1.0 ms");
  EXPECT_EQ(time_of(999'949'999), "999.9 ms");
  EXPECT_EQ(time_of(999'950'000), "1.00 s");
  EXPECT_EQ(time_of(12'345'000'000), "12.35 s");
}

TEST(Amounts, Bytes) {
  EXPECT_EQ(bytes_of(0), "0 B");
  EXPECT_EQ(bytes_of(1023), "1023 B");
  EXPECT_EQ(bytes_of(1024), "1.0 KiB");
  EXPECT_EQ(bytes_of((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes_of((uint64_t{1} << 30) - 1), "1.0 GiB");
  EXPECT_EQ(bytes_of(1023 * 1024), "1023.0 KiB");
  EXPECT_EQ(bytes_of(uint64_t{5} << 40), "5.0 TiB");
  EXPECT_EQ(bytes_of(uint64_t{3} << 50), "3.0 PiB");
  EXPECT_EQ(bytes_of(~uint64_t{0}), "16.0 EiB");
}

TEST(Amounts, Counts) {
  About a;
  a.unit = "faults";
  EXPECT_EQ(amount(a, 0), "0");
  EXPECT_EQ(amount(a, 999), "999");
  EXPECT_EQ(amount(a, 1000), "1,000");
  EXPECT_EQ(amount(a, ~uint64_t{0}), "18,446,744,073,709,551,615");
  a.unit = "samples", a.period_ns = 10'000'000;
  EXPECT_EQ(amount(a, 100), "1.00 s");
  EXPECT_EQ(amount(a, 1'000'000'000'000'000'000), "10000000000000000.00 s"); // more than 64 bits of ns
}

TEST(Amounts, Shares) {
  EXPECT_EQ(percent(0, 7), "0.0%");
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(percent(7, 7), "100.0%");
  EXPECT_EQ(percent(0, 0), "–");
  EXPECT_EQ(percent(~uint64_t{0}, ~uint64_t{0}), "100.0%");
}

TEST(Header, OneLineForWhatAndOneForHowMuch) {
  About a;
  a.title = "CPU", a.what = "process 17 (app)", a.host = "web1";
  a.duration_ns = 9'980'000'000, a.period_ns = 10'101'010;
  a.samples = 771, a.complete = 771, a.frames = 1000, a.frames_named = 912;
  EXPECT_EQ(header_text(a, 771), "CPU of process 17 (app), 9.98 s, on web1\nsamples 771 (7.79 s), lost 0 · stacks complete 100.0% · frames named 91.2%\n");
}

TEST(Header, UnitsThatAreNotSamples) {
  About a;
  a.title = "Page faults", a.unit = "faults", a.samples = 5;
  EXPECT_EQ(header_text(a, 1500), "Page faults\nsamples 5 (1,500 faults), lost 0\n");
  a.title = "Network", a.unit = "bytes", a.duration_ns = 2'000'000'000;
  EXPECT_EQ(header_text(a, 4096), "Network, 2.00 s\nsamples 5 (4.0 KiB, 2.0 KiB/s), lost 0\n");
  a = {};
  a.samples = 3;
  EXPECT_EQ(header_text(a, 3), "CPU\nsamples 3, lost 0\n"); // of a file that tells nothing more
}

TEST(Header, ControlCharactersOfForeignFilesAreEscaped) {
  About a;
  a.title = "C\x1b[2JPU", a.what = "x\ny", a.host = "h\xff", a.notes = {"n\r1"}, a.incomplete = "i\tj";
  EXPECT_EQ(header_text(a, 0), "i\\tj\nC\\x1b[2JPU of x\\ny, on h\\xff\nsamples 0, lost 0\nn\\r1\n");
}

// In columns, which a terminal counts.
size_t column_of(const std::string& text, std::string_view name) {
  const size_t at = text.find(name), line = text.rfind('\n', at) + 1;
  size_t columns = 0;
  for (std::string_view left = std::string_view(text).substr(line, at - line); !left.empty(); columns++) left.remove_prefix(base::utf8_length(left));
  return columns;
}

TEST(Tables, ColumnsAreAligned) {
  Profile p;
  p.about.unit = "ns";
  add(p, {{"seconds"}}, 5'000'000'000);
  add(p, {{"milliseconds"}}, 5'000'000);
  add(p, {{"microseconds"}}, 5'000);
  add(p, {{"nanoseconds"}}, 5);
  const std::string text = top_text(p, {});
  for (const char* name : {"seconds  app", "milliseconds  app", "microseconds  app", "nanoseconds  app"}) EXPECT_EQ(column_of(text, name), column_of(text, "function")) << text;
}

TEST(Tables, RatesHaveAColumn) {
  Profile p;
  p.about.unit = "bytes";
  p.about.duration_ns = 2'000'000'000;
  add(p, {{"send"}}, 4096);
  const std::string text = top_text(p, {});
  EXPECT_NE(text.find("2.0 KiB/s  send"), text.npos) << text;
  EXPECT_EQ(column_of(text, "send"), column_of(text, "function")) << text;
}

TEST(Tables, TheRestIsCounted) {
  Profile p;
  for (int i = 0; i < 5; i++) add(p, {{"f" + std::to_string(i)}}, 1);
  EXPECT_TRUE(top_text(p, {.top = 4}).ends_with(" 1 more function\n")) << top_text(p, {.top = 4});
  EXPECT_TRUE(top_text(p, {.top = 3}).ends_with(" 2 more functions\n"));
  EXPECT_EQ(top_text(p, {.top = 5}).find("more"), std::string::npos);
}

std::string names(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& r : rows) out += r.name + " " + std::to_string(r.self) + "/" + std::to_string(r.total) + "\n";
  return out;
}

TEST(Tables, OrdersAndTies) {
  Profile p;
  add(p, {{"b"}, {"z"}}, 2);
  add(p, {{"b"}, {"y"}}, 2);
  add(p, {{"a"}}, 1);
  EXPECT_EQ(names(functions_of(p, SortBy::self)), "y 2/2\nz 2/2\na 1/1\nb 0/4\n");
  EXPECT_EQ(names(functions_of(p, SortBy::total)), "b 0/4\ny 2/2\nz 2/2\na 1/1\n");
  EXPECT_EQ(names(functions_of(p, SortBy::name)), "a 1/1\nb 0/4\ny 2/2\nz 2/2\n");
  EXPECT_EQ(sort_of("total"), SortBy::total);
  EXPECT_EQ(sort_of("anything else"), SortBy::self);
}

// One name in two files is two functions; inlined or not it is one.
TEST(Tables, AFunctionIsItsNameAndFile) {
  Profile p;
  add(p, {{"init", "/lib/a.so"}}, 1);
  add(p, {{"init", "/lib/b.so"}}, 2);
  add(p, {{"main", "/lib/b.so"}, {"init", "/lib/b.so", FrameKind::inlined}}, 4);
  EXPECT_EQ(names(functions_of(p, SortBy::self)), "init 6/6\ninit 1/1\nmain 0/4\n");
  const std::vector<Row> rows = functions_of(p, SortBy::self);
  EXPECT_EQ(names(callers_of(p, rows[0])), "main 0/4\n");
  EXPECT_EQ(names(callers_of(p, rows[1])), "");
  EXPECT_EQ(names(callees_of(p, rows[2])), "init 0/4\n");
}

TEST(Tables, ModulesAndProcesses) {
  Profile p;
  add(p, {{"main"}, {"lib", "/lib/w.so"}, {"back"}}, 1, 1, {.process = "one", .pid = 1});
  add(p, {{"main"}, {"lib", "/lib/w.so"}}, 2, 2, {.process = "two", .pid = 2});
  add(p, {{"[no user stack]", "", FrameKind::note}}, 4, 4, {.process = "two", .thread = "other", .pid = 2, .tid = 9});
  EXPECT_EQ(names(modules_of(p)), "(no file) 4/4\n/lib/w.so 2/3\n/bin/app 1/3\n");
  EXPECT_EQ(names(processes_of(p)), "two 6/6\none 1/1\n");
  EXPECT_EQ(processes_of(p)[0].where, "2");
}

// A pid that was given twice, and two of one name.
TEST(Tables, ProcessesAreTheirNumberAndName) {
  Profile p;
  add(p, {{"f"}}, 1, 1, {.process = "sh", .pid = 5});
  add(p, {{"f"}}, 2, 2, {.process = "grep", .pid = 5});
  add(p, {{"f"}}, 4, 4, {.process = "sh", .pid = 6});
  EXPECT_EQ(names(processes_of(p)), "sh 4/4\ngrep 2/2\nsh 1/1\n");
}

// That a stack ends early is no function, unless nothing else is known of it.
TEST(Tables, WhyAStackEndsIsNoRow) {
  Profile p;
  add(p, {{"[stack ends early: a reason]", "", FrameKind::note}, {"f"}}, 3);
  add(p, {{"[no user stack]", "", FrameKind::note}}, 2);
  EXPECT_EQ(names(functions_of(p, SortBy::self)), "f 3/3\n[no user stack] 2/2\n");
}

TEST(Tables, DeepRecursions) {
  Profile p;
  const uint32_t frame = p.frame({p.text("f"), 0});
  uint32_t node = 0;
  for (int i = 0; i < 200'000; i++) node = p.node(node, frame);
  p.add(p.thread({}), node, 3, 3);
  EXPECT_EQ(names(functions_of(p, SortBy::self)), "f 3/3\n");
}

TEST(Report, NeighboursOfWhatIsAskedFor) {
  Profile p;
  for (int i = 0; i < 7; i++) add(p, {{"caller" + std::to_string(i)}, {"hot"}}, 10);
  add(p, {{"other"}}, 1);
  const std::string text = report_text(p, {.function = "ho*"});
  EXPECT_NE(text.find("\nhot: 98.6% including callees\n  called by\n"), text.npos) << text;
  EXPECT_NE(text.find("caller4"), text.npos);
  EXPECT_EQ(report_text(p, {.top = 1, .function = "none"}).find("called by"), std::string::npos);
  size_t callers = 0;
  const size_t from = text.find("called by"), to = text.find("\nprocesses");
  for (size_t at = from; (at = text.find("caller", at)) < to; at++) callers++;
  EXPECT_EQ(callers, 5u); // the largest
}

TEST(Report, JsonIsJson) {
  Profile p;
  p.about.what = "a \"quoted\" \\ name\x01";
  p.about.own_memory = 5;
  add(p, {{"f<\"x\">"}, {"größe", "/tmp/\\\""}}, ~uint64_t{0} >> 1);
  rapidjson::Document json;
  json.Parse(report_json(p, {}).c_str());
  ASSERT_FALSE(json.HasParseError()) << report_json(p, {});
  EXPECT_EQ(std::string(json["what"].GetString()), "a \"quoted\" \\ name\x01");
  EXPECT_EQ(json["total"].GetUint64(), ~uint64_t{0} >> 1);
  EXPECT_EQ(json["functions"].Size(), 2u);
  EXPECT_STREQ(json["functions"][0]["name"].GetString(), "größe");
  EXPECT_STREQ(json["functions"][0]["kind"].GetString(), "user");
  json.Parse(report_json(p, {.top = 0}).c_str());
  EXPECT_EQ(json["functions"].Size(), 0u);
}

} // namespace
} // namespace profile
