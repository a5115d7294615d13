// Mistakes in tables, found as the tables are compiled.
#pragma once

namespace base {

// In a constant expression this ends the build, and the compiler shows the text, as it is no constant function. It is called nowhere else.
[[noreturn]] inline void wrong_constant(const char*) { __builtin_trap(); }

} // namespace base
