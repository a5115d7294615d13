// glibc's heap, chunk by chunk: states, caches, damage; and what leads to each chunk.
#include "fake_target.h"
#include "target/reach.h"

#include <gtest/gtest.h>

namespace target {
namespace {

class HeapTest : public testing::Test {
protected:
  static constexpr uint64_t globals = 0x500000, stack = 0x700000;

  Heap find() {
    t.add(b.begin(), b.finish());
    return find_heap(t);
  }
  static Chunk::State state(const Heap& heap, uint64_t address) {
    const Chunk* c = heap.find(address);
    EXPECT_NE(c, nullptr);
    return c ? c->state : Chunk::own;
  }
  HeapBuilder b;
  FakeTarget t;
};

TEST_F(HeapTest, UsedFreeAndTheRest) {
  const uint64_t first = b.used(24), gap = b.freed(104), last = b.used(1000);
  const Heap heap = find();
  EXPECT_EQ(heap.arenas, 1u);
  EXPECT_TRUE(heap.damage.empty());
  ASSERT_EQ(heap.chunks.size(), 5u); // the cache, these, and the top
  EXPECT_EQ(state(heap, first), Chunk::used);
  EXPECT_EQ(state(heap, gap), Chunk::freed);
  EXPECT_EQ(state(heap, last), Chunk::used);
  EXPECT_EQ(heap.find(first)->size, 24u); // with the first word of the next chunk, as malloc_usable_size says
  EXPECT_EQ(heap.find(last)->size, 1000u);
  EXPECT_EQ(heap.chunks[0].state, Chunk::own);
  EXPECT_EQ(heap.chunks.back().state, Chunk::top);
}

TEST_F(HeapTest, AnAddressWithinAChunk) {
  const uint64_t first = b.used(24), second = b.used(40);
  const Heap heap = find();
  EXPECT_EQ(heap.find(first + 23)->address, first);
  EXPECT_EQ(heap.find(first + 24), nullptr); // the size of the next one
  EXPECT_EQ(heap.find(second)->address, second);
  EXPECT_EQ(heap.find(b.begin()), nullptr);
  EXPECT_EQ(heap.find(0), nullptr);
  EXPECT_EQ(heap.find(~uint64_t{0}), nullptr);
}

TEST_F(HeapTest, BlocksInTheCacheOfAThread) {
  std::vector<uint64_t> small;
  for (int i = 0; i < 3; i++) small.push_back(b.used(24));
  const uint64_t large = b.used(1032), kept = b.used(24);
  for (uint64_t a : small) b.cache(a, 24);
  b.cache(large, 1032); // the largest that it keeps
  const Heap heap = find();
  for (uint64_t a : small) EXPECT_EQ(state(heap, a), Chunk::cached);
  EXPECT_EQ(state(heap, large), Chunk::cached);
  EXPECT_EQ(state(heap, kept), Chunk::used);
}

// A block of the cache's size that is none: its counts fit no lists.
TEST_F(HeapTest, BlocksThatLookLikeACache) {
  const uint64_t block = b.used(HeapBuilder::cache_size - 8, {1, 2, 3}), other = b.used(24);
  const Heap heap = find();
  EXPECT_EQ(state(heap, block), Chunk::used);
  EXPECT_EQ(state(heap, other), Chunk::used);
}

TEST_F(HeapTest, AWriteBeyondABlock) {
  const uint64_t first = b.used(24), second = b.used(40);
  b.used(24);
  b.word(second - 8) = 0x4141414141414141;
  const Heap heap = find();
  ASSERT_EQ(heap.damage.size(), 1u);
  EXPECT_EQ(heap.damage[0].chunk, second);
  EXPECT_EQ(heap.damage[0].neighbour, first);
  EXPECT_TRUE(heap.damage[0].what.starts_with("says it is 4702111234474983744 bytes long, of ")) << heap.damage[0].what;
  EXPECT_EQ(state(heap, first), Chunk::used);
}

TEST_F(HeapTest, ASizeOfNothing) {
  const uint64_t first = b.used(24), second = b.used(40);
  b.word(second - 8) = 0;
  const Heap heap = find();
  ASSERT_EQ(heap.damage.size(), 1u);
  EXPECT_EQ(heap.damage[0].chunk, second);
  EXPECT_NE(heap.find(first), nullptr);
}

TEST_F(HeapTest, AWriteToAFreeBlock) {
  b.used(24);
  const uint64_t gap = b.freed(104);
  b.used(24);
  b.word(gap) = 0x123456;
  const Heap heap = find();
  ASSERT_EQ(heap.damage.size(), 1u);
  EXPECT_EQ(heap.damage[0].chunk, gap);
  EXPECT_EQ(heap.damage[0].what, "is free, and its links to other free chunks do not fit");
}

TEST_F(HeapTest, TheSizeOfAFreeBlockStandsTwice) {
  const uint64_t gap = b.freed(104), after = b.used(24);
  b.word(after - 16) = 64;
  const Heap heap = find();
  ASSERT_EQ(heap.damage.size(), 1u);
  EXPECT_EQ(heap.damage[0].chunk, after);
  EXPECT_EQ(heap.damage[0].what, "says that the free chunk in front of it is 64 bytes long, not 112");
  EXPECT_EQ(heap.damage[0].neighbour, gap);
}

TEST_F(HeapTest, BlocksWithAMappingOfTheirOwn) {
  std::vector<uint64_t> two(0x3000 / 8);
  two[1] = 0x1000 | 2, two[0x1000 / 8 + 1] = 0x2000 | 2; // next to each other
  t.add(0x900000, two);
  t.add(0xa00000, std::vector<uint64_t>(0x1000 / 8)); // no heap at all
  const Heap heap = find();
  ASSERT_NE(heap.find(0x900010), nullptr);
  EXPECT_TRUE(heap.find(0x900010)->is_mapped);
  EXPECT_EQ(heap.find(0x900010)->size, 0x1000u - 16);
  EXPECT_EQ(heap.find(0x901010)->size, 0x2000u - 16);
  EXPECT_EQ(heap.find(0xa00010), nullptr);
}

TEST_F(HeapTest, AnyWordMayBeAnyNumber) {
  std::vector<uint64_t> addresses = {b.used(24), b.freed(104), b.used(40, {0x100010}), b.used(1000)};
  b.cache(addresses[2], 40);
  const std::vector<uint64_t> whole = b.finish();
  for (size_t i = 0; i < whole.size(); i++)
    for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{0x21}, uint64_t{0x100000}, b.begin() + 8 * i, ~uint64_t{0}}) {
      FakeTarget damaged;
      std::vector<uint64_t> words = whole;
      words[i] = value;
      damaged.add(b.begin(), words);
      const Heap heap = find_heap(damaged);
      for (size_t k = 1; k < heap.chunks.size(); k++) ASSERT_LT(heap.chunks[k - 1].address, heap.chunks[k].address) << i;
      find_lost(damaged, heap, find_reach(damaged, heap));
    }
}

