// Where the memory of a function stands: which objects of its frame go on the 512-byte stack and which into
// scratch memory, which registers are nothing but the address of an object, and where scratch memory is
// claimed.
#pragma once

#include "ir/passes.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bpf {

// A register that always holds the address of the same byte of an object needs no machine register.
struct KnownAddress {
  bool is_known = false;
  uint32_t object = 0;
  int64_t offset = 0;
};
std::vector<KnownAddress> find_known_addresses(const ir::Function& function);

struct ObjectPlace {
  enum Kind : uint8_t { unused, on_stack, in_scratch } kind = unused;
  int32_t offset = 0; // from r10 (negative), or from the start of the scratch slot
};

// Of a function and the bodies of its loops.
struct Layout {
  std::vector<ObjectPlace> objects; // of the frame
  int32_t stack_bytes = 0;          // down from r10, before spill slots
  uint32_t scratch_bytes = 0;       // with the `busy` word; 0: no scratch memory
  int32_t context_slot = 0;         // where bodies find the context; 0: none needs it
  int32_t base_slot = 0;            // where bodies find the address of the scratch slot; 0: none needs it
  int32_t number_slot = 0;          // where the number of the scratch slot is kept; 0: no object is lent
  int32_t walk_bytes = 0;           // of a user stack that are read at once, in each function that walks one
};

// What the functions sharing a frame need.
struct Needs {
  std::vector<bool> objects; // used at all
  bool bodies_use_context = false;
  std::vector<bool> in_bodies; // objects used in bodies
  std::optional<uint32_t> lent; // an object that is lent: at the begin of the scratch slot
  std::vector<bool> addresses; // objects that hold addresses: on the stack, whatever the budget
  // Objects whose addresses loops store: in scratch. The body of a loop may keep no address of a stack in the function's.
  std::vector<bool> stored_in_loops;
};

inline constexpr uint32_t largest_on_stack = 64; // of an object
inline constexpr uint32_t lent_at = 8; // where a lent object is in scratch memory: after the `busy` word

// By register: the alignment, up to 8, of an address anywhere in an object on the stack, such as the one of an element by
// an index that is not constant; 0 of what is no such address.
std::vector<uint8_t> find_stack_alignments(const ir::Function& function, const Layout& layout);

// Objects over 64 bytes, and those that do not fit `budget` bytes, go to scratch, but for those that hold addresses.
Layout place_objects(const ir::Frame& frame, const Needs& needs, uint32_t budget);

// The control flow of a function.
struct Flow {
  explicit Flow(const ir::Function& function);
  // Every way to b goes through a; both are reachable.
  bool dominates(ir::BlockId a, ir::BlockId b) const { return tree.dominates(a, b); }
  bool reachable(ir::BlockId b) const { return depth[b] != ~0u; }
  ir::BlockId common_dominator(ir::BlockId a, ir::BlockId b) const;
  std::span<const ir::BlockId> predecessors(ir::BlockId b) const { // reachable ones
    return {from.data() + from_begin[b], from_begin[b + 1] - from_begin[b]};
  }
  bool in_cycle(const ir::Function& function, ir::BlockId b) const;

  std::vector<ir::BlockId>
      order; // reachable blocks, each before those it goes to (but for loops), `target` first
  std::vector<ir::BlockId> dominator;                 // immediate; of the entry: itself
  std::vector<ir::BlockId> from; // the predecessors of all blocks, those of block b from from_begin[b] on
  std::vector<uint32_t> from_begin;
  std::vector<uint32_t> depth;                        // in the tree of dominators; ~0: not reachable
  ir::DominatorTree tree;
};

} // namespace bpf
