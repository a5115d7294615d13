// How functions are given their arguments and give back results: which registers, or where on the stack.
// Specification: System V ABI for x86-64, section 3.2.3; Itanium C++ ABI, sections 3.1 and 3.2.
// For use by user_values*.cc.
#pragma once

#include "probe/user_values_steps.h"

namespace probe {

// Hands out the registers and stack to one parameter after the other.
class Arguments {
public:
  // `cfa` gives the address that arguments on the stack begin at. `types` knows the whole of types that are
  // only declared. The result may be left where a pointer says, which comes before all arguments.
  Arguments(std::function<MaybeSteps()> cfa, dwarf::Types& types, const std::optional<dwarf::Die>& result);
  // Of the next parameter, by its type as declared; at the function's entry. Failure: the reason.
  base::Result<std::vector<ValuePart>> next(const std::optional<dwarf::Die>& type);

private:
  base::Result<std::vector<ValuePart>> on_stack(uint64_t bytes, uint64_t alignment, bool is_pointer);

  std::function<MaybeSteps()> cfa_;
  dwarf::Types& types_;
  unsigned used_integers_ = 0, used_floats_ = 0;
  uint64_t stack_ = 0;
  bool is_lost_ = false; // one of a type that is not known came before: where the next ones are is not known
};

// The result, right after the function returned.
base::Result<std::vector<ValuePart>> result_parts(const std::optional<dwarf::Die>& type, dwarf::Types& types);

// Functions in languages that do not follow the ABI in all (Go, Rust) pass their arguments otherwise.
bool follows_abi(uint16_t language);

} // namespace probe
