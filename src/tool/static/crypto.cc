// net/crypto.h in the executable that is linked statically: OpenSSL and libsodium are in it.
#include "net/crypto.h"

#include <openssl/ssl.h>

namespace net {

// The configuration of the host may name modules, which cannot be loaded, and be of another version.
base::Status load_tls() {
  if (::OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1) return {};
  return base::Error{base::Failure::runtime, "cannot use TLS: no memory"};
}
base::Status load_passwords() { return {}; }

} // namespace net
