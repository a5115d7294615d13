// Output is passed on as it comes, so that neither a large file nor a slow command needs memory or waits to
// be seen. A command is run by the shell, with its errors going where those of acu go.
//
// Files that would make a reader wait (a pipe nobody writes to, trace_pipe, a terminal) are read as far as they go
// now: while acu waits for one of them it takes no events and no signals.
#include "report/effect.h"

#include "base/fd.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace report {

static base::Status pass_on(int fd, uint64_t limit, const std::string& what, const TakeOutput& take) {
  char buffer[16384];
  while (limit > 0) {
    ssize_t n = ::read(fd, buffer, std::min<uint64_t>(sizeof buffer, limit));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return base::errno_error("cannot read " + what, errno);
    if (n == 0) break;
    take({buffer, static_cast<size_t>(n)});
    limit -= static_cast<uint64_t>(n);
  }
  return {};
}

base::Status read_pieces(const std::string& path, uint64_t limit, const TakeOutput& take) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return base::errno_error("cannot open `" + path + "`", errno);
  return pass_on(fd.get(), limit, "`" + path + "`", take);
}

base::Status run_command(const std::string& command, const TakeOutput& take) {
  FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe) return base::errno_error("cannot run `" + command + "`", errno);
  base::Status status = pass_on(::fileno(pipe), UINT64_MAX, "from `" + command + "`", take);
  ::pclose(pipe);
  return status;
}

base::Status write_trace_marker(std::string_view text) {
  constexpr const char* path = "/sys/kernel/tracing/trace_marker";
  base::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return base::errno_error(std::string("cannot open ") + path, errno);
  if (::write(fd.get(), text.data(), text.size()) < 0) return base::errno_error(std::string("cannot write to ") + path, errno);
  return {};
}

} // namespace report
