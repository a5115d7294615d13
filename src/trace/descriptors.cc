#include "trace/descriptors.h"

#include "base/text.h"
#include "trace/values.h"

#include "trace/structures.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace trace {

static constexpr size_t max_known = 65536;

std::string SeenDescriptors::path(uint32_t pid, int fd) {
  if (auto at = known_.find({pid, fd}); keeps_ && at != known_.end()) return at->second;
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string link = fd == AT_FDCWD ? folder + "/cwd" : folder + "/fd/" + std::to_string(fd);
  char target[4096];
  const ssize_t n = ::readlink(link.c_str(), target, sizeof target);
  if (n <= 0) return {};
  if (!keeps_ || known_.size() >= max_known) return std::string(target, static_cast<size_t>(n));
  return known_[{pid, fd}] = std::string(target, static_cast<size_t>(n));
}

uint64_t SeenDescriptors::socket_inode(uint32_t pid, int fd) {
  const std::string name = path(pid, fd);
  constexpr std::string_view before = "socket:[";
  if (!name.starts_with(before)) return 0;
  return base::parse_integer(std::string_view(name).substr(before.size(), name.size() - before.size() - 1)).value_or(0);
}

// "<char 1:3>" of /dev/null.
std::string SeenDescriptors::device_text(uint32_t pid, const std::string& path) {
  if (auto at = devices_.find(path); at != devices_.end()) return at->second;
  struct stat s = {};
  const std::string from_its_root = "/proc/" + std::to_string(pid) + "/root" + path;
  const bool is_there = ::stat(from_its_root.c_str(), &s) == 0 || ::stat(path.c_str(), &s) == 0; // it may have ended
  std::string text;
  if (is_there && (S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode)))
    text = (S_ISCHR(s.st_mode) ? "<char " : "<block ") + std::to_string(gnu_dev_major(s.st_rdev)) + ":" + std::to_string(gnu_dev_minor(s.st_rdev)) + ">";
  if (devices_.size() < max_known) devices_[path] = text;
  return text;
}

std::string SeenDescriptors::shown(uint32_t pid, int fd) {
  std::string name = path(pid, fd);
  if (!describes_) return name;
  if (name.starts_with("/")) return name + device_text(pid, name);
  const uint64_t inode = socket_inode(pid, fd);
  std::string more = inode ? sockets_.text(inode, pid) : "";
  return more.empty() ? name : more;
}

void SeenDescriptors::take_detail(const Call& detail) {
  if (details_.size() < max_known) details_[detail.tid].push_back(detail);
}

// What a call has changed of a socket; Unix sockets have a path from bind, and those that are accepted have that of their listener.
void SeenDescriptors::learn_socket(const Call& call) {
  if (auto at = details_.find(call.tid); at != details_.end()) {
    for (const Call& detail : at->second) sockets_.learn(detail.duration_ns, detail.arguments);
    details_.erase(at);
  }
  constexpr uint16_t unix_family = 1;
  const std::string_view name = known_name(call.number);
  const auto fd = static_cast<int>(call.arguments[0]);
  const base::ByteSpan address = call.copied[1];
  if (call.failed()) return;
  if (name == "bind" && address.size() > 2 && number_at<uint16_t>(address, 0) == unix_family) {
    const char* text = reinterpret_cast<const char*>(address.data()) + 2;
    const bool is_abstract = !*text;
    std::string path(text + is_abstract, ::strnlen(text + is_abstract, address.size() - 2 - is_abstract));
    if (const uint64_t inode = path.empty() ? 0 : socket_inode(call.pid, fd)) sockets_.set_path(inode, (is_abstract ? "@" : "") + path);
  }
  if (name.starts_with("accept")) {
    const uint64_t listener = socket_inode(call.pid, fd), made = socket_inode(call.pid, static_cast<int>(call.result));
    if (listener && made && !sockets_.path(listener).empty()) sockets_.set_path(made, sockets_.path(listener));
  }
}

static bool is_closed_by_execve(uint32_t pid, int fd) {
  auto info = base::read_file("/proc/" + std::to_string(pid) + "/fdinfo/" + std::to_string(fd));
  for (std::string_view line : base::split(info.ok() ? std::string_view(*info) : "", '\n'))
    if (line.starts_with("flags:")) return std::strtoull(line.data() + 6, nullptr, 8) & O_CLOEXEC;
  return false;
}

void SeenDescriptors::look_at(uint32_t pid, Of when) {
  path(pid, AT_FDCWD);
  DIR* folder = ::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder))
    if (auto fd = base::parse_integer(entry->d_name))
      if (when == Of::now || !is_closed_by_execve(pid, static_cast<int>(*fd))) path(pid, static_cast<int>(*fd));
  ::closedir(folder);
}

