#include "waits/blame.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace waits {

namespace {

using Times = std::unordered_map<uint32_t, double>; // ns by activity

std::vector<Share> shares_of(const Times& times, double whole) {
  std::vector<Share> out;
  for (const auto& [activity, ns] : times) out.push_back({activity, ns / std::max(whole, 1.0)});
  std::ranges::sort(out, std::greater(), [](const Share& s) { return std::pair(s.part, s.activity); });
  return out;
}

// A part of a segment of the ender.
void add(Times& to, const Graph& graph, const Segment& meanwhile, const std::vector<Share>& causes, uint64_t ns) {
  const std::vector<Share>* its = &causes;
  if (meanwhile.kind == Activity::runs) its = meanwhile.mix == nobody ? nullptr : &graph.mixes[meanwhile.mix];
  if (!its) return;
  for (const Share& share : *its) to[share.activity] += share.part * static_cast<double>(ns);
}

Times causes_of(const Graph& graph, const Causes& known, const Segment& wait) {
  Times out;
  uint64_t known_ns = 0;
  if (wait.after != nobody) {
    const std::vector<uint32_t>& its = graph.threads[wait.ender].segments;
    for (auto at = std::ranges::upper_bound(its, wait.after); at != its.begin();) {
      const Segment& meanwhile = graph.segments[*--at];
      if (meanwhile.end <= wait.begin) break;
      const uint64_t shared_ns = std::min(meanwhile.end, wait.end) - std::max(meanwhile.begin, wait.begin);
      add(out, graph, meanwhile, known[*at], shared_ns);
      known_ns += shared_ns;
    }
  }
  if (wait.ns() > known_ns) out[wait.activity] += static_cast<double>(wait.ns() - known_ns);
  return out;
}

// The smallest of many are given to the wait itself.
std::vector<Share> only_largest(std::vector<Share> shares, uint32_t wait) {
  constexpr size_t most = 12;
  if (shares.size() <= most) return shares;
  double rest = 0;
  for (size_t i = most - 1; i < shares.size(); i++) rest += shares[i].part;
  shares.resize(most - 1);
  const auto own = std::ranges::find(shares, wait, &Share::activity);
  if (own != shares.end())
    own->part += rest;
  else
    shares.push_back({wait, rest});
  return shares;
}

struct Sum {
  Blamed row;
  Times causes;
  std::map<uint32_t, double> enders;
};

} // namespace

Causes find_causes(const Graph& graph) {
  Causes out(graph.segments.size());
  // What a wait came to needs only segments that ended before.
  for (uint32_t i = 0; i < graph.segments.size(); i++) {
    const Segment& s = graph.segments[i];
    if (s.kind != Activity::runs) out[i] = only_largest(shares_of(causes_of(graph, out, s), static_cast<double>(s.ns())), s.activity);
  }
  return out;
}

std::vector<Blamed> sum_up(const Graph& graph, const Causes& causes) {
  std::unordered_map<uint32_t, Sum> sums;
  for (uint32_t i = 0; i < graph.segments.size(); i++) {
    const Segment& s = graph.segments[i];
    if (s.kind == Activity::runs) continue;
    const auto ns = static_cast<double>(s.ns());
    Sum& sum = sums[s.activity];
    sum.row.activity = s.activity;
    sum.row.number++;
    sum.row.ns += s.ns();
    sum.row.longest_ns = std::max(sum.row.longest_ns, s.ns());
    for (const Share& cause : causes[i]) sum.causes[cause.activity] += cause.part * ns;
    if (s.ender != nobody) sum.enders[graph.threads[s.ender].group] += ns;
  }
  std::vector<Blamed> out;
  for (auto& [activity, sum] : sums) {
    const auto whole = static_cast<double>(sum.row.ns);
    sum.row.causes = shares_of(sum.causes, whole);
    for (const auto& [group, ns] : sum.enders) sum.row.enders.emplace_back(group, ns / std::max(whole, 1.0));
    std::ranges::stable_sort(sum.row.enders, std::greater(), [](const auto& e) { return e.second; });
    out.push_back(std::move(sum.row));
  }
  std::ranges::sort(out, std::greater(), [](const Blamed& b) { return std::pair(b.ns, b.activity); });
  return out;
}

} // namespace waits
