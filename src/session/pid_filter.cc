// A new entry block: task's tgid = pid ? the old entry : return. Block numbers shift by one, as block 0 is
// always the entry; the block that returns goes to the end.
#include "session/pid_filter.h"

#include "bpf/features.h"

#include <set>

namespace session {

using namespace ir;

static void shift_targets(Function& function) {
  for (Block& block : function.blocks)
    for (Inst& inst : block.insts) {
      if (inst.target != no_block) inst.target++;
      if (inst.other != no_block) inst.other++;
    }
}

static void prepend_test(Function& function, int pid, Query ids_of) {
  shift_targets(function);
  Reg ids = function.registers++, tgid = function.registers++;
  BlockId leave = static_cast<BlockId>(function.blocks.size()) + 1;
  Block entry;
  entry.insts.push_back({.op = Op::query, .query = ids_of, .dst = ids});
  entry.insts.push_back({.op = Op::lshr, .dst = tgid, .a = Operand::of(ids), .b = Operand::number(32)});
  entry.insts.push_back({.op = Op::branch,
                         .cond = Cond::eq,
                         .a = Operand::of(tgid),
                         .b = Operand::number(pid),
                         .target = 1,
                         .other = leave});
  function.blocks.insert(function.blocks.begin(), std::move(entry));
  function.blocks.emplace_back();
  function.blocks.back().insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
}

void filter_by_pid(Program& program, int pid, const bpf::Features& features) {
  // The number is one of acu's own namespace.
  Query ids_of = program.pid_namespace.inode ? Query::namespace_pid_tgid : Query::pid_tgid;
  std::set<uint32_t> done; // probes may share a function
  for (const Probe& p : program.probes) {
    bool is_user = p.context == probe::Context::registers;
    if (is_user && features.has(bpf::Feature::uprobe_multi_pid)) continue; // the link tells the process
    bool global = is_user || p.context == probe::Context::tracepoint || p.context == probe::Context::raw_tracepoint ||
                  p.context == probe::Context::btf_tracepoint || p.context == probe::Context::function ||
                  p.context == probe::Context::kernel_registers;
    if (global && done.insert(p.function).second) prepend_test(program.functions[p.function], pid, ids_of);
  }
}

} // namespace session
