#include "proc/host_counters.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <ranges>

namespace proc {

namespace {

constexpr std::string_view resources[] = {"cpu", "memory", "io"};

// The n-th word; 0: it is not there, or no number.
uint64_t number_at(const std::vector<std::string_view>& words, size_t index) {
  return index < words.size() ? decimal(words[index]).value_or(0) : 0;
}

} // namespace

CpuTimes operator-(const CpuTimes& after, const CpuTimes& before) {
  return {.user = growth(before.user, after.user),
          .nice = growth(before.nice, after.nice),
          .system = growth(before.system, after.system),
          .idle = growth(before.idle, after.idle),
          .iowait = growth(before.iowait, after.iowait),
          .irq = growth(before.irq, after.irq),
          .softirq = growth(before.softirq, after.softirq),
          .steal = growth(before.steal, after.steal)};
}

CpuCounters read_cpu_counters(std::string_view stat) {
  CpuCounters out;
  for (std::string_view line : base::split(stat, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "ctxt") out.switches = number_at(words, 1);
    if (words[0] == "processes") out.forks = number_at(words, 1);
    if (!words[0].starts_with("cpu") || words.size() < 5) continue;
    const CpuTimes times = {.user = number_at(words, 1),
                            .nice = number_at(words, 2),
                            .system = number_at(words, 3),
                            .idle = number_at(words, 4),
                            .iowait = number_at(words, 5),
                            .irq = number_at(words, 6),
                            .softirq = number_at(words, 7),
                            .steal = number_at(words, 8)};
    if (words[0] == "cpu")
      out.all = times;
    else if (const std::optional<uint64_t> cpu = decimal(words[0].substr(3)))
      out.by_cpu[static_cast<int>(*cpu)] = times;
  }
  return out;
}

uint64_t thread_count(std::string_view loadavg) {
  const size_t slash = loadavg.find('/');
  return slash == loadavg.npos ? 0 : decimal(loadavg.substr(slash + 1, loadavg.find(' ', slash) - slash - 1)).value_or(0);
}

std::optional<uint64_t> read_run_delay(std::string_view schedstat) {
  std::optional<uint64_t> out;
  for (std::string_view line : base::split(schedstat, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "version" && number_at(words, 1) < 15) return std::nullopt;
    // cpuN, six other numbers, time in tasks, time of tasks in the queue (Documentation/scheduler/sched-stats.rst)
    if (words[0].starts_with("cpu") && words.size() > 8) out = out.value_or(0) + number_at(words, 8);
  }
  return out;
}

bool is_disk_itself(const std::string& name) {
  std::string folder = name;
  std::ranges::replace(folder, '/', '!'); // as sysfs names it
  folder = "/sys/block/" + folder;
  std::error_code ignored;
  const auto is_there = [&](const char* name) { return std::filesystem::exists(folder + name, ignored); };
  const bool is_on_others = is_there("/loop") || (is_there("/slaves") && !std::filesystem::is_empty(folder + "/slaves", ignored));
  return is_there("") && !is_on_others;
}

std::map<std::string, DiskCounters> read_disk_counters(std::string_view diskstats) {
  std::map<std::string, DiskCounters> out;
  for (std::string_view line : base::split(diskstats, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 14) continue;
    out[std::string(words[2])] = {.reads = number_at(words, 3),
                                  .sectors_read = number_at(words, 5),
                                  .read_ms = number_at(words, 6),
                                  .writes = number_at(words, 7),
                                  .sectors_written = number_at(words, 9),
                                  .write_ms = number_at(words, 10),
                                  .busy_ms = number_at(words, 12),
                                  .weighted_ms = number_at(words, 13),
                                  .flushes = number_at(words, 18),
                                  .flush_ms = number_at(words, 19)};
  }
  return out;
}

uint64_t read_receive_drops(std::string_view dev) {
  // "eth0: bytes packets errs drop fifo …", with or without a space behind the colon. What is dropped as the ring was full is in both of the last.
  uint64_t out = 0;
  for (std::string_view line : base::split(dev, '\n')) {
    const size_t colon = line.rfind(':');
    if (colon == line.npos) continue;
    out += number_at(words_of(line.substr(colon + 1)), 3);
  }
  return out;
}

void PeerPorts::add(std::string_view tcp) {
  constexpr std::string_view listens = "0A"; // include/net/tcp_states.h
  for (std::string_view line : base::split(tcp, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4 || words[3] == listens) continue;
    std::string_view local = words[1];
    const size_t colon = local.rfind(':');
    if (colon == local.npos) continue;
    uint64_t port = 0;
    if (const char* end = local.data() + local.size(); std::from_chars(local.data() + colon + 1, end, port, 16).ptr != end) continue;
    if (port < first_ || port > last_) continue;
    ports_[std::string(local.substr(0, colon)) + " " + std::string(words[2])].push_back(static_cast<uint16_t>(port));
  }
}

size_t PeerPorts::largest() const {
  size_t out = 0;
  for (std::vector<uint16_t> ports : std::views::values(ports_)) {
    std::ranges::sort(ports);
    out = std::max(out, static_cast<size_t>(std::ranges::unique(ports).begin() - ports.begin()));
  }
  return out;
}

HostCounters read_host_counters(const std::string& net) {
  HostCounters out;
  out.cpu = read_cpu_counters(text_of("/proc/stat"));
  out.run_delay_ns = read_run_delay(text_of("/proc/schedstat"));
  for (std::string_view resource : resources)
    if (const std::optional<PressureTotals> totals = read_pressure(text_of("/proc/pressure/" + std::string(resource)))) out.pressure[resource] = *totals;
  out.memory = read_named_numbers(text_of("/proc/meminfo"));
  out.vm = read_named_numbers(text_of("/proc/vmstat"));
  out.disks = read_disk_counters(text_of("/proc/diskstats"));
  out.protocols = read_protocol_numbers(text_of(net + "/snmp") + text_of(net + "/netstat"));
  out.receive_drops = read_receive_drops(text_of(net + "/dev"));
  return out;
}

} // namespace proc
