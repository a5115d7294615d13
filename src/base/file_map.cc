#include "base/file_map.h"

#include "base/unopened_files.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace base {

// ---- opening

// A handle that reads nothing and opens nothing yet.
static int open_path(const std::string& path, const std::string& root) {
  if (root.empty() || root == "/") return ::open(path.c_str(), O_PATH | O_CLOEXEC);
  Fd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return -1;
  open_how how = {.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_IN_ROOT};
  long fd = ::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how);
  if (fd >= 0 || errno != ENOSYS) return static_cast<int>(fd);
  return ::open((root + "/" + path).c_str(), O_PATH | O_CLOEXEC); // before Linux 5.6
}

struct Unopened {
  std::mutex changing;
  UnopenedFiles files;
};

static Unopened& unopened() {
  static Unopened& all = *new Unopened;
  return all;
}

static Error failed_to_open(const std::string& what, const std::string& path, int error) {
  const bool is_there = error != ENOENT && error != ENOTDIR && error != ELOOP && error != ENAMETOOLONG;
  if (is_there) {
    Unopened& all = unopened();
    std::lock_guard lock(all.changing);
    if (!all.files.count++) all.files.error = error, all.files.first = path;
  }
  return errno_error(what, error);
}

UnopenedFiles unopened_files() {
  Unopened& all = unopened();
  std::lock_guard lock(all.changing);
  return all.files;
}

static const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "of no known kind";
}

Result<FileId> file_id(int fd) {
  struct stat about = {};
  if (::fstat(fd, &about) != 0) return errno_error("cannot be looked at", errno);
  if (!S_ISREG(about.st_mode))
    return Error{Failure::runtime, std::string("it is ") + kind_of(about.st_mode) + ", not a regular file"};
  return FileId{.device = about.st_dev,
                .inode = about.st_ino,
                .size = about.st_size,
                .changed_ns = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
}

Result<Fd> open_regular(const std::string& path, const std::string& root) {
  Fd handle(open_path(path, root));
  if (!handle.valid()) return failed_to_open("cannot open " + path, path, errno);
  auto id = file_id(handle.get());
  if (!id) return std::move(id.error()).with(path);
  std::string self = "/proc/self/fd/" + std::to_string(handle.get());
  Fd fd(::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return failed_to_open("cannot open " + path, path, errno);
  return fd;
}

// ---- ranges, as the handler of the signal sees them

// `version` is odd while the range changes: a handler of another thread passes over it then, for the range
// that is being read there stays as it is.
struct FileMap::Range {
  std::atomic<uint32_t> version = 0;
  std::atomic<uintptr_t> begin = 0, end = 0; // both 0: free
  std::atomic<bool> damaged = false;

  void set(uintptr_t from, uintptr_t to) {
    version.fetch_add(1);
    begin = from;
    end = to;
    damaged = false;
    version.fetch_add(1);
  }
  // The end of the range if it holds the address, else 0.
  uintptr_t end_if_holding(uintptr_t address) const {
    uint32_t before = version.load();
    uintptr_t from = begin.load(), to = end.load();
    if (before % 2 || version.load() != before) return 0;
    return address >= from && address < to ? to : 0;
  }
};

// A list of blocks that only grows, so that the handler may walk it at any time.
struct FileMap::Ranges {
  static constexpr size_t block_size = 128;
  struct Block {
    Range ranges[block_size];
    std::atomic<Block*> next = nullptr;
  };
  Block first;
  std::mutex changing;
  struct sigaction before = {};
  const uintptr_t page_mask = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1;

  // Made when the first file is mapped, and never unmade.
  static Ranges& all() {
    static Ranges& ranges = *new Ranges;
    return ranges;
  }

  Ranges() {
    struct sigaction action = {};
    action.sa_sigaction = [](int signal, siginfo_t* about, void* context) {
      on_bus_error(signal, about, context);
    };
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &before);
  }

  // nullptr: no memory is left.
  Range* add(uintptr_t begin, uintptr_t end) {
    std::lock_guard lock(changing);
    for (Block* block = &first;; block = block->next) {
      for (Range& range : block->ranges) {
        if (range.end.load()) continue;
        range.set(begin, end);
        return &range;
      }
      if (!block->next) block->next = new (std::nothrow) Block;
      if (!block->next) return nullptr;
    }
  }
};

// Runs in the middle of anything: atomics and system calls only.
void FileMap::on_bus_error(int signal, void* info, void* context) {
  auto* about = static_cast<siginfo_t*>(info);
  Ranges& ranges = Ranges::all();
  auto address = reinterpret_cast<uintptr_t>(about->si_addr);
  int saved = errno;
  for (Ranges::Block* block = &ranges.first; block && about->si_code > 0; block = block->next) {
    for (Range& range : block->ranges) {
      uintptr_t end = range.end_if_holding(address);
      if (!end) continue;
      uintptr_t page = address & ~ranges.page_mask;
      // Up to the end: what follows the cut is gone too, and a fault for each page would take long.
      void* zeroes = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
      if (zeroes == MAP_FAILED) break;
      range.damaged = true;
      errno = saved;
      return;
    }
  }
  // None of ours: as if there were no handler.
  errno = saved;
  if (ranges.before.sa_flags & SA_SIGINFO) return ranges.before.sa_sigaction(signal, about, context);
  if (ranges.before.sa_handler != SIG_DFL && ranges.before.sa_handler != SIG_IGN)
    return ranges.before.sa_handler(signal);
  ::signal(SIGBUS, SIG_DFL);
  if (about->si_code <= 0) ::raise(SIGBUS); // sent by somebody: nothing will fault again
}

// ---- the map

Result<FileMap> FileMap::open(const std::string& path, const std::string& root) {
  ACU_TRY(Fd fd, open_regular(path, root));
  auto map = of(fd.get());
  if (!map) return std::move(map.error()).with(path);
  return map;
}

Result<FileMap> FileMap::of(int fd) {
  FileMap map;
  ACU_TRY(map.id_, file_id(fd));
  if (map.id_.size <= 0) return map;
  auto size = static_cast<size_t>(map.id_.size);
  // Into private mappings of programs the kernel writes breakpoints, when somebody traces these.
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return failed_to_open("cannot be mapped", {}, errno);
  map.bytes_ = {static_cast<const std::byte*>(at), size};
  auto begin = reinterpret_cast<uintptr_t>(at);
  Ranges& ranges = Ranges::all();
  map.range_ = ranges.add(begin, (begin + size + ranges.page_mask) & ~ranges.page_mask);
  if (!map.range_) return failed_to_open("cannot be mapped", {}, ENOMEM); // ~FileMap unmaps
  return map;
}

FileMap::FileMap(FileMap&& o) noexcept
    : bytes_(std::exchange(o.bytes_, {})), id_(o.id_), range_(std::exchange(o.range_, nullptr)) {}

FileMap& FileMap::operator=(FileMap&& o) noexcept {
  std::swap(bytes_, o.bytes_);
  std::swap(id_, o.id_);
  std::swap(range_, o.range_);
  return *this;
}

FileMap::~FileMap() {
  if (range_) range_->set(0, 0);
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool FileMap::damaged() const { return range_ && range_->damaged.load(); }

void FileMap::release_pages() const {
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

} // namespace base
