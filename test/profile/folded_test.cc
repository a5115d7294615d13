// Folded stacks, as flamegraph.pl and stackcollapse-*.pl define them: frames between semicolons, then a blank and the weight.
#include "profile/formats.h"
#include "profiles.h"

#include <gtest/gtest.h>

namespace profile {
namespace {

constexpr Kept folded = {.ids = false, .threads = false, .modules = false, .counts = false, .named = false};

std::string read(std::string_view text) {
  auto p = read_folded(text);
  return p.ok() ? lines_of(*p, folded) : "FAILED: " + p.error().message;
}

TEST(Folded, ALineIsAProcessAndItsFrames) {
  EXPECT_EQ(read("app;main;work 3\n"), "app > main user > work user = 3\n");
  EXPECT_EQ(read("app 3\n"), "app = 3\n");
  EXPECT_EQ(read("app;main;read_[k];helper_[i];[waiting] 1\n"), "app > main user > read kernel > helper inlined > [waiting] note = 1\n");
  EXPECT_EQ(read("app;f 1\n\n\napp;f 2\r\n"), "app > f user = 3\n"); // files from elsewhere have other line ends
}

TEST(Folded, NamesMayHaveBlanks) {
  EXPECT_EQ(read("my app;operator new(unsigned long);f<int, char>(a b) 12\n"), "my app > operator new(unsigned long) user > f<int, char>(a b) user = 12\n");
  EXPECT_EQ(read("app;f 7 3\n"), "app > f 7 user = 3\n");
}

// A process may be called `#1`; a comment has no weight.
TEST(Folded, CommentsAreNoStacks) {
  EXPECT_EQ(read("# taken on host 1\napp;f 1\n"), "app > f user = 1\n");
  EXPECT_EQ(read("#1;f 2\napp;f 1\n"), "#1 > f user = 2\napp > f user = 1\n");
  Profile p;
  add(p, {{"f"}}, 2, 2, {.process = "#worker"});
  EXPECT_EQ(read(write_folded(p)), "#worker > f user = 2\n");
}

TEST(Folded, WeightsAreDecimal) {
  EXPECT_EQ(read("app;f 010\n"), "app > f user = 10\n"); // no octal number
  EXPECT_EQ(read("app;f 18446744073709551615\n"), "app > f user = 18446744073709551615\n");
  for (const char* weight : {"0x10", "18446744073709551616", "-1", "1e3", "x"})
    EXPECT_EQ(read(std::string("app;f ") + weight + "\n"), "FAILED: line 1 has no weight after its stack") << weight;
}

TEST(Folded, TheLineOfAMistakeIsNamed) {
  EXPECT_EQ(read("app;f 1\n\napp;g\n"), "FAILED: line 3 has no weight after its stack");
  EXPECT_EQ(read("app;f 1\napp;g 12"), "FAILED: line 2 has no line end: the file is truncated");
  EXPECT_EQ(read(" 5\n"), "FAILED: line 1 has no weight after its stack");
}

TEST(Folded, WhatSeparatesIsNoPartOfAName) {
  Profile p;
  add(p, {{"a;b"}, {"c"}}, 1, 1, {.process = "x;y"});
  EXPECT_EQ(write_folded(p), "x:y;a:b;c 1\n");
}

TEST(Folded, ThreadsOfAProcessAreOneLine) {
  Profile p;
  add(p, {{"main"}}, 1, 1, {.thread = "one", .tid = 1});
  add(p, {{"main"}}, 2, 2, {.thread = "two", .tid = 2});
  add(p, {{"main", "/other/file"}}, 4, 4, {.tid = 3});
  add(p, {}, 8, 8);
  EXPECT_EQ(write_folded(p), "app 8\napp;main 7\n");
}

TEST(Folded, EmptyNamesKeepTheirPlace) {
  EXPECT_EQ(read(";f;;g 2\n"), " > f user >  user > g user = 2\n");
  Profile p;
  add(p, {{""}, {"g"}}, 2, 2, {.process = ""});
  EXPECT_EQ(write_folded(p), ";;g 2\n");
}

TEST(Folded, DeepStacks) {
  std::string line = "app";
  for (int i = 0; i < 100'000; i++) line += ";f";
  auto p = read_folded(line + " 1\n");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->nodes().size(), 100'001u);
  EXPECT_EQ(write_folded(*p), line + " 1\n");
}

TEST(Folded, OnlyTextIsFolded) {
  EXPECT_TRUE(is_folded("app;main 1\n"));
  EXPECT_TRUE(is_folded("app;main 1\r\n"));
  for (std::string_view no : {std::string_view("app;main\n"), std::string_view("\n"), std::string_view(""), std::string_view("a\0b 1\n", 6), std::string_view(" 1\n")})
    EXPECT_FALSE(is_folded(no)) << no;
}

} // namespace
} // namespace profile
