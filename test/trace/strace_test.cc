// Odd values as strace(1) 6.1 shows them: what it printed for the same calls stands here.
#include "spec/syscalls.h"
#include "trace/text.h"
#include "trace/values.h"

#include <gtest/gtest.h>

#include <cstring>

namespace trace {
namespace {

constexpr uint64_t here = 0x7f0000001000;

base::ByteSpan bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
template<class... T> std::string packed(T... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}
std::string shown(std::string_view name, std::array<uint64_t, 6> arguments, int64_t result, std::initializer_list<std::pair<int, std::string_view>> copied = {}, Options options = {}) {
  Call c;
  c.number = spec::syscall_named(name), c.arguments = arguments, c.result = result;
  for (auto& [at, text] : copied) c.copied[static_cast<size_t>(at)] = bytes(text);
  return call_text(c, options);
}

// Sets with two thirds of all signals or more are shown by those that are not in them.
TEST(AsStrace, SetsOfSignals) {
  const auto first = [](int n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
  EXPECT_EQ(signal_set(first(0)), "[]");
  EXPECT_EQ(signal_set(first(2)), "[HUP INT]");
  EXPECT_TRUE(signal_set(first(33)).starts_with("[HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ "
                                                "VTALRM PROF WINCH IO PWR SYS RTMIN RT_1]"));
  EXPECT_TRUE(signal_set(first(41)).ends_with("RTMIN RT_1 RT_2 RT_3 RT_4 RT_5 RT_6 RT_7 RT_8 RT_9]"));
  EXPECT_EQ(signal_set(first(42)), "~[RT_11 RT_12 RT_13 RT_14 RT_15 RT_16 RT_17 RT_18 RT_19 RT_20 RT_21 RT_22 RT_23 RT_24 RT_25 RT_26 RT_27 RT_28 RT_29 RT_30 RT_31 RT_32]");
  EXPECT_EQ(signal_set(first(63)), "~[RT_32]");
  EXPECT_EQ(signal_set(first(64)), "~[]");
  EXPECT_EQ(signal_set(0x4000000000000001), "[HUP RT_31]");
}

TEST(AsStrace, NumbersOfSignals) {
  const std::pair<uint64_t, std::string_view> signals[] = {{0, "0"}, {64, "SIGRT_32"}, {65, "65"}, {0xffffffff, "-1"}, {32, "SIGRTMIN"}, {34, "SIGRT_2"}};
  for (auto [number, name] : signals) EXPECT_EQ(signal(number), name);
}

TEST(AsStrace, LimitsInUnitsOf1024) {
  const auto limits = [](uint64_t soft, uint64_t hard) {
    const std::string both = packed(soft, hard);
    const std::string text = shown("setrlimit", {3, here}, 0, {{1, both}});
    return text.substr(text.find('{'), text.find('}') - text.find('{') + 1);
  };
  EXPECT_EQ(limits(0, 0), "{rlim_cur=0, rlim_max=0}");
  EXPECT_EQ(limits(1023, 1024), "{rlim_cur=1023, rlim_max=1024}");
  EXPECT_EQ(limits(1024, 1025), "{rlim_cur=1024, rlim_max=1025}");
  EXPECT_EQ(limits(1048576, 1536), "{rlim_cur=1024*1024, rlim_max=1536}");
  EXPECT_EQ(limits(uint64_t{1} << 63, ~uint64_t{0}), "{rlim_cur=9007199254740992*1024, rlim_max=RLIM64_INFINITY}");
  EXPECT_EQ(limits(~uint64_t{1}, 5 << 20), "{rlim_cur=18446744073709551614, rlim_max=5120*1024}");
  EXPECT_EQ(limits(uint64_t{3} << 30, uint64_t{10} << 40), "{rlim_cur=3145728*1024, rlim_max=10737418240*1024}");
  EXPECT_EQ(limits(1024 * 1024 - 1, 999), "{rlim_cur=1048575, rlim_max=999}");
}

TEST(AsStrace, TimesThatAreNone) {
  const auto time = [](int64_t seconds, int64_t ns) {
    const std::string both = packed(seconds, ns);
    const std::string text = shown("clock_settime", {0, here}, -22, {{1, both}});
    return text.substr(text.find('{'), text.find('}') - text.find('{') + 1);
  };
  EXPECT_EQ(time(-1, 5), "{tv_sec=-1, tv_nsec=5}");
  EXPECT_EQ(time(5, -1), "{tv_sec=5, tv_nsec=18446744073709551615}");
  EXPECT_EQ(time(int64_t{1} << 62, 1999999999), "{tv_sec=4611686018427387904, tv_nsec=1999999999}");
  const std::string both = packed(5L, -1L, -7L, -9L);
  EXPECT_EQ(shown("setitimer", {0, here, 0}, -22, {{1, both}}),
            "setitimer(ITIMER_REAL, {it_interval={tv_sec=5, tv_usec=18446744073709551615}, it_value={tv_sec=-7, tv_usec=18446744073709551607}}, NULL) = -1 EINVAL (Invalid argument)");
  EXPECT_EQ(shown("utimensat", {0xffffff9c, here, here, 0}, -2, {{1, std::string_view("/x\0", 3)}, {2, both}}),
            "utimensat(AT_FDCWD, \"/x\", [{tv_sec=5, tv_nsec=18446744073709551615}, {tv_sec=-7, tv_nsec=18446744073709551607}], 0) = -1 ENOENT (No such file or directory)");
}

TEST(AsStrace, SetsOfCpus) {
  const std::string_view set("\5\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(shown("sched_setaffinity", {0x7ffffff, 16, here}, -3, {{2, set}}), "sched_setaffinity(134217727, 16, [0 2 64]) = -1 ESRCH (No such process)");
  EXPECT_EQ(shown("sched_setaffinity", {0x7ffffff, 3, here}, -3, {{2, set.substr(0, 3)}}), "sched_setaffinity(134217727, 3, [0 2])  = -1 ESRCH (No such process)");
}

TEST(AsStrace, EscapesInTexts) {
  const std::string_view data("\0\1\0012\177\200\377\"\\\n\t\r\v\f\a\b\33x7\0\1", 21);
  EXPECT_EQ(shown("write", {99, here, 21}, -9, {{1, data}}), R"j(write(99, "\0\1\0012\177\200\377\"\\\n\t\r\v\f\7\10\33x7\0\1", 21) = -1 EBADF (Bad file descriptor))j");
  EXPECT_EQ(shown("openat", {0xffffff9c, here, 0}, -2, {{1, std::string_view("\1\200\"\0", 4)}}), R"j(openat(AT_FDCWD, "\1\200\"", O_RDONLY)  = -1 ENOENT (No such file or directory))j");
}

TEST(AsStrace, AllFlagsOfAFile) {
  EXPECT_EQ(shown("openat", {0xffffffff, here, 0x7fffffff, 07777777}, -2, {{1, std::string_view("\0", 1)}}),
            "openat(-1, \"\", O_ACCMODE|O_CREAT|O_EXCL|O_NOCTTY|O_TRUNC|O_APPEND|O_NONBLOCK|O_SYNC|O_DIRECT|O_LARGEFILE|O_NOFOLLOW|O_NOATIME|O_CLOEXEC|O_PATH|O_TMPFILE|FASYNC|0x7f80003c, "
            "0177777) = -1 ENOENT (No such file or directory)");
}

TEST(AsStrace, ModesOfFiles) {
  EXPECT_EQ(shown("umask", {0xffffffff}, 022), "umask(0177777)                          = 022");
  EXPECT_EQ(shown("umask", {022}, 0777), "umask(022)                              = 0777");
  const std::string_view empty("\0", 1);
  EXPECT_EQ(shown("chmod", {here, 0170644}, -2, {{0, empty}}), "chmod(\"\", 0170644)                      = -1 ENOENT (No such file or directory)");
  EXPECT_EQ(shown("mknod", {here, 0140777, 0}, -2, {{0, empty}}), "mknod(\"\", S_IFSOCK|0777)                = -1 ENOENT (No such file or directory)");
  EXPECT_EQ(shown("mknod", {here, 0020644, 0x12345}, -2, {{0, empty}}), "mknod(\"\", S_IFCHR|0644, makedev(0x123, 0x45)) = -1 ENOENT (No such file or directory)");
}

} // namespace
} // namespace trace
