// Random scripts for the comparison of the two engines: whatever they print must not depend on time, process
// or the order of hash tables. The same seed gives the same script.
#pragma once

#include <cstdint>
#include <string>

std::string random_script(uint64_t seed);
