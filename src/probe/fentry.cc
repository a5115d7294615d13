// fentry:[MODULE:]FUNCTION, fexit:[MODULE:]FUNCTION: functions of the kernel, with arguments and result as
// its types (BTF) describe them. The kernel makes a trampoline for each function that calls the programs;
// pointers among the arguments are vouched for, and are followed without a call.
#include "probe/attach_kernel.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"

namespace probe {

namespace {

std::vector<Event> match_fentry(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, Kind::fentry, parts, mismatch);
}
std::vector<Event> match_fexit(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, Kind::fexit, parts, mismatch);
}

Context choose_function(Machine&, const Event&, Fields) { return Context::function; }

} // namespace

constinit const KindFunctions fentry_kind{
    .name = "fentry",
    .match = match_fentry,
    .list = nullptr,
    .arguments = kernel_arguments,
    .describe = describe_kernel_function,
    .choose_context = choose_function,
    .access = access_kernel_function,
    .attach = attach_function,
    .is_found_by_match = true,
};

constinit const KindFunctions fexit_kind{
    .name = "fexit",
    .match = match_fexit,
    .list = nullptr,
    .arguments = kernel_arguments,
    .describe = describe_kernel_function,
    .choose_context = choose_function,
    .access = access_kernel_function,
    .attach = attach_function,
    .is_found_by_match = true,
};

} // namespace probe
