// The store of derived files. A file is a header of 64 bytes and the payload:
//
//   0  "acucache"           8  version of this header (1)      12  version of the kind
//  16  number of the source 24  bytes of payload               32  checksum of the payload
//  40  kind, 16 bytes, zeros after the word                    56  checksum of the file's name and the bytes
//  before
//
// Numbers are little-endian. The name is BUILDID.KINDVERSION.SOURCE; a file that was renamed does not fit its
// header. The checksums guard against accidents (a machine that lost power, a disk that was full), not
// against an owner.
#include "symbol/cache.h"

#include "base/privilege.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace symbol {
namespace {

constexpr size_t header_size = 64;
constexpr size_t kind_size = 16;
constexpr std::string_view magic = "acucache";
constexpr std::string_view aside = ".new-"; // names of files that are being written
constexpr time_t forgotten = 3600;          // seconds until such a file counts as left behind
constexpr time_t used_again = 600;          // seconds: a time of use is not written more often than that

// Sum of a stream of bytes: four chains of 64 bits, so that it runs at the speed of memory.
class Checksum {
public:
  void add(base::ByteSpan bytes) {
    total_ += bytes.size();
    while (!bytes.empty()) {
      if (held_ == 0 && bytes.size() >= block_size) {
        size_t whole = bytes.size() / block_size * block_size;
        for (size_t i = 0; i < whole; i += block_size) mix(bytes.data() + i);
        bytes = bytes.subspan(whole);
        continue;
      }
      size_t part = std::min(block_size - held_, bytes.size());
      std::memcpy(block_.data() + held_, bytes.data(), part);
      bytes = bytes.subspan(part);
      held_ += part;
      if (held_ == block_size) {
        mix(block_.data());
        held_ = 0;
      }
    }
  }
  uint64_t value() {
    std::memset(block_.data() + held_, 0, block_size - held_);
    mix(block_.data());
    uint64_t sum = total_;
    for (uint64_t lane : lanes_) sum = combine(sum, lane);
    return sum;
  }

private:
  static constexpr size_t block_size = 32;

  void mix(const std::byte* from) {
    for (size_t i = 0; i < lanes_.size(); i++) {
      uint64_t word;
      std::memcpy(&word, from + 8 * i, 8);
      uint64_t x = (lanes_[i] ^ word) * 0x9e3779b97f4a7c15u;
      lanes_[i] = x << 29 | x >> 35;
    }
  }

  std::array<uint64_t, 4> lanes_ = {1, 2, 3, 4};
  std::array<std::byte, block_size> block_ = {};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

base::ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

uint64_t checksum(std::span<const base::ByteSpan> parts) {
  Checksum sum;
  for (base::ByteSpan part : parts) sum.add(part);
  return sum.value();
}

// The name of a key's file; empty where the key cannot have one.
std::string file_name(const CacheKey& key) {
  if (key.build_id.empty() || key.build_id.size() > 64 || key.kind.empty() || key.kind.size() > kind_size)
    return "";
  std::string out;
  for (std::byte b : key.build_id) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", std::to_integer<unsigned>(b));
    out += hex;
  }
  char rest[64];
  std::snprintf(rest, sizeof rest, ".%.*s%u.%llx", static_cast<int>(key.kind.size()), key.kind.data(),
                key.version, static_cast<unsigned long long>(key.source));
  return out + rest;
}

using Header = std::array<std::byte, header_size>;

Header make_header(const CacheKey& key, std::string_view name, uint64_t size, uint64_t sum) {
  Header header = {};
  auto put = [&](size_t at, const auto& value) { std::memcpy(header.data() + at, &value, sizeof value); };
  std::memcpy(header.data(), magic.data(), magic.size());
  put(8, uint32_t{1});
  put(12, key.version);
  put(16, key.source);
  put(24, size);
  put(32, sum);
  std::memcpy(header.data() + 40, key.kind.data(), key.kind.size());
  std::array parts = {bytes_of(name), base::ByteSpan(header).first(56)};
  put(56, checksum(parts));
  return header;
}

// Ours to read: a folder (or file) of this user or root that nobody else may write to.
bool trusted(const struct stat& st) {
  return (st.st_uid == ::geteuid() || st.st_uid == 0) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

base::Result<base::Fd> open_folder(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return base::errno_error("cache folder " + path, errno);
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) return base::errno_error("cache folder " + path, errno);
  if (!trusted(st))
    return base::Error{base::Failure::permission, "cache folder " + path +
                                                      " is not used: it must belong to you or root, and "
                                                      "nobody else may write to it (chmod go-w)"};
  return fd;
}

int64_t nanoseconds(const struct timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

// Makes the folder and those above it.
void make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0755);
  ::mkdir(path.c_str(), 0755);
}

