// Which agents may send: a file with a line `NAME TOKEN` for each host. It is read again when it has changed. A file that cannot be read leaves the
// tokens as they were, and is reported.
#pragma once

#include "base/result.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace fleet {

class Tokens {
public:
  // Failure: the file is not there, others can read it, or a line is wrong.
  static base::Result<std::unique_ptr<Tokens>> open(const std::string& path, std::function<void(const std::string&)> print);
  // The name of the host; empty: nobody has this token.
  std::string host_of(std::string_view token);
  // Reads the file if it has changed; host_of() does so too.
  void refresh();

private:
  Tokens(std::string path, std::function<void(const std::string&)> print) : path_(std::move(path)), print_(std::move(print)) {}
  base::Status read();
  void refresh_locked();

  std::string path_;
  std::function<void(const std::string&)> print_;
  std::mutex mutex_;
  std::map<std::string, std::string> hosts_; // by the hash of the token: the time of a comparison does not depend on it
  struct stat seen_ = {};    // the file as it was looked at last
  std::string last_failure_; // printed once
};

} // namespace fleet
