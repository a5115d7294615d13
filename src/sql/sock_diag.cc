#include "sql/sock_diag.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <vector>

namespace sql {

base::Status dump_sockets(const base::Fd& netlink, std::span<const std::byte> request, const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::byte> asked(sizeof(nlmsghdr) + request.size());
  const nlmsghdr header = {.nlmsg_len = static_cast<uint32_t>(asked.size()), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = 0, .nlmsg_pid = 0};
  std::memcpy(asked.data(), &header, sizeof header);
  std::memcpy(asked.data() + sizeof header, request.data(), request.size());
  if (::send(netlink.get(), asked.data(), asked.size(), 0) < 0) return base::errno_error("cannot ask for sockets", errno);
  for (;;) {
    alignas(nlmsghdr) static std::array<std::byte, 1 << 18> bytes;
    const ssize_t n = ::recv(netlink.get(), bytes.data(), bytes.size(), 0);
    if (n <= 0) return base::errno_error("cannot read the list of sockets", errno);
    auto left = static_cast<unsigned>(n);
    for (const auto* m = reinterpret_cast<const nlmsghdr*>(bytes.data()); NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_type == NLMSG_DONE) return {};
      if (m->nlmsg_type == NLMSG_ERROR) {
        const int error = -static_cast<const nlmsgerr*>(NLMSG_DATA(m))->error;
        return error == ENOENT ? base::Status() : base::errno_error("the kernel does not list these sockets (sock_diag)", error); // ENOENT: there is no such protocol
      }
      take({static_cast<const std::byte*>(NLMSG_DATA(m)), NLMSG_PAYLOAD(m, 0)});
    }
  }
}

} // namespace sql
