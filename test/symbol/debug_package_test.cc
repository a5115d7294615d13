// Names of packages: distributions made of a few files each.
#include "symbol/debug_package.h"

#include "scratch.h"

#include <gtest/gtest.h>

namespace symbol {
namespace {

std::vector<std::string> ask(const Scratch& root, std::vector<CodeFile> files) {
  return debug_packages(files, root.folder());
}

TEST(DebugPackage, Debian) {
  Scratch root;
  ASSERT_TRUE(root.run(
      "mkdir -p etc var/lib/dpkg/info && cd var/lib/dpkg/info && "
      "printf '/.\\n/lib/libc.so.6\\n' > libc6:amd64.list && echo /usr/bin/ls > coreutils.list && "
      "echo /usr/bin/python3.11 > python3.11-minimal.list && echo /usr/bin/ls > coreutils.md5sums && "
      "echo /boot/vmlinuz-6.1 > linux-image-6.1.list"));
  root.write("etc/os-release", "NAME=x\nID=debian\nVERSION_CODENAME=bookworm\n");
  std::vector<CodeFile> files = {{"/usr/lib/libc.so.6", ""},
                                 {"/bin/ls", ""},
                                 {"/usr/bin/python3.11", ""},
                                 {"/opt/own", ""},
                                 {"/boot/vmlinuz-6.1", ""}};
  EXPECT_EQ(ask(root, files),
            (std::vector<std::string>{"apt install libc6-dbg",
                                      "apt install coreutils-dbgsym (of the archive `debian-debug`, suite bookworm-debug)",
                                      "apt install python3.11-dbg", "", "apt install linux-image-6.1-dbg"}));
  root.write("var/lib/dpkg/info/libc6-dbg:amd64.list", "");
  EXPECT_EQ(ask(root, files)[0],
            "libc6-dbg is installed, but of another build: apt install --only-upgrade libc6 libc6-dbg");
  root.write("etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=jammy\n");
  EXPECT_EQ(ask(root, files)[1],
            "apt install coreutils-dbgsym (of the archive `ddebs`, suite jammy)");
  EXPECT_EQ(ask(root, files)[4],
            "apt install linux-image-6.1-dbgsym (of the archive `ddebs`, suite jammy)");
}

TEST(DebugPackage, OthersByBuildId) {
  Scratch root;
  ASSERT_TRUE(root.run("mkdir -p usr/lib"));
  auto one = [&](const char* release) {
    root.write("usr/lib/os-release", release);
    return ask(root, {{"/bin/x", "12ab34"}})[0];
  };
  EXPECT_EQ(one("ID=fedora\n"), "dnf --enablerepo='*debug*' install /usr/lib/debug/.build-id/12/ab34.debug");
  EXPECT_EQ(one("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), one("ID=fedora\n"));
  EXPECT_EQ(one("ID=opensuse-leap\nID_LIKE='suse opensuse'\n"),
            "zypper install --plus-content debug 'debuginfo(build-id)=12ab34'");
  EXPECT_EQ(one("ID=own\n"), "");
  EXPECT_EQ(ask(root, {{"/bin/x", ""}})[0], "");
}

// Nothing to read, and nothing that may be read.
TEST(DebugPackage, NoDistribution) {
  Scratch root;
  EXPECT_EQ(ask(root, {{"/bin/x", "12"}}), std::vector<std::string>{""});
  ASSERT_TRUE(root.run("mkdir -p etc && mkfifo etc/os-release"));
  EXPECT_EQ(ask(root, {{"/bin/x", "12"}}), std::vector<std::string>{""});
}

} // namespace
} // namespace symbol
