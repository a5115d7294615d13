// kprobe:[MODULE:]FUNCTION[+OFFSET], kretprobe:[MODULE:]FUNCTION: functions and instructions of the kernel, with the registers. A block on one
// function that needs no registers is attached as fentry or fexit is, which costs less (ir/lower.cc chooses).
// fentry:[MODULE:]FUNCTION, fexit:[MODULE:]FUNCTION: functions of the kernel, with arguments and result as its types (BTF) describe them. The kernel
// makes a trampoline for each function that calls the programs; pointers among the arguments are vouched for, and are followed without a call.
// How both are matched is in kernel_match.cc, how they are attached, all of a block at once, in attach_kernel.cc.
#include "probe/attach_kernel.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"

namespace probe {

namespace {

template<Kind kind> std::vector<Event> match_function(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, kind, parts, mismatch);
}

template<Context context> Context choose(Machine&, const Event&, Fields) { return context; }

template<Kind kind, Context context> consteval KindFunctions row_of() {
  return {
      .match = match_function<kind>,
      .list = found_by_match,
      .arguments = kernel_arguments,
      .describe = describe_kernel_function,
      .choose_context = choose<context>,
      .access = access_kernel_function,
      .attach = attach_function,
  };
}

} // namespace

constinit const KindFunctions kprobe_kind = row_of<Kind::kprobe, Context::kernel_registers>();
constinit const KindFunctions kretprobe_kind = row_of<Kind::kretprobe, Context::kernel_registers>();
constinit const KindFunctions fentry_kind = row_of<Kind::fentry, Context::function>();
constinit const KindFunctions fexit_kind = row_of<Kind::fexit, Context::function>();

} // namespace probe
