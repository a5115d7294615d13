#include "eval/code.h"

#include "eval/ahead.h"
#include "ir/join_registers.h"
#include "ir/ops.h"

#include <unordered_map>
#include <unordered_set>

namespace eval {

using ir::BlockId;
using ir::Inst;
using ir::Op;

namespace {

Step step_of(Op op) {
  switch (op) {
#define STEP(name, ...)                                                                                      \
  case Op::name: return Step::name;
    ACU_EVAL_ARITHMETIC(STEP)
#undef STEP
  default: return Step::compute;
  }
}

Step branch_on(ir::Cond cond) {
  return static_cast<Step>(static_cast<size_t>(Step::branch_eq) + static_cast<size_t>(cond));
}

Step load_of(Step first, const Inst& i) {
  size_t n = 0;
#define STEP(name, type, bytes, sign)                                                                        \
  if (i.size == bytes && (i.is_signed == sign || bytes == 8))                                                \
    return static_cast<Step>(static_cast<size_t>(first) + n);                                                \
  n++;
  ACU_EVAL_LOADS(STEP)
#undef STEP
  __builtin_unreachable();
}

class Maker {
public:
  Maker(const ir::Function& function, std::span<const uint32_t> objects, bool has_target, FunctionCode& out)
      : function_(function), objects_(objects), has_target_(has_target), out_(out),
        begins_(function.blocks.size(), nowhere) {
    out_.registers = function.registers;
    out_.frame = objects.back();
    if (!has_target || !out.own) return;
    ahead_ = find_ahead(function);
    firsts_ = find_firsts(function);
  }

  void run() {
    likely_.push_back(0);
    while (!likely_.empty() || !unlikely_.empty()) {
      auto& from = likely_.empty() ? unlikely_ : likely_;
      const BlockId b = from.back();
      from.pop_back();
      if (begins_[b] == nowhere) lay(b);
    }
    for (const uint32_t at : leads_) out_.code[at].to = begins_[out_.code[at].to];
  }

private:
  static constexpr uint32_t nowhere = ~0u;
  bool is_laid(BlockId b) const { return begins_[b] != nowhere; }

  // A block, the one that follows it, and so on until one has its place already.
  void lay(BlockId b) {
    for (;;) {
      begins_[b] = static_cast<uint32_t>(out_.code.size());
      const auto& insts = function_.blocks[b].insts;
      for (size_t n = 0; n + 1 < insts.size(); n++) add(insts[n]);
      BlockId next = finish(insts.back());
      if (next == ir::no_block) return;
      const auto& ahead = function_.blocks[next].insts;
      if (is_laid(next) && ahead.size() == 1 && ahead[0].op == Op::branch) next = finish(ahead[0]);
      if (is_laid(next)) {
        lead(Step::jump, next);
        return;
      }
      b = next;
    }
  }

  // The last instruction of a block. Gives the block that is to follow.
  BlockId finish(const Inst& i) {
    if (i.op == Op::jump) return i.target;
    if (i.op == Op::branch) {
      const bool turned = !is_laid(i.target);
      Code& c = lead(branch_on(turned ? ir::negate(i.cond) : i.cond), turned ? i.other : i.target);
      c.a = place(i.a);
      c.b = place(i.b);
      likely_.push_back(i.other);
      return turned ? i.target : i.other;
    }
    add(i);
    if (!ir::has_fault_edge(i)) return ir::no_block;
    unlikely_.push_back(i.other);
    out_.code.back().to = i.other;
    leads_.push_back(static_cast<uint32_t>(out_.code.size() - 1));
    return i.target;
  }

  // A step that goes to a block.
  Code& lead(Step step, BlockId to) {
    leads_.push_back(static_cast<uint32_t>(out_.code.size()));
    Code& c = out_.code.emplace_back();
    c.step = step;
    c.to = to;
    return c;
  }

  uint32_t place(const ir::Operand& o) {
    if (o.kind == ir::Operand::none) return 0;
    if (o.is_reg()) return o.as_reg();
    const auto next = static_cast<uint32_t>(out_.places());
    auto [at, is_new] = constants_.try_emplace(o.value, next);
    if (is_new) out_.constants.push_back(o.value);
    return at->second;
  }

  void add(const Inst& i) {
    if (i.op == Op::call) {
      uint32_t parameter = 0;
      for (const ir::Operand& o : {i.a, i.b, i.c, i.d, i.e}) {
        parameter++;
        if (o.kind == ir::Operand::none) continue;
        Code& c = out_.code.emplace_back();
        c.step = Step::pass;
        c.dst = parameter;
        c.a = place(o);
      }
    }
    if (const auto found = ahead_.find(&i); found != ahead_.end()) {
      Code& c = out_.code.emplace_back();
      c.step = Step::ahead;
      c.a = place(i.a);
      c.imm = found->second;
    }
    Code& c = out_.code.emplace_back();
    c.step = step_for(i);
    c.dst = i.dst;
    c.a = place(i.op == Op::give_back && i.a.kind == ir::Operand::none ? ir::Operand::number(0) : i.a);
    c.b = place(i.b);
    c.imm = i.op == Op::object ? i.imm + objects_[i.index] : i.op == Op::call ? i.index : i.imm;
    c.inst = &i;
  }

  Step step_for(const Inst& i) const {
    if (ir::is_arithmetic(i.op)) return step_of(i.op);
    const bool is_target = has_target_ && (i.space == ir::Space::user || i.space == ir::Space::kernel);
    const bool may_fault = ir::has_fault_edge(i);
    switch (i.op) {
    case Op::load:
      if (is_target && may_fault) return load_of(firsts_.contains(&i) ? Step::first_u8 : Step::target_u8, i);
      if (i.space == ir::Space::script && !may_fault) return load_of(Step::own_u8, i);
      return may_fault ? Step::fetch : Step::other;
    case Op::read:
    case Op::read_string:
    case Op::read_bytes: return may_fault ? Step::fetch : Step::other;
    case Op::object: return Step::object;
    case Op::call: return Step::call;
    case Op::give_back: return Step::give_back;
    case Op::unreachable: return Step::unreachable;
    default: return Step::other;
    }
  }

  const ir::Function& function_;
  std::span<const uint32_t> objects_;
  const bool has_target_;
  FunctionCode& out_;
  std::vector<uint32_t> begins_;             // of blocks; nowhere: not laid yet
  std::vector<BlockId> likely_, unlikely_;   // that something leads to
  std::vector<uint32_t> leads_;              // steps whose `to` is still a block
  std::unordered_map<const Inst*, int64_t> ahead_;
  std::unordered_set<const Inst*> firsts_;
  std::unordered_map<int64_t, uint32_t> constants_;
};

// Whether its instructions may run more than once: only then it pays to have fewer.
bool is_repeated(const ir::Function& function) {
  if (function.role != ir::Role::probe) return true;
  for (BlockId b = 0; b < function.blocks.size(); b++)
    for (const BlockId to : ir::successors(function.blocks[b]))
      if (to <= b) return true;
  return false;
}

} // namespace

FunctionCode make_code(const ir::Function& function, std::span<const uint32_t> objects, bool has_target) {
  FunctionCode out;
  if (is_repeated(function)) {
    out.own = std::make_unique<ir::Function>(function);
    ir::join_registers(*out.own);
  }
  Maker(out.own ? *out.own : function, objects, has_target, out).run();
  return out;
}

} // namespace eval
