// BCC: one Python file with the kernel's side as C text. Values and maps print by the same run time as in scripts for debuggers.
#include "emit/debugger.h"
#include "emit/kernel_c.h"
#include "emit/kernel_c_rows.h"
#include "emit/program_text.h"
#include "emit/targets.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

namespace {

constexpr std::string_view bcc_reserved =
    "auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static "
    "struct switch typedef union unsigned void volatile while bool true false u8 u16 u32 u64 s8 s16 s32 s64 ctx key value found zero events pair text "
    "current size count time";

std::string number_name(const type::Type& t) { return (t.is_signed ? "I" : "U") + std::to_string(8 * std::max(1u, t.size)); }

// How a part of a record or key is read, and how it prints.
std::string part_type(const RecordPart& p) {
  switch (p.kind) {
  case RecordPart::text: return "Text(" + std::to_string(p.size) + ")";
  case RecordPart::boolean: return "BOOLEAN";
  case RecordPart::address: return "POINTER";
  default: return p.is_signed ? "I64" : "U64";
  }
}

std::string key_type(const Map& m) {
  if (!m.key) return "None";
  auto one = [](const type::Type& t) -> std::string {
    if (t.is(Kind::string)) return "TEXT";
    if (t.is(Kind::boolean)) return "BOOLEAN";
    if (t.is(Kind::pointer)) return "POINTER";
    return number_name(t);
  };
  if (!m.key->is(Kind::tuple)) return one(*m.key);
  std::string out;
  for (const type::Field& f : m.key->fields()) out += (out.empty() ? "" : ", ") + one(*f.type);
  return "Tuple(" + out + ")";
}

std::string map_value(const type::Type& t) {
  const std::string sign = t.is_signed ? "True" : "";
  switch (t.kind) {
  case Kind::count: return "Count(" + sign + ")";
  case Kind::sum: return "Sum(" + sign + ")";
  case Kind::min: return "Min(" + sign + ")";
  case Kind::max: return "Max(" + sign + ")";
  case Kind::avg: return "Average(" + sign + ")";
  case Kind::stats: return "Stats(" + sign + ")";
  case Kind::hist: return "Histogram(" + (t.step ? std::to_string(t.step) : "") + ")";
  case Kind::lhist: return "Linear(" + std::to_string(t.low) + ", " + std::to_string(t.high) + ", " + std::to_string(t.step) + ")";
  case Kind::string: return "Text(" + std::to_string((t.size + 7) / 8 * 8) + ")";
  case Kind::boolean: return "BOOLEAN";
  case Kind::pointer: return "POINTER";
  default: return t.is_signed ? "I64" : "U64";
  }
}

std::string map_lines(const Job& job, KernelC& kernel) {
  std::string out = "kernel_maps = []\n";
  for (const Map* m : job.program.maps) {
    if (!m->value || !m->used) continue;
    const std::string name = kernel.map_name(*m);
    std::string parts;
    for (const RecordPart& p : KernelC::key_parts(*m))
      parts += (parts.empty() ? "" : ", ") + ("(" + part_type(p) + ", " + std::to_string(p.offset) + ", " + std::to_string(p.size) + ")");
    out += "map_" + name + " = KernelMap(" + python_string(m->name) + ", " + python_string(name) + ", [" + parts + "], " + key_type(*m) + ", " + map_value(*m->value) +
           (KernelC::has_slots(*m) ? ", has_slots=True" : "") + ")\nkernel_maps.append(map_" + name + ")\n";
  }
  return out;
}

std::string action_lines(KernelC& kernel) {
  std::string out = "actions = [\n";
  for (const RecordAction& a : kernel.actions()) {
    std::string action, parts;
    const std::string map = a.map ? "map_" + kernel.map_name(*a.map) : "";
    switch (a.kind) {
    case RecordAction::printf: action = "lambda *values: printf(" + python_bytes(a.text) + ", *values)"; break;
    case RecordAction::print_value: action = "show"; break;
    case RecordAction::print_map: action = "lambda: " + map + ".print(" + std::to_string(a.top) + ", " + std::to_string(a.div) + ")"; break;
    case RecordAction::clear: action = map + ".clear"; break;
    case RecordAction::zero: action = map + ".zero"; break;
    case RecordAction::exit: action = "lambda: stop(" + std::to_string(a.status) + ")"; break;
    }
    for (const RecordPart& p : a.parts)
      parts += "(" + part_type(p) + ", " + std::to_string(p.offset) + ", " + std::to_string(p.size) + ", " +
               (p.kind == RecordPart::boolean || p.kind == RecordPart::address ? part_type(p) : "None") + "), ";
    out += "    (" + action + ", [" + (parts.empty() ? "" : parts.substr(0, parts.size() - 2)) + "]),\n";
  }
  return out + "]\n";
}

std::string attach_lines(KernelC& kernel, const Job& job) {
  std::string on = "def attach():\n    pass\n", off = "def detach():\n    pass\n";
  for (const KernelProgram& p : kernel.programs()) {
    const probe::Event& e = *p.event;
    const std::string function = "fn_name=" + python_string(p.function);
    switch (e.kind) {
    case probe::Kind::tracepoint:
      on += "    kernel.attach_tracepoint(tp=" + python_string(e.category + ":" + e.event) + ", " + function + ")\n";
      off += "    kernel.detach_tracepoint(tp=" + python_string(e.category + ":" + e.event) + ")\n";
      break;
    case probe::Kind::kprobe:
    case probe::Kind::kretprobe: {
      const std::string word = e.kind == probe::Kind::kprobe ? "kprobe" : "kretprobe";
      on += "    kernel.attach_" + word + "(event=" + python_string(e.function) + ", " + function + ")\n";
      off += "    kernel.detach_" + word + "(event=" + python_string(e.function) + ")\n";
      break;
    }
    case probe::Kind::uprobe:
    case probe::Kind::uretprobe: {
      const std::string word = e.kind == probe::Kind::uprobe ? "uprobe" : "uretprobe";
      const std::string where = "name=" + python_string(e.binary) + ", sym=" + python_string(e.function);
      on += "    kernel.attach_" + word + "(" + where + ", " + function + ")\n";
      off += "    kernel.detach_" + word + "(" + where + ")\n";
      break;
    }
    case probe::Kind::interval:
    case probe::Kind::profile:
      on += "    kernel.attach_perf_event(ev_type=PerfType.SOFTWARE, ev_config=PerfSWConfig.CPU_CLOCK, " + function +
            (e.frequency ? ", sample_freq=" + std::to_string(e.frequency) : ", sample_period=" + std::to_string(e.period_ns)) + (e.kind == probe::Kind::interval ? ", cpu=0)\n" : ")\n");
      break;
    default:
      refuse(job, bcc_target, p.where, "a probe of the kind `" + e.provider + "`", "it is declared by macros of BCC", "kprobe, or --to libbpf");
    }
  }
  return on + "\n\n" + off;
}

std::string event_structures(KernelC& kernel) {
  std::string out;
  const auto& actions = kernel.actions();
  for (size_t i = 0; i < actions.size(); i++) {
    out += "struct event_" + std::to_string(i) + " {\n  u64 id;\n";
    for (size_t p = 0; p < actions[i].parts.size(); p++) {
      const RecordPart& part = actions[i].parts[p];
      const std::string name = "value" + std::to_string(p);
      out += part.kind == RecordPart::text ? "  char " + name + "[" + std::to_string(part.size) + "];\n" : std::string(part.is_signed ? "  s64 " : "  u64 ") + name + ";\n";
    }
    out += "};\n\n";
  }
  return out;
}

std::string indices(const std::vector<uint32_t>& all) {
  std::string out = "[";
  for (uint32_t a : all) out += (out.size() > 1 ? ", " : "") + std::to_string(a);
  return out + "]";
}

std::vector<File> emit_bcc(const Job& job) {
  Names names(bcc_reserved);
  Writer out(job.source, "//");
  KernelC kernel(job, bcc_target, out, names, KernelStyle::bcc);
  kernel.run();
  std::string c = "#include <uapi/linux/ptrace.h>\n#include <linux/sched.h>\n\nstruct pair {\n  u64 value, count;\n};\n\nBPF_RINGBUF_OUTPUT(events, 1024);\n\n" +
                  event_structures(kernel) + kernel.helpers() + kernel.structures() + kernel.maps() + out.take();
  std::string text;
  for (const char b : c) text += b == '\\' ? std::string("\\\\") : std::string(1, b);
  Writer head(job.source, "#");
  head.line("#!/usr/bin/python3");
  write_head(job, bcc_target, head);
  std::string values;
  for (std::string_view name : {"values.py", "output.py", "types.py", "aggregations.py", "maps.py"}) (values += python_part(name)) += "\n\n";
  std::string python = head.take() + "# Usage: " + job.name + ".py [COMMAND …]: until Ctrl-C, or the end of the command.\n\n" + values + std::string(python_part("bcc.py")) + "\n\n# ---- The script.\n\nkernel = BPF(text=\"\"\"\n" + text + "\"\"\")\n\n" + map_lines(job, kernel) + action_lines(kernel) +
                       "\n\n" + attach_lines(kernel, job) + "\n\nprobe_count = " + std::to_string(kernel.programs().size()) + "\nrun(" + indices(kernel.begin_actions) + ", " +
                       indices(kernel.end_actions) + ", sys.argv[1:], " + (job.program.config.flag("print_maps_on_exit") ? "True" : "False") + ")\n";
  return {{job.name + ".py", python, true}};
}

} // namespace

const Target bcc_target = {.name = "bcc",
                           .title = "BCC",
                           .ending = ".py",
                           .run = "python3 FILE [COMMAND …]",
                           .line_comment = "#",
                           .constructs = SupportTable::of<kernel_c_constructs>(),
                           .builtins = SupportTable::of<kernel_c_builtins>(),
                           .probes = SupportTable::of<kernel_c_probes>(),
                           .emit = emit_bcc};

} // namespace emit
