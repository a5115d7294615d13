#include "proc/cgroup_counters.h"

#include "base/text.h"

#include <dirent.h>
#include <memory>

namespace proc {

namespace {

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir.get()))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  return out;
}

} // namespace

std::vector<CgroupMount> find_cgroup_mounts(std::string_view mounts) {
  std::vector<CgroupMount> out;
  for (std::string_view line : base::split(mounts, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4) continue;
    CgroupMount mount = {.folder = std::string(words[1]), .is_v2 = words[2] == "cgroup2"};
    if (words[2] == "cgroup")
      for (std::string_view option : base::split(words[3], ',')) {
        mount.has_cpu |= option == "cpu";
        mount.has_cpuacct |= option == "cpuacct";
        mount.has_memory |= option == "memory";
      }
    if (mount.is_v2 || mount.has_cpu || mount.has_cpuacct || mount.has_memory) out.push_back(std::move(mount));
  }
  return out;
}

double read_cpu_max(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2) return 0;
  const std::optional<uint64_t> quota = decimal(words[0]), period = decimal(words[1]);
  return quota && period && *period ? static_cast<double>(*quota) / static_cast<double>(*period) : 0;
}

uint64_t read_memory_limit(std::string_view text) {
  constexpr uint64_t unlimited = uint64_t{1} << 60;
  const uint64_t bytes = decimal(base::trim(text)).value_or(0);
  return bytes < unlimited ? bytes : 0;
}

void CgroupReader::find(size_t most) {
  groups_.clear();
  for (const CgroupMount& mount : mounts_) {
    std::vector<std::string> paths = {"/"};
    for (size_t i = 0; i < paths.size() && paths.size() < most; i++) {
      const std::string below = paths[i] == "/" ? "/" : paths[i] + "/";
      for (const std::string& name : folders_in(mount.folder + below))
        if (paths.size() < most) paths.push_back(below + name);
    }
    for (std::string& path : paths) groups_.push_back({&mount, path, mount.folder + path});
  }
}

void CgroupReader::read_cpu(const Group& group, CgroupCounters& to) const {
  if (group.mount->is_v2) {
    const NamedNumbers stat = read_named_numbers(text_of(group.folder + "/cpu.stat"));
    to.cpu_ns = std::max(to.cpu_ns, stat.get("usage_usec") * 1000);
    if (!stat.find("nr_periods")) return; // the CPU controller is not enabled
    to.periods = stat.get("nr_periods");
    to.throttled_periods = stat.get("nr_throttled");
    to.throttled_ns = stat.get("throttled_usec") * 1000;
  }
  if (group.mount->has_cpuacct) to.cpu_ns = number_in(group.folder + "/cpuacct.usage");
  if (group.mount->has_cpu) {
    const NamedNumbers stat = read_named_numbers(text_of(group.folder + "/cpu.stat"));
    to.periods = stat.get("nr_periods");
    to.throttled_periods = stat.get("nr_throttled");
    to.throttled_ns = stat.get("throttled_time");
  }
}

void CgroupReader::read_rest(const Group& group, CgroupCounters& to) const {
  const std::string& folder = group.folder;
  if (group.mount->has_cpu) to.quota = read_cpu_max(text_of(folder + "/cpu.cfs_quota_us") + " " + text_of(folder + "/cpu.cfs_period_us"));
  if (group.mount->has_memory) {
    to.memory = number_in(folder + "/memory.usage_in_bytes");
    to.memory_limit = read_memory_limit(text_of(folder + "/memory.limit_in_bytes"));
    to.max_events = number_in(folder + "/memory.failcnt");
    to.oom_kills = read_named_numbers(text_of(folder + "/memory.oom_control")).get("oom_kill");
  }
  if (!group.mount->is_v2 || group.path == "/") return; // the root's are the host's
  if (const std::string max = text_of(folder + "/cpu.max"); !max.empty()) to.quota = read_cpu_max(max);
  if (const std::string current = text_of(folder + "/memory.current"); !current.empty()) {
    const NamedNumbers events = read_named_numbers(text_of(folder + "/memory.events"));
    to.memory = decimal(base::trim(current)).value_or(0);
    to.memory_limit = read_memory_limit(text_of(folder + "/memory.max"));
    to.high_events = events.get("high");
    to.max_events = events.get("max");
    to.oom_kills = events.get("oom_kill");
  }
  for (std::string_view resource : {"cpu", "memory", "io"})
    if (const auto totals = read_pressure(text_of(folder + "/" + std::string(resource) + ".pressure"))) to.pressure[resource] = *totals;
}

std::map<std::string, CgroupCounters> CgroupReader::read() const {
  std::map<std::string, CgroupCounters> out;
  for (const Group& group : groups_) {
    CgroupCounters& counters = out[group.path];
    read_cpu(group, counters);
    read_rest(group, counters);
  }
  return out;
}

std::map<std::string, CgroupCounters> CgroupReader::read_again(const std::map<std::string, CgroupCounters>& before) const {
  std::map<std::string, CgroupCounters> out;
  for (const Group& group : groups_) read_cpu(group, out[group.path]);
  for (auto& [path, counters] : out) {
    const auto old = before.find(path);
    if (old != before.end() && old->second.cpu_ns == counters.cpu_ns && old->second.throttled_ns == counters.throttled_ns) counters = old->second;
  }
  for (const Group& group : groups_) {
    const auto old = before.find(group.path);
    CgroupCounters& counters = out[group.path];
    if (old == before.end() || old->second.cpu_ns != counters.cpu_ns || old->second.throttled_ns != counters.throttled_ns) read_rest(group, counters);
  }
  return out;
}

} // namespace proc
