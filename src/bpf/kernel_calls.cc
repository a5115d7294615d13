// A program of one call is refused in any case, since it gives no arguments; the log tells whether it was for those.
#include "bpf/kernel_calls.h"

#include "base/fd.h"
#include "bpf/syscall.h"
#include "probe/attach.h"

#include <vector>

namespace bpf {

bool may_call(probe::Machine& machine, const probe::Event& event, uint32_t function) {
  const bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(function)},
      {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  std::vector<char> log(16 << 10);
  ProgramLoad request{.insns = insns, .name = "acu_try", .log = log};
  // The kinds that acu makes for events that call the kernel.
  probe::Context context = probe::choose_context(machine, event, {});
  uint32_t typed = context == probe::Context::raw_tracepoint ? probe::attach_btf_id(machine, event) : 0;
  if (context == probe::Context::none) {
    request.type = BPF_PROG_TYPE_SYSCALL;
    request.flags = BPF_F_SLEEPABLE;
  } else if (typed) {
    request.type = BPF_PROG_TYPE_TRACING;
    request.attach_type = BPF_TRACE_RAW_TP;
    request.attach_btf_id = typed;
  } else if (context == probe::Context::perf_event) {
    request.type = BPF_PROG_TYPE_PERF_EVENT;
  } else if (context == probe::Context::tracepoint) {
    request.type = BPF_PROG_TYPE_TRACEPOINT;
  }
  base::Fd program(program_load(request));
  if (program.valid()) return true;
  std::string_view said(log.data());
  return !said.empty() && said.find("is not allowed") == said.npos &&
         said.find("calling kernel function") == said.npos;
}

} // namespace bpf
