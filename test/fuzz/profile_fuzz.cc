// Any bytes as each kind of recording; what is read is made into tables and written again.
#include "profile/formats.h"
#include "profile/tables.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const profile::Format& f : profile::formats()) {
    if (!f.is_this || !f.is_this(bytes)) continue;
    auto profile = f.read(bytes);
    if (!profile.ok()) continue;
    (void)profile::report_text(*profile, {});
    if (size < 4096) (void)f.write(*profile);
  }
  return 0;
}
