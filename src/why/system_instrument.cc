// The measurement `system`: what the kernel counts for the whole host, before and after the interval.
#include "why/instruments.h"

#include "base/clock.h"
#include "base/text.h"
#include "proc/host_counters.h"
#include "why/sampler.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <unistd.h>

namespace why {

namespace {

constexpr std::string_view own_name = "system";

double part(uint64_t of, uint64_t all) { return all ? static_cast<double>(of) / static_cast<double>(all) : 0; }

// Threads of the kernel that reclaim memory in the background, one for each node. They are among the first that start, and bear no number above 4,096
// unless memory was added later.
std::vector<std::string> find_kswapd() {
  std::vector<std::string> out;
  const std::string children = proc::text_of("/proc/2/task/2/children");
  for (std::string_view pid : proc::words_of(children)) {
    const std::string folder = "/proc/" + std::string(pid);
    if (proc::decimal(pid).value_or(0) < 4096 && proc::text_of(folder + "/comm").starts_with("kswapd")) out.push_back(folder + "/schedstat");
  }
  return out;
}

uint64_t run_time_ns(const std::vector<std::string>& files) {
  uint64_t out = 0;
  for (const std::string& file : files)
    if (const std::string text = proc::text_of(file); !text.empty()) out += proc::decimal(text.substr(0, text.find(' '))).value_or(0);
  return out;
}

// Partitions are parts of a disk, and disks that lie on others (LVM, RAID) have their requests there.
bool is_disk_of_its_own(const std::string& name) {
  const std::string folder = "/sys/class/block/" + name;
  std::error_code none;
  return !std::filesystem::exists(folder + "/partition", none) && (!std::filesystem::exists(folder + "/slaves", none) || std::filesystem::is_empty(folder + "/slaves", none));
}

class SystemInstrument final : public Instrument {
public:
  // Of the network it counts what the process that is asked about sees, which may have a namespace of its own.
  explicit SystemInstrument(const Subject& subject) : net_(subject.asked < 0 ? "/proc/net" : "/proc/" + std::to_string(subject.asked) + "/net") {}

  base::Status prepare(const session::Options&) override {
    kswapd_ = find_kswapd();
    return {};
  }
  void begin() override {
    kswapd_before_ns_ = run_time_ns(kswapd_);
    before_ = proc::read_host_counters(net_);
    if (!before_.run_delay_ns) sampler_.start(std::chrono::milliseconds(100), [this] { count_running(); });
  }
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override {
    sampler_.stop();
    after_ = proc::read_host_counters(net_);
    ns_ = static_cast<double>(std::max<uint64_t>(interval_ns, 1));
    std::vector<Fact> out;
    add_cpu(out);
    for (const auto& [resource, totals] : after_.pressure) add_pressure(out, resource, totals);
    add_memory(out);
    for (const auto& [name, counters] : after_.disks) add_disk(out, name, counters);
    add_network(out);
    return out;
  }

private:
  // Of the kernel's count of threads that run or wait for a CPU, this one is not part of the load.
  void count_running() {
    const std::string load = proc::text_of("/proc/loadavg");
    const std::vector<std::string_view> words = proc::words_of(load);
    if (words.size() < 4) return;
    const uint64_t running = proc::decimal(words[3].substr(0, words[3].find('/'))).value_or(0);
    running_ += running > 0 ? running - 1 : 0;
    samples_++;
  }
  double rate(uint64_t before, uint64_t after) const { return static_cast<double>(proc::growth(before, after)) * 1e9 / ns_; }
  double rate_of(const proc::NamedNumbers& before, const proc::NamedNumbers& after, const std::string& name) const { return rate(before.get(name), after.get(name)); }
  double change_of_memory(const std::string& name) const {
    return (static_cast<double>(after_.memory.get(name)) - static_cast<double>(before_.memory.get(name))) * 1e9 / ns_;
  }

  void add_cpu(std::vector<Fact>& out) const;
  void add_pressure(std::vector<Fact>& out, std::string_view resource, const proc::PressureTotals& totals) const;
  void add_memory(std::vector<Fact>& out) const;
  void add_disk(std::vector<Fact>& out, const std::string& name, const proc::DiskCounters& after) const;
  void add_network(std::vector<Fact>& out) const;

