// The measurement `cgroups`: CPU time, quotas, memory and pressure of control groups, before and after the interval. Groups that are neither at work nor at a
// limit, and had nothing killed, are left out.
#include "why/instruments.h"

#include "proc/cgroup_counters.h"
#include "proc/process_files.h"

#include <algorithm>

namespace why {

namespace {

constexpr std::string_view own_name = "cgroups";
constexpr size_t most_groups = 512; // read in each hierarchy
constexpr size_t most_facts = 64;
constexpr double least_cpu = 0.005, least_pressure = 0.01, near_limit = 0.9;

double rate(uint64_t before, uint64_t after, double ns) { return static_cast<double>(proc::growth(before, after)) * 1e9 / ns; }

// The kernel adds up how long each CPU was denied to it; as a part of the time it is no more than the part of the periods in which there was any.
double throttled_part(const proc::CgroupCounters& before, const proc::CgroupCounters& after, double ns) {
  const uint64_t periods = proc::growth(before.periods, after.periods), throttled = proc::growth(before.throttled_periods, after.throttled_periods);
  if (!periods) return 0;
  return std::min({1.0, static_cast<double>(proc::growth(before.throttled_ns, after.throttled_ns)) / ns, static_cast<double>(throttled) / static_cast<double>(periods)});
}

class CgroupsInstrument final : public Instrument {
public:
  explicit CgroupsInstrument(const Subject& subject) : subject_(subject) {}

  base::Status prepare(const session::Options&) override {
    std::vector<proc::CgroupMount> mounts = proc::find_cgroup_mounts(proc::text_of("/proc/self/mounts"));
    if (mounts.empty()) return base::Error{base::Failure::unsupported, "no hierarchy of control groups is mounted"};
    reader_.emplace(std::move(mounts));
    reader_->find(most_groups);
    return {};
  }
  void begin() override { before_ = reader_->read(); }
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  Subject subject_;
  std::optional<proc::CgroupReader> reader_;
  std::map<std::string, proc::CgroupCounters> before_;
};

base::Result<std::vector<Fact>> CgroupsInstrument::end(uint64_t interval_ns) {
  const double ns = static_cast<double>(std::max<uint64_t>(interval_ns, 1));
  const std::map<std::string, proc::CgroupCounters> after = reader_->read_again(before_);
  const std::string asked = proc::cgroup_of_process(std::max(subject_.asked, subject_.pid));
  struct Group {
    const std::string* name;
    const proc::CgroupCounters *before, *after;
    double cpu, throttled;
    bool is_asked;
  };
  std::vector<Group> groups;
  for (const auto& [name, counters] : after) {
    const auto before = before_.find(name);
    if (before == before_.end()) continue;
    const proc::CgroupCounters& b = before->second;
    const double cpu = rate(b.cpu_ns, counters.cpu_ns, ns) / 1e9, throttled = throttled_part(b, counters, ns);
    const bool is_near_limit = counters.memory_limit && static_cast<double>(counters.memory) >= near_limit * static_cast<double>(counters.memory_limit);
    const bool has_events = counters.oom_kills || counters.max_events > b.max_events || counters.high_events > b.high_events;
    if (name == asked || cpu >= least_cpu || throttled > 0 || is_near_limit || has_events) groups.push_back({&name, &b, &counters, cpu, throttled, name == asked});
  }
  std::ranges::sort(groups, std::greater(), [](const Group& g) { return g.is_asked ? 1e9 : g.throttled * 1e3 + static_cast<double>(g.after->oom_kills > 0) * 1e2 + g.cpu; });
  if (groups.size() > most_facts) groups.resize(most_facts);
  std::vector<Fact> out;
  for (const Group& g : groups) {
    out.push_back({.kind = find_fact_kind("cgroup"),
                   .slots = {{"name", *g.name},
                             {"cpu", g.cpu},
                             {"quota", g.after->quota},
                             {"throttled", g.throttled},
                             {"memory", static_cast<int64_t>(g.after->memory)},
                             {"memory_limit", static_cast<int64_t>(g.after->memory_limit)},
                             {"high_events", rate(g.before->high_events, g.after->high_events, ns)},
                             {"max_events", rate(g.before->max_events, g.after->max_events, ns)},
                             {"oom_kills", static_cast<int64_t>(g.after->oom_kills)}},
                   .measurement = own_name});
    for (const auto& [resource, totals] : g.after->pressure) {
      const auto before = g.before->pressure.find(resource);
      if (before == g.before->pressure.end()) continue;
      const double some = std::min(1.0, rate(before->second.some_us, totals.some_us, ns) / 1e6);
      if (some < least_pressure) continue;
      out.push_back({.kind = find_fact_kind("pressure"),
                     .slots = {{"resource", std::string(resource)},
                               {"cgroup", *g.name},
                               {"some", some},
                               {"full", std::min(1.0, rate(before->second.full_us, totals.full_us, ns) / 1e6)}},
                     .measurement = own_name});
    }
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_cgroups_instrument(const Subject& subject) { return std::make_unique<CgroupsInstrument>(subject); }

} // namespace why
