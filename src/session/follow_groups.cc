#include "session/follow_groups.h"

#include "base/clock.h"
#include "base/text.h"
#include "symbol/cgroups.h"

#include <algorithm>
#include <cstring>

namespace session {

namespace {
constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t name_patience = 10 * second; // for the file with a new container's name
constexpr uint64_t start_patience = 10 * second; // for the program of a new container
constexpr uint64_t try_period = second / 5;
} // namespace

FollowGroups::FollowGroups(const ir::Program& program, ir::Engine& engine, report::SystemNames& names)
    : engine_(engine), names_(names), sets_(ir::group_sets_of(program)),
      shows_containers_(std::ranges::find(program.strings, symbol::container_filter) != program.strings.end()) {}

base::Status FollowGroups::begin() {
  const std::string& folder = containers_.mounted_at();
  if (folder.empty() && !sets_.empty())
    return base::Error{base::Failure::unsupported,
                       "cannot compare control groups: no hierarchy of version 2 is mounted\n"
                       "HINT: `mount -t cgroup2 none /mnt` mounts it; in a container, start it with /sys/fs/cgroup mounted"};
  if (folder.empty()) return {};
  tree_.emplace(folder);
  return take(tree_->take());
}

bool FollowGroups::is_in(const spec::GroupSet& set, const watch::GroupTree::Group& group) {
  switch (set.kind) {
  case spec::GroupSet::container: return containers_.of_group(group.path).is_called(set.text);
  case spec::GroupSet::path: return base::glob_match(set.text, group.path);
  case spec::GroupSet::subtree: return set.text == "/" || group.path == set.text || group.path.starts_with(set.text + "/");
  }
  return false;
}

base::Status FollowGroups::take(const watch::GroupTree::Group& group) {
  const uint64_t one = 1;
  for (const ir::GroupSetMap& s : sets_)
    if (is_in(s.set, group)) ACU_CHECK(engine_.put(s.map, std::as_bytes(std::span(&group.id, 1)), std::as_bytes(std::span(&one, 1))));
  if (shows_containers_) names_.learn_group(group.id, group.path);
  return {};
}

base::Status FollowGroups::take(const std::vector<watch::GroupTree::Group>& groups) {
  const uint64_t now = base::clock_ns();
  for (const watch::GroupTree::Group& g : groups) {
    ACU_CHECK(take(g));
    const symbol::Container& container = containers_.of_group(g.path);
    if (!container.id.empty() && container.name.empty()) waiting_.push_back({g, now + name_patience});
  }
  return {};
}

// Whether probes are in files of the container that the group is of.
bool FollowGroups::has_probes(const watch::GroupTree::Group& group) {
  if (!files_) return false;
  const std::vector<std::string> words = files_->containers();
  return !words.empty() && std::ranges::any_of(words, [&](const std::string& word) { return containers_.of_group(group.path).is_called(word); });
}

base::Result<bool> FollowGroups::look() {
  const uint64_t now = base::clock_ns();
  const std::vector<watch::GroupTree::Group> came = tree_->take();
  ACU_CHECK(take(came));
  if (std::ranges::any_of(came, [&](const auto& group) { return has_probes(group); })) files_until_ = now + start_patience;
  if ((!waiting_.empty() || now < files_until_) && now >= next_try_) {
    next_try_ = now + try_period;
    for (const Waiting& w : waiting_) {
      ACU_CHECK(take(w.group));
      if (has_probes(w.group)) files_until_ = now + start_patience;
    }
    std::erase_if(waiting_, [&](const Waiting& w) { return now > w.until || !containers_.of_group(w.group.path).name.empty(); });
    if (now < files_until_) files_->follow_containers();
  }
  regular_.next_ns = tree_->next_look();
  return true;
}

Regular* FollowGroups::regular(FollowFiles* files) {
  files_ = files;
  if (!tree_) tree_.emplace(containers_.mounted_at());
  regular_.next_ns = tree_->next_look();
  regular_.tick = [this] { return look(); };
  return &regular_;
}

} // namespace session
