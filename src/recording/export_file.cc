#include "recording/export_file.h"

#include "base/output_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recording {

constexpr size_t buffer_size = 256 << 10;

base::Error ExportFile::failure(int error) const { return base::errno_error("cannot write `" + path_ + "`", error); }

base::Result<ExportFile> ExportFile::create(const std::string& path) {
  const base::AsResultOwner as_owner;
  ExportFile out(path);
  struct stat now = {};
  const bool is_special = ::stat(path.c_str(), &now) == 0 && !S_ISREG(now.st_mode);
  if (is_special) {
    out.file_ = base::Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!out.file_.valid()) return out.failure(errno);
    return out;
  }
  ACU_TRY(out.file_, base::create_private(path + ".part"));
  out.part_path_ = path + ".part";
  return out;
}

ExportFile::~ExportFile() {
  const base::AsResultOwner as_owner;
  if (file_.valid() && !part_path_.empty()) ::unlink(part_path_.c_str());
}

base::Status ExportFile::flush() {
  if (const int error = base::write_all(file_.get(), buffer_)) return failure(error);
  buffer_.clear();
  return {};
}

base::Status ExportFile::add(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() < buffer_size) return {};
  return flush();
}

base::Status ExportFile::finish() {
  ACU_CHECK(flush());
  int error = 0;
  if (!part_path_.empty()) error = base::publish(std::move(file_), part_path_, path_);
  else if (::close(file_.release()) != 0) error = errno; // some file systems report only here that there was no room
  return error ? failure(error) : base::Status();
}

} // namespace recording
