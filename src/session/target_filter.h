// The target filter of a command, and the condition that its script uses.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "spec/group_sets.h"

#include <string>
#include <string_view>
#include <vector>

namespace session {

// The target of a command; nothing given: all processes.
struct TargetFilter {
  int pid = -1;              // the one process; -1: none is given, or several
  std::vector<int> pids;     // all of them, the one too
  std::vector<int> threads;
  std::string user;      // name or number
  std::string cgroup;    // path, from its hierarchy's root or the file system's; its descendants count too
  std::string container; // whose group that is: name or ID, as symbol::Containers::require takes it; later ones of the name count too
  std::vector<int> cpus;  // empty: all
  std::string expression; // that holds for events that count, in the language; empty: for all
  bool include_acu = false;  // with no process given: also what acu itself does
  bool include_idle = false; // with nothing given: also what happens while a CPU is idle
  bool command = false; // the command that acu starts, and what it starts itself

  // Those that were given by their numbers: one or several.
  std::vector<int> processes() const { return !pids.empty() || pid < 0 ? pids : std::vector<int>{pid}; }
};

// The same in the language.
struct Condition {
  std::string text, before; // an expression, and the probes that it needs
  std::string what;         // in words: "process 17 (nginx)"
  std::string of_task = {}; // the same of `$task`, a task that is not the current one; empty: what counts cannot be known of it
};

// Which groups --cgroup or --container means: the path from the root of the hierarchy is tidied. Failure (usage): there is none.
base::Result<spec::GroupSet> group_set_of(const std::string& container, const std::string& cgroup);

// Failure: there is no such user or group.
base::Result<Condition> target_condition(const TargetFilter& filter);
// The same without acu itself, where no process is named; in words with CPUs and expression.
base::Result<Condition> condition_of(const TargetFilter& filter);
// "(pid == 1 || pid == 2)"; of no numbers empty.
std::string one_of(std::string_view what, const std::vector<int>& numbers);

// Descriptors that become readable when the target processes, or those of the threads, exit. The session ends when all have.
// Failure: there is no such process or thread.
base::Result<std::vector<base::Fd>> watch_targets(const TargetFilter& filter);

} // namespace session
