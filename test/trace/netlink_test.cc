// Messages of netlink: heads by name, several in a buffer, lengths that are wrong, and bytes that end anywhere.
#include "trace/netlink.h"

#include <gtest/gtest.h>

namespace trace {
namespace {

constexpr uint32_t route = 0, diagnosis = 4; // NETLINK_ROUTE, NETLINK_SOCK_DIAG

template<class... T> std::string packed(T... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}
std::string message(uint32_t length, uint16_t type, uint16_t flags, std::string_view rest = {}) {
  std::string out = packed(length, type, flags, 7u, 42) + std::string(rest);
  out.resize((out.size() + 3) / 4 * 4);
  return out;
}
std::string text(const std::string& bytes, uint64_t length, std::optional<uint32_t> protocol = std::nullopt, uint32_t shown = 32) {
  return netlink_text(std::as_bytes(std::span(bytes)), length, protocol, shown);
}
std::string whole(const std::string& bytes, std::optional<uint32_t> protocol = std::nullopt) { return text(bytes, bytes.size(), protocol); }

TEST(Netlink, OneHead) {
  EXPECT_EQ(whole(message(16, 3, 2)), "{nlmsg_len=16, nlmsg_type=NLMSG_DONE, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=7, nlmsg_pid=42}");
}

TEST(Netlink, TypesAreThoseOfTheProtocol) {
  EXPECT_NE(whole(message(16, 18, 1), route).find("nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST,"), std::string::npos);
  EXPECT_NE(whole(message(16, 20, 1), diagnosis).find("nlmsg_type=SOCK_DIAG_BY_FAMILY"), std::string::npos);
  EXPECT_NE(whole(message(16, 20, 1), 9).find("nlmsg_type=0x14"), std::string::npos);
  EXPECT_NE(whole(message(16, 18, 1)).find("nlmsg_type=0x12"), std::string::npos) << "the protocol is not known";
}

// The upper bits mean one thing for requests that get, another for those that make: linux/netlink.h.
TEST(Netlink, FlagsAreThoseOfTheType) {
  EXPECT_NE(whole(message(16, 18, 0x301), route).find("NLM_F_REQUEST|NLM_F_DUMP"), std::string::npos) << whole(message(16, 18, 0x301), route);
  EXPECT_NE(whole(message(16, 16, 0x601), route).find("NLM_F_REQUEST|NLM_F_EXCL|NLM_F_CREATE"), std::string::npos) << whole(message(16, 16, 0x601), route);
  EXPECT_NE(whole(message(16, 17, 0x301), route).find("NLM_F_REQUEST|0x300"), std::string::npos) << "RTM_DELLINK";
}

TEST(Netlink, WhatIsBehindAHead) {
  EXPECT_EQ(whole(message(20, 3, 0, "abcd")), "[{nlmsg_len=20, nlmsg_type=NLMSG_DONE, nlmsg_flags=0, nlmsg_seq=7, nlmsg_pid=42}, \"abcd\"]");
  EXPECT_EQ(text(message(24, 3, 0, "abcdefgh"), 24, std::nullopt, 5), "[{nlmsg_len=24, nlmsg_type=NLMSG_DONE, nlmsg_flags=0, nlmsg_seq=7, nlmsg_pid=42}, \"abcde\"...]");
}

TEST(Netlink, SeveralAreAlignedToFourBytes) {
  const std::string two = message(17, 3, 0, "x") + message(16, 3, 0);
  const std::string told = whole(two);
  EXPECT_TRUE(told.starts_with("[[{nlmsg_len=17,")) << told;
  EXPECT_NE(told.find("\"x\"], {nlmsg_len=16,"), std::string::npos) << told;
  EXPECT_FALSE(told.ends_with("...]"));
}

TEST(Netlink, TheLastNeedsNoPadding) {
  const std::string one = message(17, 3, 0, "x").substr(0, 17);
  EXPECT_TRUE(whole(one).ends_with(", \"x\"]")) << whole(one);
}

TEST(Netlink, WhatWasNotCopiedIsCut) {
  EXPECT_TRUE(text(message(100, 3, 0, "abcd"), 100).ends_with("\"abcd\"...]")) << text(message(100, 3, 0, "abcd"), 100);
  EXPECT_TRUE(text(message(16, 3, 0), 200).ends_with(", ...]"));
}

TEST(Netlink, WhatIsNoMessageIsEmpty) {
  EXPECT_EQ(whole(""), "");
  EXPECT_EQ(whole(message(16, 3, 0).substr(0, 15)), "");
  EXPECT_EQ(text(message(16, 3, 0), 15), "") << "the call said less";
  for (uint32_t wrong : {0u, 1u, 15u}) EXPECT_EQ(whole(message(wrong, 3, 0)), "") << wrong;
}

TEST(Netlink, LengthsMayBeWrong) {
  for (uint32_t wrong : {0x7fffffffu, 0x80000000u, 0xfffffffdu, 0xffffffffu}) {
    const std::string bytes = message(wrong, 3, 0, "abcdefgh");
    EXPECT_NE(whole(bytes).find("nlmsg_len=" + std::to_string(wrong)), std::string::npos);
  }
}

TEST(Netlink, BytesMayEndAnywhere) {
  const std::string all = message(20, 18, 0x301, "abcd") + message(33, 3, 2, "0123456789abcdefg") + message(16, 2, 0);
  for (size_t size = 0; size <= all.size(); size++)
    for (uint32_t shown : {0u, 1u, 1000u})
      for (std::optional<uint32_t> protocol : {std::optional<uint32_t>(), std::optional(route), std::optional(diagnosis)}) {
        const std::string told = text(all.substr(0, size), all.size(), protocol, shown);
        EXPECT_EQ(told.empty(), size < 16) << size;
      }
}

} // namespace
} // namespace trace
