// The screen of `acu top` on terminals of all sizes, with names of all kinds, and what keys do.
#include "tool/top_view.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cwchar>

namespace tool {
namespace {

using profile::Gain;
using profile::SortBy;
using spec::FrameKind;

constexpr uint64_t second = 1'000'000'000;

// Columns that a line takes; -1: it has something that is no text.
int columns_of(const std::string& line) {
  int out = 0;
  std::mbstate_t state = {};
  for (const char *at = line.data(), *end = at + line.size(); at < end;) {
    wchar_t c = 0;
    const size_t n = std::mbrtowc(&c, at, static_cast<size_t>(end - at), &state);
    if (n == 0 || n > 4) return -1;
    const int width = ::wcwidth(c);
    if (width < 0) return -1;
    out += width, at += n;
  }
  return out;
}

class TopViewTest : public testing::Test {
protected:
  TopViewTest() {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    p.about.title = "CPU", p.about.what = "all processes", p.about.period_ns = 0;
  }
  // A stack, the outermost first, in a thread.
  uint32_t sample(uint32_t tid, std::initializer_list<std::string_view> stack, std::string_view module = "/usr/bin/app") {
    uint32_t node = 0;
    for (std::string_view name : stack) node = p.node(node, p.frame({p.text(name), p.text(module), FrameKind::user}));
    return p.add(p.thread({tid, tid, p.text("proc"), p.text("thread")}), node, 0, 0);
  }
  void take(std::vector<Gain> gains, bool is_state = false) {
    gains_ = std::move(gains);
    p.about.samples += gains_.size(), p.about.duration_ns += second;
    view.take({.profile = p, .gains = gains_, .passed_ns = second, .is_state = is_state, .losses = "0 lost"});
  }
  std::vector<std::string> lines(size_t columns = 100, size_t rows = 20) {
    std::vector<std::string> out;
    chosen = -1;
    for (const ShownLine& line : view.lines(columns, rows)) {
      if (line.is_chosen) chosen = static_cast<int>(out.size());
      std::string text = line.text;
      text.erase(text.find_last_not_of(' ') + 1);
      out.push_back(text);
    }
    return out;
  }
  // Names of the rows, and `>` before the chosen one.
  std::string names() {
    std::string out;
    const std::vector<std::string> all = lines();
    for (size_t i = 3; i + 1 < all.size() && !all[i].empty(); i++) {
      const std::string& line = all[i];
      const size_t percent = line.rfind('%');
      std::string name = percent == line.npos ? line : line.substr(percent + 1);
      name.erase(0, name.find_first_not_of(' '));
      if (percent != line.npos) name = name.substr(name.find_first_not_of("0123456789., kMGTuns") == name.npos ? 0 : name.find_first_not_of(" 0123456789.,"));
      out += (static_cast<int>(i) == chosen ? " >" : " ") + name.substr(0, name.find(' '));
    }
    return out;
  }
  void press(std::initializer_list<Key> keys) {
    for (Key k : keys) EXPECT_TRUE(view.press(k));
  }
  void search(std::string_view text) {
    view.press('/');
    for (char c : text) view.press(static_cast<Key>(c));
    view.press(key_enter);
  }
  std::string state() { return lines()[1]; }

