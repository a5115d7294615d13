// Results on their way: when they are written, what is kept back, and what becomes of them when nobody reads or nothing fits.
#include "scratch.h"
#include "session/output.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace session {
namespace {

class OutputTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    ::signal(SIGPIPE, SIG_IGN);
  }
  void TearDown() override {
    for (int fd : ends) ::close(fd);
  }
  // What has arrived until now.
  std::string read() {
    std::string out;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(n));
    return out;
  }
  int ends[2] = {-1, -1};
};

TEST_F(OutputTest, WhenItIsWritten) {
  Output at_once(ends[1], Buffering::line, true);
  at_once.out("half");
  EXPECT_EQ(read(), "");
  at_once.out(" a line\nand");
  EXPECT_EQ(read(), "half a line\nand");
  Output lines(ends[1], Buffering::line, false);
  lines.out("a\n");
  EXPECT_EQ(read(), "") << "nobody watches";
  lines.settle();
  EXPECT_EQ(read(), "a\n");
  Output none(ends[1], Buffering::none, false);
  none.out("x");
  EXPECT_EQ(read(), "x");
  Output full(ends[1], Buffering::full, true);
  full.out("a\n"), full.settle();
  EXPECT_EQ(read(), "");
  full.flush();
  EXPECT_EQ(read(), "a\n");
}

TEST_F(OutputTest, AFullBufferIsWritten) {
  Output full(ends[1], Buffering::full, false);
  full.out(std::string((16 << 10) - 1, 'x'));
  EXPECT_EQ(read(), "");
  full.out("y");
  EXPECT_EQ(read().size(), size_t{16 << 10});
}

TEST_F(OutputTest, TheRestIsWrittenAtTheEnd) {
  {
    Output out(ends[1], Buffering::full, false);
    out.out("a"), out.hold(), out.out("b");
  }
  EXPECT_EQ(read(), "ab") << "also what was kept back";
}

TEST_F(OutputTest, WhatIsKeptBackFollows) {
  Output out(ends[1], Buffering::none, false);
  out.hold(), out.out("begin\n");
  EXPECT_EQ(read(), "");
  out.pass(), out.out("Attached\n");
  EXPECT_EQ(read(), "Attached\n");
  out.release();
  EXPECT_EQ(read(), "begin\n");
  out.release();
  EXPECT_EQ(read(), "");
}

TEST_F(OutputTest, WhatIsKeptBackMayBeForgotten) {
  Output out(ends[1], Buffering::none, false);
  out.hold(), out.out("x"), out.drop(), out.out("y"), out.release();
  EXPECT_EQ(read(), "y");
}

TEST_F(OutputTest, MessagesComeBehindTheResults) {
  Output out(ends[1], Buffering::line, false);
  testing::internal::CaptureStderr();
  out.out("result\n");
  out.message("WARNING: x\n");
  EXPECT_EQ(read(), "result\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "WARNING: x\n");
}

TEST_F(OutputTest, AReaderThatGoesIsNoFailure) {
  Output out(ends[1], Buffering::none, false);
  ::close(ends[0]), ends[0] = -1;
  out.out("x");
  EXPECT_TRUE(out.broken());
  EXPECT_EQ(out.failure(), 0);
  out.out("y");
  EXPECT_TRUE(out.finish().ok());
}

TEST(OutputFailures, AFullDeviceIsOne) {
  const base::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full.valid()) GTEST_SKIP() << "there is no /dev/full";
  Output out(full.get(), Buffering::none, false);
  out.out("x");
  EXPECT_EQ(out.failure(), ENOSPC);
  EXPECT_FALSE(out.broken());
  const base::Status end = out.finish();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "cannot write results: No space left on device");
}

// -o
TEST(OutputFiles, AreKeptUntilThereIsSomethingElse) {
  Scratch scratch;
  scratch.write("out", "before\n");
  Options options;
  options.output_file = scratch.path("out");
  {
    auto out = Output::open(options);
    ASSERT_TRUE(out.ok()) << out.error().message;
    EXPECT_EQ(scratch.read("out"), "before\n");
    (*out)->out("after\n"), (*out)->settle();
    EXPECT_EQ(scratch.read("out"), "after\n");
    EXPECT_TRUE((*out)->finish().ok());
  }
  auto nothing = Output::open(options);
  EXPECT_TRUE((*nothing)->finish().ok());
  EXPECT_EQ(scratch.read("out"), "") << "there are no results, which is one, too";
}

TEST(OutputFiles, ThatCannotBeAreRefusedAtOnce) {
  Scratch scratch;
  Options options;
  for (const std::string& path : {scratch.path("no/such/folder"), scratch.folder()}) {
    options.output_file = path;
    auto out = Output::open(options);
    ASSERT_FALSE(out.ok()) << path;
    EXPECT_NE(out.error().message.find(path), std::string::npos) << out.error().message;
  }
}

} // namespace
} // namespace session
