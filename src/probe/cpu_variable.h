// Variables of which each CPU has one, on kernels whose types do not tell of them: by the kernel's list of
// symbols.
#pragma once

#include "host/environment.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace probe {

// The one of a CPU is at `offset` + that CPU's element of the array of 8-byte numbers at `offsets`, both
// addresses of the kernel.
struct CpuVariable {
  uint64_t offset = 0, offsets = 0;
};
// Nothing: there is none of the name, or addresses are hidden. Reads the list: meant for the few names of a
// script.
std::optional<CpuVariable> cpu_variable(host::Environment& host, std::string_view name);

} // namespace probe
