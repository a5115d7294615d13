// A change means a walk over all of it: groups come and go rarely, and whatever happened between two looks is then seen,
// also below a group whose watch came too late.
#include "watch/group_tree.h"

#include "base/clock.h"

#include <dirent.h>
#include <memory>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace watch {

namespace {
constexpr uint64_t look_period = 20'000'000, walk_period = 1'000'000'000; // ns
constexpr int deepest = 32;
} // namespace

void GroupTree::add(const std::string& path, int depth, std::vector<Group>& to) {
  const std::string folder = folder_ + path;
  // The watch first: what is made after that is told, what was made before is seen. One that is there already stays.
  if (notify_.valid() && ::inotify_add_watch(notify_.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) is_complete_ = false;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  struct stat about = {};
  if (!open || ::fstat(::dirfd(open.get()), &about) != 0) return; // it is gone
  const std::string shown = path.empty() ? "/" : path;
  std::string& known = groups_[about.st_ino];
  if (known != shown) {
    known = shown;
    to.push_back({shown, about.st_ino});
  }
  if (!depth) return;
  while (const dirent* entry = ::readdir(open.get()))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') add(path + "/" + entry->d_name, depth - 1, to);
}

bool GroupTree::has_changed() {
  alignas(inotify_event) char events[4096];
  bool out = false;
  while (notify_.valid() && ::read(notify_.get(), events, sizeof events) > 0) out = true;
  return out;
}

std::vector<GroupTree::Group> GroupTree::take() {
  std::vector<Group> out;
  const uint64_t now = base::clock_ns();
  const bool is_first = !next_look_;
  next_look_ = now + look_period;
  if (is_first) notify_ = base::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const bool is_due = (!notify_.valid() || !is_complete_) && now >= next_walk_;
  if (!is_first && !is_due && !has_changed()) return out;
  next_walk_ = now + walk_period;
  is_complete_ = true;
  add("", deepest, out);
  return out;
}

} // namespace watch
