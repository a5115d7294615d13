#include "symbol/function_symbols.h"

#include "format/go_table.h"

#include <algorithm>
#include <elf.h>
#include <vector>

namespace symbol {

namespace {

using base::ByteSpan;
using base::Reader;

constexpr uint16_t hidden = 0x8000; // of a version's number: not the default
constexpr size_t most_versions = 0x7fff;

// The versions which the symbols of .dynsym have: .gnu.version has a number for each, and .gnu.version_d
// what is defined here by these numbers. (What is needed of other files is of no interest.)
class Versions {
public:
  explicit Versions(const format::Elf& elf) {
    const format::ElfSection* numbers = elf.section(".gnu.version");
    const format::ElfSection* defined = elf.section(".gnu.version_d");
    if (!numbers || !defined || defined->link >= elf.sections().size()) return;
    numbers_ = elf.content(*numbers);
    read(elf.content(*defined), elf.content(elf.sections()[defined->link]));
  }
  void put(uint64_t symbol, FunctionSymbol& to) const {
    Reader r(numbers_, symbol * 2);
    auto number = r.number<uint16_t>();
    size_t index = number & ~hidden;
    if (!r.ok() || index >= names_.size() || names_[index].empty()) return;
    to.version = names_[index];
    to.is_default = !(number & hidden);
  }

private:
  void read(ByteSpan defined, ByteSpan texts) {
    uint64_t at = 0;
    for (size_t i = 0; i < most_versions; i++) {
      Reader r(defined, at);
      r.skip(2); // vd_version
      auto flags = r.number<uint16_t>();
      auto index = r.number<uint16_t>();
      r.skip(6); // vd_cnt, vd_hash
      auto first = r.number<uint32_t>(), next = r.number<uint32_t>();
      Reader name(defined, at + first);
      auto text = name.number<uint32_t>();
      if (!r.ok() || !name.ok()) return;
      index &= static_cast<uint16_t>(~hidden);
      if (!(flags & VER_FLG_BASE)) { // which is the name of the file
        if (index >= names_.size()) names_.resize(index + 1u);
        names_[index] = base::text_at(texts, text);
      }
      if (!next) return;
      at += next;
    }
  }

  ByteSpan numbers_;
  std::vector<std::string_view> names_;
};

bool is_code(const format::Elf& elf, const format::ElfSymbol& s) {
  if (s.section == SHN_UNDEF || s.section >= elf.sections().size()) return false;
  const format::ElfSection& section = elf.sections()[s.section];
  return (section.flags & SHF_EXECINSTR) && s.value - section.address < section.size;
}

void add_table(const format::ElfFile& file, std::string_view table_name,
               const std::function<void(const FunctionSymbol&)>& take) {
  const format::Elf& elf = file.elf();
  const format::ElfSection* table = elf.section(table_name);
  if (!table) return;
  std::optional<Versions> versions;
  if (table_name == ".dynsym") versions.emplace(elf);
  uint64_t index = 0;
  elf.for_each_symbol(*table, [&](const format::ElfSymbol& s) {
    uint64_t at = index++;
    bool is_label = s.type == STT_NOTYPE;
    if (s.name.empty() || !(s.is_function() || is_label) || !is_code(elf, s)) return;
    if (is_label && (s.name.starts_with('$') || s.name.starts_with(".L"))) return; // marks of the assembler
    FunctionSymbol f = {.name = s.name,
                        .address = s.value,
                        .size = s.size,
                        .is_local = s.binding == STB_LOCAL,
                        .is_chooser = s.type == STT_GNU_IFUNC,
                        .is_exported = versions.has_value() && s.binding != STB_LOCAL,
                        .is_label = is_label};
    if (versions) versions->put(at, f);
    VersionedName parts = split_version(s.name);
    if (!parts.version.empty()) {
      f.is_default = s.name.substr(parts.name.size()).starts_with("@@");
      f.name = parts.name;
      f.version = parts.version;
    }
    take(f);
  });
}

size_t underscores(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

} // namespace

VersionedName split_version(std::string_view name) {
  size_t at = name.find('@');
  if (at == name.npos || at == 0) return {name, {}};
  size_t version = name.find_first_not_of('@', at);
  return {name.substr(0, at), version == name.npos ? std::string_view() : name.substr(version)};
}

bool is_better_known(const FunctionSymbol& a, const FunctionSymbol& b) {
  if (a.is_label != b.is_label) return b.is_label;
  if (a.is_local != b.is_local) return b.is_local;
  if ((a.size != 0) != (b.size != 0)) return a.size != 0;
  return underscores(a.name) < underscores(b.name);
}

void for_each_function(const format::ElfFile& file, const std::function<void(const FunctionSymbol&)>& take) {
  add_table(file, ".symtab", take);
  add_table(file, ".dynsym", take);
  if (file.elf().section(".symtab")) return;
  format::for_each_go_function(file, [&](const format::GoTable::Function& f) {
    take({.name = f.name, .address = f.begin, .size = f.end - f.begin, .is_local = true});
  });
}

} // namespace symbol
