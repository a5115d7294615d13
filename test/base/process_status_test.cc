// Lines of /proc/PID/status.
#include "base/process_status.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <unistd.h>

namespace base {
namespace {

TEST(StatusLine, IsFoundByItsWholeName) {
  constexpr std::string_view text = "Name:\tPid: 7\nTgid:\t12\nPid:\t13\nUid:\t0\t1\t2\t3\nGroups:\t \nVmSwap:\t  8 kB";
  EXPECT_EQ(status_line(text, "Pid"), "13");
  EXPECT_EQ(status_line(text, "Tgid"), "12");
  EXPECT_EQ(status_line(text, "Name"), "Pid: 7");
  EXPECT_EQ(status_line(text, "Uid"), "0\t1\t2\t3");
  EXPECT_EQ(status_line(text, "VmSwap"), "8 kB");
  EXPECT_EQ(status_line(text, "Groups"), "");
  EXPECT_EQ(status_line(text, "P"), "");
  EXPECT_EQ(status_line("", "Pid"), "");
}

TEST(StatusLine, OfThreadsThatRun) {
  std::promise<pid_t> id;
  std::promise<void> end;
  std::thread other([&] {
    id.set_value(::gettid());
    end.get_future().wait();
  });
  const pid_t thread = id.get_future().get();
  EXPECT_EQ(status_of(thread, "Pid"), std::to_string(thread));
  EXPECT_EQ(process_of_thread(thread), ::getpid());
  end.set_value();
  other.join();
  EXPECT_EQ(process_of_thread(-1), std::nullopt);
  EXPECT_EQ(status_of(-1, "Pid"), "");
}

} // namespace
} // namespace base
