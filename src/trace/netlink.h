// Messages of netlink sockets as text.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trace {

// "{nlmsg_len=16, nlmsg_type=NLMSG_DONE, …}", with what is behind the head "[{nlmsg_len=20, …}, "\0\0\0\0"]", several of them in one
// more pair of brackets. `length`: of all there was, which may be more than `bytes`. `protocol`: NETLINK_ROUTE is 0; nullopt: not
// known. `shown`: bytes behind each head. Empty: no such messages.
std::string netlink_text(base::ByteSpan bytes, uint64_t length, std::optional<uint32_t> protocol, uint32_t shown);

} // namespace trace
