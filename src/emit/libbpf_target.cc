// libbpf: the kernel's side in C with CO-RE, a loader in C, and a Makefile. The run time (c/*.h) goes with them.
#include "emit/kernel_c.h"
#include "emit/kernel_c_rows.h"
#include "emit/program_text.h"
#include "emit/targets.h"

#include "emit/runtime_part.h"
#include "type/format_string.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

namespace {

constexpr std::string_view c_reserved =
    "auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static "
    "struct switch typedef union unsigned void volatile while bool true false u8 u16 u32 u64 s8 s16 s32 s64 ctx key value found zero events pair text read "
    "write main stop fail keep start rank entry part links current size count time times open close";

std::string escaped(std::string_view text) { return quoted_text(text); }

// ------------------------------------------------------------------------------------------------- user space

std::string part_kind(RecordPart::Kind kind) {
  switch (kind) {
  case RecordPart::text: return "TEXT";
  case RecordPart::boolean: return "BOOLEAN";
  case RecordPart::address: return "ADDRESS";
  default: return "NUMBER";
  }
}

std::string value_kind(const type::Type& t) {
  switch (t.kind) {
  case Kind::string: return "STRING";
  case Kind::min: return "MIN";
  case Kind::max: return "MAX";
  case Kind::avg: return "AVERAGE";
  case Kind::stats: return "STATS";
  case Kind::hist: return "HIST";
  case Kind::lhist: return "LHIST";
  default: return "VALUE";
  }
}

uint32_t value_bytes(const type::Type& t) {
  if (t.is(Kind::string)) return (t.size + 7) / 8 * 8;
  return t.is(Kind::min) || t.is(Kind::max) || t.is(Kind::avg) || t.is(Kind::stats) ? 16 : 8;
}

std::string record_structures(const std::vector<RecordAction>& actions) {
  std::string out;
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

// One conversion of C's for one of the script's, whose numbers have 64 bits.
std::string printf_call(const Job& job, const RecordAction& a, base::Range) {
  std::string error, format, values;
  size_t next = 0;
  for (const type::Conversion& c : type::parse_format(a.text, error)) {
    for (const char b : c.text) format += b == '%' ? "%%" : std::string(1, b);
    if (!c.conversion || next >= a.parts.size()) continue;
    const RecordPart& part = a.parts[next];
    const std::string value = "e->value" + std::to_string(next++);
    format += "%" + c.flags + (c.width >= 0 ? std::to_string(c.width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "");
    if (c.conversion == 's') {
      format += 's';
      values += ", " + (part.kind == RecordPart::text ? value : part.kind == RecordPart::boolean ? value + " ? \"true\" : \"false\"" : "\"\"");
      continue;
    }
    const bool is_signed = c.conversion == 'd' || c.conversion == 'i';
    const bool is_long = !c.length.empty() && c.length != "h" && c.length != "hh";
    if (c.conversion == 'c' || c.conversion == 'p') {
      format += c.conversion;
      values += (c.conversion == 'c' ? ", (char)" : ", (void *)") + value;
      continue;
    }
    format += (is_long ? "ll" : c.length) + std::string(1, c.conversion);
    const std::string type = c.length == "hh" ? "char" : c.length == "h" ? "short" : is_long ? "long long" : "int";
    values += ", (" + std::string(is_signed ? (type == "char" ? "signed " : "") : "unsigned ") + type + ")" + value;
  }
  (void)job;
  return "printf(" + escaped(format) + values + ");";
}

std::string action_call(const Job& job, const RecordAction& a, const std::vector<const Map*>& maps) {
  const auto at = std::to_string(std::ranges::find(maps, a.map) - maps.begin());
  switch (a.kind) {
  case RecordAction::printf: return printf_call(job, a, {});
  case RecordAction::print_value:
    if (a.parts[0].kind == RecordPart::text) return "printf(\"%s\\n\", e->value0);";
    return "print_number(" + part_kind(a.parts[0].kind) + ", e->value0, " + (a.parts[0].is_signed ? "1" : "0") + "), printf(\"\\n\");";
  case RecordAction::print_map: return "print_map(&maps[" + at + "], " + std::to_string(a.top) + ", " + std::to_string(a.div) + ");";
  case RecordAction::clear: return "clear_map(&maps[" + at + "]);";
  case RecordAction::zero: return "zero_map(&maps[" + at + "]);";
  case RecordAction::exit: return "stop(" + std::to_string(a.status) + ");";
  }
  return {};
}

class Loader {
public:
  Loader(const Job& job, KernelC& kernel) : job_(job), kernel_(kernel) {
    for (const Map* m : job.program.maps)
      if (m->value && m->used) maps_.push_back(m);
    // As they print at the end.
    std::ranges::stable_sort(maps_, {}, &Map::name);
  }
  std::string text(const std::string& head);

private:
  std::string map_table();
  std::string attach();

  const Job& job_;
  KernelC& kernel_;
  std::vector<const Map*> maps_;
};

std::string Loader::map_table() {
  std::string parts, table;
  for (const Map* m : maps_) {
    const std::string name = kernel_.map_name(*m);
    const auto all = KernelC::key_parts(*m);
    if (!all.empty()) {
      parts += "static const struct part " + name + "_parts[] = {";
      for (const RecordPart& p : all)
        parts += "{" + part_kind(p.kind) + ", " + std::to_string(p.offset) + ", " + std::to_string(p.size) + ", " + std::to_string(p.type->size) + ", " + (p.is_signed ? "1" : "0") +
                 "}, ";
      parts.resize(parts.size() - 2);
      parts += "};\n";
    }
    const type::Type& t = *m->value;
    table += "    {.name = " + escaped(m->name) + (all.empty() ? "" : ", .parts = " + name + "_parts, .part_count = " + std::to_string(all.size())) +
             ", .key_bytes = " + std::to_string(KernelC::key_size(*m)) + ", .value_bytes = " + std::to_string(value_bytes(t)) + ", .kind = " + value_kind(t);
    if (t.is(Kind::boolean)) table += ", .shown = BOOLEAN";
    if (t.is(Kind::pointer)) table += ", .shown = ADDRESS";
    if (t.is_signed) table += ", .is_signed = 1";
    if (t.is(Kind::hist)) table += ", .bits = " + std::to_string(t.step);
    if (t.is(Kind::lhist)) table += ", .low = " + std::to_string(t.low) + ", .high = " + std::to_string(t.high) + ", .step = " + std::to_string(t.step);
    table += "},\n";
  }
  if (maps_.empty()) return {};
  return parts + "static struct map_info maps[] = {\n" + table + "};\n\n";
}

std::string Loader::attach() {
  std::string out;
  for (const KernelProgram& p : kernel_.programs()) {
    const probe::Event& e = *p.event;
    const std::string program = "tool->progs." + p.function;
    switch (e.kind) {
    case probe::Kind::uprobe:
    case probe::Kind::uretprobe:
      out += "  attach_uprobe(" + program + ", " + escaped(e.binary) + ", " + std::to_string(e.file_offset) + ", " + (e.kind == probe::Kind::uretprobe ? "1" : "0") + "); // " +
             e.function + "\n";
      break;
    case probe::Kind::interval:
    case probe::Kind::profile:
      out += "  attach_clock(" + program + ", " + std::to_string(e.period_ns) + ", " + std::to_string(e.frequency) + ", " + (e.kind == probe::Kind::profile ? "1" : "0") + ");\n";
      break;
    default: out += "  keep(bpf_program__attach(" + program + "), " + escaped(e.name) + ");\n";
    }
  }
  return out;
}

std::string Loader::text(const std::string& head) {
  const auto& actions = kernel_.actions();
  std::string out = head + "#include \"run.h\"\n#include \"report.h\"\n#include \"" + job_.name + ".h\"\n#include \"" + job_.name + ".skel.h\"\n\n" + map_table();
  out += "// Carries out a record of the kernel's side.\nstatic int take(void *context, void *data, size_t size)\n{\n  (void)context, (void)size;\n  switch (*(u64 *)data) {\n";
  for (size_t i = 0; i < actions.size(); i++) {
    const bool uses_values = !actions[i].parts.empty();
    out += "  case " + std::to_string(i) + ": {\n";
    if (uses_values) out += "    const struct event_" + std::to_string(i) + " *e = data;\n";
    out += "    " + action_call(job_, actions[i], maps_) + "\n    break;\n  }\n";
  }
  out += "  }\n  return 0;\n}\n\nint main(int count, char **words)\n{\n  (void)count;\n  struct " + job_.name + "_bpf *tool = " + job_.name +
         "_bpf__open_and_load();\n  if (!tool)\n    fail(\"cannot load the programs (run as root)\");\n";
  for (size_t i = 0; i < maps_.size(); i++) out += "  maps[" + std::to_string(i) + "].fd = bpf_map__fd(tool->maps." + kernel_.map_name(*maps_[i]) + ");\n";
  out += "  struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(tool->maps.events), take, NULL, NULL);\n  if (!ring)\n    fail(\"cannot open the ring buffer\");\n";
  for (uint32_t a : kernel_.begin_actions) out += "  " + action_call(job_, actions[a], maps_) + "\n";
  out += attach();
  out += "  fprintf(stderr, \"Attached %zu probes\\n\", link_count);\n  fflush(stdout);\n  wait_for_the_end(ring, words + 1);\n";
  for (uint32_t a : kernel_.end_actions) out += "  " + action_call(job_, actions[a], maps_) + "\n";
  if (!maps_.empty() && job_.program.config.flag("print_maps_on_exit")) {
    out += "  const struct map_info *const all[] = {";
    for (size_t i = 0; i < maps_.size(); i++) out += (i ? ", &maps[" : "&maps[") + std::to_string(i) + "]";
    out += "};\n  print_maps(all, " + std::to_string(maps_.size()) + ");\n";
  }
  return out + "  ring_buffer__free(ring);\n  " + job_.name + "_bpf__destroy(tool);\n  return exit_status;\n}\n";
}

std::string makefile(const std::string& name) {
  return "# Needs clang, bpftool and libbpf 1.0 or later (Debian: clang, bpftool, libbpf-dev).\n"
         "CLANG ?= clang\nBPFTOOL ?= bpftool\nCC ?= cc\nARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')\n\n" +
         name + ": " + name + ".c " + name + ".skel.h " + name + ".h report.h run.h\n\t$(CC) -O2 -g -Wall -Wno-unused-function -o $@ $< -lbpf -lelf -lz\n\n" + name + ".skel.h: " + name +
         ".bpf.o\n\t$(BPFTOOL) gen skeleton $< name " + name + "_bpf > $@\n\n" + name + ".bpf.o: " + name + ".bpf.c " + name +
         ".h vmlinux.h\n\t$(CLANG) -O2 -g -Wall -target bpf -D__TARGET_ARCH_$(ARCH) -c $< -o $@\n\nvmlinux.h:\n\t$(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c > $@\n\n"
         "clean:\n\trm -f " +
         name + " " + name + ".skel.h " + name + ".bpf.o vmlinux.h\n";
}

std::vector<File> emit_libbpf(const Job& given) {
  Job job = given;
  job.name = identifier(job.name); // of structures in the skeleton
  Names names(c_reserved);
  Writer out(job.source, "//");
  KernelC kernel(job, libbpf_target, out, names, KernelStyle::libbpf);
  kernel.run();
  Writer head(job.source, "//");
  write_head(job, libbpf_target, head);
  const std::string about = head.take();
  const std::string shared = about + "// Records from the kernel's side.\n#pragma once\n\n#ifndef __VMLINUX_H__\n#include <linux/types.h>\ntypedef __u64 u64;\ntypedef __s64 s64;\n#endif\n\n" +
                             record_structures(kernel.actions());
  std::string source = about + "#include \"vmlinux.h\"\n#include <bpf/bpf_core_read.h>\n#include <bpf/bpf_helpers.h>\n#include <bpf/bpf_tracing.h>\n#include \"" + job.name +
                       ".h\"\n\nchar LICENSE[] SEC(\"license\") = " + quoted_text(job.program.config.text("license")) +
                       ";\n\nstruct pair {\n  u64 value, count;\n};\n\nstruct {\n  __uint(type, BPF_MAP_TYPE_RINGBUF);\n  __uint(max_entries, 1 << 22);\n} events SEC(\".maps\");\n\n" +
                       kernel.helpers() + kernel.structures() + kernel.maps() + out.take();
  return {{job.name + ".bpf.c", source},
          {job.name + ".h", shared},
          {job.name + ".c", Loader(job, kernel).text(about)},
          {"report.h", std::string(c_part("report.h"))},
          {"run.h", std::string(c_part("run.h"))},
          {"Makefile", makefile(job.name)}};
}

} // namespace

const Target libbpf_target = {.name = "libbpf",
                              .title = "libbpf",
                              .ending = ".bpf.c",
                              .run = "make, then ./NAME [COMMAND …]",
                              .line_comment = "//",
                              .constructs = SupportTable::of<kernel_c_constructs>(),
                              .builtins = SupportTable::of<kernel_c_builtins>(),
                              .probes = SupportTable::of<kernel_c_probes>(),
                              .emit = emit_libbpf};

} // namespace emit
