// Two readings of /proc, ten seconds apart: rates of the host and of each service.
#include "monitor/host_sampler.h"

#include "base/clock.h"
#include "monitor/writer.h"
#include "proc/process_stat.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

namespace monitor {

namespace {

using namespace proc::stat_fields;

std::vector<int> numbers_in(const std::string& folder) {
  std::vector<int> out;
  DIR* entries = ::opendir(folder.c_str());
  if (!entries) return out;
  while (const dirent* entry = ::readdir(entries))
    if (const auto number = proc::decimal(entry->d_name)) out.push_back(static_cast<int>(*number));
  ::closedir(entries);
  return out;
}

// For how long its threads waited for a CPU (the second word of schedstat, in ns).
uint64_t run_delay_of(const std::string& folder) {
  uint64_t out = 0;
  for (int tid : numbers_in(folder + "task"))
    if (const std::string text = proc::text_of(folder + "task/" + std::to_string(tid) + "/schedstat"); !text.empty())
      if (const auto words = proc::words_of(text); words.size() > 1) out += proc::decimal(words[1]).value_or(0);
  return out;
}

// Memory that only it has: files whose symbols it reads are mapped, but in the page cache anyway.
uint64_t own_bytes(int pid) { return proc::read_named_numbers(proc::text_of("/proc/" + std::to_string(pid) + "/status")).get("RssAnon"); }

} // namespace

std::optional<ProcessCounters> HostReader::read_process(int pid, const ProcessCounters* before) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  const proc::ProcessStat stat(proc::text_of(folder + "stat"));
  if (!stat.is_valid()) return std::nullopt;
  ProcessCounters out;
  out.start = static_cast<uint64_t>(stat.number(start));
  if (before && before->start != out.start) before = nullptr; // the number was used again
  out.name = stat.name();
  out.parent = static_cast<int>(stat.number(parent));
  out.is_kernel_thread = static_cast<uint64_t>(stat.number(flags)) & proc::kernel_thread_flag;
  out.cpu_ticks = static_cast<uint64_t>(stat.number(user_time) + stat.number(system_time));
  out.faults = static_cast<uint64_t>(stat.number(minor_faults) + stat.number(major_faults));
  out.memory = static_cast<uint64_t>(stat.number(resident_pages)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (out.is_kernel_thread) return out;
  // One that uses no CPU does not wait for one.
  const bool is_active = before && before->cpu_ticks != out.cpu_ticks;
  out.run_delay_ns = is_active ? std::optional(run_delay_of(folder)) : before ? before->run_delay_ns : std::nullopt;
  const proc::NamedNumbers io = proc::read_named_numbers(proc::text_of(folder + "io"));
  out.read = io.get("read_bytes"), out.written = io.get("write_bytes");
  return out;
}

Reading HostReader::read(const Reading* before) {
  Reading out;
  out.time_ns = base::clock_ns();
  out.host = proc::read_host_counters("/proc/net");
  for (int pid : numbers_in("/proc")) {
    const ProcessCounters* old = nullptr;
    if (before)
      if (const auto at = before->processes.find(pid); at != before->processes.end()) old = &at->second;
    if (auto process = read_process(pid, old)) out.processes.emplace(pid, std::move(*process));
  }
  return out;
}

void HostReader::add_services(const Reading& before, const Reading& after, double seconds, std::vector<store::Point>& to) {
  struct Use {
    double cpu = 0, run_queue = 0, memory = 0, read = 0, written = 0, faults = 0, processes = 0;
  };
  constexpr size_t most_services = 1000; // docs/serve.md
  static const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::map<store::Service, Use> uses;
  double own_cpu = 0, own_memory = 0, run_queue = 0;
  for (const auto& [pid, now] : after.processes) {
    const auto at = before.processes.find(pid);
    const bool is_known = at != before.processes.end() && at->second.start == now.start;
    const ProcessCounters none = {}, &old = is_known ? at->second : none; // one that is new began with zeros
    const double cpu = static_cast<double>(proc::growth(old.cpu_ticks, now.cpu_ticks)) / ticks / seconds;
    if (pid == family_ || now.parent == family_) own_cpu += cpu, own_memory += static_cast<double>(own_bytes(pid));
    Use& use = uses[services_.of_process(pid, now.name)];
    use.cpu += cpu;
    use.memory += static_cast<double>(now.memory);
    use.processes += 1;
    use.read += static_cast<double>(proc::growth(old.read, now.read)) / seconds;
    use.written += static_cast<double>(proc::growth(old.written, now.written)) / seconds;
    use.faults += static_cast<double>(proc::growth(old.faults, now.faults)) / seconds;
    const double waited = old.run_delay_ns && now.run_delay_ns ? static_cast<double>(proc::growth(*old.run_delay_ns, *now.run_delay_ns)) / 1e9 / seconds : 0;
    use.run_queue += waited, run_queue += waited;
  }
  std::vector<std::pair<store::Service, Use>> sorted(uses.begin(), uses.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return std::pair(a.second.cpu, a.second.memory) > std::pair(b.second.cpu, b.second.memory); });
  if (sorted.size() > most_services) sorted.resize(most_services);
  for (const auto& [service, use] : sorted)
    for (auto [metric, value] : {std::pair<std::string_view, double>{"cpu", use.cpu}, {"run_queue", use.run_queue}, {"memory", use.memory}, {"read", use.read},
                                 {"written", use.written}, {"faults", use.faults}, {"processes", use.processes}})
      to.push_back({service, std::string(metric), value});
  if (!after.host.run_delay_ns) to.push_back({{}, "run_queue", run_queue}); // of processes that are there; kernels without CONFIG_SCHEDSTATS count no more
  to.push_back({{}, "own_cpu", own_cpu});
  to.push_back({{}, "own_memory", own_memory});
}

