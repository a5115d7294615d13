#include "waits/graph_maker.h"

#include "base/text.h"
#include "profile/tables.h"
#include "trace/values.h"

#include <algorithm>
#include <unistd.h>

namespace waits {

namespace {

constexpr uint64_t sample_ns = 1'000'000'000 / 999; // scripts/wait_graph.bt
constexpr uint64_t least_queued_ns = 20'000;        // sooner no thread gets a CPU, though it is free

// Without what says nothing to a reader.
std::string shortened(std::string name) {
  constexpr std::string_view nowhere = "(anonymous namespace)::";
  for (size_t at; (at = name.find(nowhere)) != name.npos;) name.erase(at, nowhere.size());
  return name;
}

bool is_for_work(int call) {
  return call >= 0 && (trace::known_call(call).is_wait || trace::call_name(call).starts_with("accept"));
}

} // namespace

GraphMaker::GraphMaker(Stacks& stacks, WaitNames& names, const std::string& function) : stacks_(stacks), names_(names) {
  if (!function.empty()) asked_.emplace(function);
  graph_.function = function;
}

// ---- as records come

void GraphMaker::take(const Note& note) {
  if (auto* wake = std::get_if<Wake>(&note)) wakes_[wake->task] = *wake;
  if (auto* wait = std::get_if<Wait>(&note)) take_wait(*wait);
  if (auto* sample = std::get_if<OnCpu>(&note)) take_sample(*sample);
}

void GraphMaker::take_wait(const Wait& wait) {
  if (waits_.size() == most_waits) {
    dropped_++;
    return;
  }
  Waited out = {.left = wait.left, .woken = wait.woken, .back = wait.back, .thread = thread_of(wait.thread), .activity = activity_of(wait)};
  const auto wake = wakes_.find(wait.thread.task);
  if (wake != wakes_.end()) {
    const bool is_its = wake->second.at >= wait.left && wake->second.at <= wait.back;
    if (is_its && !wait.is_preempted && !names_.is_by_interrupt(wake->second)) out.waker = thread_of(wake->second.by);
    wakes_.erase(wake);
  }
  if (wait.ran.pid && wait.ran.tid != wait.thread.tid) out.before = thread_of(wait.ran);
  auto& [first, last] = known_[out.thread];
  first = std::min(first, out.left);
  last = std::max(last, out.back);
  waits_.push_back(out);
}

void GraphMaker::take_sample(const OnCpu& sample) {
  const uint32_t thread = thread_of(sample.thread);
  auto& [first, last] = known_[thread];
  first = std::min(first, sample.at);
  last = std::max(last, sample.at);
  samples_.push_back({sample.at, thread, activity_of(graph_.threads[thread].group, sample.user)});
}

uint32_t GraphMaker::thread_of(const waits::Thread& thread) {
  const auto [at, is_new] = threads_.try_emplace(thread.tid, graph_.threads.size());
  if (!is_new) return at->second;
  const auto [group, is_new_group] = groups_.try_emplace(thread.name, graph_.groups.size());
  if (is_new_group) graph_.groups.push_back({.name = thread.name});
  graph_.threads.push_back({.pid = thread.pid, .tid = thread.tid, .group = group->second, .name = thread.name});
  known_.emplace_back(~uint64_t{0}, 0);
  return at->second;
}

// The innermost functions that are the program's own; without any, the innermost one.
void GraphMaker::place(Activity& activity, const StackId& user) {
  const std::vector<symbol::Frame>& frames = stacks_.frames(user);
  for (const symbol::Frame& f : frames)
    if (!spec::is_note(f.kind)) activity.stack.push_back(shortened(std::string(f.name)));
  size_t own = 0;
  for (const symbol::Frame* f : profile::program_frames(frames))
    if (!profile::is_of_library(*f) && ++own <= most_functions) activity.where.push_back(shortened(std::string(f->name)));
  activity.is_whole = own <= most_functions;
  activity.is_asked = !asked_ || symbol::has_call_of(frames, *asked_);
  if (!own && !activity.stack.empty()) activity.where.push_back(activity.stack.front());
}

uint32_t GraphMaker::keep(Activity activity, const StackId& user) {
  const auto [at, is_new] = kept_.try_emplace({activity.group, activity.kind, activity.what, activity.where, activity.is_asked}, graph_.activities.size());
  if (!is_new) return at->second;
  graph_.activities.push_back(std::move(activity));
  stacks_of_.push_back(user);
  return at->second;
}

void GraphMaker::locate(Graph& graph, uint32_t activity) {
  Activity& a = graph.activities[activity];
  if (a.where.empty()) return;
  a.place = stacks_.place_of(stacks_of_[activity], [&](std::string_view name) { return shortened(std::string(name)) == a.where.front(); });
}

uint32_t GraphMaker::activity_of(const Wait& wait) {
  const uint32_t group = graph_.threads[thread_of(wait.thread)].group;
  const auto kind = wait.is_preempted ? Activity::runnable : Activity::waits;
  // Of a futex and a descriptor the first argument tells which.
  const Key key = {wait.kernel.id, wait.user.id, uint64_t{group} << 8 | kind, static_cast<uint64_t>(wait.call), wait.call >= 0 ? wait.arguments[0] : 0};
  const auto [at, is_new] = activities_.try_emplace(key, 0);
  if (!is_new) return at->second;
  const NamedStack stack = names_.stack(wait.kernel, wait.user);
  Activity out = {.kind = kind, .is_idle = kind == Activity::waits && is_for_work(wait.call), .group = group};
  out.what = shortened(names_.what_in_short(wait, stack));
  if (kind == Activity::waits) {
    out.is_lock = names_.is_for_lock(wait, stack);
    place(out, wait.user);
  }
  return at->second = keep(std::move(out), wait.user);
}

uint32_t GraphMaker::activity_of(uint32_t group, const StackId& user) {
  const auto [at, is_new] = activities_.try_emplace({0, user.id, uint64_t{group} << 8 | Activity::runs, ~uint64_t{0}, 0}, 0);
  if (!is_new) return at->second;
  Activity out = {.kind = Activity::runs, .group = group};
  place(out, user);
  return at->second = keep(std::move(out), user);
}

// ---- the graph

Graph GraphMaker::make(uint64_t begin, uint64_t end) {
  graph_.begin = begin;
  graph_.end = end;
  graph_.cpus = static_cast<uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  add_segments();
  graph_.settle();
  mix();
  return std::move(graph_);
}

void GraphMaker::add_segments() {
  // A thread was there when it woke another.
  for (const Waited& w : waits_)
    if (w.waker != nobody && known_[w.waker].second) known_[w.waker].second = std::max(known_[w.waker].second, w.woken);
  std::ranges::sort(waits_, {}, [](const Waited& w) { return std::pair(w.thread, w.left); });
  std::ranges::sort(samples_, {}, [](const Sample& s) { return std::pair(s.thread, s.at); });
  auto next = waits_.begin();
  for (uint32_t thread = 0; thread < graph_.threads.size(); thread++) {
    if (!known_[thread].second) continue; // nothing but its name is known
    graph_.groups[graph_.threads[thread].group].threads++;
    uint64_t at = known_[thread].first;
    const auto add = [&](uint64_t until, Segment segment) {
      if (until <= at) return;
      segment.begin = std::exchange(at, until);
      segment.end = until;
      segment.thread = thread;
      graph_.segments.push_back(segment);
    };
    const uint32_t no_cpu = keep({.kind = Activity::runnable, .group = graph_.threads[thread].group, .what = "a CPU", .where = {}, .stack = {}});
    for (; next != waits_.end() && next->thread == thread; ++next) {
      const Waited& w = *next;
      add(w.left, {});
      // It waited for one CPU while another was free, or for as long as a switch takes.
      const bool is_queued = w.back - std::min(w.woken, w.back) >= least_queued_ns;
      add(is_queued ? w.woken : w.back, {.kind = Activity::waits, .activity = w.activity, .ender = w.waker});
      add(w.back, {.kind = Activity::runnable, .activity = no_cpu, .ender = w.before});
    }
    add(known_[thread].second, {});
  }
}

namespace {

// What a segment that runs comes after and ends with: activities of waits, its own or such as it ends.
struct Class {
  uint32_t group = 0, after = nobody, until = nobody;
  auto operator<=>(const Class&) const = default;
};
// Of a group, whatever its segments come after.
Class of_group(uint32_t group) { return {group, nobody - 1, nobody - 1}; }

std::vector<Class> classes_of(const Graph& graph) {
  std::vector<uint32_t> ended(graph.segments.size(), nobody);
  for (const Segment& s : graph.segments)
    if (s.after != nobody && graph.segments[s.after].end == s.end) ended[s.after] = s.activity;
  std::vector<Class> out(graph.segments.size());
  for (const Timeline& thread : graph.threads) {
    uint32_t last = nobody;
    for (size_t i = 0; i < thread.segments.size(); i++) {
      const uint32_t at = thread.segments[i];
      const Segment& s = graph.segments[at];
      if (s.kind == Activity::runs) {
        const bool waits_next = ended[at] == nobody && i + 1 < thread.segments.size();
        out[at] = {thread.group, last, waits_next ? graph.segments[thread.segments[i + 1]].activity : ended[at]};
        last = out[at].until;
      } else {
        last = s.activity;
      }
    }
  }
  return out;
}

// Samples of a kind of segments.
struct Seen {
  uint64_t ns = 0, samples = 0;
  std::map<uint32_t, uint64_t> activities;
};

std::vector<Share> shares_of(const Seen& seen) {
  std::vector<Share> out;
  for (const auto& [activity, samples] : seen.activities) out.push_back({activity, static_cast<double>(samples) / static_cast<double>(seen.samples)});
  return out;
}

} // namespace

void GraphMaker::mix() {
  const std::vector<Class> classes = classes_of(graph_);
  std::map<Class, Seen> seen;
  for (const Timeline& thread : graph_.threads) {
    auto sample = std::ranges::lower_bound(samples_, static_cast<uint32_t>(&thread - graph_.threads.data()), {}, &Sample::thread);
    for (uint32_t at : thread.segments) {
      const Segment& s = graph_.segments[at];
      if (s.kind != Activity::runs) continue;
      Seen* const whole[] = {&seen[classes[at]], &seen[of_group(thread.group)]};
      for (Seen* one : whole) one->ns += s.ns();
      for (; sample != samples_.end() && sample->thread == s.thread && sample->at <= s.end; ++sample)
        for (Seen* one : whole) one->samples++, one->activities[sample->activity]++;
    }
  }
  std::map<Class, uint32_t> mixes;
  for (auto& [of, its] : seen) {
    const Seen& group = seen[of_group(of.group)];
    const Seen& best = its.samples ? its : group;
    std::vector<Share> shares = best.samples ? shares_of(best) : std::vector<Share>{{keep({.kind = Activity::runs, .is_asked = !asked_, .group = of.group, .what = {}, .where = {}, .stack = {}}), 1}};
    mixes[of] = static_cast<uint32_t>(graph_.mixes.size());
    graph_.mixes.push_back(std::move(shares));
  }
  for (uint32_t i = 0; i < graph_.segments.size(); i++)
    if (graph_.segments[i].kind == Activity::runs) graph_.segments[i].mix = mixes[classes[i]];
}

} // namespace waits
