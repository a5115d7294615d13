// Any bytes as what a walker has read of a code object of CPython: its names, file and lines. The first byte chooses the layout, the second where
// the program's memory ends. All of it is also taken as offsets that a runtime publishes, and as the memory of a program with any objects and tasks.
#include "runtime/python.h"
#include "runtime/python_layouts.h"
#include "runtime/python_object_layouts.h"
#include "runtime/python_text.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace {

void decode(const python_layout& layout, const language_object& object, const runtime::ReadMemory& read) {
  language_table table = {};
  table.kind = LANGUAGE_PYTHON;
  table.python = layout;
  const auto code = runtime::decode_python(object, table, read);
  if (!code) return;
  for (const uint64_t position : {0ull, 1ull, 100ull, 1000ull, LANGUAGE_POSITION_MASK / 2, LANGUAGE_POSITION_MASK})
    (void)runtime::line_of_python(*code, position);
}

// Objects, variables and tasks at places of the input, with the interpreter's own types at others.
void read_objects(size_t row, std::span<const uint8_t> data, const runtime::ReadMemory& read) {
  runtime::PythonKnown known = {.layout = runtime::python_object_layouts[row]};
  for (size_t i = 0; i < known.globals.size(); i++) known.globals[i] = data[i % data.size()] * 8;
  const runtime::ObjectMemory memory = {.read = read};
  language_table table = {};
  table.kind = LANGUAGE_PYTHON;
  table.python = runtime::python_layouts[row];
  table.root = data[0];
  constexpr uint64_t few = 1 << 16;
  const runtime::PythonObjects objects(known, table.python, memory, few);
  for (const uint64_t at : {64, 128, 256}) {
    (void)runtime::text_of_object(objects, at, {});
    (void)runtime::python_variables({table, known, memory}, at, {});
  }
  (void)runtime::python_tasks({table, known, memory}, {});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto published = runtime::published_layout(std::as_bytes(std::span(data, size)));
  if (size < 2) return 0;
  const size_t row = data[0] % std::size(runtime::python_layouts), end = data[1] * 64;
  language_object object = {};
  auto fill = [&, at = size_t{2}](std::span<uint8_t> to) mutable {
    const size_t count = std::min(to.size(), size - at);
    std::memcpy(to.data(), data + at, count);
    at += count;
  };
  for (std::span<uint8_t> part : {std::span<uint8_t>(object.object), std::span<uint8_t>(object.name), std::span<uint8_t>(object.file),
                                  std::span<uint8_t>(object.lines)})
    fill(part);
  // Addresses of the memory are places in the input, as often as it has to be repeated.
  const runtime::ReadMemory read = [&](uint64_t address, std::span<std::byte> to) {
    if (address % 4096 + to.size() > end) return false;
    for (size_t i = 0; i < to.size(); i++) to[i] = static_cast<std::byte>(data[(address + i) % size]);
    return true;
  };
  decode(runtime::python_layouts[row], object, read);
  decode(runtime::python_layouts[row], object, {});
  if (published) decode(*published, object, read);
  (void)runtime::published_objects(std::as_bytes(std::span(data, size)));
  read_objects(row, std::span(data, size), read);
  return 0;
}
