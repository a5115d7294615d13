// One stack out of native and language frames, by the rules of runtime/splice.h.
#include "runtime/splice.h"

#include "spec/stack_entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace runtime {
namespace {

constexpr uint64_t interpreter = 0x100000, evaluation = 0x110000, cold = 0x118000, part = 0x1000, interpreter_end = 0x120000;

// Addresses in them. Those of callers are return addresses; the letters are how texts() shows them.
constexpr uint64_t eval = evaluation + 0x10;    // E: hot part of the evaluation function
constexpr uint64_t eval_cold = cold + 0x10;     // e: its cold part
constexpr uint64_t call = interpreter + 0x10;   // i: other code of the interpreter's file
constexpr uint64_t extension = 0x200000;        // x, y, z: other code
constexpr uint64_t end_word = STACK_END | 4;        // "[return address is not code]"

ProcessRuntime process() {
  ProcessRuntime out = {.code = {interpreter, interpreter_end}};
  out.table.evaluation[0] = {evaluation, evaluation + part};
  out.table.evaluation[1] = {cold, cold + part};
  return out;
}

// Language frames by activation, the innermost first: "a b|c" is two activations.
std::vector<uint64_t> language(std::string_view text) {
  std::vector<uint64_t> out;
  bool is_first = true;
  for (const char c : text) {
    if (c == '|') is_first = true;
    if (c < 'a' || c > 'z') continue;
    out.insert(out.end(), {spec::tagged_word(spec::FrameKind::python, is_first ? LANGUAGE_FIRST : 0), static_cast<uint64_t>(c)});
    is_first = false;
  }
  return out;
}

std::string name_of(uint64_t address) {
  const ProcessRuntime p = process();
  if (address >= p.table.evaluation[0].begin && address <= p.table.evaluation[0].end) return "E";
  if (address >= p.table.evaluation[1].begin && address <= p.table.evaluation[1].end) return "e";
  if (address >= interpreter && address < interpreter_end) return "i";
  if (spec::is_stack_end(address)) return "end" + std::to_string(address - STACK_END);
  return std::string(1, static_cast<char>('x' + (address - extension)));
}

// Of spliced words: natives by name_of, language frames as their letter in parentheses.
std::string text_of(const std::vector<uint64_t>& words) {
  std::string out;
  for (std::span<const uint64_t> rest = words; !rest.empty();) {
    const spec::StackEntry entry = spec::take_entry(rest);
    if (!out.empty()) out += ' ';
    out += entry.tag ? "(" + std::string(1, static_cast<char>(entry.address)) + ")" : name_of(entry.address);
  }
  return out;
}

std::string spliced(const std::vector<uint64_t>& native, const std::vector<uint64_t>& language, Show show = Show::folded, bool is_cut = false) {
  const Lists lists = {.native = native, .language = language, .is_cut = is_cut};
  const std::vector<uint64_t> words = splice(lists, process(), show);
  // Places and words are the same stack.
  std::vector<uint64_t> by_place;
  for (const SplicedFrame& f : order_of(lists, process(), show)) {
    by_place.push_back(f.is_language ? language.at(f.index) : native.at(f.index));
    if (f.is_language) by_place.push_back(language.at(f.index + 1));
  }
  std::vector<uint64_t> without_end = words;
  if (!native.empty() && spec::is_stack_end(native.back())) without_end.pop_back();
  EXPECT_EQ(by_place, without_end);
  return text_of(words);
}

TEST(Splice, AnActivationTakesThePlaceOfItsEvaluationFrame) {
  EXPECT_EQ(spliced({eval, extension}, language("a")), "(a) x");
  EXPECT_EQ(spliced({eval, extension}, language("ab")), "(a) (b) x"); // calls within one activation
}

TEST(Splice, SeveralActivations) {
  EXPECT_EQ(spliced({eval, eval, eval, extension}, language("ab|c|d")), "(a) (b) (c) (d) x");
}

TEST(Splice, TheExampleOfTheHeader) {
  EXPECT_EQ(spliced({call, eval, call, eval, call, extension}, language("ab|cd")), "i (a) (b) (c) (d) x");
}

TEST(Splice, TheInterpretersFramesAreFoldedBetweenAndBelowActivations) {
  EXPECT_EQ(spliced({eval, call, call, eval, call}, language("a|b")), "(a) (b)");
}

TEST(Splice, NativesOnTopOfTheInnermostActivationStay) {
  EXPECT_EQ(spliced({extension, call, call, eval, call}, language("a")), "x i i (a)");
}

TEST(Splice, FramesOfOtherCodeStay) {
  EXPECT_EQ(spliced({eval, call, extension, extension + 1, call, eval, call, extension + 2}, language("a|b")), "(a) x y (b) z");
}

// A function that has just been entered has no activation yet.
TEST(Splice, WithMoreEvaluationFramesTheInnermostStayNative) {
  EXPECT_EQ(spliced({eval, call, eval, call, eval, extension}, language("a|b")), "E i (a) (b) x");
  EXPECT_EQ(spliced({eval, eval, eval}, language("a")), "E E (a)");
}

TEST(Splice, WithMoreActivationsTheExtraOnesGoWithTheInnermostFrame) {
  EXPECT_EQ(spliced({extension, eval, call, eval, extension + 1}, language("a|b|c|d")), "x (a) (b) (c) (d) y");
  EXPECT_EQ(spliced({extension, eval, extension + 1, eval}, language("a|b|c|d")), "x (a) (b) (c) y (d)");
}

TEST(Splice, WithoutEvaluationFramesTheStackStaysNative) {
  EXPECT_EQ(spliced({call, extension}, language("a|b")), "i x");
}

TEST(Splice, WithoutLanguageFramesTheStackStaysNative) {
  EXPECT_EQ(spliced({extension, eval, call, eval, call}, {}), "x E i E i");
  EXPECT_EQ(spliced({extension, eval, call, end_word}, {}), "x E i end4");
}

TEST(Splice, EmptyLists) {
  EXPECT_EQ(spliced({}, {}), "");
  EXPECT_EQ(spliced({}, language("a")), "");
  EXPECT_EQ(spliced({end_word}, {}), "end4");
}

// The outer evaluation frames were not reached: the innermost of both lists belong together.
TEST(Splice, IncompleteStacksAreAlignedAtTheInnermostFrame) {
  EXPECT_EQ(spliced({extension, eval, call, extension + 1, eval, end_word}, language("a|b|c|d")), "x (a) y (b) (c) (d) end4");
  EXPECT_EQ(spliced({extension, eval, call, extension + 1, eval}, language("a|b|c|d"), Show::folded, true), "x (a) y (b) (c) (d)");
  EXPECT_EQ(spliced({extension, eval, call, extension + 1, eval, end_word}, language("a")), "x (a) y end4"); // with fewer activations the outer ones are folded
}

TEST(Splice, AStackThatIsBothCutAndEndedHasOneEnd) {
  EXPECT_EQ(spliced({eval, end_word}, language("a|b"), Show::folded, true), "(a) (b) end4");
}

TEST(Splice, CompleteStacksOfTheSameFramesAreAlignedAtTheOutermost) {
  EXPECT_EQ(spliced({eval, extension, eval}, language("a"), Show::both), "E x (a) E");
  EXPECT_EQ(spliced({eval, extension, eval}, language("a"), Show::both, true), "(a) E x E");
}

TEST(Splice, BothKeepsTheInterpretersFrames) {
  EXPECT_EQ(spliced({extension, eval, call, eval, call}, language("ab|c"), Show::both), "x (a) (b) E i (c) E i");
  EXPECT_EQ(spliced({eval, call, eval}, language("a|b|c"), Show::both), "(a) (b) E i (c) E");
  EXPECT_EQ(spliced({eval, call, end_word}, language("a|b"), Show::both), "(a) E i (b) end4");
  EXPECT_EQ(spliced({eval, call, eval}, language("a"), Show::both), "E i (a) E");
}

TEST(Splice, NativeHasNoLanguageFrames) {
  EXPECT_EQ(spliced({extension, eval, call, eval, call}, language("ab|c"), Show::native), "x E i E i");
  EXPECT_EQ(spliced({eval, call, end_word}, language("a|b"), Show::native), "E i end4");
}

TEST(Splice, TheFirstFrameOpensAnActivationWithoutTheMark) {
  std::vector<uint64_t> words = language("ab|c");
  words[0] &= ~LANGUAGE_FIRST;
  EXPECT_EQ(spliced({eval, extension, eval}, words), "(a) (b) x (c)");
}

TEST(Splice, AFrameWhoseSecondWordIsMissingIsLeftOut) {
  std::vector<uint64_t> words = language("a|b");
  words.pop_back();
  EXPECT_EQ(spliced({eval, extension}, words), "(a) x");
  EXPECT_EQ(spliced({eval, extension}, {words[0]}), "E x");
}

TEST(Splice, TheEvaluationFunctionHasAHotAndAColdPart) {
  EXPECT_EQ(spliced({eval_cold, call, eval, call, eval_cold}, language("a|b|c")), "(a) (b) (c)");
  ProcessRuntime hot_only = process();
  hot_only.table.evaluation[1] = {};
  const std::vector<uint64_t> native = {eval_cold, eval}, frames = language("a|b");
  EXPECT_EQ(text_of(splice({.native = native, .language = frames}, hot_only)), "e (a) (b)");
}

// The innermost address is exact. All others are return addresses, and the byte before is in the call.
TEST(Splice, BordersOfTheEvaluationFunction) {
  const uint64_t begin = evaluation, end = evaluation + part;
  EXPECT_EQ(spliced({begin}, language("a")), "(a)");
  EXPECT_EQ(spliced({end}, language("a")), "E"); // in the function behind it
  EXPECT_EQ(spliced({end - 1}, language("a")), "(a)");
  EXPECT_EQ(spliced({extension, begin}, language("a")), "x E"); // returns behind the function before it
  EXPECT_EQ(spliced({extension, begin + 1}, language("a")), "x (a)");
  EXPECT_EQ(spliced({extension, end}, language("a")), "x (a)"); // a call at the end of the function
  EXPECT_EQ(spliced({extension, end + 1, eval}, language("a")), "x i (a)");
}

TEST(Splice, BordersOfTheInterpreter) {
  const std::vector<uint64_t> native = {eval, interpreter, interpreter + 1, interpreter_end, interpreter_end + 1}, frames = language("a");
  const auto order = order_of({.native = native, .language = frames}, process());
  ASSERT_EQ(order.size(), 3u);
  EXPECT_TRUE(order[0].is_language);
  EXPECT_EQ(order[1].index, 1u); // returns behind what is before the interpreter
  EXPECT_EQ(order[2].index, 4u);
}

TEST(Splice, WithoutARuntimeNothingChanges) {
  const std::vector<uint64_t> native = {eval, call, extension, end_word}, frames = language("a");
  EXPECT_EQ(splice({.native = native, .language = frames}, {}), native);
  EXPECT_EQ(splice({.native = native, .language = {}}, {}), native);
}

TEST(Splice, AReturnToNowhereIsTheEnd) {
  EXPECT_EQ(spliced({eval, extension, 0, extension}, language("a|b")), "(a) (b) x"); // a complete stack
}

TEST(Splice, NoFrameIsLostOrDoubled) {
  for (unsigned shape = 0; shape < 4096; shape++) { // 5 natives of 4 sorts, 2 bits for the activations
    std::vector<uint64_t> native;
    for (unsigned i = 0; i < 5; i++) native.push_back(std::array{eval, eval_cold, call, extension}[shape >> 2 * i & 3]);
    const std::vector<uint64_t> frames = language(std::array{"", "a", "a|b", "a|bc|d"}[shape >> 10 & 3]);
    const bool has_evaluation = std::ranges::any_of(native, [](uint64_t address) { return address == eval || address == eval_cold; });
    for (const bool is_cut : {false, true}) {
      size_t languages = 0, last_language = 0, last_native = 0, natives = 0;
      for (const SplicedFrame& f : order_of({.native = native, .language = frames, .is_cut = is_cut}, process(), Show::both)) {
        size_t &count = f.is_language ? languages : natives, &last = f.is_language ? last_language : last_native;
        EXPECT_TRUE(!count || f.index > last) << shape;
        count++, last = f.index;
      }
      EXPECT_EQ(natives, native.size()) << shape;
      EXPECT_EQ(languages, has_evaluation ? frames.size() / 2 : 0) << shape;
    }
  }
}

TEST(Splice, NamesOfShow) {
  EXPECT_EQ(show_of("folded"), Show::folded);
  EXPECT_EQ(show_of("both"), Show::both);
  EXPECT_EQ(show_of("native"), Show::native);
}

} // namespace
} // namespace runtime
