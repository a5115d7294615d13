#include "runtime/hotspot_structs.h"

#include <cstring>

namespace runtime {

static constexpr uint64_t page_bytes = 4096;
static constexpr size_t max_pages = 4096; // programs may pretend to be a JVM, with tables that lead anywhere

const std::vector<std::byte>& PagedMemory::page(uint64_t number) {
  static const std::vector<std::byte> none;
  if (pages_.size() >= max_pages && !pages_.contains(number)) return none;
  auto [at, is_new] = pages_.try_emplace(number);
  if (!is_new) return at->second;
  at->second.resize(page_bytes);
  if (!read_(number * page_bytes, at->second)) at->second.clear();
  return at->second;
}

uint64_t PagedMemory::number(uint64_t address, unsigned bytes) {
  uint64_t out = 0;
  for (unsigned i = 0; i < bytes && i < sizeof out; i++) {
    const std::vector<std::byte>& in = page((address + i) / page_bytes);
    if (in.empty()) return 0;
    out |= std::to_integer<uint64_t>(in[(address + i) % page_bytes]) << 8 * i;
  }
  return out;
}

std::string PagedMemory::text(uint64_t address, size_t most) {
  std::string out;
  while (address && out.size() < most) {
    const char c = static_cast<char>(number(address + out.size(), 1));
    if (!c) break;
    out += c;
  }
  return out;
}

HotspotStructs::HotspotStructs(PagedMemory& memory, uint64_t structs, uint64_t types, uint64_t constants) {
  constexpr size_t max_entries = 1 << 14;
  // {typeName, fieldName, typeString, int isStatic, uint64_t offset, void* address}
  uint64_t at = memory.number(structs, 8);
  for (size_t n = 0; n < max_entries && at; n++, at += 48) {
    const uint64_t type = memory.number(at, 8);
    if (!type) break;
    const bool is_static = memory.number(at + 24, 4) != 0;
    fields_.try_emplace(memory.text(type) + "::" + memory.text(memory.number(at + 8, 8)), memory.number(at + (is_static ? 40 : 32), 8));
  }
  // {typeName, superclassName, int isOopType, isIntegerType, isUnsigned, uint64_t size}
  at = memory.number(types, 8);
  for (size_t n = 0; n < max_entries && at; n++, at += 40) {
    const uint64_t type = memory.number(at, 8);
    if (!type) break;
    sizes_.try_emplace(memory.text(type), memory.number(at + 32, 8));
  }
  // {name, int value}
  at = memory.number(constants, 8);
  for (size_t n = 0; n < max_entries && at; n++, at += 16) {
    const uint64_t name = memory.number(at, 8);
    if (!name) break;
    constants_.try_emplace(memory.text(name), memory.number(at + 8, 4));
  }
}

std::optional<uint64_t> HotspotStructs::find(const Numbers& in, std::string_view name) {
  const auto at = in.find(std::string(name));
  return at == in.end() ? std::nullopt : std::optional(at->second);
}

} // namespace runtime
