// What descriptors are known to refer to, from the calls that make, double and close them; and the ends of sockets.
#include "trace/descriptors.h"

#include "spec/syscalls.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trace {
namespace {

constexpr uint32_t pid = 0x3ffffff; // above the kernel's limit: /proc knows nothing of it
constexpr uint64_t at_cwd = static_cast<uint32_t>(AT_FDCWD);

base::ByteSpan bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class DescriptorsTest : public testing::Test {
protected:
  Call call(std::string_view name, std::array<uint64_t, 6> arguments, int64_t result, uint32_t of = pid) {
    Call c;
    c.number = spec::syscall_named(name), c.arguments = arguments, c.result = result, c.pid = c.tid = of;
    return c;
  }
  void made(const Call& c) { seen.learn(c), seen.forget(c); }
  void open(std::string_view path, int fd, uint32_t of = pid) {
    Call c = call("open", {1, 0}, fd, of);
    c.copied[0] = bytes(path);
    made(c);
  }
  std::string path(int fd, uint32_t of = pid) { return seen.path(of, fd); }
  SeenDescriptors seen;
};

TEST_F(DescriptorsTest, FilesAreKnownByTheirPath) {
  open("/etc/passwd", 3);
  EXPECT_EQ(path(3), "/etc/passwd");
  EXPECT_EQ(path(4), "");
  EXPECT_EQ(path(3, 4711u << 12), "") << "of another process";
  made(call("close", {3}, 0));
  EXPECT_EQ(path(3), "");
}

TEST_F(DescriptorsTest, ACallThatFailedChangesNothing) {
  open("/a", 3);
  Call c = call("open", {1, 0}, -2);
  c.copied[0] = bytes("/b");
  made(c);
  made(call("close", {3}, -9));
  EXPECT_EQ(path(3), "/a");
}

TEST_F(DescriptorsTest, RelativePathsAreOfTheirFolder) {
  open("/srv", 3);
  Call c = call("openat", {3, 1, 0}, 4);
  c.copied[1] = bytes("data/../x");
  made(c);
  EXPECT_EQ(path(4), "/srv/x");
  c = call("openat", {at_cwd, 1, 0}, 5);
  c.copied[1] = bytes("y");
  made(c);
  EXPECT_EQ(path(5), "") << "the folder of the process is not known";
}

TEST_F(DescriptorsTest, ANumberIsUsedAgain) {
  open("/a", 3);
  Call c = call("open", {1, 0}, 3); // the close between them was not seen
  made(c);
  EXPECT_EQ(path(3), "") << "rather nothing than the file before";
}

// The probe copies so many bytes of a path; /proc has all of it.
TEST_F(DescriptorsTest, APathThatWasCutIsNone) {
  Call c = call("open", {1, 0}, 3);
  const std::string long_path = "/" + std::string(255, 'x');
  c.copied[0] = bytes(long_path), c.is_cut[0] = true;
  made(c);
  EXPECT_EQ(path(3), "");
}

// open_by_handle_at(mount, handle, flags): what it takes is no path.
TEST_F(DescriptorsTest, AHandleIsNoPath) {
  open("/mnt", 3);
  Call c = call("open_by_handle_at", {3, 1, 0}, 4);
  c.copied[1] = bytes(std::string_view("\x08\0\0\0\x01\0\0\0abcdefgh", 16));
  made(c);
  EXPECT_EQ(path(4), "");
}

TEST_F(DescriptorsTest, Doubles) {
  open("/a", 3);
  made(call("dup", {3}, 4)), made(call("dup2", {3, 5}, 5)), made(call("dup3", {3, 6, 0}, 6));
  made(call("fcntl", {3, F_DUPFD, 0}, 7)), made(call("fcntl", {3, F_DUPFD_CLOEXEC, 0}, 8));
  for (int fd : {4, 5, 6, 7, 8}) EXPECT_EQ(path(fd), "/a") << fd;
  open("/b", 9);
  made(call("fcntl", {3, F_GETFD}, 9));
  EXPECT_EQ(path(9), "/b") << "its result is no descriptor";
  made(call("dup2", {12, 9}, 9));
  EXPECT_EQ(path(9), "") << "of what is not known";
}

TEST_F(DescriptorsTest, PipesAndSockets) {
  // scripts/trace.bt: the type of the file (S_IFIFO, S_IFSOCK) in the highest four bits, its inode below.
  const std::string two("\3\0\0\0\4\0\0\0", 8);
  Call c = call("pipe2", {1, 0, 0, 0, 0, uint64_t{1} << 60 | 77}, 0);
  c.copied[0] = bytes(two);
  made(c);
  EXPECT_EQ(path(3), "pipe:[77]");
  EXPECT_EQ(path(4), "pipe:[77]");
  made(call("socket", {2, 1, 0, 0, 0, uint64_t{12} << 60 | 78}, 5));
  EXPECT_EQ(path(5), "socket:[78]");
  c = call("socketpair", {1, 1, 0, 1, uint64_t{12} << 60 | 80, uint64_t{12} << 60 | 79}, 0);
  const std::string pair("\6\0\0\0\7\0\0\0", 8);
  c.copied[3] = bytes(pair);
  made(c);
  EXPECT_EQ(path(6), "socket:[79]");
  EXPECT_EQ(path(7), "socket:[80]");
  made(call("memfd_create", {1, 0, 0, 0, 0, uint64_t{8} << 60 | 80}, 7));
  EXPECT_EQ(path(7), "") << "/proc has a better name of others";
}

TEST_F(DescriptorsTest, RangesAreClosed) {
  for (int fd = 3; fd < 10; fd++) open("/f" + std::to_string(fd), fd);
  made(call("close_range", {4, 6, 0}, 0));
  EXPECT_EQ(path(3), "/f3");
  for (int fd : {4, 5, 6}) EXPECT_EQ(path(fd), "");
  EXPECT_EQ(path(7), "/f7");
  made(call("close_range", {7, 0xffffffff, 0}, 0));
  EXPECT_EQ(path(9), "");
  EXPECT_EQ(path(3), "/f3");
}

TEST_F(DescriptorsTest, ANewProgramHasTheStandardOnes) {
  open("/in", 0), open("/err", 2), open("/a", 3);
  made(call("execve", {}, 0));
  EXPECT_EQ(path(0), "/in");
  EXPECT_EQ(path(2), "/err");
  EXPECT_EQ(path(3), "") << "it may be closed: /proc tells";
}

TEST_F(DescriptorsTest, AForkHasThoseOfItsParent) {
  constexpr uint32_t child = pid - 1;
  open("/a", 3);
  made(call("fork", {}, child));
  EXPECT_EQ(path(3, child), "/a");
  made(call("close", {3}, 0, child));
  EXPECT_EQ(path(3, child), "");
  EXPECT_EQ(path(3), "/a");
  made(call("exit_group", {0}, 0));
  EXPECT_EQ(path(3), "");
}

// A thread has the descriptors of its process; its number is that of no process.
TEST_F(DescriptorsTest, AThreadIsNoProcess) {
  constexpr uint32_t thread = pid - 1;
  constexpr uint64_t clone_thread = 0x10000;
  open("/a", 3);
  made(call("clone", {clone_thread | 0x100 | 0x200 | 0x400 | 0x800}, thread));
  EXPECT_EQ(path(3, thread), "");
  Call c = call("clone3", {1, 64}, thread);
  const uint64_t flags[] = {clone_thread};
  c.copied[0] = std::as_bytes(std::span(flags));
  made(c);
  EXPECT_EQ(path(3, thread), "");
  made(call("clone", {17 /* SIGCHLD */}, thread));
  EXPECT_EQ(path(3, thread), "/a") << "a process";
}

// What there is no room for must not keep the name of what was there before.
TEST_F(DescriptorsTest, ManyDescriptorsHaveNoNamesOfOthers) {
  for (uint32_t i = 0; i < 70'000; i++) open("/a", static_cast<int>(i % 1000), pid - i / 1000);
  open("/b", 5, pid - 1);
  const std::string now = path(5, pid - 1);
  EXPECT_TRUE(now == "/b" || now.empty()) << now;
  made(call("dup2", {9, 6}, 6, pid - 2));
  const std::string doubled = path(6, pid - 2);
  EXPECT_TRUE(doubled == "/a" || doubled.empty()) << doubled;
  open("/c", 7, pid - 69);
  EXPECT_EQ(path(7, pid - 69), "/c");
}

TEST_F(DescriptorsTest, WithoutAllCallsOnlyProcIsBelieved) {
  seen.keep(false);
  open("/a", 3);
  EXPECT_EQ(path(3), "");
}

TEST_F(DescriptorsTest, OwnDescriptorsFromProc) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto self = static_cast<uint32_t>(::getpid());
  EXPECT_EQ(seen.path(self, fd), "/dev/null");
  seen.describe(true);
  EXPECT_EQ(seen.shown(self, fd), "/dev/null<char 1:3>");
  ::close(fd);
  EXPECT_EQ(seen.path(self, fd), "/dev/null") << "until its close is seen";
}

TEST_F(DescriptorsTest, WhatANewProgramWillHave) {
  const int kept = ::open("/dev/null", O_RDONLY), closed = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const auto self = static_cast<uint32_t>(::getpid());
  seen.look_at(self, SeenDescriptors::Of::after_execve);
  ::close(kept), ::close(closed);
  EXPECT_EQ(seen.path(self, kept), "/dev/null");
  EXPECT_EQ(seen.path(self, closed), "");
}

TEST_F(DescriptorsTest, NetlinkSocketsHaveTheirProtocol) {
  const Call made_one = call("socket", {AF_NETLINK, SOCK_RAW, 4}, 3);
  seen.learn_netlink(made_one);
  EXPECT_EQ(seen.netlink_protocol(pid, 3), 4u);
  EXPECT_EQ(seen.netlink_protocol(pid, 4), std::nullopt);
  seen.learn_netlink(call("close", {3}, 0));
  EXPECT_EQ(seen.netlink_protocol(pid, 3), std::nullopt);
  seen.learn_netlink(made_one), seen.learn_netlink(call("socket", {AF_INET, SOCK_STREAM, 0}, 3));
  EXPECT_EQ(seen.netlink_protocol(pid, 3), std::nullopt) << "another socket";
  seen.learn_netlink(call("socket", {AF_NETLINK, SOCK_RAW, 4}, -13));
  EXPECT_EQ(seen.netlink_protocol(pid, -13), std::nullopt);
}

// ---- the ends of sockets

// The words of a detail record: family, type and protocol; ports; the local address, the remote one.
std::array<uint64_t, 6> words(uint64_t family, uint64_t type, uint64_t protocol, uint16_t here, uint16_t there) {
  return {family | type << 16 | protocol << 32, here | uint64_t{htons(there)} << 16, 0, 0, 0, 0};
}
uint64_t ipv4(const char* text) {
  in_addr a = {};
  ::inet_pton(AF_INET, text, &a);
  return a.s_addr;
}

TEST(SocketsTest, EndsByProtocol) {
  Sockets s;
  auto w = words(AF_INET, SOCK_STREAM, IPPROTO_TCP, 80, 5000);
  w[2] = ipv4("127.0.0.1"), w[4] = ipv4("10.0.0.9");
  s.learn(7, w);
  EXPECT_EQ(s.text(7, pid), "TCP:[127.0.0.1:80->10.0.0.9:5000]");
  w = words(AF_INET, SOCK_DGRAM, IPPROTO_UDP, 53, 0);
  w[2] = ipv4("0.0.0.0");
  s.learn(8, w);
  EXPECT_EQ(s.text(8, pid), "UDP:[0.0.0.0:53]") << "it is not connected";
  s.learn(9, words(AF_INET6, SOCK_STREAM, IPPROTO_TCP, 443, 0));
  EXPECT_EQ(s.text(9, pid), "TCPv6:[[::]:443]");
  s.learn(10, words(AF_INET, SOCK_STREAM, IPPROTO_TCP, 0, 0));
  EXPECT_EQ(s.text(10, pid), "TCP:[10]") << "it has no ends yet";
  s.learn(11, words(AF_INET, SOCK_RAW, 1, 0, 0));
  EXPECT_EQ(s.text(11, pid), "RAW:[11]");
}

TEST(SocketsTest, UnixSocketsHavePeersAndPaths) {
  Sockets s;
  auto w = words(AF_UNIX, SOCK_STREAM, 0, 0, 0);
  w[4] = 18;
  s.learn(17, w);
  s.learn(18, words(AF_UNIX, SOCK_STREAM, 0, 0, 0));
  EXPECT_EQ(s.text(17, pid), "UNIX-STREAM:[17->18]");
  EXPECT_EQ(s.text(18, pid), "UNIX-STREAM:[18->17]") << "it is told of one of them";
  s.set_path(17, "/run/x");
  EXPECT_EQ(s.text(17, pid), "UNIX-STREAM:[17->18,\"/run/x\"]");
  s.learn(19, words(AF_UNIX, SOCK_DGRAM, 0, 0, 0));
  EXPECT_EQ(s.text(19, pid), "UNIX:[19]");
}

TEST(SocketsTest, UnknownOnesAreEmpty) {
  Sockets s;
  EXPECT_EQ(s.text(uint64_t{1} << 60, pid), "");
  s.learn(5, words(99, 1, 0, 0, 0));
  EXPECT_EQ(s.text(5, pid), "");
}

TEST(SocketsTest, OlderSocketsFromProc) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  SeenDescriptors seen;
  seen.describe(true);
  EXPECT_EQ(seen.shown(static_cast<uint32_t>(::getpid()), fd), "TCP:[127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "]");
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const std::string one = seen.path(static_cast<uint32_t>(::getpid()), pair[0]), other = seen.path(static_cast<uint32_t>(::getpid()), pair[1]);
  auto inode = [](const std::string& name) { return name.substr(8, name.size() - 9); };
  EXPECT_EQ(seen.shown(static_cast<uint32_t>(::getpid()), pair[0]), "UNIX-STREAM:[" + inode(one) + "->" + inode(other) + "]");
  for (int f : {fd, pair[0], pair[1]}) ::close(f);
}

} // namespace
} // namespace trace
