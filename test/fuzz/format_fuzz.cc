// Any bytes as the format text of a trace event.
#include "format/tracefs.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)format::parse_trace_format(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
