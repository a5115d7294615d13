// Events to tracks. Events are added in any order; the scheduler's are replayed in the order of their times.
#pragma once

#include "recording/reader.h"
#include "timeline/tracks.h"

#include <memory>
#include <span>

namespace timeline {

class Maker {
public:
  // Of a recording with these kinds; both outlive this.
  Maker(const recording::About& about, std::span<const recording::EventKind> kinds);
  ~Maker();
  void add(const recording::Batch& batch);
  Timeline finish(const recording::Names& names);

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// All of a recording.
base::Result<Timeline> make_timeline(const recording::Reader& reader);

} // namespace timeline
