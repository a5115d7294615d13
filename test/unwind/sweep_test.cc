// A part of the rows of large files against libdw; all of them: `build/release/test/unwind_sweep`.
#include "sweep.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

TEST(Sweep, RowsAreThoseOfLibdw) {
  size_t compared = 0;
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/perl", "/usr/sbin/nginx"}) {
    SCOPED_TRACE(path);
    samples::Sweep sweep = samples::sweep_file(path, 5);
    if (!sweep.problem.empty()) {
      std::printf("  skipped: %s: %s\n", path, sweep.problem.c_str());
      continue;
    }
    compared++;
    EXPECT_GT(sweep.rows, 100u);
    EXPECT_EQ(sweep.differences, 0u);
    for (const std::string& example : sweep.examples) ADD_FAILURE() << example;
  }
  if (compared == 0) GTEST_SKIP() << "nothing to compare";
}
