// Whether the file has changed shows in its inode: number, size, and the time at which content or permissions changed last.
#include "fleet/tokens.h"

#include "base/counted.h"
#include "base/text.h"
#include "net/private_file.h"
#include "web/sessions.h"

#include <sys/stat.h>

namespace fleet {

static bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

base::Result<std::unique_ptr<Tokens>> Tokens::open(const std::string& path, std::function<void(const std::string&)> print) {
  std::unique_ptr<Tokens> out(new Tokens(path, std::move(print)));
  ACU_CHECK(out->read());
  return out;
}

base::Status Tokens::read() {
  constexpr size_t shortest = 32, max_bytes = 16 << 20;
  struct stat about = {};
  const bool is_there = ::stat(path_.c_str(), &about) == 0;
  seen_ = about; // a file that changes from here on is read once more
  auto text = net::read_private("the tokens of agents", path_, max_bytes);
  if (!text.ok() && !is_there) text.error().message += "\nhint: a file with a line `NAME TOKEN` for each host; `openssl rand -hex 32` makes a token";
  if (!text.ok()) return std::move(text.error());
  std::map<std::string, std::string> hosts;
  size_t number = 0;
  for (std::string_view line : base::split(*text, '\n')) {
    number++;
    line = base::trim(line);
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find_first_of(" \t");
    const std::string_view name = line.substr(0, space), token = space == line.npos ? std::string_view() : base::trim(line.substr(space));
    const std::string where = "`" + path_ + "`, line " + std::to_string(number) + ": ";
    if (token.empty() || token.find_first_of(" \t") != token.npos) return base::Error{base::Failure::usage, where + "not NAME TOKEN"};
    if (token.size() < shortest) return base::Error{base::Failure::usage, where + "the token has fewer than 32 characters\nhint: openssl rand -hex 32"};
    if (!hosts.try_emplace(web::hash_of_secret(token), name).second) return base::Error{base::Failure::usage, where + "another host has the same token"};
  }
  hosts_ = std::move(hosts);
  return {};
}

void Tokens::refresh() {
  const std::lock_guard lock(mutex_);
  refresh_locked();
}

void Tokens::refresh_locked() {
  struct stat about = {};
  const bool is_there = ::stat(path_.c_str(), &about) == 0;
  if (is_there ? is_same(about, seen_) : !last_failure_.empty()) return; // a file that is wrong is read once
  const base::Status done = read();
  if (!is_there) seen_ = {};
  if (done.ok())
    print_("read `" + path_ + "` again: " + base::counted(hosts_.size(), "token")), last_failure_.clear();
  else if (done.error().message != last_failure_)
    print_((last_failure_ = done.error().message) + "\nkeeping the previous " + base::counted(hosts_.size(), "token"));
}

std::string Tokens::host_of(std::string_view token) {
  const std::lock_guard lock(mutex_);
  refresh_locked();
  const auto at = hosts_.find(web::hash_of_secret(token));
  return at == hosts_.end() ? std::string() : at->second;
}

} // namespace fleet
