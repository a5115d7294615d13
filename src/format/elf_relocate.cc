#include "format/elf_relocate.h"

#include <elf.h>

namespace format {

using base::Reader;

const ElfSection* relocations_of(const Elf& elf, size_t section) {
  for (const ElfSection& s : elf.sections())
    if (s.type == SHT_RELA && s.info == section) return &s;
  return nullptr;
}

struct Kind {
  uint16_t machine = 0;
  uint32_t type = 0;
  uint8_t size = 0;         // bytes that are filled in
  bool is_relative = false; // to the place itself
};

static constexpr Kind kinds[] = {
    {EM_X86_64, R_X86_64_64, 8, false},       {EM_X86_64, R_X86_64_32, 4, false},
    {EM_X86_64, R_X86_64_32S, 4, false},      {EM_X86_64, R_X86_64_PC32, 4, true},
    {EM_X86_64, R_X86_64_PC64, 8, true},      {EM_X86_64, R_X86_64_DTPOFF64, 8, false},
    {EM_X86_64, R_X86_64_DTPOFF32, 4, false}, {EM_AARCH64, R_AARCH64_ABS64, 8, false},
    {EM_AARCH64, R_AARCH64_ABS32, 4, false},  {EM_AARCH64, R_AARCH64_PREL64, 8, true},
    {EM_AARCH64, R_AARCH64_PREL32, 4, true},
};

static const Kind* kind_of(uint16_t machine, uint32_t type) {
  for (const Kind& k : kinds)
    if (k.machine == machine && k.type == type) return &k;
  return nullptr;
}

std::string relocate(const Elf& elf, size_t section, const ElfSection& relocations, base::ByteSpan entries,
                     std::span<std::byte> bytes) {
  if (relocations.link >= elf.sections().size()) return "its relocations have no symbols";
  base::ByteSpan symbols = elf.content(elf.sections()[relocations.link]);
  const uint64_t base_address = elf.sections()[section].address;
  std::string problem;
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= entries.size(); at += sizeof(Elf64_Rela)) {
    Reader r(entries, at);
    auto place = r.number<uint64_t>(), info = r.number<uint64_t>(),
         value = r.number<uint64_t>(); // value: addend
    auto type = static_cast<uint32_t>(ELF64_R_TYPE(info));
    if (type == 0) continue; // R_…_NONE
    const Kind* kind = kind_of(elf.machine(), type);
    if (!kind) problem = "a relocation of an unknown kind (" + std::to_string(type) + ")";
    if (!kind || place > bytes.size() || kind->size > bytes.size() - place) continue;
    Reader symbol(symbols, ELF64_R_SYM(info) * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_shndx));
    auto in = symbol.number<uint16_t>();
    value += symbol.number<uint64_t>();
    if (in < elf.sections().size()) value += elf.sections()[in].address;
    if (kind->is_relative) value -= base_address + place;
    std::memcpy(bytes.data() + place, &value, kind->size);
  }
  return problem;
}

} // namespace format
