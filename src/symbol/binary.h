// One program or library that user probes are put into: its functions by name, where their code lies in the
// file that the kernel is told, and behind that what its debug information knows. Everything is read when it
// is first asked for; one who asks for a single function reads the symbol table once and keeps nothing.
//
// Addresses are the file's own, before the loader moves them.
#pragma once

#include "dwarf/type_search.h"
#include "symbol/debug_files.h"
#include "symbol/function_symbols.h"
#include "symbol/jump_targets.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace symbol {

// Where the code of a place in the source begins.
struct LineAddress {
  uint64_t address = 0;
  uint32_t line = 0, column = 0;
  std::string file; // as the compiler was told, completed by its folders
};

// What there is instead of a line that has no code.
struct LineMiss {
  bool has_file = false;          // some code comes from it
  std::vector<std::string> near;  // files with the same last name, or one like it
  uint32_t before = 0, after = 0; // lines with code next to it; 0: none
  std::vector<uint32_t> columns;  // of the line, where it is only the column that does not fit
};

// What a name stands for.
struct SymbolPlace {
  uint64_t address = 0; // of a variable of threads: its offset among them
  uint64_t size = 0;    // bytes; 0: not known
  bool is_of_threads = false;
};

// How a binary is reached.
struct BinaryPlace {
  std::string name; // as probes are named: the path as the traced program sees it, with "!/inner" in archives
  std::string path; // as seen in search.root; of the archive
  DebugSearch search; // its root is the traced program's
  std::string inner;  // in an archive: "lib/libx.so"; else empty
};

class Binary {
public:
  // Failure: it cannot be opened, is no ELF file, or not in the archive; the name stands in the message.
  static base::Result<std::unique_ptr<Binary>> open(BinaryPlace place);
  ~Binary();
  Binary(const Binary&) = delete;

  const std::string& name() const { return place_.name; }
  // As acu and the kernel can open it: with the root in front.
  const std::string& host_path() const { return host_path_; }
  const format::ElfFile& file() const { return *file_; }
  bool is_in_archive() const { return !place_.inner.empty(); }
  // The loader moves it: address 0 is anywhere.
  bool is_movable() const { return !file_->elf().is_executable(); }
  // Compiled by Go, whose runtime moves stacks.
  bool is_go() const;

  // The place of the byte at an address in the file at host_path(), if it is loaded from there.
  std::optional<uint64_t> offset_of_address(uint64_t address) const;
  // Bytes of code from this address on, `most` of them or as many as the segment has.
  base::ByteSpan code_at(uint64_t address, uint64_t most) const;

  // Whether some long jump of the segment that these addresses are in may lead to one of them. Goes over all
  // of the segment at the first call; of very large ones, true.
  bool may_be_jumped_to(uint64_t first, uint64_t last);

  // All functions, by name, then the default version first, then by address: those of the file, packed
  // inside of it (.gnu_debugdata), and where it was stripped those of its debug file. A name with a version
  // and the same without it, at one address, are one.
  const std::vector<FunctionSymbol>& functions();
  // Those called `name`: "memcpy" (of several versions the default comes first), "memcpy@GLIBC_2.14",
  // "memcpy@@GLIBC_2.14". Without making the list of all. `labels`: also what is only a label in code.
  // "func_0x4012a0" is one without a name that calls lead to.
  std::vector<FunctionSymbol> find_functions(std::string_view name, bool labels = true);
  // The innermost function that holds an address; of several names the best known.
  std::optional<FunctionSymbol> function_at(uint64_t address);
  // The name as the source has it ("ns::f(int)"), or as it is; lives as long as this.
  std::string_view shown(std::string_view mangled);
  // A symbol of any kind, also of data.
  std::optional<SymbolPlace> find_symbol(std::string_view name);
  // Its address; variables of threads have none.
  std::optional<uint64_t> symbol_address(std::string_view name);
  // The symbol with the name most like this one; empty: none is.
  std::string symbol_like(std::string_view name);
  // It has no symbol table of its own, and none was found elsewhere: local functions are not known.
  bool is_stripped();

  // The debug information, with its companions (dwz, split units) and lists of locations; nullptr: none was
  // found, see debug_file(). All of it lives as long as this.
  const DebugFile& debug_file();
  dwarf::DebugInfo* debug_info();
  // The file that it is in: file(), or its debug file; nullptr as above.
  const format::ElfFile* info_file();
  // In the order that an index counts files.
  const dwarf::IndexedFiles& indexed_files();
  // All names, or enough to find `name`: see DebugIndex::open_for. nullptr: no debug information.
  const dwarf::Index* index();
  const dwarf::Index* index_for(std::string_view name);
  // Its types, in the table of a script (always the same one); nullptr: no debug information.
  dwarf::Types* types(type::Table& table);
  // The entries of this name and these kinds.
  std::vector<dwarf::Die> find_entries(std::string_view name, dwarf::NameKinds kinds);
  // Whether debug information knows of calls of the function that were inlined; without reading more than the
  // index of names.
  bool has_inlined_calls(std::string_view name);
  // The entry (DW_TAG_subprogram) of the function whose code holds this address, not of one inlined there.
  std::optional<dwarf::Die> function_entry(uint64_t address);
  // Where statements of a line begin, by address; column 0: any. `file` is a path or the end of one
  // ("readline.c", "lib/readline.c"). One for each function and each inlined piece that has the line.
  std::vector<LineAddress> addresses_of_line(std::string_view file, uint32_t line, uint32_t column,
                                             LineMiss& miss);
  // Why there is no debug information and what would help: "its debug file is not installed (build-id …); …".
  std::string debug_hint();

private:
  struct Debug;
  explicit Binary(BinaryPlace place);
  Debug* debug();
  bool is_code(uint64_t address) const;
  std::optional<FunctionSymbol> unnamed_function(std::string_view name);
  void each_symbol_file(const std::function<bool(const format::ElfFile&)>& take);
  void each_symbol(const std::function<bool(const format::ElfSymbol&)>& take);

  BinaryPlace place_;
  std::string host_path_;
  base::FileMap archive_; // that file_ is in
  std::optional<format::ElfFile> file_;
  uint64_t offset_in_archive_ = 0;        // bytes before the ELF file
  std::map<uint64_t, JumpTargets> jumps_; // of segments, by their address
  mutable std::optional<bool> is_go_;
  std::optional<DebugFile> debug_file_;
  std::optional<std::vector<FunctionSymbol>> functions_;
  unsigned searches_ = 0; // for functions by name
  std::unordered_map<std::string, std::string> shown_; // by mangled name; empty: it is none
  std::unordered_map<std::string, std::optional<SymbolPlace>> symbols_; // that were asked for
  std::unique_ptr<Debug> debug_;
  bool debug_tried_ = false;
};

} // namespace symbol
