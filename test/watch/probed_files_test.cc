// Files that are replaced and written to while they are watched.
#include "watch/probed_files.h"

#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <poll.h>

using watch::ProbedFiles;
using Change = ProbedFiles::Change;

namespace {

struct ProbedFilesTest : testing::Test {
  std::string folder = testing::TempDir() + "probed_" + std::to_string(getpid());
  ProbedFiles files;

  void SetUp() override { run("rm -rf " + folder + " && mkdir " + folder); }
  void TearDown() override { run("rm -r " + folder); }
  void run(const std::string& command) {
    ASSERT_EQ(std::system(("cd " + testing::TempDir() + " && " + command).c_str()), 0);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder + "/" + name) << text; }
  void add(const std::string& name) {
    auto fd = base::open_regular(folder + "/" + name);
    ASSERT_TRUE(fd.ok());
    auto id = base::file_id(fd->get());
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(files.add(folder + "/" + name, *id).ok());
  }
  // What is told until nothing has happened for a while.
  std::vector<Change> all() {
    std::vector<Change> out;
    for (bool quiet = false; !quiet;) {
      uint64_t look = files.next_look(), now = base::clock_ns();
      int wait = look ? static_cast<int>(look > now ? (look - now) / 1'000'000 + 1 : 0) : 50;
      pollfd fd = {files.wait_fd(), POLLIN, 0};
      bool ready = ::poll(&fd, 1, wait) > 0;
      auto some = files.take();
      quiet = !ready && some.empty() && !files.next_look();
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }
  void expect_replaced(const std::string& name) {
    auto changes = all();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].kind, Change::replaced);
    EXPECT_EQ(changes[0].path, folder + "/" + name);
  }
};

} // namespace

TEST_F(ProbedFilesTest, NothingIsWatchedBeforeAFileIs) {
  EXPECT_TRUE(files.empty());
  EXPECT_EQ(files.wait_fd(), -1);
  EXPECT_EQ(files.next_look(), 0u);
  EXPECT_TRUE(files.take().empty());
}

TEST_F(ProbedFilesTest, AnotherFileUnderTheName) {
  write("a", "old");
  add("a");
  EXPECT_TRUE(all().empty());
  write("b", "new");
  EXPECT_TRUE(all().empty());
  run("mv " + folder + "/b " + folder + "/a");
  expect_replaced("a");
  write("c", "newer");
  run("mv " + folder + "/c " + folder + "/a");
  expect_replaced("a");
}

TEST_F(ProbedFilesTest, DeletedThenMadeAgain) {
  write("a", "old");
  add("a");
  run("rm " + folder + "/a");
  EXPECT_TRUE(all().empty()) << "processes that run it go on";
  write("a", "new file");
  expect_replaced("a");
}

TEST_F(ProbedFilesTest, ALinkThatLeadsElsewhere) {
  write("lib.1", "old");
  write("lib.2", "newer");
  run("ln -s lib.1 " + folder + "/lib");
  add("lib");
  run("ln -s lib.2 " + folder + "/next && mv -T " + folder + "/next " + folder + "/lib");
  expect_replaced("lib");
}

TEST_F(ProbedFilesTest, TheTargetOfALink) {
  write("lib.1", "old");
  run("ln -s lib.1 " + folder + "/lib");
  add("lib");
  write("tmp", "newer");
  run("mv " + folder + "/tmp " + folder + "/lib.1");
  expect_replaced("lib");
}

TEST_F(ProbedFilesTest, WrittenInPlace) {
  write("a", "old text");
  add("a");
  EXPECT_TRUE(all().empty());
  write("a", "other text");
  auto changes = all();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kind, Change::written);
  EXPECT_EQ(changes[1].kind, Change::replaced);
}

TEST_F(ProbedFilesTest, ReplacedBeforeItWasWatched) {
  write("a", "old");
  auto fd = base::open_regular(folder + "/a");
  auto id = base::file_id(fd->get());
  write("b", "newer");
  run("mv " + folder + "/b " + folder + "/a");
  ASSERT_TRUE(files.add(folder + "/a", *id).ok());
  expect_replaced("a");
}

TEST_F(ProbedFilesTest, OthersInTheFolderDoNotMatter) {
  write("a", "old");
  add("a");
  EXPECT_TRUE(all().empty());
  for (int i = 0; i < 50; i++) write("other" + std::to_string(i), "x");
  run("chmod 755 " + folder + "/a && touch -a " + folder + "/a && ln " + folder + "/a " + folder + "/second");
  EXPECT_TRUE(all().empty());
}
