// Each stack becomes a sample of a profile that nobody sees.
#include "slow/stacks.h"

namespace slow {

const std::vector<symbol::Frame>& Stacks::frames(const StackId& stack) {
  auto [at, is_new] = known_.try_emplace(stack.id);
  if (!is_new || !stack.id || !stack.type) return at->second;
  profile::RawSample sample;
  (stack.pid ? sample.user : sample.kernel) = stacks_.take(stack.id, stack.pid, *stack.type);
  stacks_.out.samples = {std::move(sample)};
  const uint32_t number = names_.add_samples().front();
  for (uint32_t node = profile_.samples()[number].node; node; node = profile_.nodes()[node].parent) {
    const profile::Frame& frame = profile_.frame_of(node);
    at->second.push_back({.name = profile_.name(frame), .module = profile_.module(frame), .kind = frame.kind});
  }
  return at->second;
}

} // namespace slow
