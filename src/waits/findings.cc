// Activities that took most, and functions with several of them, are left out one by one.
#include "waits/findings.h"

#include "waits/knots.h"

#include <algorithm>
#include <map>
#include <set>

namespace waits {

namespace {

constexpr size_t most_activities = 64, most_functions_tried = 64;
constexpr double least_gain = 1.03;        // less is within what is not known
constexpr double least_saved = 0.01;       // of the time of all threads
// A function is reported in place of its activities if it saves that much more time, or makes that much faster.
constexpr double saves_more = 1.3, makes_faster = 1.15;

struct Candidate {
  uint32_t group = 0;
  std::string function;
  std::set<uint32_t> activities;
  uint64_t ns = 0;
};

// How long each activity took, in all threads. Those that other threads end are no causes, what these do is: 0.
std::vector<uint64_t> own_times(const Graph& graph) {
  std::vector<double> own(graph.activities.size()), ended(graph.activities.size());
  for (const Segment& s : graph.segments) {
    if (s.activity != nobody) (s.after == nobody || s.kind == Activity::runnable ? own : ended)[s.activity] += static_cast<double>(s.ns());
    if (s.mix == nobody) continue;
    for (const Share& share : graph.mixes[s.mix]) own[share.activity] += share.part * static_cast<double>(s.ns());
  }
  for (size_t i = 0; i < own.size(); i++)
    if (own[i] < ended[i]) own[i] = 0;
  return {own.begin(), own.end()};
}

std::vector<Candidate> find_candidates(const Graph& graph, const std::vector<uint64_t>& times) {
  std::vector<Candidate> single;
  std::map<std::pair<uint32_t, std::string>, Candidate> of_function;
  for (uint32_t a = 0; a < graph.activities.size(); a++) {
    const Activity& activity = graph.activities[a];
    if (!times[a] || activity.is_idle) continue;
    single.push_back({activity.group, {}, {a}, times[a]});
    for (const std::string& function : activity.where) {
      const bool is_first = &function == &activity.where.front(), is_last = &function == &activity.where.back();
      // By which function a program waits says nothing, as all its waits may go through one; nor does that in which a thread is all the time.
      if ((activity.kind == Activity::waits && is_first) || (activity.is_whole && is_last)) continue;
      Candidate& all = of_function[{activity.group, function}];
      if (!all.activities.insert(a).second) continue;
      all.group = activity.group;
      all.function = function;
      all.ns += times[a];
    }
  }
  std::vector<Candidate> several;
  for (auto& [name, c] : of_function)
    if (c.activities.size() > 1) several.push_back(std::move(c));
  const auto keep_largest = [](std::vector<Candidate>& of, size_t most) {
    std::ranges::stable_sort(of, std::greater(), &Candidate::ns);
    if (of.size() > most) of.resize(most);
  };
  keep_largest(single, most_activities);
  keep_largest(several, most_functions_tried);
  single.insert(single.end(), several.begin(), several.end());
  return single;
}

// Threads that hand work to each other go as fast as the slowest of them, and all only as fast as the CPUs can run them.
std::vector<double> factors_of(const Graph& graph, const Replay& replay, const Replayed& replayed) {
  const size_t threads = replayed.before_ns.size();
  const uint64_t least_ns = graph.cpus ? replayed.runs_ns / graph.cpus : 0;
  std::vector<double> out(threads, 1), of_bound(threads, 1e9);
  for (size_t t = 0; t < threads; t++) {
    if (!replayed.before_ns[t]) continue;
    out[t] = static_cast<double>(replayed.before_ns[t]) / static_cast<double>(std::max<uint64_t>({replayed.after_ns[t], std::min(replayed.before_ns[t], least_ns), 1}));
    of_bound[replay.coupled()[t]] = std::min(of_bound[replay.coupled()[t]], out[t]);
  }
  for (size_t t = 0; t < threads; t++)
    if (replayed.before_ns[t]) out[t] = of_bound[replay.coupled()[t]];
  return out;
}

std::vector<Speedup> speedups_of(const Graph& graph, const std::vector<double>& factors) {
  std::vector<std::vector<double>> of_groups(graph.groups.size());
  for (size_t t = 0; t < graph.threads.size(); t++)
    if (factors[t] >= least_gain) of_groups[graph.threads[t].group].push_back(factors[t]);
  std::vector<Speedup> out;
  for (uint32_t g = 0; g < of_groups.size(); g++) {
    std::vector<double>& of = of_groups[g];
    if (of.empty()) continue;
    std::ranges::nth_element(of, of.begin() + static_cast<ptrdiff_t>(of.size() / 2));
    out.push_back({g, static_cast<uint32_t>(of.size()), of[of.size() / 2]});
  }
  std::ranges::stable_sort(out, std::greater(), &Speedup::factor);
  return out;
}

// What all threads would save. One that waits at its own pace, as for a timer, saves no more by that than what it does besides.
uint64_t saved_ns(const Graph& graph, const Replayed& replayed, const std::vector<double>& factors) {
  std::vector<uint64_t> busy(graph.threads.size());
  for (const Segment& s : graph.segments)
    if (s.kind == Activity::runs) busy[s.thread] += s.ns();
  uint64_t out = 0;
  for (size_t t = 0; t < graph.threads.size(); t++) {
    const auto before = static_cast<double>(replayed.before_ns[t]);
    const auto saved = static_cast<uint64_t>(before - before / factors[t]);
    const uint64_t own = std::min(saved, replayed.left_out_ns[t]);
    out += saved - own + std::min(own, busy[t]);
  }
  return out;
}

std::vector<Bottleneck::Waiting> waiting_for(const std::vector<Blamed>& waits, const std::set<uint32_t>& activities) {
  std::vector<Bottleneck::Waiting> out;
  for (const Blamed& b : waits) {
    double part = 0;
    for (const Share& cause : b.causes) part += activities.contains(cause.activity) ? cause.part : 0;
    const auto ns = static_cast<uint64_t>(part * static_cast<double>(b.ns));
    if (ns && !activities.contains(b.activity)) out.push_back({b.activity, ns});
  }
  std::ranges::stable_sort(out, std::greater(), &Bottleneck::Waiting::ns);
  return out;
}

// A function stands for its activities where it speedups more than each of them; else they stand for themselves.
std::vector<Bottleneck> choose(std::vector<Bottleneck> all) {
  const auto holds = [](const Bottleneck& outer, const Bottleneck& inner) {
    return inner.activities.size() < outer.activities.size() && std::ranges::all_of(inner.activities, [&](const Share& one) {
             return std::ranges::find(outer.activities, one.activity, &Share::activity) != outer.activities.end();
           });
  };
  std::ranges::stable_sort(all, {}, [](const Bottleneck& l) { return l.activities.size(); });
  std::vector<Bottleneck> out;
  for (Bottleneck& bottleneck : all) {
    const bool is_worse = std::ranges::any_of(out, [&](const Bottleneck& other) {
      return holds(bottleneck, other) && static_cast<double>(bottleneck.saved_ns) < saves_more * static_cast<double>(other.saved_ns) &&
             bottleneck.speedups.front().factor < makes_faster * other.speedups.front().factor;
    });
    if (is_worse) continue;
    std::erase_if(out, [&](const Bottleneck& other) { return holds(bottleneck, other); });
    out.push_back(std::move(bottleneck));
  }
  std::ranges::stable_sort(out, std::greater(), &Bottleneck::saved_ns);
  return out;
}

} // namespace

Findings find_bottlenecks(const Graph& graph) {
  const Causes causes = find_causes(graph);
  const Replay replay(graph, causes);
  Findings out = {.bottlenecks = {}, .waits = sum_up(graph, causes), .knots = find_knots(graph, (graph.end - graph.begin) / 50)};
  const std::vector<uint64_t> times = own_times(graph);
  uint64_t all_ns = 0;
  for (const Segment& s : graph.segments) all_ns += s.ns();
  std::vector<Bottleneck> bottlenecks;
  for (const Candidate& c : find_candidates(graph, times)) {
    const std::vector<uint32_t> left_out(c.activities.begin(), c.activities.end());
    const Replayed replayed = replay.without(left_out);
    const std::vector<double> factors = factors_of(graph, replay, replayed);
    Bottleneck bottleneck = {.group = c.group, .function = c.function, .ns = c.ns, .saved_ns = saved_ns(graph, replayed, factors), .speedups = speedups_of(graph, factors), .waiting = waiting_for(out.waits, c.activities)};
    if (bottleneck.speedups.empty() || static_cast<double>(bottleneck.saved_ns) < least_saved * static_cast<double>(all_ns)) continue;
    for (uint32_t a : left_out) bottleneck.activities.push_back({a, static_cast<double>(times[a]) / static_cast<double>(c.ns)});
    std::ranges::stable_sort(bottleneck.activities, std::greater(), &Share::part);
    bottlenecks.push_back(std::move(bottleneck));
  }
  out.bottlenecks = choose(std::move(bottlenecks));
  return out;
}

} // namespace waits
