// Makes tables of functions (function_names.h), from the symbol tables of ELF files or from any list of
// functions.
#pragma once

#include "format/elf_file.h"
#include "symbol/frame_functions.h"
#include "symbol/function_names.h"

#include <string>
#include <string_view>
#include <vector>

namespace symbol {

class FunctionNamesMaker {
public:
  // Of several functions that start at one address the one with the highest rank is kept, then one with a
  // size, then one with fewer underscores at its front (`malloc` rather than `__libc_malloc`), then the
  // first.
  void add(uint64_t address, uint64_t size, std::string_view name, uint8_t rank = 0);
  void add_segment(const CodeSegment& segment) { segments_.push_back(segment); }
  // The functions of a file's symbol tables. Of a separate debug file the sections have no bytes, but
  // addresses.
  void add_symbols(const format::ElfFile& file);
  // Those that the runtime of Go knows.
  void add_go_functions(const format::ElfFile& file);
  // Code that only unwind tables tell of (frame_functions.h): where it begins in no other function, it gets a
  // name by its address.
  void add_unnamed(const format::ElfFile& file);
  void add_segments(const format::ElfFile& file);
  // Where names are from that are in no symbol table of the file (FunctionNames::Header::source); and that
  // there is no more to be known.
  void set_source(std::string_view path) { source_ = path; }
  void set_whole() { is_whole_ = true; }
  size_t size() const { return functions_.size(); }
  // The table's bytes. Nothing can be added afterwards. Names are demangled here if there are not too many.
  std::vector<std::byte> make();

private:
  struct Function {
    uint64_t address = 0, size = 0;
    uint64_t name = 0; // place in names_
    uint32_t length = 0;
    uint8_t rank = 0;
    bool is_derived = false;
  };
  struct Range {
    uint64_t start = 0;
    uint32_t function = 0;
  };
  std::string_view name(const Function& f) const { return {names_.data() + f.name, f.length}; }
  bool is_better(const Function& a, const Function& b) const;
  bool can_take(std::string_view name) const;
  void keep_one_per_address();
  void name_unnamed();
  void drop_far_away();
  void add_table(const format::ElfFile& file, std::string_view name);
  std::vector<Range> take_apart() const;

  std::vector<Function> functions_;
  std::vector<FrameFunction> unnamed_;
  std::string names_;
  std::vector<CodeSegment> segments_;
  std::string source_;
  bool is_whole_ = false;
};

// The table of a file: its own symbols, those packed inside, those of `debug` (nullptr: there is none).
// `debug_path` is kept in the table.
std::vector<std::byte> make_function_names(const format::ElfFile& file, const format::ElfFile* debug,
                                           std::string_view debug_path);

} // namespace symbol
