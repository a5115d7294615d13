// What the kernel counts for the whole host, at one time: CPU time, memory, disks, network, pressure. Two readings make the facts of `system`.
#pragma once

#include "proc/text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proc {

// A line of /proc/stat, in clock ticks (proc(5)).
struct CpuTimes {
  uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;

  uint64_t busy() const { return user + nice + system + irq + softirq; }
  uint64_t total() const { return busy() + idle + iowait + steal; }
};
CpuTimes operator-(const CpuTimes& after, const CpuTimes& before);

struct CpuCounters {
  CpuTimes all;
  std::map<int, CpuTimes> by_cpu; // without those that are offline
  uint64_t switches = 0, forks = 0;
};
CpuCounters read_cpu_counters(std::string_view stat);
// For how long tasks waited for a CPU, of all CPUs in ns: /proc/schedstat, from version 15 on. Nothing: it has no such lines.
std::optional<uint64_t> read_run_delay(std::string_view schedstat);

// Threads of this host: /proc/loadavg ("0.1 0.2 0.3 1/345 678").
uint64_t thread_count(std::string_view loadavg);

// A line of /proc/diskstats (Documentation/admin-guide/iostats.rst).
struct DiskCounters {
  uint64_t reads = 0, sectors_read = 0, read_ms = 0, writes = 0, sectors_written = 0, write_ms = 0;
  uint64_t busy_ms = 0, weighted_ms = 0; // with a request in it; the same times the number of requests
  uint64_t flushes = 0, flush_ms = 0;    // from Linux 5.5 on
};
std::map<std::string, DiskCounters> read_disk_counters(std::string_view diskstats);
// Of those names: whether it is a disk by itself, no partition and not on others (loop, device mapper, RAID), whose bytes are counted there, too.
bool is_disk_itself(const std::string& name);

// Packets that network devices dropped on receiving: /proc/net/dev.
uint64_t read_receive_drops(std::string_view dev);
// The largest number of different local ports, of those from `first` to `last`, that lead to the same peer: /proc/net/tcp or tcp6, which are added.
class PeerPorts {
public:
  PeerPorts(uint64_t first, uint64_t last) : first_(first), last_(last) {}
  void add(std::string_view tcp);
  size_t largest() const;

private:
  uint64_t first_, last_;
  std::map<std::string, std::vector<uint16_t>> ports_; // by local address and peer
};

struct HostCounters {
  CpuCounters cpu;
  std::optional<uint64_t> run_delay_ns;
  std::map<std::string_view, PressureTotals> pressure; // by resource
  NamedNumbers memory, vm;                             // meminfo in bytes, vmstat
  std::map<std::string, DiskCounters> disks;
  NamedNumbers protocols; // snmp and netstat
  uint64_t receive_drops = 0;
};
// `net`: the folder with the counters of a network namespace, "/proc/net" or "/proc/PID/net".
HostCounters read_host_counters(const std::string& net);

} // namespace proc
