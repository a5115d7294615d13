// Any bytes as a program with Go's table of functions: its functions, lines and inlined calls, and how its goroutines wait. What is no ELF
// file is taken as the table alone, in a program around it.
#include "format/go_lines.h"
#include "format/go_waits.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <vector>

namespace {

constexpr uint64_t where = 0x400000;

// Headers, code and the table, all of them loaded in one piece.
std::vector<std::byte> program_around(const uint8_t* data, size_t size) {
  constexpr size_t begin = 4096;
  std::vector<std::byte> out(begin + size);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_W | PF_X;
  segment.p_vaddr = where;
  segment.p_filesz = segment.p_memsz = out.size();
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, &segment, sizeof segment);
  std::memcpy(out.data() + begin, data, size);
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bool is_elf = size > SELFMAG && std::memcmp(data, ELFMAG, SELFMAG) == 0;
  auto file = is_elf ? format::ElfFile::view({reinterpret_cast<const std::byte*>(data), size})
                     : format::ElfFile::of(program_around(data, size));
  if (!file.ok()) return 0;
  auto table = format::GoTable::find(*file);
  if (!table) return 0;
  format::GoLines lines(*table);
  const auto waits = format::find_go_waits(*file);
  size_t total = waits.ok() ? waits->reasons.size() : 0;
  for (uint64_t i = 0; i < std::min<uint64_t>(table->size(), 256); i++)
    if (auto f = table->at(i))
      for (uint64_t address : {f->begin, f->begin + 8, f->end - 1})
        for (const format::GoFrame& frame : lines.find(address))
          total += frame.function.size() + frame.file.size();
  return total == SIZE_MAX;
}
