// The functions of one file by address, and what holds inside of them: scopes, frames, ends of prologues.
// For use by user_values*.cc.
#pragma once

#include "dwarf/frame_rules.h"
#include "dwarf/line_program.h"
#include "dwarf/unit_ranges.h"
#include "probe/user_values.h"
#include "probe/user_values_steps.h"

#include <unordered_map>

namespace probe {

struct CodeFunction {
  dwarf::Die die;
  const dwarf::Unit* skeleton = nullptr; // the unit with the lines; else that of `die`
  uint64_t entry = 0;                    // of the first instruction
};

// What is visible at an address: entries of variables and parameters.
struct CodeScope {
  std::vector<dwarf::Die> entries;
  std::optional<dwarf::Die> origin; // of a call that was inlined: the function as a whole
};

class Code {
public:
  explicit Code(const UserSources& sources) : sources_(sources) {}

  // The function that holds the code at an address, not one that was inlined there.
  std::optional<CodeFunction> function_at(uint64_t address);
  // Where the function's own variables have got their places, as the table of lines shows.
  uint64_t prologue_end(const CodeFunction& function);
  // Outermost first; the first is the function's own.
  std::vector<CodeScope> scopes_at(const CodeFunction& function, uint64_t address);
  std::optional<dwarf::CfaRule> cfa_rule(uint64_t address);

private:
  struct Row {
    uint64_t begin, end, die;
  };
  const std::vector<Row>& rows_of(const dwarf::Unit& unit);

  const UserSources& sources_;
  std::optional<dwarf::UnitRanges> units_;
  std::optional<dwarf::FrameTables> frames_;
  std::unordered_map<const dwarf::UnitHeader*, std::vector<Row>> rows_;
  std::unordered_map<uint64_t, uint64_t> prologue_ends_; // by entry
};

} // namespace probe
