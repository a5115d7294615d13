#include "slow/entries.h"

#include <algorithm>
#include <utility>

namespace slow {

std::optional<Call> Entries::seen_in(const Thread& thread, uint64_t at, const InCall& in) {
  std::optional<Call> before;
  if (const auto open = open_.find(thread.task); open != open_.end() && open->second.start != in.start) before = end(thread.task);
  Call& call = open_[thread.task];
  call.thread = thread;
  call.start = in.start;
  call.end = at;
  call.is_counted = in.is_counted;
  call.away_ns = in.away_ns;
  call.queued_ns = in.queued_ns;
  return before;
}

std::optional<Call> Entries::seen_after(uint32_t task, uint64_t start) {
  const auto open = open_.find(task);
  return open != open_.end() && open->second.start <= start ? end(task) : std::nullopt;
}

std::optional<Call> Entries::end(uint32_t task) {
  const auto node = open_.extract(task);
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

uint64_t Entries::last_seen() const {
  uint64_t out = 0;
  for (const auto& [task, call] : open_) out = std::max(out, call.end);
  return out;
}

std::vector<Call> Entries::end_all() {
  std::vector<Call> out;
  for (auto& [task, call] : std::exchange(open_, {})) out.push_back(std::move(call));
  return out;
}

} // namespace slow
