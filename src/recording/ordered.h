// The events of a recording one by one, in the order of their times. Formats that keep a stream for each CPU need that order; in the file, chunks of different kinds and CPUs
// overlap.
#pragma once

#include "base/result.h"
#include "recording/reader.h"

#include <functional>
#include <span>

namespace recording {

struct Event {
  uint64_t time = 0;
  uint32_t cpu = 0, thread = 0, kind = 0;
  std::span<const uint64_t> values; // of EventKind::fields
};

// Memory holds the events of a window of time, about 2^18; a window with more is halved. Events of the same time are in the order of the file.
// Failure: a chunk is damaged, or what `take` returns.
base::Status each_in_order(const Reader& reader, const Part& part, const std::function<base::Status(const Event&)>& take);

} // namespace recording
