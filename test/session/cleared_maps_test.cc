// Maps that are printed and cleared: what is counted between belongs to the next output.
#include "recording_backend.h"
#include "session/cleared_maps.h"

#include <gtest/gtest.h>

#include <cstring>

namespace session {
namespace {

using ir::ActionKind;
using ir::Op;

// A probe that sends these records one after the other, of map 0.
class ClearedMapsTest : public testing::Test {
protected:
  void make(std::vector<ActionKind> sent, const type::Type* value, std::vector<Op> more = {}) {
    program.maps = {{.name = "c", .kind = ir::MapKind::percpu_hash, .key = types.uint64(), .value = value, .key_size = 8, .value_size = 8, .max_entries = 4}};
    ir::Function f{.registers = 2, .blocks = std::vector<ir::Block>(1)};
    for (Op op : more) f.blocks[0].insts.push_back({.op = op, .dst = 1});
    for (ActionKind kind : sent) {
      f.blocks[0].insts.push_back({.op = Op::event, .dst = 1, .index = static_cast<uint32_t>(program.actions.size())});
      program.actions.push_back({.kind = kind});
    }
    f.blocks[0].insts.push_back({.op = Op::give_back});
    program.functions = {f};
    maps.emplace(program, engine);
  }
  void make_counter(std::vector<Op> more = {}) { make({ActionKind::print_map, ActionKind::clear}, types.simple(type::Kind::count), std::move(more)); }

  // The engine has this many, on two CPUs.
  void count(std::vector<std::array<uint64_t, 3>> all) {
    engine.maps[0].clear();
    for (const auto& [key, first, second] : all) {
      ir::Entry e{std::vector<std::byte>(8), std::vector<std::byte>(16)};
      std::memcpy(e.key.data(), &key, 8);
      std::memcpy(e.values.data(), &first, 8);
      std::memcpy(e.values.data() + 8, &second, 8);
      engine.maps[0].push_back(std::move(e));
    }
  }
  using Counts = std::map<uint64_t, uint64_t>;
  static Counts counts(const base::Result<std::vector<ir::Entry>>& entries) {
    Counts all;
    for (const ir::Entry& e : *entries) {
      uint64_t key, n;
      std::memcpy(&key, e.key.data(), 8);
      for (size_t at = 0; at < e.values.size(); at += 8) std::memcpy(&n, e.values.data() + at, 8), all[key] += n;
    }
    return all;
  }

  type::Table types;
  ir::Program program;
  RecordingEngine engine;
  std::optional<ClearedMaps> maps;
};

TEST_F(ClearedMapsTest, WhatIsCountedBeforeTheClearIsPrintedNext) {
  make_counter();
  ASSERT_TRUE(maps->is_exact(0));
  count({{1, 5, 2}, {2, 1, 0}});
  EXPECT_EQ(counts(maps->read_to_print(0)), (Counts{{1, 7}, {2, 1}}));
  count({{1, 6, 2}, {2, 1, 0}, {3, 0, 4}});
  EXPECT_TRUE(maps->clear(0).ok());
  EXPECT_EQ(counts(maps->read(0)), (Counts{{1, 1}, {3, 4}}));
  count({{1, 6, 4}, {2, 1, 0}, {3, 0, 4}});
  EXPECT_EQ(counts(maps->read_to_print(0)), (Counts{{1, 3}, {3, 4}}));
  EXPECT_EQ(engine.log, "") << "nothing was removed";
}

TEST_F(ClearedMapsTest, AClearWhosePrintWasLostRemovesNothing) {
  make_counter();
  count({{1, 5, 0}});
  EXPECT_TRUE(maps->clear(0).ok());
  EXPECT_EQ(counts(maps->read(0)), (Counts{{1, 5}}));
}

TEST_F(ClearedMapsTest, EntriesAreTakenOutBeforeThereIsNoRoom) {
  make_counter();
  maps->take_with([&](uint32_t) {
    count({{1, 6, 0}, {2, 1, 0}, {3, 1, 0}, {4, 2, 0}}); // more since they were printed
    auto all = engine.maps[0];
    engine.maps[0].clear();
    return base::Result<std::optional<std::vector<ir::Entry>>>(std::optional(all));
  });
  count({{1, 5, 0}, {2, 1, 0}, {3, 1, 0}});
  maps->read_to_print(0).ok();
  EXPECT_TRUE(maps->clear(0).ok());
  EXPECT_EQ(counts(maps->read(0)), (Counts{{1, 1}, {4, 2}}));
  count({{1, 2, 0}});
  EXPECT_EQ(counts(maps->read_to_print(0)), (Counts{{1, 3}, {4, 2}}));
  EXPECT_TRUE(maps->clear(0).ok());
  EXPECT_EQ(counts(maps->read(0)), Counts());
}

TEST_F(ClearedMapsTest, MapsThatProgramsReadAreClearedInTheEngine) {
  make_counter({Op::map_find_cpu});
  EXPECT_FALSE(maps->is_exact(0));
  EXPECT_TRUE(maps->clear(0).ok());
  EXPECT_EQ(engine.log, "clear0 ");
}

TEST_F(ClearedMapsTest, OtherClearsAreOrdinaryOnes) {
  make({ActionKind::clear, ActionKind::print_map}, types.simple(type::Kind::count));
  EXPECT_FALSE(maps->is_exact(0)) << "the print comes behind it";
}

TEST_F(ClearedMapsTest, ExtremesAreNoSums) {
  make({ActionKind::print_map, ActionKind::clear}, types.simple(type::Kind::max));
  EXPECT_FALSE(maps->is_exact(0));
}

} // namespace
} // namespace session
