#include "web/attempts.h"

#include <algorithm>
#include <utility>

namespace web {

static constexpr uint64_t forgotten_ns = 900'000'000'000;
static constexpr size_t most_keys = 10'000; // senders choose the keys

uint64_t Attempts::wait_ns(const std::string& key, uint64_t now_ns) const {
  const auto at = counts_.find(key);
  return at == counts_.end() || at->second.next_ns <= now_ns ? 0 : at->second.next_ns - now_ns;
}

void Attempts::failed(const std::string& key, uint64_t now_ns) {
  if (counts_.size() >= most_keys && !counts_.contains(key)) {
    std::erase_if(counts_, [&](const auto& entry) { return entry.second.last_ns + forgotten_ns < now_ns; });
    if (counts_.size() >= most_keys) counts_.erase(std::ranges::min_element(counts_, {}, [](const auto& entry) { return entry.second.last_ns; }));
  }
  Count& count = counts_[key];
  if (count.failures == 0 || count.first_ns + forgotten_ns < now_ns) count = {.refused = count.refused, .first_ns = now_ns};
  count.last_ns = now_ns;
  if (++count.failures <= free_) return;
  constexpr uint64_t shortest_ns = 1'000'000'000;
  const uint32_t doubled = std::min(count.failures - free_ - 1, 20u);
  count.next_ns = now_ns + std::min(shortest_ns << doubled, longest_ns_);
}

uint64_t Attempts::take_refused(const std::string& key) {
  const auto at = counts_.find(key);
  return at == counts_.end() ? 0 : std::exchange(at->second.refused, 0);
}

} // namespace web
