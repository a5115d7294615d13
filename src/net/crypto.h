// OpenSSL and libsodium, which are loaded when TLS or passwords are first used: what few runs need takes no time at each start. Code calls their functions
// by their usual names; crypto_names.h lists these.
#pragma once

#include "base/result.h"

namespace net {

// Before any function of libssl or libcrypto is called. Any thread may call it, any number of times. Failure (unsupported): which library is missing, and its package.
base::Status load_tls();
// The same before functions of libsodium.
base::Status load_passwords();

} // namespace net
