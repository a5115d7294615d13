#include "symbol/elf_symbols.h"

#include "format/elf.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace symbol {

// Of several names for a function the one that other files see: `write` is an alias of `__write`.
static uint8_t rank(const format::ElfSymbol& s) {
  return s.binding == STB_GLOBAL ? 2 : s.binding == STB_WEAK ? 1 : 0;
}

void ElfSymbols::read(base::ByteSpan image) {
  auto elf = format::Elf::parse(image);
  if (!elf.ok()) return;
  for (std::string_view name : {".symtab", ".dynsym"}) {
    const format::ElfSection* table = elf->section(name);
    if (!table || functions_.size()) continue;
    elf->for_each_symbol(*table, [&](const format::ElfSymbol& s) {
      if (s.section == SHN_UNDEF || !s.is_function()) return;
      if (auto offset = elf->offset_of_address(s.value)) functions_.add(*offset, s.size, s.name, rank(s));
    });
  }
  functions_.sort();
}

// What is needed of the file is copied at once: it may be cut while it is mapped for long.
void ElfSymbols::load() {
  if (!fd_.valid()) return;
  base::Fd fd = std::move(fd_);
  struct stat about = {};
  if (::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0) return;
  auto size = static_cast<size_t>(about.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) return;
  read({static_cast<const std::byte*>(at), size});
  ::munmap(at, size);
}

std::optional<FunctionTable::Found> ElfSymbols::find(uint64_t offset) {
  load();
  return functions_.find(offset);
}

size_t ElfSymbols::size() {
  load();
  return functions_.size();
}

} // namespace symbol
