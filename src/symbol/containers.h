// Containers by their control groups. What runs containers puts each into a group of its own, whose name has the ID
// (docker, podman, containerd, CRI-O) or the name (LXC, systemd-nspawn). Names that people gave to the former are in files
// of docker, podman, CRI-O and containerd. Every other group has a name, too: that of its systemd unit, or its path.
#pragma once

#include "base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace symbol {

// What runs it: a row of the table of runtimes, or one of these.
inline constexpr std::string_view unit_runtime = "systemd", group_runtime = "cgroup", host_runtime = "host";

struct Container {
  std::string id;      // 64 hexadecimal digits; empty: it has none
  std::string name;    // empty: not known
  std::string folder;  // of its control group
  std::string runtime; // "docker", …; also of units and groups that are no container's
  std::string pod;     // of Kubernetes: "default/web-7d9f"; empty: none, or not known
  bool is_container() const { return runtime != unit_runtime && runtime != group_runtime && runtime != host_runtime; }
  // As it is shown: "web", "default/web-7d9f/nginx", the first 12 digits of an ID without name, "nginx.service", "host".
  std::string title() const;
  // By its name, title, pod, ID or the beginning of that (3 digits or more), or a pattern with * and ? for name or title.
  bool is_called(std::string_view word) const;
};

// Of the mounted hierarchy of version 2, whose ids are those that probes see.
class Containers {
public:
  // `mounts`: as symbol::Cgroups has it. `root`: of the file system that has the files with names.
  explicit Containers(std::string mounts = "/proc/self/mounts", std::string root = {})
      : mounts_(std::move(mounts)), root_(std::move(root)) {}
  std::vector<Container> all();
  // By its name, its id, or the beginning of that; else a unit or group of the name. Failure (usage): there is none, or there
  // are several; it tells which.
  base::Result<Container> find(const std::string& word);
  // All that a word means, which may have wildcards; a unit or group only if no container is called so.
  std::vector<Container> find_all(const std::string& word);
  // One as find() has it, or all of a name, a pattern or a pod. Failure (usage): as find().
  base::Result<std::vector<Container>> require(const std::string& word);
  // Whose a group is; `path`: from the root of the hierarchy ("/system.slice/nginx.service"). Answers are kept.
  const Container& of_group(const std::string& path);
  const Container& of_process(pid_t pid);
  // Where the hierarchy is mounted; empty: nowhere.
  const std::string& mounted_at();

private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    Container container;
    Clock::time_point asked;
  };
  void walk(const std::string& folder, int depth, bool with_others, std::vector<Container>& to);
  void name_it(Container& container) const;
  Container read_path(const std::string& path);

  std::string mounts_, root_;
  std::string mounted_at_;
  bool is_read_ = false;
  std::unordered_map<std::string, Known> known_; // by path
};

// The process that a container was started with: number 1 in a pid namespace of its own, else one with another root than ours, else
// any of these. Nothing: there are none.
std::optional<pid_t> main_process(const std::vector<pid_t>& pids);

// Whether a process, by its root ("/proc/17/root"), sees the files that we see.
bool same_root(const std::string& root);

// Processes of a group and those below it, in the order in which the kernel lists them; `folder`: of the group.
std::vector<pid_t> processes_of_group(const std::string& folder);

} // namespace symbol