  std::string net_;
  std::vector<std::string> kswapd_; // files with their run times
  uint64_t kswapd_before_ns_ = 0;
  proc::HostCounters before_, after_;
  double ns_ = 1;
  Sampler sampler_;
  uint64_t running_ = 0, samples_ = 0;
};

void SystemInstrument::add_cpu(std::vector<Fact>& out) const {
  const proc::CpuTimes all = after_.cpu.all - before_.cpu.all;
  if (!all.total()) return;
  double busiest = 0, least = 1, busiest_softirq = 0;
  int64_t cpus = 0;
  for (const auto& [cpu, after] : after_.cpu.by_cpu) {
    const auto before = before_.cpu.by_cpu.find(cpu);
    if (before == before_.cpu.by_cpu.end()) continue;
    const proc::CpuTimes times = after - before->second;
    const double busy = part(times.busy(), times.total());
    busiest = std::max(busiest, busy);
    least = std::min(least, busy);
    busiest_softirq = std::max(busiest_softirq, part(times.softirq, times.total()));
    cpus++;
  }
  const double busy = part(all.busy(), all.total());
  double waiting = 0;
  if (before_.run_delay_ns && after_.run_delay_ns)
    waiting = rate(*before_.run_delay_ns, *after_.run_delay_ns) / 1e9;
  else if (samples_)
    waiting = std::max(0.0, part(running_, samples_) - busy * static_cast<double>(cpus));
  out.push_back({.kind = find_fact_kind("host-cpu"),
                 .slots = {{"cpus", cpus},
                           {"busy", busy},
                           {"busiest", busiest},
                           {"least", cpus ? least : 0.0},
                           {"system", part(all.system + all.irq + all.softirq, all.total())},
                           {"interrupts", part(all.irq, all.total())},
                           {"softirq", part(all.softirq, all.total())},
                           {"busiest_softirq", busiest_softirq},
                           {"steal", part(all.steal, all.total())},
                           {"iowait", part(all.iowait, all.total())},
                           {"waiting", waiting},
                           {"switches", rate(before_.cpu.switches, after_.cpu.switches)},
                           {"forks", rate(before_.cpu.forks, after_.cpu.forks)}},
                 .measurement = own_name});
}

void SystemInstrument::add_pressure(std::vector<Fact>& out, std::string_view resource, const proc::PressureTotals& totals) const {
  const auto before = before_.pressure.find(resource);
  if (before == before_.pressure.end()) return;
  out.push_back({.kind = find_fact_kind("pressure"),
                 .slots = {{"resource", std::string(resource)},
                           {"cgroup", std::string()},
                           {"some", std::min(1.0, rate(before->second.some_us, totals.some_us) / 1e6)},
                           {"full", std::min(1.0, rate(before->second.full_us, totals.full_us) / 1e6)}},
                 .measurement = own_name});
}

// Before Linux 4.8 the scan counters were kept by zone (pgscan_direct_normal), and before 5.9 refaults were not by kind.
void SystemInstrument::add_memory(std::vector<Fact>& out) const {
  if (!after_.memory.find("MemTotal")) return;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  double scanned = 0;
  for (const auto& [name, number] : after_.vm.all())
    if (name.starts_with("pgscan_direct") && name != "pgscan_direct_throttle") scanned += rate(before_.vm.get(name), number);
  const std::string refaults = after_.vm.find("workingset_refault_file") ? "workingset_refault_file" : "workingset_refault";
  // Shared memory is not a cache: it cannot be dropped.
  const proc::NamedNumbers& memory = after_.memory;
  const uint64_t cached = memory.get("Cached") + memory.get("Buffers"), shared = memory.get("Shmem");
  out.push_back({.kind = find_fact_kind("memory"),
                 .slots = {{"total", static_cast<int64_t>(memory.get("MemTotal"))},
                           {"available", static_cast<int64_t>(memory.find("MemAvailable").value_or(memory.get("MemFree") + cached))},
                           {"swap_in", rate_of(before_.vm, after_.vm, "pswpin") * page},
                           {"swap_out", rate_of(before_.vm, after_.vm, "pswpout") * page},
                           {"direct_reclaim", scanned},
                           {"kswapd", rate(kswapd_before_ns_, run_time_ns(kswapd_)) / 1e9},
                           {"refaults", rate_of(before_.vm, after_.vm, refaults) * page},
                           {"compaction_stalls", rate_of(before_.vm, after_.vm, "compact_stall")},
                           {"cache", static_cast<int64_t>(cached > shared ? cached - shared : 0)},
                           {"cache_growth", change_of_memory("Cached") + change_of_memory("Buffers") - change_of_memory("Shmem")},
                           {"slab", static_cast<int64_t>(memory.get("Slab"))},
                           {"slab_growth", change_of_memory("Slab")},
                           {"dirty", static_cast<int64_t>(memory.get("Dirty"))}},
                 .measurement = own_name});
}

void SystemInstrument::add_disk(std::vector<Fact>& out, const std::string& name, const proc::DiskCounters& after) const {
  const auto found = before_.disks.find(name);
  const proc::DiskCounters before = found == before_.disks.end() ? proc::DiskCounters() : found->second;
  const uint64_t reads = proc::growth(before.reads, after.reads), writes = proc::growth(before.writes, after.writes), flushes = proc::growth(before.flushes, after.flushes);
  if (!(reads + writes + flushes) && after.busy_ms == before.busy_ms) return;
  if (!is_disk_of_its_own(name)) return;
  const double request_ms = static_cast<double>(proc::growth(before.read_ms, after.read_ms) + proc::growth(before.write_ms, after.write_ms));
  const double flush_ms = static_cast<double>(proc::growth(before.flush_ms, after.flush_ms));
  out.push_back({.kind = find_fact_kind("disk"),
                 .slots = {{"device", name},
                           {"utilisation", std::min(1.0, rate(before.busy_ms, after.busy_ms) / 1e3)},
                           {"reads", rate(before.reads, after.reads)},
                           {"writes", rate(before.writes, after.writes)},
                           {"flushes", rate(before.flushes, after.flushes)},
                           {"bytes", 512 * (rate(before.sectors_read, after.sectors_read) + rate(before.sectors_written, after.sectors_written))},
                           {"latency", reads + writes ? request_ms * 1e6 / static_cast<double>(reads + writes) : 0.0},
                           {"flush_latency", flushes ? flush_ms * 1e6 / static_cast<double>(flushes) : 0.0},
                           {"queue", rate(before.weighted_ms, after.weighted_ms) / 1e3}},
                 .measurement = own_name});
}

// Of the ports towards one peer. Listing all sockets takes 1 us for each; with fewer than a tenth of the ports in use they are not what connections lack.
double used_ports(const std::string& net) {
  const std::string range_text = proc::text_of("/proc/sys/net/ipv4/ip_local_port_range"), sockets_text = proc::text_of(net + "/sockstat");
  const std::vector<std::string_view> range = proc::words_of(range_text);
  if (range.size() < 2) return 0;
  const uint64_t first = proc::decimal(range[0]).value_or(0), last = proc::decimal(range[1]).value_or(0);
  uint64_t sockets = 0;
  for (std::string_view line : base::split(sockets_text, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    if (words.empty() || words[0] != "TCP:") continue;
    for (size_t i = 1; i + 1 < words.size(); i += 2)
      if (words[i] == "inuse" || words[i] == "tw") sockets += proc::decimal(words[i + 1]).value_or(0);
  }
  const uint64_t ports = last > first ? last - first + 1 : 0;
  if (!ports || sockets < ports / 10) return 0;
  proc::PeerPorts of_peers(first, last);
  of_peers.add(proc::text_of(net + "/tcp"));
  of_peers.add(proc::text_of(net + "/tcp6"));
  return part(of_peers.largest(), ports);
}

void SystemInstrument::add_network(std::vector<Fact>& out) const {
  const proc::NamedNumbers &before = before_.protocols, &after = after_.protocols;
  if (!after.find("Tcp.OutSegs")) return;
  const double segments = rate_of(before, after, "Tcp.OutSegs");
  double dropped = rate(before_.receive_drops, after_.receive_drops);
  for (const char* name : {"Udp.RcvbufErrors", "TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop"}) dropped += rate_of(before, after, name);
  const uint64_t tracked = proc::number_in("/proc/sys/net/netfilter/nf_conntrack_count");
  const uint64_t most_tracked = proc::number_in("/proc/sys/net/netfilter/nf_conntrack_max");
  out.push_back({.kind = find_fact_kind("network"),
                 .slots = {{"segments", segments},
                           {"retransmits", segments > 0 ? std::min(1.0, rate_of(before, after, "Tcp.RetransSegs") / segments) : 0.0},
                           {"listen_overflows", rate_of(before, after, "TcpExt.ListenOverflows")},
                           {"receive_drops", dropped},
                           {"connect_failures", rate_of(before, after, "Tcp.AttemptFails")},
                           {"conntrack", part(tracked, most_tracked)},
                           {"ports", used_ports(net_)}},
                 .measurement = own_name});
}

} // namespace

std::unique_ptr<Instrument> make_system_instrument(const Subject& subject) { return std::make_unique<SystemInstrument>(subject); }

} // namespace why
