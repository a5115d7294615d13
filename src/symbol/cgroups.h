// Control groups by their ids. The id of a group is the inode number of its folder, in version 2 and version 1 alike;
// each hierarchy is walked when a script first asks for an id that is not known yet, because most never ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace symbol {

struct CgroupPath {
  std::string_view hierarchy; // "unified" for version 2, else the name of the folder it is mounted at: "memory"
  std::string_view path;      // from the hierarchy's root: "/", "/user.slice"
};

// In place of a filter, where groups are shown: the name of the container that the group is of.
inline constexpr std::string_view container_filter = "/container"; // no hierarchy has such a name

class Cgroups {
public:
  // The mounted hierarchies as /proc/self/mounts lists them; another text in tests.
  explicit Cgroups(std::string mounts = "/proc/self/mounts") : mounts_(std::move(mounts)) {}
  // The group of this process in version 2; 0 where that is not mounted.
  uint64_t own();
  // A group of version 2 that is there now.
  void add(uint64_t id, std::string path);
  // Paths of the group in all hierarchies whose name matches the filter (fnmatch(3)), that of version 2 first. They are
  // valid until the next call. A group that was removed keeps the path it had when it was seen.
  std::vector<CgroupPath> find(uint64_t id, const std::string& filter);

private:
  struct Hierarchy {
    std::string name, folder;
    std::unordered_map<uint64_t, std::string> paths;
    std::chrono::steady_clock::time_point walked{}; // zero: never
  };
  void read_mounts();
  static void walk_folder(Hierarchy& hierarchy, const std::string& folder);

  std::string mounts_;
  bool is_read_ = false;
  std::vector<Hierarchy> hierarchies_;
};

} // namespace symbol
