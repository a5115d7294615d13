// The file of `acu serve --users`: a line `NAME ROLE HASH` for each user; `#` begins a comment. HASH is an argon2id hash (RFC 9106) in its usual form,
// "$argon2id$v=19$m=65536,t=2,p=1$SALT$HASH".
#pragma once

#include "base/result.h"
#include "web/role.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace web {

struct User {
  Role role = Role::view;
  std::string hash;
};
using Users = std::map<std::string, User, std::less<>>; // by name

inline constexpr size_t shortest_password = 8, longest_password = 1024; // bytes

// Failure: others can read the file, or a line is wrong; the message names it.
base::Result<Users> read_users(const std::string& path);
// Adds the user, or replaces the line with this name. Makes the file if there is none.
base::Status write_user(const std::string& path, const std::string& name, Role role, std::string_view password);

// Takes about 0.1 s and 64 MiB of memory.
bool is_password(const std::string& hash, std::string_view password);
// A hash that no password has: what is checked for an unknown user takes as long as for a known one.
const std::string& nobodys_hash();

} // namespace web
