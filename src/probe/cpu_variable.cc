// See cpu_variable.h. The linker puts these variables between two marks, wherever it lets them begin (include/asm-generic/
// vmlinux.lds.h of the kernel); what a CPU adds is in __per_cpu_offset.
#include "probe/cpu_variable.h"

#include "symbol/kallsyms.h"

namespace probe {

std::optional<CpuVariable> cpu_variable(std::string_view name) {
  symbol::Kallsyms symbols;
  auto offset = symbols.address(name);
  auto end = offset ? symbols.address("__per_cpu_end") : std::nullopt;
  if (!end || *offset >= *end || *offset < symbols.address("__per_cpu_start").value_or(0)) return std::nullopt;
  auto offsets = symbols.address("__per_cpu_offset");
  return offsets ? std::optional(CpuVariable{*offset, *offsets}) : std::nullopt;
}

} // namespace probe
