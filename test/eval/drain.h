// What programs of ir::Builder send.
#pragma once

#include "eval/engine.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace eval {

// The numbers of Builder::output, in their order.
inline std::vector<int64_t> drain(Engine& engine) {
  std::vector<int64_t> values;
  engine.drain([&](std::span<const std::byte> record) {
    int64_t value;
    std::memcpy(&value, record.data() + 8, sizeof value);
    values.push_back(value);
  });
  return values;
}

} // namespace eval
