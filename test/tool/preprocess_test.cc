// Lines of a preprocessed D script: those of the script itself, whatever headers are in between.
#include "tool/preprocess.h"

#include <gtest/gtest.h>

namespace {

TEST(Preprocess, KeepsLinesOfTheScript) {
  const char* output = "# 0 \"<stdin>\"\n# 0 \"<built-in>\"\n#define X\n# 1 \"<stdin>\"\n\n#pragma D option quiet\n"
                       "# 1 \"a.h\" 1\n#pragma once\ntypedef int a;\n\nint b;\n# 4 \"<stdin>\" 2\nBEGIN { }\n# 20 \"<stdin>\"\nEND { }\n";
  EXPECT_EQ(tool::with_own_lines(output), "\n#pragma D option quiet\n typedef int a; int b;\nBEGIN { }\n" + std::string(15, '\n') + "END { }\n\n");
}

} // namespace
