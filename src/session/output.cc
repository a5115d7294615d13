#include "session/output.h"

#include "session/color.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>

namespace session {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
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

base::Result<std::unique_ptr<Output>> Output::open(const Options& options) {
  if (options.output_file.empty())
    return std::make_unique<Output>(STDOUT_FILENO, options.buffering, ::isatty(STDOUT_FILENO) == 1);
  base::Fd file(::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return base::errno_error("cannot write to `" + options.output_file + "`", errno);
  auto out = std::make_unique<Output>(file.get(), options.buffering, false);
  out->owned_ = std::move(file);
  return out;
}

Output::~Output() {
  release();
  flush();
}

void Output::out(std::string_view text) {
  if (broken_ || failure_) return;
  if (holding_) {
    held_ += text;
    return;
  }
  buffer_ += text;
  bool now = buffering_ == Buffering::none || buffer_.size() >= buffer_bytes ||
             (buffering_ == Buffering::line && at_once_ && text.find('\n') != text.npos);
  if (now) flush();
}

void Output::release() {
  holding_ = false;
  if (!held_.empty()) out(std::exchange(held_, {}));
}

void Output::flush() {
  if (buffer_.empty()) return;
  int code = write_all(fd_, buffer_);
  buffer_.clear();
  if (code == EPIPE)
    broken_ = true;
  else if (code)
    failure_ = code;
}

void Output::message(std::string_view text) {
  settle();
  write_all(STDERR_FILENO, colored(text));
}

} // namespace session
