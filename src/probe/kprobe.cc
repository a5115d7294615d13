// kprobe:[MODULE:]FUNCTION[+OFFSET], kretprobe:[MODULE:]FUNCTION: functions and instructions of the kernel,
// with the registers. How they are matched is in kernel_match.cc, how they are attached, all of a block at
// once, in attach_kernel.cc. A block on one function that needs no registers is attached as fentry or fexit
// is, which costs less (ir/lower.cc chooses).
#include "probe/attach_kernel.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"

namespace probe {

namespace {

std::vector<Event> match_kprobe(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, Kind::kprobe, parts, mismatch);
}
std::vector<Event> match_kretprobe(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match_kernel_function(machine, Kind::kretprobe, parts, mismatch);
}

Context choose_kernel_registers(Machine&, const Event&, Fields) { return Context::kernel_registers; }

} // namespace

constinit const KindFunctions kprobe_kind{
    .name = "kprobe",
    .match = match_kprobe,
    .list = nullptr,
    .arguments = kernel_arguments,
    .describe = describe_kernel_function,
    .choose_context = choose_kernel_registers,
    .access = access_kernel_function,
    .attach = attach_function,
    .is_found_by_match = true,
};

constinit const KindFunctions kretprobe_kind{
    .name = "kretprobe",
    .match = match_kretprobe,
    .list = nullptr,
    .arguments = kernel_arguments,
    .describe = describe_kernel_function,
    .choose_context = choose_kernel_registers,
    .access = access_kernel_function,
    .attach = attach_function,
    .is_found_by_match = true,
};

} // namespace probe
