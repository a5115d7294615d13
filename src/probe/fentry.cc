// fentry:[MODULE:]FUNCTION, fexit:[MODULE:]FUNCTION: functions of the kernel, with arguments and result as
// its types (BTF) describe them. The kernel makes a trampoline for each function that calls the programs;
// pointers among the arguments are vouched for, and are followed without a call.
#include "probe/attach_kernel.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"

namespace probe {

namespace {

template<Kind kind> std::vector<Event> match_function(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, kind, parts, mismatch);
}

Context choose_function(Machine&, const Event&, Fields) { return Context::function; }

// What is alike at the entry and at the return.
template<Kind kind> consteval KindFunctions row_of() {
  return {
      .match = match_function<kind>,
      .list = found_by_match,
      .arguments = kernel_arguments,
      .describe = describe_kernel_function,
      .choose_context = choose_function,
      .access = access_kernel_function,
      .attach = attach_function,
  };
}

} // namespace

constinit const KindFunctions fentry_kind = row_of<Kind::fentry>();
constinit const KindFunctions fexit_kind = row_of<Kind::fexit>();

} // namespace probe
