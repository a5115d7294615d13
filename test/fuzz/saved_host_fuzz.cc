// Any bytes as a saved host: with their own checksum, and with the right one, so that what is behind it is met too.
#include "host/saved.h"

#include "format/btf.h"
#include "format/tracefs.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <libdeflate.h>

static int use(std::span<const std::byte> bytes) {
  auto host = host::SavedHost::view(bytes, "host");
  if (!host.ok()) return host.error().message.empty() ? std::abort(), 0 : 0;
  uint64_t sum = (*host)->possible_cpus() + (*host)->clocks().boot_ns;
  for (std::string_view name : (*host)->names())
    if (auto text = (*host)->read(std::string(name)); text.ok()) sum += text->size();
  auto types = (*host)->types();
  if (types.ok() && (*host)->module_types("module", **types).ok()) sum++;
  if (auto tracefs = (*host)->tracefs(); tracefs.ok()) {
    auto events = tracefs->events();
    for (const format::TraceEvent& e : events.ok() ? *events : std::vector<format::TraceEvent>())
      if (auto text = tracefs->format(e.category, e.event); text.ok()) sum += format::parse_trace_format(*text).ok();
    sum += tracefs->made_categories().size();
  }
  const std::string_view names[] = {"_text", "vfs_read"};
  for (auto& address : (*host)->addresses(names)) sum += address.value_or(0);
  sum += static_cast<uint64_t>((*host)->answer("feature.loop", 0, {}));
  return sum == UINT64_MAX;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size) std::memcpy(bytes.data(), data, size);
  int out = use(bytes);
  constexpr size_t sum_at = host::saved_magic.size() + 4, rest_at = sum_at + 4;
  if (size < rest_at) return out;
  const uint32_t sum = libdeflate_crc32(0, bytes.data() + rest_at, size - rest_at);
  std::memcpy(bytes.data() + sum_at, &sum, sizeof sum);
  return out + use(bytes);
}
