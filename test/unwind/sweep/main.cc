// Compares every row of files with libdw: unwind_sweep [FILE…]; without files those that docs/unwinding.md
// tells of. Exit status 1: something differs.
#include "../sweep.h"

#include <cstdio>
#include <string>
#include <vector>

int main(int count, char** arguments) {
  std::vector<std::string> files(arguments + 1, arguments + count);
  if (files.empty())
    files = {"/lib/x86_64-linux-gnu/libc.so.6",
             "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
             "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
             "/usr/bin/python3.11",
             "/usr/bin/perl",
             "/usr/sbin/nginx",
             "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
             "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"};
  samples::Sweep all;
  std::printf("%-58s %9s %9s %9s %9s %9s\n", "file", "entries", "rows", "not held", "only ours", "differ");
  for (const std::string& path : files) {
    samples::Sweep one = samples::sweep_file(path, 1);
    if (!one.problem.empty()) {
      std::printf("%-58s skipped: %s\n", path.c_str(), one.problem.c_str());
      continue;
    }
    std::printf("%-58s %9zu %9zu %9zu %9zu %9zu\n", path.c_str(), one.entries, one.rows, one.not_held,
                one.only_ours, one.differences);
    for (const std::string& example : one.examples) std::printf("    differs at %s\n", example.c_str());
    for (const std::string& row : one.not_held_rows) std::printf("    not held: %s\n", row.c_str());
    all.rows += one.rows, all.not_held += one.not_held, all.differences += one.differences;
  }
  std::printf("%zu rows, %zu not held, %zu differences\n", all.rows, all.not_held, all.differences);
  return all.differences ? 1 : 0;
}
