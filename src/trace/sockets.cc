#include "trace/sockets.h"

#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace trace {

namespace {

std::string protocol_name(uint64_t family, uint64_t type, uint64_t protocol) {
  if (family == AF_UNIX) return type == SOCK_STREAM ? "UNIX-STREAM" : "UNIX"; // as the kernel has it
  if (family == AF_NETLINK) return "NETLINK";
  if (family == AF_PACKET) return "PACKET";
  if (family != AF_INET && family != AF_INET6) return {};
  std::string name;
  if (type == SOCK_RAW) name = "RAW";
  else if (protocol == IPPROTO_TCP) name = "TCP";
  else if (protocol == IPPROTO_UDP) name = "UDP";
  else if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) name = "PING";
  else if (protocol == IPPROTO_SCTP) name = "SCTP";
  else if (protocol == IPPROTO_MPTCP) name = "MPTCP";
  return name.empty() || family == AF_INET ? name : name + "v6";
}

// "127.0.0.1:80", "[::1]:80"
std::string end_text(int family, const void* address, unsigned port) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(family, address, text, sizeof text);
  return (family == AF_INET6 ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port);
}

uint64_t read_hexadecimal(std::string_view text) {
  uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return out;
}

// "0100007F:1F90" of /proc/net/tcp: words of the address as they are in memory, read as numbers, and the port.
std::pair<std::vector<uint32_t>, unsigned> read_end(std::string_view text) {
  std::pair<std::vector<uint32_t>, unsigned> out;
  const size_t colon = std::min(text.find(':'), text.size());
  for (size_t at = 0; at + 8 <= colon; at += 8) out.first.push_back(static_cast<uint32_t>(read_hexadecimal(text.substr(at, 8))));
  if (colon < text.size()) out.second = static_cast<unsigned>(read_hexadecimal(text.substr(colon + 1)));
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word : base::split(line, ' '))
    if (!word.empty()) out.push_back(word);
  return out;
}

} // namespace

void Sockets::learn(uint64_t inode, const std::array<uint64_t, 6>& words) {
  constexpr size_t max_known = 65536;
  if (sockets_.size() >= max_known) sockets_.clear();
  enum : size_t { kind, ports, local, remote = 4 };
  const uint64_t family = words[kind] & 0xffff;
  Socket& s = sockets_[inode];
  s.protocol = protocol_name(family, words[kind] >> 16 & 0xffff, words[kind] >> 32);
  s.is_unix = family == AF_UNIX;
  if (s.is_unix && words[remote]) {
    s.peer = words[remote];
    sockets_[s.peer].peer = inode;
  }
  const auto here = static_cast<unsigned>(words[ports] & 0xffff);
  const auto there = static_cast<unsigned>(ntohs(static_cast<uint16_t>(words[ports] >> 16)));
  if ((family == AF_INET || family == AF_INET6) && here) {
    const int f = static_cast<int>(family);
    s.ends = end_text(f, &words[local], here) + (there ? "->" + end_text(f, &words[remote], there) : "");
  }
}

void Sockets::set_path(uint64_t inode, std::string path) { sockets_[inode].path = std::move(path); }

// Those that are older than the trace.
void Sockets::look_up(uint64_t inode, uint32_t pid) {
  struct List {
    const char* name;
    int family;
    const char* protocol;
    size_t inode_at; // which word
  };
  static constexpr List lists[] = {{"tcp", AF_INET, "TCP", 9}, {"tcp6", AF_INET6, "TCPv6", 9}, {"udp", AF_INET, "UDP", 9}, {"udp6", AF_INET6, "UDPv6", 9},
                                   {"unix", AF_UNIX, "", 6}, {"netlink", AF_NETLINK, "NETLINK", 9}};
  Socket& s = sockets_[inode];
  const std::string number = std::to_string(inode), folder = "/proc/" + std::to_string(pid) + "/net/";
  for (const List& list : lists) {
    auto text = base::read_file(folder + list.name);
    for (std::string_view line : base::split(text.ok() ? std::string_view(*text) : "", '\n')) {
      if (line.find(number) == line.npos) continue;
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() <= list.inode_at || words[list.inode_at] != number) continue;
      s.protocol = list.protocol;
      if (list.family == AF_UNIX) {
        s.is_unix = true;
        s.protocol = protocol_name(AF_UNIX, read_hexadecimal(words[4]), 0);
        if (words.size() > list.inode_at + 1) s.path = words[list.inode_at + 1];
        look_up_peer(inode);
      } else if (list.family != AF_NETLINK) {
        const auto [local, here] = read_end(words[1]);
        const auto [remote, there] = read_end(words[2]);
        if (here && !local.empty() && !remote.empty())
          s.ends = end_text(list.family, local.data(), here) + (there ? "->" + end_text(list.family, remote.data(), there) : "");
      }
      return;
    }
  }
}

// sock_diag(7): of one Unix socket the inode of its peer.
void Sockets::look_up_peer(uint64_t inode) {
  const base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (fd.get() < 0) return;
  struct {
    nlmsghdr head;
    unix_diag_req request;
  } ask = {};
  ask.head.nlmsg_len = sizeof ask;
  ask.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.head.nlmsg_flags = NLM_F_REQUEST;
  ask.request.sdiag_family = AF_UNIX;
  ask.request.udiag_states = UINT32_MAX;
  ask.request.udiag_ino = static_cast<uint32_t>(inode);
  ask.request.udiag_show = UDIAG_SHOW_PEER;
  ask.request.udiag_cookie[0] = ask.request.udiag_cookie[1] = UINT32_MAX; // any
  alignas(nlmsghdr) char answer[1024];
  if (::send(fd.get(), &ask, sizeof ask, 0) < 0) return;
  const ssize_t n = ::recv(fd.get(), answer, sizeof answer, MSG_DONTWAIT);
  constexpr size_t head = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(unix_diag_msg));
  if (n < static_cast<ssize_t>(head)) return;
  nlmsghdr got = {};
  std::memcpy(&got, answer, sizeof got);
  if (got.nlmsg_type != SOCK_DIAG_BY_FAMILY) return;
  for (size_t at = head; at + NLA_HDRLEN + sizeof(uint32_t) <= static_cast<size_t>(n);) {
    nlattr attribute = {};
    std::memcpy(&attribute, answer + at, sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN) return;
    if (attribute.nla_type == UNIX_DIAG_PEER) {
      uint32_t peer = 0;
      std::memcpy(&peer, answer + at + NLA_HDRLEN, sizeof peer);
      sockets_[inode].peer = peer;
    }
    at += NLA_ALIGN(attribute.nla_len);
  }
}

std::string Sockets::text(uint64_t inode, uint32_t pid) {
  if (sockets_[inode].protocol.empty()) look_up(inode, pid);
  const Socket& s = sockets_[inode];
  if (s.protocol.empty()) return {};
  if (!s.ends.empty()) return s.protocol + ":[" + s.ends + "]";
  std::string out = s.protocol + ":[" + std::to_string(inode);
  if (s.is_unix && s.peer) out += "->" + std::to_string(s.peer);
  if (!s.path.empty()) out += ",\"" + s.path + "\"";
  return out + "]";
}

} // namespace trace
