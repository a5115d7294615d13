// Parts of a recording that was split: which slices a range holds, and what the result says of itself.
#include "profile/slices.h"
#include "profile/tables.h"
#include "profiles.h"

#include <gtest/gtest.h>

namespace profile {
namespace {

constexpr uint64_t second = 1'000'000'000;

// One sample a slice: `f0` weighs 1 in the first second, `f1` 10 in the next, `f2` 100, `f3` 1000; the last is 2.5 s long in all.
Profile recording() {
  Profile p;
  p.slice_ns = second;
  p.about.duration_ns = 3 * second + second / 2;
  p.about.what = "process 17";
  p.about.start_ns = 100 * second;
  uint64_t weight = 1;
  for (uint64_t i = 0; i < 4; i++, weight *= 10) {
    const uint32_t sample = add(p, {{"f" + std::to_string(i)}}, weight, 1);
    p.add_slice(i, 1, {{sample, weight, 1}});
  }
  return p;
}
uint64_t part(TimeRange range, Part which = Part::inside) {
  Profile p = recording();
  auto status = keep_part(p, range, which);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return p.total();
}
std::string refusal(Profile p, TimeRange range) {
  auto status = keep_part(p, range);
  return status.ok() ? "kept" : status.error().message;
}

TEST(Slices, ASliceBelongsToARangeThatTouchesIt) {
  EXPECT_EQ(part({}), 1111u);
  EXPECT_EQ(part({.from = 1 * second, .until = 2 * second}), 10u);
  EXPECT_EQ(part({.from = 1 * second, .until = 2 * second + 1}), 110u);
  EXPECT_EQ(part({.from = 1 * second - 1, .until = 2 * second}), 11u);
  EXPECT_EQ(part({.from = 3 * second + second / 2 - 1, .until = {}}), 1000u);
  EXPECT_EQ(part({.from = {}, .until = 1}), 1u);
  EXPECT_EQ(part({.from = {}, .until = 1000 * second}), 1111u);
}

TEST(Slices, InsideAndOutsideAreTheWhole) {
  for (uint64_t from : {uint64_t{0}, second - 1, second, 2 * second + 5, 3 * second})
    for (uint64_t until : {from + 1, from + second, 9 * second}) {
      const TimeRange range = {.from = from, .until = until};
      EXPECT_EQ(part(range) + part(range, Part::outside), 1111u) << from << " " << until;
    }
}

// A slice that was read late holds what happened in several.
TEST(Slices, SlicesThatSpanSeveral) {
  Profile p = recording();
  p.slices[1].span = 3; // seconds 1 to 4
  for (auto [from, until, wanted] : {std::tuple(3 * second, 4 * second, 1010), std::tuple(uint64_t{0}, second, 1)}) {
    Profile q = recording();
    q.slices[1].span = 3;
    ASSERT_TRUE(keep_part(q, {.from = from, .until = until}).ok());
    EXPECT_EQ(q.total(), static_cast<uint64_t>(wanted));
    const bool is_merged = wanted > 1;
    EXPECT_EQ(!q.about.notes.empty() && q.about.notes[0] == "1 slice of this range was read late and may include events before or after it", is_merged);
  }
}

TEST(Slices, TheResultSaysWhatItIs) {
  Profile p = recording();
  p.about.samples = 4, p.about.complete = 4, p.about.frames = 4;
  ASSERT_TRUE(keep_part(p, {.from = second + second / 2, .until = 3 * second}).ok());
  EXPECT_EQ(p.about.what, "process 17, from 1 s until 3 s"); // whole slices
  EXPECT_EQ(p.about.duration_ns, 2 * second);
  EXPECT_EQ(p.about.start_ns, 101 * second);
  EXPECT_EQ(p.about.samples, 2u);
  EXPECT_EQ(p.about.complete, 0u); // not known of a part
  ASSERT_EQ(p.about.notes.size(), 1u);
  EXPECT_TRUE(p.about.notes[0].starts_with("the whole recording, 3.5 s: samples 4")) << p.about.notes[0];

  Profile rest = recording();
  ASSERT_TRUE(keep_part(rest, {.from = second, .until = 3 * second}, Part::outside).ok());
  EXPECT_EQ(rest.about.what, "process 17, except from 1 s until 3 s");
  EXPECT_EQ(rest.about.duration_ns, second + second / 2);
  EXPECT_EQ(rest.about.start_ns, 100 * second);
}

TEST(Slices, LongRecordingsHaveTheirSeconds) {
  Profile p = recording();
  p.about.duration_ns = 2'000'000 * second; // 23 days
  ASSERT_TRUE(keep_part(p, {.from = 0, .until = 1'234'567 * second}).ok());
  EXPECT_EQ(p.about.what, "process 17, from 0 s until 1234567 s");
}

TEST(Slices, Refusals) {
  Profile whole = recording();
  whole.slices.clear(), whole.slice_ns = 0;
  EXPECT_EQ(refusal(std::move(whole), {.from = second, .until = {}}), "the recording has no time slices\nhint: acu record --split 1s");
  EXPECT_EQ(refusal(recording(), {.from = 4 * second, .until = {}}), "`--from`: the recording is only 3.5 s long, not 4 s");
  EXPECT_EQ(refusal(recording(), {.from = ~uint64_t{0}, .until = {}}).substr(0, 43), "`--from`: the recording is only 3.5 s long,");
}

// The time of the last slice counts where the duration is not known.
TEST(Slices, WithoutADuration) {
  Profile p = recording();
  p.about.duration_ns = 0;
  ASSERT_TRUE(keep_part(p, {.from = 3 * second, .until = {}}).ok());
  EXPECT_EQ(p.total(), 1000u);
  Profile empty;
  empty.slice_ns = second;
  EXPECT_EQ(refusal(std::move(empty), {.from = 1, .until = {}}), "`--from`: the recording is only 0 s long, not 1e-09 s");
}

TEST(Slices, PartsAreRecordingsLikeOthers) {
  Profile p = recording();
  ASSERT_TRUE(keep_part(p, {.from = 2 * second, .until = {}}).ok());
  EXPECT_EQ(p.slice_ns, 0u);
  EXPECT_EQ(lines_of(p), "app|app|17/17 > f2 user in /bin/app = 100 of 1\napp|app|17/17 > f3 user in /bin/app = 1000 of 1\n");
  EXPECT_FALSE(keep_part(p, {.from = 0, .until = 1}).ok()); // it has no slices any more
}

} // namespace
} // namespace profile