bool write_all(int fd, base::ByteSpan bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

// A new file that no other process and no other thread of this one writes to.
std::pair<base::Fd, std::string> open_aside(int folder) {
  static std::atomic<unsigned> counter = 0;
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  for (int attempt = 0; attempt < 8; attempt++) {
    char name[80];
    std::snprintf(name, sizeof name, "%s%d-%u-%lx", aside.data(), ::getpid(), counter++,
                  static_cast<unsigned long>(now.tv_nsec));
    base::Fd fd(::openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (fd.valid() || errno != EEXIST) return {std::move(fd), name};
  }
  return {};
}

bool rename(int folder, const std::string& from, const std::string& to) {
  return ::renameat(folder, from.c_str(), folder, to.c_str()) == 0;
}

// A new file beside those that are kept, and the name that it is to have.
struct Place {
  base::Fd folder, file;
  std::string temporary, name;
};

base::Result<Place> open_place(const std::string& path, const CacheKey& key, uint64_t size, uint64_t limit) {
  Place out;
  out.name = file_name(key);
  if (path.empty()) return base::Error{base::Failure::unsupported, "there is no cache folder"};
  if (out.name.empty()) return base::Error{base::Failure::unsupported, "a file without build-id is not cached"};
  if (size + header_size > limit)
    return base::Error{base::Failure::unsupported, "larger than the cache may become"};
  auto folder = open_folder(path);
  if (!folder.ok() && !base::is_accessible(path.c_str(), F_OK)) {
    make_folders(path);
    folder = open_folder(path);
  }
  if (!folder.ok()) return std::move(folder.error());
  out.folder = std::move(*folder);
  std::tie(out.file, out.temporary) = open_aside(out.folder.get());
  if (!out.file.valid()) return base::errno_error("cannot write to cache folder " + path, errno);
  return out;
}

// Until all are smaller than the limit together.
void remove_oldest(int folder, uint64_t limit) {
  int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> list(copy >= 0 ? ::fdopendir(copy) : nullptr, ::closedir);
  if (!list) return (void)(copy >= 0 && ::close(copy));
  struct File {
    int64_t used; // ns
    std::string name;
    uint64_t size;
    auto operator<=>(const File&) const = default;
  };
  std::vector<File> files;
  uint64_t total = 0;
  time_t now = ::time(nullptr);
  while (const dirent* entry = ::readdir(list.get())) {
    std::string_view name = entry->d_name;
    struct stat st;
    if (::fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) continue;
    if (name.starts_with(aside)) { // another's that is at work, or was killed
      if (now - st.st_mtim.tv_sec > forgotten) ::unlinkat(folder, entry->d_name, 0);
      continue;
    }
    auto size = static_cast<uint64_t>(st.st_size);
    files.push_back({std::max(nanoseconds(st.st_atim), nanoseconds(st.st_mtim)), std::string(name), size});
    total += size;
  }
  if (total <= limit) return;
  std::sort(files.begin(), files.end());
  for (const File& file : files) {
    if (total <= limit / 10 * 9) break; // some room, so that this is not needed again at once
    if (::unlinkat(folder, file.name.c_str(), 0) == 0) total -= file.size;
  }
}

} // namespace

uint64_t combine(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6))) * 0xff51afd7ed558ccdu;
  return (x ^ x >> 32) * 0xc4ceb9fe1a85ec53u;
}

uint64_t combine(uint64_t a, const base::FileId& file) {
  const uint64_t parts[] = {file.device, file.inode, static_cast<uint64_t>(file.size),
                            static_cast<uint64_t>(file.changed_ns)};
  for (uint64_t part : parts) a = combine(a, part);
  return a;
}

uint64_t source_number(int fd) {
  struct stat st;
  if (::fstat(fd, &st) != 0) return 0;
  auto time = static_cast<uint64_t>(nanoseconds(st.st_mtim));
  return std::max<uint64_t>(1, combine(combine(static_cast<uint64_t>(st.st_size), time), st.st_ino));
}

Cache Cache::of_user() {
  if (::getauxval(AT_SECURE)) return Cache(""); // more rights than its caller, who could prepare the files
  if (const char* own = std::getenv("ACU_CACHE")) return Cache(own);
  if (::geteuid() == 0) return Cache("/var/cache/acu");
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches && caches[0] == '/') return Cache(std::string(caches) + "/acu");
  const char* home = std::getenv("HOME");
  return Cache(home && home[0] == '/' ? std::string(home) + "/.cache/acu" : "");
}

