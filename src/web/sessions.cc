#include "web/sessions.h"

#include <algorithm>
#include <sys/random.h>
#include <sys/types.h>

#include <sha2.h>

namespace web {

std::string hash_of_secret(std::string_view secret) {
  char digits[SHA256_DIGEST_STRING_LENGTH];
  ::SHA256Data(reinterpret_cast<const uint8_t*>(secret.data()), secret.size(), digits);
  return digits;
}

std::string make_token() {
  unsigned char bytes[32];
  size_t filled = 0;
  while (filled < sizeof bytes)
    if (const ssize_t n = ::getrandom(bytes + filled, sizeof bytes - filled, 0); n > 0) filled += static_cast<size_t>(n);
  std::string out;
  for (unsigned char byte : bytes) out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
  return out;
}

bool is_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); i++) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return !differs;
}

std::string Sessions::open(Session session) {
  constexpr size_t most_sessions = 1000, most_of_client = 20;
  auto by_end = [](const auto& entry) { return entry.second.ends_ns; };
  const std::string client = session.client;
  // Somebody who logs in again and again ends only sessions of their own.
  if (static_cast<size_t>(std::ranges::count_if(sessions_, [&](const auto& entry) { return entry.second.client == client; })) >= most_of_client) {
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
      if (at->second.client == client && (oldest == sessions_.end() || at->second.ends_ns < oldest->second.ends_ns)) oldest = at;
    sessions_.erase(oldest);
  } else if (sessions_.size() >= most_sessions) {
    sessions_.erase(std::ranges::min_element(sessions_, {}, by_end));
  }
  std::string cookie = make_token();
  sessions_[hash_of_secret(cookie)] = std::move(session);
  return cookie;
}

std::optional<Session> Sessions::find(std::string_view cookie, uint64_t now_ns) {
  const auto at = sessions_.find(hash_of_secret(cookie));
  if (at == sessions_.end()) return std::nullopt;
  if (at->second.ends_ns > now_ns) return at->second;
  sessions_.erase(at);
  return std::nullopt;
}

void Sessions::close(std::string_view cookie) {
  if (const auto at = sessions_.find(hash_of_secret(cookie)); at != sessions_.end()) sessions_.erase(at);
}

} // namespace web