std::vector<store::Point> HostReader::points(const Reading& before, const Reading& after) {
  std::vector<store::Point> out;
  const double seconds = std::max(static_cast<double>(after.time_ns - before.time_ns) / 1e9, 0.001);
  auto add = [&](std::string metric, double value) { out.push_back({{}, std::move(metric), value}); };
  const auto share = [](const proc::CpuTimes& times) { return times.total() ? static_cast<double>(times.busy()) / static_cast<double>(times.total()) : 0; };
  add("busy", share(after.host.cpu.all - before.host.cpu.all));
  for (const auto& [cpu, times] : after.host.cpu.by_cpu)
    if (const auto at = before.host.cpu.by_cpu.find(cpu); at != before.host.cpu.by_cpu.end())
      add("cpu" + std::to_string(cpu), share(times - at->second));
  add("memory", static_cast<double>(proc::growth(after.host.memory.get("MemAvailable"), after.host.memory.get("MemTotal"))));
  add("switches", static_cast<double>(proc::growth(before.host.cpu.switches, after.host.cpu.switches)) / seconds);
  if (before.host.run_delay_ns && after.host.run_delay_ns) add("run_queue", static_cast<double>(proc::growth(*before.host.run_delay_ns, *after.host.run_delay_ns)) / 1e9 / seconds);
  for (const auto& [resource, totals] : after.host.pressure) {
    const auto at = before.host.pressure.find(resource);
    if (at == before.host.pressure.end()) continue;
    add("pressure_" + std::string(resource), static_cast<double>(proc::growth(at->second.some_us, totals.some_us)) / 1e6 / seconds);
    add("pressure_full_" + std::string(resource), static_cast<double>(proc::growth(at->second.full_us, totals.full_us)) / 1e6 / seconds);
  }
  double read = 0, written = 0;
  constexpr double sector = 512; // of /proc/diskstats, whatever the disk has
  for (const auto& [disk, counters] : after.host.disks) {
    const auto at = before.host.disks.find(disk);
    if (at == before.host.disks.end() || !proc::is_disk_itself(disk)) continue;
    read += static_cast<double>(proc::growth(at->second.sectors_read, counters.sectors_read)) * sector;
    written += static_cast<double>(proc::growth(at->second.sectors_written, counters.sectors_written)) * sector;
  }
  add("disk_read", read / seconds);
  add("disk_written", written / seconds);
  add_services(before, after, seconds, out);
  return out;
}

base::Status sample_host(const SamplerOptions& options) {
  ACU_TRY(const base::Fd owned, options.own(host_sampler));
  ACU_TRY(std::unique_ptr<store::Store> store, options.open());
  Writer writer(*store);
  HostReader reader(::getppid());
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const uint64_t end = options.duration_ns ? base::clock_ns() + options.duration_ns : UINT64_MAX;
  const uint64_t period = options.flush_ns;
  Reading before = reader.read(nullptr);
  while (base::clock_ns() < end) {
    // Readings are taken where slots begin; the first is short.
    const uint64_t wall = base::clock_ns(CLOCK_REALTIME), left = period - wall % period;
    const timespec wait = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    const int signal = ::sigtimedwait(&signals, nullptr, &wait);
    if (signal < 0 && errno == EINTR) continue;
    Reading after = reader.read(&before);
    ACU_CHECK(writer.write(slot_until(base::clock_ns(CLOCK_REALTIME), host_sampler, after.time_ns - before.time_ns), reader.points(before, after)));
    if (signal > 0) break;
    before = std::move(after);
  }
  return {};
}

} // namespace monitor
