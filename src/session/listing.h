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

// `acu list PATTERNS`: to standard output. `pid`: the process whose programs and libraries are meant; -1: none.
// Returns the exit status.
int list_probes(const std::vector<std::string>& patterns, bool arguments, int pid = -1,
                host::Environment& host = host::this_host());

} // namespace session