Cache::Cache(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

std::optional<CachedFile> Cache::find(const CacheKey& key) const {
  std::string name = file_name(key);
  if (folder_.empty() || name.empty()) return {};
  auto folder = open_folder(folder_);
  if (!folder.ok()) return {};
  base::Fd fd(::openat(folder->get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat st;
  if (!fd.valid() || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode) || !trusted(st)) return {};
  if (static_cast<uint64_t>(st.st_size) < header_size) return {};
  auto map = base::FileMap::of(fd.get());
  if (!map.ok()) return {};
  base::ByteSpan all = map->bytes();
  base::ByteSpan payload = base::slice(all, header_size, all.size() - header_size);
  Header wanted = make_header(key, name, payload.size(), checksum({&payload, 1}));
  if (all.size() < header_size || std::memcmp(all.data(), wanted.data(), header_size) != 0) return {};
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  struct timespec times[2] = {now, {0, UTIME_OMIT}};
  if (now.tv_sec - st.st_atim.tv_sec > used_again || now.tv_sec < st.st_atim.tv_sec)
    (void)::futimens(fd.get(), times); // by hand: most file systems are mounted without times of access
  return CachedFile(std::move(*map), payload);
}

base::Status Cache::store(const CacheKey& key, std::span<const base::ByteSpan> parts) const {
  uint64_t size = 0;
  for (base::ByteSpan part : parts) size += part.size();
  ACU_TRY(Place place, open_place(folder_, key, size, limit_));
  Header header = make_header(key, place.name, size, checksum(parts));
  bool good = write_all(place.file.get(), header);
  for (base::ByteSpan part : parts) good = good && write_all(place.file.get(), part);
  if (!good || !rename(place.folder.get(), place.temporary, place.name)) {
    int code = errno;
    ::unlinkat(place.folder.get(), place.temporary.c_str(), 0);
    return base::errno_error("cannot write to cache folder " + folder_, code);
  }
  remove_oldest(place.folder.get(), limit_);
  return {};
}

base::Result<NewCachedFile> Cache::make(const CacheKey& key, uint64_t size) const {
  ACU_TRY(Place place, open_place(folder_, key, size, limit_));
  NewCachedFile out;
  out.folder_ = std::move(place.folder);
  out.file_ = std::move(place.file);
  out.folder_name_ = folder_;
  out.temporary_ = place.temporary;
  out.name_ = place.name;
  out.key_ = key;
  out.limit_ = limit_;
  const auto all = static_cast<size_t>(size + header_size);
  // With its room on the disk: where that is full, to write to the mapping would end this process.
  if (::fallocate(out.file_.get(), 0, 0, static_cast<off_t>(all)) != 0)
    return base::errno_error("cannot write to cache folder " + folder_, errno);
  void* at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, out.file_.get(), 0);
  if (at == MAP_FAILED) return base::errno_error("cannot write to cache folder " + folder_, errno);
  out.all_ = {static_cast<std::byte*>(at), all};
  out.payload_ = out.all_.subspan(header_size);
  return out;
}

NewCachedFile::NewCachedFile(NewCachedFile&& o) noexcept
    : folder_(std::move(o.folder_)), file_(std::move(o.file_)), folder_name_(std::move(o.folder_name_)),
      temporary_(std::exchange(o.temporary_, {})), name_(std::move(o.name_)), key_(o.key_), limit_(o.limit_),
      all_(std::exchange(o.all_, {})), payload_(std::exchange(o.payload_, {})) {}

NewCachedFile::~NewCachedFile() {
  if (!all_.empty()) ::munmap(all_.data(), all_.size());
  if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

base::Result<CachedFile> NewCachedFile::finish(bool keep) {
  const base::ByteSpan payload = payload_;
  Header header = make_header(key_, name_, payload.size(), checksum({&payload, 1}));
  std::ranges::copy(header, all_.begin());
  ::munmap(all_.data(), all_.size());
  all_ = payload_ = {};
  auto map = base::FileMap::of(file_.get());
  if (!map.ok()) return std::move(map.error()).with("cache folder " + folder_name_);
  base::ByteSpan bytes = map->bytes().subspan(header_size);
  if (keep && rename(folder_.get(), temporary_, name_)) {
    temporary_.clear();
    remove_oldest(folder_.get(), limit_);
  }
  return CachedFile(std::move(*map), bytes);
}

} // namespace symbol
