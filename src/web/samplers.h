// The processes that record all the time (src/monitor), one for each kind: started, and started again when they end or fail.
#pragma once

#include "agent/call.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace web {

class Samplers {
public:
  using Print = std::function<void(const std::string&)>;
  // `print` gets the samplers' messages, a line at a time.
  Samplers(const std::string& store, Print print);
  // Starts what does not run, and passes on messages.
  void advance();
  // Each writes what it has; one that has not ended after that time is killed.
  void stop(uint64_t longest_ns = 5'000'000'000);
  uint64_t restarts() const { return restarts_; }

private:
  struct Sampler {
    std::string kind;
    agent::Plan plan;
    std::optional<agent::Call> call;
    uint64_t next_ns = 0; // when to start it again
    uint64_t failures = 0; // one after the other
    std::set<std::string, std::less<>> printed; // messages since it ran well
  };
  void has_ended(Sampler& sampler);
  void pass_on(Sampler& sampler, const std::string& messages);

  Print print_;
  std::vector<Sampler> samplers_;
  std::atomic<uint64_t> restarts_ = 0;
};

} // namespace web
