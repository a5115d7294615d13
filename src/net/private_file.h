// Files that hold secrets: private keys, tokens, users with the hashes of their passwords.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>

namespace net {

// The text of a regular file of at most `max_bytes`, which belongs to root or this user and which nobody else can read or write. `what`: what the file is, for
// messages ("the private key").
base::Result<std::string> read_private(const std::string& what, const std::string& path, size_t max_bytes = 1 << 20);

} // namespace net
