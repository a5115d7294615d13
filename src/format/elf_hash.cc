#include "format/elf_hash.h"

#include <elf.h>

namespace format {

namespace {

uint32_t gnu_hash(std::string_view name) {
  uint32_t hash = 5381;
  for (const unsigned char c : name) hash = hash * 33 + c;
  return hash;
}

std::optional<Elf64_Sym> symbol_at(base::ByteSpan table, uint64_t index) {
  const base::ByteSpan bytes = base::slice(table, index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
  if (bytes.empty()) return std::nullopt;
  Elf64_Sym symbol;
  std::memcpy(&symbol, bytes.data(), sizeof symbol);
  return symbol;
}

uint32_t number_at(base::ByteSpan table, uint64_t offset) { return base::Reader(table, offset).number<uint32_t>(); }

} // namespace

// Header: buckets, index of the first hashed symbol, words of the Bloom filter (8 bytes each), shift; the filter; the buckets; a hash for
// each symbol, whose lowest bit is set at the end of a bucket's chain.
std::optional<ElfSymbol> find_exported(const ElfFile& file, std::string_view name) {
  const base::ByteSpan hashes = file.section(".gnu.hash"), symbols = file.section(".dynsym"), names = file.section(".dynstr");
  base::Reader header(hashes);
  const uint32_t buckets = header.number<uint32_t>(), first = header.number<uint32_t>(), words = header.number<uint32_t>(),
                 shift = header.number<uint32_t>();
  if (!header.ok() || !buckets || !words) return std::nullopt;
  const uint32_t hash = gnu_hash(name);
  const uint64_t filter_at = header.at(), buckets_at = filter_at + uint64_t{words} * 8, chains_at = buckets_at + uint64_t{buckets} * 4;
  const auto filter = base::Reader(hashes, filter_at + hash / 64 % words * 8).number<uint64_t>();
  if (!(filter >> (hash % 64) & filter >> (hash >> (shift % 32)) % 64 & 1)) return std::nullopt;
  for (uint64_t index = number_at(hashes, buckets_at + uint64_t{hash % buckets} * 4); index >= first && index; index++) {
    const base::ByteSpan chain = base::slice(hashes, chains_at + (index - first) * 4, 4);
    const auto symbol = symbol_at(symbols, index);
    if (chain.empty() || !symbol) return std::nullopt;
    const uint32_t of_symbol = number_at(chain, 0);
    if ((of_symbol | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF && base::text_at(names, symbol->st_name) == name)
      return ElfSymbol{.name = base::text_at(names, symbol->st_name),
                       .value = symbol->st_value,
                       .size = symbol->st_size,
                       .type = static_cast<uint8_t>(ELF64_ST_TYPE(symbol->st_info)),
                       .binding = static_cast<uint8_t>(ELF64_ST_BIND(symbol->st_info)),
                       .section = symbol->st_shndx};
    if (of_symbol & 1) break;
  }
  return std::nullopt;
}

} // namespace format
