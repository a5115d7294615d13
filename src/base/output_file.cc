#include "base/output_file.h"

#include "base/privilege.h"
#include "base/terminal.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace base {

namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_no_room(int error) { return error == ENOSPC || error == EDQUOT; }

// Removes from the text what is written. 0, or an errno.
int drain(int fd, std::string_view& text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) { // someone set the shared terminal or pipe to non-blocking
      pollfd p = {fd, POLLOUT, 0};
      ::poll(&p, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// What a name stands for.
struct Goal {
  std::string path;
  bool exists = false, is_regular = true; // else a pipe or a device, which is written to as it is
  mode_t mode = 0;
};

Error cannot_write(const std::string& path, int error) { return errno_error("cannot write `" + path + "`", error); }

bool is_link(const std::string& path) {
  struct stat about = {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

// A descriptor of this process, whatever it is open for.
bool is_own_descriptor(std::string_view path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

// Who can make a link in a shared folder would choose what a result replaces.
Error follows_no_link(const std::string& path) {
  return {Failure::usage, "cannot write `" + path + "`: it is a symbolic link, which results do not follow; name the file itself"};
}

Result<Goal> find_goal(const std::string& path) {
  Goal out = {.path = path};
  struct stat about = {};
  out.exists = ::stat(path.c_str(), &about) == 0;
  if (!out.exists && (errno != ENOENT || path.empty())) return cannot_write(path, errno);
  if (path.ends_with('/') || S_ISDIR(about.st_mode)) return cannot_write(path, EISDIR);
  out.is_regular = !is_own_descriptor(path) && (!out.exists || S_ISREG(about.st_mode));
  if (out.is_regular && is_link(path)) return follows_no_link(path);
  out.mode = about.st_mode & 07777;
  return out;
}

// A new file in the folder, whose name may be short where the goal's is as long as names can be.
Fd open_beside(const Goal& goal, std::string& name) {
  name = folder_of(goal.path) + "/.acu.XXXXXX";
  return Fd(::mkostemp(name.data(), O_CLOEXEC));
}

// Writes the new file and gives it the name. 0, or an errno: it is gone, and nothing has changed.
int replace(const Goal& goal, std::string_view bytes) {
  std::string beside;
  Fd file = open_beside(goal, beside);
  if (!file.valid()) return errno;
  int error = write_all(file.get(), bytes);
  if (!error && goal.exists && ::fchmod(file.get(), goal.mode) != 0) error = errno;
  // Some file systems report only here that there was no room.
  if (!error && ::close(file.release()) != 0) error = errno;
  if (!error && ::rename(beside.c_str(), goal.path.c_str()) != 0) error = errno;
  if (error) ::unlink(beside.c_str());
  return error;
}

constexpr std::array<const char*, 5> places = {nullptr, "/var/tmp", "/tmp", "/dev/shm", "/run"}; // nullptr: $TMPDIR

// A file in a place that has some room. Its name ends as the one asked for does: formats are known by endings.
Fd open_in(const char* folder, const std::string& path, std::string& name) {
  constexpr uint64_t least_room = 1 << 20;
  if (!folder) folder = std::getenv("TMPDIR");
  struct statvfs disk = {};
  if (!folder || ::statvfs(folder, &disk) != 0 || uint64_t{disk.f_bavail} * disk.f_frsize < least_room) return Fd();
  const std::string ending = "." + name_of(path);
  name = std::string(folder) + "/acu.XXXXXX" + ending;
  return Fd(::mkostemps(name.data(), static_cast<int>(ending.size()), O_CLOEXEC));
}

Fd open_elsewhere(size_t& next, const std::string& path, std::string& name) {
  while (next < places.size())
    if (Fd file = open_in(places[next++], path, name); file.valid()) return file;
  return Fd();
}

// The name of the file that has all of it now; empty: no place has room.
std::string keep_elsewhere(const std::string& path, std::string_view bytes) {
  std::string name;
  size_t next = 0;
  for (Fd file; (file = open_elsewhere(next, path, name)).valid();) {
    if (write_all(file.get(), bytes) == 0 && ::close(file.release()) == 0) return name;
    ::unlink(name.c_str());
  }
  return {};
}

// False: somebody else has it locked. Where a file system has no locks everybody gets one.
bool lock(const Fd& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

Fd open_to_lock(const std::string& path) { return Fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)); }

bool has_name(const Fd& file, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(file.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// What has the name, unless somebody has it locked: what a process left that was killed, or a link. False: it is locked.
bool remove_left(const std::string& path) {
  const Fd old = open_to_lock(path);
  if (old.valid() && !lock(old)) return false;
  if (!old.valid() || has_name(old, path)) ::unlink(path.c_str());
  return true;
}

// 0, or an errno: EEXIST, if there is such a name.
int rename_to_new(const std::string& from, const std::string& to) {
  constexpr unsigned no_replace = 1; // RENAME_NOREPLACE of linux/fs.h
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), no_replace) == 0) return 0;
  if (errno != EINVAL) return errno;
  // File systems that do not know this, such as NFS.
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  return errno == EEXIST || ::rename(from.c_str(), to.c_str()) != 0 ? errno : 0;
}

struct Owner {
  uint32_t user, group;
};
std::optional<Owner> owner;

} // namespace

void write_results_as(uint32_t user, uint32_t group) { owner = {user, group}; }

AsResultOwner::AsResultOwner() {
  if (!owner) return;
  group_ = ::setfsgid(owner->group);
  user_ = ::setfsuid(owner->user);
}

AsResultOwner::~AsResultOwner() {
  if (user_ < 0) return;
  const int error = errno;
  ::setfsuid(static_cast<uid_t>(user_));
  ::setfsgid(static_cast<gid_t>(group_));
  errno = error;
}

Result<Fd> create_private(const std::string& path) {
  const AsResultOwner as_owner;
  constexpr int most_tries = 10;
  for (int tries = 0;; tries++) {
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_mode));
    const int error = errno;
    // Until it is locked, another process may take it for one that was left behind.
    if (file.valid() && lock(file) && has_name(file, path)) return file;
    if (!file.valid() && (error != EEXIST || tries == most_tries)) return cannot_write(path, error);
    if (!file.valid() && !remove_left(path)) return Error{Failure::runtime, "cannot write `" + path + "`: another process is writing it"};
  }
}

