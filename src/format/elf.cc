#include "format/elf.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace format {

using base::Reader;

// More than any real file has; a damaged count, or a file with holes, must cost neither memory nor time.
static constexpr uint32_t most_sections = 1 << 17;
static constexpr uint64_t most_symbols = 1 << 24, longest_name = 1 << 16;

bool ElfSymbol::is_function() const { return type == STT_FUNC || type == STT_GNU_IFUNC; }

static base::Error not_elf(std::string_view why) {
  return {base::Failure::runtime, "not an ELF file that can be read: " + std::string(why)};
}

base::Result<Elf> Elf::parse(base::ByteSpan file) {
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return not_elf("it has no header");
  auto ident = [&](int i) { return static_cast<uint8_t>(file[static_cast<size_t>(i)]); };
  if (ident(EI_CLASS) != ELFCLASS64 || ident(EI_DATA) != ELFDATA2LSB)
    return not_elf("it is not of a 64-bit little-endian machine");
  Elf elf;
  elf.file_ = file;
  Reader r(file, EI_NIDENT);
  elf.type_ = r.number<uint16_t>();
  elf.machine_ = r.number<uint16_t>();
  r.skip(4 + 8); // version, entry
  auto segments_at = r.number<uint64_t>(), sections_at = r.number<uint64_t>();
  r.skip(4 + 2); // flags, size of the header
  auto segment_size = r.number<uint16_t>(), segment_count = r.number<uint16_t>();
  auto section_size = r.number<uint16_t>();
  uint32_t section_count = r.number<uint16_t>(), names = r.number<uint16_t>();
  if (sections_at && section_size >= sizeof(Elf64_Shdr)) {
    Reader first(file, sections_at); // counts that do not fit the header stand in the first section
    first.skip(32);
    auto more = first.number<uint64_t>();
    auto link = first.number<uint32_t>();
    if (section_count == 0) section_count = static_cast<uint32_t>(std::min<uint64_t>(more, most_sections));
    if (names == SHN_XINDEX) names = link;
    elf.read_sections(sections_at, section_count, section_size, names);
    if (elf.is_relocatable()) elf.place_sections();
  }
  if (segments_at && segment_size >= sizeof(Elf64_Phdr))
    elf.read_segments(segments_at, segment_count, segment_size);
  return elf;
}

void Elf::read_segments(uint64_t at, uint16_t count, uint16_t entry_size) {
  for (uint16_t i = 0; i < count; i++) {
    Reader r(file_, at + uint64_t{i} * entry_size);
    ElfSegment s;
    s.type = r.number<uint32_t>();
    s.flags = r.number<uint32_t>();
    s.offset = r.number<uint64_t>();
    s.address = r.number<uint64_t>();
    r.skip(8); // physical address
    s.file_size = r.number<uint64_t>();
    s.memory_size = r.number<uint64_t>();
    s.alignment = r.number<uint64_t>();
    if (!r.ok()) return;
    segments_.push_back(s);
  }
}

void Elf::read_sections(uint64_t at, uint32_t count, uint16_t entry_size, uint32_t names) {
  std::vector<uint32_t> name_offsets;
  for (uint32_t i = 0; i < std::min(count, most_sections); i++) {
    Reader r(file_, at + uint64_t{i} * entry_size);
    ElfSection s;
    auto name = r.number<uint32_t>();
    s.type = r.number<uint32_t>();
    s.flags = r.number<uint64_t>();
    s.address = r.number<uint64_t>();
    s.offset = r.number<uint64_t>();
    s.size = r.number<uint64_t>();
    s.link = r.number<uint32_t>();
    s.info = r.number<uint32_t>();
    s.alignment = r.number<uint64_t>();
    s.entry_size = r.number<uint64_t>();
    if (!r.ok()) break;
    name_offsets.push_back(name);
    sections_.push_back(s);
  }
  if (names >= sections_.size()) return;
  base::ByteSpan text = content(sections_[names]);
  for (size_t i = 0; i < sections_.size(); i++) sections_[i].name = base::text_at(text, name_offsets[i]);
}

// Nothing says where a relocatable file will be; still each byte of it needs an address of its own. The same
// file stripped, and its debug file, get the same ones.
void Elf::place_sections() {
  uint64_t at = 0;
  for (ElfSection& s : sections_) {
    if (!(s.flags & SHF_ALLOC)) continue;
    uint64_t alignment = std::clamp<uint64_t>(s.alignment, 1, 1 << 16);
    s.address = at = (at + alignment - 1) / alignment * alignment;
    at += std::min<uint64_t>(s.size, UINT32_MAX);
  }
}

const ElfSection* Elf::section(std::string_view name) const {
  for (const ElfSection& s : sections_)
    if (s.name == name) return &s;
  return nullptr;
}

base::ByteSpan Elf::content(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return {};
  return base::slice(file_, section.offset, section.size);
}

void Elf::for_each_symbol(const ElfSection& table, const std::function<void(const ElfSymbol&)>& take) const {
  if (table.link >= sections_.size()) return;
  base::ByteSpan symbols = content(table), names = content(sections_[table.link]);
  uint64_t count = std::min(symbols.size() / sizeof(Elf64_Sym), most_symbols);
  for (uint64_t i = 0; i < count; i++) {
    Reader r(symbols, i * sizeof(Elf64_Sym));
    uint64_t name = r.number<uint32_t>();
    auto info = r.number<uint8_t>();
    r.skip(1); // visibility
    ElfSymbol s;
    s.section = r.number<uint16_t>();
    s.value = r.number<uint64_t>();
    if (is_relocatable() && s.section < sections_.size()) s.value += sections_[s.section].address;
    s.size = r.number<uint64_t>();
    s.type = ELF64_ST_TYPE(info);
    s.binding = ELF64_ST_BIND(info);
    s.name = base::text_at(names.first(std::min<uint64_t>(names.size(), name + longest_name)), name);
    take(s);
  }
}

// Relocatable files have sections where others have segments.
static bool is_loaded(const Elf& elf, const ElfSection& s) {
  return elf.is_relocatable() && (s.flags & SHF_ALLOC) && s.type != SHT_NOBITS;
}

std::optional<uint64_t> Elf::offset_of_address(uint64_t address) const {
  for (const ElfSegment& s : segments_)
    if (s.type == PT_LOAD && address >= s.address && address - s.address < s.file_size)
      return s.offset + (address - s.address);
  for (const ElfSection& s : sections_)
    if (is_loaded(*this, s) && address >= s.address && address - s.address < s.size)
      return s.offset + (address - s.address);
  return std::nullopt;
}

} // namespace format
