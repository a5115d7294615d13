// A checked program in fewer kinds of nodes, before a target sees it.
//
// In: a program that lang::check has accepted. Afterwards, still typed:
//   - what is known is a literal (Integer, Boolean, String) of the expression's type: getopt(), sizeof(), enumerators, $1, `comptime`;
//   - conditions that are known are gone, with the branches that are never taken; probes whose predicate is false, too;
//   - no BlockExpr, Conditional and Comptime is left: their statements stand before the statement that used them, in the order of
//     evaluation, with variables for what was evaluated before them;
//   - blocks in blocks (uses of macros) are part of the outer block: each Variable has its own identity, and needs its own name (names.h);
//   - `let` without a value has one: zero.
// lang::Unroll, loops, Speculate and Limit stay. Typed nodes that it makes are in the program's arena.
#pragma once

#include "emit/target.h"

namespace emit {

// Mistakes: a block as a value where no statement can stand before it (the condition of a loop).
void simplify(lang::Program& program, base::Diagnostics& diagnostics);

// Blocks that compare `probe` or `func` with texts become one for each event, where the comparison is known.
void split_by_name(lang::Program& program);

// Takes out maps that are only written, and cleared at the end so that they are not printed: what is left of a counter whose
// uses depended on a parameter. Then probes that do nothing.
void remove_idle_maps(lang::Program& program);

// Known to be true or false; nothing: neither.
std::optional<bool> known_condition(const lang::Expr& e);

// The probes as a person would write them: copies that the checker made of one block, and which are still alike, are one again.
struct ProbeGroup {
  std::vector<const lang::Probe*> copies; // of one block of the script; the first stands for all
};
std::vector<ProbeGroup> group_probes(const lang::Program& program);

} // namespace emit
