// What leads to the chunks of a heap: from variables, stacks and registers, through other chunks. Every word
// counts that has an address within a chunk, as nothing tells which words are pointers.
//
// Each chunk gets one way: the shortest from a variable, global or a thread's own, and only if there is none
// the shortest from a stack, and at last from a register. A word on a stack may be left from long ago; it
// then takes nothing from the variable that holds the rest. (What only one variable holds, its dominator,
// would be the sharper answer, but a single word that looks like a pointer undoes it.)
#pragma once

#include "target/heap.h"

#include <cstdint>
#include <vector>

namespace target {

struct Reach {
  static constexpr uint32_t root = ~uint32_t{0}, nothing = root - 1;
  // Of each chunk of the heap.
  struct Step {
    uint32_t holder =
        nothing;         // the chunk whose word leads to it; root: a word of no chunk; nothing: none does
    uint32_t thread = 0; // of a register: 1 + its index; 0: `word` is an address
    uint64_t word = 0;   // where that word is, or the register's number
  };
  std::vector<Step> steps;
  std::vector<uint32_t> order; // those that something leads to: holders before what they hold
  // Used, and nothing leads to it.
  bool is_leak(const Heap& heap, size_t chunk) const {
    return heap.chunks[chunk].state == Chunk::used && steps[chunk].holder == nothing;
  }
};

// At most so many bytes in front of its descriptor are a thread's own variables.
uint64_t own_variables_size(const Target& target);

Reach find_reach(Target& target, const Heap& heap);

// A chunk that nothing leads to, not even another such chunk (or the first of a circle), with all that only
// it leads to.
struct Lost {
  uint32_t chunk = 0;             // index
  uint64_t chunks = 0, bytes = 0; // with itself
};

std::vector<Lost> find_lost(Target& target, const Heap& heap, const Reach& reach);

} // namespace target
