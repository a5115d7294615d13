// What a terminal gets, and rights by effective capabilities.
#include "base/privilege.h"
#include "base/terminal.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

TEST(ForTerminal, ControlCharactersAreShown) {
  EXPECT_EQ(base::for_terminal("a\033]0;x\007b"), "a\\x1b]0;x\\x07b");
  EXPECT_EQ(base::for_terminal("\033[2J\033[31"), "\\x1b[2J\\x1b[31");
  EXPECT_EQ(base::for_terminal("over\rwritten"), "over\\rwritten");
  EXPECT_EQ(base::for_terminal("\302\233 \x9b \x7f"), "\\xc2\\x9b \\x9b \\x7f");
}

TEST(ForTerminal, TextLinesAndColorsStay) {
  for (const char* text : {"", "a\tb\nc\r\n", "é→\n", "\033[31mERROR\033[0m: x\n", "\033[36mHINT\033[0m"}) EXPECT_EQ(base::for_terminal(text), text);
  EXPECT_FALSE(base::may_control_terminals("plain\ttext\n"));
  EXPECT_TRUE(base::may_control_terminals("é"));
}

TEST(ForTerminal, ScriptsThatWriteEscapesAreKnown) {
  for (const char* script : {R"(printf("\e[2J"))", R"(printf("\033[2J"))", R"(printf("\x1b[2J"))"}) EXPECT_TRUE(base::writes_escapes(script));
  EXPECT_FALSE(base::writes_escapes("printf(\"\\n\")"));
  EXPECT_FALSE(base::writes_escapes("// \033[8m hidden"));
}

TEST(Privilege, NamesWhatIsMissing) {
  EXPECT_EQ(base::name_of(base::Capability::dac_read_search), "CAP_DAC_READ_SEARCH");
  EXPECT_EQ(base::missing_of({}), "");
  const bool has_bpf = base::has_capability(base::Capability::bpf);
  EXPECT_EQ(base::missing_of({base::Capability::bpf}), has_bpf ? "" : "CAP_BPF is missing");
  EXPECT_EQ(base::not_permitted({base::Capability::bpf}).empty(), has_bpf);
}

TEST(Privilege, FilesByEffectiveRights) {
  EXPECT_TRUE(base::is_accessible("/", R_OK | X_OK));
  EXPECT_FALSE(base::is_accessible("/nowhere/at/all", F_OK));
  EXPECT_EQ(errno, ENOENT);
}

} // namespace
