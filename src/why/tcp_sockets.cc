#include "why/tcp_sockets.h"

#include "why/proc_text.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace why {

namespace {

TcpSocket read_socket(const inet_diag_msg& from, size_t size) {
  TcpSocket out = {.family = from.idiag_family,
                   .state = from.idiag_state,
                   .local_port = ntohs(from.id.idiag_sport),
                   .peer = address_text(from.idiag_family, from.id.idiag_dst, ntohs(from.id.idiag_dport)),
                   .inode = from.idiag_inode,
                   .queued = from.idiag_rqueue,
                   .limit = from.idiag_wqueue,
                   .drops = 0};
  auto left = static_cast<int>(size - NLMSG_ALIGN(sizeof from));
  const auto* attribute = reinterpret_cast<const rtattr*>(reinterpret_cast<const std::byte*>(&from) + NLMSG_ALIGN(sizeof from));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    std::array<uint32_t, SK_MEMINFO_VARS> numbers = {};
    if (attribute->rta_type != INET_DIAG_SKMEMINFO) continue;
    std::memcpy(numbers.data(), RTA_DATA(attribute), std::min<size_t>(RTA_PAYLOAD(attribute), sizeof numbers));
    out.drops = numbers[SK_MEMINFO_DROPS];
  }
  return out;
}

// Adds what a message of the kernel has. False: it was the last one.
base::Result<bool> take(const nlmsghdr& message, std::vector<TcpSocket>& out) {
  if (message.nlmsg_type == NLMSG_DONE) return false;
  if (message.nlmsg_type == NLMSG_ERROR) return base::Error{base::Failure::unsupported, "the kernel does not list its TCP sockets (sock_diag)"};
  const size_t size = NLMSG_PAYLOAD(&message, 0);
  if (size >= sizeof(inet_diag_msg)) out.push_back(read_socket(*static_cast<const inet_diag_msg*>(NLMSG_DATA(&message)), size));
  return true;
}

} // namespace

std::string address_text(uint16_t family, const void* address, uint16_t port) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(family, address, text, sizeof text);
  return (family == AF_INET6 ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port);
}

std::string peer_text(uint64_t family, uint64_t port, uint64_t first, uint64_t second) {
  const uint64_t words[] = {first, second};
  return address_text(static_cast<uint16_t>(family), words, ntohs(static_cast<uint16_t>(port)));
}

base::Status TcpSockets::open(int pid) {
  int error = 0;
  // A thread of its own enters the network; sockets stay in that in which they were made.
  std::thread([&] {
    const base::Fd network(::open(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
    if (network.get() < 0 || ::setns(network.get(), CLONE_NEWNET) != 0) error = errno;
    if (error) return;
    netlink_ = base::Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (netlink_.get() < 0) error = errno;
    const std::string range = text_of("/proc/sys/net/ipv4/ip_local_port_range");
    const std::vector<std::string_view> ends = words_of(std::string_view(range).substr(0, range.find('\n')));
    if (ends.size() == 2) local_ports_ = growth(decimal(ends[0]).value_or(0), decimal(ends[1]).value_or(0) + 1);
  }).join();
  if (error) return base::Error{base::Failure::unsupported, "cannot list TCP sockets of process " + std::to_string(pid) + ": " + std::strerror(error)};
  return {};
}

base::Result<std::vector<TcpSocket>> TcpSockets::list(uint32_t states) const {
  std::vector<TcpSocket> out;
  for (const int family : {AF_INET, AF_INET6}) {
    struct {
      nlmsghdr header;
      inet_diag_req_v2 request;
    } asked = {};
    asked.header = {.nlmsg_len = sizeof asked, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = 0, .nlmsg_pid = 0};
    asked.request.sdiag_family = static_cast<uint8_t>(family);
    asked.request.sdiag_protocol = IPPROTO_TCP;
    asked.request.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
    asked.request.idiag_states = states;
    if (::send(netlink_.get(), &asked, sizeof asked, 0) < 0) return base::Error{base::Failure::unsupported, "cannot ask for TCP sockets"};
    for (bool more = true; more;) {
      alignas(nlmsghdr) std::array<char, 32768> bytes;
      const ssize_t n = ::recv(netlink_.get(), bytes.data(), bytes.size(), 0);
      if (n <= 0) return base::Error{base::Failure::unsupported, "cannot read the list of TCP sockets"};
      auto left = static_cast<unsigned>(n);
      for (const auto* m = reinterpret_cast<const nlmsghdr*>(bytes.data()); more && NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
        ACU_TRY(more, take(*m, out));
      }
    }
  }
  return out;
}

std::set<uint32_t> socket_inodes(int pid) {
  std::set<uint32_t> out;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    const std::string to = std::filesystem::read_symlink(entry.path(), gone).native();
    if (!to.starts_with("socket:[")) continue;
    if (const auto inode = decimal(std::string_view(to).substr(8, to.size() - 9))) out.insert(static_cast<uint32_t>(*inode));
  }
  return out;
}

} // namespace why
