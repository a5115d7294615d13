// Reading and writing without waiting.
#include "agent/client.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace agent {

void Client::read(std::vector<std::string>& messages) {
  char buffer[65536];
  const ssize_t n = ::read(in_.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    input_has_ended_ = true;
    if (!inbox_.empty()) messages.push_back(std::move(inbox_)); // the last line may lack its end
    inbox_.clear();
    return;
  }
  std::string_view left(buffer, static_cast<size_t>(n));
  while (!left.empty()) {
    const size_t end = left.find('\n');
    if (!is_skipping_) inbox_ += left.substr(0, end);
    if (inbox_.size() > longest_message) {
      is_skipping_ = true;
      inbox_.clear();
      messages.emplace_back();
    }
    if (end == left.npos) return;
    if (!std::exchange(is_skipping_, false) && inbox_.find_first_not_of(" \t\r") != inbox_.npos) messages.push_back(std::move(inbox_));
    inbox_.clear();
    left.remove_prefix(end + 1);
  }
}

void Client::send(std::string_view message) {
  if (is_gone_) return;
  outbox_.append(message).append("\n");
  if (outbox_.size() > longest_outbox) return leave();
  flush();
}

// A pipe that is ready takes PIPE_BUF bytes without waiting; a socket says itself when it is full.
void Client::flush() {
  while (!outbox_.empty() && !is_gone_) {
    ssize_t n = ::send(out_.get(), outbox_.data(), outbox_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) {
      pollfd ready = {out_.get(), POLLOUT, 0};
      if (::poll(&ready, 1, 0) <= 0 || !(ready.revents & POLLOUT)) {
        if (ready.revents & (POLLERR | POLLNVAL)) leave();
        return;
      }
      n = ::write(out_.get(), outbox_.data(), std::min<size_t>(outbox_.size(), PIPE_BUF));
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) return leave();
    outbox_.erase(0, static_cast<size_t>(n));
  }
}

} // namespace agent
