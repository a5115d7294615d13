// What records ask for, in the order of their arrival; exit() and what comes behind it; records that are damaged.
#include "recording_backend.h"
#include "session/effects.h"

#include <gtest/gtest.h>

namespace session {
namespace {

struct Sink : report::Sink {
  void out(std::string_view text) override { shown += text; }
  void message(std::string_view text) override { messages += text; }
  std::string shown, messages;
};
class NoNames : public report::Names {
public:
  std::string kernel(uint64_t, bool) override { return {}; }
  std::string user(uint32_t, uint64_t, bool) override { return {}; }
  symbol::Frame frame(const symbol::RawFrame&) override { return {}; }
};

class EffectsTest : public testing::Test {
protected:
  enum Action : uint32_t { exits, clears, zeroes, prints, prints_map, prints_entry, fails, warns, complains, draws, unwatches };
  static ir::Program make_program(type::Table& types) {
    ir::Program program;
    const type::Type* number[] = {types.int64()};
    const type::Type* two[] = {types.uint64(), types.uint64()};
    const type::Type* payload = types.tuple(number);
    using Kind = ir::ActionKind;
    program.maps.resize(3);
    program.maps[0] = {.name = "b", .key = types.int64(), .value = types.int64(), .key_size = 8, .value_size = 8};
    program.maps[1] = program.maps[0], program.maps[1].name = "a";
    program.maps[2] = program.maps[0], program.maps[2].name = "own", program.maps[2].is_own = true;
    program.actions = {{.kind = Kind::exit, .payload = payload},
                       {.kind = Kind::clear, .map = 1},
                       {.kind = Kind::zero, .map = 1},
                       {.kind = Kind::print_value, .payload = payload},
                       {.kind = Kind::print_map, .payload = types.tuple(two), .map = 0},
                       {.kind = Kind::print_entry, .payload = payload, .map = 0},
                       {.kind = Kind::assert_failed, .text = "n is 0"},
                       {.kind = Kind::warnf, .text = "careful\n", .payload = types.tuple({})},
                       {.kind = Kind::errorf, .text = "wrong\n", .payload = types.tuple({})},
                       {.kind = Kind::flame, .map = 0},
                       {.kind = Kind::unwatch, .payload = payload}};
    return program;
  }
  void entry(uint32_t map, int64_t key, int64_t value) {
    ir::Entry e;
    e.key.resize(8), e.values.resize(8);
    std::memcpy(e.key.data(), &key, 8), std::memcpy(e.values.data(), &value, 8);
    engine.maps[map].push_back(e);
  }
  type::Table types;
  ir::Program program = make_program(types);
  RecordingEngine engine;
  NoNames names;
  Sink sink;
  report::Printer printer{program, engine, names, sink, {}};
  Effects effects{program, engine, printer, sink, nullptr};
};

TEST_F(EffectsTest, RecordsAreTakenInTheirOrder) {
  engine.send(prints, 1), engine.send(clears), engine.send(prints, 2), engine.send(zeroes);
  EXPECT_EQ(effects.drain(), 4u);
  EXPECT_EQ(sink.shown, "1\n2\n");
  EXPECT_EQ(engine.log, "clear1 zero1 ");
  EXPECT_EQ(effects.drain(), 0u);
}

TEST_F(EffectsTest, NothingIsDoneBehindExit) {
  engine.send(prints, 1), engine.send(exits, 0), engine.send(prints, 2), engine.send(clears);
  EXPECT_EQ(effects.drain(), 4u) << "they are taken";
  EXPECT_TRUE(effects.ended());
  EXPECT_EQ(sink.shown, "1\n");
  EXPECT_EQ(engine.log, "");
  effects.reopen();
  engine.send(prints, 3);
  effects.drain();
  EXPECT_EQ(sink.shown, "1\n3\n") << "of an end probe";
}

TEST_F(EffectsTest, TheFirstFailureStays) {
  engine.send(exits, 3);
  effects.drain(), effects.reopen();
  engine.send(exits, 0);
  effects.drain();
  EXPECT_EQ(effects.status(), 3);
  effects.reopen();
  engine.send(exits, 4);
  effects.drain();
  EXPECT_EQ(effects.status(), 3);
}

TEST_F(EffectsTest, SuccessMayBecomeAFailure) {
  engine.send(exits, 0);
  effects.drain(), effects.reopen();
  engine.send(exits, 4);
  effects.drain();
  EXPECT_EQ(effects.status(), 4);
}

// As exit(3) of the C library.
TEST_F(EffectsTest, AnExitStatusHasEightBits) {
  engine.send(exits, 256 + 7);
  effects.drain();
  EXPECT_EQ(effects.status(), 7);
  effects.start_anew();
  EXPECT_EQ(effects.status(), 0);
  engine.send(exits, -1);
  effects.drain();
  EXPECT_EQ(effects.status(), 255);
}

TEST_F(EffectsTest, AFailedAssertionEndsIt) {
  engine.send(fails), engine.send(prints, 1);
  effects.drain();
  EXPECT_TRUE(effects.ended());
  EXPECT_EQ(effects.status(), 1);
  EXPECT_EQ(effects.errors(), 1u);
  EXPECT_EQ(sink.messages, "ERROR: n is 0\n");
  EXPECT_EQ(sink.shown, "");
}

TEST_F(EffectsTest, WarningsMayBeSilent) {
  engine.send(warns);
  effects.drain();
  EXPECT_NE(sink.messages, "");
  Sink quiet;
  report::Printer other(program, engine, names, quiet, {});
  Effects silent(program, engine, other, quiet, nullptr, false);
  engine.send(warns), engine.send(complains);
  silent.drain();
  EXPECT_EQ(quiet.messages.find("careful"), std::string::npos);
  EXPECT_NE(quiet.messages.find("wrong"), std::string::npos) << "errors are not";
  EXPECT_EQ(silent.errors(), 1u);
}

TEST_F(EffectsTest, MapsAreShownAsTheyAreThen) {
  entry(0, 7, 70), entry(0, 8, 80);
  std::vector<std::byte> record(24);
  const uint32_t action = prints_map;
  const uint64_t top = 1;
  std::memcpy(record.data(), &action, 4), std::memcpy(record.data() + 8, &top, 8);
  engine.queue.push_back(record);
  effects.drain();
  EXPECT_EQ(sink.shown, "@b[8]: 80\n") << "the first one by value";
}

TEST_F(EffectsTest, OneEntryIsFoundByItsKey) {
  entry(0, 7, 70), entry(0, 8, 80);
  engine.send(prints_entry, 8), engine.send(prints_entry, 9);
  effects.drain();
  EXPECT_EQ(sink.shown, "80\n") << "a value, as of any expression; of a key that is not there nothing";
}

TEST_F(EffectsTest, AllMapsAtTheEndByName) {
  entry(0, 1, 10), entry(1, 2, 20), entry(2, 3, 30);
  effects.print_maps(true);
  EXPECT_EQ(sink.shown, "\n@a[2]: 20\n@b[1]: 10\n") << "acu's own are left out";
  sink.shown.clear(), engine.maps.clear();
  effects.print_maps(true);
  EXPECT_EQ(sink.shown, "") << "nothing, not even the line before";
}

TEST_F(EffectsTest, FlameGraphsAreDrawnByWhoeverAskedForThem) {
  entry(0, 1, 10);
  engine.send(draws);
  effects.drain();
  EXPECT_EQ(sink.messages, "");
  size_t drawn = 0;
  effects.draw_with([&](const ir::Action&, const std::vector<ir::Entry>& entries) -> base::Status {
    drawn = entries.size();
    return base::Error{base::Failure::runtime, "no room"};
  });
  engine.send(draws);
  effects.drain();
  EXPECT_EQ(drawn, 1u);
  EXPECT_EQ(sink.messages, "ERROR: no room\n");
}

TEST_F(EffectsTest, DamagedRecordsDoNothing) {
  std::vector<std::byte> record(16);
  for (const uint32_t action : {uint32_t{99}, UINT32_MAX, UINT32_MAX - 1, uint32_t{ir::process_seen}}) {
    std::memcpy(record.data(), &action, 4);
    for (size_t size = 0; size <= record.size(); size++) engine.queue.emplace_back(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
  }
  // Actions whose payload is cut.
  for (const uint32_t action : {uint32_t{exits}, uint32_t{prints_map}, uint32_t{prints_entry}, uint32_t{unwatches}}) {
    std::memcpy(record.data(), &action, 4);
    for (size_t size = 0; size < record.size(); size++) engine.queue.emplace_back(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
  }
  effects.drain();
  EXPECT_EQ(sink.messages, "");
  EXPECT_EQ(effects.status(), 0) << "a status that is not there is 0";
}

} // namespace
} // namespace session
