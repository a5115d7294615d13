// Language frames in the places of the interpreter's.
#include "runtime/splice.h"

#include "spec/stack_entries.h"

#include <gtest/gtest.h>

namespace runtime {
namespace {

// The interpreter is at [0x1000, 0x2000), its evaluation function at [0x1100, 0x1200) and, its cold part, at [0x1800, 0x1810). What
// goes on with an activation in another call of that function is at [0x1900, 0x1940).
ProcessRuntime process() {
  ProcessRuntime p;
  p.code = {0x1000, 0x2000};
  p.table.kind = LANGUAGE_PYTHON;
  p.table.evaluation[0] = {0x1100, 0x1200};
  p.table.evaluation[1] = {0x1800, 0x1810};
  p.table.nested = {0x1900, 0x1940};
  return p;
}

constexpr uint64_t eval = 0x1150, call = 0x1300, nested = 0x1920, outside = 0x9000, start = 0x9100;

// A frame of the language by its number; `first`: the innermost of its activation.
void add(std::vector<uint64_t>& words, uint64_t number, bool first) {
  words.insert(words.end(), {spec::tagged_word(spec::FrameKind::python, first ? LANGUAGE_FIRST : 0), number});
}

// Activations by the numbers of their frames.
std::vector<uint64_t> language(std::initializer_list<std::vector<uint64_t>> activations) {
  std::vector<uint64_t> out;
  for (const std::vector<uint64_t>& a : activations)
    for (size_t i = 0; i < a.size(); i++) add(out, a[i], i == 0);
  return out;
}

// Of what is spliced, language frames by number and others by address.
std::vector<uint64_t> shown(std::vector<uint64_t> native, const std::vector<uint64_t>& languages, Show show = Show::folded, bool is_cut = false) {
  const std::vector<uint64_t> words = splice({native, languages, is_cut}, process(), show);
  std::vector<uint64_t> out;
  for (std::span<const uint64_t> rest = words; !rest.empty();) out.push_back(spec::take_entry(rest).address);
  return out;
}

using Words = std::vector<uint64_t>;

TEST(Splice, AnActivationTakesThePlaceOfItsEvaluationFrame) {
  EXPECT_EQ(shown({outside, eval, start}, language({{1, 2}})), (Words{outside, 1, 2, start}));
}

TEST(Splice, TheInterpretersCodeOutsideTheInnermostActivationIsFolded) {
  EXPECT_EQ(shown({call, eval, call, 0x1400, eval, 0x1500, start}, language({{1}, {2, 3}})), (Words{call, 1, 2, 3, start}));
}

TEST(Splice, CodeOfOtherFilesBetweenActivationsStays) {
  EXPECT_EQ(shown({eval, call, outside, call, eval, start}, language({{1}, {2}})), (Words{1, outside, 2, start}));
}

TEST(Splice, BothShowsEachActivationOnItsEvaluationFrame) {
  EXPECT_EQ(shown({call, eval, 0x1400, eval, start}, language({{1}, {2}}), Show::both), (Words{call, 1, eval, 0x1400, 2, eval, start}));
}

// Also of what is called by it: the byte before a return address is looked up.
TEST(Splice, FoldableMarksWhatFoldedLeavesOut) {
  const std::vector<uint64_t> native = {call, eval, call, outside, eval, start}, languages = language({{1}, {2, 3}});
  EXPECT_EQ(shown(native, languages, Show::foldable), (Words{call, 1, eval - 1, call - 1, outside, 2, 3, eval - 1, start}));
  std::vector<uint64_t> rest;
  const std::vector<uint64_t> words = splice({native, languages}, process(), Show::foldable);
  for (std::span<const uint64_t> left = words; !left.empty();)
    if (const spec::StackEntry e = spec::take_entry(left); e.tag != spec::row_of(spec::FrameKind::interpreter).tag) rest.push_back(e.address);
  EXPECT_EQ(rest, shown(native, languages));
}

TEST(Splice, NativeShowsNoLanguageFrames) {
  const Words native = {call, eval, start};
  EXPECT_EQ(shown(native, language({{1}}), Show::native), native);
}

TEST(Splice, WithoutEvaluationFrameNothingChanges) {
  EXPECT_EQ(shown({outside, start}, language({{1}})), (Words{outside, start}));
  EXPECT_EQ(shown({outside, eval, start}, {}), (Words{outside, eval, start}));
  EXPECT_EQ(shown({}, {}), Words{});
}

TEST(Splice, TheColdPartIsTheEvaluationFunctionToo) {
  EXPECT_EQ(shown({call, 0x1808, start}, language({{1}})), (Words{call, 1, start}));
}

// The innermost address is of an instruction; others are where calls return to, which may be behind the function's end.
TEST(Splice, AReturnBehindTheEndBelongsToTheFunction) {
  EXPECT_EQ(shown({call, 0x1200, start}, language({{1}})), (Words{call, 1, start}));
  EXPECT_EQ(shown({0x1200, start}, language({{1}})), (Words{0x1200, start}));
}

TEST(Splice, AFunctionThatIsEnteredHasNoActivationYet) {
  EXPECT_EQ(shown({0x1100, call, eval, start}, language({{1, 2}})), (Words{0x1100, call, 1, 2, start}));
  EXPECT_EQ(shown({0x1104, call, eval, start}, language({{1, 2}})), (Words{0x1104, call, 1, 2, start}));
  EXPECT_EQ(shown({0x1100, call, eval}, language({{1}}), Show::folded, true), (Words{0x1100, call, 1}));
}

TEST(Splice, AFunctionThatIsEnteredMayHaveItsActivation) {
  EXPECT_EQ(shown({0x1100, call, eval, start}, language({{1}, {2}})), (Words{1, 2, start}));
}

TEST(Splice, AnActivationMayGoOnInANestedEvaluationFrame) {
  EXPECT_EQ(shown({call, eval, nested, eval, outside, eval, start}, language({{1}, {2}})), (Words{call, 1, outside, 2, start}));
  EXPECT_EQ(shown({call, eval, nested, call, eval, outside, eval, start}, language({{1}, {2}})), (Words{call, 1, outside, 2, start}));
}

TEST(Splice, WhatIsCalledBeforeTheNestedFrameIsThereHasAnActivation) {
  EXPECT_EQ(shown({call, eval, call, nested, eval, outside, eval, start}, language({{1}, {2}, {3}})), (Words{call, 1, 2, outside, 3, start}));
}

TEST(Splice, OuterEvaluationFramesOfAnotherStackAreFolded) {
  EXPECT_EQ(shown({call, eval, outside, eval, start}, language({{1, 2}})), (Words{call, 1, 2, outside, start}));
}

// Walks of Lua tell of each evaluation frame; of one that only calls C there is an entry without function.
TEST(Splice, AnActivationWithoutFunctionsStaysNative) {
  EXPECT_EQ(shown({call, eval, call, eval, outside, eval, start}, language({{1}, {0}, {2}})), (Words{call, 1, outside, 2, start}));
  EXPECT_EQ(shown({call, eval, start}, language({{0}})), (Words{call, eval, start}));
}

TEST(Splice, NoLanguageFrameIsLeftOut) {
  EXPECT_EQ(shown({call, eval, 0x1400, eval, start}, language({{1}, {2}, {3}})), (Words{call, 1, 2, 3, start}));
}

TEST(Splice, OfAnIncompleteStackTheRestIsInFrontOfItsEnd) {
  const uint64_t end = STACK_END + 6;
  EXPECT_EQ(shown({call, eval, end}, language({{1}, {2}, {3}})), (Words{call, 1, 2, 3, end}));
  EXPECT_EQ(shown({call, eval}, language({{1}, {2}}), Show::folded, true), (Words{call, 1, 2}));
}

TEST(Splice, DamagedListsAreTakenAsTheyAre) {
  Words words = language({{1, 2}});
  words[0] &= ~uint64_t{LANGUAGE_FIRST};
  words.push_back(7); // half an entry
  EXPECT_EQ(shown({eval, start}, words), (Words{1, 2, start}));
}

TEST(Splice, OrderNamesPlacesInTheLists) {
  const Words native = {call, eval, start}, languages = language({{1, 2}});
  const auto order = order_of({native, languages}, process());
  ASSERT_EQ(order.size(), 4u);
  EXPECT_FALSE(order[0].is_language);
  EXPECT_TRUE(order[2].is_language);
  EXPECT_EQ(order[2].index, 2u);
  EXPECT_EQ(order[3].index, 2u);
}

TEST(Splice, NamesOfTheOption) {
  EXPECT_EQ(show_of("folded"), Show::folded);
  EXPECT_EQ(show_of("both"), Show::both);
  EXPECT_EQ(show_of("native"), Show::native);
}

} // namespace
} // namespace runtime
