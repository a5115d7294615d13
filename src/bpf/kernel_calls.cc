// A program of one call is refused in any case, since it gives no arguments; the log tells whether it was for those.
#include "bpf/kernel_calls.h"

#include "base/fd.h"
#include "bpf/syscall.h"
#include "format/btf.h"
#include "host/environment.h"
#include "probe/attach.h"

#include <vector>

namespace bpf {

namespace {

using format::BtfKind;

// The kinds of program that acu makes for events that call the kernel.
struct ProgramKind {
  std::string_view name;
  bpf_prog_type type;
  uint32_t flags = 0, attach_type = 0;
};
constexpr ProgramKind run_by_acu = {"run_by_acu", BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE};
constexpr ProgramKind btf_tracepoint = {"btf_tracepoint", BPF_PROG_TYPE_TRACING, 0, BPF_TRACE_RAW_TP};
constexpr ProgramKind perf_event = {"perf_event", BPF_PROG_TYPE_PERF_EVENT};
constexpr ProgramKind tracepoint = {"tracepoint", BPF_PROG_TYPE_TRACEPOINT};
constexpr ProgramKind raw_tracepoint = {"raw_tracepoint", BPF_PROG_TYPE_RAW_TRACEPOINT};

bool try_call(const ProgramKind& kind, uint32_t attach_btf_id, uint32_t function) {
  const bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(function)},
      {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  std::vector<char> log(16 << 10);
  ProgramLoad request{.insns = insns, .name = "acu_try", .log = log};
  request.type = kind.type;
  request.flags = kind.flags;
  request.attach_type = kind.attach_type;
  request.attach_btf_id = attach_btf_id;
  base::Fd program(program_load(request));
  if (program.valid()) return true;
  std::string_view said(log.data());
  return !said.empty() && said.find("is not allowed") == said.npos &&
         said.find("calling kernel function") == said.npos;
}

std::string question(const ProgramKind& kind, std::string_view function) {
  return "calls." + std::string(kind.name) + "." + std::string(function);
}

} // namespace

bool may_call(probe::Machine& machine, const probe::Event& event, uint32_t function) {
  probe::Context context = probe::choose_context(machine, event, {});
  uint32_t typed = context == probe::Context::raw_tracepoint ? probe::attach_btf_id(machine, event) : 0;
  const ProgramKind& kind = context == probe::Context::none         ? run_by_acu
                            : typed                                 ? btf_tracepoint
                            : context == probe::Context::perf_event ? perf_event
                            : context == probe::Context::tracepoint ? tracepoint
                                                                    : raw_tracepoint;
  if (machine.host().is_this_host()) return try_call(kind, typed, function);
  auto raw = machine.btf() ? machine.btf()->raw(function) : std::nullopt;
  return raw && machine.host().answer(question(kind, raw->name), false, {}) != 0;
}

void ask_calls(probe::Machine& machine, std::map<std::string, int64_t>& to) {
  format::Btf* btf = machine.btf();
  if (!btf) return;
  const uint32_t typed = btf->find("btf_trace_task_newtask", BtfKind::typedef_);
  std::vector<uint32_t> functions;
  for (uint32_t tag : btf->all(BtfKind::decl_tag))
    if (auto raw = btf->raw(tag); raw->name == "bpf_kfunc") functions.push_back(raw->type);
  if (functions.empty()) // before Linux 6.9 they are not marked, but have a prefix
    for (uint32_t function : btf->all(BtfKind::function))
      if (btf->raw(function)->name.starts_with("bpf_")) functions.push_back(function);
  for (uint32_t function : functions) {
    auto raw = btf->raw(function);
    const std::string name(raw ? raw->name : std::string_view());
    for (const ProgramKind* kind : {&run_by_acu, &btf_tracepoint, &perf_event, &tracepoint, &raw_tracepoint}) {
      const bool is_typed = kind == &btf_tracepoint;
      if (is_typed && !typed) continue;
      if (try_call(*kind, is_typed ? typed : 0, function)) to[question(*kind, name)] = true;
    }
  }
}

} // namespace bpf
