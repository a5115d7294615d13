// What is no text of a script is refused with its reason.
#include "session/script.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

std::string refusal(const std::string& file) {
  session::Options o;
  o.file = file;
  auto source = session::read_script(o);
  EXPECT_FALSE(source.ok());
  return source.ok() ? "" : source.error().message;
}

TEST(Script, RefusesWhatIsNoText) {
  EXPECT_EQ(refusal("/"), "cannot run `/`: it is a directory");
  EXPECT_EQ(refusal("/proc/self/exe"), "cannot run `/proc/self/exe`: it is a program, not a script");
  EXPECT_EQ(refusal("/no/such.bt"), "cannot run `/no/such.bt`: No such file or directory");
  EXPECT_EQ(refusal("/dev/zero"), "cannot run `/dev/zero`: it is not text (a NUL byte at offset 0)");
  EXPECT_EQ(session::not_text(std::string_view("a\0b", 3)), "it is not text (a NUL byte at offset 1)");
  EXPECT_EQ(session::not_text("begin {}\n"), "");
}

TEST(Script, TextFromTheCommandLine) {
  session::Options o;
  o.has_script = true;
  o.script = "begin {}";
  auto source = session::read_script(o);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->name(), "stdin");
  EXPECT_EQ(source->text(), "begin {}");
}

} // namespace
