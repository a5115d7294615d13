// Records of a thread arrive in the order of their times: the wake-up before the wait that it ends, waits before their call.
#include "slow/notes.h"

#include <algorithm>
#include <utility>

namespace slow {

static constexpr size_t max_waits = 256, max_samples = 4096, max_turns = 4096, max_threads = 8192;

// Threads that ended long ago are not reported of; those that waited last stay.
void Notes::make_room() {
  if (threads_.size() < max_threads) return;
  uint64_t newest = 0;
  for (const auto& [task, of] : threads_)
    if (!of.waits.empty()) newest = std::max(newest, of.waits.back().back);
  constexpr uint64_t long_ago = 10'000'000'000;
  std::erase_if(threads_, [&](const auto& t) { return t.second.waits.empty() || t.second.waits.back().back + long_ago < newest; });
}

void Notes::take(Wake wake) {
  make_room();
  const uint32_t task = wake.task;
  threads_[task].wake = std::move(wake);
}

void Notes::take(Wait& wait) {
  make_room();
  OfThread& of = threads_[wait.thread.task];
  if (of.wake && of.wake->at >= wait.left && of.wake->at <= wait.back) wait.wake = std::move(of.wake);
  of.wake.reset();
  wait.others = std::exchange(of.others, {});
  of.waits.push_back(wait);
  if (of.waits.size() > max_waits) of.waits.pop_front();
}

void Notes::take(const OnCpu& sample) {
  OfThread& of = threads_[sample.thread.task];
  of.samples.push_back(sample);
  if (of.samples.size() > max_samples) of.samples.pop_front();
}

void Notes::take(const Turn& turn) {
  OfThread& of = threads_[turn.task];
  of.turns.push_back(turn);
  if (of.turns.size() > max_turns) of.turns.pop_front();
}

void Notes::take(const Ran& ran) { threads_[ran.task].others.push_back(ran); }

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
