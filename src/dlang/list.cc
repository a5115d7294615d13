// `-l`: the probes of a script, as dtrace lists them.
#include "dlang/lower.h"
#include "dlang/providers.h"
#include "lang/ast.h"
#include "probe/probe.h"
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

std::string list(const Plan& plan, const lang::Program& program) {
  std::string out = "   ID   PROVIDER            MODULE                          FUNCTION NAME\n";
  for (size_t i = 0; i < plan.places.size(); i++) {
    const Place& p = plan.places[i];
    if (p.is_syscall) {
      for (int n = 0; n <= spec::last_syscall; n++) {
        const bool wanted = p.calls.empty() || std::find(p.calls.begin(), p.calls.end(), n) != p.calls.end();
        if (const std::string_view name = spec::syscall_name(n); wanted && !name.empty()) out += line_of(p.id, p, p.module, name);
      }
      continue;
    }
    // The events of the probes that were made for it.
    std::set<std::string> functions;
    for (const auto& probe : program.probes)
      if (p.has_functions && probe->where.begin == p.where.begin && probe->where.end == p.where.end)
        for (const probe::Event* e : probe->events)
          if (!e->function.empty()) functions.insert(e->function);
    if (functions.empty()) functions.insert(p.function);
    for (const std::string& function : functions) out += line_of(p.id, p, p.module, function);
  }
  return out;
}

} // namespace dlang
