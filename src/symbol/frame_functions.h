// Functions of which nothing is known but where they are: a stripped program has no names for them, but its
// unwind tables
// (.eh_frame) have the range of each. They are named by the address of their first byte in the file, as
// objdump shows it
// ("func_0x4012a0"), which is the same in each run.
//
// A part that a compiler put aside (".cold") has a range of its own, and thereby a name. Jumps to functions
// of other files (PLT) are no functions.
#pragma once

#include "format/elf_file.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace symbol {

struct FrameFunction {
  uint64_t address = 0, size = 0;
};

// Calls `take` for each, in the order of the tables.
void for_each_frame_function(const format::ElfFile& file,
                             const std::function<void(const FrameFunction&)>& take);

// The one that begins at an address and that calls lead to: the return address is on top of the stack there,
// which is not so at the begin of most parts that are jumped to.
std::optional<FrameFunction> called_frame_function(const format::ElfFile& file, uint64_t address);

std::string frame_function_name(uint64_t address);
// The address in such a name; nothing: it is none.
std::optional<uint64_t> frame_function_address(std::string_view name);

} // namespace symbol
