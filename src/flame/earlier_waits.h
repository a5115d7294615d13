// The waits of goroutines that had begun before a recording. The script sees when they end (@before of flame_goroutines.bt); what waits, and where, is read
// from the memory of the processes.
#pragma once

#include "flame/goroutines.h"
#include "ir/engine.h"
#include "ir/ir.h"

namespace flame {

class EarlierWaits {
public:
  // Lists them; all probes are attached. `notes` gets what is not counted.
  void list(const Goroutines& goroutines, const session::TargetFilter& filter, const ir::Program& program, ir::Engine& engine, std::vector<std::string>& notes);
  const std::vector<WaitingGoroutine>& all() const { return waiting_; }
  // Those of a process whose program was probed later, at `attached_ns`. They count from then.
  void add(const GoProgram& added, const session::TargetFilter& filter, uint32_t pid, uint64_t attached_ns, const ir::Program& program, ir::Engine& engine);
  // When each ended, CLOCK_MONOTONIC; those that did not, at `until_ns`.
  base::Result<std::vector<uint64_t>> ends(const ir::Program& program, ir::Engine& engine, uint64_t until_ns) const;

private:
  bool watch(const RunningGoroutines& running, const ir::Program& program, ir::Engine& engine);
  void keep(std::vector<WaitingGoroutine> found, const ir::Program& program, ir::Engine& engine);

  std::vector<WaitingGoroutine> waiting_;
};

} // namespace flame
