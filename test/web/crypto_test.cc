// Libraries that are loaded on request: all names are there, and none is called before.
#include "base/library.h"
#include "net/crypto.h"
#include "net/crypto_names.h"
#include "web/users.h"

#include <gtest/gtest.h>

extern "C" int sodium_init();

namespace web {
namespace {

TEST(Crypto, EachFunctionIsInItsLibrary) {
  struct Name {
    const char *library, *function;
  };
#define OF_CRYPTO(name) {"libcrypto.so.3", #name},
#define OF_SSL(name) {"libssl.so.3", #name},
#define OF_SODIUM(name) {"libsodium.so.23", #name},
  for (const auto& [file, function] : {ACU_CRYPTO_NAMES(OF_CRYPTO) ACU_SSL_NAMES(OF_SSL) ACU_SODIUM_NAMES(OF_SODIUM) Name{"libcrypto.so.3", "OpenSSL_version_num"}}) {
    const auto library = base::Library::open(file);
    ASSERT_TRUE(library.ok()) << library.error().message;
    EXPECT_TRUE(library->find<void (*)()>(function)) << file << ": " << function;
  }
}

TEST(Crypto, CallsReachTheLibrary) {
  ASSERT_TRUE(net::load_tls().ok()) << net::load_tls().error().message;
  ASSERT_TRUE(net::load_passwords().ok()) << net::load_passwords().error().message;
  EXPECT_EQ(sodium_init() < 0, false);
  EXPECT_FALSE(is_password(nobodys_hash(), "password"));
  EXPECT_TRUE(nobodys_hash().starts_with("$argon2id$"));
}

TEST(Crypto, ACallBeforeLoadingIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process in which nothing is loaded
  EXPECT_DEATH(sodium_init(), "before it was loaded");
}

} // namespace
} // namespace web
