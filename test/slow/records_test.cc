// Each record that scripts/slow.bt prints is read whole: no field of any is forgotten.
#include "record_builder.h"
#include "session/runner.h"
#include "slow/notes.h"
#include "slow/script.h"

#include <gtest/gtest.h>

#include <set>

namespace slow {
namespace {

constexpr uint64_t ms = 1'000'000;

// ---- all that a note holds, as text

std::string text(const Thread& t) { return std::to_string(t.task) + "/" + std::to_string(t.pid) + "/" + std::to_string(t.tid) + "/" + t.name; }
std::string text(const StackId& s) { return s.type ? std::to_string(s.id) + "@" + std::to_string(s.pid) : "-"; }
std::string text(const InCall& c) { return std::to_string(c.start) + "," + std::to_string(c.away_ns) + "," + std::to_string(c.queued_ns); }
std::string text(const std::array<uint64_t, 6>& all) {
  std::string out;
  for (uint64_t n : all) out += " " + std::to_string(n);
  return out;
}
template<class... Parts> std::string line(const Parts&... parts) {
  std::string out;
  auto add = [&](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>)
      out += std::to_string(part) + " ";
    else if constexpr (requires { text(part); })
      out += text(part) + " ";
    else
      out += std::string(part) + " ";
  };
  (add(parts), ...);
  return out;
}

std::string text(const Note& note) {
  struct {
    std::string operator()(std::monostate) { return ""; }
    std::string operator()(const Wait& w) {
      return line("wait", w.thread, w.left, w.back, w.woken, w.is_preempted, w.call, w.arguments, w.owner, w.ran, w.ran_ns, w.cpu, w.in, w.kernel, w.user);
    }
    std::string operator()(const Wake& w) { return line("wake", w.task, w.at, w.by, w.kernel, w.user); }
    std::string operator()(const Call& c) {
      return line("call", c.thread, c.start, c.end, c.call, c.has_ended, static_cast<int>(c.left_by), c.result, c.arguments, c.away_ns, c.queued_ns, c.user);
    }
    std::string operator()(const OnCpu& s) { return line("on_cpu", s.thread, s.at, s.in, s.user); }
    std::string operator()(const Ran& r) { return line("ran", r.task, r.thread, r.until, r.ns); }
    std::string operator()(const Io& i) {
      return line("io", i.thread, i.asked, i.issued, i.done, i.operation, i.device, i.sector, i.bytes, i.kernel, i.user);
    }
    std::string operator()(const Turn& t) { return line("turn", t.task, t.at, t.queued_ns, t.ran, t.ran_ns, t.cpu); }
    std::string operator()(const NextCall& n) { return line("next", n.task, n.start); }
  } write;
  return std::visit(write, note);
}

// ---- records of the test's own

class SlowRecords : public testing::Test {
protected:
  RecordBuilder record() { return RecordBuilder(types); }
  Note read(const RecordBuilder& r) { return records.read(r.type(), r.bytes()); }
  type::Table types;
  Records records;
};

TEST_F(SlowRecords, TheLowBitsOfTheTimeOfLeavingAreFlags) {
  // scripts/long_waits.bt: bit 0: preempted; bit 1: its user stack is elsewhere.
  const auto wait = [&](uint64_t left, uint64_t woken, uint64_t back) {
    return std::get<Wait>(read(record().number("wait", 7, 4).number("left", left).number("woken", woken).number("back", back)));
  };
  const Wait slept = wait(0x1002, 0x1800, 0x2000);
  EXPECT_EQ(slept.left, 0x1000u);
  EXPECT_FALSE(slept.is_preempted);
  EXPECT_EQ(slept.ns(), 0x1000u);
  EXPECT_EQ(slept.queued_ns(), 0x800u);
  const Wait preempted = wait(0x1003, 0, 0x2000);
  EXPECT_TRUE(preempted.is_preempted);
  EXPECT_EQ(preempted.queued_ns(), preempted.ns()) << "it could have run all the time";
}

// The script keeps the time of the last wake-up of each thread: it may be one of an earlier wait.
TEST_F(SlowRecords, AWakeUpOutsideOfTheWaitIsNoneOfIt) {
  for (uint64_t woken : {uint64_t{0}, uint64_t{0xff0}, uint64_t{0x2001}, ~uint64_t{0}}) {
    const Wait wait = std::get<Wait>(read(record().number("wait", 7, 4).number("left", 0x1000).number("woken", woken).number("back", 0x2000)));
    EXPECT_EQ(wait.queued_ns(), 0u) << woken;
    EXPECT_EQ(wait.woken, wait.back) << woken;
  }
}

TEST_F(SlowRecords, NamesMayFillTheirField) {
  RecordBuilder thread = record();
  thread.number("pid", 1, 4).number("tid", 2, 4).text("name", "0123456789abcdef");
  const Thread by = std::get<Wake>(read(record().number("wake", 7, 4).record("thread", thread))).by;
  EXPECT_EQ(text(by), "0/1/2/0123456789abcdef");
}

TEST_F(SlowRecords, WhatIsNotInARecordIsEmpty) {
  const Call call = std::get<Call>(read(record().number("returned", 7, 4).number("start", 5).number("end", 9)));
  EXPECT_EQ(call.thread.task, 7u);
  EXPECT_EQ(call.call, -1) << "no system call";
  EXPECT_TRUE(call.has_ended);
  EXPECT_EQ(call.user.type, nullptr);
  EXPECT_EQ(call.thread.name, "");
}

TEST_F(SlowRecords, ResultsKeepTheirSign) {
  const Call call = std::get<Call>(read(record().number("returned", 7, 4).number("call", 74).number("result", static_cast<uint64_t>(-5))));
  EXPECT_EQ(call.call, 74);
  EXPECT_EQ(call.result, -5);
}

TEST_F(SlowRecords, OtherRecordsAreNone) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read(record().number("hello", 7))));
  const std::vector<std::byte> bytes(64);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(records.read(*types.int64(), bytes)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(records.read(*types.tuple({}), bytes)));
}

