// Names of the options of sockets, by the level that is beside them. Linux's user API: asm-generic/socket.h, linux/in.h, linux/in6.h,
// linux/tcp.h, linux/udp.h, linux/netlink.h, linux/if_packet.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

// "SO_REUSEADDR"; empty: there is none.
std::string_view socket_option(uint32_t level, uint32_t number);

} // namespace spec
