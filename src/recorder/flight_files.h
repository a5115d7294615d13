// The files of a flight recorder: recording.acu, recording.2.acu, … Those of earlier runs count too, and nothing else is overwritten or removed, also not what another
// recorder writes under the same names at the same time.
#pragma once

#include "base/file_map.h"

#include <cstdint>
#include <deque>
#include <string>

namespace recorder {

class FlightFiles {
public:
  // `most`: how many there may be, and how many bytes of them, but for the newest; the oldest go first.
  FlightFiles(std::string first, uint32_t most, uint64_t most_bytes);
  // A name that is free.
  std::string next() const;
  // Nothing has the name, and nobody writes a file that gets it.
  bool is_free(const std::string& name) const;
  // The file is complete, under one of these names or elsewhere; older ones that are too many go.
  void add(const std::string& path);

private:
  struct File {
    std::string path;
    base::FileId id;
  };
  std::string name(uint32_t number) const;

  std::string first_;
  uint32_t most_;
  uint64_t most_bytes_;
  std::deque<File> files_; // the oldest first
};

} // namespace recorder