// ------------------------------------------------------------------------------------------------------- what leads to chunks

class ReachTest : public HeapTest {
protected:
  // After all chunks and roots are there.
  void run() {
    heap = find();
    reach = find_reach(t, heap);
  }
  uint32_t index(uint64_t address) const { return static_cast<uint32_t>(heap.find(address) - heap.chunks.data()); }
  bool is_leak(uint64_t address) const { return reach.is_leak(heap, index(address)); }
  // The address of the chunk that holds it; 0: a root does.
  uint64_t holder(uint64_t address) const {
    const uint32_t h = reach.steps[index(address)].holder;
    return h == Reach::root ? 0 : h == Reach::nothing ? ~uint64_t{0} : heap.chunks[h].address;
  }
  Heap heap;
  Reach reach;
};

TEST_F(ReachTest, FromVariablesThroughBlocks) {
  const uint64_t inner = b.used(24), outer = b.used(24, {7, inner}), lost = b.used(24);
  t.add(globals, {0, outer, 5});
  run();
  EXPECT_EQ(holder(outer), 0u);
  EXPECT_EQ(reach.steps[index(outer)].word, globals + 8);
  EXPECT_EQ(holder(inner), outer);
  EXPECT_EQ(reach.steps[index(inner)].word, outer + 8);
  EXPECT_TRUE(is_leak(lost));
  EXPECT_FALSE(is_leak(inner));
}

TEST_F(ReachTest, AddressesWithinABlockLeadToIt) {
  const uint64_t a = b.used(40), c = b.used(40), d = b.used(40);
  t.add(globals, {a + 39, c + 40, d - 1}); // the last byte; behind the end; in front
  run();
  EXPECT_FALSE(is_leak(a));
  EXPECT_TRUE(is_leak(c));
  EXPECT_TRUE(is_leak(d));
}

