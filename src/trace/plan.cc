#include "trace/plan.h"

#include <algorithm>

namespace trace {

using Copy = ValueKind::Copy;

uint64_t Plan::pack() const {
  uint64_t out = static_cast<uint64_t>(shape) | uint64_t{returns} << 3 | uint64_t{takes_path_at_entry} << 4 |
                 uint64_t{1} << 5;
  for (size_t i = 0; i < slots.size(); i++) {
    const Slot& s = slots[i];
    const uint64_t packed =
        s.argument | uint64_t{s.counted} << 3 | uint64_t{s.is_out} << 6 | uint64_t{s.bytes} << 7;
    out |= packed << (8 + 24 * i);
  }
  return out;
}

static Plan::Slot slot_of(const Argument& a, size_t index) {
  Plan::Slot out = {.argument = static_cast<uint8_t>(index),
                    .is_out = a.kind->is_out,
                    .counted = 0,
                    .bytes = a.kind->bytes};
  if (a.count) out.counted = *a.count == 'r' ? Plan::by_result : static_cast<uint8_t>(*a.count - '0' + 1);
  return out;
}

Plan plan_of(std::string_view call) {
  Plan plan;
  plan.returns = call != "exit" && call != "exit_group";
  plan.takes_path_at_entry = call == "execve" || call == "execveat";
  const spec::SyscallRow* row = spec::find_syscall_row(call);
  if (!row) return plan;
  size_t texts = 0, all = 0;
  const std::vector<Argument> arguments = read_arguments(row->arguments);
  for (Copy wanted : {Copy::text, Copy::memory})
    for (size_t i = 0; i < arguments.size() && all < plan.slots.size(); i++)
      if (arguments[i].kind && arguments[i].kind->copy == wanted) {
        plan.slots[all++] = slot_of(arguments[i], i);
        texts += wanted == Copy::text;
      }
  static constexpr Shape shapes[3][3] = {
      {Shape::nothing, Shape::memory, Shape::two_memories}, // [texts][the rest]
      {Shape::text, Shape::text_and_memory, Shape::nothing},
      {Shape::two_texts, Shape::nothing, Shape::nothing}};
  plan.shape = shapes[texts][all - texts];
  return plan;
}

} // namespace trace
