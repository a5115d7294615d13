// Any bytes as a core dump: its segments lie in the file and don't overlap, and all that it tells can be
// read.
#include "format/core_file.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  auto core = format::CoreFile::view(bytes);
  if (!core.ok()) return core.error().message.empty() ? std::abort(), 0 : 0;
  uint64_t end = 0, sum = 0;
  for (const format::CoreSegment& s : core->segments()) {
    if (s.begin < end || s.end <= s.begin || s.bytes.size() > s.end - s.begin) std::abort();
    if (!s.bytes.empty())
      sum += static_cast<uint64_t>(s.bytes.front()) + static_cast<uint64_t>(s.bytes.back());
    end = s.end;
  }
  for (const format::CoreMapping& m : core->mappings())
    for (char c : m.path) sum += static_cast<uint8_t>(c);
  for (const format::CoreThread& t : core->threads())
    for (uint64_t r : t.registers) sum += r;
  if (core->process()) sum += core->process()->name.size() + core->process()->arguments.size();
  if (core->signal())
    sum += format::meaning_of(*core->signal()).size() + format::has_address(*core->signal());
  sum += core->auxiliary(3).value_or(0);
  return sum == UINT64_MAX;
}
