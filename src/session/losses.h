// What went wrong while a script ran, in sentences with places: nothing is dropped in silence.
#pragma once

#include "base/source.h"
#include "ir/engine.h"

#include <string>

namespace session {

struct LossOptions {
  bool warnings = true;     // false (--no-warnings): only lost events, runs and keys are reported
  bool report_faults = false; // -k: failed reads are reported by location
  bool is_of_tool = false;         // omit what only the author of the script can use
  bool counts_failed_reads = true; // otherwise print how many failed
};

// Lines for a person, in the order of their locations; empty if all went well. Lost events come first.
// `source` may be nullptr: no locations.
std::string describe_losses(const ir::Program& program, const ir::Counters& counters,
                            const base::Source* source, const LossOptions& options);

// What is not 0 in `now` and was in `before`: sites and full maps not reported yet.
ir::Counters first_faults(const ir::Counters& now, const ir::Counters& before);

// Events that no record or entry has, for whatever reason.
uint64_t lost_events(const ir::Counters& counters);
// "0 lost", "12 lost (ring full)": for the last line of a command.
std::string losses_in_short(const ir::Counters& counters);
// "acu took 12.0 ms of CPU time, its probes 3.1 ms, 18 MiB". `kernel_ns`: Counters::run_ns, 0 where it was not measured.
std::string own_costs(uint64_t kernel_ns);

} // namespace session
