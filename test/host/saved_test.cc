// Files of saved hosts: what was written is read, and what is wrong with one is said once.
#include "host/saved_files.h"

#include "format/btf.h"
#include "format/tracefs.h"

#include <gtest/gtest.h>

namespace host {
namespace {

Entries small() {
  return {{"kernel", "release 6.1.0-18-amd64\nversion #1 SMP PREEMPT_DYNAMIC Debian\nmachine " + this_machine + "\n"},
          {"answers", "feature.loop 1\npossible_cpus 6\nboot_ns 77\nboot_to_wall_ns -5\n"},
          {"/proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 t vfs_read\nffffffff81000200 t vfs_read\n"
                             "ffffffffc0000000 t nf_hook\t[nf_tables]\n"},
          {"tracefs/available_events", "sched:sched_switch\ntask:task_newtask\nftrace:print\n"},
          {"tracefs/dynamic_events", "p:kprobes/mine vfs_read\n"},
          {"tracefs formats", std::string("sched:sched_switch\0name: sched_switch\nID: 7\nformat:\n\0", 57)}};
}

base::Result<std::unique_ptr<SavedHost>> view(const std::string& bytes) {
  return SavedHost::view(std::as_bytes(std::span(bytes)), "web1.host");
}

TEST(SavedHost, SaysWhatWasSaved) {
  const std::string bytes = file_of(small());
  auto opened = view(bytes);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  SavedHost& host = **opened;
  EXPECT_FALSE(host.is_this_host());
  EXPECT_EQ(host.kernel().release, "6.1.0-18-amd64");
  EXPECT_EQ(host.kernel().version, "#1 SMP PREEMPT_DYNAMIC Debian");
  EXPECT_EQ(host.possible_cpus(), 6u);
  EXPECT_EQ(host.clocks().boot_ns, 77u);
  EXPECT_EQ(host.clocks().boot_to_wall_ns, -5);
  auto never = []() -> int64_t { ADD_FAILURE() << "nothing is tried here"; return 0; };
  EXPECT_EQ(host.answer("feature.loop", 2, never), 1);
  EXPECT_EQ(host.answer("feature.of_tomorrow", 2, never), 2);
  EXPECT_TRUE(host.can_read("/proc/kallsyms"));
  EXPECT_FALSE(host.can_read("/proc/modules"));
  const std::string_view names[] = {"nf_hook", "vfs_read", "vfs"};
  EXPECT_EQ(host.addresses(names), (std::vector<std::optional<uint64_t>>{0xffffffffc0000000, 0xffffffff81000100, std::nullopt}));
  EXPECT_FALSE(host.types().ok());
  EXPECT_TRUE(host.build_id().empty());
}

TEST(SavedHost, TraceEvents) {
  const std::string bytes = file_of(small());
  auto opened = view(bytes);
  ASSERT_TRUE(opened.ok());
  auto tracefs = (*opened)->tracefs();
  ASSERT_TRUE(tracefs.ok());
  EXPECT_EQ(tracefs->events()->size(), 2u); // ftrace's own are none
  EXPECT_TRUE(tracefs->has("sched", "sched_switch"));
  EXPECT_FALSE(tracefs->has("task", "task_newtask")); // its format could not be read
  EXPECT_FALSE(tracefs->has("sched", "../sched_switch"));
  EXPECT_EQ(*tracefs->format("sched", "sched_switch"), "name: sched_switch\nID: 7\nformat:\n");
  EXPECT_EQ(tracefs->made_categories(), std::vector<std::string>{"kprobes"});
  Entries without = small();
  without.erase(without.begin() + 3);
  const std::string no_events = file_of(without);
  auto blind = view(no_events);
  ASSERT_TRUE(blind.ok());
  EXPECT_FALSE((*blind)->tracefs().ok());
}

TEST(SavedHost, OneMessageForEachMistake) {
  auto message = [](const std::string& bytes) {
    auto opened = view(bytes);
    return opened.ok() ? std::string() : opened.error().message;
  };
  const std::string good = file_of(small());
  EXPECT_EQ(message(good), "");
  EXPECT_EQ(message("#!/bin/sh\n"), "web1.host is not the file of a saved host: `acu info --save FILE` writes one");
  EXPECT_EQ(message(""), message("#!/bin/sh\n"));
  EXPECT_NE(message(with_sum("", 2)).find("another version of acu (format 2, this acu reads 1)"), std::string::npos);
  std::string changed = good;
  changed.back() ^= 1;
  EXPECT_NE(message(changed).find("web1.host is damaged: its checksum is wrong; write it anew"), std::string::npos);
  for (size_t size = saved_magic.size(); size < good.size(); size += 7)
    EXPECT_NE(message(good.substr(0, size)).find("is damaged"), std::string::npos) << size;
  const std::string rest = good.substr(saved_magic.size() + 8);
  EXPECT_NE(message(with_sum(rest.substr(0, rest.size() - 1))).find("its entries do not fit its size"), std::string::npos);
  EXPECT_NE(message(with_sum(rest + "x")).find("its entries do not fit its size"), std::string::npos);
  EXPECT_NE(message(with_sum(word(~0u))).find("too many entries"), std::string::npos);
  Entries foreign = small();
  foreign[0].second = "machine " + other_machine + "\n";
  EXPECT_NE(message(file_of(foreign)).find("`" + other_machine + "`: this acu compiles for " + this_machine), std::string::npos);
  foreign.erase(foreign.begin());
  EXPECT_NE(message(file_of(foreign)).find("has no `kernel`"), std::string::npos);
}

TEST(SavedHost, EachChangedByteIsNoticed) {
  const std::string good = file_of(small());
  for (size_t at = 0; at < good.size(); at++) {
    std::string bytes = good;
    bytes[at] ^= 0x10;
    auto opened = view(bytes);
    ASSERT_FALSE(opened.ok()) << at;
    EXPECT_FALSE(opened.error().message.empty());
  }
}

TEST(SavedHost, OfThisHost) {
  const SavedFile file = save_this_host({{"feature.loop", 1}});
  auto opened = view(file.bytes);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  SavedHost& saved = **opened;
  Environment& here = this_host();
  EXPECT_EQ(saved.kernel().release, here.kernel().release);
  EXPECT_EQ(saved.kernel().version, here.kernel().version);
  EXPECT_EQ(saved.possible_cpus(), here.possible_cpus());
  EXPECT_EQ(saved.answer("feature.loop", 0, {}), 1);
  auto of_saved = saved.types(), of_here = here.types();
  ASSERT_EQ(of_saved.ok(), of_here.ok());
  if (of_here.ok()) {
    EXPECT_EQ((*of_saved)->find("task_struct", format::BtfKind::structure), (*of_here)->find("task_struct", format::BtfKind::structure));
  }
  auto saved_events = saved.tracefs(), events = here.tracefs();
  ASSERT_EQ(saved_events.ok(), events.ok());
  if (events.ok()) {
    EXPECT_EQ(saved_events->events()->size(), events->events()->size());
    EXPECT_TRUE(saved_events->has("sched", "sched_switch"));
  }
  // Whoever reads the file learns nothing of where this kernel is.
  const std::string_view names[] = {"_text", "vfs_read", "vfs_write"};
  auto found = saved.addresses(names), real = here.addresses(names);
  ASSERT_EQ(found[0].has_value(), real[0].has_value());
  if (real[0]) {
    EXPECT_EQ(*found[0] & 0xffffff, 0u);
    EXPECT_EQ(*found[2] - *found[1], *real[2] - *real[1]);
  }
}

} // namespace
} // namespace host
