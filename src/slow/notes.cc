// Records of a thread arrive in the order of their times: the wake-up before the wait that it ends, waits before their call.
#include "slow/notes.h"

#include <algorithm>
#include <utility>

namespace slow {

static constexpr size_t max_waits = 256, max_samples = 4096, max_turns = 4096;

// Where a thread was seen `at` belongs. Threads that were not seen for long make room: they have ended, or sleep. Each time that all are
// looked at, twice as many may come before the next.
Notes::OfThread& Notes::of(uint32_t task, uint64_t at) {
  constexpr uint64_t long_ago = 10'000'000'000;
  newest_ = std::max(newest_, at);
  if (threads_.size() >= room_) {
    std::erase_if(threads_, [&](const auto& t) { return t.second.seen + long_ago < newest_; });
    room_ = std::max(min_room, 2 * threads_.size());
  }
  OfThread& out = threads_[task];
  out.seen = std::max(out.seen, at);
  return out;
}

void Notes::take(Wake wake) {
  OfThread& woken = of(wake.task, wake.at);
  woken.wake = std::move(wake);
}

void Notes::take(Wait& wait) {
  OfThread& its = of(wait.thread.task, wait.back);
  if (its.wake && its.wake->at >= wait.left && its.wake->at <= wait.back) wait.wake = std::move(its.wake);
  its.wake.reset();
  wait.others = std::exchange(its.others, {});
  its.waits.push_back(wait);
  if (its.waits.size() > max_waits) its.waits.pop_front();
}

void Notes::take(const OnCpu& sample) {
  OfThread& its = of(sample.thread.task, sample.at);
  its.samples.push_back(sample);
  if (its.samples.size() > max_samples) its.samples.pop_front();
}

void Notes::take(const Turn& turn) {
  OfThread& its = of(turn.task, turn.at);
  its.turns.push_back(turn);
  if (its.turns.size() > max_turns) its.turns.pop_front();
}

void Notes::take(const Ran& ran) { of(ran.task, ran.until).others.push_back(ran); }

void Notes::all_told(uint32_t task) {
  const auto of = threads_.find(task);
  if (of == threads_.end()) return;
  for (Wait& w : of->second.waits) w.is_told = true;
}

Outlier Notes::about(const Call& call) const {
  Outlier out = {.call = call};
  const auto of = threads_.find(call.thread.task);
  if (of == threads_.end()) return out;
  const std::deque<Wait>& waits = of->second.waits;
  out.is_cut = waits.size() == max_waits && waits.front().left >= call.start;
  for (const Wait& w : waits)
    if (w.left >= call.start && w.left < call.end) out.waits.push_back(w);
  for (const OnCpu& s : of->second.samples)
    if (s.at >= call.start && s.at < call.end) out.samples.push_back(s);
  for (const Turn& t : of->second.turns)
    if (t.at >= call.start && t.at <= call.end) out.turns.push_back(t);
  return out;
}

Outlier Notes::about(const Wait& wait) const {
  return {.call = {.thread = wait.thread, .start = wait.left, .end = wait.back, .is_counted = false, .user = {}}, .is_whole = false, .waits = {wait}, .samples = {}, .turns = {}};
}

const Wait* Notes::longest_wait(uint32_t tid, uint64_t from, uint64_t until) const {
  const Wait* out = nullptr;
  uint64_t longest = 0;
  for (const auto& [task, of] : threads_)
    for (const Wait& w : of.waits) {
      if (w.thread.tid != tid || w.back <= from || w.left >= until) continue;
      const uint64_t shared = std::min(w.back, until) - std::max(w.left, from);
      if (shared > longest) longest = shared, out = &w;
    }
  return out;
}

} // namespace slow
