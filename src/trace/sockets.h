// Sockets by inode number: protocol and both endpoints. For sockets created during the trace, probes
// send them (src/scripts/trace.bt); for older ones, they come from /proc/PID/net and, for peers of Unix sockets, from sock_diag(7).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace trace {

class Sockets {
public:
  // The words of a detail record: family, type and protocol; ports; the local address; the remote one, or the peer's inode.
  void learn(uint64_t inode, const std::array<uint64_t, 6>& words);
  // The path of a Unix socket that was bound, or accepted by a bound one.
  void set_path(uint64_t inode, std::string path);
  const std::string& path(uint64_t inode) { return sockets_[inode].path; }
  // "TCP:[127.0.0.1:80->127.0.0.1:5000]", "UNIX-STREAM:[17->18,"/run/x"]"; empty: not known. `pid`: a process of its network.
  std::string text(uint64_t inode, uint32_t pid);

private:
  struct Socket {
    std::string protocol, ends, path; // ends: of inet sockets; empty: it has none yet
    uint64_t peer = 0;
    bool is_unix = false;
  };
  void look_up(uint64_t inode, uint32_t pid);
  void look_up_peer(uint64_t inode);

  std::map<uint64_t, Socket> sockets_;
};

} // namespace trace
