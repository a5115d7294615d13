// Carries out a recipe for a thread at hand, outside of any script.
#pragma once

#include "probe/recipe.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace probe {

struct RecipeThread {
  // The first 21 registers are struct pt_regs; the thread's base stands at stopped_thread_base.
  std::span<const std::byte> registers;
  std::function<bool(uint64_t address, std::span<std::byte> to)> read;
};

// The bytes of a value of this size; of parts that are gone zeroes. Nothing: memory that it needs cannot be
// read.
std::optional<std::vector<std::byte>> run_recipe(const Recipe& recipe, size_t size,
                                                 const RecipeThread& thread);

} // namespace probe
