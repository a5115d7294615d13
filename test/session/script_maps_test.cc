// Numbers and stacks in maps of scripts: sums over CPUs, scalars that are set from outside, and why stacks end.
#include "recording_backend.h"
#include "session/script_maps.h"
#include "session/stack_map.h"

#include <gtest/gtest.h>

namespace session {
namespace {

using type::Kind;

template<class... T> std::vector<std::byte> packed(T... numbers) {
  std::vector<std::byte> out;
  auto add = [&](auto n) {
    const auto bytes = std::as_bytes(std::span(&n, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  (add(numbers), ...);
  return out;
}

class ScriptMaps : public testing::Test {
protected:
  ScriptMaps() {
    program.maps = {{.name = "sum", .value = types.simple(Kind::sum), .value_size = 8},
                    {.name = "stats", .value = types.simple(Kind::stats), .value_size = 16},
                    {.name = "set", .value = types.uint64(), .value_size = 9, .present_offset = 8}};
  }
  type::Table types;
  ir::Program program;
  RecordingEngine engine;
};

TEST_F(ScriptMaps, AreFoundByName) {
  EXPECT_EQ(find_map(program, "stats"), 1u);
  EXPECT_EQ(find_map(program, ""), std::nullopt);
  EXPECT_EQ(find_map(program, "su"), std::nullopt);
}

TEST_F(ScriptMaps, NumbersAreSumsOverCpus) {
  engine.maps[0] = {{{}, packed(uint64_t{3}, uint64_t{4}, uint64_t{0})}};
  EXPECT_EQ(*read_number(program, engine, "sum"), 7u);
  EXPECT_EQ(*read_number(program, engine, "stats"), 0u) << "it was never set";
  EXPECT_EQ(*read_number(program, engine, "no such map"), 0u);
}

TEST_F(ScriptMaps, StatsAreASumAndACount) {
  engine.maps[1] = {{{}, packed(uint64_t{30}, uint64_t{3}, uint64_t{5}, uint64_t{1})}};
  const profile::RawSample sum = *read_sum(program, engine, "stats");
  EXPECT_EQ(sum.weight, 35u);
  EXPECT_EQ(sum.count, 4u);
}

// Of a value that is cut there is none.
TEST_F(ScriptMaps, HalfAValueDoesNotCount) {
  engine.maps[1] = {{{}, packed(uint64_t{30}, uint64_t{3}, uint64_t{5})}};
  EXPECT_EQ(read_sum(program, engine, "stats")->weight, 30u);
}

TEST_F(ScriptMaps, SumsByProcess) {
  engine.maps[0] = {{packed(uint32_t{7}), packed(uint64_t{1}, uint64_t{2})}, {packed(uint32_t{8}), packed(uint64_t{10})}, {packed(uint32_t{7}), packed(uint64_t{4})}};
  EXPECT_EQ(*read_sums(program, engine, "sum"), (std::map<uint32_t, uint64_t>{{7, 7}, {8, 10}}));
  EXPECT_TRUE(read_sums(program, engine, "none")->empty());
}

TEST_F(ScriptMaps, AScalarIsSetAndMarkedAsThere) {
  ASSERT_TRUE(set_number(program, engine, "set", 5).ok());
  EXPECT_EQ(engine.maps[2].at(0).values, packed(uint64_t{5}, uint8_t{1}));
  const base::Status none = set_number(program, engine, "nothing", 5);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "the script has no map `@nothing`");
}

// ---- stacks

class StackReaderTest : public testing::Test {
protected:
  const profile::RawStack& take(std::vector<uint64_t> words, uint32_t pid, const type::Type* type, bool has_walker = true) {
    StackReader& reader = readers.emplace_back(StackReader{engine, has_walker, {}, {}});
    engine.stacks[5] = std::move(words);
    return reader.out.stacks.at(reader.take(5, pid, *type));
  }
  type::Table types;
  RecordingEngine engine;
  std::deque<StackReader> readers;
  const type::Type* user = types.stack(Kind::ustack, {}, 4);
  const type::Type* by_pointers = types.stack(Kind::ustack, {}, 4, true);
  const type::Type* kernel = types.stack(Kind::kstack, {}, 4);
};

TEST_F(StackReaderTest, WhyAUserStackEnds) {
  const profile::RawStack& s = take({0x401000, 0x402000, STACK_END + 2}, 7, user);
  EXPECT_EQ(s.frames.size(), 2u);
  EXPECT_EQ(s.end, "[stack not readable]");
  EXPECT_TRUE(s.is_end_known);
  EXPECT_FALSE(s.is_none || s.is_cut);
}

TEST_F(StackReaderTest, AThreadThatExitsHasNone) {
  const profile::RawStack& s = take({STACK_END + 36}, 7, user);
  EXPECT_TRUE(s.frames.empty() && s.is_none);
  EXPECT_EQ(s.end, "[exiting]");
}

// Found by frame pointers, a stack of as many frames as are kept may go on.
TEST_F(StackReaderTest, AFullStackIsCutWhereItsEndIsNotKnown) {
  EXPECT_TRUE(take({1, 2, 3, 4}, 7, by_pointers).is_cut);
  EXPECT_FALSE(take({1, 2, 3}, 7, by_pointers).is_cut);
  EXPECT_FALSE(take({1, 2, 3, 4}, 7, user).is_cut) << "tables tell its end";
  EXPECT_TRUE(take({1, 2, 3, 4}, 7, user, false).is_cut) << "there are no tables";
  EXPECT_TRUE(take({1, 2, 3, 4}, 0, kernel).is_cut);
}

TEST_F(StackReaderTest, KernelAddressesAreNoReasons) {
  const profile::RawStack& s = take({0xffffffff81000000, 0xffffffffffffff02}, 0, kernel);
  EXPECT_EQ(s.frames.size(), 2u);
  EXPECT_EQ(s.end, "");
}

TEST_F(StackReaderTest, EachStackIsTakenOnce) {
  StackReader reader = {engine, true, {}, {}};
  engine.stacks = {{5, {1}}, {6, {2}}};
  EXPECT_EQ(reader.take(0, 7, *user), profile::RawSample::no_stack);
  EXPECT_EQ(reader.take(5, 7, *user), 0u);
  EXPECT_EQ(reader.take(6, 7, *user), 1u);
  EXPECT_EQ(reader.take(5, 7, *user), 0u);
  EXPECT_EQ(reader.out.stacks.size(), 2u);
}

} // namespace
} // namespace session
