#include "recorder/dump_requests.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace recorder {

namespace {

constexpr std::string_view name_begin = "acu-flight-", ok_word = "ok ", failed_word = "failed ";
constexpr int most_waiting = 64;
constexpr time_t patience_s = 600; // of a recorder that writes to a slow disk

struct Address {
  sockaddr_un address = {};
  socklen_t size = 0;
};

// The first byte of the name is a 0.
Address address_of(int pid) {
  const std::string name = std::string(name_begin) + std::to_string(pid);
  Address out;
  out.address.sun_family = AF_UNIX;
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

// Anybody may have taken a name.
bool is_trusted(int socket) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == 0 || peer.uid == ::geteuid());
}

} // namespace

base::Status DumpRequests::listen() {
  const Address to = address_of(::getpid());
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid() || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&to.address), to.size) != 0 || ::listen(socket.get(), most_waiting) != 0)
    return base::errno_error("cannot listen for `acu dump`", errno);
  socket_ = std::move(socket);
  return {};
}

bool DumpRequests::take() {
  bool found = false;
  for (;;) {
    base::Fd one(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!one.valid()) return found;
    if (!is_trusted(one.get()) || waiting_.size() >= most_waiting) continue;
    waiting_.push_back(std::move(one));
    found = true;
  }
}

void DumpRequests::answer(const std::string& path, std::string_view failure) {
  std::error_code unknown;
  const std::string line = path.empty() ? std::string(failed_word).append(failure) : std::string(ok_word).append(std::filesystem::absolute(path, unknown).string());
  // Who does not read its answer is not waited for.
  for (const base::Fd& one : waiting_) (void)!::send(one.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  waiting_.clear();
}

// Lines of /proc/net/unix end with the name, if there is one; `@` begins an abstract one. Accepted connections have it too.
std::vector<int> running_recorders() {
  std::vector<int> out;
  const auto text = base::read_file("/proc/net/unix");
  if (!text.ok()) return out;
  for (std::string_view line : base::split(*text, '\n')) {
    const size_t at = line.find(std::string("@").append(name_begin));
    const auto pid = at == line.npos ? std::nullopt : base::parse_integer(line.substr(at + 1 + name_begin.size()));
    if (pid && *pid <= INT32_MAX) out.push_back(static_cast<int>(*pid));
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

base::Result<std::string> request_dump(int pid) {
  const Address to = address_of(pid);
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.address), to.size) != 0)
    return base::Error{base::Failure::runtime, "no flight recorder runs as process " + std::to_string(pid) + "\nhint: `acu dump` without a PID finds it; `acu record --flight` starts one"};
  if (!is_trusted(socket.get())) return base::Error{base::Failure::permission, "the flight recorder of process " + std::to_string(pid) + " is another user's"};
  const timeval limit = {.tv_sec = patience_s, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string line;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return base::Error{base::Failure::runtime, "the flight recorder of process " + std::to_string(pid) + " did not answer for " + std::to_string(patience_s / 60) + " minutes"};
    if (n <= 0) break;
    line.append(buffer, static_cast<size_t>(n));
  }
  if (line.starts_with(ok_word)) return line.substr(ok_word.size());
  if (line.starts_with(failed_word)) return base::Error{base::Failure::runtime, line.substr(failed_word.size())};
  return base::Error{base::Failure::runtime, "the flight recorder of process " + std::to_string(pid) + " ended or refused before a file was written"};
}

} // namespace recorder
