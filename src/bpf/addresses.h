// Where addresses go that a verifier follows: those of the program's own memory, and those that the kernel
// vouches for. One that is kept on the stack stays an address; read back from scratch memory, which is the
// value of a map, it is a number like any other.
#pragma once

#include "bpf/layout.h"
#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace bpf {

struct AddressUse {
  std::vector<std::vector<bool>> holders; // by frame, by object: whether an address is stored there
  std::vector<std::vector<bool>> stored_in_loops; // by frame, by object: whether the body of a loop stores its address
  std::vector<std::vector<KnownAddress>> known; // by function that was looked at, by register
  std::vector<std::vector<bool>> addresses; // by function that was looked at, by register: whether it holds an address
  std::vector<bool> numbers_only;         // by function: neither a parameter nor the result is an address
};
AddressUse find_address_use(const ir::Program& program, const std::vector<uint32_t>& functions);
AddressUse find_address_use(const ir::Program& program); // of all functions

} // namespace bpf
