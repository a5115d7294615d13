// skip_known_tests: behind `branch x eq 7` x is 7, and blocks that do nothing but compare x with other numbers are skipped. So what is done for
// one of several system calls is not followed by questions for the others, and the kernel's verifier walks each of them by itself.
#include "ir/passes.h"

#include <algorithm>

namespace ir {
namespace {

bool is_test(const Inst& i) { return i.op == Op::branch && (i.cond == Cond::eq || i.cond == Cond::ne) && i.a.is_reg() && i.b.is_constant(); }
bool only_tests(const Block& block) { return block.insts.size() == 1 && is_test(block.insts[0]); }

// What is known where a block begins: the value of one register (0: of none), the first that was decided on.
struct Known {
  Reg reg = 0;
  int64_t value = 0;
  bool is_reached = false; // by an edge that was looked at
};

class Skipper {
public:
  Skipper(Function& function, const Flow& flow) : function_(function), flow_(flow), tests_(function.registers) {}

  // Whether some register is tested by several blocks, one of which does nothing else; else there is nothing to skip.
  bool is_worth_it() {
    for (const BlockId b : flow_.order) {
      const Block& block = function_.blocks[b];
      if (!is_test(block.insts.back())) continue;
      Tests& tests = tests_[block.insts.back().a.as_reg()];
      tests.number++;
      tests.may_be_skipped |= only_tests(block);
    }
    return std::ranges::any_of(tests_, &Tests::is_worth_it);
  }

  bool run() {
    const Definitions definitions(function_);
    known_.resize(function_.blocks.size());
    for (const BlockId b : flow_.order) {
      Inst& last = function_.blocks[b].insts.back();
      const Successors to = successors(last);
      const Known here = known_[b];
      Known yes = here, no = here;
      const Tests tests = is_test(last) ? tests_[last.a.as_reg()] : Tests();
      if (!here.reg && tests.is_worth_it() && definitions.is_single(last.a.as_reg())) (last.cond == Cond::eq ? yes : no) = {.reg = last.a.as_reg(), .value = last.b.value};
      if (to.count > 0) follow(b, last.target, yes);
      if (to.count > 1) follow(b, last.other, no);
    }
    return changed_;
  }

private:
  static constexpr size_t most_hops = 1000; // there may be a circle

  void follow(BlockId from, BlockId& edge, Known known) {
    for (size_t hops = 0; known.reg && hops < most_hops && only_tests(function_.blocks[edge]); hops++) {
      const Inst& test = function_.blocks[edge].insts[0];
      if (test.a.as_reg() != known.reg) break;
      edge = holds(test.cond, known.value, test.b.value) ? test.target : test.other;
      changed_ = true;
    }
    // Blocks come in an order in which only turns of loops lead back: what is known at the head of a loop stays so in it, as the register
    // is set once.
    if (flow_.number[edge] <= flow_.number[from]) return;
    Known& there = known_[edge];
    if (!there.is_reached)
      there = known;
    else if (there.reg != known.reg || there.value != known.value)
      there.reg = 0;
    there.is_reached = true;
  }

  struct Tests { // of a register
    uint32_t number = 0;
    bool may_be_skipped = false;
    bool is_worth_it() const { return number > 1 && may_be_skipped; }
  };

  Function& function_;
  const Flow& flow_;
  std::vector<Tests> tests_; // by register
  std::vector<Known> known_; // by block
  bool changed_ = false;
};

} // namespace

bool skip_known_tests(Function& function, PassContext& context) {
  Skipper skipper(function, context.flow());
  if (!skipper.is_worth_it() || !skipper.run()) return false;
  context.edges_changed();
  return true;
}

} // namespace ir
