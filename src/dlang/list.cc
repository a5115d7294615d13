// `-l`: the probes of a script, as dtrace lists them.
#include "base/counted.h"
#include "dlang/lower.h"
#include "dlang/providers.h"
#include "lang/ast.h"
#include "probe/probe.h"
#include "spec/numbers.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace dlang {

static std::string line_of(uint32_t id, const Place& p, std::string_view module, std::string_view function) {
  char text[512];
  std::snprintf(text, sizeof text, "%5u %10s %17.*s %33.*s %s\n", id, p.provider.c_str(), static_cast<int>(module.size()), module.data(), static_cast<int>(function.size()),
                function.data(), p.name.c_str());
  return text;
}

std::string list_providers() {
  std::string out = "provider   support  by, and what differs\n";
  for (const Provider& p : providers) {
    char head[64];
    std::snprintf(head, sizeof head, "%-10s %-8s ", std::string(p.name).c_str(), std::string(p.support).c_str());
    std::string text(p.place);
    if (p.support == "no") text = "instead";
    if (!p.remark.empty()) text += ": " + std::string(p.remark);
    std::string probes;
    for (const FixedProbe& f : fixed_probes)
      if (f.provider == p.name) probes += (probes.empty() ? "" : ", ") + std::string(f.name);
    out += head + text + "\n";
    if (!probes.empty()) out += std::string(20, ' ') + probes + "\n";
  }
  return out;
}

std::string all_descriptions() {
  std::string out = "syscall:::";
  std::string_view last;
  for (const FixedProbe& p : fixed_probes) {
    if (p.provider != last) out += "," + std::string(p.provider) + ":::";
    last = p.provider;
  }
  return out;
}

static std::vector<std::string_view> calls_of(const Place& p) {
  std::vector<std::string_view> out;
  for (int n = 0; n <= spec::last_syscall; n++) {
    const bool is_wanted = p.calls.empty() || std::find(p.calls.begin(), p.calls.end(), n) != p.calls.end();
    if (const std::string_view name = spec::syscall_name(n); is_wanted && !name.empty()) out.push_back(name);
  }
  return out;
}

// The events of the probes that were made for it: their functions, each with its file.
static std::set<std::pair<std::string, std::string>> functions_of(const Place& p, const lang::Program& program) {
  std::set<std::pair<std::string, std::string>> out;
  for (const auto& probe : program.probes)
    if (p.has_functions && probe->where.begin == p.where.begin && probe->where.end == p.where.end)
      for (const probe::Event* e : probe->events)
        if (!e->function.empty()) out.insert({e->function, e->binary});
  return out;
}

std::string list(const Plan& plan, const lang::Program& program) {
  std::string out = "   ID   PROVIDER            MODULE                          FUNCTION NAME\n";
  for (const Place& p : plan.places) {
    if (p.is_syscall) {
      for (std::string_view name : calls_of(p)) out += line_of(p.id, p, p.module, name);
      continue;
    }
    std::set<std::string> functions;
    for (const auto& [function, file] : functions_of(p, program)) functions.insert(function);
    if (functions.empty()) functions.insert(p.function);
    for (const std::string& function : functions) out += line_of(p.id, p, p.module, function);
  }
  return out;
}

static size_t probes_of(const Place& p, const lang::Program& program) {
  if (p.is_syscall) return calls_of(p).size();
  if (p.has_functions) return functions_of(p, program).size();
  const bool is_attached = std::ranges::any_of(program.probes, [&](const auto& probe) { return probe->where.begin == p.where.begin && probe->where.end == p.where.end && !probe->events.empty(); });
  return is_attached || p.provider == "dtrace" ? 1 : 0; // ERROR is no probe of the kernel
}

std::string end_of_process(int pid, std::optional<int> status, std::optional<int> signal) {
  const std::string text = "dtrace: pid " + std::to_string(pid);
  if (signal) return text + " terminated by " + std::string(spec::signal_name(*signal)) + "\n";
  return text + (status.value_or(0) ? " exited with status " + std::to_string(*status) : " has exited") + "\n";
}

std::string matched(const Plan& plan, const lang::Program& program, const base::Source& source, const std::vector<ScriptPart>& given) {
  const std::vector<ScriptPart> one = {{.is_file = true, .name = source.name()}};
  const std::vector<ScriptPart>& parts = given.empty() ? one : given;
  std::vector<size_t> counts(parts.size());
  for (const Place& p : plan.places)
    for (const base::Range& clause : p.clauses) {
      size_t part = parts.size() - 1;
      while (part && parts[part].line > source.position(clause.begin).line) part--;
      counts[part] += probes_of(p, program);
    }
  std::string out;
  for (size_t i = 0; i < parts.size(); i++)
    out += std::string("dtrace: ") + (parts[i].is_file ? "script" : "description") + " '" + parts[i].name + "' matched " + base::counted(counts[i], "probe") + "\n";
  if (plan.destructive) out += "dtrace: allowing destructive actions\n";
  return out;
}

} // namespace dlang