  profile::Profile p;
  TopView view{SortBy::self, second};
  std::vector<Gain> gains_;
  int chosen = -1;
};

// ---- sizes

TEST_F(TopViewTest, NoLineIsWiderThanTheTerminal) {
  take({{sample(1, {"main", "a_function_with_a_very_long_name_that_does_not_fit_anywhere"}), 1000, 1000},
        {sample(2, {"main", "短い名前"}, "/usr/lib/とても長いライブラリの名前.so"), 700, 700},
        {sample(3, {"main", "e\u0301e\u0301e\u0301e\u0301"}), 500, 500},
        {sample(4, {"main", "\xff\xfe\x80"}), 300, 300}});
  for (size_t columns = 0; columns <= 130; columns++)
    for (size_t rows : {0, 1, 2, 3, 4, 5, 6, 24})
      for (Key page : {Key{0}, Key{'t'}, Key{'h'}}) {
        if (page) view.press(page);
        const std::vector<ShownLine> all = view.lines(columns, rows);
        EXPECT_EQ(all.size(), rows) << columns << "x" << rows;
        for (const ShownLine& line : all) {
          EXPECT_GE(columns_of(line.text), 0) << columns << "x" << rows << ": " << line.text;
          EXPECT_LE(columns_of(line.text), static_cast<int>(columns)) << columns << "x" << rows << ": " << line.text;
        }
        if (page) view.press(page); // back
      }
}

TEST_F(TopViewTest, NothingHasHappenedYet) {
  const std::vector<std::string> all = lines(80, 6);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_TRUE(all[0].starts_with("acu top"));
  EXPECT_TRUE(all[1].starts_with("nothing yet in 1.0 s"));
  EXPECT_EQ(all[5], "waiting for the first interval; h: help, q: quit");
  press({key_down, key_end, key_enter, key_left, 's', 'a', 't', 't', ' ', ' '});
  EXPECT_EQ(lines(80, 6).size(), 6u);
}

TEST_F(TopViewTest, AnIntervalWithoutEvents) {
  take({});
  EXPECT_EQ(lines()[3], "  nothing happened");
}

TEST_F(TopViewTest, TheChosenRowIsAlwaysOnTheScreen) {
  std::vector<Gain> gains;
  for (uint32_t i = 0; i < 50; i++) gains.push_back({sample(1, {"f" + std::to_string(100 + i)}), 1000 - i, 1});
  take(gains);
  for (size_t rows : {5, 6, 10, 30}) {
    lines(100, rows);
    press({key_home});
    for (int i = 0; i < 60; i++) {
      lines(100, rows);
      EXPECT_GE(chosen, 3) << rows;
      press({key_down});
    }
    EXPECT_NE(lines(100, rows)[static_cast<size_t>(std::max(chosen, 0))].find("f149"), std::string::npos);
  }
}

// ---- keys

TEST_F(TopViewTest, RowsAreChosenByKeys) {
  take({{sample(1, {"a"}), 30, 30}, {sample(1, {"b"}), 20, 20}, {sample(1, {"c"}), 10, 10}});
  EXPECT_EQ(names(), " >a b c");
  press({key_down, key_down});
  EXPECT_EQ(names(), " a b >c");
  press({key_down});
  EXPECT_EQ(names(), " a b >c") << "the last";
  press({key_up});
  EXPECT_EQ(names(), " a >b c");
  press({key_end});
  EXPECT_EQ(names(), " a b >c");
  press({key_home, key_up});
  EXPECT_EQ(names(), " >a b c");
  press({key_page_down});
  EXPECT_EQ(names(), " a b >c");
  EXPECT_FALSE(view.press('q'));
}

TEST_F(TopViewTest, AChosenRowIsFollowedWhereverItGoes) {
  const uint32_t a = sample(1, {"a"}), b = sample(1, {"b"}), c = sample(1, {"c"});
  take({{a, 30, 30}, {b, 20, 20}, {c, 10, 10}});
  press({key_down});
  take({{c, 30, 30}, {b, 10, 10}});
  EXPECT_EQ(names(), " c >b");
  take({{b, 40, 40}, {a, 30, 30}, {c, 10, 10}});
  EXPECT_EQ(names(), " >b a c");
}

TEST_F(TopViewTest, TheFirstRowIsNotFollowed) {
  const uint32_t a = sample(1, {"a"}), b = sample(1, {"b"});
  take({{a, 30, 30}, {b, 20, 20}});
  take({{b, 30, 30}, {a, 20, 20}});
  EXPECT_EQ(names(), " >b a");
}

TEST_F(TopViewTest, CallersAndCalleesOfAFunction) {
  take({{sample(1, {"main", "one", "mid", "leaf"}), 30, 30}, {sample(1, {"main", "two", "mid", "leaf"}), 20, 20}});
  search("mid");
  press({key_enter});
  EXPECT_EQ(names(), " called >one two calls leaf");
  press({key_down, key_down});
  EXPECT_EQ(names(), " called one two calls >leaf") << "headings are no rows";
  press({key_up});
  EXPECT_EQ(names(), " called one >two calls leaf");
  EXPECT_NE(state().find("> mid"), std::string::npos);
  press({key_left});
  EXPECT_EQ(state().find("> mid"), std::string::npos);
}

// The first item of this page is a heading, and the last may be one.
TEST_F(TopViewTest, HomeAndEndReachTheFirstAndTheLastRow) {
  take({{sample(1, {"one", "leaf"}), 30, 30}, {sample(1, {"two", "leaf"}), 20, 20}, {sample(1, {"three", "leaf"}), 10, 10}});
  search("leaf");
  press({key_enter});
  EXPECT_EQ(names(), " called >one two three calls");
  press({key_end});
  EXPECT_EQ(names(), " called one two >three calls");
  press({key_home});
  EXPECT_EQ(names(), " called >one two three calls");
  press({key_page_down});
  EXPECT_EQ(names(), " called one two >three calls");
  press({key_page_up});
  EXPECT_EQ(names(), " called >one two three calls");
  press({key_up});
  EXPECT_EQ(names(), " called >one two three calls");
}

TEST_F(TopViewTest, AFunctionWithoutCallersAndCallees) {
  take({{sample(1, {"alone"}), 30, 30}});
  press({key_enter});
  EXPECT_EQ(names(), " >called calls");
  press({key_down, key_end, key_enter, key_home});
  EXPECT_NE(state().find("> alone"), std::string::npos) << "a heading leads nowhere";
}

TEST_F(TopViewTest, FunctionsOfAThread) {
  take({{sample(1, {"a"}), 30, 30}, {sample(2, {"b"}), 20, 20}});
  press({'t'});
  EXPECT_EQ(lines()[2], " total      total  thread");
  press({key_down, key_enter});
  EXPECT_EQ(names(), " >b");
  EXPECT_NE(state().find("> thread 2"), std::string::npos);
  press({key_enter, key_left, key_left, 't'});
  EXPECT_EQ(names(), " >a b");
}

// ---- search

TEST_F(TopViewTest, SearchesWithoutRegardToCase) {
  take({{sample(1, {"Alpha"}), 30, 30}, {sample(1, {"beta"}), 20, 20}});
  search("ALPH");
  EXPECT_EQ(names(), " >Alpha");
  EXPECT_NE(state().find(" /ALPH"), std::string::npos);
  press({key_escape});
  EXPECT_EQ(names(), " >Alpha beta");
  search("gamma");
  EXPECT_EQ(lines()[3], "  no name matches");
}

TEST_F(TopViewTest, ErasingTakesWholeCharacters) {
  take({{sample(1, {"é日x"}), 30, 30}});
  press({'/', 0xe9, 0x65e5, 0x1f600});
  EXPECT_EQ(state(), "search: é日😀_");
  press({key_erase});
  EXPECT_EQ(state(), "search: é日_");
  press({key_erase, key_erase, key_erase});
  EXPECT_EQ(state(), "search: _");
  press({key_up, 0x07});
  EXPECT_EQ(state(), "search: _") << "keys that are no characters";
}

TEST_F(TopViewTest, QIsALetterOfASearch) {
  take({});
  press({'/'});
  EXPECT_TRUE(view.press('q'));
}

TEST_F(TopViewTest, AnyKeyLeavesTheHelp) {
  take({});
  press({'h'});
  EXPECT_TRUE(lines()[3].starts_with("up, down"));
  press({'x'});
  EXPECT_EQ(lines()[3], "  nothing happened");
  press({'?'});
  EXPECT_FALSE(view.press('q'));
}

// ---- time

TEST_F(TopViewTest, SinceTheStartAllIntervalsCount) {
  const uint32_t a = sample(1, {"a"}), b = sample(1, {"b"});
  take({{a, 30, 30}});
  take({{b, 10, 10}});
  EXPECT_EQ(names(), " >b");
  press({'a'});
  EXPECT_EQ(names(), " >a b");
  EXPECT_NE(state().find("40 samples since the start, 2 s"), std::string::npos) << state();
}

TEST_F(TopViewTest, WhatCameWhileItWasHeldIsShownAfterwards) {
  const uint32_t a = sample(1, {"a"}), b = sample(1, {"b"});
  take({{a, 30, 30}});
  press({' '});
  take({{b, 10, 10}});
  EXPECT_EQ(names(), " >a");
  EXPECT_NE(lines()[0].find("[held]"), std::string::npos);
  press({' ', 'a'});
  take({{b, 5, 5}});
  EXPECT_NE(state().find("45 samples since the start"), std::string::npos) << state();
}

// Of a state each look is all there is: it replaces the one before.
TEST_F(TopViewTest, AStateIsNoSum) {
  const uint32_t a = sample(1, {"a"});
  take({{a, 30, 30}}, true), take({{a, 20, 20}}, true);
  press({'a'});
  EXPECT_NE(state().find("20 samples now"), std::string::npos) << state();
}

TEST_F(TopViewTest, AHeldStateStaysWhateverIsPressed) {
  const uint32_t a = sample(1, {"a"}), b = sample(1, {"b"});
  take({{a, 30, 30}}, true);
  press({'a', ' '});
  take({{b, 10, 10}}, true);
  press({'s'});
  EXPECT_EQ(names(), " >a") << "it is held";
  press({' '});
  take({{b, 10, 10}}, true);
  EXPECT_EQ(names(), " >b");
}

// ---- the last line

TEST(SumLine, SingularAndPlural) {
  profile::About a;
  a.duration_ns = 10 * second, a.own_cpu_ns = second / 2, a.kernel_ns = second / 10, a.own_memory = 18 << 20;
  EXPECT_EQ(sum_line(a, 10 * second, "0 lost"), "0 samples, 0 lost; acu takes 5.0% of a CPU, its probes 1.0%, 18 MiB");
  a.samples = 1;
  EXPECT_EQ(sum_line(a, 10 * second, "0 lost", true), "1 sample, 0 lost; acu 6.0%, 18 MiB");
}

// It took a while to begin, and to name what it had seen.
TEST(SumLine, OfAShortRun) {
  profile::About a;
  a.duration_ns = second / 100, a.own_cpu_ns = second / 10, a.kernel_ns = second / 10000;
  EXPECT_EQ(sum_line(a, second / 5, "0 lost"), "0 samples, 0 lost; acu takes 50.0% of a CPU, its probes 1.0%, 0 MiB");
}

TEST(SumLine, NothingWasRecorded) {
  EXPECT_EQ(sum_line({}, 0, "0 lost"), "0 samples, 0 lost; acu takes 0.0% of a CPU, its probes 0.0%, 0 MiB");
}

TEST(SumLine, LongLossesAreCut) { EXPECT_LT(sum_line({}, 0, std::string(1000, 'x')).size(), 200u); }

} // namespace
} // namespace tool
