// ELF files of 64-bit little-endian machines: headers, sections, segments and symbol tables. Nothing is
// copied; the file's bytes must outlive what is read from them. Damaged files give fewer sections, segments
// or symbols, never a read outside the file. Specification: System V ABI, chapters 4 and 5; <elf.h>.
#pragma once

#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace format {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0; // SHT_…
  uint64_t flags = 0;
  uint64_t address = 0; // in relocatable files those that are loaded get one after the other
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;
  uint32_t link = 0; // of symbol tables: the section with their names
  uint32_t info = 0; // of relocations: the section they are for
  uint64_t alignment = 0;
  uint64_t entry_size = 0;
};

struct ElfSegment {
  uint32_t type = 0; // PT_…
  uint32_t flags = 0;
  uint64_t offset = 0; // in the file
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  uint64_t alignment = 0;
};

struct ElfSymbol {
  std::string_view name;
  uint64_t value = 0; // an address of the file, before it is moved by the loader
  uint64_t size = 0;
  uint8_t type = 0;         // STT_…
  uint8_t binding = 0;      // STB_…
  uint16_t section = 0;     // 0: not defined here
  bool is_function() const; // also those that are chosen when the program is loaded
};

class Elf {
public:
  // Failure: no ELF file, or none of this kind.
  static base::Result<Elf> parse(base::ByteSpan file);

  bool is_executable() const { return type_ == 2; }  // linked to a fixed address (ET_EXEC)
  bool is_relocatable() const { return type_ == 1; } // a compiler's output, a kernel module (ET_REL)
  uint16_t machine() const { return machine_; }      // EM_…
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  // By name; nullptr if there is none.
  const ElfSection* section(std::string_view name) const;
  // Empty for sections without bytes in the file.
  base::ByteSpan content(const ElfSection& section) const;
  // Each symbol of a table (".symtab", ".dynsym").
  void for_each_symbol(const ElfSection& table, const std::function<void(const ElfSymbol&)>& take) const;
  // Where the byte at an address is in the file, if a loaded segment holds it. The way back: load_bias.h.
  std::optional<uint64_t> offset_of_address(uint64_t address) const;

private:
  void read_segments(uint64_t at, uint16_t count, uint16_t entry_size);
  void read_sections(uint64_t at, uint32_t count, uint16_t entry_size, uint32_t names);
  void place_sections();

  base::ByteSpan file_;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
};

} // namespace format
