// Linux 4.3 up to 6.18 have these members: include/linux/uprobes.h, mm_types.h, sched.h, and
// kernel/events/uprobes.c.
#include "watch/task_members.h"

#include "format/btf.h"

#include <array>

namespace watch {

namespace {

struct Member {
  uint32_t setting;
  const char* name; // as it is kept between runs
  const char* structure;
  const char* member;
  const char* inner_structure = nullptr; // of the member
  const char* inner = nullptr;
};

constexpr Member thread_pointer = {WALK_SET_THREAD_POINTER, "+thread_struct.fsbase", "task_struct", "thread", "thread_struct", "fsbase"};

constexpr Member probed_returns[] = {
    {WALK_SET_UTASK, "+task_struct.utask", "task_struct", "utask"},
    {WALK_SET_MM, "+task_struct.mm", "task_struct", "mm"},
    {WALK_SET_XOL, "+mm_struct.xol_area", "mm_struct", "uprobes_state", "uprobes_state", "xol_area"},
    {WALK_SET_TRAMPOLINE, "+xol_area.vaddr", "xol_area", "vaddr"},
    {WALK_SET_RETURNS, "+uprobe_task.return_instances", "uprobe_task", "return_instances"},
    {WALK_SET_STEPPED, "+uprobe_task.vaddr", "uprobe_task", "vaddr"},
    {WALK_SET_RETURN_NEXT, "+return_instance.next", "return_instance", "next"},
    {WALK_SET_RETURN_STACK, "+return_instance.stack", "return_instance", "stack"},
    {WALK_SET_RETURN_ADDRESS, "+return_instance.orig_ret_vaddr", "return_instance", "orig_ret_vaddr"},
};

// Offset plus 1, as some members stand first; 0: not known.
uint32_t number_of(const Member& m, probe::Machine& machine) {
  return machine.kernel_number(m.name, [&](format::Btf& btf) -> uint32_t {
    auto offset = [&](const char* structure, const char* member) -> std::optional<uint32_t> {
      auto found = btf.member(machine.types(), btf.find(structure, format::BtfKind::structure), member);
      return found ? std::optional(found->field.offset) : std::nullopt;
    };
    auto outer = offset(m.structure, m.member), inner = m.inner ? offset(m.inner_structure, m.inner) : 0;
    return outer && inner ? *outer + *inner + 1 : 0;
  });
}

} // namespace

void tell_task_members(bpf::WalkTables& tables, probe::Machine& machine) {
  tables.set(thread_pointer.setting, number_of(thread_pointer, machine));
  std::array<uint32_t, std::size(probed_returns)> numbers = {};
  for (size_t i = 0; i < std::size(probed_returns); i++)
    if (!(numbers[i] = number_of(probed_returns[i], machine))) return;
  for (size_t i = 0; i < std::size(probed_returns); i++) tables.set(probed_returns[i].setting, numbers[i]);
}

} // namespace watch
