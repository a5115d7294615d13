// Names as bpftrace writes them: of a module's function the bare name, offsets decimal, and an address that
// belongs to nothing known as a hexadecimal number.
#include "report/names.h"

#include "report/number.h"

namespace report {

static std::string bare(uint64_t address) {
  std::string out = "0x";
  append_hex(out, address);
  return out;
}

std::string SystemNames::kernel(uint64_t address, bool with_offset) {
  auto symbol = kallsyms_.find(address);
  if (!symbol) return bare(address);
  std::string out(symbol->name);
  if (with_offset) out += "+" + std::to_string(symbol->offset);
  return out;
}

std::string SystemNames::user(uint32_t, uint64_t address, bool) { return bare(address); }

} // namespace report
