// Any bytes as BTF: types by name, their members and names.
#include "format/btf.h"

#include <cstdint>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size) std::memcpy(bytes.data(), data, size);
  auto btf = format::Btf::parse(std::move(bytes));
  if (!btf.ok()) return 0;
  type::Table table;
  for (uint32_t id = 0; id < 64; id++) {
    const type::Type* t = (*btf)->type(table, id);
    if (!t) continue;
    (void)type::to_string(*t);
    if (t->is(type::Kind::structure)) (void)t->fields();
    if (t->is(type::Kind::enumeration)) (void)t->enumerators();
  }
  (void)(*btf)->names("");
  return 0;
}
