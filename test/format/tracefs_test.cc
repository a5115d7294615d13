// Format texts, well formed and not, and the tracefs of this machine.
#include "format/tracefs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

using format::parse_trace_format;
using format::Tracefs;

namespace {

constexpr std::string_view sample = R"(name: sample
ID: 41
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:const char *const * argv;	offset:24;	size:8;	signed:0;
	field:__data_loc char[] name;	offset:32;	size:4;	signed:0;
	field:__data_loc unsigned int[] lengths;	offset:36;	size:4;	signed:0;
	field:unsigned long args[6];	offset:40;	size:48;	signed:0;
	field:struct page * page;	offset:88;	size:8;	signed:0;
	field:long long x;	offset:96;	size:8;	signed:1;

print fmt: "field:%d; comm=%s", REC->common_pid, REC->comm
)";

TEST(TraceFormat, reads_declarations) {
  auto format = parse_trace_format(sample);
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(format->name, "sample");
  EXPECT_EQ(format->id, 41u);
  ASSERT_EQ(format->fields.size(), 9u);
  const auto& f = format->fields;
  EXPECT_TRUE(f[0].is_common);
  EXPECT_EQ(f[0].type, "unsigned short");
  EXPECT_EQ(f[2].type, "char");
  EXPECT_EQ(f[2].name, "comm");
  EXPECT_TRUE(f[2].is_array);
  EXPECT_EQ(f[2].count, 16u);
  EXPECT_EQ(f[3].type, "const char *const *");
  EXPECT_EQ(f[3].name, "argv");
  EXPECT_TRUE(f[4].is_located);
  EXPECT_EQ(f[4].type, "char");
  EXPECT_FALSE(f[4].is_array);
  EXPECT_EQ(f[5].type, "unsigned int");
  EXPECT_EQ(f[5].name, "lengths");
  EXPECT_EQ(f[6].count, 6u);
  EXPECT_EQ(f[7].type, "struct page *");
  EXPECT_TRUE(f[8].is_signed);
  EXPECT_EQ(f[8].offset, 96u);
}

TEST(TraceFormat, refuses_what_it_cannot_read) {
  EXPECT_FALSE(parse_trace_format("").ok());
  EXPECT_FALSE(parse_trace_format("name: x\n").ok());
  EXPECT_FALSE(parse_trace_format("name: x\nID: many\n").ok());
  EXPECT_FALSE(parse_trace_format("name: x\nID: 99999999999999\n").ok());
  for (const char* line :
       {"int x", "int x;", "int x; offset:1;", "; offset:1; size:4; signed:0;", "int; offset:1; size:4;",
        "int x]; offset:1; size:4; signed:0;", "int x; offset:-1; size:4; signed:0;",
        "int x; offset:1; size:99999999999; signed:0;", "int x; offset:70000; size:4; signed:0;"})
    EXPECT_FALSE(parse_trace_format(std::string("name: x\nID: 1\nfield:") + line + "\n").ok()) << line;
}

TEST(TraceFormat, survives_truncation_and_random_changes) {
  for (size_t n = 0; n < sample.size(); n++) (void)parse_trace_format(sample.substr(0, n)).ok();
  std::mt19937 random(2);
  for (int round = 0; round < 20000; round++) {
    std::string text(sample);
    for (unsigned n = random() % 5 + 1; n > 0; n--)
      text[random() % text.size()] = static_cast<char>(random());
    (void)parse_trace_format(text).ok();
  }
}

TEST(TracefsMachine, lists_and_reads_every_event) {
  auto fs = Tracefs::open();
  if (!fs.ok()) GTEST_SKIP() << fs.error().message;
  auto start = std::chrono::steady_clock::now();
  auto events = fs->events();
  ASSERT_TRUE(events.ok());
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  printf("%zu events in %.2f ms\n", events->size(), took.count());
  EXPECT_GT(events->size(), 100u);
  for (const auto& e : *events) {
    ASSERT_NE(e.category, "ftrace");
    auto text = fs->format(e.category, e.event);
    if (!text.ok()) continue; // gone since
    auto format = parse_trace_format(*text);
    ASSERT_TRUE(format.ok()) << e.category << ':' << e.event << ": " << format.error().message;
    EXPECT_EQ(format->name, e.event);
    EXPECT_GE(format->fields.size(), 4u);
  }
  EXPECT_TRUE(fs->has("sched", "sched_switch"));
  EXPECT_FALSE(fs->has("sched", "sched_swatch"));
  EXPECT_FALSE(fs->has("sched", ".."));
  EXPECT_FALSE(fs->has("../events/sched", "sched_switch"));
  auto id = fs->id("sched", "sched_switch");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*id, parse_trace_format(*fs->format("sched", "sched_switch"))->id);
}

TEST(Tracefs, is_an_error_where_there_is_none) {
  Tracefs fs("/nonexistent");
  EXPECT_FALSE(fs.events().ok());
  EXPECT_FALSE(fs.has("sched", "sched_switch"));
  EXPECT_FALSE(fs.id("sched", "sched_switch").ok());
  EXPECT_TRUE(fs.made_categories().empty());
}

} // namespace
