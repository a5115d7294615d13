// Keeps the sets of control groups that a program asks about (ir/group_sets.h) up to date while it runs, and learns the names
// of groups before they go: which container a group is of is only known here, not in the kernel.
#pragma once

#include "ir/engine.h"
#include "ir/group_sets.h"
#include "report/names.h"
#include "session/life.h"
#include "watch/group_tree.h"

#include <optional>

namespace session {

class FollowGroups {
public:
  // All of these outlive this.
  FollowGroups(const ir::Program& program, ir::Engine& engine, report::SystemNames& names);
  // Whether the program asks about groups, or shows the names of containers.
  bool is_needed() const { return !sets_.empty() || shows_containers_; }
  // The groups that there are: before the first probe runs. Failure: groups are not to be known here.
  base::Status begin();
  // Those that come, until its end; `files`: has probes in files of containers.
  Regular* regular(FollowFiles* files);

private:
  struct Waiting { // its container has no name yet
    watch::GroupTree::Group group;
    uint64_t until;
  };
  base::Status take(const std::vector<watch::GroupTree::Group>& groups);
  base::Status take(const watch::GroupTree::Group& group);
  bool is_in(const spec::GroupSet& set, const watch::GroupTree::Group& group);
  bool has_probes(const watch::GroupTree::Group& group);
  base::Result<bool> look();

  ir::Engine& engine_;
  report::SystemNames& names_;
  std::vector<ir::GroupSetMap> sets_;
  bool shows_containers_ = false;
  symbol::Containers containers_;
  std::optional<watch::GroupTree> tree_;
  std::vector<Waiting> waiting_;
  uint64_t next_try_ = 0;     // of those that wait
  FollowFiles* files_ = nullptr;
  uint64_t files_until_ = 0;  // how long files are looked for in containers that came
  Regular regular_;
};

} // namespace session
