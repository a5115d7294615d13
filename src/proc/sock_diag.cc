#include "proc/sock_diag.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace proc {

base::Status in_network_of(int pid, const std::function<void()>& run) {
  const base::Fd network(::open(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  if (!network.valid()) return base::errno_error("cannot open the network namespace of process " + std::to_string(pid), errno);
  int error = 0;
  std::thread([&] {
    if (::setns(network.get(), CLONE_NEWNET) == 0) run();
    else error = errno;
  }).join();
  return error ? base::errno_error("cannot enter the network namespace of process " + std::to_string(pid), error) : base::Status();
}

base::Result<base::Fd> open_sock_diag() {
  base::Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink.valid()) return base::errno_error("cannot list sockets (sock_diag)", errno);
  return netlink;
}

base::Status dump_sockets(const base::Fd& netlink, std::span<const std::byte> request, const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::byte> asked(sizeof(nlmsghdr) + request.size());
  const nlmsghdr header = {.nlmsg_len = static_cast<uint32_t>(asked.size()), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = 0, .nlmsg_pid = 0};
  std::memcpy(asked.data(), &header, sizeof header);
  std::memcpy(asked.data() + sizeof header, request.data(), request.size());
  if (::send(netlink.get(), asked.data(), asked.size(), 0) < 0) return base::errno_error("cannot ask for sockets", errno);
  constexpr size_t room = 1 << 18;
  const auto bytes = std::make_unique_for_overwrite<nlmsghdr[]>(room / sizeof(nlmsghdr));
  for (;;) {
    const ssize_t n = ::recv(netlink.get(), bytes.get(), room, 0);
    if (n <= 0) return base::errno_error("cannot read the list of sockets", errno);
    auto left = static_cast<unsigned>(n);
    for (const nlmsghdr* m = bytes.get(); NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_type == NLMSG_DONE) return {};
      if (m->nlmsg_type == NLMSG_ERROR) {
        const int error = -static_cast<const nlmsgerr*>(NLMSG_DATA(m))->error;
        return error == ENOENT ? base::Status() : base::errno_error("the kernel does not list these sockets (sock_diag)", error); // ENOENT: there is no such protocol
      }
      take({static_cast<const std::byte*>(NLMSG_DATA(m)), NLMSG_PAYLOAD(m, 0)});
    }
  }
}

} // namespace proc
