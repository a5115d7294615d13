// Names of what is on a heap: the types of blocks, the places of words and what holds them. One heap is this program's own, in a stopped
// child; another is made up, for threads and for addresses that are nowhere.
#include "heap/report.h"
#include "heap/view.h"

#include "scratch.h"
#include "target/fake_target.h"
#include "target/live_target.h"

#include <gtest/gtest.h>

#include <csignal>
#include <rapidjson/document.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heap {

// Not in the namespace without a name: that would be part of theirs.
struct ViewedSession {
  virtual ~ViewedSession() = default;
  virtual int number() const { return 1; }
  ViewedSession* next = nullptr;
  char text[200] = {};
};
struct ViewedSpecial : ViewedSession {
  int number() const override { return 2; }
};
ViewedSession* viewed_sessions = nullptr; // a list

namespace {

using target::FakeTarget;
using target::HeapBuilder;

uint64_t address_of(const void* p) { return reinterpret_cast<uint64_t>(p); }

class LiveHeap : public testing::Test {
protected:
  void SetUp() override {
    special = new ViewedSpecial;
    viewed_sessions = first = new ViewedSession;
    first->next = special;
    std::snprintf(special->text, sizeof special->text, "%s", "text of the special session");
    child = fork();
    if (child == 0)
      for (;;) pause();
    auto opened = target::open_live(child, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    live = std::move(*opened);
    live->want_writable();
    const base::Status stopped = live->freeze(60'000'000'000);
    if (!stopped.ok()) GTEST_SKIP() << stopped.error().message;
    stacks.emplace(*live);
    view.emplace(*live, *stacks);
  }
  void TearDown() override {
    if (child > 0) kill(child, SIGKILL), waitpid(child, nullptr, 0);
    viewed_sessions = nullptr;
    delete first;
    delete special;
  }
  const target::Chunk& chunk_of(const void* p) {
    const target::Chunk* c = view->heap().find(address_of(p));
    EXPECT_NE(c, nullptr);
    static const target::Chunk none = {};
    return c ? *c : none;
  }
  std::string ask(std::vector<std::string> words, bool json = false) {
    auto out = answer_heap(*live, *stacks, words, json);
    return out.ok() ? *out : "FAILED: " + out.error().message;
  }
  ViewedSession *first = nullptr, *special = nullptr;
  pid_t child = -1;
  std::unique_ptr<target::LiveTarget> live;
  std::optional<target::Stacks> stacks;
  std::optional<View> view;
};

TEST_F(LiveHeap, blocks_have_the_class_of_their_object) {
  EXPECT_EQ(view->type_of(chunk_of(first)), "heap::ViewedSession");
  EXPECT_EQ(view->type_of(chunk_of(special)), "heap::ViewedSpecial");
  const target::Chunk& c = chunk_of(special);
  EXPECT_EQ(c.address, address_of(special));
  EXPECT_GE(c.size, sizeof(ViewedSpecial));
  EXPECT_EQ(view->kind_of(c), size_text(c.size) + ", heap::ViewedSpecial");
  EXPECT_EQ(view->chunk_text(c), "the block at " + hex(c.address) + " (" + view->kind_of(c) + ")");
}

TEST_F(LiveHeap, places_are_blocks_and_variables) {
  const target::Chunk& c = chunk_of(special);
  EXPECT_EQ(view->place(address_of(special) + 8), "block " + hex(c.address) + " of " + view->kind_of(c) + ", +8");
  const std::string variable = view->place(address_of(&viewed_sessions));
  EXPECT_TRUE(variable.starts_with("heap::viewed_sessions+0 in /") || variable.starts_with("heap::viewed_sessions in /")) << variable;
  EXPECT_TRUE(variable.ends_with("/test_heap")) << variable;
}

TEST_F(LiveHeap, the_variable_holds_the_list) {
  const target::Reach& reach = view->reach();
  const auto index = [&](const void* p) { return static_cast<uint32_t>(&chunk_of(p) - view->heap().chunks.data()); };
  const target::Reach::Step& step = reach.steps[index(first)];
  EXPECT_EQ(step.holder, target::Reach::root);
  EXPECT_EQ(step.word, address_of(&viewed_sessions));
  const View::Root root = view->root_of(step);
  EXPECT_EQ(root.name, "heap::viewed_sessions");
  EXPECT_TRUE(root.module.ends_with("/test_heap")) << root.module;
  EXPECT_FALSE(reach.is_leak(view->heap(), index(special)));
}

TEST_F(LiveHeap, questions_name_types_and_variables) {
  const std::string references = ask({"refs", hex(address_of(special))});
  EXPECT_NE(references.find("heap::ViewedSession, +8\n"), references.npos) << references;
  const std::string way = ask({"refs", hex(address_of(first)), "explain"});
  EXPECT_NE(way.find("heap::viewed_sessions"), way.npos) << way;
  EXPECT_NE(way.find(", which is used, held by\n"), way.npos) << way;
  const std::string text = ask({"find", "text of the special session"});
  EXPECT_NE(text.find("heap::ViewedSpecial, +16\n"), text.npos) << text;
  EXPECT_NE(ask({"heap", "list"}).find("heap::ViewedSpecial\n"), std::string::npos);
  rapidjson::Document all;
  all.Parse(ask({"heap"}, true).c_str());
  ASSERT_FALSE(all.HasParseError());
  EXPECT_EQ(all["damage"].Size(), 0u);
}

TEST_F(LiveHeap, the_flame_graph_leads_from_the_variable_to_the_list) {
  const Scratch scratch;
  const std::vector<std::string> heap = {"heap"};
  ASSERT_TRUE(write_holders(*live, *stacks, heap, scratch.path("heap.folded")).ok());
  const std::string folded = scratch.read("heap.folded");
  EXPECT_NE(folded.find("heap::viewed_sessions;heap::ViewedSession;heap::ViewedSpecial "), folded.npos) << folded.substr(0, 4000);
}

// ---- made up

class MadeUpHeap : public testing::Test {
protected:
  static constexpr uint64_t stack = 0x700000, globals = 0x500000, descriptor = 0x900000;
  void finish(std::vector<uint64_t> on_stack, std::vector<uint64_t> in_globals) {
    t.add(b.begin(), b.finish());
    t.add(stack, std::move(on_stack));
    t.add(globals, std::move(in_globals));
    t.add_thread(17, stack, "main\n");
    t.threads_.back().registers[FakeTarget::register_ip] = t.code_ + 0x10;
    t.threads_.back().registers[target::register_fs_base] = descriptor;
    stacks.emplace(t);
    view.emplace(t, *stacks);
  }
  View::Root root_of(uint64_t address) {
    const target::Chunk* c = view->heap().find(address);
    return c ? view->root_of(view->reach().steps[static_cast<size_t>(c - view->heap().chunks.data())]) : View::Root{};
  }
  HeapBuilder b;
  FakeTarget t;
  std::optional<target::Stacks> stacks;
  std::optional<View> view;
};

TEST_F(MadeUpHeap, blocks_without_a_table_have_no_type) {
  const uint64_t block = b.used(24, {0x1234}), small = b.used(24);
  finish({0}, {block, small});
  for (const uint64_t at : {block, small}) {
    EXPECT_EQ(view->type_of(*view->heap().find(at)), "");
    EXPECT_EQ(view->kind_of(*view->heap().find(at)), "24 B");
    EXPECT_EQ(view->place(at + 23), "block " + hex(at) + " of 24 B, +23");
  }
}

TEST_F(MadeUpHeap, variables_come_before_stacks_and_stacks_before_registers) {
  const uint64_t by_all = b.used(24), by_stack = b.used(24), by_register = b.used(24);
  finish({by_all, by_stack}, {by_all});
  t.threads_[0].registers[0] = by_all, t.threads_[0].registers[1] = by_stack, t.threads_[0].registers[2] = by_register;
  EXPECT_EQ(root_of(by_all).name, "memory around 0x500000");
  EXPECT_EQ(root_of(by_stack).name, "stack of thread 17 (main\\n)");
  EXPECT_EQ(root_of(by_register).name, "registers of thread 17 (main\\n)");
}

TEST_F(MadeUpHeap, what_lies_at_the_descriptor_of_a_thread_is_its_own) {
  const uint64_t block = b.used(24);
  t.add(descriptor, {0, 0, block});
  finish({0}, {0});
  EXPECT_EQ(root_of(block).name, "thread-local variables of thread 17 (main\\n)");
  EXPECT_EQ(view->place(descriptor + 16), "thread-local variables of thread 17 (main\\n)");
  EXPECT_EQ(view->place(descriptor + 0x10000), "memory around 0x910000");
}

TEST_F(MadeUpHeap, free_blocks_say_that_they_are) {
  const uint64_t gap = b.freed(1000);
  b.used(24);
  finish({0}, {0});
  EXPECT_EQ(view->place(gap + 4), "free block " + hex(gap) + " of 1000 B, +4");
}

TEST_F(MadeUpHeap, addresses_within_a_block_hold_it_and_those_behind_do_not) {
  const uint64_t held = b.used(40), other = b.used(40), last = b.used(40);
  finish({0}, {held + 39, last});
  const target::Reach& reach = view->reach();
  std::vector<uint64_t> leaks;
  for (size_t n = 0; n < view->heap().chunks.size(); n++)
    if (reach.is_leak(view->heap(), n)) leaks.push_back(view->heap().chunks[n].address);
  EXPECT_EQ(leaks, std::vector{other});
}

TEST_F(MadeUpHeap, circles_that_nothing_leads_to_are_lost_with_what_hangs_on_them) {
  const uint64_t one = b.used(24), two = b.used(24, {one}), hanging = b.used(24);
  b.word(one) = two, b.word(two + 8) = hanging;
  finish({0}, {0});
  const std::vector<target::Lost> lost = target::find_lost(t, view->heap(), view->reach());
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].chunks, 3u);
  EXPECT_EQ(lost[0].bytes, 72u);
}

TEST_F(MadeUpHeap, lists_are_one_frame_of_the_flame_graph) {
  uint64_t next = 0;
  for (int n = 0; n < 100; n++) next = b.used(40, {next});
  const uint64_t lost = b.used(200);
  finish({0}, {next});
  const Scratch scratch;
  const std::vector<std::string> heap = {"heap"};
  ASSERT_TRUE(write_holders(t, *stacks, heap, scratch.path("heap.folded")).ok());
  EXPECT_NE(lost, 0u);
  const std::string folded = scratch.read("heap.folded");
  EXPECT_NE(folded.find("memory around 0x500000;40 B 4000\n"), folded.npos) << folded;
  EXPECT_NE(folded.find("unreachable;200 B 200\n"), folded.npos) << folded;
}

TEST_F(MadeUpHeap, totals_are_one_line_or_an_object) {
  b.used(24), b.used(40), b.freed(1000), b.used(24);
  finish({0}, {0});
  const std::string line = heap_totals(t, false);
  EXPECT_EQ(std::ranges::count(line.substr(line.find_first_not_of('\n')), '\n'), 1) << line;
  EXPECT_NE(line.find("3 "), line.npos) << line;
  rapidjson::Document all;
  const std::string json = heap_totals(t, true);
  all.Parse(json.c_str());
  EXPECT_FALSE(all.HasParseError()) << json;
  EXPECT_TRUE(all.IsObject());
}

} // namespace
} // namespace heap
