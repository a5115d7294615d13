#include "why/hot_functions.h"
#include "why/mapped_files.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace why {
namespace {

std::vector<symbol::Frame> stack(std::initializer_list<std::string_view> names) {
  std::vector<symbol::Frame> out;
  for (std::string_view name : names) {
    symbol::Frame f;
    f.name = name, f.module = "/srv/app", f.kind = spec::FrameKind::user;
    out.push_back(f);
  }
  return out;
}

std::string text(const Fact& f, std::string_view slot) {
  for (const auto& [name, value] : f.slots)
    if (name == slot) return std::get<std::string>(value);
  return {};
}
double number(const Fact& f, std::string_view slot) {
  for (const auto& [name, value] : f.slots)
    if (name == slot) return std::get<double>(value);
  return -1;
}

std::vector<Fact> facts(const HotFunctions& hot) {
  return hot.facts(17, "cpu-profile", [](uint64_t example, const std::string& function) { return function + std::to_string(example) + ".c:" + std::to_string(example); });
}

TEST(HotFunctions, WhatIsOnTopCountsByItself) {
  HotFunctions hot;
  hot.add(stack({"encode", "serve", "main"}), 1, 70);
  hot.add(stack({"serve", "main"}), 2, 27);
  hot.add(stack({"rare", "main"}), 3, 3);
  const std::vector<Fact> found = facts(hot);
  ASSERT_EQ(found.size(), 2u) << "3% are too little";
  EXPECT_EQ(text(found[0], "name"), "encode");
  EXPECT_DOUBLE_EQ(number(found[0], "share"), 0.7);
  EXPECT_LT(number(found[0], "low"), 0.7);
  EXPECT_GT(number(found[0], "high"), 0.7);
  EXPECT_EQ(text(found[0], "file"), "encode1.c");
  EXPECT_EQ(text(found[1], "name"), "serve");
}

TEST(HotFunctions, AClassCountsWithWhatItCallsAndIsLocatedAtItsCaller) {
  HotFunctions hot;
  hot.add(stack({"pcre2_match_8", "is_valid", "main"}), 1, 40);
  hot.add(stack({"memcpy", "pcre2_match_8", "is_valid", "main"}), 2, 20);
  hot.add(stack({"main"}), 3, 40);
  for (const Fact& f : facts(hot)) {
    if (text(f, "class") != "regex") continue;
    EXPECT_DOUBLE_EQ(number(f, "share"), 0.6);
    EXPECT_EQ(text(f, "caller"), "is_valid");
    return;
  }
  FAIL() << "no function of the class";
}

TEST(HotFunctions, OfNothing) { EXPECT_TRUE(facts(HotFunctions()).empty()); }

TEST(MappedFiles, ByAPartOfTheirNames) {
  const MappedFiles files(::getpid());
  EXPECT_TRUE(files.has("libc.so"));
  EXPECT_FALSE(files.has("no-such-file"));
  const std::string places = files.places("uprobe", "libc.so", "malloc");
  EXPECT_TRUE(places.starts_with("uprobe:\"/")) << places;
  EXPECT_TRUE(places.ends_with("\":malloc")) << places;
  EXPECT_EQ(files.places("uprobe", "libc.so", ""), "");
}

} // namespace
} // namespace why
