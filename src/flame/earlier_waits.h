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
  // When each ended, CLOCK_MONOTONIC; those that did not, at `until_ns`.
  base::Result<std::vector<uint64_t>> ends(const ir::Program& program, ir::Engine& engine, uint64_t until_ns) const;

private:
  std::vector<WaitingGoroutine> waiting_;
};

} // namespace flame
