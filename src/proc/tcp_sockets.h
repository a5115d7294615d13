// The TCP sockets of a network, as the kernel has them (sock_diag(7)).
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace proc {

struct TcpSocket {
  uint16_t family = 0; // AF_INET, AF_INET6
  uint8_t state = 0;   // TCP_LISTEN, …
  uint16_t local_port = 0;
  std::string peer;    // "10.0.0.1:80"
  uint32_t inode = 0;  // 0: no process has it
  uint32_t queued = 0, limit = 0; // of a listening one: connections to be accepted, and how many it holds
  uint64_t drops = 0;  // of a listening one: connections that were dropped, so far
};

// "10.0.0.1:80", "[::1]:80"; the port as numbers are, not as the network has it.
std::string address_text(uint16_t family, const void* address, uint16_t port);

// The same of a peer as scripts have it (scripts/why_sockets.bt), with the port as the network has it.
std::string peer_text(uint64_t family, uint64_t port, uint64_t first, uint64_t second);

class TcpSockets {
public:
  // Those of the network that this process is in.
  base::Status open(int pid);
  // With one of these states, as bits.
  base::Result<std::vector<TcpSocket>> list(uint32_t states) const;
  uint64_t local_ports() const { return local_ports_; } // how many there are towards each peer

private:
  base::Fd netlink_;
  uint64_t local_ports_ = 28232;
};

// Inodes of the sockets that a process has open.
std::set<uint32_t> socket_inodes(int pid);

} // namespace proc
