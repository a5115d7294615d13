#include "base/clock.h"
#include "base/counted.h"
#include "timeline/output.h"

#include <set>

namespace timeline {

std::string summary(const Timeline& t) {
  std::set<uint32_t> processes;
  size_t threads = 0, cpus = 0;
  for (const Track& track : t.tracks) {
    cpus += track.kind == Track::cpu;
    if (track.kind != Track::thread) continue;
    threads++;
    processes.insert(t.names.threads[track.owner].pid);
  }
  std::string out = base::short_time(t.length) + (t.from ? " from " + base::short_time(t.from) + " on" : "") + " · " + base::counted(t.events, "event") + ", lost " + std::to_string(t.lost) + " · " +
                    base::counted(cpus, "CPU") + ", " + base::counted(processes.size(), "process") + ", " + base::counted(threads, "thread") + " · " + base::counted(t.samples.size(), "sample");
  if (t.out_of_step && !t.is_of_some) out += " · " + base::counted(t.out_of_step, "switch") + " not recorded";
  if (t.calls_left_out) out += " · " + base::counted(t.calls_left_out, "call") + " deeper than " + std::to_string(max_call_depth) + " not shown";
  return out;
}

std::string state_line(const Timeline& t) {
  const auto sums = sum_states(t);
  std::string out = "threads: ";
  for (const StateRow& row : state_rows)
    if (const uint64_t time = sums[static_cast<size_t>(row.state)]; time && row.state != State::none)
      out += (out.ends_with(": ") ? "" : ", ") + std::string(row.label) + " " + base::short_time(time);
  return out;
}

} // namespace timeline
