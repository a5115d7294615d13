// The files of a flight recorder: recording.acu, recording.2.acu, … Those of earlier runs count too, and nothing else is overwritten.
#pragma once

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
  // The file is complete; older ones that are too many go.
  void add(std::string path);

private:
  std::string name(uint32_t number) const;

  std::string first_;
  uint32_t most_;
  uint64_t most_bytes_;
  std::deque<std::string> files_; // the oldest first
};

} // namespace recorder
