// `acu info`: what this kernel can do, and what this user may, as text or JSON. The abilities are the rows of
// bpf/features.h; each is asked of the kernel once, and where one is missing its substitute is named.
#include "base/text.h"
#include "bpf/cpus.h"
#include "bpf/features.h"
#include "report/json.h"
#include "session/arguments.h"
#include "tool/tool.h"

#include <cstdio>
#include <sys/utsname.h>
#include <unistd.h>
#include <vector>

namespace tool {

namespace {

struct Capability {
  int bit; // linux/capability.h
  std::string_view name;
  std::string_view doc;
};

constexpr Capability capabilities[] = {
    {39, "CAP_BPF", "load programs and maps"},
    {38, "CAP_PERFMON", "attach to the kernel's events, read its memory"},
    {21, "CAP_SYS_ADMIN", "all of the above, also on kernels before 5.8"},
    {2, "CAP_DAC_READ_SEARCH", "read tracefs without being its owner"},
    {19, "CAP_SYS_PTRACE", "inspect processes of other users"},
    {24, "CAP_SYS_RESOURCE", "raise memory limits (kernels before 5.11)"},
};

struct Fact {
  std::string_view name; // in JSON
  std::string value;
  std::string_view shown = {}; // in text; empty: the name
};

std::string first_line(const std::string& path, std::string_view absent) {
  auto text = base::read_file(path);
  return text.ok() ? std::string(base::trim(*text)) : std::string(absent);
}

uint64_t effective_capabilities() {
  auto status = base::read_file("/proc/self/status");
  if (!status.ok()) return 0;
  size_t at = status->find("CapEff:");
  if (at == status->npos) return 0;
  std::string_view line = base::split(std::string_view(*status).substr(at + 7), '\n')[0];
  return base::parse_integer("0x" + std::string(base::trim(line))).value_or(0);
}

std::string readable(const char* path) { return ::access(path, R_OK) == 0 ? "yes" : "no"; }

// How user stacks are walked (docs/unwinding.md).
std::string user_stacks() {
  auto has = [](bpf::Feature f) { return bpf::features().has(f); };
  if (!ir::knows_walking) return "by frame pointers: acu has no unwind tables for this architecture yet";
  if (!has(bpf::Feature::ring_buffer)) return "not available: this kernel has no ring buffer";
  std::string out = "complete, by unwind tables in the kernel";
  if (!has(bpf::Feature::loop)) out += ", one call per frame (no bpf_loop)";
  if (!has(bpf::Feature::kernel_types)) out += "; by frame pointers except in user probes (no BTF)";
  return out;
}

std::vector<Fact> facts() {
  utsname system = {};
  ::uname(&system);
  return {
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"machine", system.machine, "architecture"},
      {"processors", std::to_string(bpf::online_cpus().size()) + " online, " + std::to_string(bpf::possible_cpus()) + " possible", "CPUs"},
      {"user stacks", user_stacks()},
      {"kernel types (BTF)", readable("/sys/kernel/btf/vmlinux")},
      {"tracefs", readable("/sys/kernel/tracing/available_events")},
      {"lockdown", first_line("/sys/kernel/security/lockdown", "unknown")},
      {"kptr_restrict", first_line("/proc/sys/kernel/kptr_restrict", "unknown")},
      {"perf_event_paranoid", first_line("/proc/sys/kernel/perf_event_paranoid", "unknown")},
      {"unprivileged_bpf_disabled", first_line("/proc/sys/kernel/unprivileged_bpf_disabled", "unknown")},
  };
}

std::string quoted(std::string_view text) {
  std::string out;
  report::append_json(out, text);
  return out;
}

std::string as_text() {
  std::string out;
  auto line = [&](std::string_view name, std::string_view value, std::string_view note) {
    std::string left = "  " + std::string(name);
    left.resize(std::max<size_t>(left.size() + 1, 30), ' ');
    left += value;
    if (!note.empty()) left.resize(std::max<size_t>(left.size() + 1, 45), ' ');
    out += left + std::string(note) + "\n";
  };
  out += "system\n";
  for (const Fact& f : facts()) line(f.shown.empty() ? f.name : f.shown, f.value, "");
  out += "\nkernel features (what acu uses them for; what it does without them)\n";
  for (const bpf::FeatureRow& row : bpf::feature_table()) {
    bpf::Answer answer = bpf::features().ask(row.id);
    std::string note(row.use);
    if (answer == bpf::Answer::no)
      note = "since " + std::string(row.since) + "; without: " + std::string(row.substitute);
    line(row.name, bpf::to_string(answer), note);
  }
  out += "\ncapabilities of this process\n";
  uint64_t have = effective_capabilities();
  for (const Capability& c : capabilities) line(c.name, have >> c.bit & 1 ? "yes" : "no", c.doc);
  return out;
}

std::string as_json() {
  std::string out = "{\"system\": {", comma;
  auto next = [&](std::string_view key) { out += std::exchange(comma, ", ") + quoted(key) + ": "; };
  for (const Fact& f : facts()) next(f.name), out += quoted(f.value);
  out += "}, \"abilities\": {";
  comma.clear();
  for (const bpf::FeatureRow& row : bpf::feature_table()) {
    next(row.name);
    out += "{\"answer\": " + quoted(bpf::to_string(bpf::features().ask(row.id))) +
           ", \"since\": " + quoted(row.since) + ", \"use\": " + quoted(row.use) +
           ", \"without\": " + quoted(row.substitute) + "}";
  }
  out += "}, \"capabilities\": {";
  comma.clear();
  uint64_t have = effective_capabilities();
  for (const Capability& c : capabilities) next(c.name), out += have >> c.bit & 1 ? "true" : "false";
  return out + "}}\n";
}

} // namespace

int info(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("info");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(spec::OptionId::help)) return say(session::help_text(self)), 0;
  say(arguments->has(spec::OptionId::json) ? as_json() : as_text());
  return 0;
}

} // namespace tool
