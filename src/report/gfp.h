// Flags of the kernel's memory allocations as text (%gr).
#pragma once

#include <cstdint>
#include <string>

namespace report {

// "GFP_KERNEL|__GFP_ZERO"; bits without a name in hex; "none" for 0.
std::string gfp_text(uint64_t flags);

} // namespace report
