// Writes a recording: chunks, each of one kind and a short time, then an index. Whatever was written can be read, also while it is written. The format is described in
// docs/recording.md.
#pragma once

#include "base/result.h"
#include "recording/events.h"

#include <memory>
#include <string>

namespace recording {

class Writer {
public:
  // The file is PATH.part, which can be read already, until finish() gives it its name. Failure: it cannot be created.
  static base::Result<Writer> create(const std::string& path, const About& about);
  Writer(Writer&&) noexcept;
  ~Writer();

  // The kind's number, for batches.
  uint32_t add_kind(const EventKind& kind);
  // Names that were added since the last time are written before the events that refer to them.
  base::Status add(const Batch& batch, const Names& names);
  // The index, the counts of each kind (by number), and the end. Failure: the disk is full, …; what was written until then can be read.
  base::Status finish(const About& about, std::span<const Count> counts);

private:
  struct Parts;
  explicit Writer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace recording
