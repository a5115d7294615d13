// The measurement `processes`: what processes used during the interval, from a pass over all tasks before and after it (scripts/why_processes.bt); /proc
// is read of those only that are worth mention. A pass takes less than 1 us for a task, a file of /proc more than ten times as long.
#include "why/instruments.h"

#include "base/clock.h"
#include "base/text.h"
#include "session/script_maps.h"
#include "base/text.h"
#include "session/script_maps.h"
#include "why/process_files.h"
#include "why/proc_text.h"
#include "why/sampler.h"
#include "why/script_rows.h"

#include <algorithm>
#include <unistd.h>
#include <unordered_map>

namespace why {

namespace {

constexpr std::string_view own_name = "processes";
constexpr size_t most_facts = 64;
// Thresholds of what is worth mention: a two hundredth of a CPU, a thread that is blocked now and then, growth that no rule ignores.
constexpr double least_cpu = 0.005, least_blocked = 0.05, least_run_delay = 0.005, least_growth = 1e4;
// Tasks are looked at in between as often as takes up to a three hundredth of a CPU, for those that are blocked.
constexpr uint64_t pause_per_pass = 300;

// How many PID namespaces are around this process's.
uint64_t namespace_level() {
  const std::string status = text_of("/proc/self/status");
  for (std::string_view line : base::split(status, '\n'))
    if (line.starts_with("NSpid:")) return std::max<size_t>(words_of(line).size(), 2) - 2;
  return 0;
}

// Threads of this host, as /proc/loadavg has them ("0.1 0.2 0.3 1/345 678").
uint64_t thread_count() {
  const std::string load = text_of("/proc/loadavg");
  const size_t slash = load.find('/');
  return slash == load.npos ? 0 : decimal(std::string_view(load).substr(slash + 1, load.find(' ', slash) - slash - 1)).value_or(0);
}

// What a thread, or the ended threads of a process, used so far.
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
};

struct Process {
  std::string name;
  uint64_t start_ns = 0, threads = 0, rss = 0, anonymous = 0, descriptor_limit = 0; // pages
  Usage used; // by all its threads, also those that have ended
  bool is_kernel = false;
  uint64_t blocked = 0; // threads
  std::vector<std::pair<uint32_t, Usage>> by_thread;
};
using Processes = std::unordered_map<uint32_t, Process>;

// A process that is worth mention, or was asked about.
struct Candidate {
  uint32_t pid = 0;
  const Process* process = nullptr;
  double cpu = 0, user = 0, busiest = 0, run_delay = 0, runnable = 0, blocked = 0, growth = 0;
  Usage before;
};

class ProcessesInstrument final : public Instrument {
public:
  explicit ProcessesInstrument(const Subject& subject) : subject_(subject) {}

  base::Status prepare(const session::Options& run) override;
  void begin() override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  base::Status pass(uint64_t kind);
  base::Result<Processes> read(uint64_t kind);
  void look_for_blocked();
  Candidate compare(uint32_t pid, const Process& after, double ns) const;
  bool is_worth_mention(const Candidate& c) const;
  Fact fact_of(const Candidate& c, double ns);

