// One descriptor for everything: nobody can put another file in its place between the look at its owner and the read.
#include "net/private_file.h"

#include "base/fd.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace net {

static std::string shown(size_t bytes) { return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes) + " bytes"; }

base::Result<std::string> read_private(const std::string& what, const std::string& path, size_t max_bytes) {
  const std::string subject = what + ", `" + path + "`, ";
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)); // a pipe does not block
  struct stat about = {};
  if (!file.valid() || ::fstat(file.get(), &about) != 0) return base::errno_error("cannot read " + what + ", `" + path + "`", errno);
  if (!S_ISREG(about.st_mode)) return base::Error{base::Failure::usage, subject + "is not a regular file"};
  if (about.st_uid != 0 && about.st_uid != ::geteuid())
    return base::Error{base::Failure::permission, subject + "belongs to another user (uid " + std::to_string(about.st_uid) + ")\nhint: chown " + std::to_string(::geteuid()) + " " + path};
  if (about.st_mode & 077) return base::Error{base::Failure::permission, subject + "can be read or written by others\nhint: chmod 600 " + path};
  const base::Error too_large = {base::Failure::usage, subject + "is larger than " + shown(max_bytes)};
  if (static_cast<size_t>(about.st_size) > max_bytes) return too_large;
  std::string text(static_cast<size_t>(about.st_size) + 1, '\0'); // one more, to see whether it grows
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_error("cannot read " + what + ", `" + path + "`", errno);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size == text.size()) return base::Error{base::Failure::runtime, subject + "changed while it was read"};
  text.resize(size);
  return text;
}

} // namespace net
