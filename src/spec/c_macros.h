// Macros of C that are defined from the start: what C headers ask a compiler for 64-bit Linux, with GCC's
// names and the sizes of the System V ABI, and what scripts ask acu. Names without `_` in front (linux, unix)
// are not among them: scripts use such words.
#pragma once

#include "base/text_table.h"

#include <optional>
#include <string_view>

namespace spec {

struct CMacroRow {
  std::string_view name, body;
};
using CMacroRows = base::TextTable<CMacroRow, &CMacroRow::name, &CMacroRow::body>;

inline constexpr std::string_view have_btf_macro = "BPFTRACE_HAVE_BTF"; // only where the kernel has BTF

// Nothing: there is none of that name.
std::optional<CMacroRow> find_c_macro(std::string_view name);

} // namespace spec