// ---- the script

const spec::SlowKind* kind(std::string_view name) { return spec::find_slow_kind(name); }

struct Form {
  std::string_view about;
  Wanted wanted;
};
std::vector<Form> forms() {
  const Probe entry = {"uprobe:/proc/self/exe:main", "main"}, leave = {"uretprobe:/proc/self/exe:main", "main"};
  const graph::Landings landings = {.exceptions = {"uprobe:/proc/self/exe:main"}, .jumps = {"uprobe:/proc/self/exe:main"}};
  std::vector<Form> out = {
      {"waits", {}},
      {"system calls", {.kind = kind("syscall")}},
      {"some system calls", {.kind = kind("syscall"), .calls = {0, 1}}},
      {"many system calls", {.kind = kind("syscall"), .calls = {0, 1, 2, 3, 4}}},
      {"disk requests", {.kind = kind("io")}},
      {"between two probes", {.kind = kind("between"), .begin = {"software:cpu-clock:1000000", "one"}, .end = {"software:page-faults:1", "two"}}},
      {"functions", {.kind = kind("function"), .begin = entry, .end = leave, .landings = landings}},
      {"entries of functions", {.kind = kind("function"), .begin = entry, .end = leave, .has_ends = false}},
  };
  for (Form& f : out) f.wanted.condition = {.text = "true", .before = {}, .what = {}}, f.wanted.min_duration_ns = 10 * ms;
  return out;
}

// Calls `use` with each number and each text in a record, and where it is.
template<class Use> void for_each_leaf(const type::Type& record, const std::string& prefix, uint32_t offset, const Use& use) {
  for (const type::Field& f : record.fields()) {
    const std::string name = prefix + std::string(f.name);
    if (f.type->is(type::Kind::tuple))
      for_each_leaf(*f.type, name + ".", offset + f.offset, use);
    else
      use(name, *f.type, offset + f.offset);
  }
}

