// Random C and C++ programs full of types, that print what the compiler made of them: the truth to compare
// with. A program's lines are words between tabs:
//   T <qualified name> <size>
//   F <qualified name> <path> <bit offset> <bits, 0: no bit-field> <size> <type as acu shows it, or "-">
//   E <qualified name> <size> <enumerator> <value>
#pragma once

#include <cstdint>
#include <string>

namespace samples {

struct Program {
  std::string source;
  uint32_t types = 0;
};

// The same seed gives the same program.
Program generate(uint64_t seed, uint32_t types, bool is_cpp);

} // namespace samples
