// Colors of messages are chosen once in a process, so each choice has a process of its own.
#include "base/color.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <unistd.h>

namespace base {
namespace {

[[noreturn]] void color_and_exit(const char* own, const char* other, bool is_colored) {
  ::setenv("ACU_COLOR", own, 1);
  ::setenv("BPFTRACE_COLOR", other, 1);
  const std::pair<std::string_view, std::string_view> messages[] = {{"ERROR: x\n", "\033[31mERROR\033[0m: x\n"},
                                                                    {"a.bt:1:2-3: WARNING: x\nline\n", "a.bt:1:2-3: \033[33mWARNING\033[0m: x\nline\n"},
                                                                    {"HINT: a: ERROR: b", "\033[36mHINT\033[0m: a: ERROR: b"},
                                                                    {"he said: ERROR: x", "he said: ERROR: x"}, // inside a sentence
                                                                    {"ERRORS: x", "ERRORS: x"},
                                                                    {"", ""},
                                                                    {"\n\n", "\n\n"}};
  for (auto [message, shown] : messages)
    if (colored(message) != (is_colored ? shown : message)) ::_exit(1);
  ::_exit(0);
}

TEST(ColorDeathTest, TheWordOfAMessageIsColored) {
  const std::string before = testing::FLAGS_gtest_death_test_style;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(color_and_exit("always", "never", true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(color_and_exit("never", "always", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(color_and_exit("auto", "always", true), testing::ExitedWithCode(0), "");
  testing::FLAGS_gtest_death_test_style = before;
}

} // namespace
} // namespace base
