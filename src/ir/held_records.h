// The records of a speculation, one behind the other: each is as long as its action says.
#pragma once

#include "ir/ir.h"

#include <cstddef>
#include <functional>
#include <span>

namespace ir {

// Calls take(record) for each that is complete. Gives the number of the others.
uint64_t take_held(const Program& program, std::span<const std::byte> records, const std::function<void(std::span<const std::byte>)>& take);

} // namespace ir
