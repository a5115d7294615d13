#include "session/listing.h"

#include "base/text.h"
#include "session/output.h"

namespace session {

std::string describe_event(probe::Machine& machine, probe::Event& event, bool arguments) {
  std::string out = event.name + "\n";
  if (!arguments) return out;
  for (const std::string& line : probe::describe_arguments(machine, event)) out += "    " + line + "\n";
  return out;
}

std::vector<probe::Event> find_events(probe::Machine& machine, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return probe::list(machine, {});
  std::vector<probe::Event> out;
  for (const std::string& pattern : patterns)
    for (std::string_view part : base::split(pattern, ',')) {
      part = base::trim(part);
      if (part.empty()) continue;
      std::vector<probe::Event> found = probe::list(machine, part);
      if (found.empty() && !base::has_glob(part) && part.find(':') == part.npos)
        found = probe::list(machine, "*" + std::string(part) + "*");
      for (probe::Event& e : found) out.push_back(std::move(e));
    }
  return out;
}

int list_probes(const std::vector<std::string>& patterns, bool arguments) {
  type::Table types;
  probe::Machine machine(types);
  std::vector<probe::Event> events = find_events(machine, patterns);
  Output output(STDOUT_FILENO, Buffering::full, false);
  for (probe::Event& e : events) {
    output.out(describe_event(machine, e, arguments));
    if (output.broken()) return 0;
  }
  output.flush();
  if (!events.empty()) return 0;
  if (!machine.tracefs()) { // perhaps there is something, but we could not look
    output.message("ERROR: " + machine.tracefs_error().message + "\n");
    return static_cast<int>(machine.tracefs_error().kind);
  }
  std::string wanted;
  for (const std::string& p : patterns) wanted += (wanted.empty() ? "" : " ") + p;
  output.message("ERROR: no probe matches `" + wanted + "`\n");
  return static_cast<int>(base::Failure::nothing_matched);
}

} // namespace session
