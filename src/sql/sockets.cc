// Sockets of a network namespace: TCP, UDP and Unix, as the kernel lists them (sock_diag(7)). Their processes are found by inode among the open files of
// all processes, and only if the query reads them.
#include "proc/process_files.h"
#include "proc/sock_diag.h"
#include "proc/tcp_sockets.h"
#include "sql/proc.h"
#include "sql/sources.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unordered_map>

namespace sql {

namespace {

struct Socket {
  std::string_view protocol;
  uint8_t state_number = 0;
  uint16_t family = 0;
  std::array<uint32_t, 4> local = {}, peer = {}; // in the network's order
  std::optional<std::string> path;               // of Unix sockets
  std::optional<int64_t> local_port, peer_port, receive_queue, send_queue, retransmits, round_trip_us, congestion_window, memory, drops, user_id, backlog, backlog_limit;
  int64_t inode = 0;
  std::optional<int64_t> cgroup_id, peer_inode;
  std::optional<int64_t> pid;
  std::optional<std::string> process;

  std::string state() const {
    constexpr std::string_view names[] = {"",           "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2",  "time-wait",
                                          "closed",     "close-wait",  "last-ack", "listen",   "closing",    "new-syn-recv", "bound-inactive"};
    if (protocol == "udp" && state_number == TCP_CLOSE) return "unconnected";
    return state_number < std::size(names) ? std::string(names[state_number]) : std::to_string(state_number);
  }
  std::string family_name() const { return family == AF_INET ? "ipv4" : family == AF_INET6 ? "ipv6" : "unix"; }
  std::optional<std::string> local_address() const { return address(local); }
  std::optional<std::string> peer_address() const { return address(peer); }

private:
  static constexpr uint8_t TCP_CLOSE = 7;
  std::optional<std::string> address(const std::array<uint32_t, 4>& of) const {
    char text[INET6_ADDRSTRLEN] = {};
    return family != AF_UNIX && ::inet_ntop(family, of.data(), text, sizeof text) ? std::optional<std::string>(text) : std::nullopt;
  }
};

constexpr Column columns[] = {
    column<&Socket::protocol>("protocol", "", "tcp, udp, or stream, datagram, seqpacket of Unix sockets."),
    column<&Socket::family_name>("family", "", "ipv4, ipv6 or unix."),
    column<&Socket::state>("state", "", "established, listen, time-wait, …, as in ss(8)."),
    column<&Socket::local_address>("local_address", "", "Its own address."),
    column<&Socket::local_port>("local_port", "", "Its own port."),
    column<&Socket::peer_address>("peer_address", "", "Address of the peer."),
    column<&Socket::peer_port>("peer_port", "", "Port of the peer; 0: it has none."),
    column<&Socket::path>("path", "", "Of a Unix socket; @ begins a name without a file."),
    column<&Socket::pid>("pid", "", "A process that has it open, the one with the lowest ID; NULL: none has. `files` has all."),
    column<&Socket::process>("process", "", "Name of that process."),
    column<&Socket::inode>("inode", "", "Inode; 0: the socket belongs to the kernel alone."),
    column<&Socket::user_id>("uid", "", "User ID of its owner."),
    column<&Socket::receive_queue>("receive_queue", "bytes", "Received and not read by the program."),
    column<&Socket::send_queue>("send_queue", "bytes", "Sent by the program and not acknowledged by the peer."),
    column<&Socket::backlog>("backlog", "", "Of a listening socket: connections that wait for accept()."),
    column<&Socket::backlog_limit>("backlog_limit", "", "Of a listening socket: how many may wait."),
    column<&Socket::drops>("drops", "", "Packets or connections that were dropped here."),
    column<&Socket::retransmits>("retransmits", "", "TCP: segments that were sent again, so far."),
    column<&Socket::round_trip_us>("round_trip", "us", "TCP: smoothed round-trip time."),
    column<&Socket::congestion_window>("congestion_window", "segments", "TCP: how many may be on their way."),
    column<&Socket::memory>("memory", "bytes", "Kernel memory of its buffers."),
    column<&Socket::cgroup_id>("cgroup_id", "", "Control group in which it was made; `cgroups` has its path."),
    column<&Socket::peer_inode>("peer_inode", "", "Unix: inode of the socket at the other end."),
    argument("namespace_of", Type::integer, "", "A process ID: sockets of its network namespace, such as those of a container.", Role::optional_argument),
};

template<class T> T read_as(std::span<const std::byte> bytes) {
  T out = {};
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
  return out;
}

void take_attribute(unsigned type, std::span<const std::byte> bytes, Socket& to) {
  switch (type) {
  case INET_DIAG_INFO: {
    const auto info = read_as<tcp_info>(bytes);
    to.retransmits = info.tcpi_total_retrans;
    to.round_trip_us = info.tcpi_rtt;
    to.congestion_window = info.tcpi_snd_cwnd;
    break;
  }
  case INET_DIAG_SKMEMINFO: {
    const auto numbers = read_as<std::array<uint32_t, SK_MEMINFO_VARS>>(bytes);
    to.memory = int64_t{numbers[SK_MEMINFO_RMEM_ALLOC]} + numbers[SK_MEMINFO_WMEM_ALLOC] + numbers[SK_MEMINFO_FWD_ALLOC];
    to.drops = numbers[SK_MEMINFO_DROPS];
    break;
  }
  case INET_DIAG_CGROUP_ID: to.cgroup_id = read_as<int64_t>(bytes); break;
  default: break;
  }
}

constexpr uint8_t tcp_listen = 10;

Socket read_internet(std::string_view protocol, std::span<const std::byte> bytes) {
  const auto from = read_as<inet_diag_msg>(bytes);
  Socket out = {.protocol = protocol, .state_number = from.idiag_state, .family = from.idiag_family};
  std::memcpy(out.local.data(), from.id.idiag_src, sizeof out.local);
  std::memcpy(out.peer.data(), from.id.idiag_dst, sizeof out.peer);
  out.local_port = ntohs(from.id.idiag_sport), out.peer_port = ntohs(from.id.idiag_dport);
  out.inode = from.idiag_inode, out.user_id = from.idiag_uid;
  const bool is_listening = protocol == "tcp" && from.idiag_state == tcp_listen;
  (is_listening ? out.backlog : out.receive_queue) = from.idiag_rqueue;
  (is_listening ? out.backlog_limit : out.send_queue) = from.idiag_wqueue;
  proc::for_each_attribute(bytes, sizeof(inet_diag_msg), [&](unsigned type, std::span<const std::byte> value) { take_attribute(type, value, out); });
  return out;
}

base::Status read_internet_sockets(const base::Fd& netlink, const Request& request, std::vector<Socket>& to) {
  inet_diag_req_v2 asked = {};
  asked.idiag_states = UINT32_MAX;
  const auto wants = [&](int extension) { asked.idiag_ext |= static_cast<uint8_t>(1 << (extension - 1)); };
  if (request.uses("retransmits") || request.uses("round_trip") || request.uses("congestion_window")) wants(INET_DIAG_INFO);
  if (request.uses("memory") || request.uses("drops")) wants(INET_DIAG_SKMEMINFO);
  for (const uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP})
    for (const uint8_t family : {AF_INET, AF_INET6}) {
      asked.sdiag_family = family, asked.sdiag_protocol = protocol;
      const std::string_view name = protocol == IPPROTO_TCP ? "tcp" : "udp";
      ACU_CHECK(proc::dump_sockets(netlink, std::as_bytes(std::span(&asked, 1)), [&](std::span<const std::byte> bytes) {
        if (bytes.size() >= sizeof(inet_diag_msg)) to.push_back(read_internet(name, bytes));
      }));
    }
  return {};
}

Socket read_unix(std::span<const std::byte> bytes) {
  const auto from = read_as<unix_diag_msg>(bytes);
  Socket out = {.protocol = from.udiag_type == SOCK_STREAM ? "stream" : from.udiag_type == SOCK_DGRAM ? "datagram" : "seqpacket", .state_number = from.udiag_state, .family = AF_UNIX};
  out.inode = from.udiag_ino;
  proc::for_each_attribute(bytes, sizeof from, [&](unsigned type, std::span<const std::byte> value) {
    if (type == UNIX_DIAG_NAME && !value.empty()) {
      out.path.emplace(reinterpret_cast<const char*>(value.data()), value.size());
      if (out.path->front() == '\0') out.path->front() = '@';
      if (out.path->back() == '\0') out.path->pop_back();
    }
    if (type == UNIX_DIAG_PEER) out.peer_inode = read_as<uint32_t>(value);
    if (type == UNIX_DIAG_RQLEN) {
      const auto queues = read_as<unix_diag_rqlen>(value);
      const bool is_listening = from.udiag_state == tcp_listen;
      (is_listening ? out.backlog : out.receive_queue) = queues.udiag_rqueue;
      (is_listening ? out.backlog_limit : out.send_queue) = queues.udiag_wqueue;
    }
  });
  return out;
}

base::Status read_unix_sockets(const base::Fd& netlink, std::vector<Socket>& to) {
  unix_diag_req asked = {};
  asked.sdiag_family = AF_UNIX;
  asked.udiag_states = UINT32_MAX;
  asked.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
  return proc::dump_sockets(netlink, std::as_bytes(std::span(&asked, 1)), [&](std::span<const std::byte> bytes) {
    if (bytes.size() >= sizeof(unix_diag_msg)) to.push_back(read_unix(bytes));
  });
}

void find_processes(const Request& request, std::vector<Socket>& of) {
  std::unordered_map<int64_t, int> owners;
  for_each_process(request, [&](int pid, const std::string&) {
    for (const uint32_t inode : proc::socket_inodes(pid)) owners.try_emplace(inode, pid);
  });
  std::unordered_map<int, std::string> names;
  for (Socket& socket : of) {
    const auto owner = socket.inode ? owners.find(socket.inode) : owners.end();
    if (owner == owners.end()) continue;
    socket.pid = owner->second;
    if (!request.uses("process")) continue;
    const auto [name, is_new] = names.try_emplace(owner->second);
    if (is_new) name->second = proc::name_of_process(owner->second);
    socket.process = name->second;
  }
}

base::Result<std::vector<Socket>> read_sockets(const Request& request) {
  base::Result<base::Fd> opened = base::Fd();
  if (const auto pid = request.number("namespace_of")) {
    if (*pid < 1 || *pid > INT32_MAX) return no_process(std::to_string(*pid));
    ACU_CHECK(proc::in_network_of(static_cast<int>(*pid), [&] { opened = proc::open_sock_diag(); }));
  } else {
    opened = proc::open_sock_diag();
  }
  ACU_TRY(const base::Fd netlink, std::move(opened));
  std::vector<Socket> out;
  ACU_CHECK(read_internet_sockets(netlink, request, out));
  ACU_CHECK(read_unix_sockets(netlink, out));
  if (request.uses("pid") || request.uses("process")) find_processes(request, out);
  return out;
}

} // namespace

const Table sockets = {.name = "sockets", .doc = "TCP, UDP and Unix sockets of a network namespace.",
                       .example = "select process, local_port, backlog, backlog_limit from sockets where state = 'listen' and protocol = 'tcp'", .columns = columns,
                       .read = rows_of<read_sockets>, .expected_rows = 5000};

} // namespace sql
