#include "graph/landings.h"

#include "probe/uprobe.h"
#include "session/builtin_script.h"

#include <array>
#include <set>

namespace graph {

Landings find_landings(probe::Machine& machine, const std::string& program) {
  Landings out;
  std::set<std::pair<std::string, uint64_t>> seen; // several names may be of one function
  auto add = [&](std::vector<std::string>& to, const std::string& file, const char* function) {
    probe::Mismatch unused;
    for (const probe::Event& e : probe::match(machine, std::array<std::string_view, 3>{"uprobe", file, function}, unused)) {
      if (!e.module || !seen.emplace(e.binary, e.function_address).second) continue;
      const std::string address = probe::hex(e.function_address);
      to.push_back(session::user_place("uprobe", file.empty() ? std::string() : e.module->name(), address));
      out.events.push_back("uprobe:" + e.module->name() + ":" + address);
    }
  };
#if defined(__x86_64__)
  for (const std::string& file : {std::string("libgcc_s"), program}) add(out.exceptions, file, "_Unwind_SetIP");
  for (const std::string& file : {std::string("libc"), program})
    for (const char* name : {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"}) add(out.jumps, file, name);
#endif
  return out;
}

} // namespace graph
