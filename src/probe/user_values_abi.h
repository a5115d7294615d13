// How functions are given their arguments and give back results: which registers, or where on the stack.
// Specification: System V ABI for x86-64, section 3.2.3; Itanium C++ ABI, sections 3.1 and 3.2.
// For use by user_values*.cc.
#pragma once

#include "probe/user_values_steps.h"

namespace probe {

// Hands out the registers and stack to one parameter after the other.
class Arguments {
public:
  // `cfa` gives the address that arguments on the stack begin at.
  explicit Arguments(std::function<MaybeSteps()> cfa) : cfa_(std::move(cfa)) {}
  // The result is left where a pointer among the arguments says.
  void pass_result_pointer() { used_integers_ = 1; }
  // Of the next parameter, by its type as declared; at the function's entry. Failure: the reason.
  base::Result<std::vector<ValuePart>> next(const std::optional<dwarf::Die>& type);

private:
  base::Result<std::vector<ValuePart>> on_stack(uint64_t bytes, uint64_t alignment, bool is_pointer);

  std::function<MaybeSteps()> cfa_;
  unsigned used_integers_ = 0, used_floats_ = 0;
  uint64_t stack_ = 0;
  bool is_lost_ = false; // one of a type that is not known came before: where the next ones are is not known
};

// A result of this type is left in memory that the caller has.
bool is_result_in_memory(const std::optional<dwarf::Die>& type);
// The result, right after the function returned.
base::Result<std::vector<ValuePart>> result_parts(const std::optional<dwarf::Die>& type);

// Functions in languages that do not follow the ABI in all (Go, Rust) pass their arguments otherwise.
bool follows_abi(uint16_t language);

} // namespace probe
