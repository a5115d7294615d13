// What control groups count: version 2, and of version 1 the hierarchies of cpu, cpuacct and memory (Documentation/admin-guide/cgroup-v2.rst and -v1/).
// Groups have their path below the root of their hierarchy; what several hierarchies say of one path belongs together.
#pragma once

#include "proc/text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proc {

struct CgroupMount {
  std::string folder;
  bool is_v2 = false, has_cpu = false, has_cpuacct = false, has_memory = false;
};
// Of /proc/mounts. Without hierarchies that count none of this.
std::vector<CgroupMount> find_cgroup_mounts(std::string_view mounts);

struct CgroupCounters {
  uint64_t cpu_ns = 0;
  double quota = 0;                                            // CPUs; 0: no limit
  uint64_t periods = 0, throttled_periods = 0, throttled_ns = 0; // the time is added up over CPUs
  uint64_t memory = 0, memory_limit = 0;                       // bytes; limit 0: none
  uint64_t high_events = 0, max_events = 0, oom_kills = 0;
  std::map<std::string_view, PressureTotals> pressure; // by resource
};
// CPUs of cpu.max, "20000 100000" or "max 100000"; 0: no limit.
double read_cpu_max(std::string_view text);
// Bytes; 0: "max", or the number that version 1 has for it, which is near the largest one.
uint64_t read_memory_limit(std::string_view text);

class CgroupReader {
public:
  explicit CgroupReader(std::vector<CgroupMount> mounts) : mounts_(std::move(mounts)) {}
  // Finds the groups, at most `most` for each hierarchy, parents first.
  void find(size_t most);
  std::map<std::string, CgroupCounters> read() const;
  // The same for a second reading: of groups that used no CPU since, CPU counters alone, and the rest as it was.
  std::map<std::string, CgroupCounters> read_again(const std::map<std::string, CgroupCounters>& before) const;

private:
  struct Group {
    const CgroupMount* mount;
    std::string path, folder;
  };
  void read_cpu(const Group& group, CgroupCounters& to) const;
  void read_rest(const Group& group, CgroupCounters& to) const;

  std::vector<CgroupMount> mounts_;
  std::vector<Group> groups_;
};

} // namespace proc