void SeenDescriptors::forget(const Call& call) {
  if (describes_) learn_socket(call); // what connect has made of one is not yet so in its own line
  if (call.failed()) return;
  const std::string_view name = known_name(call.number);
  const auto first = static_cast<int>(call.arguments[0]);
  auto erase = [&](int from, int to) {
    known_.erase(known_.lower_bound({call.pid, from}), known_.upper_bound({call.pid, to}));
  };
  constexpr int last_standard = 2;
  if (name == "close") erase(first, first);
  if (name == "close_range") erase(first, static_cast<int>(std::min<uint64_t>(call.arguments[1], INT32_MAX)));
  if (name == "chdir" || name == "fchdir") erase(AT_FDCWD, AT_FDCWD);
  if (name.starts_with("execve")) erase(last_standard + 1, INT32_MAX); // who was to be closed, was
  if (name == "exit_group") erase(INT32_MIN, INT32_MAX);
}

void SeenDescriptors::learn_netlink(const Call& call) {
  constexpr int socket_number = 41, close_number = 3;
  constexpr uint64_t family = 16; // AF_NETLINK
  if (call.failed()) return;
  const std::pair first = {call.pid, static_cast<int>(call.arguments[0])};
  if (call.number == close_number && !netlink_.empty()) netlink_.erase(first);
  if (call.number != socket_number || netlink_.size() >= max_known) return;
  const std::pair made = {call.pid, static_cast<int>(call.result)};
  if (call.arguments[0] == family) netlink_[made] = static_cast<uint32_t>(call.arguments[2]);
  else netlink_.erase(made);
}

std::optional<uint32_t> SeenDescriptors::netlink_protocol(uint32_t pid, int fd) {
  const auto at = netlink_.find({pid, fd});
  return at == netlink_.end() ? std::nullopt : std::optional(at->second);
}

// What there was of this number has been closed. `what`: as src/scripts/trace.bt has it. A name that tells more than these is in /proc.
void SeenDescriptors::name_new(std::pair<uint32_t, int> descriptor, uint64_t what) {
  constexpr uint64_t pipe = 0x1, socket = 0xc; // S_IFIFO, S_IFSOCK
  const std::string inode = ":[" + std::to_string(what & 0xffffffffffff) + "]";
  known_.erase(descriptor);
  if (what >> 60 == pipe) known_[descriptor] = "pipe" + inode;
  if (what >> 60 == socket) known_[descriptor] = "socket" + inode;
}

// Threads have the descriptors of their process.
static bool makes_process(std::string_view name, const Call& call) {
  if (name == "fork" || name == "vfork") return true;
  return (name == "clone" && !(call.arguments[0] & CLONE_THREAD)) || (name == "clone3" && !(number_at<uint64_t>(call.copied[0], 0) & CLONE_THREAD));
}

void SeenDescriptors::learn(const Call& call) {
  if (call.failed()) return;
  if (known_.size() >= max_known) known_.clear(); // /proc has those that are still there
  const std::string_view name = known_name(call.number);
  const auto first = static_cast<int>(call.arguments[0]), result = static_cast<int>(call.result);
  const bool opens = name.starts_with("open"), doubles = name.starts_with("dup") || name == "fcntl";
  const spec::SyscallRow* row = row_of(call.number);
  if (const base::ByteSpan fds = call.copied[name == "socketpair" ? 3 : 0]; (name.starts_with("pipe") || name == "socketpair") && fds.size() >= 8) {
    for (size_t n = 0; n < 2; n++)
      name_new({call.pid, number_at<int32_t>(fds, 4 * n)}, call.arguments[n && name == "socketpair" ? 4 : 5]);
    if (describes_) learn_socket(call);
  } else if (!opens && !doubles && row && row->result == "fd") {
    name_new({call.pid, result}, call.arguments[5]);
    if (describes_) learn_socket(call);
  } else if (opens || doubles) {
    const bool is_same =
        doubles && name == "fcntl" && call.arguments[1] != F_DUPFD && call.arguments[1] != F_DUPFD_CLOEXEC;
    if (is_same) return;
    known_.erase({call.pid, result}); // another file has this number now; if it lives, /proc tells
    const size_t at_path = name == "open" ? 0 : 1;
    const bool has_path = opens && name != "open_by_handle_at" && !call.copied[at_path].empty() && !call.is_cut[at_path];
    if (has_path) {
      const auto& bytes = call.copied[at_path];
      const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
      std::string text(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(end - bytes.begin()));
      if (!text.empty() && !text.starts_with("/")) {
        const std::string folder = path(call.pid, at_path ? first : AT_FDCWD);
        text = folder.starts_with("/") ? (std::filesystem::path(folder) / text).lexically_normal().string() : "";
      }
      if (!text.empty()) known_[{call.pid, result}] = std::move(text);
    }
    if (doubles)
      if (auto at = known_.find({call.pid, first}); at != known_.end())
        known_[{call.pid, result}] = at->second;
  } else if (makes_process(name, call)) {
    std::map<std::pair<uint32_t, int>, std::string> child;
    const auto end = known_.upper_bound({call.pid, INT32_MAX});
    for (auto at = known_.lower_bound({call.pid, INT32_MIN}); at != end; ++at)
      child[{static_cast<uint32_t>(result), at->first.second}] = at->second;
    known_.merge(child);
  }
}

} // namespace trace
