// What the dynamic loader is told by a file. Specification: System V ABI, chapter 5, "Dynamic Section".
#pragma once

#include "format/elf.h"

#include <string_view>
#include <vector>

namespace format {

// The libraries that it needs (DT_NEEDED).
std::vector<std::string_view> needed_libraries(const Elf& elf);
// The folders in which it looks for them first (DT_RPATH, DT_RUNPATH), which may begin with $ORIGIN: its own.
std::vector<std::string_view> library_folders(const Elf& elf);
// The name by which others need it (DT_SONAME); empty: it has none, as programs. (Some libraries can also be
// executed, so that segments don't tell.)
std::string_view library_name(const Elf& elf);
// Whether its linker has marked it as a program that runs at any address (DF_1_PIE).
bool is_position_independent_program(const Elf& elf);

} // namespace format
