// Thread-local variables of ELF files: where the loader says where they are. Specification: spec/thread_variable.h.
#pragma once

#include "format/elf_file.h"
#include "spec/thread_variable.h"

#include <optional>
#include <string_view>

namespace format {

// Whether it is a program, not a library.
bool is_program_file(const Elf& elf);

// How far below the thread's base the variables of a program itself begin. Nothing: it has none.
std::optional<uint64_t> program_block(const Elf& elf);

// Whether the file belongs to programs that use musl instead of glibc.
bool needs_musl(const ElfFile& file);

// A variable that the file exports; `place` is an address of the file. Nothing: it exports none of this name, or nothing in the file leads there. x86-64.
std::optional<spec::ThreadVariable> find_thread_variable(const ElfFile& file, std::string_view name);

} // namespace format
