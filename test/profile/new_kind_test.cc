// A kind of frames that nothing between its source and what is shown knows of: from the words of a stack to each file that
// acu writes, and back.
#include "profile/formats.h"
#include "profile/kinds_in_files.h"
#include "profile/naming.h"
#include "profile/tables.h"
#include "report/names.h"
#include "report/text.h"

#include <gtest/gtest.h>

#include <unistd.h>

extern "C" [[gnu::noinline]] int native_function_of_new_kind_test(int n) { return n + 1; }

namespace profile {
namespace {

using spec::FrameKind;

// An interpreter's: the second word is a function, the number a line in it. In line 9 a call was inlined.
class TestFrames : public symbol::FrameSource {
public:
  Key key_of(const symbol::RawFrame& raw) override { return {raw.entry.address, raw.entry.number}; }
  symbol::Frame function_of(const symbol::RawFrame& raw) override {
    name_ = "handler_" + std::to_string(raw.entry.address);
    return {.name = name_, .module = "/srv/app.test", .file = "app.test", .line = static_cast<uint32_t>(raw.entry.number), .kind = FrameKind::test};
  }
  void find_inlined(std::span<const symbol::RawFrame> raw, const symbol::TakeFrames& take) override {
    for (size_t i = 0; i < raw.size(); i++) {
      const symbol::Frame frames[] = {{.name = "helper", .kind = FrameKind::inlined}, function_of(raw[i])};
      if (raw[i].entry.number == 9) take(i, frames);
    }
  }

private:
  std::string name_;
};

class NewKind : public testing::Test {
protected:
  NewKind() {
    names.sources().add(FrameKind::test, std::make_unique<TestFrames>());
    const auto native = reinterpret_cast<uint64_t>(&native_function_of_new_kind_test);
    raw.stacks = {{.id = 1,
                   .pid = static_cast<uint32_t>(::getpid()),
                   .frames = {spec::tagged_word(FrameKind::test, 9), 2, native + 2, spec::tagged_word(FrameKind::test, 3), 1},
                   .is_end_known = true}};
    raw.samples = {{.pid = 1, .tid = 1, .process = "app", .thread = "app", .user = 0, .weight = 5, .count = 5}};
    name_samples(p, raw, names.sources());
  }
  report::SystemNames names;
  RawRecording raw;
  Profile p;
};

std::string rows(const Profile& p) {
  std::string out;
  for (const Row& r : functions_of(p, SortBy::name)) out += r.name + " " + std::string(spec::row_of(r.kind).name) + " " + std::to_string(r.total) + "\n";
  return out;
}

constexpr std::string_view expected = "handler_1 test 5\nhandler_2 test 5\nhelper inlined 5\nnative_function_of_new_kind_test user 5\n";

TEST_F(NewKind, ItsSourceNamesItBesideNativeFrames) {
  EXPECT_EQ(rows(p), expected);
  EXPECT_EQ(p.about.frames, 15u);
  EXPECT_EQ(p.about.frames_named, 15u);
  EXPECT_EQ(p.about.complete, 5u);
}

TEST_F(NewKind, EachFormatWritesItAndReadsItBack) {
  for (const Format& f : formats()) {
    if (!f.read) continue;
    auto again = f.read(f.write(p));
    ASSERT_TRUE(again.ok()) << f.name << ": " << again.error().message;
    EXPECT_EQ(rows(*again), expected) << f.name;
  }
}

TEST_F(NewKind, ItIsShownByItsRow) {
  EXPECT_EQ(write_folded(p), "app;handler_1_[t];native_function_of_new_kind_test;handler_2_[t];helper_[i] 5\n");
  EXPECT_NE(write_page(p).find("{\"label\":\"test code\",\"side\":\"user\",\"layer\":\"none\",\"language\":\"test\",\"hue\":270"), std::string::npos);
  EXPECT_NE(top_text(p, {}).find("handler_1 (test)  app.test"), std::string::npos);
  EXPECT_NE(report_json(p, {}).find("\"kind\":\"test\""), std::string::npos);
}

TEST_F(NewKind, StacksAsTextShowIt) {
  const symbol::RawFrame entry = {.entry = {.address = 2, .number = 9, .tag = spec::row_of(FrameKind::test).tag}, .pid = ::getpid(), .stack = 1};
  EXPECT_EQ(report::text_of(names.frame(entry), 2, true), "handler_2 (test) app.test:9");
}

TEST_F(NewKind, WithoutASourceItIsStillThere) {
  report::SystemNames others;
  Profile q;
  name_samples(q, raw, others.sources());
  EXPECT_EQ(write_folded(q), "app;[code made at run time]_[t];native_function_of_new_kind_test;[code made at run time]_[t] 5\n");
}

TEST(KindsInFiles, NumbersAreThoseOfOlderRecordings) {
  const std::pair<FrameKind, uint64_t> known[] = {{FrameKind::user, 0}, {FrameKind::inlined, 1}, {FrameKind::kernel, 2}, {FrameKind::note, 3}};
  for (auto [kind, number] : known) {
    EXPECT_EQ(number_of_kind({.kind = kind, .named = false}), number);
    EXPECT_EQ(number_of_kind({.kind = kind, .named = true}), number + 4);
  }
  for (const spec::FrameKindRow& row : spec::frame_kinds)
    for (bool named : {false, true}) {
      Frame f;
      ASSERT_TRUE(take_kind(number_of_kind({.kind = row.kind, .named = named}), f));
      EXPECT_EQ(f.kind, row.kind);
      EXPECT_EQ(f.named, named);
    }
  Frame f;
  EXPECT_FALSE(take_kind(1000, f));
  EXPECT_FALSE(take_kind(~uint64_t{0}, f));
}

} // namespace
} // namespace profile
