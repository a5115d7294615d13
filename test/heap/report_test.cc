// The questions on a heap, of a program that the tests make up: text and JSON of each verb, numbers that agree, words that are wrong.
#include "heap/report.h"
#include "heap/view.h"

#include "target/fake_target.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

namespace heap {
namespace {

using target::FakeTarget;
using target::HeapBuilder;

// A variable holds a list of two; a block is lost, with another that only it holds; one is free.
class Questions : public testing::Test {
protected:
  static constexpr uint64_t globals = 0x500000;
  Questions() : stacks(t) {
    tail = b.used(24), head = b.used(40, {tail});
    gap = b.freed(1000);
    hanging = b.used(24), lost = b.used(200, {hanging, 0x6f6c6c6568 /* hello */});
    t.add(b.begin(), b.finish());
    t.add(globals, {head});
  }
  std::string ask(std::vector<std::string> words, bool json = false) {
    auto out = answer_heap(t, stacks, words, json);
    return out.ok() ? *out : "FAILED: " + out.error().message;
  }
  rapidjson::Document json(std::vector<std::string> words) {
    rapidjson::Document out;
    const std::string text = ask(std::move(words), true);
    out.Parse(text.c_str());
    EXPECT_FALSE(out.HasParseError()) << text;
    EXPECT_TRUE(text.ends_with("}\n"));
    return out;
  }
  HeapBuilder b;
  FakeTarget t;
  target::Stacks stacks;
  uint64_t tail = 0, head = 0, gap = 0, hanging = 0, lost = 0;
};

TEST_F(Questions, Counts) {
  EXPECT_EQ(ask({"heap", "count"}), "4 used blocks, 288 B\n");
  EXPECT_EQ(ask({"leaks", "count"}), "2 unreachable blocks, 224 B\n");
  EXPECT_EQ(json({"heap", "count"})["bytes"].GetUint64(), 288u);
  EXPECT_EQ(json({"leaks", "count"})["chunks"].GetUint64(), 2u);
}

TEST_F(Questions, EachBlockIsALine) {
  const std::string text = ask({"heap", "list"});
  EXPECT_NE(text.find(hex(head) + "           40 B  used\n"), text.npos) << text;
  EXPECT_NE(text.find(hex(gap) + "         1000 B  free\n"), text.npos) << text;
  EXPECT_NE(text.find("malloc's\n"), text.npos);
  EXPECT_NE(text.find("unused\n"), text.npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 7);
  const std::string leaks = ask({"leaks", "list"});
  EXPECT_EQ(std::ranges::count(leaks, '\n'), 2);
  const rapidjson::Document all = json({"heap", "list"});
  ASSERT_EQ(all["chunks"].Size(), 7u);
  EXPECT_STREQ(all["chunks"][0]["state"].GetString(), "own");
  EXPECT_EQ(all["chunks"][1]["size"].GetUint64(), 24u);
}

TEST_F(Questions, TheSummaryAgreesWithTheList) {
  const std::string text = ask({"heap"});
  EXPECT_TRUE(text.starts_with("heap       1 arena, ")) << text;
  EXPECT_NE(text.find("used                4 blocks        288 B\n"), text.npos) << text;
  EXPECT_NE(text.find("free                1 block        1000 B\n"), text.npos) << text;
  EXPECT_NE(text.find("fragmented 77.6% of allocated memory is free, in 1 block, the largest of 1000 B\n"), text.npos) << text;
  const rapidjson::Document all = json({"heap"});
  EXPECT_EQ(all["used"]["chunks"].GetUint64(), 4u);
  EXPECT_EQ(all["largest_free"].GetUint64(), 1000u);
  EXPECT_EQ(all["sizes"]["24"].GetUint64(), 2u);
  EXPECT_EQ(all["damage"].Size(), 0u);
}

TEST_F(Questions, WhoHoldsTheMemory) {
  const rapidjson::Document held = json({"heap", "explain"});
  uint64_t bytes = 0;
  for (const auto& h : held["holders"].GetArray()) bytes += h["bytes"].GetUint64();
  EXPECT_EQ(bytes, 288u); // all that is used
  EXPECT_STREQ(held["holders"][0]["by"].GetString(), "unreachable"); // the largest
  EXPECT_NE(ask({"heap", "explain"}).find("2 blocks         64 B  memory around 0x500000\n"), std::string::npos) << ask({"heap", "explain"});
}

TEST_F(Questions, Leaks) {
  const std::string text = ask({"leaks"});
  EXPECT_TRUE(text.starts_with("2 unreachable blocks of 7, 224 B\n")) << text;
  EXPECT_LT(text.find("200 B each"), text.find("24 B each")); // the largest first
  EXPECT_EQ(ask({"leaks", "explain"}), "1 leak root: unreachable blocks that no other unreachable block points to\n"
                                       "                    1 block         224 B  200 B, and 1 more reachable only from each, such as " + hex(lost) + "\n");
  EXPECT_EQ(json({"leaks", "explain"})["losses"][0]["bytes"].GetUint64(), 224u);
}

TEST_F(Questions, ReferencesToABlock) {
  EXPECT_EQ(ask({"refs", hex(tail)}), "1 location points to the block at " + hex(tail) + " (24 B)\n  " + hex(head) + "  block " + hex(head) + " of 40 B, +0\n");
  EXPECT_EQ(ask({"refs", hex(tail + 5).substr(2)}), ask({"refs", hex(tail)})); // without 0x, and within it
  EXPECT_EQ(ask({"refs", hex(lost)}), "0 locations point to the block at " + hex(lost) + " (200 B)\n");
  EXPECT_EQ(json({"refs", hex(tail)})["places"][0]["address"].GetString(), hex(head));
  EXPECT_EQ(ask({"refs", hex(tail), "count"}), "1 location points to the block at " + hex(tail) + " (24 B)\n");
}

TEST_F(Questions, TheWayToABlock) {
  EXPECT_EQ(ask({"refs", hex(tail + 3), "explain"}), hex(tail + 3) + " is in the block at " + hex(tail) + " (24 B), at +3, which is used, held by\n  memory around 0x500000, 0x500000\n  block " + hex(head) + " of 40 B, +0\n");
  EXPECT_EQ(ask({"refs", hex(hanging), "explain"}), hex(hanging) + " is in the block at " + hex(hanging) + " (24 B), at +0, which is used, unreachable\n");
  EXPECT_EQ(ask({"refs", hex(gap), "explain"}), hex(gap) + " is in the block at " + hex(gap) + " (1000 B), at +0, which is free\n");
  EXPECT_EQ(ask({"refs", "0x10", "explain"}), "0x10 is in no block: the memory there is not mapped\n");
  EXPECT_EQ(json({"refs", hex(tail), "explain"})["length"].GetUint64(), 2u);
  EXPECT_EQ(json({"refs", hex(hanging), "explain"})["way"].Size(), 0u);
}

TEST_F(Questions, WhereATextIs) {
  EXPECT_EQ(ask({"find", "hello"}), "1 location contains `hello`\n  " + hex(lost + 8) + "  block " + hex(lost) + " of 200 B, +8\n");
  EXPECT_EQ(ask({"find", "no such text"}), "0 locations contain `no such text`\n");
  EXPECT_EQ(ask({"find", "l", "count"}), "2 locations contain `l`\n");
  EXPECT_EQ(json({"find", "a \"quoted\" text"})["places"].Size(), 0u);
}

// What is counted is all of it, though not all is listed.
TEST_F(Questions, ManyPlaces) {
  t.add(0x600000, std::vector<uint64_t>(1500, 0x7e7e7e7e00000000)); // "~~~~"
  EXPECT_EQ(ask({"find", "~~~~", "count"}), "1500 locations contain `~~~~`\n");
  EXPECT_EQ(json({"find", "~~~~", "count"})["places"].GetUint64(), 1500u);
  const std::string listed = ask({"find", "~~~~"});
  EXPECT_TRUE(listed.ends_with("\n  … 500 more\n")) << listed.substr(listed.size() - 100);
  EXPECT_EQ(std::ranges::count(listed, '\n'), 1002);
  EXPECT_NE(ask({"find", "~~~~", "summarize"}).find("  1500 locations in memory around 0x600000, such as 0x600004\n"), std::string::npos);
}

TEST_F(Questions, Damage) {
  FakeTarget damaged;
  std::vector<uint64_t> words = b.finish();
  words[(head - 8 - b.begin()) / 8] = 0x4141414141414141;
  damaged.add(b.begin(), words);
  target::Stacks none(damaged);
  const std::vector<std::string> question = {"heap"};
  const std::string text = *answer_heap(damaged, none, question, false);
  EXPECT_NE(text.find("\nDAMAGED    the block at " + hex(head) + " says it is "), text.npos) << text;
  EXPECT_NE(text.find("AAAAAAAA\n"), text.npos) << text; // the bytes before it
  EXPECT_NE(text.find("likely by a write past the end of the block at " + hex(tail) + " (24 B)\n"), text.npos) << text;
  rapidjson::Document all;
  all.Parse(answer_heap(damaged, none, question, true)->c_str());
  ASSERT_FALSE(all.HasParseError());
  EXPECT_EQ(all["damage"][0]["address"].GetString(), hex(head));
  EXPECT_NE(heap_totals(damaged, false).find("DAMAGED: the block at " + hex(head)), std::string::npos);
}

TEST_F(Questions, WithoutAHeap) {
  FakeTarget empty;
  target::Stacks none(empty);
  for (std::vector<std::string> question : {std::vector<std::string>{"heap"}, {"leaks"}, {"heap", "explain"}, {"leaks", "explain"}, {"refs", "0x10"}, {"find", "x"}, {"heap", "list"}})
    for (bool is_json : {false, true}) {
      auto out = answer_heap(empty, none, question, is_json);
      ASSERT_TRUE(out.ok());
      rapidjson::Document parsed;
      if (is_json) parsed.Parse(out->c_str());
      EXPECT_FALSE(parsed.HasParseError()) << *out;
    }
  EXPECT_EQ(heap_totals(empty, false), "");
}

TEST_F(Questions, WordsThatAreWrong) {
  EXPECT_EQ(ask({"refs"}), "FAILED: `refs` takes an address: acu core FILE refs 0x7f01");
  EXPECT_EQ(ask({"find"}), "FAILED: `find` takes a text: acu core FILE find TEXT");
  EXPECT_EQ(ask({"refs", "xyz"}), "FAILED: `refs` takes an address, not `xyz`");
  EXPECT_EQ(ask({"refs", ""}), "FAILED: `refs` takes an address, not ``");
  EXPECT_EQ(ask({"heap", "counts"}), "FAILED: after `heap` comes count, list, summarize or explain, not `counts`");
  EXPECT_EQ(ask({"heap", "count", "more"}), "FAILED: after `heap` comes count, list, summarize or explain, not `more`");
  EXPECT_TRUE(is_heap_question("leaks"));
  EXPECT_FALSE(is_heap_question("threads"));
}

TEST_F(Questions, TheFlameGraphOfHolders) {
  const std::vector<std::string> leaks = {"leaks"};
  EXPECT_FALSE(write_holders(t, stacks, leaks, "/tmp/x.svg").ok());
  EXPECT_FALSE(write_holders(t, stacks, {}, "/tmp/x.svg").ok());
  const std::vector<std::string> heap = {"heap"};
  EXPECT_FALSE(write_holders(t, stacks, heap, "/tmp/x.unknown").ok());
}

TEST(Sizes, AsText) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(9999), "9999 B");
  EXPECT_EQ(size_text(10000), "9.8 KiB");
  EXPECT_EQ(size_text(10'485'760), "10.0 MiB");
}

} // namespace
} // namespace heap
