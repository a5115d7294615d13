// Constructs of the language that a target may lack. Builtins and probe kinds have tables of their own
// (spec/builtins.h, spec/probes.h); everything else that can be missing has a row here.
//
// A construct is what is left after simplify(): no macros, no blocks as values, no getopt().
#pragma once

#include "lang/ast.h"

#include <optional>
#include <string_view>

namespace emit {

enum class Construct : uint8_t {
  predicate,      // probe /condition/ { … }
  map_scalar,     // @m
  map_keyed,      // @m[k], @m[k, l]
  map_declared,   // let @m = lruhash(100);
  map_stack_key,  // a key that contains a stack
  tuple,          // (a, b) as a value, t.0
  record,         // (a = 1, b = 2)
  string_compare, // "a" == "b"
  memory_compare, // ==, != of arrays, tuples, structures
  ternary,        // c ? a : b
  try_value,      // try(e, default)
  floating,       // values of floating point
  cast_integer,   // (uint8)x
  cast_pointer,   // (struct s *)x
  cast_array,     // integers from and to arrays
  member,         // p->m
  bit_field,      // a member of some bits
  element,        // a[i]
  dereference,    // *p
  address,        // &$x, &@m, &p->m
  increment,      // ++ and -- as a value: $y = @m++
  conditional,    // if, else
  loop_while,     // while and C's for
  loop_range,     // for ($i : a..b)
  loop_map,       // for ($kv : @m)
  loop_sorted,    // for ($kv : sorted(@m, n))
  unroll,         // unroll (n) { … }
  leave,          // break, continue
  give_back,      // return in a probe
  function,       // fn f($a : T) : T { … }
  speculate,      // speculate { … }
  limit,          // limit(10/s) { … }
  program_value,  // arguments, locals and globals of the traced program that debug information describes
  kernel_value,   // arguments of kernel functions and raw tracepoints that the kernel's types describe
  wildcard,       // a probe with * or ?
  string_nul,     // a constant text with NULs or bytes that are no UTF-8
};

struct ConstructRow {
  Construct construct;
  std::string_view name;    // for people: "loop over a map"
  std::string_view example; // as in a script
};

// All of them, in the order of the enumeration.
std::span<const ConstructRow> constructs();
std::string_view name_of(Construct c);

// What a node is, apart from its parts. Nothing: every target has it, or a builtin's row decides.
std::optional<Construct> construct_of(const lang::Expr& e);
std::optional<Construct> construct_of(const lang::Stmt& s);

} // namespace emit
