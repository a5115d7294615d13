// What was read of an object, for decoding it. For the sources of runtimes alone.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <span>

namespace runtime {

using Bytes = std::span<const std::byte>;

// A number of so many bytes; what is beyond the object's end is 0.
inline uint64_t number_at(Bytes bytes, uint64_t offset, unsigned size) { return base::Reader(bytes, offset).number_of(size); }

template<size_t N> Bytes as_bytes(const uint8_t (&array)[N]) { return std::as_bytes(std::span(array)); }

} // namespace runtime
