// Recommendations for the secure use of TLS: RFC 9325. The certificate's names: RFC 9525.
#include "web/tls.h"

#include "base/text.h"
#include "net/crypto.h"
#include "net/private_file.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <ctime>

namespace web {

namespace {

// The last reason of OpenSSL, whose list is emptied.
std::string reason() {
  const unsigned long code = ::ERR_peek_last_error();
  const char* text = ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return text ? text : "unknown reason";
}

struct Free {
  void operator()(BIO* p) const { ::BIO_free_all(p); }
  void operator()(X509* p) const { ::X509_free(p); }
  void operator()(EVP_PKEY* p) const { ::EVP_PKEY_free(p); }
};
template<class T> using Owned = std::unique_ptr<T, Free>;

Owned<BIO> reader_of(std::string_view text) { return Owned<BIO>(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

int64_t seconds_of(const ASN1_TIME* time) {
  tm parts = {};
  return ::ASN1_TIME_to_tm(time, &parts) == 1 ? ::timegm(&parts) : 0;
}

std::string shown(int64_t seconds) {
  const std::time_t time = seconds;
  tm parts = {};
  char text[32] = {};
  ::gmtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

// Names of hosts and addresses, of the extension "subject alternative name".
std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> out;
  auto* list = static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); i++) {
    int type = 0;
    const void* value = ::GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(list, i), &type);
    if (type != GEN_DNS) continue;
    const auto* text = static_cast<const ASN1_STRING*>(value);
    out.push_back(base::printable({reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)), static_cast<size_t>(::ASN1_STRING_length(text))}));
  }
  ::GENERAL_NAMES_free(list);
  return out;
}

// A key with a passphrase would ask for it on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

} // namespace

base::Result<std::shared_ptr<const Tls>> Tls::open(const TlsFiles& files) {
  ACU_CHECK(net::load_tls());
  std::shared_ptr<Tls> out(new Tls);
  ACU_CHECK(out->read(files));
  return std::shared_ptr<const Tls>(std::move(out));
}

Tls::~Tls() { ::SSL_CTX_free(context_); }

base::Status Tls::read(const TlsFiles& files) {
  const std::string certificate = "the certificate `" + files.certificate + "`", key = "the private key `" + files.key + "`";
  context_ = ::SSL_CTX_new(::TLS_server_method());
  if (!context_) return base::Error{base::Failure::runtime, "cannot use TLS: " + reason()};
  // The system's configuration holds (/etc/ssl/openssl.cnf): it is made for this library. It may be stricter.
  if (SSL_CTX_get_min_proto_version(context_) < TLS1_2_VERSION) SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  ::SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20"); // of TLS 1.2: forward secrecy, authenticated
  ::SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  ::SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);

  // The certificate is first in its file, those of its issuers follow.
  auto text = base::read_file(files.certificate);
  if (!text.ok()) return std::move(text.error()).with("--tls-cert");
  const Owned<BIO> in = reader_of(*text);
  const Owned<X509> own(::PEM_read_bio_X509_AUX(in.get(), nullptr, no_passphrase, nullptr));
  if (!own) return base::usage_error(certificate + " has no certificate in PEM form (" + reason() + ")\nhint: openssl x509 -in " + files.certificate + " -text");
  if (::SSL_CTX_use_certificate(context_, own.get()) != 1) return base::usage_error(certificate + " cannot be used: " + reason());
  for (;;) {
    Owned<X509> issuer(::PEM_read_bio_X509(in.get(), nullptr, no_passphrase, nullptr));
    if (!issuer) {
      const bool is_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      const std::string why = reason();
      if (is_end) break;
      return base::usage_error(certificate + ": a certificate behind the first is damaged (" + why + ")");
    }
    if (::SSL_CTX_add0_chain_cert(context_, issuer.get()) != 1) return base::usage_error(certificate + ": a certificate behind the first cannot be used: " + reason());
    (void)issuer.release();
  }
  certificate_ = ::SSL_CTX_get0_certificate(context_);
  const int64_t now = std::time(nullptr), from = seconds_of(::X509_get0_notBefore(certificate_)), until = seconds_of(::X509_get0_notAfter(certificate_));
  if (now >= until) return base::usage_error(certificate + " expired on " + shown(until) + "\nhint: name one that is valid, or renew it");
  if (now < from) return base::usage_error(certificate + " is valid from " + shown(from) + " on only\nhint: is the clock of this host right?");
  names_ = names_of(certificate_), valid_until_ = shown(until), seconds_left_ = until - now;

  auto secret = net::read_private("the private key", files.key);
  if (!secret.ok()) return std::move(secret.error()).with("--tls-key");
  const Owned<BIO> key_in = reader_of(*secret);
  const Owned<EVP_PKEY> own_key(::PEM_read_bio_PrivateKey(key_in.get(), nullptr, no_passphrase, nullptr));
  ::OPENSSL_cleanse(secret->data(), secret->size());
  if (!own_key) return base::usage_error(key + " has no key in PEM form, or one with a passphrase (" + reason() + ")\nhint: openssl pkey -in " + files.key + " -out FILE removes a passphrase");
  if (::X509_check_private_key(certificate_, own_key.get()) != 1) {
    ::ERR_clear_error();
    return base::usage_error(key + " is not the key of " + certificate + "\nhint: name the key that the certificate was requested with");
  }
  if (::SSL_CTX_use_PrivateKey(context_, own_key.get()) != 1) return base::usage_error(key + " cannot be used: " + reason());
  return {};
}

bool Tls::is_for(std::string_view host) const {
  std::string name(host.substr(0, host.starts_with('[') ? host.find(']') : host.rfind(':')));
  if (name.starts_with('[')) name.erase(0, 1);
  if (name.empty() || name.find('\0') != name.npos) return false;
  return ::X509_check_ip_asc(certificate_, name.c_str(), 0) == 1 || ::X509_check_host(certificate_, name.c_str(), name.size(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

} // namespace web
