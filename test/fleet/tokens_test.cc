// The file of tokens: what changes in it is read again; a mistake is reported and leaves the tokens as they were.
#include "fleet/protocol.h"
#include "fleet/tokens.h"
#include "scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

class FleetTokens : public testing::Test {
protected:
  FleetTokens() {
    write("web1 " + first + "\n");
    auto opened = fleet::Tokens::open(scratch.path("agents"), [this](const std::string& text) { printed.push_back(text); });
    EXPECT_TRUE(opened.ok());
    tokens = std::move(*opened);
  }
  // As an editor does: another inode.
  void write(const std::string& text) {
    scratch.write("new", text);
    ASSERT_EQ(::chmod(scratch.path("new").c_str(), 0600), 0);
    ASSERT_EQ(::rename(scratch.path("new").c_str(), scratch.path("agents").c_str()), 0);
  }
  const Scratch scratch;
  const std::string first = std::string(32, 'a'), second = std::string(32, 'b');
  std::vector<std::string> printed;
  std::unique_ptr<fleet::Tokens> tokens;
};

TEST_F(FleetTokens, AreReadAgain) {
  write("web1 " + first + "\nweb2 " + second + "\n");
  EXPECT_EQ(tokens->host_of(second), "web2");
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_NE(printed[0].find("again: 2 tokens"), std::string::npos) << printed[0];
}

TEST_F(FleetTokens, AMistakeIsReportedOnceAndChangesNothing) {
  write("web1 short\n");
  for (int i = 0; i < 3; i++) tokens->refresh();
  EXPECT_EQ(tokens->host_of(first), "web1");
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_NE(printed[0].find("line 1: the token has fewer than 32 characters"), std::string::npos) << printed[0];
  EXPECT_NE(printed[0].find("\nkeeping the previous 1 token"), std::string::npos) << printed[0];
  ASSERT_EQ(::unlink(scratch.path("agents").c_str()), 0);
  tokens->refresh();
  EXPECT_EQ(tokens->host_of(first), "web1");
  write("web1 " + second + "\n");
  tokens->refresh();
  EXPECT_EQ(tokens->host_of(first), "");
  EXPECT_EQ(tokens->host_of(second), "web1");
  EXPECT_NE(printed.back().find("again: 1 token"), std::string::npos) << printed.back();
}

TEST_F(FleetTokens, PermissionsCount) {
  ASSERT_EQ(::chmod(scratch.path("agents").c_str(), 0644), 0);
  tokens->refresh();
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_NE(printed[0].find("can be read or written by others"), std::string::npos) << printed[0];
  EXPECT_EQ(tokens->host_of(first), "web1");
}

TEST(FleetProtocol, HasANameAndAVersion) {
  EXPECT_EQ(fleet::protocol_name, "fleet/");
  EXPECT_TRUE(fleet::protocol.starts_with(fleet::protocol_name));
}

} // namespace
