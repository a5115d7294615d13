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

// The function goes on if `value`, which `entry` works out, is `wanted` (eq) or is not (ne).
static void prepend(Function& function, Block entry, Reg value, Cond cond, int64_t wanted) {
  shift_targets(function);
  BlockId leave = static_cast<BlockId>(function.blocks.size()) + 1;
  entry.insts.push_back(
      {.op = Op::branch, .cond = cond, .a = Operand::of(value), .b = Operand::number(wanted), .target = 1, .other = leave});
  function.blocks.insert(function.blocks.begin(), std::move(entry));
  function.blocks.emplace_back();
  function.blocks.back().insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
}

static void prepend_test(Function& function, int pid, Query ids_of) {
  Reg ids = function.registers++, tgid = function.registers++;
  Block entry;
  entry.insts.push_back({.op = Op::query, .query = ids_of, .dst = ids});
  entry.insts.push_back({.op = Op::lshr, .dst = tgid, .a = Operand::of(ids), .b = Operand::number(32)});
  prepend(function, std::move(entry), tgid, Cond::eq, pid);
}

static bool is_global(probe::Context c) {
  return c == probe::Context::registers || c == probe::Context::tracepoint || c == probe::Context::raw_tracepoint ||
         c == probe::Context::btf_tracepoint || c == probe::Context::function || c == probe::Context::kernel_registers;
}

void filter_by_pid(Program& program, int pid, const bpf::Features& features) {
  // The number is one of acu's own namespace.
  Query ids_of = program.pid_namespace.inode ? Query::namespace_pid_tgid : Query::pid_tgid;
  std::set<uint32_t> done; // probes may share a function
  for (const Probe& p : program.probes) {
    bool is_user = p.context == probe::Context::registers;
    if (is_user && features.has(bpf::Feature::uprobe_multi_pid)) continue; // the link tells the process
    if (is_global(p.context) && done.insert(p.function).second) prepend_test(program.functions[p.function], pid, ids_of);
  }
}

void filter_by_group(Program& program, type::Table& types, const spec::GroupSet& groups) {
  const uint32_t map = add_group_set(program, types, groups);
  std::set<uint32_t> done;
  for (const Probe& p : program.probes) {
    const bool counts = is_global(p.context) || p.context == probe::Context::perf_event;
    if (!counts || !done.insert(p.function).second) continue;
    Function& function = program.functions[p.function];
    auto& objects = program.frames[function.frame].objects;
    objects.push_back({8, "group"});
    Reg id = function.registers++, key = function.registers++, found = function.registers++;
    Block entry;
    entry.insts.push_back({.op = Op::query, .query = Query::cgroup_id, .dst = id});
    entry.insts.push_back({.op = Op::object, .dst = key, .index = static_cast<uint32_t>(objects.size() - 1)});
    entry.insts.push_back({.op = Op::store, .size = 8, .a = Operand::of(key), .b = Operand::of(id)});
    entry.insts.push_back({.op = Op::map_find, .dst = found, .a = Operand::of(key), .index = map});
    prepend(function, std::move(entry), found, Cond::ne, 0);
  }
}

} // namespace session
