// Where the long jumps in a piece of code may lead to. Nothing is taken apart: any bytes that look like a
// jump of x86-64 with a distance of 32 bits count, wherever they begin; so no direct one is missed, and few
// are added.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <vector>

namespace symbol {

class JumpTargets {
public:
  JumpTargets() = default;
  // `code` stands at `begin`.
  JumpTargets(base::ByteSpan code, uint64_t begin);
  // Whether one of the addresses from `first` to `last` is such a place.
  bool any(uint64_t first, uint64_t last) const;

private:
  uint64_t begin_ = 0;
  std::vector<uint64_t> bits_; // one for each byte of code
};

} // namespace symbol
