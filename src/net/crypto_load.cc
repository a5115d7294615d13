// Each function of crypto_names.h is defined here, under its own name, as a jump to an address in a table. Loading a library fills in the addresses of its
// functions. The names are hidden: the libraries themselves, when loaded, must not find these instead of their own.
#include "net/crypto.h"
#include "net/crypto_names.h"

#include "base/library.h"
#include "base/output_file.h"

#include <cstdlib>
#include <unistd.h>

namespace net {

namespace {

using Function = void (*)();

#define ACU_COUNT(name) +1
constexpr size_t crypto_count = 0 ACU_CRYPTO_NAMES(ACU_COUNT), ssl_count = 0 ACU_SSL_NAMES(ACU_COUNT), sodium_count = 0 ACU_SODIUM_NAMES(ACU_COUNT);
#define ACU_NAME(name) #name "\0"
constexpr char crypto_names[] = ACU_CRYPTO_NAMES(ACU_NAME), ssl_names[] = ACU_SSL_NAMES(ACU_NAME), sodium_names[] = ACU_SODIUM_NAMES(ACU_NAME);

[[noreturn]] void not_loaded() {
  base::write_all(STDERR_FILENO, "acu: internal error: a function of OpenSSL or libsodium was called before it was loaded\n");
  std::abort();
}

struct Table {
  Function functions[crypto_count + ssl_count + sodium_count]; // in the order of the names
  constexpr Table() : functions() {
    for (Function& function : functions) function = not_loaded;
  }
};

} // namespace

extern "C" {
[[gnu::used, gnu::visibility("hidden")]] constinit Table acu_crypto_functions;
}

// `acu_at` is the offset of a name's address.
#if defined(__x86_64__)
#define ACU_JUMP "jmp *acu_crypto_functions+acu_at(%rip)\n"
#elif defined(__aarch64__) // x16 is free between a call and the function (AAPCS64, 6.1.1)
#define ACU_JUMP "adrp x16, acu_crypto_functions+acu_at\nldr x16, [x16, #:lo12:acu_crypto_functions+acu_at]\nbr x16\n"
#endif
#define ACU_FUNCTION(name) ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" ACU_JUMP ".size " #name ", . - " #name "\n.set acu_at, acu_at + 8\n"
asm(".pushsection .text.acu_crypto, \"ax\", %progbits\n.p2align 3\n.set acu_at, 0\n" ACU_CRYPTO_NAMES(ACU_FUNCTION) ACU_SSL_NAMES(ACU_FUNCTION) ACU_SODIUM_NAMES(ACU_FUNCTION) ".popsection\n");

namespace {

// `names`: each ends with a zero byte, and an empty one ends the list.
base::Status fill(const base::Library& library, const char* file, const char* names, Function* to) {
  for (; *names; names += std::strlen(names) + 1, to++) {
    const auto function = library.find<Function>(names);
    if (!function) return base::Error{base::Failure::unsupported, std::string(file) + " has no function " + names + "\nhint: update it"};
    *to = function;
  }
  return {};
}

base::Result<base::Library> open(const char* file, const char* packages) {
  auto library = base::Library::open(file);
  if (!library.ok()) library.error().message += std::string("\nhint: install ") + packages;
  return library;
}

base::Status open_tls() {
  constexpr const char *crypto_file = "libcrypto.so.3", *ssl_file = "libssl.so.3", *packages = "libssl3 (Fedora: openssl-libs)";
  ACU_TRY(const base::Library crypto, open(crypto_file, packages));
  const auto version = crypto.find<unsigned long (*)()>("OpenSSL_version_num"); // 0xMNN00PP0
  if (!version || version() >> 28 != 3)
    return base::Error{base::Failure::unsupported, std::string(crypto_file) + (version ? " is of OpenSSL " + std::to_string(version() >> 28) + ", not 3" : " is not of OpenSSL 3") + "\nhint: install " + packages};
  ACU_TRY(const base::Library ssl, open(ssl_file, packages));
  ACU_CHECK(fill(crypto, crypto_file, crypto_names, acu_crypto_functions.functions));
  return fill(ssl, ssl_file, ssl_names, acu_crypto_functions.functions + crypto_count);
}

base::Status open_passwords() {
  constexpr const char* file = "libsodium.so.23";
  ACU_TRY(const base::Library sodium, open(file, "libsodium23"));
  return fill(sodium, file, sodium_names, acu_crypto_functions.functions + crypto_count + ssl_count);
}

base::Status said(std::string_view what, base::Status status) {
  if (!status.ok()) return std::move(status.error()).with(what);
  return status;
}

} // namespace

base::Status load_tls() {
  static const base::Status loaded = said("cannot use TLS", open_tls());
  return loaded;
}

base::Status load_passwords() {
  static const base::Status loaded = said("cannot use passwords", open_passwords());
  return loaded;
}

} // namespace net
