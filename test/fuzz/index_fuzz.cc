// Any bytes as sections with debug information, of which an index is made and asked; or as an index.
#include "dwarf/index.h"

#include <cstdint>
#include <cstring>
#include <memory>

static void use(dwarf::ByteSpan bytes) {
  auto index = dwarf::Index::open(bytes);
  if (!index.ok()) return;
  std::string some;
  size_t left = 500;
  index->list("*", dwarf::all_kinds, [&](const dwarf::IndexEntry& e) {
    some = index->full_name(e);
    return --left > 0;
  });
  (void)index->find(some);
  (void)index->find("a::b<c>::operator()(int) const");
  (void)index->find_linkage("main");
  (void)index->unit_of_signature(index->unit(0) ? index->unit(0)->id : 1);
}

// The first byte tells what the rest is. Of sections: 16 bits each for the sizes of .debug_abbrev, .debug_str
// and .debug_str_offsets, these three, and the rest is .debug_info (or .debug_types, also).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  if (data[0] & 1) {
    std::vector<uint64_t> aligned((size - 1 + 7) / 8);
    std::memcpy(aligned.data(), data + 1, size - 1);
    use(dwarf::ByteSpan(reinterpret_cast<const std::byte*>(aligned.data()), size - 1));
    return 0;
  }
  std::vector<std::unique_ptr<std::byte[]>> copies;
  const uint8_t* at = data + 7;
  auto take = [&](size_t bytes) {
    bytes = std::min<size_t>(bytes, static_cast<size_t>(data + size - at));
    copies.push_back(std::make_unique<std::byte[]>(bytes)); // each with an end of its own
    std::memcpy(copies.back().get(), at, bytes);
    at += bytes;
    return dwarf::ByteSpan(copies.back().get(), bytes);
  };
  auto number = [&](size_t i) { return static_cast<size_t>(data[i] | data[i + 1] << 8); };
  dwarf::Sections sections;
  sections.abbrev = take(number(1));
  sections.str = sections.line_str = take(number(3));
  sections.str_offsets = take(number(5));
  sections.info = take(size);
  if (data[0] & 2) sections.types = sections.info;
  sections.split = data[0] & 4;
  std::vector<dwarf::IndexFile> files = {{sections}};
  if (data[0] & 8) files.push_back({sections});
  auto bytes = dwarf::build_index(files, 1);
  if (bytes.ok()) use(*bytes);
  return 0;
}
