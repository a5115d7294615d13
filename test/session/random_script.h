// Random scripts for the comparison of the two engines: whatever they print must not depend on time, process
// or the order of hash tables. The same seed gives the same script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// `statements` of the outermost block; 0: a few.
std::string random_script(uint64_t seed, int statements = 0);
// The positional parameters that the scripts ask for.
std::vector<std::string> random_script_parameters();
