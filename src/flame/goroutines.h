// What `acu flame goroutines` needs to know of Go programs: the files whose runtime is probed, the names of the reasons that goroutines wait for, and the
// goroutines that were waiting when the recording began.
#pragma once

#include "format/go_waits.h"
#include "session/builtin_script.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flame {

struct GoProgram {
  std::string name;
  uint64_t inode = 0;
  std::vector<format::ElfSegment> segments;
  format::GoWaits waits;
  uint32_t first_note = 0; // notes are numbered by file and reason

  // Place of the branch of runtime.gopark in its page, by which PARKING of flame_goroutines.bt knows it.
  uint64_t branch_in_page() const { return (waits.park + format::GoWaits::branch) % 4096; }
};

struct Goroutines {
  std::vector<GoProgram> programs;
  bool is_of_all = false;           // programs that start later are added (new_go_programs.h)
  std::string functions;            // goroutine_functions.bt
  std::vector<lang::Insert> places; // of its probes
  std::vector<std::string> notes;   // on top of stacks, by number; 0: in a system call
  std::vector<std::string> problems; // files that are left out, and why
};

// A program with its notes, without probes.
const GoProgram& add_program(Goroutines& to, std::string name, uint64_t inode, const format::ElfFile& file, format::GoWaits waits);

// The Go programs that a filter may mean: those that the named processes have mapped, the command's, or all that run. Failure: there is none, or none that is
// supported; not of all, as others may start.
base::Result<Goroutines> find_goroutines(const session::TargetFilter& filter, const std::vector<std::string>& command);

// Whether the process, or the command, is a Go program: its threads wait for goroutines, which other kinds do not name.
bool is_go_program(const session::TargetFilter& filter, const std::vector<std::string>& command);

// The reasons for which the runtime's own goroutines wait when they have nothing to do, a bit for each.
uint64_t idle_reasons(const std::vector<std::string>& reasons);

struct WaitingGoroutine {
  uint32_t pid = 0;
  uint64_t address = 0;         // of its struct g
  uint32_t note = 0;
  std::string process;          // its name
  std::vector<uint64_t> frames; // innermost first, as of a probe at the entry of runtime.gopark
  bool is_whole = false;        // up to where the goroutine began
  uint64_t since_ns = 0;        // CLOCK_MONOTONIC: counts from then; 0: from the beginning of the recording
};

// The lists of goroutines of processes, read from their memory while they run.
class RunningGoroutines {
public:
  // Those of processes that run one of the programs; `pids` empty: all.
  RunningGoroutines(const std::vector<GoProgram>& programs, const std::vector<int>& pids);

  // All goroutines, whatever they do: process and address.
  const std::vector<std::pair<uint32_t, uint64_t>>& all() const { return all_; }
  // Those that wait now. What changes meanwhile is left out.
  std::vector<WaitingGoroutine> waiting();
  uint64_t unreadable() const { return unreadable_; } // processes whose list could not be read
  uint64_t in_calls() const { return in_calls_; }     // goroutines that waiting() found in system calls

private:
  struct Process {
    uint32_t pid;
    const GoProgram* program;
    uint64_t bias;       // what the loader added to addresses of the file
    size_t first, count; // in all_
  };
  bool add(uint32_t pid, const GoProgram& program, uint64_t bias);

  std::vector<Process> processes_;
  std::vector<std::pair<uint32_t, uint64_t>> all_;
  uint64_t unreadable_ = 0, in_calls_ = 0;
};

} // namespace flame
