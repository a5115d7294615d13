// `acu info`: what this kernel can do, and what this user may, as text or JSON. The abilities are the rows of
// bpf/features.h; each is asked of the kernel once, and where one is missing its substitute is named.
#include "base/confinement.h"
#include "base/output_file.h"
#include "base/privilege.h"
#include "base/text.h"
#include "bpf/trials.h"
#include "host/cpus.h"
#include "host/environment.h"
#include "host/save.h"
#include "report/json.h"
#include "session/arguments.h"
#include "symbol/containers.h"
#include "tool/tool.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace tool {

namespace {

struct Capability {
  base::Capability capability;
  std::string_view doc;
  std::string_view name() const { return base::name_of(capability); }
  bool is_in(uint64_t set) const { return set >> static_cast<unsigned>(capability) & 1; }
};

constexpr Capability capabilities[] = {
    {base::Capability::bpf, "load programs and maps"},
    {base::Capability::perfmon, "attach to the kernel's events, read its memory"},
    {base::Capability::sys_admin, "all of the above, also on kernels before 5.8"},
    {base::Capability::dac_read_search, "read tracefs without being its owner"},
    {base::Capability::sys_ptrace, "inspect processes of other users"},
    {base::Capability::syslog, "read the addresses of the kernel's functions"},
    {base::Capability::sys_resource, "raise memory limits (kernels before 5.11)"},
};

struct Fact {
  std::string_view name; // in JSON
  std::string value;
  std::string_view shown = {}; // in text; empty: the name
};

std::string first_line(host::Environment& host, const std::string& path, std::string_view absent) {
  auto text = host.read(path);
  return text.ok() ? std::string(base::trim(*text)) : std::string(absent);
}

std::string yes_or_no(bool is) { return is ? "yes" : "no"; }

// How user stacks are walked (docs/unwinding.md).
std::string user_stacks(const bpf::Features& features) {
  auto has = [&](bpf::Feature f) { return features.has(f); };
  if (!ir::knows_walking) return "by frame pointers: acu has no unwind tables for this architecture yet";
  if (!has(bpf::Feature::ring_buffer)) return "not available: this kernel has no ring buffer";
  std::string out = "complete, by unwind tables in the kernel";
  if (!has(bpf::Feature::loop)) out += ", one call per frame (no bpf_loop)";
  if (!has(bpf::Feature::kernel_types)) out += "; by frame pointers except in user probes (no BTF)";
  return out;
}

// "yes: a pid namespace of its own"
std::string confined_by() {
  const base::Confinement& c = base::confinement();
  std::string how;
  auto add = [&](bool is, std::string_view what) { how += is ? (how.empty() ? ": " : ", ") + std::string(what) : std::string(); };
  add(c.has_pid_namespace, "a pid namespace of its own (processes outside have the number 0)");
  add(c.has_user_namespace, "a user namespace (capabilities do not count on the host)");
  if (c.is_container()) add(c.has_filter, "a filter of system calls");
  return c.is_container() ? "yes" + how : "no";
}

std::vector<Fact> facts(const bpf::Features& features) {
  host::Environment& host = features.host();
  const host::Kernel kernel = host.kernel();
  auto online = host.read("/sys/devices/system/cpu/online");
  const bool has_events = host.can_read(host.is_this_host() ? "/sys/kernel/tracing/available_events" : "tracefs/available_events");
  auto setting = [&](const char* path) { return first_line(host, path, "unknown"); };
  std::vector<Fact> out = {
      {"kernel", "Linux " + kernel.release},
      {"machine", kernel.machine, "architecture"},
      {"processors", std::to_string(std::max(host::count_cpus(online.ok() ? *online : std::string()), 1u)) + " online, " +
                         std::to_string(host.possible_cpus()) + " possible",
       "CPUs"},
      {"user stacks", user_stacks(features)},
      {"kernel types (BTF)", yes_or_no(host.can_read(host::kernel_types_path))},
      {"tracefs", yes_or_no(has_events)},
      {"lockdown", setting("/sys/kernel/security/lockdown")},
      {"kptr_restrict", setting("/proc/sys/kernel/kptr_restrict")},
      {"perf_event_paranoid", setting("/proc/sys/kernel/perf_event_paranoid")},
      {"unprivileged_bpf_disabled", setting("/proc/sys/kernel/unprivileged_bpf_disabled")},
  };
  if (!host.is_this_host()) return out;
  const std::string groups = symbol::Containers().mounted_at();
  out.push_back({"control groups", groups.empty() ? "no hierarchy of version 2 is mounted: containers are not known" : groups});
  out.push_back({"in a container", confined_by()});
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  report::append_json(out, text);
  return out;
}

std::string as_text(const bpf::Features& features) {
  std::string out;
  auto line = [&](std::string_view name, std::string_view value, std::string_view note) {
    std::string left = "  " + std::string(name);
    left.resize(std::max<size_t>(left.size() + 1, 30), ' ');
    left += value;
    if (!note.empty()) left.resize(std::max<size_t>(left.size() + 1, 45), ' ');
    out += left + std::string(note) + "\n";
  };
  out += "system\n";
  for (const Fact& f : facts(features)) line(f.shown.empty() ? f.name : f.shown, f.value, "");
  out += "\nkernel features (what acu uses them for; what it does without them)\n";
  for (const bpf::FeatureRow& row : bpf::feature_table()) {
    bpf::Answer answer = features.ask(row.id);
    std::string note(row.use);
    if (answer == bpf::Answer::no)
      note = "since " + std::string(row.since) + "; without: " + std::string(row.substitute);
    line(row.name, bpf::to_string(answer), note);
  }
  if (!features.host().is_this_host()) return out;
  out += "\ncapabilities of this process\n";
  uint64_t have = base::effective_capabilities();
  for (const Capability& c : capabilities) line(c.name(), c.is_in(have) ? "yes" : "no", c.doc);
  return out;
}

std::string as_json(const bpf::Features& features) {
  std::string out = "{\"system\": {", comma;
  auto next = [&](std::string_view key) { out += std::exchange(comma, ", ") + quoted(key) + ": "; };
  for (const Fact& f : facts(features)) next(f.name), out += quoted(f.value);
  out += "}, \"abilities\": {";
  comma.clear();
  for (const bpf::FeatureRow& row : bpf::feature_table()) {
    next(row.name);
    out += "{\"answer\": " + quoted(bpf::to_string(features.ask(row.id))) +
           ", \"since\": " + quoted(row.since) + ", \"use\": " + quoted(row.use) +
           ", \"without\": " + quoted(row.substitute) + "}";
  }
  if (!features.host().is_this_host()) return out + "}}\n";
  out += "}, \"capabilities\": {";
  comma.clear();
  uint64_t have = base::effective_capabilities();
  for (const Capability& c : capabilities) next(c.name()), out += c.is_in(have) ? "true" : "false";
  return out + "}}\n";
}

int save_to(const std::string& path) {
  if (auto possible = base::check_output(path); !possible.ok()) return fail(possible.error());
  type::Table types;
  probe::Machine machine(types);
  std::map<std::string, int64_t> answers = bpf::ask_all(machine);
  const auto refused = std::ranges::count_if(bpf::feature_table(), [&](const bpf::FeatureRow& row) {
    return answers[bpf::question_of(row)] == static_cast<int64_t>(bpf::Answer::refused);
  });
  if (refused && ::geteuid() != 0) // root learns from `acu info` what a kernel keeps for itself
    complain("WARNING: not saved: " + std::to_string(refused) + (refused == 1 ? " ability" : " abilities") +
             " of the kernel: not permitted to ask, run as root\n");
  const host::SavedFile file = host::save_this_host(std::move(answers));
  for (const std::string& problem : file.left_out)
    complain("WARNING: not saved: " + problem + "\n");
  auto written = base::write_file(path, file.bytes);
  return written.ok() ? 0 : fail(written.error());
}

} // namespace

int info(const session::Arguments& arguments) {
  const std::string* save = arguments.value(spec::OptionId::save);
  const std::string* file = arguments.value(spec::OptionId::for_host);
  if (save && file) return refuse("`--save` and `--for` exclude each other: only this host can be saved");
  if (save) return save_to(*save);
  auto show = [&](const bpf::Features& features) {
    say(arguments.has(spec::OptionId::json) ? as_json(features) : as_text(features));
    return 0;
  };
  if (!file) return show(bpf::features());
  auto host = host::open_saved(*file);
  return host.ok() ? show(bpf::Features(**host)) : fail(host.error());
}

} // namespace tool
