// Containers by their control groups. What runs containers puts each into a group of its own, whose name tells the id
// (docker, podman, containerd, CRI-O) or the name (LXC, systemd-nspawn). Names that people gave to the former stand in files
// of docker, podman and containerd.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace symbol {

struct Container {
  std::string id;     // 64 hexadecimal digits; empty: it has none
  std::string name;   // empty: not known
  std::string folder; // of its control group
};

// Of the mounted hierarchy of version 2, whose ids are those that probes see.
class Containers {
public:
  // `mounts`: as symbol::Cgroups has it. `root`: of the file system that has the files with names.
  explicit Containers(std::string mounts = "/proc/self/mounts", std::string root = {})
      : mounts_(std::move(mounts)), root_(std::move(root)) {}
  std::vector<Container> all();
  // By its name, its id, or the beginning of that. Failure (usage): there is none, or there are several; it tells which.
  base::Result<Container> find(const std::string& word);

private:
  void walk(const std::string& folder, int depth, std::vector<Container>& to);
  void name_them(std::vector<Container>& containers) const;

  std::string mounts_, root_;
};

} // namespace symbol
