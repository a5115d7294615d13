// The passes of optimize(), each a function from a well-formed program to a better one that computes the
// same. They give back whether others may find more to do because of it. Each is in a file of its own, pass_*.cc.
//
// Registers are not in SSA form, but most are assigned once. Such a register is as good as an SSA value: its
// assignment lies on every path to each of its uses (verify() holds that), so what was true of it there is
// true at the use, also around loops. Passes reason globally about those and block by block about the others.
#pragma once

#include "ir/ops.h"

#include <memory>
#include <span>

namespace ir {

struct Flow;

// Operations of a function. One that has more than `long_function` may be cut, as its jumps may be too far for the kernel
// (bpf/pieces.h): there no address of a map's entry is kept far from where it was looked up.
size_t length_of(const Function& function);
inline constexpr size_t long_function = 6000;
inline bool is_long(const Function& function) { return length_of(function) > long_function; }

// What the passes over one function share: its order of blocks is worked out again only when an edge has changed.
class PassContext {
public:
  PassContext(const Program& program, const Function& function) : program(program), function_(function) {}
  const Program& program;
  const Flow& flow();
  void edges_changed() { flow_.reset(); }
  bool has_changed_edges() const { return !flow_; } // since flow() was asked for

private:
  const Function& function_;
  std::unique_ptr<Flow> flow_;
};

// Replaces registers by the constants and registers they are copies of, computes what is known, simplifies
// arithmetic, joins comparisons with the branches on them, and decides branches.
bool fold_values(Function& function, PassContext& context);
// Skips blocks that only jump, drops what cannot be reached, joins a block with its only successor.
bool clean_blocks(Function& function, PassContext& context);
// A query that was asked before on every path becomes a copy.
bool reuse_queries(Function& function, PassContext& context);
// An entry of a map that was looked up on every path, and cannot have come or gone since, is not looked up again.
bool reuse_lookups(Function& function, PassContext& context);
// Skips comparisons of a register with numbers where a branch on the way has decided which one it is.
bool skip_known_tests(Function& function, PassContext& context);
// Drops what nobody needs, and copies that follow what they copy; true: also assignments that another overwrites, so
// that more may be known of their registers.
bool remove_dead_code(Function& function, PassContext& context);

// Who assigns each register of a function.
struct Definitions {
  explicit Definitions(const Function& function);
  // Set once, by an instruction or as a parameter.
  bool is_single(Reg r) const { return count[r] == 1; }
  bool is_stable(const Operand& o) const { return o.is_constant() || (o.is_reg() && is_single(o.as_reg())); }
  // The only instruction that sets it; nullptr if there are several, or it is a parameter.
  const Inst* only(const Operand& o) const {
    return o.is_reg() && is_single(o.as_reg()) ? last[o.as_reg()] : nullptr;
  }

  std::vector<uint32_t> count;
  std::vector<const Inst*> last;
};

// The order of blocks. Unreached blocks are not in it.
struct Flow {
  explicit Flow(const Function& function);
  bool is_reached(BlockId b) const { return number[b] != ~0u; }

  std::vector<BlockId> order;         // reverse postorder: dominators first
  std::vector<uint32_t> number;       // place in `order`, ~0: not reached
  std::vector<uint32_t> predecessors; // how many edges lead to it from reached blocks

private:
  explicit Flow(const std::vector<Successors>& edges); // by block
};

// The blocks that lead to each block; reached ones.
class Predecessors {
public:
  Predecessors(const Function& function, const Flow& flow);
  std::span<const BlockId> of(BlockId b) const { return {from_.data() + begin_[b], begin_[b + 1] - begin_[b]}; }

private:
  std::vector<uint32_t> begin_; // of a block's part of from_
  std::vector<BlockId> from_;
};

// The tree of dominators, numbered so that a question takes no walk along it.
class DominatorTree {
public:
  DominatorTree() = default;
  // The reached blocks, dominators first, and the immediate dominator of each block.
  DominatorTree(const std::vector<BlockId>& order, const std::vector<BlockId>& immediate);
  bool dominates(BlockId a, BlockId b) const { // both reached; a block dominates itself
    return first_[b] - first_[a] < size_[a];
  }

private:
  std::vector<uint32_t> first_, size_; // by block: its number, and how many blocks it dominates, which have the numbers that follow
};

// Which blocks lie on every path to others.
class Dominators {
public:
  Dominators(const Function& function, const Flow& flow);
  bool dominates(BlockId a, BlockId b) const { return tree_.dominates(a, b); }

private:
  BlockId common(BlockId a, BlockId b) const;
  const Flow& flow_;
  std::vector<BlockId> immediate_; // the entry's is itself
  DominatorTree tree_;
};

// verify() of one function.
std::vector<std::string> verify_function(const Program& program, uint32_t function);

} // namespace ir
