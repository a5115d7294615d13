// The ring buffer's consumer, with records of programs made by hand.
#include "bpf/ring.h"

#include "bpf/engine.h"
#include "handmade.h"

#include <atomic>
#include <poll.h>
#include <thread>

namespace bpf {
namespace {

using test::Assembler;
using test::Handmade;

bool is_readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

// Each run takes the next number n from the state and sends {u64 n, …} of `bytes`, or gives the record up
// when n is a multiple of 3. With a full ring it counts a lost event. Wakes past a quarter of the ring, as
// emitted code does.
Handmade sender(uint32_t ring_bytes, int32_t bytes, bool discards) {
  Handmade h;
  uint32_t state = h.state(8);
  uint32_t ring = h.ring(ring_bytes);
  Assembler a;
  a.map(1, ring).set(2, bytes).set(3, 0).call(BPF_FUNC_ringbuf_reserve).skip_if_zero(0, 0);
  size_t full = a.insns.size() - 1;
  a.move(6, 0).value(7, state, 7 * 8).load(1, 7, 0).store(6, 0, 1).move(8, 1).add(1, 1).store(7, 0, 1);
  a.map(1, ring).set(2, BPF_RB_AVAIL_DATA).call(BPF_FUNC_ringbuf_query);
  a.set(2, BPF_RB_NO_WAKEUP);
  a.raw(BPF_JMP | BPF_JLT | BPF_K, 0, 0, 1, static_cast<int32_t>(ring_bytes / 4)).set(2, BPF_RB_FORCE_WAKEUP);
  a.move(1, 6);
  if (discards) {
    a.raw(BPF_ALU64 | BPF_MOD | BPF_K, 8, 0, 0, 3);
    a.raw(BPF_JMP | BPF_JNE | BPF_K, 8, 0, 2, 0)
        .call(BPF_FUNC_ringbuf_discard)
        .raw(BPF_JMP | BPF_JA, 0, 0, 1, 0);
  }
  a.call(BPF_FUNC_ringbuf_submit).leave();
  a.insns[full].off = static_cast<int16_t>(a.insns.size() - full - 1);
  a.value(7, state, 0).load(1, 7, 0).add(1, 1).store(7, 0, 1).leave();
  h.probe(a.code("send"));
  return h;
}

struct Received {
  std::vector<uint64_t> numbers;
  bool sizes_match = true;
};
size_t drain(Engine& engine, size_t bytes, Received& received) {
  return engine.drain([&](std::span<const std::byte> record) {
    uint64_t n;
    std::memcpy(&n, record.data(), sizeof n);
    received.numbers.push_back(n);
    received.sizes_match &= record.size() == bytes;
  });
}

TEST(Ring, InOrderOverManyTurns) {
  NEEDS_BPF();
  for (int32_t bytes : {8, 24, 100, 1000}) {
    Handmade h = sender(16384, bytes, false);
    auto engine = Engine::load(h.program, h.object, {});
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    Received received;
    EXPECT_EQ(drain(**engine, static_cast<size_t>(bytes), received), 0u);
    size_t sent = 0;
    for (int turn = 0; turn < 50; turn++) { // wraps at every possible place
      size_t now = 1 + static_cast<size_t>(turn) % 13;
      for (size_t i = 0; i < now; i++) ASSERT_TRUE((*engine)->run(0).ok());
      sent += now;
      EXPECT_EQ(drain(**engine, static_cast<size_t>(bytes), received), now);
    }
    ASSERT_EQ(received.numbers.size(), sent);
    for (size_t i = 0; i < sent; i++) ASSERT_EQ(received.numbers[i], i);
    EXPECT_TRUE(received.sizes_match);
    EXPECT_EQ((*engine)->counters().lost_events, 0u);
  }
}

TEST(Ring, DiscardedRecordsAreSkipped) {
  NEEDS_BPF();
  Handmade h = sender(4096, 16, true);
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  for (int i = 0; i < 7; i++) ASSERT_TRUE((*engine)->run(0).ok());
  Received received;
  EXPECT_EQ(drain(**engine, 16, received), 4u);
  EXPECT_EQ(received.numbers, (std::vector<uint64_t>{1, 2, 4, 5}));
}

TEST(Ring, FullRingCountsAndRecovers) {
  NEEDS_BPF();
  Handmade h = sender(4096, 56, false); // 64 with the header
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  for (int i = 0; i < 100; i++) ASSERT_TRUE((*engine)->run(0).ok());
  Received received;
  size_t arrived = drain(**engine, 56, received);
  EXPECT_GE(arrived, 63u);
  EXPECT_EQ(arrived + (*engine)->counters().lost_events, 100u);
  ASSERT_TRUE((*engine)->run(0).ok());
  EXPECT_EQ(drain(**engine, 56, received), 1u);
  EXPECT_EQ(received.numbers.back(), arrived); // numbers count what was sent
}

// Not at the first record, but past a quarter; and no more after a drain.
TEST(Ring, WaitDescriptor) {
  NEEDS_BPF();
  Handmade h = sender(4096, 56, false);
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  int fd = (*engine)->wait_fd();
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(is_readable(fd));
  Received received;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 10; i++) ASSERT_TRUE((*engine)->run(0).ok());
    EXPECT_FALSE(is_readable(fd));
    for (int i = 0; i < 10; i++) ASSERT_TRUE((*engine)->run(0).ok());
    pollfd p{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&p, 1, 1000), 1); // the wake-up comes by interrupt
    EXPECT_EQ(drain(**engine, 56, received), 20u);
    EXPECT_FALSE(is_readable(fd));
  }
}

TEST(Ring, NoRingNoDescriptor) {
  NEEDS_BPF();
  Handmade h;
  h.probe(Assembler().leave().code("begin"));
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ((*engine)->wait_fd(), -1);
  EXPECT_EQ((*engine)->drain([](auto) {}), 0u);
}

// A reader beside two writers: nothing is torn, nothing is lost without being counted.
TEST(Ring, ConcurrentWriters) {
  NEEDS_BPF();
  Handmade h = sender(65536, 24, false);
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  constexpr size_t each = 50000;
  std::atomic<int> running{2};
  auto write = [&] {
    for (size_t i = 0; i < each; i++) (void)(*engine)->run(0).ok();
    running--;
  };
  std::thread first(write), second(write);
  Received received;
  while (running) drain(**engine, 24, received);
  first.join();
  second.join();
  drain(**engine, 24, received);
  EXPECT_TRUE(received.sizes_match);
  EXPECT_LE(received.numbers.size(), 2 * each);
  // The counter is not atomic, so that a few of the lost may be missing in it.
  EXPECT_GE(received.numbers.size() + (*engine)->counters().lost_events, 2 * each * 99 / 100);
}

} // namespace
} // namespace bpf
