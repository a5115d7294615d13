// The measurement `processes`: what processes used during the interval, from a pass over all tasks before and after it (scripts/why_processes.bt); /proc
// is read of those only that are worth mention. A pass takes less than 1 us for a task, a file of /proc more than ten times as long.
#include "why/instruments.h"

#include "base/clock.h"
#include "base/process_status.h"
#include "base/text.h"
#include "base/text.h"
#include "proc/host_counters.h"
#include "proc/process_files.h"
#include "proc/text.h"
#include "session/script_maps.h"
#include "session/script_maps.h"
#include "why/sampler.h"
#include "why/script_rows.h"

#include <algorithm>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

namespace why {

namespace {

constexpr std::string_view own_name = "processes";
constexpr size_t most_facts = 64;
// Thresholds of what is worth mention: a two hundredth of a CPU, a thread that is blocked now and then, growth that no rule ignores.
constexpr double least_cpu = 0.005, least_blocked = 0.05, least_run_delay = 0.005, least_growth = 1e4;
// Tasks are looked at in between as often as takes up to a five hundredth of a CPU, for those that are blocked.
constexpr uint64_t pause_per_look = 500;

// How many PID namespaces are around this process's.
uint64_t namespace_level() {
  const std::string own_pids = base::status_of(::getpid(), "NSpid"); // one for each
  return own_pids.empty() ? 0 : base::split(own_pids, '\t').size() - 1;
}

// What a thread, or the ended threads of a process, used.
struct Usage {
  uint64_t ran = 0, delay = 0, user = 0, system = 0, voluntary = 0, involuntary = 0, minor = 0, major = 0;

  Usage() = default;
  explicit Usage(const ScriptRow& r)
      : ran(r.number("ran")), delay(r.number("delay")), user(r.number("user")), system(r.number("system")), voluntary(r.number("voluntary")),
        involuntary(r.number("involuntary")), minor(r.number("minor")), major(r.number("major")) {}
  Usage& operator+=(const Usage& o) {
    ran += o.ran, delay += o.delay, user += o.user, system += o.system, voluntary += o.voluntary, involuntary += o.involuntary;
    minor += o.minor, major += o.major;
    return *this;
  }
  Usage& operator-=(const Usage& o) {
    ran = proc::growth(o.ran, ran), user = proc::growth(o.user, user), system = proc::growth(o.system, system), voluntary = proc::growth(o.voluntary, voluntary);
    involuntary = proc::growth(o.involuntary, involuntary), minor = proc::growth(o.minor, minor), major = proc::growth(o.major, major);
    return *this;
  }
};

// A process that ran in the interval, was blocked, or was asked about.
struct Process {
  std::string name;
  uint64_t parent = 0, start_ns = 0, threads = 0, rss = 0, anonymous = 0, anonymous_before = 0, descriptor_limit = 0; // pages
  bool is_old = false;    // it was there before the interval
  bool is_kernel = false;
  Usage used;             // in the interval, by all its threads
  uint64_t ran_here = 0;  // by those that have not ended
  uint64_t busiest = 0;   // of one of them: it ran, or waited for a CPU
  uint64_t blocked = 0;   // threads, over all looks

  double cpu(double ns) const { return static_cast<double>(used.ran) / ns; }
  double runnable(double ns) const { return static_cast<double>(used.ran + used.delay) / ns; }
  // Of its anonymous memory, in bytes a second.
  double growth_of_memory(double ns) const {
    const double pages = static_cast<double>(anonymous) - static_cast<double>(anonymous_before);
    return is_old ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) * 1e9 / ns : 0;
  }
};
using Processes = std::unordered_map<uint32_t, Process>;

class ProcessesInstrument final : public Instrument {
public:
  explicit ProcessesInstrument(const Subject& subject) : subject_(subject) {}

  base::Status prepare(const session::Options& run) override;
  void begin() override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  base::Status pass(uint64_t kind);
  void look_for_blocked();
  base::Result<Processes> read();
  base::Status leave_out_before(Processes& processes, const std::vector<ScriptRow>& threads);
  double blocked(const Process& p) const { return static_cast<double>(p.blocked) / static_cast<double>(looks_ + 2); }
  bool is_worth_mention(uint32_t pid, const Process& p) const;
  Fact fact_of(uint32_t pid, const Process& p);