  Subject subject_;
  std::optional<session::Runner> runner_; // only compiled and loaded: its probe is run here
  uint32_t probe_ = 0;
  base::Status outcome_ = {};
  Processes before_;
  std::unordered_map<uint32_t, uint64_t> blocked_; // between the passes, by process
  uint64_t looks_ = 0, next_look_ns_ = 0;
  Sampler sampler_;
  Languages languages_;
};

base::Status ProcessesInstrument::prepare(const session::Options& run) {
  session::BuiltinScript script("why_processes");
  script.set("PID_LEVEL", namespace_level());
  script.set("TASKS", std::max<uint64_t>(2 * thread_count(), 4096)); // of the host's, some end and others start
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

base::Result<Processes> ProcessesInstrument::read(uint64_t kind) {
  ACU_CHECK(pass(kind));
  Processes out;
  ACU_TRY(const std::vector<ScriptRow> processes, read_rows(*runner_, "processes"));
  ACU_TRY(const std::vector<ScriptRow> threads, read_rows(*runner_, "threads"));
  for (const ScriptRow& r : processes) {
    if (r.number("pass") != kind) continue; // it has ended
    out[static_cast<uint32_t>(r.number("key"))] = {.name = r.text("name"),
                                                   .start_ns = r.number("start"),
                                                   .threads = r.number("threads"),
                                                   .rss = r.number("rss"),
                                                   .anonymous = r.number("anonymous"),
                                                   .descriptor_limit = r.number("descriptor_limit"),
                                                   .used = Usage(r),
                                                   .is_kernel = false,
                                                   .blocked = 0,
                                                   .by_thread = {}};
  }
  for (const ScriptRow& r : threads) {
    const auto process = out.find(static_cast<uint32_t>(r.number("pid")));
    if (r.number("pass") != kind || process == out.end()) continue;
    const Usage used(r);
    process->second.used += used;
    process->second.blocked += r.number("blocked");
    process->second.is_kernel = r.number("is_kernel");
    process->second.by_thread.emplace_back(static_cast<uint32_t>(r.number("key")), used);
  }
  return out;
}

void ProcessesInstrument::begin() {
  base::Result<Processes> before = read(1);
  if (!before.ok()) {
    outcome_ = std::move(before.error());
    return;
  }
  before_ = std::move(*before);
  next_look_ns_ = base::clock_ns();
  sampler_.start(std::chrono::milliseconds(100), [this] { look_for_blocked(); });
}

void ProcessesInstrument::look_for_blocked() {
  if (base::clock_ns() < next_look_ns_ || !outcome_.ok()) return;
  const uint64_t cpu_ns = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  outcome_ = pass(0);
  looks_++;
  next_look_ns_ = base::clock_ns() + (base::clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * pause_per_pass;
}

Candidate ProcessesInstrument::compare(uint32_t pid, const Process& after, double ns) const {
  Candidate out = {.pid = pid, .process = &after};
  const auto found = before_.find(pid);
  static const Process none;
  const Process& before = found != before_.end() && found->second.start_ns == after.start_ns ? found->second : none;
  out.before = before.used;
  const auto ran = static_cast<double>(growth(before.used.ran, after.used.ran));
  const auto user = static_cast<double>(growth(before.used.user, after.used.user)), system = static_cast<double>(growth(before.used.system, after.used.system));
  out.cpu = ran / ns;
  out.user = user + system > 0 ? user / (user + system) : 0;
  std::unordered_map<uint32_t, const Usage*> threads_before;
  for (const auto& [tid, usage] : before.by_thread) threads_before[tid] = &usage;
  double delay = 0, ran_here = 0; // of threads that have not ended
  for (const auto& [tid, usage] : after.by_thread) {
    const auto at = threads_before.find(tid);
    const uint64_t ran_before = at == threads_before.end() ? 0 : at->second->ran, delay_before = at == threads_before.end() ? 0 : at->second->delay;
    const auto own = static_cast<double>(growth(ran_before, usage.ran));
    const auto own_delay = static_cast<double>(growth(delay_before, usage.delay));
    ran_here += own;
    delay += own_delay;
    out.busiest = std::max(out.busiest, std::min(1.0, (own + own_delay) / ns));
  }
  out.run_delay = delay + ran_here > 0 ? delay / (delay + ran_here) : 0;
  out.runnable = (delay + ran) / ns;
  const auto blocked = blocked_.find(pid);
  out.blocked = static_cast<double>((blocked == blocked_.end() ? 0 : blocked->second) + before.blocked + after.blocked) / static_cast<double>(looks_ + 2);
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (&before != &none) out.growth = (static_cast<double>(after.anonymous) - static_cast<double>(before.anonymous)) * page * 1e9 / ns;
  return out;
}

bool ProcessesInstrument::is_worth_mention(const Candidate& c) const {
  if (static_cast<int>(c.pid) == subject_.pid) return true;
  if (c.pid == static_cast<uint32_t>(::getpid())) return false;
  if (c.cpu >= least_cpu) return true;
  if (c.process->is_kernel) return false;
  return c.blocked >= least_blocked || c.growth >= least_growth || c.runnable - c.cpu >= least_run_delay;
}

Fact ProcessesInstrument::fact_of(const Candidate& c, double ns) {
  const int pid = static_cast<int>(c.pid);
  const Process& p = *c.process;
  auto rate = [&](uint64_t Usage::* what) { return static_cast<double>(growth(c.before.*what, p.used.*what)) * 1e9 / ns; };
  const uint64_t now = base::clock_ns(), page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return {.kind = find_fact_kind("process"),
          .slots = {{"pid", int64_t{pid}},
                    {"name", p.name},
                    {"cgroup", cgroup_of_process(pid)},
                    {"language", p.is_kernel ? std::string() : languages_.of_process(pid)},
                    {"cpu", c.cpu},
                    {"user", c.user},
                    {"busiest", c.busiest},
                    {"threads", static_cast<int64_t>(p.threads)},
                    {"runnable", c.runnable},
                    {"run_delay", c.run_delay},
                    {"voluntary", rate(&Usage::voluntary)},
                    {"involuntary", rate(&Usage::involuntary)},
                    {"minor_faults", rate(&Usage::minor)},
                    {"major_faults", rate(&Usage::major)},
                    {"descriptors", p.is_kernel ? int64_t{0} : static_cast<int64_t>(open_descriptors(pid))},
                    {"descriptor_limit", static_cast<int64_t>(std::min<uint64_t>(p.descriptor_limit, INT64_MAX))},
                    {"rss", static_cast<int64_t>(p.rss * page)},
                    {"rss_growth", c.growth},
                    {"blocked", c.blocked},
                    {"uptime", now > p.start_ns ? static_cast<double>(now - p.start_ns) / 1e9 : 0.0}},
          .measurement = own_name};
}

base::Result<std::vector<Fact>> ProcessesInstrument::end(uint64_t interval_ns) {
  sampler_.stop();
  ACU_CHECK(std::move(outcome_));
  ACU_TRY(const std::vector<ScriptRow> blocked, read_rows(*runner_, "blocked"));
  for (const ScriptRow& r : blocked) blocked_[static_cast<uint32_t>(r.number("key"))] = r.count();
  ACU_TRY(const Processes after, read(2));
  const double ns = static_cast<double>(std::max<uint64_t>(interval_ns, 1));
  std::vector<Candidate> candidates;
  for (const auto& [pid, process] : after)
    if (const Candidate c = compare(pid, process, ns); is_worth_mention(c)) candidates.push_back(c);
  // The one asked about first, then by what they use and keep others from.
  auto weight = [&](const Candidate& c) { return static_cast<int>(c.pid) == subject_.pid ? 1e9 : c.runnable + c.blocked; };
  std::ranges::sort(candidates, std::greater(), weight);
  if (candidates.size() > most_facts) candidates.resize(most_facts);
  std::vector<Fact> out;
  for (const Candidate& c : candidates) out.push_back(fact_of(c, ns));
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_processes_instrument(const Subject& subject) { return std::make_unique<ProcessesInstrument>(subject); }

} // namespace why
