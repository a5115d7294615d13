// Readable disassembly (--dump bpf): the maps, then each program with its functions, jump targets, helper and
// map names, and the lines of the script that the instructions come from.
#include "base/text.h"
#include "bpf/emit.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace bpf {
namespace {

struct HelperName {
  Helper id;
  const char* name;
};
constexpr HelperName helper_names[] = {
    {map_lookup_elem, "map_lookup_elem"},
    {map_update_elem, "map_update_elem"},
    {map_delete_elem, "map_delete_elem"},
    {ktime_get_ns, "ktime_get_ns"},
    {get_prandom_u32, "get_prandom_u32"},
    {get_smp_processor_id, "get_smp_processor_id"},
    {get_current_pid_tgid, "get_current_pid_tgid"},
    {get_current_uid_gid, "get_current_uid_gid"},
    {get_current_comm, "get_current_comm"},
    {get_numa_node_id, "get_numa_node_id"},
    {get_stack, "get_stack"},
    {get_task_stack, "get_task_stack"},
    {ringbuf_output, "ringbuf_output"},
    {get_current_cgroup_id, "get_current_cgroup_id"},
    {probe_read_user, "probe_read_user"},
    {probe_read_kernel, "probe_read_kernel"},
    {probe_read_user_str, "probe_read_user_str"},
    {probe_read_kernel_str, "probe_read_kernel_str"},
    {probe_write_user, "probe_write_user"},
    {get_socket_cookie, "get_socket_cookie"},
    {override_return, "override_return"},
    {send_signal, "send_signal"},
    {send_signal_thread, "send_signal_thread"},
    {skb_output, "skb_output"},
    {get_ns_current_pid_tgid, "get_ns_current_pid_tgid"},
    {d_path, "d_path"},
    {seq_printf, "seq_printf"},
    {per_cpu_ptr, "per_cpu_ptr"},
    {this_cpu_ptr, "this_cpu_ptr"},
    {jiffies64, "jiffies64"},
    {ktime_get_boot_ns, "ktime_get_boot_ns"},
    {ringbuf_reserve, "ringbuf_reserve"},
    {ringbuf_submit, "ringbuf_submit"},
    {ringbuf_query, "ringbuf_query"},
    {task_storage_get, "task_storage_get"},
    {task_storage_delete, "task_storage_delete"},
    {get_current_task_btf, "get_current_task_btf"},
    {for_each_map_elem, "for_each_map_elem"},
    {loop, "loop"},
    {map_lookup_percpu_elem, "map_lookup_percpu_elem"},
    {ktime_get_tai_ns, "ktime_get_tai_ns"},
};

std::string print(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string print(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

const char* type_name(uint32_t type) {
  switch (type) {
  case BPF_MAP_TYPE_HASH: return "hash";
  case BPF_MAP_TYPE_ARRAY: return "array";
  case BPF_MAP_TYPE_PERCPU_HASH: return "percpu_hash";
  case BPF_MAP_TYPE_PERCPU_ARRAY: return "percpu_array";
  case BPF_MAP_TYPE_LRU_HASH: return "lru_hash";
  case BPF_MAP_TYPE_LRU_PERCPU_HASH: return "lru_percpu_hash";
  case BPF_MAP_TYPE_TASK_STORAGE: return "task_storage";
  case BPF_MAP_TYPE_RINGBUF: return "ringbuf";
  case BPF_MAP_TYPE_PERF_EVENT_ARRAY: return "perf_event_array";
  default: return "map";
  }
}

const char* width(uint8_t code) {
  switch (BPF_SIZE(code)) {
  case BPF_B: return "u8";
  case BPF_H: return "u16";
  case BPF_W: return "u32";
  default: return "u64";
  }
}

std::string memory(uint8_t code, uint8_t base, int offset) {
  return print("*(%s *)(r%d %c %d)", width(code), base, offset < 0 ? '-' : '+', std::abs(offset));
}

const char* alu_sign(uint8_t op) {
  switch (op) {
  case BPF_ADD: return "+=";
  case BPF_SUB: return "-=";
  case BPF_MUL: return "*=";
  case BPF_DIV: return "/=";
  case BPF_OR: return "|=";
  case BPF_AND: return "&=";
  case BPF_LSH: return "<<=";
  case BPF_RSH: return ">>=";
  case BPF_MOD: return "%=";
  case BPF_XOR: return "^=";
  case BPF_ARSH: return "s>>=";
  default: return "=";
  }
}

const char* jump_sign(uint8_t op) {
  switch (op) {
  case BPF_JEQ: return "==";
  case BPF_JNE: return "!=";
  case BPF_JGT: return ">";
  case BPF_JGE: return ">=";
  case BPF_JLT: return "<";
  case BPF_JLE: return "<=";
  case BPF_JSGT: return "s>";
  case BPF_JSGE: return "s>=";
  case BPF_JSLT: return "s<";
  case BPF_JSLE: return "s<=";
  default: return "&";
  }
}

class Disassembler {
public:
  Disassembler(const Object& object, const Code& code)
      : object_(object), code_(code), is_target_(code.insns.size()), relocation_of_(code.insns.size()) {
    for (const Relocation& r : code.relocations) relocation_of_[r.insn] = &r;
    for (size_t n = 0; n < code.insns.size(); n++) {
      const bpf_insn& i = code.insns[n];
      const bool jumps =
          BPF_CLASS(i.code) == BPF_JMP && BPF_OP(i.code) != BPF_CALL && BPF_OP(i.code) != BPF_EXIT;
      if (jumps) is_target_[n + 1 + static_cast<size_t>(i.off)] = true;
      if (is_wide(i)) n++;
    }
  }
  bool is_target(size_t n) const { return is_target_[n]; }
  static bool is_wide(const bpf_insn& i) { return i.code == (BPF_LD | BPF_DW | BPF_IMM); }

  std::string line(size_t n) const {
    const bpf_insn& i = code_.insns[n];
    switch (BPF_CLASS(i.code)) {
    case BPF_ALU:
    case BPF_ALU64: return alu(i);
    case BPF_LDX: return print("r%d = ", i.dst_reg) + memory(i.code, i.src_reg, i.off);
    case BPF_STX:
      if (BPF_MODE(i.code) == BPF_ATOMIC) return atomic(i);
      return memory(i.code, i.dst_reg, i.off) + print(" = r%d", i.src_reg);
    case BPF_ST: return memory(i.code, i.dst_reg, i.off) + print(" = %d", i.imm);
    case BPF_LD: return wide(n);
    default: return jump(n);
    }
  }

private:
  static std::string alu(const bpf_insn& i) {
    const char* half = BPF_CLASS(i.code) == BPF_ALU ? "w" : "r";
    const uint8_t op = BPF_OP(i.code);
    if (op == BPF_NEG) return print("r%d = -r%d", i.dst_reg, i.dst_reg);
    if (op == BPF_END) return print("r%d = be%d r%d", i.dst_reg, i.imm, i.dst_reg);
    if (BPF_SRC(i.code) == BPF_X)
      return print("%s%d %s %s%d", half, i.dst_reg, alu_sign(op), half, i.src_reg);
    return print("%s%d %s %d", half, i.dst_reg, alu_sign(op), i.imm);
  }
  static std::string atomic(const bpf_insn& i) {
    const std::string where = memory(i.code, i.dst_reg, i.off);
    if (i.imm == BPF_CMPXCHG) return "r0 = atomic cmpxchg(" + where + print(", r0, r%d)", i.src_reg);
    return "atomic " + where + print(" += r%d", i.src_reg);
  }
  std::string wide(size_t n) const {
    const bpf_insn& i = code_.insns[n];
    if (i.src_reg == BPF_PSEUDO_FUNC) return print("r%d = function ", i.dst_reg) + function(n);
    if (const Relocation* r = relocation_of_[n]) {
      const std::string to = print("r%d = ", i.dst_reg);
      const std::string& name = object_.maps[r->map].name;
      return r->value_address ? to + "value " + name + print(" + %d", i.imm) : to + "map " + name;
    }
    const auto high = static_cast<uint64_t>(static_cast<uint32_t>(code_.insns[n + 1].imm)) << 32;
    return print("r%d = 0x%" PRIx64, i.dst_reg, high | static_cast<uint32_t>(i.imm));
  }
  std::string function(size_t n) const {
    const auto target = static_cast<uint32_t>(static_cast<int64_t>(n) + 1 + code_.insns[n].imm);
    for (const FunctionInfo& f : code_.functions)
      if (f.insn == target) return f.name + print(" (at %u)", target);
    return print("at %u", target);
  }
  std::string jump(size_t n) const {
    const bpf_insn& i = code_.insns[n];
    const int64_t target = static_cast<int64_t>(n) + 1 + i.off;
    switch (BPF_OP(i.code)) {
    case BPF_EXIT: return "exit";
    case BPF_JA: return print("goto %" PRId64, target);
    case BPF_CALL: return call(n);
    default: break;
    }
    const std::string head = print("if r%d %s ", i.dst_reg, jump_sign(BPF_OP(i.code)));
    const std::string with = BPF_SRC(i.code) == BPF_X ? print("r%d", i.src_reg) : print("%d", i.imm);
    return head + with + print(" goto %" PRId64, target);
  }
  std::string call(size_t n) const {
    const bpf_insn& i = code_.insns[n];
    if (i.src_reg == BPF_PSEUDO_CALL) return "call function " + function(n);
    if (i.src_reg == BPF_PSEUDO_KFUNC_CALL) return print("call kernel function %d", i.imm);
    for (const HelperName& h : helper_names)
      if (h.id == i.imm) return std::string("call ") + h.name;
    return print("call helper %d", i.imm);
  }

  const Object& object_;
  const Code& code_;
  std::vector<bool> is_target_;
  std::vector<const Relocation*> relocation_of_; // by instruction; or null
};

void print_map(std::string& out, const MapSpec& m) {
  out += "map " + m.name + ": " + type_name(m.type) +
         print(", key %u, value %u, entries %u", m.key_size, m.value_size, m.max_entries);
  if (!m.content.empty()) out += ", constant";
  out += "\n";
}

void print_program(std::string& out, const Object& object, const Code& code, const base::Source& source) {
  out += "program " + code.name + print(": %zu instructions\n", code.insns.size());
  const Disassembler dis(object, code);
  auto function = code.functions.begin();
  auto place = code.lines.begin();
  uint32_t shown = 0;
  for (size_t n = 0; n < code.insns.size(); n++) {
    if (function != code.functions.end() && function->insn == n)
      out += "function " + (function++)->name + "\n", shown = 0;
    for (; place != code.lines.end() && place->insn <= n; ++place) {
      if (place->where.end == 0 || place->where.end > source.size()) continue;
      const uint32_t line = source.position(place->where.begin).line;
      if (line != shown) out += print("; %u: ", line) + std::string(base::trim(source.line_at(place->where.begin))) + "\n";
      shown = line;
    }
    out += print("%c%5zu  ", dis.is_target(n) ? '>' : ' ', n) + dis.line(n) + "\n";
    if (Disassembler::is_wide(code.insns[n])) n++;
  }
}

} // namespace

std::string to_string(const Object& object, const base::Source& source) {
  std::string out;
  for (const MapSpec& m : object.maps) print_map(out, m);
  for (const Code& c : object.programs) {
    out += "\n";
    print_program(out, object, c, source);
  }
  return out;
}

} // namespace bpf
