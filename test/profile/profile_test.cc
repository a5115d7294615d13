// The call tree itself: the same thing has one number, weights add up, slices and scaling keep their sums.
#include "profiles.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace profile {
namespace {

uint64_t sum_of(const Slice& s) {
  return std::accumulate(s.gains.begin(), s.gains.end(), uint64_t{0}, [](uint64_t n, const Gain& g) { return n + g.weight; });
}

TEST(Profile, TheSameThingHasOneNumber) {
  Profile p;
  EXPECT_EQ(p.text(""), 0u);
  const uint32_t a = p.text("a"), file = p.text("/bin/a");
  EXPECT_EQ(p.text("a"), a);
  const uint32_t frame = p.frame({a, file, FrameKind::user, true});
  EXPECT_EQ(p.frame({a, file, FrameKind::user, true}), frame);
  EXPECT_NE(p.frame({a, file, FrameKind::inlined, true}), frame);
  EXPECT_NE(p.frame({a, file, FrameKind::user, false}), frame);
  EXPECT_NE(p.frame({file, a, FrameKind::user, true}), frame);
  const uint32_t node = p.node(0, frame);
  EXPECT_EQ(p.node(0, frame), node);
  EXPECT_NE(p.node(node, frame), node); // a recursion
  EXPECT_EQ(p.thread({1, 2, a, a}), p.thread({1, 2, a, a}));
  EXPECT_NE(p.thread({1, 2, a, a}), p.thread({2, 1, a, a}));
}

TEST(Profile, ANodeComesAfterItsParent) {
  Profile p;
  std::mt19937 random(7);
  std::vector<uint32_t> frames, nodes = {0};
  for (int i = 0; i < 40; i++) frames.push_back(p.frame({p.text("f" + std::to_string(i)), 0}));
  for (int i = 0; i < 2000; i++) nodes.push_back(p.node(nodes[random() % nodes.size()], frames[random() % frames.size()]));
  for (uint32_t n = 1; n < p.nodes().size(); n++) ASSERT_LT(p.nodes()[n].parent, n);
}

TEST(Profile, TextsAreShownSafely) {
  Profile p;
  EXPECT_EQ(p.text("a\tb"), p.text("a\\tb"));
  EXPECT_EQ(p.texts()[p.text("größe")], "größe");
  EXPECT_EQ(p.texts()[p.text(std::string_view("a\0b", 3))], "a\\x00b");
  EXPECT_EQ(p.texts()[p.text("\xc3")], "\\xc3");
}

// The texts are views of what the profile owns.
TEST(Profile, TextsStayWhereTheyAreWhenItIsMoved) {
  Profile p;
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 1000; i++) numbers.push_back(p.text("t" + std::to_string(i)));
  Profile q = std::move(p);
  Profile r;
  r = std::move(q);
  for (int i = 0; i < 1000; i++) ASSERT_EQ(r.texts()[numbers[static_cast<size_t>(i)]], "t" + std::to_string(i));
  EXPECT_EQ(r.text("t500"), numbers[500]);
}

TEST(Profile, SamplesOfOnePlaceAddUp) {
  Profile p;
  const uint32_t first = add(p, {{"main"}, {"work"}}, 5, 2);
  EXPECT_EQ(add(p, {{"main"}, {"work"}}, 7, 1), first);
  EXPECT_NE(add(p, {{"main"}}, 1), first);
  EXPECT_EQ(p.samples()[first].weight, 12u);
  EXPECT_EQ(p.samples()[first].count, 3u);
  EXPECT_EQ(p.total(), 13u);
  EXPECT_EQ(p.stack(0), std::vector<uint32_t>());
}

TEST(Profile, GainsOfASampleInASliceAreOne) {
  Profile p;
  for (const char* name : {"a", "b", "c"}) add(p, {{name}}, 10);
  p.slice_ns = 1;
  p.add_slice(4, 2, {{2, 1, 1}, {0, 2, 2}, {2, 3, 3}, {0, 4, 4}, {1, 0, 0}});
  ASSERT_EQ(p.slices.size(), 1u);
  ASSERT_EQ(p.slices[0].gains.size(), 3u);
  EXPECT_EQ(p.slices[0].gains[0].weight, 6u);
  EXPECT_EQ(p.slices[0].gains[2].count, 4u);
  EXPECT_EQ(sum_of(p.slices[0]), 10u);
}

TEST(Profile, WeighingAnewForgetsTheOldWeights) {
  Profile p;
  for (const char* name : {"a", "b", "c"}) add(p, {{name}}, 10);
  p.slice_ns = 5;
  p.add_slice(0, 1, {{0, 1, 1}});
  const Gain gains[] = {{2, 4, 2}, {2, 3, 1}, {0, 0, 0}};
  p.weigh_anew(gains);
  EXPECT_EQ(p.total(), 7u);
  p.drop_weightless();
  EXPECT_EQ(lines_of(p), "app|app|17/17 > c user in /bin/app = 7 of 3\n");
  EXPECT_EQ(p.slice_ns, 0u);
  EXPECT_TRUE(p.slices.empty());
  // What is added from here on has the numbers of the samples that are left.
  EXPECT_EQ(add(p, {{"c"}}, 1), 0u);
  EXPECT_EQ(add(p, {{"a"}}, 1), 1u);
}

TEST(Profile, ScaledWeightsAreRounded) {
  Profile p;
  add(p, {{"a"}}, 3, 1);
  add(p, {{"b"}}, 1, 1);
  p.scale(1.5);
  EXPECT_EQ(p.samples()[0].weight, 5u); // 4.5
  EXPECT_EQ(p.samples()[1].weight, 2u); // 1.5
  EXPECT_EQ(p.samples()[0].count, 1u);  // it was seen as often as before
  p.scale(0);
  EXPECT_EQ(p.total(), 0u);
}

// A page sums slices up, a table samples: both show the same.
TEST(Profile, ScaledSamplesWeighWhatTheirSlicesDo) {
  Profile p;
  std::mt19937 random(3);
  for (int i = 0; i < 20; i++) add(p, {{std::string("f") + std::to_string(i)}}, 1);
  p.slice_ns = 1000;
  for (uint64_t slice = 0; slice < 50; slice++) {
    std::vector<Gain> gains;
    for (uint32_t i = 0; i < 20; i++) gains.push_back({i, random() % 5, 1});
    p.add_slice(slice, 1, std::move(gains));
  }
  p.scale(1.37);
  uint64_t of_slices = 0;
  for (const Slice& s : p.slices) of_slices += sum_of(s);
  EXPECT_EQ(of_slices, p.total());
}

} // namespace
} // namespace profile
