#include "format/loader_cache.h"

#include <string>

namespace format {

using base::ByteSpan;
using base::Reader;

static constexpr std::string_view old_magic = "ld.so-1.7.0", magic = "glibc-ld.so.cache1.1";
static constexpr uint64_t old_header = 16, old_entry = 12, header = 48, entry = 24;
#if defined(__x86_64__)
static constexpr uint32_t machine = 0x0300; // FLAG_X8664_LIB64
#elif defined(__aarch64__)
static constexpr uint32_t machine = 0x0a00; // FLAG_AARCH64_LIB64
#else
static constexpr uint32_t machine = 0;
#endif

static bool starts_with(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

std::vector<CachedLibrary> read_loader_cache(ByteSpan bytes) {
  std::vector<CachedLibrary> out;
  if (starts_with(bytes, old_magic)) { // the new one stands behind its entries, aligned to 8
    Reader r(bytes, old_magic.size() + 1);
    uint64_t count = r.number<uint32_t>();
    uint64_t at = (old_header + count * old_entry + 7) & ~uint64_t{7};
    bytes = at < bytes.size() ? bytes.subspan(at) : ByteSpan();
  }
  if (!starts_with(bytes, magic)) return out;
  Reader count(bytes, magic.size());
  auto entries = count.number<uint32_t>();
  for (uint32_t i = 0; i < entries; i++) {
    Reader r(bytes, header + i * entry);
    auto flags = r.number<uint32_t>(), name = r.number<uint32_t>(), path = r.number<uint32_t>();
    if (!r.ok()) break;
    if ((flags & 0xff00) != machine) continue;
    CachedLibrary library = {base::text_at(bytes, name), base::text_at(bytes, path)};
    if (!library.name.empty() && library.path.starts_with('/')) out.push_back(library);
  }
  return out;
}

} // namespace format
