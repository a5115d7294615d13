// Sockets as the kernel lists them (sock_diag(7)): one message of a dump for each.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstddef>
#include <functional>
#include <linux/rtnetlink.h>
#include <span>

namespace proc {

// Runs something in the network namespace of a process: what it opens there stays in that namespace. A thread of its own enters it.
base::Status in_network_of(int pid, const std::function<void()>& run);

// A socket for the dumps below, in the network namespace of the thread that asks.
base::Result<base::Fd> open_sock_diag();

// A request of its own kind behind the header, such as inet_diag_req_v2; `take` gets what follows the header of each answer.
base::Status dump_sockets(const base::Fd& netlink, std::span<const std::byte> request, const std::function<void(std::span<const std::byte>)>& take);

// The attributes behind the first `begin` bytes of an answer.
template<class Take> void for_each_attribute(std::span<const std::byte> answer, size_t begin, Take take) {
  if (answer.size() <= NLMSG_ALIGN(begin)) return;
  auto left = static_cast<int>(answer.size() - NLMSG_ALIGN(begin));
  for (const auto* a = reinterpret_cast<const rtattr*>(answer.data() + NLMSG_ALIGN(begin)); RTA_OK(a, left); a = RTA_NEXT(a, left))
    take(a->rta_type, std::span(static_cast<const std::byte*>(RTA_DATA(a)), RTA_PAYLOAD(a)));
}

} // namespace proc
