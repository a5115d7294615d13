// Capture files of packets (pcap), for skboutput().
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace report {

// The files of a session, each made when its first packet comes.
class Captures {
public:
  // Adds a packet seen at this wall time.
  base::Status add(const std::string& path, uint64_t wall_ns, std::span<const std::byte> packet);

private:
  base::Result<int> file(const std::string& path); // -1: given up
  base::Error give_up(const std::string& path);    // from errno
  std::map<std::string, base::Fd> files_;
};

} // namespace report
