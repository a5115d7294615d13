// Numbers are given under a lock, so that they stay in the order of time and are used once.
#include "fleet/spool.h"

#include "base/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "fleet/batch.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fleet {

namespace {

constexpr std::string_view ending = ".batch", unfinished = ".part"; // the latter: PID.part

base::Error disk_error(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT) return {base::Failure::runtime, "cannot write `" + path + "`: the disk is full"};
  return base::errno_error("cannot write `" + path + "`", error);
}

base::Result<std::string> read_all(int fd, const std::string& path) {
  std::string out;
  char part[65536];
  for (;;) {
    const ssize_t n = ::read(fd, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_error("cannot read `" + path + "`", errno);
    if (n == 0) return out;
    out.append(part, static_cast<size_t>(n));
  }
}

std::string text_of(const SpoolState& s) {
  return base::print("%016" PRIx64 " %020" PRIu64 " %020" PRIu64 " %020" PRIu64 " %020" PRIu64 "\n", s.id, s.last, s.stored, s.dropped, s.dropped_samples);
}

std::optional<SpoolState> state_in(const std::string& text) {
  SpoolState s;
  if (std::sscanf(text.c_str(), "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &s.id, &s.last, &s.stored, &s.dropped, &s.dropped_samples) != 5) return std::nullopt;
  return s;
}

// Writes only: samplers do not read.
class SpoolStore final : public store::Store {
public:
  explicit SpoolStore(Spool spool) : spool_(std::move(spool)) {}
  base::Status write(const store::Slot& slot, const std::vector<store::Point>& points, const store::Batch* batch) override {
    return spool_.put(pack(content_of(slot, points, batch), slot.begin));
  }
  base::Status write(const store::Finding&) override { return refusal(); }
  base::Result<profile::Profile> profile(const store::ProfileQuery&) override { return refusal(); }
  base::Result<store::Series> series(const std::string&, const std::vector<std::string>&, store::Range, uint64_t) override { return refusal(); }
  base::Result<std::vector<store::ServiceUse>> services(store::Range) override { return refusal(); }
  base::Result<std::vector<store::Finding>> findings(store::Range, const std::string&, size_t) override { return refusal(); }
  base::Result<store::Sizes> sizes() override { return refusal(); }
  base::Status keep_within(const store::Limits&, int64_t) override { return refusal(); }
  base::Status compact(const store::Limits&, int64_t) override { return refusal(); }
  base::Result<std::vector<std::string>> check() override { return refusal(); }

private:
  static base::Error refusal() { return {base::Failure::unsupported, "a spool is only written"}; }
  Spool spool_;
};

} // namespace

std::string Spool::path_of(uint64_t number) const { return folder_ + "/" + base::print("%020" PRIu64, number) + std::string(ending); }

// Reads, changes and writes the state; the lock goes with the descriptor.
template<class Change> base::Status Spool::change(Change change) const {
  const std::string path = folder_ + "/state";
  const base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, base::private_mode));
  if (!file.valid()) return disk_error(path, errno);
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return base::errno_error("cannot lock `" + path + "`", errno);
  ACU_TRY(const std::string text, read_all(file.get(), path));
  SpoolState state;
  if (text.empty()) {
    if (::getrandom(&state.id, sizeof state.id, 0) != sizeof state.id) return base::errno_error("no random numbers", errno);
  } else if (const auto found = state_in(text)) {
    state = *found;
  } else {
    return base::Error{base::Failure::runtime, "`" + path + "` is damaged\nhint: move the folder away; a new one is made"};
  }
  const std::string before = text;
  ACU_CHECK(change(state));
  const std::string after = text_of(state);
  if (after == before) return {};
  const ssize_t written = ::pwrite(file.get(), after.data(), after.size(), 0);
  if (written != static_cast<ssize_t>(after.size())) return disk_error(path, written < 0 ? errno : ENOSPC);
  return ::fdatasync(file.get()) == 0 ? base::Status() : disk_error(path, errno); // a number is never given twice
}

base::Result<Spool> Spool::open(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return base::errno_error("cannot make the folder `" + folder + "`", errno);
  Spool out(folder);
  ACU_CHECK(out.change([&](SpoolState& s) {
    for (const SpoolEntry& entry : out.list()) s.last = std::max(s.last, entry.number);
    return base::Status();
  }));
  return out;
}

