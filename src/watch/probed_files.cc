// By inotify(7): folders tell of new names, files of what is written to them.
#include "watch/probed_files.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/inotify.h>

namespace watch {

namespace {

constexpr uint64_t rest =
    300'000'000; // a file that was made and not closed since is looked at after so many ns

// What the path leads to; empty: nothing.
std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) ? std::string(buffer) : std::string();
}

std::string folder_of(const std::string& path) {
  return path.substr(0, std::max<size_t>(1, path.rfind('/')));
}

} // namespace

base::Status ProbedFiles::add(const std::string& path, const base::FileId& id) {
  if (!notify_.valid()) notify_ = base::Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!notify_.valid()) return base::errno_error("cannot watch files", errno);
  size_t file = files_.size();
  files_.push_back({.path = path, .id = id});
  ACU_CHECK(watch_folder(file, path));
  std::string target = resolved(path);
  if (!target.empty() && target != path) ACU_CHECK(watch_folder(file, target));
  watch_file(files_[file]);
  files_[file].look = 1; // it may have been replaced since it was read
  return {};
}

base::Status ProbedFiles::watch_folder(size_t file, const std::string& path) {
  // One watch for a folder, however often it is asked for.
  int watch =
      ::inotify_add_watch(notify_.get(), folder_of(path).c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  if (watch < 0) return base::errno_error("cannot watch " + folder_of(path), errno);
  places_.push_back({watch, path.substr(path.rfind('/') + 1), file});
  return {};
}

void ProbedFiles::watch_file(File& file) {
  file.watch = ::inotify_add_watch(notify_.get(), file.path.c_str(), IN_MODIFY | IN_CLOSE_WRITE);
}

uint64_t ProbedFiles::next_look() const {
  uint64_t next = 0;
  for (const File& f : files_)
    if (f.look && (!next || f.look < next)) next = f.look;
  return next;
}

void ProbedFiles::happened(int watch, uint32_t what, std::string_view name, std::vector<Change>& changes) {
  uint64_t now = base::clock_ns();
  for (const Place& p : places_) {
    if (p.folder != watch || p.name != name) continue;
    watch_file(files_[p.file]);
    files_[p.file].look = what & IN_MOVED_TO ? now : now + rest;
  }
  for (File& f : files_) {
    if (f.watch != watch || !name.empty()) continue;
    f.look = what & IN_CLOSE_WRITE ? now : now + rest;
    auto current = base::open_regular(f.path);
    auto id =
        current.ok() ? base::file_id(current->get()) : base::Result<base::FileId>(std::move(current.error()));
    bool is_ours = id.ok() && id->device == f.id.device && id->inode == f.id.inode;
    if (!(what & IN_MODIFY) || !is_ours || f.told) continue;
    f.told = true;
    changes.push_back({Change::written, f.path});
  }
}

// Whether another file lies under the name, or the same with other content.
bool ProbedFiles::look_at(File& file) {
  file.look = 0;
  auto fd = base::open_regular(file.path);
  if (!fd.ok()) return false; // it is gone; if another comes, its folder tells
  auto id = base::file_id(fd->get());
  if (!id.ok() || *id == file.id) return false;
  file.id = *id;
  file.told = false;
  watch_file(file);
  return true;
}

std::vector<ProbedFiles::Change> ProbedFiles::take() {
  std::vector<Change> changes;
  alignas(inotify_event) char buffer[16384];
  for (ssize_t size; notify_.valid() && (size = ::read(notify_.get(), buffer, sizeof buffer)) > 0;)
    for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= size;) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const char* name = buffer + at + sizeof event;
      happened(event.wd, event.mask, event.len ? std::string_view(name) : std::string_view(), changes);
      if (event.mask & IN_Q_OVERFLOW)
        for (File& f : files_) f.look = 1;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  uint64_t now = base::clock_ns();
  for (File& f : files_)
    if (f.look && f.look <= now && look_at(f)) changes.push_back({Change::replaced, f.path});
  return changes;
}

} // namespace watch
