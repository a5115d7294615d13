#include "session/output.h"

#include "base/color.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace session {

base::Result<std::unique_ptr<Output>> Output::open(const Options& options) {
  if (options.output_file.empty())
    return std::make_unique<Output>(STDOUT_FILENO, options.buffering, ::isatty(STDOUT_FILENO) == 1);
  ACU_TRY(base::OutputFile file, base::OutputFile::open(options.output_file));
  auto out = std::make_unique<Output>(-1, options.buffering, false);
  out->file_.emplace(std::move(file));
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

static int lost = 0;
int lost_results() { return lost; }

void Output::flush() {
  if (buffer_.empty()) return;
  const bool had_room = !file_ || file_->problem().empty();
  int code = file_ ? file_->write(buffer_) : write_all(fd_, buffer_);
  buffer_.clear();
  if (had_room && file_ && !file_->problem().empty()) message("WARNING: " + file_->problem() + "\n");
  if (code == EPIPE)
    broken_ = true;
  else if (code)
    failure_ = lost = code;
}

void Output::cut() {
  held_.clear();
  buffer_.clear();
  if (file_) return file_->cut();
  struct stat status = {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (const int code = ::ftruncate(fd_, 0) == 0 && ::lseek(fd_, 0, SEEK_SET) == 0 ? 0 : errno) failure_ = lost = code;
}

base::Status Output::finish() {
  flush();
  lost = 0;
  if (failure_) return base::errno_error("cannot write results", failure_);
  if (!file_) return {};
  file_->finish();
  return file_->problem().empty() ? base::Status() : base::Error{base::Failure::runtime, file_->problem()};
}

void Output::message(std::string_view text) {
  settle();
  write_all(STDERR_FILENO, base::colored(text));
}

} // namespace session
