// Writes a recording: chunks, each of one kind and a short time, then an index. Whatever was written can be read, also while it is written. The format is described in
// docs/recording.md.
#pragma once

#include "base/output_file.h"
#include "base/result.h"
#include "recording/events.h"

#include <memory>
#include <string>

namespace recording {

// The file's name until it is complete.
inline std::string part_of(const std::string& path) { return path + ".part"; }

class Writer {
public:
  // The file is PATH.part, which can be read already, until finish() gives it its name. Failure: it cannot be created, or another process writes it.
  static base::Result<Writer> create(const std::string& path, const About& about);
  Writer(Writer&&) noexcept;
  ~Writer();

  // The kind's number, for batches.
  uint32_t add_kind(const EventKind& kind);
  // Names that were added since the last time are written before the events that refer to them.
  base::Status add(const Batch& batch, const Names& names);
  // The index, the counts of each kind (by number), and the end. Failure: the disk is full, or there is a file of that name which is to be kept. An unfinished file is
  // removed with its writer; only that of a process which was killed is left.
  base::Status finish(const About& about, std::span<const Count> counts, base::Existing existing = base::Existing::replace);

private:
  struct Parts;
  explicit Writer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace recording
