// A part of a recording that was split into slices of time (`--split`): the same profile, weighed by what
// happened then.
#pragma once

#include "base/result.h"
#include "profile/profile.h"

#include <optional>

namespace profile {

// After the start, in ns. A slice is in it if any part of it is.
struct TimeRange {
  std::optional<uint64_t> from, until;
  bool is_whole() const { return !from && !until; }
  bool holds(const Slice& slice, uint64_t slice_ns) const {
    return (slice.number + slice.span) * slice_ns > from.value_or(0) && (!until || slice.number * slice_ns < *until);
  }
};

enum class Part : uint8_t { inside, outside };

// Keeps only what is inside the range, or outside of it, and notes that. Failure: it was not
// split, or no slice is there.
base::Status keep_part(Profile& profile, const TimeRange& range, Part part = Part::inside);

} // namespace profile
