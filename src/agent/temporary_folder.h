// The folder of a file that a command writes for this process; it goes with this. It belongs to whom results belong to.
#pragma once

#include "base/output_file.h"
#include "base/result.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <utility>

namespace agent {

class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder&& o) noexcept : path_(std::exchange(o.path_, {})), name_(std::move(o.name_)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() { remove(); }
  void remove() {
    if (path_.empty()) return;
    const base::AsResultOwner as_owner;
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
    path_.clear();
  }
  // `name`: of the file.
  base::Status make(std::string name) {
    name_ = std::move(name);
    const char* where = ::getenv("TMPDIR");
    const std::string parent = where && *where ? where : "/tmp";
    path_ = parent + "/acu-XXXXXX";
    const base::AsResultOwner as_owner;
    if (::mkdtemp(path_.data())) return {};
    path_.clear();
    return base::errno_error("cannot make a folder in `" + parent + "`", errno);
  }
  bool is_there() const { return !path_.empty(); }
  std::string file() const { return path_ + "/" + name_; }

private:
  std::string path_, name_;
};

} // namespace agent
