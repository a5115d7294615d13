// The script of a recording, from the table of kinds (spec/profile_kinds.h) and the processes that are asked
// for.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace session {

// Whose events count; nothing given: those of all processes.
struct Filter {
  int pid = -1;              // the one process; -1: none is given, or several
  std::vector<int> pids;     // all of them, the one too
  std::vector<int> threads;
  std::string user;      // name or number
  std::string cgroup;    // path, from its hierarchy's root or the file system's; its descendants count too
  std::string container; // whose group that is, as people call it
  std::vector<int> cpus;  // empty: all
  std::string expression; // that holds for events that count, in the language; empty: for all
  bool own_too = false;  // with no process given: also what acu itself does
  bool idle_too = false; // with nothing given: also what happens while a CPU is idle
  bool command = false; // the command that acu starts, and what it starts itself
};

// The same in the language.
struct Condition {
  std::string text, before; // an expression, and the probes that it needs
  std::string what;         // in words: "process 17 (nginx)"
};

// Whose events count, and which of them. Failure: there is no such user or group.
base::Result<Condition> condition_of(const Filter& filter);
// Whose alone; …
base::Result<Condition> whose_of(const Filter& filter);
// "(pid == 1 || pid == 2)"; of no numbers empty.
std::string one_of(std::string_view what, const std::vector<int>& numbers);
// … and which of them: CPUs and expression; empty: all.
std::string which_of(const Filter& filter);

// Readable as processes end: those that are asked for, and those of the threads. The session is over when all have ended.
// Failure: there is no such process or thread.
base::Result<std::vector<base::Fd>> watch_targets(const Filter& filter);

// Puts in what is asked of the scheduler, as this kernel's structures have it: TASK_STATE, CLOCK, RETURN, IS_SEEN (spec/profile_kinds.h).
void name_fields(std::string& text);

struct SamplingScript {
  std::string text;
  std::string what; // Condition::what
  bool lacks_end = false; // what had not ended at the end is not counted: the kernel cannot go through maps
};

// `rate`: samples a second, of cycles events between two samples. `is_exact`: every event has its stack. `allocation_blocks`: see
// allocations.h. Failure: there is no such user or group.
base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const Filter& filter, uint64_t rate, bool is_exact,
                                                  uint64_t duration_ns, std::string_view allocation_blocks = {});

} // namespace session
