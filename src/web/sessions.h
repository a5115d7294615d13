// Sessions of browsers: random cookies, of which only hashes are kept, each with an end.
#pragma once

#include "web/role.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace web {

// A key under which a secret is kept: the time of a comparison does not depend on the secret.
std::string hash_of_secret(std::string_view secret);

struct Session {
  std::string client; // for the audit and messages
  Role role = Role::admin;
  std::string password_hash; // of a user; a changed one ends the session
  uint64_t ends_ns = UINT64_MAX;
};

// Not for several threads.
class Sessions {
public:
  // The value of the cookie.
  std::string open(Session session);
  // Nothing: there is none, or it has ended.
  std::optional<Session> find(std::string_view cookie, uint64_t now_ns);
  void close(std::string_view cookie);

private:
  std::map<std::string, Session, std::less<>> sessions_; // by the SHA-256 of the cookie
};

// 32 random bytes, hexadecimal.
std::string make_token();
// In a time that does not depend on where they differ.
bool is_equal(std::string_view a, std::string_view b);

} // namespace web
