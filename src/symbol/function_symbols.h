// The functions in the symbol tables of one ELF file, with their versions. Specification: System V ABI,
// chapter 4, "Symbol Table"; Linux Standard Base, "Symbol Versioning".
#pragma once

#include "format/elf_file.h"

#include <functional>
#include <string_view>

namespace symbol {

// A function by name. What several names stand for is there several times.
struct FunctionSymbol {
  std::string_view name;    // as the file has it, without version
  std::string_view version; // "GLIBC_2.14"; empty: it has none
  uint64_t address = 0;
  uint64_t size = 0;        // bytes; 0: not known
  bool is_default = true;   // of several versions the one that programs are linked with now
  bool is_local = false;    // other files do not see it
  bool is_chooser = false;  // the code there chooses the function when a program starts (STT_GNU_IFUNC)
  bool is_exported = false; // programs are linked with it (.dynsym)
  bool is_label = false;    // in code, but not said to be a function
};

// Calls `take` for those of .symtab, then of .dynsym (some are in both); of programs of Go without .symtab
// those that their runtime knows. The texts are the file's.
void for_each_function(const format::ElfFile& file, const std::function<void(const FunctionSymbol&)>& take);

// A name that was written with a version: "memcpy@GLIBC_2.14", "memcpy@@GLIBC_2.14".
struct VersionedName {
  std::string_view name, version; // version empty: any
};
VersionedName split_version(std::string_view name);

// Of two names for one address, whether the first is the better known: other files see it, it is no label,
// has fewer underscores at its front.
bool is_better_known(const FunctionSymbol& a, const FunctionSymbol& b);

} // namespace symbol
