// Any bytes as a name of C++ or Rust.
#include "symbol/demangle.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view name(reinterpret_cast<const char*>(data), size);
  (void)symbol::demangle(name);
  for (const char* start : {"_Z", "_R", "_ZN"}) (void)symbol::demangle(start + std::string(name));
  return 0;
}
