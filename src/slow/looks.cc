#include "slow/looks.h"

namespace slow {

bool Looks::is_due(uint32_t task, uint64_t at, bool is_within) {
  if (!is_within) {
    since_.erase(task);
    return false;
  }
  const uint64_t since = since_.try_emplace(task, at).first->second;
  return !is_open() && at >= next_ns_ && at >= since + min_duration_ns_ / 4;
}

void Looks::close(uint64_t now) {
  next_ns_ = now + static_cast<uint64_t>(static_cast<double>(now - opened_ns_) * (excess_ > 1 ? excess_ - 1 : 0));
  opened_ns_ = 0;
  since_.clear();
}

} // namespace slow
