// Which objects hold addresses of the program's own memory. A verifier follows an address that is kept on the
// stack; read back from scratch memory, which is the value of a map, it is a number like any other.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace bpf {

// For each frame: for each of its objects, whether one of `functions` stores an address there.
std::vector<std::vector<bool>> find_address_holders(const ir::Program& program,
                                                    const std::vector<uint32_t>& functions);

} // namespace bpf
