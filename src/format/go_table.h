// The table of functions that programs of Go carry for their own runtime, also when they are stripped:
// .gopclntab. It is found by name, or where that was changed or sections are not listed, by how it begins;
// and believed only if its first function is in code and has a name.
//
// There are four forms, of Go 1.2, 1.16, 1.18 and 1.20 and later, told by the first number (magic). A table
// is
//
//   header     magic, 0, 0, least size of an instruction, size of an address; then words: how many functions,
//   and since
//              1.16 where the parts begin (names, lists of files, files, numbers by address, functions)
//   functions  {begin, place of the record} of each, in the order of addresses; then the end of the last one
//   records    name, and where the numbers are that hold for its addresses (go_lines.h)
//
// Since 1.18 begins count from the start of the code, which the header has up to 1.25, and the runtime's own
// description of the program (moduledata) always. Specification: the source of Go, src/runtime/symtab.go and
// src/internal/abi/symtab.go.
#pragma once

#include "format/elf_words.h"

#include <functional>
#include <string_view>

namespace format {

// What differs between the forms.
struct GoForm {
  uint32_t magic = 0;
  bool has_offsets = false; // begins count from the start of the code, in 32 bits
  bool has_parts = false;   // the header tells where the parts are
  uint8_t first_part = 0;   // index of the header's word that tells where the names are
  uint8_t functions_data =
      0; // place in a record of the number of its function data, behind which lists begin
};

class GoTable {
public:
  struct Function {
    std::string_view name; // "main.main", "net/http.(*Client).Do"; the file's
    uint64_t begin = 0, end = 0;
    uint64_t record = 0; // place in functions()
  };

  // Nothing: the file has none that we read. `file` outlives this.
  static std::optional<GoTable> find(const ElfFile& file);

  uint64_t size() const { return count_; }
  // In the order of addresses; nothing: that one is damaged.
  std::optional<Function> at(uint64_t index) const;
  std::optional<Function> holding(uint64_t address) const;

  // For those who read more of it.
  const GoForm& form() const { return *form_; }
  const ElfWords& words() const { return words_; }
  uint8_t instruction_size() const { return instruction_size_; }
  // Words of the runtime's description of the program from here on; 0: it was not found, or is not needed.
  uint64_t module_data() const { return module_data_; }
  // Addresses of the parts, and the parts themselves, each up to the end of what may be the table.
  uint64_t functions_address() const { return functions_address_; }
  base::ByteSpan functions() const { return functions_; }
  base::ByteSpan names() const { return names_; }
  base::ByteSpan file_lists() const { return file_lists_; } // 32 bits each: places in files()
  base::ByteSpan files() const { return files_; }
  base::ByteSpan numbers() const { return numbers_; }

private:
  GoTable(const ElfFile& file, uint64_t address, base::ByteSpan bytes)
      : words_(file), address_(address), bytes_(bytes) {}
  static std::optional<GoTable> read(const ElfFile& file, uint64_t address, base::ByteSpan bytes);
  static std::optional<GoTable> look_for(const ElfFile& file);
  bool read_header();
  bool read_parts(base::Reader& header);
  void read_old_files();
  bool find_code();
  std::optional<uint64_t> begin(uint64_t index) const;
  std::optional<uint64_t> first_in(uint64_t module_data) const;
  unsigned entry_size() const { return form_->has_offsets ? 8 : 16; }

  ElfWords words_;
  uint64_t address_ = 0; // of the table
  base::ByteSpan bytes_;
  const GoForm* form_ = nullptr;
  uint8_t instruction_size_ = 1;
  uint64_t count_ = 0, code_ = 0, module_data_ = 0, functions_address_ = 0;
  base::ByteSpan functions_, names_, file_lists_, files_, numbers_;
};

// Whether a file has such a table; cheap for programs of other languages that have a symbol table.
bool has_go_functions(const ElfFile& file);

// Calls `take` for each function, in the order of their addresses. Damaged tables give fewer.
void for_each_go_function(const ElfFile& file, const std::function<void(const GoTable::Function&)>& take);

} // namespace format
