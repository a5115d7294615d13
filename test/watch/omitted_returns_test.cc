// Lines of the kernel's log about returns that it left out. The test writes them itself; that needs /dev/kmsg.
#include "watch/omitted_returns.h"

#include <gtest/gtest.h>

#include <fcntl.h>

namespace watch {
namespace {

class OmittedReturnsTest : public testing::Test {
protected:
  void SetUp() override {
    log = base::Fd(::open("/dev/kmsg", O_WRONLY | O_CLOEXEC));
    const base::Fd readable(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!log.valid() || !readable.valid()) GTEST_SKIP() << "the kernel's log cannot be read and written here";
  }
  void write(const std::string& line) { ASSERT_EQ(::write(log.get(), line.data(), line.size()), static_cast<ssize_t>(line.size())); }
  // As Linux does: kernel/events/uprobes.c.
  void omit(int pid, int tgid) { write("uprobe: omit uretprobe due to nestedness limit pid/tgid=" + std::to_string(pid) + "/" + std::to_string(tgid) + "\n"); }
  base::Fd log;
};

TEST_F(OmittedReturnsTest, NothingWasOmitted) {
  omit(1, 1); // before
  OmittedReturns omitted;
  write("acu: a test wrote this pid/tgid=7/7\n");
  EXPECT_EQ(omitted.told(), "");
}

TEST_F(OmittedReturnsTest, ProcessesAreNamedOnce) {
  OmittedReturns omitted;
  omit(3175, 3174), omit(3176, 3174);
  EXPECT_EQ(omitted.told(), "WARNING: returns of deeply recursive functions are missing: the kernel tracks 64 nested calls per thread, and process 3174 had more.\n");
  EXPECT_EQ(omitted.told(), "") << "it was told";
}

TEST_F(OmittedReturnsTest, FourProcessesAreNamed) {
  OmittedReturns omitted;
  for (int tgid : {10, 9, 100, 1, 20}) omit(tgid, tgid);
  const std::string told = omitted.told();
  EXPECT_NE(told.find("and processes 1, 9, 10, 20, … had more.\n"), std::string::npos) << told;
}

TEST_F(OmittedReturnsTest, LinesOfAnotherForm) {
  OmittedReturns omitted;
  write("uprobe: omit uretprobe\n"), write("uprobe: omit uretprobe pid/tgid=\n"), write("uprobe: omit uretprobe pid/tgid=5\n"), write("uprobe: omit uretprobe pid/tgid=5/x\n");
  EXPECT_EQ(omitted.told(), "");
}

} // namespace
} // namespace watch
