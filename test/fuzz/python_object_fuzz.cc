// Any bytes as what was read of a code object of CPython, and as its table of lines. The first byte chooses the version.
#include "runtime/python.h"
#include "runtime/python_layouts.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!size) return 0;
  language_table table = {};
  table.python = runtime::python_layouts[data[0] % std::size(runtime::python_layouts)];
  language_object object = {};
  std::memcpy(&object, data + 1, std::min(size - 1, sizeof object));
  (void)runtime::decode_python(object, table, {});
  runtime::Code code = {.first_line = 1, .version = table.python.version};
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  code.lines.assign(bytes + 1, bytes + size);
  for (uint64_t at = 0; at < 64; at++) (void)runtime::line_of_python(code, at * at);
  (void)runtime::published_layout({bytes, size});
  return 0;
}
