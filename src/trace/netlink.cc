// Messages of netlink sockets: the head of each (struct nlmsghdr of linux/netlink.h) by name, what is behind it as bytes.
#include "trace/netlink.h"

#include "trace/text.h"

#include "spec/flag_sets.h"

#include <algorithm>

namespace trace {

using base::ByteSpan;

namespace {

constexpr uint32_t route = 0, diagnosis = 4; // NETLINK_ROUTE, NETLINK_SOCK_DIAG
constexpr size_t head = 16;
constexpr uint16_t first_of_protocol = 16; // smaller types are of netlink itself
constexpr uint16_t by_family = 20;

std::string flags(std::string_view set, uint64_t value) { return spec::flags_text(*spec::find_flag_set(set), value); }

std::string type_text(uint16_t type, std::optional<uint32_t> protocol) {
  if (type < first_of_protocol) return flags("netlink_type", type);
  if (protocol == diagnosis && type == by_family) return "SOCK_DIAG_BY_FAMILY";
  return protocol == route ? flags("route_type", type) : hexadecimal(type);
}

// The upper bits mean one thing for requests that get, and another for those that make. Of route messages the last two bits of the
// type tell which: new, delete, get, set.
std::string_view flags_of(uint16_t type, std::optional<uint32_t> protocol) {
  if (protocol == diagnosis && type == by_family) return "netlink_get_flags";
  if (type < first_of_protocol || protocol != route) return "netlink_flags";
  switch (type % 4) {
  case 0: return "netlink_new_flags";
  case 2: return "netlink_get_flags";
  default: return "netlink_flags";
  }
}

std::string one(ByteSpan bytes, std::optional<uint32_t> protocol, uint32_t shown) {
  const auto length = number_at<uint32_t>(bytes, 0);
  const auto type = number_at<uint16_t>(bytes, 4), bits = number_at<uint16_t>(bytes, 6);
  auto number = [&](size_t at) { return std::to_string(number_at<uint32_t>(bytes, at)); };
  std::string out = "{nlmsg_len=" + number(0) + ", nlmsg_type=" + type_text(type, protocol) + ", nlmsg_flags=" + flags(flags_of(type, protocol), bits) +
                    ", nlmsg_seq=" + number(8) + ", nlmsg_pid=" + std::to_string(number_at<int32_t>(bytes, 12)) + "}";
  if (length <= head || bytes.size() <= head) return out;
  const ByteSpan rest = bytes.subspan(head, std::min<size_t>(length, bytes.size()) - head);
  const size_t part = std::min<size_t>(rest.size(), shown);
  return "[" + out + ", " + quoted(rest.first(part), length - head > part) + "]";
}

} // namespace

std::string netlink_text(ByteSpan bytes, uint64_t length, std::optional<uint32_t> protocol, uint32_t shown) {
  if (bytes.size() < head || length < head) return {};
  std::string out;
  size_t at = 0, count = 0;
  while (at + head <= bytes.size()) {
    const auto size = number_at<uint32_t>(bytes, at);
    if (size < head) break;
    out += (count++ ? ", " : "") + one(bytes.subspan(at), protocol, shown);
    at += (size_t{size} + 3) / 4 * 4;
  }
  if (!count) return {};
  const bool is_cut = at < length;
  return count > 1 || is_cut ? "[" + out + (is_cut ? ", ...]" : "]") : out;
}

} // namespace trace
