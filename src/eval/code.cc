#include "eval/code.h"

#include <unordered_map>

namespace eval {

using ir::Inst;
using ir::Op;

namespace {

class Maker {
public:
  Maker(const ir::Function& function, std::span<const uint32_t> objects)
      : function_(function), objects_(objects) {
    out_.values.resize(function.registers);
  }

  FunctionCode run() {
    std::vector<uint32_t> begins;
    uint32_t at = 0;
    for (const ir::Block& block : function_.blocks) {
      begins.push_back(at);
      at += static_cast<uint32_t>(block.insts.size());
    }
    out_.code.reserve(at);
    for (const ir::Block& block : function_.blocks)
      for (const Inst& i : block.insts) add(i, begins);
    return std::move(out_);
  }

private:
  uint32_t place(const ir::Operand& o) {
    if (o.kind == ir::Operand::none) return 0;
    if (o.is_reg()) return o.as_reg();
    auto [at, is_new] = constants_.try_emplace(o.value, static_cast<uint32_t>(out_.values.size()));
    if (is_new) out_.values.push_back(o.value);
    return at->second;
  }

  void add(const Inst& i, const std::vector<uint32_t>& begins) {
    Code c{.op = i.op,
           .size = i.size,
           .is_signed = i.is_signed,
           .has_fault_edge = i.other != ir::no_block,
           .cond = i.cond,
           .space = i.space,
           .dst = i.dst,
           .a = place(i.a),
           .b = place(i.b),
           .imm = i.imm,
           .inst = &i};
    if (i.target != ir::no_block) c.target = begins[i.target];
    if (i.other != ir::no_block) c.other = begins[i.other];
    if (i.op == Op::object) c.imm += objects_[i.index];
    out_.code.push_back(c);
  }

  const ir::Function& function_;
  std::span<const uint32_t> objects_;
  FunctionCode out_;
  std::unordered_map<int64_t, uint32_t> constants_;
};

} // namespace

FunctionCode make_code(const ir::Function& function, std::span<const uint32_t> objects) {
  return Maker(function, objects).run();
}

} // namespace eval
