// Counters that the kernel keeps of events, without programs: perf_event_open(2). Of one thread or process with what it
// starts, of a CPU, or of a control group on a CPU.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "probe/probe.h"

#include <linux/perf_event.h>
#include <span>

namespace probe {

// What is counted as one: an event, or all that a pattern names.
struct Counter {
  std::string name;
  bool is_time = false;      // ns
  bool may_lack = false;     // processors, and virtual ones above all, may have no such counter
  std::vector<Event> events; // of probes; empty: `type` and `config` tell
  uint32_t type = 0;
  uint64_t config = 0;
};

// By its name in spec/counters.h, as perf names tracepoints ("sched:sched_switch"), or as a probe. Failure: there is no such
// event, with the nearest name; or it is of a kind that the kernel does not count.
base::Result<Counter> find_counter(Machine& machine, const std::string& name);

struct CounterPlace {
  int pid = -1, cpu = -1; // perf_event_open(2)
  int cgroup = -1;        // descriptor of its folder, instead of a process
  bool at_exec = false;   // starts when the process executes a program
};

// One descriptor for each event of the counter; they count from here on, or from the exec. Failure::unsupported: this
// processor or kernel does not count that.
base::Result<std::vector<base::Fd>> open_counter(const Counter& counter, const CounterPlace& place);

struct Count {
  uint64_t value = 0;
  uint64_t enabled_ns = 0, running_ns = 0; // less than enabled: counters took turns, and the value is for that part
};
base::Result<Count> read_counter(std::span<const base::Fd> fds);

} // namespace probe