// A variable tells more than a stack, and that more than a register.
TEST_F(ReachTest, VariablesComeBeforeStacksAndRegisters) {
  const uint64_t a = b.used(24), c = b.used(24), d = b.used(24);
  t.add(globals, {a});
  t.add(stack, std::vector<uint64_t>(64, 0));
  t.add_thread(17, stack + 128 + 64);
  t.threads_[0].registers[0] = d, t.threads_[0].registers[1] = a;
  t.add(0x800000, {0});
  std::vector<uint64_t> words(64);
  words[40] = c, words[41] = a;
  t.add(0x740000, words);
  t.add_thread(18, 0x740000 + 8 * 38);
  run();
  EXPECT_EQ(reach.steps[index(a)].word, globals);
  EXPECT_EQ(reach.steps[index(c)].word, 0x740000u + 8 * 40);
  EXPECT_EQ(reach.steps[index(d)].thread, 1u);
  EXPECT_EQ(reach.steps[index(d)].word, 0u);
}

// Below the stack pointer calls are over, but for the red zone (System V ABI of x86-64, 3.2.2: 128 bytes).
TEST_F(ReachTest, CallsThatReturnedHoldNothing) {
  const uint64_t a = b.used(24), c = b.used(24);
  std::vector<uint64_t> words(64);
  words[14] = a, words[16] = c; // 144 and 128 bytes below
  t.add(stack, words);
  t.add_thread(17, stack + 8 * 32);
  run();
  EXPECT_TRUE(is_leak(a));
  EXPECT_FALSE(is_leak(c));
}

TEST_F(ReachTest, FreeBlocksHoldNothing) {
  const uint64_t a = b.used(24), cached = b.used(24, {0, a});
  b.cache(cached, 24);
  const uint64_t gap = b.freed(104);
  b.used(24);
  t.add(globals, {cached, gap});
  b.word(gap + 16) = a;
  run();
  EXPECT_TRUE(is_leak(a));
  EXPECT_EQ(holder(cached), ~uint64_t{0}); // a free block is neither held nor lost
  EXPECT_FALSE(is_leak(cached));
}

TEST_F(ReachTest, ALossIsCountedOnceWithAllThatHangsOnIt) {
  const uint64_t tail = b.used(24), middle = b.used(40, {tail}), first = b.used(24, {middle}), alone = b.used(1000);
  run();
  const std::vector<Lost> lost = find_lost(t, heap, reach);
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(heap.chunks[lost[0].chunk].address, alone); // the largest first
  EXPECT_EQ(lost[0].bytes, 1000u);
  EXPECT_EQ(heap.chunks[lost[1].chunk].address, first);
  EXPECT_EQ(lost[1].chunks, 3u);
  EXPECT_EQ(lost[1].bytes, 24u + 40 + 24);
}

// Of blocks in a circle none is first: one stands for all.
TEST_F(ReachTest, Circles) {
  const uint64_t a = b.used(24), c = b.used(24, {a}), self = b.used(56);
  b.word(a) = c;
  b.word(self) = self;
  run();
  EXPECT_TRUE(is_leak(a) && is_leak(c) && is_leak(self));
  const std::vector<Lost> lost = find_lost(t, heap, reach);
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].chunks + lost[1].chunks, 3u);
}

// Two lost lists that share their end: it is counted once.
TEST_F(ReachTest, WhatTwoLossesShare) {
  const uint64_t shared = b.used(1000), a = b.used(24, {shared}), c = b.used(24, {shared});
  run();
  EXPECT_TRUE(is_leak(a) && is_leak(c));
  uint64_t bytes = 0;
  for (const Lost& l : find_lost(t, heap, reach)) bytes += l.bytes;
  EXPECT_EQ(bytes, 1048u);
}

TEST_F(ReachTest, ALongList) {
  b = HeapBuilder(0x10000000); // where it has room
  uint64_t next = 0;
  for (int i = 0; i < 200'000; i++) next = b.used(24, {next});
  t.add(globals, {next});
  run();
  for (uint32_t i = 0; i < heap.chunks.size(); i++) ASSERT_FALSE(reach.is_leak(heap, i)) << i;
}

TEST_F(HeapTest, ReferencesAndBytes) {
  const uint64_t a = b.used(24);
  t.add(globals, {a, a + 8, a + 24, 0x6f6c6c6568 /* hello */});
  find();
  EXPECT_EQ(find_references(t, a, a + 24), (std::vector<uint64_t>{globals, globals + 8}));
  EXPECT_EQ(find_bytes(t, "hello", 10), std::vector<uint64_t>{globals + 24});
  EXPECT_EQ(find_bytes(t, "l", 10), (std::vector<uint64_t>{globals + 26, globals + 27}));
  EXPECT_EQ(find_bytes(t, "l", 1).size(), 1u);
  EXPECT_TRUE(find_bytes(t, "", 10).empty());
}

} // namespace
} // namespace target
