// kprobe:[MODULE:]FUNCTION[+OFFSET], kretprobe:[MODULE:]FUNCTION: functions and instructions of the kernel,
// with the registers. How they are matched is in kernel_match.cc, how they are attached, all of a block at
// once, in attach_kernel.cc. A block on one function that needs no registers is attached as fentry or fexit
// is, which costs less (ir/lower.cc chooses).
#include "probe/attach_kernel.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"

namespace probe {

namespace {

template<Kind kind> std::vector<Event> match_function(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, kind, parts, mismatch);
}

Context choose_kernel_registers(Machine&, const Event&, Fields) { return Context::kernel_registers; }

// What is alike at the entry and at the return.
template<Kind kind> consteval KindFunctions row_of() {
  return {
      .match = match_function<kind>,
      .list = found_by_match,
      .arguments = kernel_arguments,
      .describe = describe_kernel_function,
      .choose_context = choose_kernel_registers,
      .access = access_kernel_function,
      .attach = attach_function,
  };
}

} // namespace

constinit const KindFunctions kprobe_kind = row_of<Kind::kprobe>();
constinit const KindFunctions kretprobe_kind = row_of<Kind::kretprobe>();

} // namespace probe