  Subject subject_;
  std::optional<session::Runner> runner_; // only compiled and loaded: its probe is run here
  uint32_t probe_ = 0;
  base::Status outcome_ = {};
  uint64_t looks_ = 0, next_look_ns_ = 0;
  double ns_ = 1; // the interval
  Sampler sampler_;
  proc::Languages languages_;
};

base::Status ProcessesInstrument::prepare(const session::Options& run) {
  session::BuiltinScript script("why_processes");
  script.set("PID_LEVEL", namespace_level());
  script.set("ASKED", static_cast<uint64_t>(std::max({subject_.asked, subject_.pid, 0})));
  script.set("TASKS", std::max<uint64_t>(2 * proc::thread_count(proc::text_of("/proc/loadavg")), 4096)); // of the host's, some end and others start
  runner_.emplace(session::Measurement{.aim = "measure", .script = std::move(script), .filters_itself = true});
  ACU_CHECK(runner_->compile());
  ACU_CHECK(runner_->load(run));
  const auto& probes = runner_->program().probes;
  const auto found = std::ranges::find_if(probes, [](const ir::Probe& p) { return p.context == probe::Context::iterator; });
  if (found == probes.end()) return base::Error{base::Failure::unsupported, "the kernel has no iterator over tasks"};
  probe_ = static_cast<uint32_t>(found - probes.begin());
  return {};
}

// Goes through all tasks once.
base::Status ProcessesInstrument::pass(uint64_t kind) {
  session::Backend& backend = runner_->backend();
  ACU_CHECK(session::set_number(runner_->program(), backend.engine(), "pass", kind));
  ACU_CHECK(backend.attach(probe_, {}));
  for (bool more = true; more;) {
    ACU_TRY(more, backend.step(probe_));
  }
  backend.detach();
  return {};
}

void ProcessesInstrument::begin() {
  outcome_ = pass(1);
  next_look_ns_ = base::clock_ns();
  sampler_.start(std::chrono::milliseconds(100), [this] { look_for_blocked(); });
}

void ProcessesInstrument::look_for_blocked() {
  if (base::clock_ns() < next_look_ns_ || !outcome_.ok()) return;
  const uint64_t cpu_ns = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  outcome_ = pass(0);
  looks_++;
  next_look_ns_ = base::clock_ns() + (base::clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * pause_per_look;
}

base::Result<Processes> ProcessesInstrument::read() {
  Processes out;
  ACU_TRY(const std::vector<ScriptRow> processes, read_rows(*runner_, "processes_since"));
  ACU_TRY(const std::vector<ScriptRow> threads, read_rows(*runner_, "threads_since"));
  ACU_TRY(const std::vector<ScriptRow> blocked, read_rows(*runner_, "blocked"));
  bool has_ended = false; // a thread of a process that goes on
  for (const ScriptRow& r : processes) {
    out[static_cast<uint32_t>(r.number("key"))] = {.name = r.text("name"),
                                                   .parent = r.number("parent"),
                                                   .start_ns = r.number("start"),
                                                   .threads = r.number("threads"),
                                                   .rss = r.number("rss"),
                                                   .anonymous = r.number("anonymous"),
                                                   .anonymous_before = r.number("anonymous_before"),
                                                   .descriptor_limit = r.number("descriptor_limit"),
                                                   .is_old = r.number("is_old") != 0,
                                                   .is_kernel = r.number("is_kernel") != 0,
                                                   .used = Usage(r)};
    has_ended |= r.number("is_old") && r.number("ran");
  }
  if (has_ended) ACU_CHECK(leave_out_before(out, threads));
  for (const ScriptRow& r : threads) {
    const auto process = out.find(static_cast<uint32_t>(r.number("pid")));
    if (process == out.end()) continue;
    const Usage used(r);
    process->second.used += used;
    process->second.ran_here += used.ran;
    process->second.busiest = std::max(process->second.busiest, used.ran + used.delay);
  }
  for (const ScriptRow& r : blocked)
    if (const auto process = out.find(static_cast<uint32_t>(r.number("key"))); process != out.end()) process->second.blocked = r.count();
  return out;
}

// What ended threads used is known as a whole: what they had used before the interval is no part of it.
base::Status ProcessesInstrument::leave_out_before(Processes& processes, const std::vector<ScriptRow>& threads) {
  std::unordered_set<uint32_t> alive;
  for (const ScriptRow& r : threads) alive.insert(static_cast<uint32_t>(r.number("key")));
  ACU_TRY(const std::vector<ScriptRow> before, read_rows(*runner_, "threads"));
  for (const ScriptRow& r : before) {
    const auto process = processes.find(static_cast<uint32_t>(r.number("pid")));
    if (process == processes.end() || !process->second.is_old || !process->second.used.ran) continue; // none has ended
    if (!alive.contains(static_cast<uint32_t>(r.number("key")))) process->second.used -= Usage(r);
  }
  return {};
}

bool ProcessesInstrument::is_worth_mention(uint32_t pid, const Process& p) const {
  if (subject_.is_asked_about(pid)) return true;
  if (pid == static_cast<uint32_t>(::getpid())) return false;
  if (p.cpu(ns_) >= least_cpu) return true;
  if (p.is_kernel) return false;
  return blocked(p) >= least_blocked || p.growth_of_memory(ns_) >= least_growth || p.runnable(ns_) - p.cpu(ns_) >= least_run_delay;
}

Fact ProcessesInstrument::fact_of(uint32_t number, const Process& p) {
  const int pid = static_cast<int>(number);
  auto rate = [&](uint64_t events) { return static_cast<double>(events) * 1e9 / ns_; };
  auto part = [](uint64_t of, uint64_t all) { return all ? static_cast<double>(of) / static_cast<double>(all) : 0.0; };
  const uint64_t now = base::clock_ns(), page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return {.kind = find_fact_kind("process"),
          .slots = {{"pid", int64_t{pid}},
                    {"name", p.name},
                    {"parent", static_cast<int64_t>(p.parent)},
                    {"cgroup", proc::cgroup_of_process(pid)},
                    {"language", p.is_kernel ? std::string() : languages_.of_process(pid)},
                    {"cpu", p.cpu(ns_)},
                    {"user", part(p.used.user, p.used.user + p.used.system)},
                    {"busiest", std::min(1.0, static_cast<double>(p.busiest) / ns_)},
                    {"threads", static_cast<int64_t>(p.threads)},
                    {"runnable", p.runnable(ns_)},
                    {"run_delay", part(p.used.delay, p.used.delay + p.ran_here)},
                    {"voluntary", rate(p.used.voluntary)},
                    {"involuntary", rate(p.used.involuntary)},
                    {"minor_faults", rate(p.used.minor)},
                    {"major_faults", rate(p.used.major)},
                    {"descriptors", p.is_kernel ? int64_t{0} : static_cast<int64_t>(proc::open_descriptors(pid))},
                    {"descriptor_limit", static_cast<int64_t>(std::min<uint64_t>(p.descriptor_limit, INT64_MAX))},
                    {"rss", static_cast<int64_t>(p.rss * page)},
                    {"rss_growth", p.growth_of_memory(ns_)},
                    {"blocked", blocked(p)},
                    {"uptime", now > p.start_ns ? static_cast<double>(now - p.start_ns) / 1e9 : 0.0}},
          .measurement = own_name};
}

base::Result<std::vector<Fact>> ProcessesInstrument::end(uint64_t interval_ns) {
  sampler_.stop();
  ns_ = static_cast<double>(std::max<uint64_t>(interval_ns, 1));
  ACU_CHECK(std::move(outcome_));
  ACU_CHECK(pass(2));
  ACU_TRY(const Processes processes, read());
  std::vector<uint32_t> mentioned;
  for (const auto& [pid, process] : processes)
    if (is_worth_mention(pid, process)) mentioned.push_back(pid);
  // The one asked about first, then by what they use and keep others from.
  auto weight = [&](uint32_t pid) {
    const Process& p = processes.at(pid);
    return subject_.is_asked_about(pid) ? 1e9 : p.runnable(ns_) + blocked(p);
  };
  std::ranges::sort(mentioned, std::greater(), weight);
  if (mentioned.size() > most_facts) mentioned.resize(most_facts);
  std::vector<Fact> out;
  for (uint32_t pid : mentioned) out.push_back(fact_of(pid, processes.at(pid)));
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_processes_instrument(const Subject& subject) { return std::make_unique<ProcessesInstrument>(subject); }

} // namespace why
