// What a map of stacks gained is told once, in the slice in which it happened; slices grow longer instead of too many.
#include "flame/gains.h"

#include <gtest/gtest.h>

#include <cstring>

namespace flame {
namespace {

struct Counted {
  type::Table types;
  ir::Map map;
  std::vector<ir::Entry> entries;

  Counted() {
    map.value = types.simple(type::Kind::count);
    map.value_size = 8;
  }
  void add(uint64_t key, uint64_t by) {
    for (ir::Entry& e : entries)
      if (std::memcmp(e.key.data(), &key, sizeof key) == 0) {
        uint64_t value;
        std::memcpy(&value, e.values.data(), sizeof value);
        value += by;
        std::memcpy(e.values.data(), &value, sizeof value);
        return;
      }
    ir::Entry e;
    e.key.resize(sizeof key);
    e.values.resize(sizeof by);
    std::memcpy(e.key.data(), &key, sizeof key);
    std::memcpy(e.values.data(), &by, sizeof by);
    entries.insert(entries.begin(), std::move(e)); // maps have no order
  }
};

// A profile with a sample for each entry, and the slices: "0: 7×3, 8×1; 2: 7×2" by keys.
std::string told(Slicer& slicer, const Counted& c, profile::Profile& p) {
  std::vector<uint32_t> sample_of;
  std::vector<uint64_t> keys;
  for (const ir::Entry& e : c.entries) {
    uint64_t key;
    std::memcpy(&key, e.key.data(), sizeof key);
    sample_of.push_back(p.add(p.thread({1, static_cast<uint32_t>(key), 0, 0}), 0, 1, 1));
    keys.push_back(key);
  }
  slicer.give(p, c.entries, sample_of);
  std::string out;
  for (const profile::Slice& s : p.slices) {
    out += (out.empty() ? "" : "; ") + std::to_string(s.number) + ":";
    for (const profile::Gain& g : s.gains) out += " " + std::to_string(keys[g.sample]) + "x" + std::to_string(g.weight);
  }
  return out;
}

TEST(Gains, SlicesHaveWhatWasAdded) {
  Counted c;
  Slicer slicer(100);
  EXPECT_EQ(slicer.next_ns(), 100u);
  c.add(7, 3), c.add(8, 1);
  slicer.take(c.map, c.entries, 101);
  EXPECT_EQ(slicer.next_ns(), 200u);
  slicer.take(c.map, c.entries, 200); // nothing
  c.add(7, 2), c.add(9, 4);
  slicer.take(c.map, c.entries, 310);
  c.add(8, 5);
  slicer.end(c.map, c.entries, 305); // the moment that the end takes
  profile::Profile p;
  EXPECT_EQ(told(slicer, c, p), "0: 8x1 7x3; 2: 9x4 8x5 7x2");
  EXPECT_EQ(p.slice_ns, 100u);
  EXPECT_TRUE(p.about.notes.empty());
}

TEST(Gains, LateLooksAreTold) {
  Counted c;
  Slicer slicer(100);
  c.add(7, 1);
  slicer.take(c.map, c.entries, 350);
  c.add(7, 1);
  slicer.end(c.map, c.entries, 390);
  profile::Profile p;
  EXPECT_EQ(told(slicer, c, p), "0: 7x1; 3: 7x1");
  EXPECT_EQ(p.slices[0].span, 3u); // 350 ns after the start: what it holds is of three slices
  EXPECT_EQ(p.slices[1].span, 1u);
  ASSERT_EQ(p.about.notes.size(), 1u);
  EXPECT_EQ(p.about.notes[0], "2 slices read late because the host was busy, and merged with the previous one: hatched in the heat map");
}

TEST(Gains, TooManySlicesBecomeLongerOnes) {
  Counted c;
  Slicer slicer(1'000'000);
  const uint64_t count = 70'000;
  for (uint64_t i = 0; i < count; i++) {
    c.add(i & 1, 1);
    slicer.take(c.map, c.entries, slicer.next_ns());
  }
  slicer.end(c.map, c.entries, slicer.next_ns());
  profile::Profile p;
  told(slicer, c, p);
  EXPECT_EQ(p.slice_ns, 2'000'000u);
  EXPECT_LT(p.slices.size(), 65'000u);
  uint64_t sum = 0, last = 0;
  for (const profile::Slice& s : p.slices) {
    EXPECT_TRUE(s.number > last || &s == &p.slices[0]);
    last = s.number;
    for (const profile::Gain& g : s.gains) sum += g.weight;
  }
  EXPECT_EQ(sum, count);
  ASSERT_EQ(p.about.notes.size(), 1u);
  EXPECT_NE(p.about.notes[0].find("2 ms long instead of 1 ms"), std::string::npos);
}

// ---- of one map

struct Stats {
  type::Table types;
  ir::Map map;
  std::vector<ir::Entry> entries;
  Stats() {
    map.value = types.simple(type::Kind::stats);
    map.value_size = 16;
  }
  // The sum and the count of a key, on each of two CPUs the half.
  void set(uint64_t key, uint64_t weight, uint64_t count) {
    ir::Entry e;
    const uint64_t words[] = {weight / 2, count / 2, weight - weight / 2, count - count / 2};
    e.key.resize(sizeof key), e.values.resize(sizeof words);
    std::memcpy(e.key.data(), &key, sizeof key);
    std::memcpy(e.values.data(), words, sizeof words);
    std::erase_if(entries, [&](const ir::Entry& other) { return other.key == e.key; });
    entries.push_back(std::move(e));
  }
};
// "number:weight/count", in the order of the entries.
std::string gained(Gains& gains, const Stats& s) {
  std::string out;
  for (const Gains::Gain& g : gains.take(s.map, s.entries))
    out += (out.empty() ? "" : " ") + std::to_string(g.key) + ":" + std::to_string(g.weight) + "/" + std::to_string(g.count);
  return out;
}

TEST(Gains, AreWhatKeysHaveMoreThanBefore) {
  Stats s;
  Gains gains;
  s.set(7, 10, 2), s.set(8, 5, 1);
  EXPECT_EQ(gained(gains, s), "0:10/2 1:5/1");
  EXPECT_EQ(gained(gains, s), "");
  s.set(8, 9, 3), s.set(9, 1, 1);
  EXPECT_EQ(gained(gains, s), "1:4/2 2:1/1");
  EXPECT_EQ(gains.number(s.entries.front()), 0u);
}

// Events may weigh nothing, as a wait of less than the clock shows.
TEST(Gains, EventsWithoutWeightAreOne) {
  Stats s;
  Gains gains;
  s.set(7, 10, 2);
  gained(gains, s);
  s.set(7, 10, 5);
  EXPECT_EQ(gained(gains, s), "0:0/3");
}

// The state of memory may shrink: that is no gain, and what comes after it counts from there.
TEST(Gains, WhatShrinksGainsNothing) {
  Stats s;
  Gains gains;
  s.set(7, 10, 4);
  gained(gains, s);
  s.set(7, 6, 2);
  EXPECT_EQ(gained(gains, s), "");
  s.set(7, 8, 1);
  EXPECT_EQ(gained(gains, s), "0:2/0") << "a count never falls below nothing";
}

TEST(Gains, AKeyThatWasAwayIsItself) {
  Stats s, none;
  Gains gains;
  s.set(7, 10, 2);
  gained(gains, s);
  EXPECT_EQ(gained(gains, none), "");
  s.set(7, 11, 3);
  EXPECT_EQ(gained(gains, s), "0:1/1");
}

TEST(Gains, LargestWeightsAreExact) {
  Stats s;
  Gains gains;
  s.set(7, ~uint64_t{0} - 1, 1);
  EXPECT_EQ(gained(gains, s), "0:18446744073709551614/1");
  s.set(7, ~uint64_t{0}, 2);
  EXPECT_EQ(gained(gains, s), "0:1/1");
}

} // namespace
} // namespace flame