bool is_being_written(const std::string& path) {
  const AsResultOwner as_owner;
  const Fd file = open_to_lock(path);
  return file.valid() && !lock(file);
}

int publish(Fd file, const std::string& path, const std::string& name, Existing existing) {
  const AsResultOwner as_owner;
  const Fd locked(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)); // until it has its name
  // Some file systems report only here that there was no room.
  int error = ::close(file.release()) != 0 ? errno : 0;
  if (!error) error = existing == Existing::keep ? rename_to_new(path, name) : ::rename(path.c_str(), name.c_str()) != 0 ? errno : 0;
  if (error) ::unlink(path.c_str());
  return error;
}

std::string make_elsewhere(size_t& next, const std::string& path) {
  const AsResultOwner as_owner;
  std::string name;
  return open_elsewhere(next, path, name).valid() ? name : std::string();
}

int write_all(int fd, std::string_view text) {
  if (!may_control_terminals(text) || escapes_go_through() || !::isatty(fd)) return drain(fd, text);
  const std::string shown = for_terminal(text);
  std::string_view rest = shown;
  return drain(fd, rest);
}

Status check_output(const std::string& path) {
  const AsResultOwner as_owner;
  ACU_TRY(const Goal goal, find_goal(path));
  if (!goal.is_regular) return is_accessible(goal.path.c_str(), W_OK) ? Status() : cannot_write(path, errno);
  std::string beside;
  const Fd file = open_beside(goal, beside);
  if (!file.valid()) return is_no_room(errno) ? Status() : cannot_write(path, errno);
  ::unlink(beside.c_str());
  return {};
}

Status write_file(const std::string& path, std::string_view bytes) {
  const AsResultOwner as_owner;
  ACU_TRY(const Goal goal, find_goal(path));
  int error = 0;
  if (goal.is_regular) {
    error = replace(goal, bytes);
  } else {
    const Fd file(::open(goal.path.c_str(), O_WRONLY | O_CLOEXEC));
    error = file.valid() ? write_all(file.get(), bytes) : errno;
  }
  if (!error) return {};
  Error failure = cannot_write(path, error);
  if (!goal.is_regular) return failure;
  if (goal.exists) failure.message += "; the file keeps what it had";
  const std::string kept = keep_elsewhere(path, bytes);
  failure.message += kept.empty() ? "; there is no room in other places either: the result is lost" : "\nhint: the result is in " + kept;
  return failure;
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  const AsResultOwner as_owner;
  struct stat about = {};
  const bool is_new = ::stat(path.c_str(), &about) != 0;
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, private_mode));
  if (!file.valid() && errno == ELOOP) {
    if (is_new || (S_ISREG(about.st_mode) && !is_own_descriptor(path))) return follows_no_link(path);
    file = Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)); // /dev/stdout
  }
  if (!file.valid()) return cannot_write(path, errno);
  OutputFile out(path, std::move(file));
  out.is_new_ = is_new;
  out.is_regular_ = ::fstat(out.file_.get(), &about) == 0 && S_ISREG(about.st_mode);
  return out;
}

// The session has failed before it had results.
OutputFile::~OutputFile() {
  const AsResultOwner as_owner;
  if (file_.valid() && is_new_ && !has_begun_) ::unlink(path_.c_str());
}

void OutputFile::begin() {
  if (!std::exchange(has_begun_, true) && is_regular_ && !is_new_ && ::ftruncate(file_.get(), 0) != 0) return;
}

// The file ends with the last whole line of what is written of the text. What it does not have of it.
std::string_view OutputFile::end_with_line(std::string_view text, size_t written) {
  const size_t line = written ? text.rfind('\n', written - 1) : text.npos;
  const size_t kept = line == text.npos ? 0 : line + 1;
  const off_t at = ::lseek(file_.get(), 0, SEEK_CUR);
  const bool is_cut = at >= 0 && ::ftruncate(file_.get(), at - static_cast<off_t>(written - kept)) == 0;
  return text.substr(is_cut ? kept : written);
}

// false: there are no more places.
bool OutputFile::move_on(int error) {
  const AsResultOwner as_owner;
  std::string name;
  Fd next = open_elsewhere(next_place_, path_, name);
  if (!next.valid()) return false;
  file_ = std::move(next);
  problem_ = problem_.empty() ? cannot_write(path_, error).message + "\nhint: the rest of the results is in " + name : problem_ + ", then in " + name;
  return true;
}

void OutputFile::cut() {
  begin();
  if (is_regular_ && ::ftruncate(file_.get(), 0) == 0) ::lseek(file_.get(), 0, SEEK_SET);
}

int OutputFile::write(std::string_view text) {
  begin();
  for (std::string_view rest = text;; text = rest) {
    const int error = drain(file_.get(), rest);
    if (!error || !is_regular_) return error;
    rest = end_with_line(text, text.size() - rest.size());
    if (!move_on(error)) return error;
  }
}

} // namespace base
