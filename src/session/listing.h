// `acu list`, and -l: names of probes, with their arguments if wanted.
#pragma once

#include "host/environment.h"
#include "probe/probe.h"

#include <string>
#include <string_view>
#include <vector>

namespace session {

// "tracepoint:sched:sched_switch", and with `arguments` a line "    type name" for each.
std::string describe_event(probe::Machine& machine, probe::Event& event, bool arguments);

// All probes that match one of the patterns (each may hold several, between commas); without a pattern all. A
// pattern that matches nothing and has neither `:` nor wildcards is looked for anywhere in the names.
std::vector<probe::Event> find_events(probe::Machine& machine, const std::vector<std::string>& patterns);

struct ListRequest {
  std::vector<std::string> patterns;
  bool arguments = false;                 // of probes; of types their members
  int pid = -1;                           // the process whose programs and libraries are meant; -1: none
  std::string container = {};             // whose programs and libraries are meant; empty: nobody's
  bool as_bpftrace = false;               // as in Options
  std::vector<std::string> debug_folders; // --debuginfo
  std::string traceable_functions;        // the file of --traceable-functions; empty: the kernel's own list
};

// `acu list PATTERNS`: to standard output. Returns the exit status.
int list_probes(const ListRequest& request, host::Environment& host = host::this_host());

} // namespace session
