#include "why/wait_facts.h"

#include "base/text.h"
#include "proc/process_files.h"
#include "why/slots.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unistd.h>

namespace why {

namespace {

using waits::Activity, waits::Blamed, waits::Graph, waits::Segment, waits::nobody;

struct CallReason {
  std::string_view calls, reason; // calls: separated by spaces
};
constexpr CallReason call_reasons[] = {
    {"fsync fdatasync msync sync syncfs sync_file_range", "flush"},
    {"nanosleep clock_nanosleep pause rt_sigtimedwait sigsuspend", "sleep"},
    {"wait4 waitid", "child"},
    {"connect accept accept4 recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg", "network"},
    {"open openat openat2 unlink unlinkat rename renameat2 mkdir getdents64 stat newfstatat ftruncate fallocate", "disk"},
};
constexpr std::string_view descriptor_calls[] = {"read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "sendfile", "splice"};

// "read(5</tmp/x>)" is for a disk, "read(5<socket:[17]>)" for a peer.
std::string_view reason_of_descriptor(std::string_view what) {
  if (what.find("<pipe:") != what.npos) return "pipe";
  if (what.find("<socket:") != what.npos || what.find("<TCP") != what.npos || what.find("<UNIX") != what.npos || what.find("<UDP") != what.npos) return "network";
  return what.find("</") != what.npos ? "disk" : "other";
}

// "pause < query < answer"
std::string chain_of(const Activity& a) {
  std::string out;
  for (const std::string& function : a.where) out.append(out.empty() ? "" : " < ").append(function);
  return out;
}

ProgramLocation location_of(const Activity& a) { return location_at(a.where.empty() ? std::string() : a.where.front(), a.place); }

// By which a group of threads goes only at its own pace: waits of less than so much for anything else.
constexpr double least_else = 0.02;

class Maker {
public:
  Maker(const Graph& graph, const waits::Findings& findings, int pid) : graph_(graph), findings_(findings), pid_(pid) { sum_up(); }
  std::vector<Fact> facts();

private:
  struct Sum {
    Sliced time;
    uint64_t number = 0, longest = 0;
  };

  void find_idle();
  void find_asked();
  void sum_up();
  void add(std::string_view kind, std::string_view measurement, Slots slots);
  void add_times();
  void add_wait(const Blamed& wait);
  std::string name_of_ran(uint32_t pid) const;
  void add_run_queue();
  void add_locks();
  void add_lock(const std::string& name, const std::vector<const Blamed*>& waits);
  double waited_ns(const std::vector<const Blamed*>& waits) const;
  double part_of_calls(const waits::Bottleneck& bottleneck) const;
  void add_bottleneck(const waits::Bottleneck& bottleneck);
  void add_pool(const Blamed& wait);
  // Without a question about calls, what is idle does not count.
  bool is_counted(const Segment& s) const {
    return !graph_.function.empty() || !(is_idle_[s.thread] || (s.kind == Activity::waits && graph_.activities[s.activity].is_idle));
  }
  bool is_here(uint32_t thread) const { return pid_ < 0 || graph_.threads[thread].pid == static_cast<uint32_t>(pid_); }
  double seconds() const { return static_cast<double>(std::max<uint64_t>(graph_.end - graph_.begin, 1)); }
  uint32_t most_at_once(uint32_t activity) const;

  const Graph& graph_;
  const waits::Findings& findings_;
  int pid_;
  std::vector<bool> is_idle_;  // threads
  std::vector<double> asked_; // by segment: the part of it in the calls that are asked about
  Sliced all_, running_, runnable_, waiting_;
  std::map<uint32_t, Sum> of_activity_;
  std::vector<Fact> out_;
};

void Maker::find_idle() {
  std::vector<uint64_t> own(graph_.threads.size()), other(graph_.threads.size());
  for (const Segment& s : graph_.segments) {
    const bool is_own = s.kind == Activity::waits && s.after == nobody && (graph_.activities[s.activity].is_idle || reason_of(graph_.activities[s.activity]) == "sleep");
    (is_own ? own : other)[s.thread] += s.ns();
  }
  for (size_t t = 0; t < own.size(); t++) is_idle_.push_back(static_cast<double>(other[t]) < least_else * static_cast<double>(own[t] + other[t]));
}

// Whoever waits for a CPU does so in the call in which it was before.
void Maker::find_asked() {
  asked_.assign(graph_.segments.size(), 0);
  for (const waits::Timeline& thread : graph_.threads) {
    double last = 0;
    for (uint32_t at : thread.segments) {
      const Segment& s = graph_.segments[at];
      if (s.kind == Activity::waits) last = graph_.activities[s.activity].is_asked;
      if (s.kind == Activity::runs) {
        last = 0;
        for (const waits::Share& share : graph_.mixes[s.mix]) last += graph_.activities[share.activity].is_asked ? share.part : 0;
      }
      asked_[at] = last;
    }
  }
}

void Maker::sum_up() {
  find_idle();
  find_asked();
  for (size_t i = 0; i < graph_.segments.size(); i++) {
    const Segment& s = graph_.segments[i];
    if (!is_here(s.thread) || !is_counted(s) || !asked_[i]) continue;
    const auto ns = static_cast<double>(s.ns()) * asked_[i];
    all_.add(s.end, graph_.begin, graph_.end, ns);
    (s.kind == Activity::runs ? running_ : s.kind == Activity::runnable ? runnable_ : waiting_).add(s.end, graph_.begin, graph_.end, ns);
    if (s.activity == nobody) continue;
    Sum& sum = of_activity_[s.activity];
    sum.time.add(s.end, graph_.begin, graph_.end, ns);
    sum.number++;
    sum.longest = std::max(sum.longest, s.ns());
  }
}

void Maker::add(std::string_view kind, std::string_view measurement, Slots slots) { out_.push_back(fact_about(pid_, kind, measurement, std::move(slots))); }

void Maker::add_times() {
  const double all = std::max(all_.sum(), 1.0);
  for (std::string_view measurement : {"waits", "run-queues"})
    add("process-time", measurement, {{"running", running_.sum() / all}, {"runnable", runnable_.sum() / all}, {"waiting", waiting_.sum() / all}});
}

void Maker::add_wait(const Blamed& wait) {
  const Activity& a = graph_.activities[wait.activity];
  const auto sum = of_activity_.find(wait.activity);
  if (a.kind != Activity::waits || sum == of_activity_.end()) return;
  const ShareInterval share = share_of(sum->second.time, all_);
  constexpr double least = 0.01;
  if (share.share < least) return;
  Slots slots = {
      {"group", graph_.groups[a.group].name}, {"reason", std::string(reason_of(a))}, {"what", a.what}, {"longest", static_cast<double>(sum->second.longest)}};
  put_location(slots, location_of(a));
  put_share(slots, share);
  add("wait", "waits", std::move(slots));
}

// Of a process that has ended, the name of one of its threads.
std::string Maker::name_of_ran(uint32_t pid) const {
  std::string name = proc::name_of_process(static_cast<int>(pid));
  return name.empty() ? std::ranges::find(graph_.threads, pid, &waits::Timeline::pid)->name : name;
}

void Maker::add_run_queue() {
  std::map<uint32_t, double> ahead; // by process
  double known = 0, number = 0;
  for (size_t i = 0; i < graph_.segments.size(); i++) {
    const Segment& s = graph_.segments[i];
    if (s.kind != Activity::runnable || !is_here(s.thread) || asked_[i] < 0.5) continue;
    number++;
    if (s.ender == nobody || graph_.threads[s.ender].pid == static_cast<uint32_t>(::getpid())) continue; // who measures runs often, and shortly
    ahead[graph_.threads[s.ender].pid] += static_cast<double>(s.ns());
    known += static_cast<double>(s.ns());
  }
  if (!number) return;
  Slots slots = {{"delay", runnable_.sum() / number}};
  put_share(slots, share_of(runnable_, all_));
  const auto weight = [](const auto& a) { return a.second; };
  std::map<std::string, double> groups, names;
  std::map<uint32_t, std::string> group_of, name_of;
  for (const auto& [pid, ns] : ahead) groups[group_of[pid] = proc::cgroup_of_process(static_cast<int>(pid))] += ns;
  if (const auto group = std::ranges::max_element(groups, {}, weight); group != groups.end()) {
    std::erase_if(ahead, [&](const auto& a) { return group_of[a.first] != group->first; });
    for (const auto& [pid, ns] : ahead) names[name_of[pid] = name_of_ran(pid)] += ns;
    const auto name = std::ranges::max_element(names, {}, weight);
    std::erase_if(ahead, [&](const auto& a) { return name_of[a.first] != name->first; });
    slots.insert(slots.end(), {{"ahead_cgroup", group->first},
                               {"cgroup_share", group->second / std::max(known, 1.0)},
                               {"ahead", name->first},
                               {"ahead_pid", static_cast<int64_t>(std::ranges::max_element(ahead, {}, weight)->first)},
                               {"ahead_share", name->second / std::max(known, 1.0)}});
  }
  add("run-queue", "run-queues", std::move(slots));
}

void Maker::add_locks() {
  std::map<std::string, std::vector<const Blamed*>> locks;
  for (const Blamed& b : findings_.waits)
    if (graph_.activities[b.activity].is_lock && of_activity_.contains(b.activity)) locks[graph_.activities[b.activity].what].push_back(&b);
  for (const auto& [name, waits] : locks) add_lock(name, waits);
}

// For how long at least one thread waits for one of these.
double Maker::waited_ns(const std::vector<const Blamed*>& waits) const {
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const Segment& s : graph_.segments)
    if (std::ranges::any_of(waits, [&](const Blamed* b) { return b->activity == s.activity; })) spans.emplace_back(s.begin, s.end);
  std::ranges::sort(spans);
  uint64_t out = 0, until = 0;
  for (const auto& [begin, end] : spans) {
    if (end > until) out += end - std::max(begin, until);
    until = std::max(until, end);
  }
  return static_cast<double>(out);
}

void Maker::add_lock(const std::string& name, const std::vector<const Blamed*>& waits) {
  Sliced time;
  double ns = 0, handoffs = 0;
  std::map<uint32_t, double> causes;
  for (const Blamed* b : waits) {
    for (size_t i = 0; i < Sliced::slices; i++) time.add_to(i, of_activity_.at(b->activity).time.of(i));
    ns += static_cast<double>(b->ns);
    handoffs += static_cast<double>(b->number);
    for (const waits::Share& c : b->causes) causes[c.activity] += c.part * static_cast<double>(b->ns);
  }
  // What holders do, by kind; the largest activity of that kind tells where.
  std::map<std::string_view, double> by_kind;
  const auto kind_of = [&](uint32_t activity) { return graph_.activities[activity].kind == Activity::runs ? std::string_view("runs") : reason_of(graph_.activities[activity]); };
  for (const auto& [activity, part] : causes) by_kind[kind_of(activity)] += part;
  const auto does = std::ranges::max_element(by_kind, {}, [](const auto& k) { return k.second; });
  if (does == by_kind.end() || !ns) return;
  const Activity* most = nullptr;
  double most_ns = 0;
  for (const auto& [activity, part] : causes)
    if (kind_of(activity) == does->first && part > most_ns) most = &graph_.activities[activity], most_ns = part;
  Slots slots = {
      {"name", name.starts_with("the lock ") ? name.substr(9) : name},
      {"waiters", ns / seconds()},
      {"hold", waited_ns(waits) / std::max(handoffs, 1.0)},
      {"handoffs", handoffs * 1e9 / seconds()},
      {"meanwhile", std::string(does->first)},
      {"meanwhile_share", does->second / ns},
      {"meanwhile_where", chain_of(*most)},
      {"holder", most->where.empty() ? graph_.groups[most->group].name : most->where.front()}};
  put_share(slots, share_of(time, all_));
  const ProgramLocation location = location_of(*most);
  slots.insert(slots.end(), {{"file", location.file}, {"line", location.line}});
  const bool is_interpreters = name.starts_with("the GIL");
  if (!is_interpreters) return add("lock", "locks", std::move(slots));
  Slots of_interpreter = {{"language", std::string("python")}, {"threads", ns / seconds()}, {"holder", most->where.empty() ? std::string() : most->where.front()}};
  put_share(of_interpreter, share_of(time, all_));
  add("interpreter", "interpreters", std::move(of_interpreter));
}

// The part of the calls' time that the bottleneck takes, or lets them wait.
double Maker::part_of_calls(const waits::Bottleneck& bottleneck) const {
  double ns = 0;
  for (const waits::Share& own : bottleneck.activities)
    if (graph_.activities[own.activity].is_asked) ns += own.part * static_cast<double>(bottleneck.ns);
  for (const waits::Bottleneck::Waiting& w : bottleneck.waiting)
    if (graph_.activities[w.activity].is_asked) ns += static_cast<double>(w.ns);
  return std::min(1.0, ns / std::max(all_.sum(), 1.0));
}

void Maker::add_bottleneck(const waits::Bottleneck& bottleneck) {
  constexpr std::string_view kinds[] = {"runs", "waits", "runnable"};
  const Activity& a = graph_.activities[bottleneck.activities.front().activity];
  Slots slots = {{"activity", std::string(kinds[a.kind])}, {"what", a.what}, {"speedup", bottleneck.speedups.front().factor}};
  put_location(slots, location_of(a));
  constexpr double off = 0.2; // of a gain, at most (test/waits/run.py)
  const auto of_gain = [](double gain) { return std::clamp(1 - 1 / std::max(gain, 1.0), 0.0, 1.0); };
  const double factor = graph_.function.empty() ? bottleneck.speedups.front().factor : 1 / std::max(1 - part_of_calls(bottleneck), 0.01);
  put_share(slots, {of_gain(factor), of_gain(factor * (1 - off)), of_gain(factor * (1 + off))});
  add("bottleneck", "wait-graph", std::move(slots));
}

// How many threads were in the activity at the same time, at most.
uint32_t Maker::most_at_once(uint32_t activity) const {
  std::vector<std::pair<uint64_t, int>> changes;
  for (const Segment& s : graph_.segments)
    if (s.activity == activity) changes.insert(changes.end(), {{s.begin, 1}, {s.end, -1}});
  std::ranges::sort(changes);
  int now = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return static_cast<uint32_t>(most);
}

// Threads that wait until one of their own kind gives something back: a pool of connections, a semaphore.
void Maker::add_pool(const Blamed& wait) {
  const Activity& a = graph_.activities[wait.activity];
  const auto sum = of_activity_.find(wait.activity);
  if (sum == of_activity_.end() || reason_of(a) != "condition" || wait.causes.empty() || wait.enders.empty()) return;
  const waits::Share& cause = wait.causes.front();
  const bool is_given_back = wait.enders.front().first == a.group && wait.enders.front().second > 0.5;
  if (!is_given_back || cause.activity == wait.activity || cause.part < 0.5 || graph_.activities[cause.activity].kind != Activity::waits) return;
  const auto size = static_cast<double>(most_at_once(cause.activity));
  const Activity& does = graph_.activities[cause.activity];
  Slots slots = {{"name", a.what},
                                                           {"size", static_cast<int64_t>(size)},
                                                           {"busy", size * std::min(1.0, static_cast<double>(wait.ns) / seconds())},
                                                           {"queued", static_cast<double>(wait.ns) / seconds()},
                                                           {"members_do", does.what + (does.where.empty() ? "" : " in " + chain_of(does))},
                                                           {"members_share", cause.part}};
  put_share(slots, share_of(sum->second.time, all_));
  add("pool", "wait-graph", std::move(slots));
}

std::vector<Fact> Maker::facts() {
  add_times();
  for (const Blamed& b : findings_.waits) add_wait(b);
  add_run_queue();
  add_locks();
  for (const waits::Bottleneck& l : findings_.bottlenecks) add_bottleneck(l);
  for (const Blamed& b : findings_.waits) add_pool(b);
  return std::move(out_);
}

} // namespace

std::string_view reason_of(const waits::Activity& a) {
  if (a.kind == waits::Activity::runnable) return "cpu";
  if (a.is_lock) return "lock";
  for (std::string_view word : {"the condition", "the semaphore", "the barrier"})
    if (a.what.starts_with(word)) return "condition";
  if (a.what.starts_with("a page of memory")) return "memory";
  const std::string_view call = std::string_view(a.what).substr(0, a.what.find('('));
  if (base::is_one_of(descriptor_calls, call)) return reason_of_descriptor(a.what);
  for (const CallReason& r : call_reasons)
    if (std::ranges::any_of(base::split(r.calls, ' '), [&](std::string_view c) { return c == call; })) return r.reason;
  return "other";
}

std::vector<Fact> wait_facts(const waits::Graph& graph, const waits::Findings& findings, int pid) { return Maker(graph, findings, pid).facts(); }

} // namespace why
