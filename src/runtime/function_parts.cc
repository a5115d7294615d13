#include "runtime/function_parts.h"

#include "dwarf/frame_entries.h"
#include "dwarf/frame_rules.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace runtime {

base::ByteSpan bytes_at(const format::ElfFile& file, uint64_t address, uint64_t size) {
  const auto offset = file.elf().offset_of_address(address);
  return offset ? base::slice(file.bytes(), *offset, size) : base::ByteSpan();
}

// Conditional jumps out of a function lead to that part and nowhere else. Any bytes that look like one count, so it is the part that most of them
// lead to.
language_code cold_part(const format::ElfFile& file, const language_code& hot) {
  const base::ByteSpan code = bytes_at(file, hot.begin, hot.end - hot.begin);
  const dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  std::map<uint64_t, std::pair<size_t, uint64_t>> parts; // by begin: jumps, end
  constexpr size_t length = 6; // 0f 8x, and a distance of 32 bits
  for (size_t at = 0; at + length <= code.size(); at++) {
    if (code[at] != std::byte{0x0f} || (code[at + 1] & std::byte{0xf0}) != std::byte{0x80}) continue;
    int32_t distance = 0;
    std::memcpy(&distance, &code[at + 2], sizeof distance);
    const uint64_t target = hot.begin + at + length + static_cast<uint64_t>(int64_t{distance});
    if (target >= hot.begin && target < hot.end) continue;
    auto place = dwarf::search_frame_header(tables, target);
    auto entry = place ? entries.at(*place) : std::nullopt;
    if (!entry || target < entry->begin || target >= entry->end) continue;
    auto& part = parts[entry->begin];
    part.first++, part.second = entry->end;
  }
  const auto most = std::ranges::max_element(parts, {}, [](const auto& p) { return p.second.first; });
  return most == parts.end() ? language_code{} : language_code{most->first, most->second.second};
}

} // namespace runtime
