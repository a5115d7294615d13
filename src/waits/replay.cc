#include "waits/replay.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace waits {

namespace {

// The part of each activity that stays.
class Kept {
public:
  Kept(const Graph& graph, std::span<const uint32_t> left_out) : is_out_(graph.activities.size()) {
    for (uint32_t activity : left_out) is_out_[activity] = true;
    for (const std::vector<Share>& mix : graph.mixes) {
      double part = 1;
      for (const Share& share : mix) part -= is_out_[share.activity] ? share.part : 0;
      of_mix_.push_back(std::max(part, 0.0));
    }
  }

  bool is_out(const Segment& s) const { return s.activity != nobody && is_out_[s.activity]; }
  double of(const Segment& s, const std::vector<Share>& causes) const {
    if (is_out(s)) return 0;
    if (s.kind == Activity::runs) return s.mix == nobody ? 1 : of_mix_[s.mix];
    double part = 1;
    for (const Share& cause : causes) part -= is_out_[cause.activity] ? cause.part : 0;
    return std::max(part, 0.0);
  }

private:
  std::vector<bool> is_out_;
  std::vector<double> of_mix_;
};

uint32_t root_of(std::vector<uint32_t>& parents, uint32_t thread) {
  while (parents[thread] != thread) thread = parents[thread] = parents[parents[thread]];
  return thread;
}

} // namespace

Replay::Replay(const Graph& graph, const Causes& causes) : graph_(graph), causes_(causes), is_bound_(graph.segments.size()), coupled_(graph.threads.size()) {
  std::vector<uint64_t> all(graph.groups.size());
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> waited; // of groups
  const auto groups = [&](const Segment& s) { return std::pair(graph.threads[s.thread].group, graph.threads[s.ender].group); };
  for (const Segment& s : graph.segments) {
    all[graph.threads[s.thread].group] += s.ns();
    if (s.kind == Activity::waits && s.after != nobody) waited[groups(s)] += s.ns();
  }
  std::iota(coupled_.begin(), coupled_.end(), 0);
  for (size_t i = 0; i < graph.segments.size(); i++) {
    const Segment& s = graph.segments[i];
    if (s.kind != Activity::waits || s.after == nobody) continue;
    const auto pair = groups(s);
    is_bound_[i] = static_cast<double>(waited[pair]) >= least_bound * static_cast<double>(all[pair.first]);
    if (is_bound_[i] && !graph.activities[s.activity].is_lock) coupled_[root_of(coupled_, s.thread)] = root_of(coupled_, s.ender);
  }
  for (uint32_t t = 0; t < coupled_.size(); t++) coupled_[t] = root_of(coupled_, t);
}

Replayed Replay::without(std::span<const uint32_t> left_out) const {
  const Kept kept(graph_, left_out);
  const size_t threads = graph_.threads.size();
  std::vector<uint64_t> ends(graph_.segments.size()), first_begins(threads), last_ends(threads);
  std::vector<bool> is_known(threads);
  std::vector<double> last_parts(threads, 1); // of the segment before: what stayed of it
  Replayed out = {.before_ns = std::vector<uint64_t>(threads), .after_ns = std::vector<uint64_t>(threads), .left_out_ns = std::vector<uint64_t>(threads)};
  for (uint32_t i = 0; i < graph_.segments.size(); i++) {
    const Segment& s = graph_.segments[i];
    if (!is_known[s.thread]) {
      is_known[s.thread] = true;
      first_begins[s.thread] = last_ends[s.thread] = s.begin;
    }
    const uint64_t begin = last_ends[s.thread];
    // Whoever does not wait is not woken late, and whoever runs for a shorter time loses the CPU less often.
    const double part = kept.of(s, causes_[i]) * (s.kind == Activity::runnable ? last_parts[s.thread] : 1);
    const auto kept_ns = static_cast<uint64_t>(static_cast<double>(s.ns()) * part);
    // Its ender may be there before it waits at all.
    if (is_bound_[i] && !kept.is_out(s))
      ends[i] = std::max(begin, ends[s.after] + (s.end - graph_.segments[s.after].end));
    else
      ends[i] = begin + kept_ns;
    if (s.kind == Activity::runs) out.runs_ns += kept_ns;
    if (s.kind == Activity::waits && kept.is_out(s)) out.left_out_ns[s.thread] += s.ns();
    last_parts[s.thread] = is_bound_[i] ? (ends[i] > begin ? 1 : 0) : part;
    last_ends[s.thread] = ends[i];
    out.before_ns[s.thread] = s.end - first_begins[s.thread];
    out.after_ns[s.thread] = ends[i] - first_begins[s.thread];
  }
  return out;
}

} // namespace waits
