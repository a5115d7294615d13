// Reads a recording: what it has at once, events chunk by chunk. A file that was cut is read up to the cut, and `about().notes` says so; a damaged one is an error that names the
// chunk. Nothing in a file is trusted: numbers are checked before anything refers to them.
#pragma once

#include "base/result.h"
#include "recording/events.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace recording {

bool is_event_recording(std::string_view first_bytes);
// Of a regular file; others, such as pipes, are none.
bool is_event_recording_file(const std::string& path);

// Which events are asked for.
struct Part {
  uint64_t from_ns = 0, until_ns = ~uint64_t{0}; // of the recording's clock
  std::vector<uint32_t> kinds = {};              // by number; empty: all
};

class Reader {
public:
  static base::Result<Reader> open(const std::string& path);
  static base::Result<Reader> of(std::string bytes); // of a file that is in memory
  Reader(Reader&&) noexcept;
  ~Reader();

  const About& about() const;
  const Names& names() const; // of all chunks
  std::span<const EventKind> kinds() const;
  std::span<const Count> counts() const; // by kind; of a cut file only `kept` is known
  bool is_complete() const; // not cut
  // Chunks in the order of the file, in which times of different kinds and CPUs overlap; events outside of `part` are left out. `take`: false ends it.
  base::Status each(const Part& part, const std::function<bool(const Batch&)>& take) const;

private:
  struct Parts;
  explicit Reader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace recording
