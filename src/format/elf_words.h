// Numbers in the loaded data of a program, as the program sees them if the loader does not move it. A movable
// program (PIE, library) has relocations for words that hold addresses; the words themselves may be 0 in the
// file. Specification: System V ABI, "Relocation"; psABI of x86-64, R_X86_64_RELATIVE; ELF for the Arm 64-bit
// architecture, R_AARCH64_RELATIVE.
#pragma once

#include "format/elf_file.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace format {

class ElfWords {
public:
  // `file` outlives this.
  explicit ElfWords(const ElfFile& file);

  // The 8 bytes at an address of the file; nothing: the file has no bytes there.
  std::optional<uint64_t> at(uint64_t address) const;
  // Addresses of words that hold this value, in segments that can be written before the loader is done; at
  // most `most`.
  std::vector<uint64_t> find(uint64_t value, size_t most) const;
  // The bytes of the file from an address to the end of its segment, without relocations; empty: there are
  // none.
  base::ByteSpan bytes(uint64_t address) const;

private:
  void read_relocations(uint64_t address, uint64_t size);

  const ElfFile* file_;
  std::vector<std::pair<uint64_t, uint64_t>> relocated_; // address of a word, what it becomes; in order
};

} // namespace format
