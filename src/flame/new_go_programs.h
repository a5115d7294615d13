// Go programs that start while those of all processes are recorded. The script notes each process that executes a program; if its file is of a Go program
// that is not probed yet, the probes of flame_goroutines.bt whose places were not known (later_parking, later_resuming) are attached to it too, by the time
// that its runtime has begun, or a few milliseconds later. Goroutines that wait by then are read from memory, as those of a process that ran before.
#pragma once

#include "base/file_map.h"
#include "flame/goroutines.h"
#include "session/backend.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace flame {

class NewGoPrograms {
public:
  // A process that may have begun to wait before its program was probed.
  struct Started {
    uint32_t pid = 0;
    size_t program = 0;      // in Goroutines::programs
    uint64_t attached_ns = 0; // CLOCK_MONOTONIC: from then on all is seen
  };

  // Takes what the script noted since the last time (@execs, @began).
  base::Status take(const ir::Program& program, ir::Engine& engine);
  // Processes that run already: their programs may have started while the script was compiled.
  void take_running();
  // Looks at what was taken, and probes what is new. `notes` gets what cannot be probed.
  std::vector<Started> follow(Goroutines& goroutines, const ir::Program& program, session::Backend& backend, std::vector<std::string>& notes);

private:
  struct Begun {
    uint32_t pid = 0;
    uint64_t time_ns = 0; // CLOCK_MONOTONIC; 0: not known
  };
  base::Status probe(const GoProgram& added, const std::string& path, const format::ElfFile& file, const ir::Program& program, session::Backend& backend);

  uint64_t execs_ = 0; // how many were taken
  std::set<std::pair<uint32_t, uint64_t>> taken_; // process, time: those that live
  std::vector<Begun> begun_;
  std::set<std::pair<uint64_t, uint64_t>> seen_;  // files: device, inode
  std::map<size_t, uint64_t> attached_ns_;        // by program: those that were probed here
  std::set<std::pair<uint32_t, size_t>> started_; // process, program
};

} // namespace flame
