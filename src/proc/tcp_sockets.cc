#include "proc/tcp_sockets.h"

#include "proc/sock_diag.h"
#include "proc/text.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <filesystem>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <span>

namespace proc {

namespace {

TcpSocket read_socket(std::span<const std::byte> bytes) {
  inet_diag_msg from;
  std::memcpy(&from, bytes.data(), sizeof from);
  TcpSocket out = {.family = from.idiag_family,
                   .state = from.idiag_state,
                   .local_port = ntohs(from.id.idiag_sport),
                   .peer = address_text(from.idiag_family, from.id.idiag_dst, ntohs(from.id.idiag_dport)),
                   .inode = from.idiag_inode,
                   .queued = from.idiag_rqueue,
                   .limit = from.idiag_wqueue,
                   .drops = 0};
  for_each_attribute(bytes, sizeof from, [&](unsigned type, std::span<const std::byte> value) {
    std::array<uint32_t, SK_MEMINFO_VARS> numbers = {};
    if (type != INET_DIAG_SKMEMINFO) return;
    std::memcpy(numbers.data(), value.data(), std::min(value.size(), sizeof numbers));
    out.drops = numbers[SK_MEMINFO_DROPS];
  });
  return out;
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
  base::Result<base::Fd> netlink = base::Fd();
  ACU_CHECK(in_network_of(pid, [&] {
    netlink = open_sock_diag();
    const std::string range = text_of("/proc/sys/net/ipv4/ip_local_port_range");
    const std::vector<std::string_view> ends = words_of(std::string_view(range).substr(0, range.find('\n')));
    if (ends.size() == 2) local_ports_ = growth(decimal(ends[0]).value_or(0), decimal(ends[1]).value_or(0) + 1);
  }));
  ACU_TRY(netlink_, std::move(netlink));
  return {};
}

base::Result<std::vector<TcpSocket>> TcpSockets::list(uint32_t states) const {
  std::vector<TcpSocket> out;
  for (const int family : {AF_INET, AF_INET6}) {
    inet_diag_req_v2 request = {};
    request.sdiag_family = static_cast<uint8_t>(family);
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
    request.idiag_states = states;
    ACU_CHECK(dump_sockets(netlink_, std::as_bytes(std::span(&request, 1)), [&](std::span<const std::byte> answer) {
      if (answer.size() >= sizeof(inet_diag_msg)) out.push_back(read_socket(answer));
    }));
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

} // namespace proc
