#include "bpf/trials.h"

#include "base/fd.h"
#include "bpf/kernel_calls.h"
#include "bpf/syscall.h"
#include "format/btf.h"
#include "ir/lower.h"
#include "probe/attach.h"
#include "probe/kernel_functions.h"
#include "probe/red_zone.h"

#include <linux/bpf.h>
#include <vector>

namespace bpf {

namespace {

using format::BtfKind;

constexpr bpf_insn return_zero[] = {
    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
};

bool is_at_return(const probe::Event& event) {
  return event.kind == probe::Kind::kretprobe || event.kind == probe::Kind::fexit;
}

// ---------------------------------------------------------------------------------- functions of the kernel

bool try_function(probe::Machine& machine, const probe::Event& event, std::span<const uint32_t> slots) {
  uint32_t id = probe::attach_btf_id(machine, event);
  if (!id) return false;
  ProgramLoad request;
  request.type = BPF_PROG_TYPE_TRACING;
  request.attach_type = is_at_return(event) ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
  request.attach_btf_id = id;
  std::vector<bpf_insn> insns;
  for (uint32_t slot : slots)
    insns.push_back({BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_1, static_cast<__s16>(slot * 8), 0});
  insns.insert(insns.end(), std::begin(return_zero), std::end(return_zero));
  request.insns = insns;
  request.name = "acu_try";
  base::Fd types;
  if (!event.category.empty()) {
    types = module_types(event.category);
    if (!types.valid()) return false;
    request.attach_btf_fd = types.get();
  }
  return base::Fd(program_load(request)).valid();
}

// Through typedefs and qualifiers; nothing: void.
std::optional<format::Btf::Raw> plain_type(format::Btf& btf, uint32_t id) {
  constexpr int deepest = 32;
  for (int i = 0; id && i < deepest; i++) {
    auto raw = btf.raw(id);
    if (!raw) return std::nullopt;
    const bool is_modifier = raw->kind == BtfKind::typedef_ || raw->kind == BtfKind::volatile_ || raw->kind == BtfKind::const_ ||
                             raw->kind == BtfKind::restrict_ || raw->kind == BtfKind::type_tag;
    if (!is_modifier) return raw;
    id = raw->type;
  }
  return std::nullopt;
}

std::string_view name_of(BtfKind kind) {
  switch (kind) {
  case BtfKind::integer: return "integer";
  case BtfKind::pointer: return "pointer";
  case BtfKind::array: return "array";
  case BtfKind::structure:
  case BtfKind::union_: return "structure";
  case BtfKind::enumeration:
  case BtfKind::enumeration64: return "enumeration";
  case BtfKind::forward: return "forward";
  case BtfKind::prototype: return "function";
  default: return "other";
  }
}

// The question whether a program may read such an argument or result; empty: each kernel lets it. What the verifier
// decides by: btf_ctx_access of the kernel (kernel/bpf/btf.c).
std::string question_of_value(format::Btf& btf, uint32_t type) {
  auto raw = plain_type(btf, type);
  if (!raw || raw->kind == BtfKind::integer || raw->kind == BtfKind::enumeration) return {};
  if (raw->kind != BtfKind::pointer) return "reads." + std::string(name_of(raw->kind));
  auto to = plain_type(btf, raw->type);
  if (!to || name_of(to->kind) == "structure") return {}; // void * counts as a number
  return "reads.pointer." + std::string(name_of(to->kind));
}

constexpr const char* takes_entry = "traces.entry";
constexpr const char* takes_return = "traces.return";
constexpr const char* takes_structure = "traces.structure"; // functions that get structures
constexpr size_t most_parameters = 12;                      // MAX_BPF_FUNC_ARGS

// What try_function() would say there.
bool foresee_function(probe::Machine& machine, const probe::Event& event, std::span<const uint32_t> slots) {
  auto says = [&](const std::string& question) { return machine.host().answer(question, false, {}) != 0; };
  if (!says(is_at_return(event) ? takes_return : takes_entry)) return false;
  const probe::KernelSignature* s = machine.kernel_functions().signature(event);
  format::Btf* btf = s ? machine.kernel_functions().types(event.category) : nullptr;
  const uint32_t id = machine.kernel_functions().type_of(event);
  if (!btf || !id) return false;
  const std::vector<format::Btf::Parameter> declared = btf->parameters(id);
  const bool is_variadic = !declared.empty() && !declared.back().type;
  if (is_variadic || declared.size() > most_parameters) return false;
  auto is_structure = [&](uint32_t type) {
    auto raw = plain_type(*btf, type);
    return raw && name_of(raw->kind) == "structure";
  };
  for (const probe::KernelParameter& p : s->parameters) {
    if (is_structure(p.type_id) && !says(takes_structure)) return false;
    const uint32_t words = (p.type->size + 7) / 8;
    for (uint32_t slot : slots) {
      const std::string question = slot >= p.slot && slot < p.slot + words ? question_of_value(*btf, p.type_id) : std::string();
      if (!question.empty() && !says(question)) return false;
    }
  }
  if (s->result_id && is_structure(s->result_id)) return false;
  const bool reads_result = std::find(slots.begin(), slots.end(), s->slots) != slots.end();
  const std::string question = reads_result && s->result_id ? question_of_value(*btf, s->result_id) : std::string();
  return question.empty() || says(question);
}

// For each question about values the first functions that have one, until the kernel says yes.
void ask_functions(probe::Machine& machine, std::map<std::string, int64_t>& to) {
  constexpr int most_tries = 16;
  format::Btf* btf = machine.btf();
  if (!btf) return;
  std::map<std::string, int> tries;
  auto ask = [&](const std::string& question, uint32_t function, size_t parameter, bool reads) {
    if (to[question] || tries[question]++ >= most_tries) return;
    probe::Event event{.kind = probe::Kind::fentry};
    event.function = btf->raw(function)->name;
    const probe::KernelSignature* s = machine.kernel_functions().signature(event);
    if (!s || parameter >= s->parameters.size()) return;
    const uint32_t slot = s->parameters[parameter].slot;
    to[question] = try_function(machine, event, {&slot, reads ? size_t{1} : size_t{0}});
  };
  for (const char* name : {"vfs_read", "vfs_write", "bpf_fentry_test1"}) {
    probe::Event event{.kind = probe::Kind::fentry};
    event.function = name;
    to[takes_entry] |= try_function(machine, event, {});
    event.kind = probe::Kind::fexit;
    to[takes_return] |= try_function(machine, event, {});
  }
  for (uint32_t function : btf->all(BtfKind::function)) {
    const std::vector<format::Btf::Parameter> parameters = btf->parameters(function);
    for (size_t i = 0; i < parameters.size(); i++) {
      if (!parameters[i].type) continue;
      const std::string question = question_of_value(*btf, parameters[i].type);
      if (question.empty()) continue;
      ask(question, function, i, true);
      if (question == "reads.structure") ask(takes_structure, function, i, false);
    }
  }
}

// ----------------------------------------------------------------------------------------------- registers

int32_t try_registers(const ir::TaskLayout& task) {
  const bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_task_btf},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_0, static_cast<__s16>(task.stack), 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_task_pt_regs},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_7, BPF_REG_0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, static_cast<__s32>(task.registers_id)},
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(task.cast_id)},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_0, 0, 0},
      {BPF_ALU64 | BPF_NEG, BPF_REG_7, 0, 0, 0}, // an address becomes a number
      {BPF_ALU64 | BPF_NEG, BPF_REG_7, 0, 0, 0},
      {BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_7, BPF_REG_6, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_0, BPF_REG_7, 0, 0},
      return_zero[1],
  };
  constexpr int32_t largest_stack = 1 << 20;
  base::Fd program(program_load({.insns = insns, .name = "acu_try"}));
  int32_t at = 0;
  return program.valid() && program_run(program.get(), at) == 0 && at > 0 && at < largest_stack ? at : 0;
}

constexpr const char* registers_question = "registers_at";

} // namespace

bool may_trace_function(const Features& features, probe::Machine& machine, const probe::Event& event,
                        std::span<const uint32_t> slots) {
  // That it takes programs of this kind at all is not asked by itself: to attach one costs more than to load it.
  if (features.known(Feature::trampoline) == Answer::no) return false;
  return machine.host().is_this_host() ? try_function(machine, event, slots) : foresee_function(machine, event, slots);
}

int32_t find_registers(host::Environment& host, const ir::TaskLayout& task) {
  if (!task.cast_id || !task.registers_id) return 0;
  return static_cast<int32_t>(host.answer(registers_question, 0, [&] { return try_registers(task); }));
}

std::map<std::string, int64_t> ask_all(probe::Machine& machine) {
  std::map<std::string, int64_t> out;
  for (const FeatureRow& row : feature_table()) out[question_of(row)] = static_cast<int64_t>(row.probe());
  const ir::TaskLayout task = ir::task_layout(machine);
  out[registers_question] = find_registers(machine.host(), task);
  out["nop5_keeps_red_zone"] = probe::nop5_keeps_red_zone(machine.host());
  ask_functions(machine, out);
  ask_calls(machine, out);
  return out;
}

} // namespace bpf
