// Recordings without frames of interpreters.
#include "profile/interpreters.h"

#include "profiles.h"

#include <gtest/gtest.h>

namespace profile {
namespace {

constexpr Step interpreter(std::string_view name) { return {name, "/bin/app", FrameKind::interpreter}; }
constexpr Step python(std::string_view name) { return {name, "/srv/page.py", FrameKind::python}; }

TEST(Interpreters, FramesAreLeftOut) {
  Profile p, expected;
  p.about.title = expected.about.title = "CPU";
  add(p, {{"main"}, interpreter("eval"), python("handle"), interpreter("call"), interpreter("eval"), python("parse"), {"memcpy"}}, 5);
  add(p, {{"main"}, interpreter("eval"), python("handle")}, 2);
  drop_interpreters(p);
  add(expected, {{"main"}, python("handle"), python("parse"), {"memcpy"}}, 5);
  add(expected, {{"main"}, python("handle")}, 2);
  EXPECT_EQ(lines_of(p), lines_of(expected));
}

TEST(Interpreters, SamplesThatBecomeOneAddUpAlsoInSlices) {
  Profile p;
  p.slice_ns = 1000;
  const uint32_t a = add(p, {interpreter("eval"), python("handle")}, 5), b = add(p, {interpreter("run"), python("handle")}, 3), c = add(p, {{"main"}}, 1);
  p.add_slice(0, 1, {{.sample = a, .weight = 5, .count = 5}, {.sample = b, .weight = 1, .count = 1}});
  p.add_slice(2, 1, {{.sample = b, .weight = 2, .count = 2}, {.sample = c, .weight = 1, .count = 1}});
  drop_interpreters(p);
  ASSERT_EQ(p.samples().size(), 2u);
  EXPECT_EQ(p.samples()[0].weight, 8u);
  ASSERT_EQ(p.slices.size(), 2u);
  ASSERT_EQ(p.slices[0].gains.size(), 1u);
  EXPECT_EQ(p.slices[0].gains[0].weight, 6u);
  EXPECT_EQ(p.slices[1].number, 2u);
  EXPECT_EQ(p.slices[1].gains[1].sample, 1u);
}

TEST(Interpreters, NothingChangesWithoutThem) {
  Profile p, expected;
  for (Profile* each : {&p, &expected}) add(*each, {{"main"}, python("handle")}, 2);
  drop_interpreters(p);
  EXPECT_EQ(lines_of(p), lines_of(expected));
}

} // namespace
} // namespace profile