base::Result<SpoolState> Spool::state() const {
  SpoolState out;
  ACU_CHECK(change([&](const SpoolState& s) { return out = s, base::Status(); }));
  return out;
}

// The bytes are on the disk before they get a number, and the number is used before the file has it: a crash in between leaves a gap, not a second batch.
base::Status Spool::put(std::string_view batch) {
  const std::string made = folder_ + "/" + std::to_string(::getpid()) + std::string(unfinished);
  base::Fd file(::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, base::private_mode));
  if (!file.valid()) return disk_error(made, errno);
  int error = base::write_all(file.get(), batch);
  if (!error && ::fdatasync(file.get()) != 0) error = errno;
  if (error) return ::unlink(made.c_str()), disk_error(made, error);
  uint64_t number = 0;
  if (auto counted = change([&](SpoolState& s) { return number = ++s.last, base::Status(); }); !counted.ok()) return ::unlink(made.c_str()), std::move(counted);
  if (::rename(made.c_str(), path_of(number).c_str()) != 0) return disk_error(path_of(number), errno);
  return {};
}

std::vector<SpoolEntry> Spool::list() const {
  std::vector<SpoolEntry> out;
  DIR* entries = ::opendir(folder_.c_str());
  if (!entries) return out;
  while (const dirent* entry = ::readdir(entries)) {
    std::string_view name = entry->d_name;
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    while (name.size() > 1 && name[0] == '0') name.remove_prefix(1); // no octal number
    const auto number = base::parse_integer(name);
    struct stat about = {};
    if (number && ::stat(path_of(*number).c_str(), &about) == 0) out.push_back({*number, static_cast<uint64_t>(about.st_size)});
  }
  ::closedir(entries);
  std::ranges::sort(out, {}, &SpoolEntry::number);
  return out;
}

base::Result<std::string> Spool::read(uint64_t number) const {
  const std::string path = path_of(number);
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return base::errno_error("cannot read `" + path + "`", errno);
  return read_all(file.get(), path);
}

base::Status Spool::remove_stored(std::span<const SpoolEntry> entries) {
  return change([&](SpoolState& s) {
    for (const SpoolEntry& entry : entries)
      if (::unlink(path_of(entry.number).c_str()) == 0) s.stored++;
    return base::Status();
  });
}

base::Status Spool::drop(const SpoolEntry& entry) {
  uint64_t samples = 0;
  if (const auto bytes = read(entry.number); bytes.ok())
    if (const auto head = read_head(std::as_bytes(std::span(*bytes))); head.ok()) samples = head->samples;
  // Counted before it goes: a crash in between counts a batch that is not lost, and hides none.
  ACU_CHECK(change([&](SpoolState& s) { return s.dropped++, s.dropped_samples += samples, base::Status(); }));
  const std::string path = path_of(entry.number);
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? base::Status() : base::errno_error("cannot delete `" + path + "`", errno);
}

// Those of processes that are gone; the bytes of the others.
uint64_t Spool::remove_unfinished() const {
  uint64_t bytes = 0;
  DIR* entries = ::opendir(folder_.c_str());
  if (!entries) return 0;
  while (const dirent* entry = ::readdir(entries)) {
    std::string_view name = entry->d_name;
    if (!name.ends_with(unfinished)) continue;
    const std::string path = folder_ + "/" + std::string(name);
    name.remove_suffix(unfinished.size());
    const auto pid = base::parse_integer(name);
    if (!pid || *pid == 0 || *pid > INT32_MAX) continue; // not of a sampler
    struct stat about = {};
    if (::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH)
      ::unlink(path.c_str());
    else if (::stat(path.c_str(), &about) == 0)
      bytes += static_cast<uint64_t>(about.st_size);
  }
  ::closedir(entries);
  return bytes;
}

base::Status Spool::keep_within(uint64_t max_bytes) {
  const std::vector<SpoolEntry> entries = list();
  uint64_t bytes = remove_unfinished();
  for (const SpoolEntry& entry : entries) bytes += entry.bytes;
  for (const SpoolEntry& entry : entries) {
    if (bytes <= max_bytes) break;
    ACU_CHECK(drop(entry));
    bytes -= entry.bytes;
  }
  return {};
}

base::Result<std::unique_ptr<store::Store>> open_spool(const std::string& folder) {
  ACU_TRY(Spool spool, Spool::open(folder));
  return std::unique_ptr<store::Store>(new SpoolStore(std::move(spool)));
}

} // namespace fleet
