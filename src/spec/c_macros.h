// Macros of C that are defined from the start: what C headers ask a compiler for 64-bit Linux, with GCC's
// names and the sizes of the System V ABI, and what scripts ask acu. Names without `_` in front (linux, unix)
// are not among them: scripts use such words.
#pragma once

#include <string_view>

namespace spec {

struct CMacroRow {
  std::string_view name, body;
};

inline constexpr std::string_view have_btf_macro = "BPFTRACE_HAVE_BTF"; // only where the kernel has BTF

// nullptr: there is none of that name.
const CMacroRow* find_c_macro(std::string_view name);

} // namespace spec
