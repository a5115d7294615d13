// The code that the kernel puts into each process (vdso(7)). All processes of a machine word have the same,
// so ours is read; it is an ELF file in memory.
#pragma once

#include "base/reader.h"

namespace symbol {

// Empty: this process has none. Lives as long as the process.
base::ByteSpan vdso_image();

} // namespace symbol
