// Relocations tell the loader where to write what leads to a variable. Of a library that is linked to its own variables (-Bsymbolic, hidden aliases), they
// name no symbol but the offset in the block.
#include "format/thread_variable.h"

#include "format/elf_dynamic.h"
#include "format/elf_hash.h"

#include <algorithm>
#include <elf.h>

namespace format {

bool is_program_file(const Elf& elf) {
  // libc.so.6 can be executed, too, but it has a name as a library.
  const bool has_loader = std::ranges::any_of(elf.segments(), [](const ElfSegment& s) { return s.type == PT_INTERP; });
  return elf.is_executable() || (has_loader && library_name(elf).empty()) || is_position_independent_program(elf);
}

std::optional<uint64_t> program_block(const Elf& elf) {
  for (const ElfSegment& s : elf.segments()) {
    if (s.type != PT_TLS) continue;
    const uint64_t alignment = std::max<uint64_t>(1, s.alignment);
    if (alignment & (alignment - 1)) return std::nullopt;
    return s.memory_size + ((-s.address - s.memory_size) & (alignment - 1));
  }
  return std::nullopt;
}

bool needs_musl(const ElfFile& file) {
  return std::ranges::any_of(needed_libraries(file.elf()), [](std::string_view name) { return name.starts_with("libc.musl"); });
}

namespace {

// A symbol that a file exports, also where it has no hash table (some static programs).
std::optional<ElfSymbol> find_symbol(const ElfFile& file, std::string_view name) {
  if (file.has_section(".gnu.hash")) return find_exported(file, name);
  const ElfSection* table = file.elf().section(".dynsym");
  std::optional<ElfSymbol> out;
  if (table)
    file.elf().for_each_symbol(*table, [&](const ElfSymbol& s) {
      if (s.section != SHN_UNDEF && s.name == name) out = s;
    });
  return out;
}

std::optional<spec::ThreadVariable> find_relocation(const ElfFile& file, std::string_view name, uint64_t value) {
  using spec::ThreadVariable;
  const base::ByteSpan symbols = file.section(".dynsym"), names = file.section(".dynstr");
  const uint64_t entry_bytes = needs_musl(file) ? 8 : 16;
  std::optional<ThreadVariable> out;
  for (std::string_view section : {".rela.dyn", ".rela.plt"}) {
    const base::ByteSpan relocations = file.section(section);
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size(); at += sizeof(Elf64_Rela)) {
      base::Reader r(relocations, at);
      const auto place = r.number<uint64_t>(), info = r.number<uint64_t>(), addend = r.number<uint64_t>();
      const uint64_t kind = ELF64_R_TYPE(info), symbol = ELF64_R_SYM(info);
      if (kind != R_X86_64_DTPMOD64 && kind != R_X86_64_TPOFF64 && kind != R_X86_64_TLSDESC) continue;
      const bool is_named = symbol && base::text_at(names, base::Reader(symbols, symbol * sizeof(Elf64_Sym)).number<uint32_t>()) == name;
      if (symbol ? !is_named : kind != R_X86_64_DTPMOD64 && addend != value) continue; // the module is the file's own
      if (kind == R_X86_64_TLSDESC) return ThreadVariable{ThreadVariable::by_descriptor, place + 8, 0, entry_bytes};
      if (kind == R_X86_64_TPOFF64) return ThreadVariable{ThreadVariable::by_distance, place, 0, entry_bytes};
      if (!out) out = ThreadVariable{ThreadVariable::by_module, place, static_cast<int64_t>(value), entry_bytes};
    }
  }
  return out;
}

} // namespace

std::optional<spec::ThreadVariable> find_thread_variable(const ElfFile& file, std::string_view name) {
  if (file.elf().machine() != EM_X86_64) return std::nullopt;
  const std::optional<ElfSymbol> symbol = find_symbol(file, name);
  if (!symbol || symbol->type != STT_TLS) return std::nullopt;
  if (!is_program_file(file.elf())) return find_relocation(file, name, symbol->value);
  const std::optional<uint64_t> block = program_block(file.elf());
  if (!block) return std::nullopt;
  return spec::ThreadVariable{.how = spec::ThreadVariable::fixed, .offset = static_cast<int64_t>(symbol->value - *block)};
}

} // namespace format
