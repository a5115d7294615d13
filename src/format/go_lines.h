// Files, lines and inlined calls that the runtime of Go knows of its code (go_table.h): what it prints in
// panics.
//
// Each function has lists of numbers that hold from one address to the next: of the file, the line, the call
// that was inlined there. Inlined calls are a list of {name, an address that has the place of the call},
// elsewhere in the file; its form and place are not written down anywhere, so those that Go had are tried,
// and one is taken that makes sense of all of many functions. Inlining is known of Go 1.13 and later.
// Specification: src/runtime/symtab.go, symtabinl.go and funcdata.h.
#pragma once

#include "format/go_table.h"

#include <vector>

namespace format {

struct GoFrame {
  std::string_view function, file; // file empty: not known
  uint32_t line = 0;               // 0: not known
};

class GoLines {
public:
  // `table` outlives this.
  explicit GoLines(const GoTable& table);
  // The frames of an address, innermost first, the last one that of the function that holds it; none: it is
  // in no function.
  std::vector<GoFrame> find(uint64_t address) const;
  bool knows_inlined_calls() const { return form_ != nullptr; }

  struct InlineForm; // how calls are listed

private:
  struct Call {
    std::string_view function;
    uint64_t place = 0; // bytes from the function's begin
  };
  using Function = GoTable::Function;

  uint32_t field(const Function& f, unsigned after_name) const;
  int32_t number(const Function& f, uint32_t list, uint64_t address) const;
  int32_t highest(const Function& f, uint32_t list) const;
  template<class Take> void each_number(const Function& f, uint32_t list, int most, Take take) const;
  GoFrame position(const Function& f, uint64_t address) const;
  uint32_t inline_list(const Function& f) const;
  std::optional<uint64_t> calls_of(const Function& f, const InlineForm& form, uint64_t base) const;
  std::optional<Call> call(const Function& f, const InlineForm& form, uint64_t calls, int32_t index) const;
  bool fits(const std::vector<Function>& samples, const InlineForm& form, uint64_t base) const;
  void choose_form();

  const GoTable& table_;
  const InlineForm* form_ = nullptr; // nullptr: nothing is known of inlined calls
  uint64_t base_ = 0;                // that places of lists of calls count from
};

} // namespace format
