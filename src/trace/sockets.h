// What sockets are, by the numbers of their inodes: their protocol, their two ends. Of those that were made while acu looked on the probes
// have sent it (src/scripts/trace.bt); of older ones the kernel's lists tell, /proc/PID/net and for the peers of Unix sockets sock_diag(7).
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
  // Of a Unix socket that was bound, or accepted by one that is.
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
