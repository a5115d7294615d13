// Control groups in made up hierarchies: plain folders, named by a list of mounts.
#include "symbol/cgroups.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace symbol {
namespace {

class CgroupsTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-cgroups-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    make("/a b");
    make("/memory");
    make("/memory/system.slice");
    std::string mounts = "tmpfs /sys tmpfs rw 0 0\ncgroup " + root + "/memory cgroup rw 0 0\ncgroup2 " + root +
                         "/a\\040b cgroup2 rw 0 0\ncgroup2 " + root + "/again cgroup2 rw 0 0\n";
    FILE* file = std::fopen((root + "/mounts").c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(mounts.c_str(), file);
    std::fclose(file);
  }
  void TearDown() override { ASSERT_EQ(std::system(("rm -r '" + root + "'").c_str()), 0); }

  uint64_t make(const std::string& folder) {
    ::mkdir((root + folder).c_str(), 0755);
    struct stat st = {};
    ::stat((root + folder).c_str(), &st);
    return st.st_ino;
  }

  std::string root;
};

std::string found(Cgroups& groups, uint64_t id, const std::string& filter = "*") {
  std::string out;
  for (const CgroupPath& p : groups.find(id, filter)) out += std::string(p.hierarchy) + ":" + std::string(p.path) + ";";
  return out;
}

TEST_F(CgroupsTest, PathsByHierarchy) {
  Cgroups groups(root + "/mounts");
  EXPECT_EQ(found(groups, make("/a b")), "unified:/;");
  EXPECT_EQ(found(groups, make("/memory/system.slice")), "memory:/system.slice;");
  EXPECT_EQ(found(groups, make("/memory/system.slice"), "mem*"), "memory:/system.slice;");
  EXPECT_EQ(found(groups, make("/memory/system.slice"), "unified"), "");
  EXPECT_EQ(found(groups, 1), "");
}

TEST_F(CgroupsTest, NewOnesAreFoundAndOldOnesKept) {
  Cgroups groups(root + "/mounts");
  uint64_t old = make("/a b/old");
  EXPECT_EQ(found(groups, old), "unified:/old;");
  uint64_t young = make("/a b/young"); // before the old one goes, whose number would be used again
  ::rmdir((root + "/a b/old").c_str());
  ::usleep(150'000); // longer than between two walks
  EXPECT_EQ(found(groups, young), "unified:/young;");
  EXPECT_EQ(found(groups, old), "unified:/old;");
}

TEST_F(CgroupsTest, NoMounts) {
  Cgroups groups(root + "/missing");
  EXPECT_EQ(found(groups, 1), "");
}

} // namespace
} // namespace symbol
