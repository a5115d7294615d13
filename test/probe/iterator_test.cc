// Iterators and watchpoints: what their names stand for, and what is said of wrong ones.
#include "format/btf.h"
#include "helpers.h"

#include <linux/hw_breakpoint.h>

using probe::Context;
using probe::Kind;
using probe::Mismatch;

namespace {

using Iterator = Fixture;
using Watchpoint = Fixture;

TEST_F(Iterator, its_members_are_words_of_the_context) {
  if (!machine.btf() || !machine.btf()->has_name("bpf_iter__task_file"))
    GTEST_SKIP() << "this kernel tells of no iterators";
  auto e = one("iter:task_file");
  EXPECT_EQ(e.kind, Kind::iterator);
  EXPECT_EQ(e.provider, "iter");
  EXPECT_EQ(e.event, "task_file");
  EXPECT_TRUE(e.pin.empty());
  EXPECT_NE(probe::attach_btf_id(machine, e), 0u);
  const type::Type* args = probe::arguments(machine, e);
  ASSERT_TRUE(args);
  ASSERT_EQ(args->fields().size(), 4u);
  EXPECT_EQ(args->size, 32u);
  EXPECT_EQ(args->find("fd")->offset, 16u);
  EXPECT_EQ(type::to_string(*args->find("file")->type), "struct file *");
  EXPECT_EQ(probe::choose_context(machine, e, {}), Context::iterator);
  EXPECT_EQ(probe::access(machine, e, Context::iterator, "file").argument, 3u);
}

TEST_F(Iterator, with_a_name_it_stays) {
  if (!machine.btf() || !machine.btf()->has_name("bpf_iter__task"))
    GTEST_SKIP() << "this kernel tells of no iterators";
  EXPECT_EQ(one("it:task:mine").pin, "/sys/fs/bpf/mine");
  EXPECT_EQ(one("it:task:mine").name, "iter:task:mine");
  EXPECT_EQ(one("iter:task:/sys/fs/bpf/a/b").pin, "/sys/fs/bpf/a/b");
  for (const char* text : {"iter:task:", "iter:task:a.b", "iter:task:a:b", "iter:task*:a", "iter:", "iter"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
  EXPECT_FALSE(one("iter:task:/sys/fs/bpf.d/a").pin.empty()); // only the file's own name matters
}

TEST_F(Iterator, what_there_is_not) {
  if (!machine.btf() || !machine.btf()->has_name("bpf_iter__task"))
    GTEST_SKIP() << "this kernel tells of no iterators";
  EXPECT_TRUE(match("iter:taks").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::missing);
  EXPECT_EQ(mismatch.hint, "did you mean `iter:task`?");
  EXPECT_TRUE(match("iter:zzz*").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::missing);
  if (machine.btf()->has_name("bpf_iter__bpf_map_elem")) {
    EXPECT_TRUE(match("iter:bpf_map_elem").empty());
    EXPECT_EQ(mismatch.kind, Mismatch::malformed);
  }
  for (const probe::Event& e : match("iter:*"))
    EXPECT_EQ(e.name.find("map_elem"), std::string::npos) << e.name;
  EXPECT_GE(match("iter:*").size(), 3u);
}

TEST_F(Watchpoint, addresses_lengths_and_modes) {
  auto e = one("w:0x10000000:8:wr");
  EXPECT_EQ(e.kind, Kind::watchpoint);
  EXPECT_EQ(e.name, "watchpoint:0x10000000:8:wr");
  EXPECT_EQ(e.address, 0x10000000u);
  EXPECT_EQ(e.watch_bytes, 8u);
  EXPECT_EQ(e.watch_mode, static_cast<uint32_t>(HW_BREAKPOINT_RW));
  EXPECT_EQ(one("asyncwatchpoint:0xffffffff81000000:1:w").kind, Kind::async_watchpoint);
  EXPECT_EQ(one("watchpoint:4097:1:w").watch_mode, static_cast<uint32_t>(HW_BREAKPOINT_W));
  EXPECT_EQ(one("watchpoint:4097:8:x").watch_mode, static_cast<uint32_t>(HW_BREAKPOINT_X));
  for (const char* text : {"watchpoint", "watchpoint:0x1000", "watchpoint:0x1000:8",
                           "watchpoint:0x1000:8:", "watchpoint:0x1000:8:q", "watchpoint:0x1000:8:ww",
                           "watchpoint:0x1000:8:rwx", "watchpoint:0x1000:3:w", "watchpoint:0x1000:0:w",
                           "watchpoint:0x1000:4294967304:w", "watchpoint:0x1001:2:w", "watchpoint::8:w",
                           "watchpoint:0x1000:8:w:", "watchpoint:no_such_symbol_here:8:w"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
    EXPECT_NE(mismatch.hint.find("watchpoint:0x10000000:8:rw"), std::string::npos) << text;
  }
}

} // namespace
