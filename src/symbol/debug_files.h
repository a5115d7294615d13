// Where the debug information of a program or library is when it is not in the file itself: in a file of its
// own, found by build-id or by the name that .gnu_debuglink gives (gdb manual, "Separate Debug Files"); in a
// file that several debug files share (dwz); in the files that `gcc -gsplit-dwarf` leaves beside the objects
// (.dwo), or packed together (.dwp).
//
// Nothing is taken because its name fits: build-ids must be equal, else the CRC. Every place that was tried
// is kept with the reason why it did not do, for messages and for `acu modules`.
#pragma once

#include "format/elf_file.h"

#include <optional>
#include <string>
#include <vector>

namespace symbol {

// Where to look besides /usr/lib/debug and beside the file.
struct DebugSearch {
  // The root folder of the program, "/proc/17/root" or an open folder's "/proc/self/fd/9"; our own is tried
  // after it. Empty: ours alone.
  std::string root;
  std::vector<std::string> folders; // given by the user (or files), tried first; paths in our root
  bool download = false;            // ask the servers of DEBUGINFOD_URLS at last; may take minutes
};

struct TriedPlace {
  std::string path;        // as seen in `root`
  std::string root;        // empty: ours
  std::string problem;     // "No such file or directory", "its build-id is 12ab…, not 34cd…"
  bool is_missing = false; // there is no such file: nothing to tell a user about
};

struct FoundFile {
  std::optional<format::ElfFile> file;
  std::string path, root;        // of `file`
  std::vector<TriedPlace> tried; // without `path`
};

struct DebugFile {
  enum class Source : uint8_t { none, module, folder, build_id, debug_link, name, download };
  // module: it has its debug information itself, and `debug` is empty. none: nothing was found.
  Source source = Source::none;
  bool has_dwarf = false; // false: there are more symbols, at best
  FoundFile debug;
  // The shared file, if the debug information says that it has one (has_alt_link).
  bool has_alt_link = false;
  FoundFile alt;
};

// What a separate debug file must fit.
struct DebugWanted {
  std::vector<std::string> paths; // of the file itself, under all its names
  base::ByteSpan build_id;        // empty: it has none
  std::optional<format::DebugLink> link;
  base::FileId id;                          // of the file itself
  uint64_t text_address = 0, text_size = 0; // of its section .text; 0: not known
};
DebugWanted wanted_by(const format::ElfFile& module, const std::string& path, const std::string& root);

// `path`: of the module as seen in search.root, or "[vdso]".
DebugFile find_debug_file(const format::ElfFile& module, const std::string& path, const DebugSearch& search);
// The same for code whose file is not at hand, such as the kernel.
DebugFile find_debug_file(const DebugWanted& wanted, const DebugSearch& search);
// Of the running kernel.
DebugFile find_kernel_debug_file(const DebugSearch& search);

// The package of split units of a module: MODULE.dwp. Whether its units fit is for who reads them.
FoundFile find_dwp(const std::string& module_path, const DebugFile& debug, const DebugSearch& search);
// One file of split units by the names that the skeleton unit gives: DW_AT_dwo_name, DW_AT_comp_dir. Whether
// its unit's id is the right one is for who reads it.
FoundFile find_dwo(const std::string& dwo_name, const std::string& comp_dir, const std::string& module_path,
                   const DebugSearch& search);

// In one line what stood in the way, or "" if nothing but missing files did.
std::string summary(const std::vector<TriedPlace>& tried);

} // namespace symbol
