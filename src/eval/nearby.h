// Memory around the objects that a script follows pointers to. Each of them that is not in the processor's
// caches takes as long as a hundred steps, one after the other, as each tells where the next one is; what
// lies around it comes at the same time for little more. Most programs have objects of a kind side by side,
// so that much of what comes along is asked for soon.
//
// Method: the first time that an object in a block of 1 KiB is reached, all lines of the block are asked for
// (Lin, Reinhardt, Burger: Reducing DRAM latencies with an integrated memory hierarchy design, 2001). What was
// asked for is known by a small table, of no more blocks than caches hold. Where few blocks are met again,
// objects are too far from each other: nothing is asked for during a while.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace eval {

class Nearby {
public:
  // An object is reached that lies `at` in this process.
  void reach(const std::byte* at) {
    if (rest_) {
      rest_--;
      return;
    }
    const uint64_t block = reinterpret_cast<uint64_t>(at) / block_size;
    uint32_t& last = asked_[block * 0x9e3779b97f4a7c15 >> (64 - table_bits)];
    if (last == static_cast<uint32_t>(block)) {
      met_++;
      return;
    }
    last = static_cast<uint32_t>(block);
    ask(block);
  }
  bool rests() const { return rest_ > 0; }

private:
  static constexpr uint64_t block_size = 1024, line = 64;
  static constexpr unsigned table_bits = 12;        // 4 MiB of blocks
  static constexpr uint32_t between_looks = 2 << table_bits; // blocks: the table is full of them by then
  static constexpr uint32_t longest_rest = 1 << 17;

  void ask(uint64_t block) {
    const auto* from = reinterpret_cast<const std::byte*>(block * block_size);
    for (uint64_t n = 0; n < block_size; n += line) __builtin_prefetch(from + n, 0, 2);
    if (++blocks_ < between_looks) return;
    if (met_ < between_looks / 8) rest_ = longest_rest;
    blocks_ = met_ = 0;
  }

  std::array<uint32_t, 1 << table_bits> asked_ = {};
  uint32_t met_ = 0, blocks_ = 0; // since the last look: reached again, and asked for
  uint32_t rest_ = 0;             // so many more that are not looked at
};

} // namespace eval
