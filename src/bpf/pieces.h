// Long functions in pieces, for the kernel's verifier and its jumps.
//
// The verifier takes time that grows with the square of a function's branches, and gives up where more than 8,192 branches
// wait to be walked; jumps reach 32,767 instructions. So a long function is cut into pieces: functions that it calls one after
// the other, each of which the verifier looks at by itself. What several pieces use (variables, values of registers) is in
// one object of the long function, which is lent to them (Op::lend). Operations on maps that occur often become functions, too:
// the kernel compiles each call of a helper that it knows anew, in time that grows with the whole program.
#pragma once

#include "bpf/addresses.h"
#include "bpf/object.h"
#include "ir/passes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bpf {

// What the verifier has to do for an operation, as a multiple of that for a simple one: it walks both ways of each branch, and compares
// what it knows where they meet again with all that it knew there before.
size_t work_of(const ir::Program& program, const ir::Inst& inst);
size_t work_of(const ir::Program& program, const ir::Function& function);
// Whether some function is so long that it is cut.
bool has_long_functions(const ir::Program& program, const PieceSizes& sizes);
// The same program, with these functions in pieces.
ir::Program cut_into_pieces(const ir::Program& program, const PieceSizes& sizes);

// piece_group.cc

// Cuts the long ones of the functions that have one frame: `members`, the function that has it first, then the bodies of its loops, outer ones
// before inner ones. `is_cut`: by function.
void cut_group(ir::Program& program, const AddressUse& addresses, const PieceSizes& sizes, const std::vector<bool>& is_cut, std::vector<uint32_t> members);

// piece_regions.cc

// Blocks that may become a piece: entered at `head` alone, and left to `exits` alone.
struct Region {
  ir::BlockId head = 0;
  std::vector<ir::BlockId> blocks; // the head first
  std::vector<ir::BlockId> exits;
};
// The facts about a function that decide where it may be cut; `keeps_loop`: bodies of loops that must stay in it.
struct CutFacts {
  const ir::Program& program;
  const AddressUse& addresses;
  uint32_t function;
  std::vector<bool> fixed_bodies; // by function: a loop with this body stays in the long function
};
// Whether the address in this register can be had again by repeating the only instruction that sets it.
bool is_repeatable(const ir::Inst& made);
// Makes each block of the function use addresses of objects that it takes itself.
void take_addresses_anew(ir::Function& function);
// Ends long blocks where a piece may end; false: there are none.
bool split_blocks(ir::Function& function, const CutFacts& facts, const PieceSizes& sizes);
std::vector<Region> find_regions(const ir::Function& function, const CutFacts& facts, const PieceSizes& sizes);

// Operations on maps, and loops, that occur often become calls of functions.
void share_operations(ir::Program& program);
void share_loops(ir::Program& program);
// Objects of a function that are needed one after the other get the same memory.
void share_objects(ir::Program& program);

} // namespace bpf
