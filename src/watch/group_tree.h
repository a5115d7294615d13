// The control groups of this host as they come and go (hierarchy of version 2), with their IDs. The kernel tells of new
// folders by inotify; where there are more groups than it can watch, the tree is walked now and then.
#pragma once

#include "base/fd.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace watch {

class GroupTree {
public:
  struct Group {
    std::string path; // from the root of the hierarchy: "/", "/system.slice/nginx.service"
    uint64_t id;      // as `cgroup` has it in scripts
  };
  // `folder`: where the hierarchy is mounted. Nothing is looked at before the first take().
  explicit GroupTree(std::string folder) : folder_(std::move(folder)) {}
  // Groups that were made since the last call; at the first all.
  std::vector<Group> take();
  // When to ask again (CLOCK_MONOTONIC, ns); a call before that finds nothing new to do.
  uint64_t next_look() const { return next_look_; }

private:
  void add(const std::string& path, int depth, std::vector<Group>& to);
  bool has_changed();

  std::string folder_;
  base::Fd notify_;
  bool is_complete_ = true; // every group is watched
  uint64_t next_look_ = 0, next_walk_ = 0;
  std::unordered_map<uint64_t, std::string> groups_; // that were handed out, by ID
};

} // namespace watch
