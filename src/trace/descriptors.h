// What the descriptors of traced processes refer to: from traced calls, otherwise from /proc.
#pragma once

#include "trace/call.h"
#include "trace/sockets.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trace {

class SeenDescriptors : public Descriptors {
public:
  std::string path(uint32_t pid, int fd) override;
  std::string shown(uint32_t pid, int fd) override;
  // Sockets with protocol and endpoints, devices with their numbers.
  void describe(bool describes) { describes_ = describes; }
  // A detail record (src/scripts/trace.bt), which comes before its call.
  void take_detail(const Call& detail);
  // false: not all calls that change descriptors are traced, so values from /proc are not cached.
  void keep(bool keeps) { keeps_ = keeps; }
  // Reads the descriptors that the process has open now, or will have after execve(2).
  enum class Of : uint8_t { now, after_execve };
  void look_at(uint32_t pid, Of when);
  // New descriptors are known before their call is printed; closed ones are removed after it.
  void learn(const Call& call);
  void forget(const Call& call);
  // Netlink sockets, in any case.
  std::optional<uint32_t> netlink_protocol(uint32_t pid, int fd) override;
  void learn_netlink(const Call& call);

private:
  void learn_socket(const Call& call);
  uint64_t socket_inode(uint32_t pid, int fd); // 0: none
  std::string device_text(uint32_t pid, const std::string& path);
  void name_new(std::pair<uint32_t, int> descriptor, uint64_t what);

  std::map<std::pair<uint32_t, int>, std::string> known_;
  std::map<std::pair<uint32_t, int>, uint32_t> netlink_; // protocols
  Sockets sockets_;
  std::map<uint32_t, std::vector<Call>> details_; // by thread, until its call comes
  std::map<std::string, std::string> devices_;           // what is behind their paths
  bool keeps_ = true, describes_ = false;
};

} // namespace trace
