// Any bytes as code of a function, and as names of C++.
#include "symbol/instructions.h"
#include "symbol/jump_targets.h"
#include "symbol/source_names.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan code(reinterpret_cast<const std::byte*>(data), size);
  for (bool nops : {false, true})
    if (symbol::best_entry(code, nops) >= code.size() && !code.empty()) __builtin_trap();
  if (symbol::passable_length(code) > code.size()) __builtin_trap();
  bool leads_out = symbol::JumpTargets(code, 0x1000).any(0x1000 + size, 0x1040 + size);
  if (leads_out) __builtin_trap();
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t half = size / 2;
  symbol::SourceParts parts = symbol::split_source_name(text);
  if (parts.name.size() + parts.parameters.size() > size) __builtin_trap();
  (void)symbol::SourceName(text.substr(0, half)).matches(text.substr(half));
  return 0;
}