TEST(SlowScript, EachFieldThatItPrintsIsRead) {
  std::set<std::string> kinds;
  for (const Form& form : forms()) {
    session::Runner runner({.aim = "test", .script = slow_script(form.wanted), .filters_itself = true});
    const base::Status compiled = runner.compile();
    ASSERT_TRUE(compiled.ok()) << form.about << ": " << compiled.error().message;
    for (const ir::Action& action : runner.program().actions) {
      if (action.kind != ir::ActionKind::print_value || !action.payload) continue;
      const type::Type& record = *action.payload->fields().front().type;
      ASSERT_TRUE(record.is(type::Kind::tuple)) << form.about;
      kinds.emplace(record.fields().front().name);
      // A wait has its times in their order, or they are corrected.
      std::vector<std::byte> bytes(record.size, std::byte{0});
      if (auto back = record.find("back")) bytes[back->offset + 5] = std::byte{1};
      Records records;
      const std::string before = text(records.read(record, bytes));
      ASSERT_NE(before, "") << form.about << ": nothing reads " << type::to_string(record);
      for_each_leaf(record, "", 0, [&](const std::string& name, const type::Type&, uint32_t offset) {
        std::vector<std::byte> changed = bytes;
        changed[offset] ^= std::byte{0x40};
        EXPECT_NE(text(records.read(record, changed)), before) << form.about << ": nothing reads " << name << " of " << record.fields().front().name;
      });
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"ended", "io", "left_by_exception", "left_by_jump", "next", "on_cpu", "ran", "returned", "turn", "wait", "wake"}));
}

TEST(SlowScript, ACallThatGoesOnIsReadFromItsMap) {
  Wanted wanted = {.kind = kind("syscall"), .condition = {.text = "true", .before = {}, .what = {}}, .min_duration_ns = 10 * ms};
  session::Runner runner({.aim = "test", .script = slow_script(wanted), .filters_itself = true});
  ASSERT_TRUE(runner.compile().ok());
  const auto map = std::ranges::find(runner.program().maps, "call", &ir::Map::name);
  ASSERT_NE(map, runner.program().maps.end());
  std::vector<std::byte> value(map->value->size);
  const std::pair<std::string_view, uint64_t> numbers[] = {{"start", 100}, {"away_ns", 30}, {"queued_ns", 20}};
  for (auto [name, number] : numbers) {
    ASSERT_TRUE(map->value->find(name)) << name;
    std::memcpy(value.data() + map->value->find(name)->offset, &number, sizeof number);
  }
  const uint32_t task = 4711;
  Records records;
  const Call call = records.read_open_call(std::as_bytes(std::span(&task, 1)), *map->value, value);
  EXPECT_EQ(call.thread.task, task);
  EXPECT_EQ(call.start, 100u);
  EXPECT_EQ(call.away_ns, 30u);
  EXPECT_EQ(call.queued_ns, 20u);
  EXPECT_FALSE(call.has_ended);
}

TEST(SlowScript, ShortestWaitsAreAThirtySecondOfTheThreshold) {
  EXPECT_EQ(min_part(10 * ms), 312'500u); // docs/slow.md: "each wait of at least 1/32 of the threshold"
  EXPECT_EQ(min_part(31), 0u);
  Wanted wanted = {.kind = kind("syscall"), .condition = {.text = "true", .before = {}, .what = {}}, .min_duration_ns = 1};
  session::Runner runner({.aim = "test", .script = slow_script(wanted), .filters_itself = true});
  const base::Status compiled = runner.compile(); // "MIN_PART_NS" of 0 would report every switch
  EXPECT_TRUE(compiled.ok()) << compiled.error().message;
}

} // namespace
} // namespace slow
