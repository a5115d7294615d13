// The processes that record all the time (src/monitor), one for each kind: started, and started again when they end or fail.
#pragma once

#include "agent/call.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace web {

class Samplers {
public:
  explicit Samplers(const std::string& store);
  // Starts what does not run, and prints what one that has ended said.
  void advance();
  // Each writes what it has, at most for some seconds.
  void stop();
  uint64_t restarts() const { return restarts_; }

private:
  struct Sampler {
    std::string kind;
    agent::Plan plan;
    std::optional<agent::Call> call;
    uint64_t next_ns = 0; // when to start it again
    uint64_t failures = 0; // one after the other
  };
  void has_ended(Sampler& sampler);

  std::vector<Sampler> samplers_;
  std::atomic<uint64_t> restarts_ = 0;
};

} // namespace web
