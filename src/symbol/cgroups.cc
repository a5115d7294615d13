// A hierarchy is walked again for an unknown id, because groups come and go, but not more often than once in
// `walk_again`: a busy script may ask for groups that are gone in every event.
#include "symbol/cgroups.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <fnmatch.h>
#include <memory>
#include <mntent.h>
#include <sys/stat.h>

namespace symbol {

using Clock = std::chrono::steady_clock;

static constexpr auto walk_again = std::chrono::milliseconds(100);

void Cgroups::read_mounts() {
  is_read_ = true;
  std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(mounts_.c_str(), "re"), ::endmntent);
  if (!file) return;
  mntent entry = {};
  char buffer[4096];
  while (::getmntent_r(file.get(), &entry, buffer, sizeof buffer)) {
    std::string_view kind = entry.mnt_type;
    bool is_unified = kind == "cgroup2";
    if (!is_unified && kind != "cgroup") continue;
    std::string folder = entry.mnt_dir;
    std::string name = is_unified ? "unified" : folder.substr(folder.rfind('/') + 1);
    // The same one may be mounted at several places.
    bool is_known = std::any_of(hierarchies_.begin(), hierarchies_.end(), [&](auto& h) { return h.name == name; });
    if (!is_known) hierarchies_.insert(is_unified ? hierarchies_.begin() : hierarchies_.end(), {name, folder, {}, {}});
  }
}

// Folders may vanish under the walk: what can be seen is enough.
void Cgroups::walk_folder(Hierarchy& h, const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return;
  struct stat st = {};
  if (::fstat(::dirfd(open.get()), &st) == 0) {
    std::string path = folder.substr(h.folder.size());
    h.paths[st.st_ino] = path.empty() ? "/" : path;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") walk_folder(h, folder + "/" + entry->d_name);
  }
}

uint64_t Cgroups::own() {
  if (!is_read_) read_mounts();
  if (hierarchies_.empty() || hierarchies_.front().name != "unified") return 0;
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/cgroup", "re"), std::fclose);
  char line[4096];
  while (file && std::fgets(line, sizeof line, file.get())) {
    std::string_view text = line;
    if (!text.starts_with("0::")) continue; // the others are of version 1
    std::string folder = hierarchies_.front().folder + std::string(text.substr(3, text.find('\n') - 3));
    struct stat st = {};
    return ::stat(folder.c_str(), &st) == 0 ? st.st_ino : 0;
  }
  return 0;
}

void Cgroups::add(uint64_t id, std::string path) {
  if (!is_read_) read_mounts();
  if (!hierarchies_.empty() && hierarchies_.front().name == "unified") hierarchies_.front().paths[id] = std::move(path);
}

std::vector<CgroupPath> Cgroups::find(uint64_t id, const std::string& filter) {
  if (!is_read_) read_mounts();
  std::vector<CgroupPath> found;
  for (Hierarchy& h : hierarchies_) {
    if (::fnmatch(filter.c_str(), h.name.c_str(), 0) != 0) continue;
    auto path = h.paths.find(id);
    if (path == h.paths.end() && (h.walked == Clock::time_point{} || Clock::now() - h.walked > walk_again)) {
      h.walked = Clock::now();
      walk_folder(h, h.folder);
      path = h.paths.find(id);
    }
    if (path != h.paths.end()) found.push_back({h.name, path->second});
  }
  return found;
}

} // namespace symbol
