// Addresses of servers, as people write them.
#include "net/http_client.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(Endpoint, IsReadWithAndWithoutAPort) {
  const auto plain = read_endpoint("db.example", 8123);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "db.example");
  EXPECT_EQ(plain->port, 8123);
  const auto v6 = read_endpoint("[::1]:80", 1);
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 80);
  EXPECT_EQ(read_endpoint("[fe80::1]", 7)->host, "fe80::1");
  for (const char* wrong : {"", ":1", "host:", "host:0", "host:65536", "host:x", "a b", "a@b", "a/b", "[::1", "ho\nst"}) EXPECT_FALSE(read_endpoint(wrong, 1)) << wrong;
}

TEST(Url, HasASchemeAndATarget) {
  const auto url = read_url("https://h:4318/base?x=1");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->to.is_encrypted);
  EXPECT_EQ(url->to.shown(), "https://h:4318");
  EXPECT_EQ(url->target, "/base?x=1");
  EXPECT_EQ(read_url("http://h")->to.port, 80);
  EXPECT_EQ(read_url("https://h")->to.port, 443);
  EXPECT_EQ(read_url("http://h", 7071)->to.port, 7071);
  EXPECT_EQ(read_url("http://h")->target, "");
  EXPECT_EQ(read_url("http://h?x")->target, "/?x");
  for (const char* wrong : {"h:1", "ftp://h", "http://", "http://user@h", "http://h/a b", "http://h/#part", "http://h/\r\nX: y", "http:///x"}) EXPECT_FALSE(read_url(wrong)) << wrong;
}

} // namespace
} // namespace net
