// Which files are in memory, and where: from the headers of ELF files that lie there. For use inside this
// folder.
#pragma once

#include "target/target.h"

#include <vector>

namespace target {

// A stretch of memory that a file was mapped to.
struct FileMapping {
  uint64_t begin = 0, end = 0;
  uint64_t offset = 0; // of `begin` in the file
  std::string_view path;
};

// The modules among mappings, which are sorted by address; of each bias and build-id as far as the memory
// tells, and its file. `headers`: where headers can be read before any file is known.
std::vector<Module> find_modules(const std::vector<FileMapping>& mappings, Memory& headers,
                                 const Search& search);

// The modules on the loader's list, for when mappings are not known. `program_headers`, `header_count`,
// `program_name`: AT_PHDR, AT_PHNUM, AT_EXECFN.
std::vector<Module> find_loaded(Memory& memory, uint64_t program_headers, uint64_t header_count,
                                uint64_t program_name, const Search& search);

// The code that the kernel puts into each process, at AT_SYSINFO_EHDR; state is missing if it is not there.
Module find_vdso(Memory& memory, uint64_t address);

// For a module of a live process without a file: what is mapped there, whose name was deleted or is another file's now. `path` is
// /proc/PID/map_files/BEGIN-END of its first mapping.
void open_mapped(Module& module, const std::string& path);

// Marks the module that holds the address (AT_PHDR, AT_ENTRY) as the main program.
void mark_program(std::vector<Module>& modules, uint64_t address);

} // namespace target
