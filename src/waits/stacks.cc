// Each stack becomes a sample of a profile that nobody sees.
#include "waits/stacks.h"

namespace waits {

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

std::string Stacks::place_of(const StackId& stack, const std::function<bool(std::string_view)>& is_meant) {
  if (!stack.id || !stack.type) return {};
  const profile::RawStack& raw = stacks_.out.stacks[stacks_.take(stack.id, stack.pid, *stack.type)];
  std::string out;
  for (const symbol::RawFrame& entry : profile::entries_of(raw)) {
    const auto take = [&](const symbol::Frame& f, bool is_it) {
      if (out.empty() && f.line && is_it) out = std::string(f.file.substr(f.file.rfind('/') + 1)) + ":" + std::to_string(f.line);
    };
    symbol::FrameSource& source = sources_.of(entry);
    const symbol::Frame own = source.function_of(entry);
    const bool is_own = is_meant(own.name);
    take(own, is_own);
    source.find_inlined(std::span(&entry, 1), [&](size_t, std::span<const symbol::Frame> frames) {
      for (const symbol::Frame& f : frames.first(frames.size() - 1)) take(f, is_meant(f.name));
      take(frames.back(), is_own || is_meant(frames.back().name));
    });
    if (!out.empty()) break;
  }
  return out;
}

} // namespace waits
