// A recipe (probe/recipe.h) as an expression of a C-like language: where a value of the traced program is, from registers and memory.
#pragma once

#include "emit/c_like.h"
#include "probe/recipe.h"

#include <functional>
#include <optional>

namespace emit {

// How the target writes what recipes are made of.
struct RecipeWords {
  std::function<Text(std::string_view reg)> reg;                                      // a register by its name
  std::function<Text(Text address, uint32_t size, bool is_signed)> load;             // memory of the program
  std::function<Text(Text value, uint32_t size, bool is_signed)> extend;             // the low bytes
  std::string code_start, thread_base; // empty: the target has none
};

// The value that the steps leave: of `value` recipes the value, of `address` recipes where it is. Nothing: they have a step that
// the target lacks, or branches.
std::optional<Text> recipe_text(const std::vector<probe::Step>& steps, const RecipeWords& words);

} // namespace emit
