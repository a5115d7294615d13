// Foreign memory: what the addresses of Space::kernel and Space::user mean to the evaluator. Reading may fail
// at any address; nothing is ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eval {

class Memory {
public:
  virtual ~Memory() = default;
  // Fills `to` from `address` on. false: not all of it can be read; `to` is then undefined.
  virtual bool read(uint64_t address, std::span<std::byte> to) = 0;
};

} // namespace eval
