#include "symbol/jit_code.h"

#include "base/process_status.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace symbol {

namespace {

constexpr char maps_folder[] = "/tmp/";
constexpr uint64_t shortest_pause = 100'000'000; // ns

uint64_t now_ns() {
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Without openat2(2), which Linux has since 5.6: folder by folder.
int open_stepwise(int root, std::string_view path) {
  base::Fd folder(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  std::vector<std::string_view> parts = base::split(path, '/');
  std::erase_if(parts, [](std::string_view p) { return p.empty() || p == "."; });
  for (size_t i = 0; i < parts.size() && folder.valid(); i++) {
    if (parts[i] == "..") return -1;
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (i + 1 < parts.size() ? O_DIRECTORY : 0);
    folder = base::Fd(::openat(folder.get(), std::string(parts[i]).c_str(), flags));
  }
  return folder.release();
}

} // namespace

// What lies at a path from the folder `root` on, through no symbolic link. O_PATH opens nothing, so that no pipe waits
// and no device notices; the second opening is of what was looked at.
static base::Fd look_at(int root, const std::string& path) {
  open_how how = {.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
  long result = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  if (result < 0 && errno == ENOSYS) result = open_stepwise(root, path);
  return base::Fd(static_cast<int>(result));
}

base::Fd open_in_root(int root, const std::string& path, const std::vector<uid_t>& users) {
  base::Fd at = look_at(root, path);
  struct stat about = {};
  if (!at.valid() || ::fstat(at.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  if (about.st_uid != 0 && std::find(users.begin(), users.end(), about.st_uid) == users.end()) return {};
  std::string self = "/proc/self/fd/" + std::to_string(at.get());
  return base::Fd(::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool is_jitdump(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

std::unique_ptr<JitCode> JitCode::of(pid_t pid) {
  std::string process = "/proc/" + std::to_string(pid);
  auto status = base::read_file(process + "/status");
  auto code = std::make_unique<JitCode>();
  code->root_ = base::Fd(::open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!status.ok() || !code->root_.valid()) return nullptr;
  code->maps_ = look_at(code->root_.get(), maps_folder);
  for (std::string_view user : base::split(base::status_line(*status, "Uid"), '\t'))
    if (auto id = base::parse_integer(user)) code->users_.push_back(static_cast<uid_t>(*id));
  std::string outer = std::to_string(pid), inner(base::split(base::status_line(*status, "NSpid"), '\t').back());
  if (inner.empty()) inner = outer;
  code->files_.push_back({.path = maps_folder + ("perf-" + inner + ".map")});
  if (inner != outer) code->files_.push_back({.path = maps_folder + ("perf-" + outer + ".map")}); // written from outside
  return code;
}

void JitCode::add_dump(const std::string& path) {
  auto same = [&](const File& f) { return f.path == path; };
  constexpr size_t most = 16;
  if (files_.size() >= most || std::any_of(files_.begin(), files_.end(), same)) return;
  files_.push_back({.path = path, .is_dump = true});
  open_new();
}

// Files that were not there, or that others have taken the place of.
void JitCode::open_new() {
  for (File& f : files_) {
    base::Fd fd = f.is_dump ? open_in_root(root_.get(), f.path, users_)
                            : open_in_root(maps_.get(), f.path.substr(sizeof maps_folder - 1), users_);
    struct stat about = {};
    if (!fd.valid() || ::fstat(fd.get(), &about) != 0 || about.st_ino == f.inode) continue;
    f.inode = about.st_ino;
    if (f.is_dump)
      f.dump = std::make_unique<JitDump>(std::move(fd));
    else
      f.map = std::make_unique<PerfMapFile>(std::move(fd));
  }
}

std::optional<JitCode::Found> JitCode::find(uint64_t address) {
  for (int turn = 0; turn < 2; turn++) {
    for (File& f : files_) {
      auto found = f.map ? f.map->find(address) : f.dump ? f.dump->find(address) : std::nullopt;
      if (found) return Found{found->name, address - found->start, f.path};
    }
    uint64_t now = now_ns();
    if (looked_ && now - looked_ < shortest_pause) break;
    looked_ = now;
    open_new();
  }
  return std::nullopt;
}

JitDump::Line JitCode::line(uint64_t address) {
  for (File& f : files_)
    if (auto found = f.dump ? f.dump->find(address) : std::nullopt) return f.dump->line(*found, address);
  return {};
}

} // namespace symbol
