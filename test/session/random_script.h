// Random scripts for the comparison of the two engines: whatever they print must not depend on time, process
// or the order of hash tables. The same seed gives the same script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct RandomScriptShape {
  int statements = 0; // of the outermost block; 0: a few
  int with_loops =
      100; // of a hundred scripts, so many may have loops, and searches in text, which are loops too
};
std::string random_script(uint64_t seed, const RandomScriptShape& shape = {});
// The positional parameters that the scripts ask for.
std::vector<std::string> random_script_parameters();
