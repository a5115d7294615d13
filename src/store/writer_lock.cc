// flock(2): released as the last descriptor of the open file is closed; none is inherited by programs (O_CLOEXEC).
#include "store/writer_lock.h"

#include "base/clock.h"
#include "base/text.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace store {

namespace {

// Empty: its number is not in the file.
std::string holder(const std::string& path) {
  const auto text = base::read_file(path);
  const auto pid = text.ok() ? base::parse_integer(base::trim(*text)) : std::nullopt;
  if (!pid) return {};
  const auto name = base::read_file("/proc/" + std::to_string(*pid) + "/comm");
  return "process " + std::to_string(*pid) + (name.ok() ? " (" + base::printable(base::trim(*name)) + ")" : "");
}

} // namespace

base::Result<base::Fd> lock_writer(const std::string& path, std::string_view subject, std::string_view option, uint64_t patience_ns) {
  base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return base::errno_error("cannot write `" + path + "`", errno);
  const uint64_t end_ns = base::clock_ns() + patience_ns;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return base::errno_error("cannot lock `" + path + "`", errno);
    if (base::clock_ns() >= end_ns) {
      const std::string who = holder(path);
      return base::Error{base::Failure::runtime, std::string(subject) + (who.empty() ? "" : ": " + who) + "\nhint: end it, or name another one with " + std::string(option)};
    }
    const timespec moment = {0, 20'000'000};
    ::nanosleep(&moment, nullptr);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file.get(), 0) == 0) (void)!::pwrite(file.get(), pid.data(), pid.size(), 0); // only for messages: a full disk does not matter
  return file;
}

base::Result<base::Fd> lock_source(const std::string& store, std::string_view source) {
  constexpr uint64_t patience_ns = 5'000'000'000; // whose server was killed writes what it has, and ends
  return lock_writer(store + "." + std::string(source) + ".lock", "another sampler records `" + std::string(source) + "` into the store `" + store + "`", "--store FILE", patience_ns);
}

base::Result<base::Fd> lock_import(const std::string& store, uint64_t patience_ns) {
  return lock_writer(store + ".import.lock", "another import writes to the store `" + store + "`", "acu store FILE import", patience_ns);
}

} // namespace store
