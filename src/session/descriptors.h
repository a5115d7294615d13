// What the descriptors of traced processes stand for: from the calls that were seen, else from /proc.
#pragma once

#include "trace/call.h"

#include <map>
#include <string>

namespace session {

class SeenDescriptors : public trace::Descriptors {
public:
  std::string path(uint32_t pid, int fd) override;
  // Learns what the process has open now.
  void look_at(uint32_t pid);
  // What a call makes is known before the call is told, and what it ends is forgotten after.
  void learn(const trace::Call& call);
  void forget(const trace::Call& call);

private:
  std::map<std::pair<uint32_t, int>, std::string> known_;
};

} // namespace session
