// The table of functions that programs of Go carry for their own runtime, also when they are stripped:
// section .gopclntab, as Go 1.18 and later write it (its source, src/internal/abi/symtab.go and
// src/runtime/symtab.go).
#pragma once

#include "format/elf_file.h"

#include <functional>
#include <string_view>

namespace format {

bool has_go_functions(const Elf& elf);

// Calls `take` for each function, in the order of their addresses: "main.main", "net/http.(*Client).Do".
// Damaged tables give fewer.
void for_each_go_function(
    const ElfFile& file,
    const std::function<void(std::string_view name, uint64_t address, uint64_t size)>& take);

} // namespace format
